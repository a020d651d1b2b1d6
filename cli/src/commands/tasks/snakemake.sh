#!/bin/sh
# Does @TITLE@ in @SHARDS@ shards by Snakemake, then the merge. May be killed and begun again. JOBS: how many processors of this
# machine; a profile (SNAKEMAKE_PROFILE) says where else.
set -u
case $0 in /*) here=$0 ;; *) here=./$0 ;; esac
CDPATH='' cd -- "${here%/*}/" || exit 8
# Who was killed has left a lock; two at once do some shards twice and lose none.
snakemake --cores "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --keep-going --rerun-incomplete --nolock --quiet all >&2
exec sh ./merge "$@"
