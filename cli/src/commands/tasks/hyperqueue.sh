#!/bin/sh
# Does @TITLE@ in @SHARDS@ shards on HyperQueue's workers, then the merge. May be killed and begun again.
# HQ_SERVER_DIR says which server; a shard that took @CRASHES@ workers with it is given up (CRASH_LIMIT).
set -u
case $0 in /*) here=$0 ;; *) here=./$0 ;; esac
CDPATH='' cd -- "${here%/*}/" || exit 8
hq submit --name @NAME@ --array 1-@SHARDS@ --cpus @THREADS@ --crash-limit "${CRASH_LIMIT:-@CRASHES@}" --wait \
    --cwd / --stdout none --stderr none --env TASKS="$PWD" -- sh -c 'exec sh "$TASKS/shard"' >&2
exec sh ./merge "$@"
