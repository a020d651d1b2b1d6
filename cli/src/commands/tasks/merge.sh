#!/bin/sh
# Puts the shards of @TITLE@ together and tells what came of it; the exit status is that of the whole. May be repeated.
#
#   sh merge [OPTIONS]          for example --format json
set -u
coreach=${COREACH:-@COREACH@}
case $0 in /*) here=$0 ;; *) here=./$0 ;; esac
CDPATH='' cd -- "${here%/*}/" || exit 8
count() { if [ -e "$1" ]; then echo $#; else echo 0; fi; }
case $(count shards/*@ENDING@) in
0) echo 'error: no shard is there yet; log/ says why' >&2; exit 5 ;;
@SHARDS@) rm -rf -- shards/.[0-9]* ;; # what was killed while it came to its place
esac
exec @MERGE@
