#!/bin/sh
# One shard of @TITLE@. Written by `coreach`; writing it again replaces it.
#
#   sh shard M          M from 1 to @SHARDS@; without it, what HyperQueue says in HQ_TASK_ID
#
# The work is done in a folder of its own below $TMPDIR, and its result takes its place in shards/ as a whole, by a rename. So no
# two processes ever write one file: a shard may be killed, be done twice, or by two machines at once, and this folder may lie on a
# network. What was there already is gone on from. Exit status 0: the shard is there, whatever its verdicts are; an engine need not do
# it again. Else it is not, and log/ says why.
set -u
coreach=${COREACH:-@COREACH@}
case $0 in /*) here=$0 ;; *) here=./$0 ;; esac
CDPATH='' cd -- "${here%/*}/" || exit 8
shard=${1:-${HQ_TASK_ID:?}}
name=$(printf '%04d' "$shard") || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/coreach-shard.XXXXXXXX") || exit 8
new=$(mktemp -d "shards/.$name.XXXXXXXX") || { rm -rf -- "$work"; exit 8; }
worker=
ended() { trap '' HUP INT TERM; [ -z "$worker" ] || kill "$worker" 2>/dev/null; wait; rm -rf -- "$work" "$new"; exit "$1"; }
trap 'ended 129' HUP
trap 'ended 130' INT
trap 'ended 143' TERM

failed() { printf 'shard %s: exit status %s, see log/%s\n' "$shard" "$1" "$name" >&2; ended "$1"; }

log=log/$name
if [ -e "shards/$name@ENDING@" ]; then cp -- "shards/$name@ENDING@" "$work/shard" 2>"$log" || failed 8; fi
@COMMAND@ 2>"$log" &
worker=$!
wait "$worker"
code=$?
worker=
case $code in
@DONE@) ;; # what was found is told by the merge
*) failed "$code" ;;
esac
# What is still in a database's log would be lost.
[ ! -s "$work/shard-wal" ] || failed 8
cp -- "$work/shard" "$new/shard" 2>>"$log" && { sync -- "$new/shard" 2>/dev/null || sync; } || failed 8
mv -f -- "$new/shard" "shards/$name@ENDING@" 2>>"$log" || failed 8
ended 0
