#!/usr/bin/env python3
"""Batch jobs written by `shoal slurm` on a real Slurm of one node: warned, requeued, resumed, as an array."""

import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))
from shoal_run import Shoal, losses  # noqa: E402
from slurm_box import BoxError, SlurmBox  # noqa: E402

RANKS = 2
RUN = ["run.threads=1", "checkpoint.every=0", "log.every=1000"]
GRID = [f"parallel.data={RANKS}", "batch.micro=2"]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Cluster:
    def __init__(self, box, shoal, folder):
        self.box, self.shoal, self.folder = box, shoal, folder

    def submit(self, name, specs, *words):
        """Writes a job with `shoal slurm` and submits it."""
        script = os.path.join(self.folder, name + ".sh")
        self.box.command(self.shoal.program, "slurm", *specs, "--output", script, "--name", name, *words,
                         cwd=self.folder)
        return self.box.submit(script, self.folder)

    def output(self, name, job):
        path = os.path.join(self.folder, f"{name}-{job}.out")
        return read(path) if os.path.exists(path) else ""

    def wait_for_text(self, name, job, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.output(name, job):
            assert time.monotonic() < end, f"{text!r} does not appear in:\n{self.output(name, job)}{self.box.logs()}"
            time.sleep(0.2)

    def must_complete(self, name, job, seconds=240):
        tasks = self.box.wait_until_ended(job, seconds)
        for task in tasks:
            said = self.output(name, task["JobId"])
            assert task["JobState"] == "COMPLETED" and task["ExitCode"] == "0:0", f"{task}\n{said}"
        return tasks


def train_here(shoal, run, *words):
    """Trains without Slurm, on the same ranks."""
    done = subprocess.run(["mpiexec.mpich", "-n", str(RANKS), shoal.program, "train", shoal.spec, f"run.dir={run}",
                           *words, *RUN, *GRID], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    assert done.returncode == 0, done.stdout + done.stderr


def steps_within(seconds, shoal, folder):
    """How many steps this machine makes in that time."""
    steps = 1000
    begin = time.monotonic()
    train_here(shoal, os.path.join(folder, "speed"), f"run.steps={steps}")
    return int(steps * seconds / (time.monotonic() - begin))


def test_warned_jobs_requeue_and_resume(cluster, machines):
    """USR1 a while before the limit: saved, exit code 75, requeued, resumed, to the end without anybody's help."""
    # Slurm looks at limits every 30 s: a job that works for longer is warned at least once.
    steps = f"run.steps={steps_within(33, cluster.shoal, cluster.folder)}"
    jobs = {}
    for machine in machines:
        jobs[machine] = cluster.submit(machine, [cluster.shoal.spec], "--machine", machine, "--minutes", "1", "--lead",
                                       "50", f"run.dir={os.path.join(cluster.folder, machine)}", steps, *RUN, *GRID)
    undisturbed = os.path.join(cluster.folder, "undisturbed")
    train_here(cluster.shoal, undisturbed, steps)

    for machine, job in jobs.items():
        task, = cluster.must_complete(machine, job, 400)
        said = cluster.output(machine, job)
        starts = int(task["Restarts"]) + 1
        assert starts >= 2, f"the job was never warned:\n{said}"
        assert said.count("SIGUSR1") == said.count("resuming after step") == starts - 1, said
        assert f"start {starts}: " in said, said
        assert losses(os.path.join(cluster.folder, machine)) == losses(undisturbed), f"{machine}: other losses"
        print(f"{machine}: {starts} starts of {steps}, the losses of an undisturbed run")


def test_array_runs_a_sweep(cluster):
    specs = []
    for lr in ("1e-3", "3e-3"):
        specs.append(os.path.join(cluster.folder, f"lr{lr}.yaml"))
        with open(specs[-1], "w", encoding="utf-8") as f:
            f.write(read(cluster.shoal.spec).replace("run: {", f"run: {{dir: {cluster.folder}/sweep-{lr}, "))
            f.write(f"optimizer: {{lr: {lr}}}\n")
    job = cluster.submit("sweep", specs, "--machine", "one-node", "run.steps=20", *RUN, "log.every=1")
    tasks = cluster.must_complete("sweep", job)
    assert len(tasks) == 2, tasks
    curves = [losses(os.path.join(cluster.folder, f"sweep-{lr}")) for lr in ("1e-3", "3e-3")]
    assert all(len(curve) == 20 for curve in curves) and curves[0] != curves[1], curves


def test_cancelled_job_stays_away(cluster):
    """scancel also makes a run save and exit with 75, but the job must not come back."""
    run = os.path.join(cluster.folder, "cancelled")
    job = cluster.submit("cancelled", [cluster.shoal.spec], "--machine", "one-node", f"run.dir={run}",
                         "run.steps=1000000", *RUN)
    cluster.wait_for_text("cancelled", job, "step 1000")
    cluster.box.command("scancel", job)
    task, = cluster.box.wait_until_ended(job, 60)
    assert task["JobState"] == "CANCELLED", task
    assert os.listdir(os.path.join(run, "ckpt")), "no checkpoint was saved"


def test_singletons_are_refused(cluster):
    """srun --mpi=none starts processes that each take themselves for the only one."""
    machine = os.path.join(cluster.folder, "no-mpi.yaml")
    with open(machine, "w", encoding="utf-8") as f:
        f.write("scheduler: slurm\nlaunch: srun --mpi=none --cpus-per-task=@cores@\n")
    job = cluster.submit("singletons", [cluster.shoal.spec], "--machine", machine,
                         f"run.dir={cluster.folder}/singletons", *RUN, *GRID)
    task, = cluster.box.wait_until_ended(job, 60)
    said = cluster.output("singletons", job)
    assert (task["JobState"], task["ExitCode"], task["Restarts"]) == ("FAILED", "2:0", "0"), f"{task}\n{said}"
    assert "--mpi" in said, said


def test_wrong_spec_fails_once(cluster):
    """An error is no reason to come back."""
    job = cluster.submit("wrong", [cluster.shoal.spec], "--machine", "one-node", "data.train=[{path: nowhere}]",
                         f"run.dir={cluster.folder}/wrong", *RUN)
    task, = cluster.box.wait_until_ended(job, 60)
    assert (task["JobState"], task["ExitCode"], task["Restarts"]) == ("FAILED", "2:0", "0"), task


def main():
    program = sys.argv[1]
    rng = random.Random(20)
    with tempfile.TemporaryDirectory() as folder:
        shoal = Shoal(program, folder, rng)
        box_folder = os.path.join(folder, "slurm")
        os.mkdir(box_folder)
        os.chmod(folder, 0o755)
        try:
            with SlurmBox(box_folder) as box:
                cluster = Cluster(box, shoal, folder)
                test_warned_jobs_requeue_and_resume(cluster, ("one-node", "one-node-mpiexec"))
                test_array_runs_a_sweep(cluster)
                test_cancelled_job_stays_away(cluster)
                test_singletons_are_refused(cluster)
                test_wrong_spec_fails_once(cluster)
        except BoxError as error:
            sys.exit(f"Slurm cannot be started, so batch jobs are untested: {error}")
    print("slurm: jobs are warned, requeued and resumed; arrays, cancelling and errors do as they should")


if __name__ == "__main__":
    main()
