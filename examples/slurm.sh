#!/bin/sh
#SBATCH --job-name=symbolon
#SBATCH --array=0-7
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --requeue
# Names the frames of the rows in a folder, in eight tasks:
#
#     sbatch examples/slurm.sh /project/pings /project/named
#
# Tasks that are preempted begin again and go on with the units that are left; so do
# those whose symbols cannot be reached (75).
export SYMBOLON_SOURCES='[{id: mozilla, type: http, url: https://symbols.mozilla.org/try/, is_public: true}]'
export SYMBOLON_CACHE_SHARED_PATH=/project/symbolon
export SYMBOLON_DATA="${TMPDIR:-/tmp}/symbolon-$SLURM_JOB_ID"
symbolon batch --part auto --out "$2" "$1"
code=$?
rm -rf "$SYMBOLON_DATA"
if [ $code = 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
