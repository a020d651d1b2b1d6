#!/bin/sh
# Does @TITLE@ in @SHARDS@ shards on this machine, JOBS at once, then the merge. May be killed and begun again.
set -u
case $0 in /*) here=$0 ;; *) here=./$0 ;; esac
CDPATH='' cd -- "${here%/*}/" || exit 8
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
shard=1
while [ "$shard" -le @SHARDS@ ]; do echo "$shard"; shard=$((shard + 1)); done |
    # A shard that was killed keeps none of the others from being done.
    xargs -n 1 -P "$jobs" sh -c 'sh ./shard "$1" || exit 1' sh
exec sh ./merge "$@"
