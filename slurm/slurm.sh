#!/bin/bash
# @machine@: @summary@
# Written by `shoal slurm`; submit it with sbatch. The job stops before its time limit, goes back into the queue, and
# resumes, until training is done.
#SBATCH --job-name=@name@
#SBATCH --nodes=@nodes@
#SBATCH --ntasks=@ranks@
#SBATCH --ntasks-per-node=@ranks_per_node@
#SBATCH --time=@minutes@
#SBATCH --signal=B:USR1@@lead_seconds@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out
@options@
specs=(@specs@)
spec=${specs[${SLURM_ARRAY_TASK_ID:-0}]}
echo "job $SLURM_JOB_ID, start $((${SLURM_RESTART_COUNT:-0} + 1)): $spec on $SLURM_JOB_NODELIST"
@setup@
export OMP_NUM_THREADS=@cores@
@environment@
@launch@ @program@ train "$spec" @overrides@ &
launcher=$!

# Before the limit, USR1 comes to this script. The launcher hands it on to every rank; they save and exit with code 75.
# A signal also ends the wait, so wait until the launcher is gone; the shell remembers its exit code.
warned=
trap 'warned=1; kill -USR1 "$launcher"' USR1
while kill -0 "$launcher" 2> /dev/null; do
  wait "$launcher"
done
wait "$launcher"
code=$?

# After a signal, MPICH's mpiexec may return 0 whatever the ranks did. A run that is done ends at once when it starts again.
if ((code == 75)) || [[ $warned && $code == 0 ]]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
