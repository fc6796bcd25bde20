#!/bin/bash
# @machine@: @summary@
# Written by `shoal slurm`; submit it with bsub < FILE. The job stops before its time limit, exit code 75 sends it back
# into the queue, and it resumes, until training is done.
#BSUB -J "@name@[1-@tasks@]"
#BSUB -nnodes @nodes@
#BSUB -W @minutes@
#BSUB -Q 75
#BSUB -o %J-%I.out
@options@
specs=(@specs@)
spec=${specs[$((LSB_JOBINDEX - 1))]}
echo "job $LSB_JOBID, task $LSB_JOBINDEX: $spec"
@setup@
export OMP_NUM_THREADS=@cores@
@environment@
# The time limit is shoal's own, the limit of the job less the time to save in.
@launch@ @program@ train "$spec" run.time_limit_minutes=@stop_minutes@ @overrides@
