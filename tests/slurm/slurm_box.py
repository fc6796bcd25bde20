"""A Slurm cluster of one node, started for a test and stopped after it.

munged, slurmctld and slurmd run from a folder of their own, on free ports, beside any Slurm that the machine may
have. Nothing asks for systemd, cgroups or a database, so that it works in a container; it does need root, because
slurmd starts jobs as the users who submitted them.
"""

import os
import shutil
import signal
import socket
import subprocess
import time

CONFIG = """
ClusterName=box
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
# A requeued job waits until the credentials of its last start have expired: two minutes by default.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0
PriorityType=priority/basic
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=3600
# More CPUs than the machine may have: what is tested is the scheduling, not the speed.
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=batch Nodes={host} Default=YES MaxTime=60 State=UP
"""

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo")


class BoxError(Exception):
    """Slurm could not be started; the text says what is missing."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class SlurmBox:
    def __init__(self, folder, cpus=4):
        self.folder = folder
        self.cpus = cpus
        self.daemons = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        missing = [name for name in NEEDED if not shutil.which(name, path=path)]
        if missing:
            raise BoxError(f"{', '.join(missing)} not found: install slurm-wlm and munge (scripts/setup)")
        if os.geteuid() != 0:
            raise BoxError("Slurm's daemons need root here: slurmd starts jobs as other users")
        self.env = dict(os.environ, PATH=path, SLURM_CONF=self.file("slurm.conf"))
        for name in [name for name in self.env if name.startswith(("SLURM_", "PMI_")) and name != "SLURM_CONF"]:
            del self.env[name]
        os.chmod(self.folder, 0o755)
        for name in ("state", "spool", "munge"):
            os.makedirs(self.file(name), mode=0o755, exist_ok=True)
        with open(self.file("slurm.conf"), "w", encoding="utf-8") as f:
            f.write(CONFIG.format(host=socket.gethostname().split(".")[0], folder=self.folder, cpus=self.cpus,
                                  ctld_port=free_port(), slurmd_port=free_port()))
        with open(os.open(self.file("munge.key"), os.O_WRONLY | os.O_CREAT, 0o400), "wb") as f:
            f.write(os.urandom(128))

        self.run_daemon("munged", "--foreground", f"--socket={self.file('munge.socket')}",
                        f"--key-file={self.file('munge.key')}", f"--pid-file={self.file('munge/pid')}",
                        f"--seed-file={self.file('munge/seed')}", f"--log-file={self.file('munged.log')}", "--force")
        self.wait_for("munged", lambda: os.path.exists(self.file("munge.socket")))
        self.run_daemon("slurmctld", "-D", "-f", self.file("slurm.conf"))
        self.run_daemon("slurmd", "-D", "-f", self.file("slurm.conf"))
        self.wait_for("slurmctld and slurmd", lambda: "idle" in self.command("sinfo", "-h", "-o", "%T", check=False))

    def file(self, name):
        return os.path.join(self.folder, name)

    def run_daemon(self, *words):
        with open(self.file(words[0] + ".out"), "wb") as out:
            self.daemons.append((words[0], subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                                                            stderr=out, start_new_session=True)))

    def wait_for(self, what, ready, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            ended = [name for name, process in self.daemons if process.poll() is not None]
            if ended or time.monotonic() > end:
                raise BoxError(f"{what} did not come up" + (f"; {', '.join(ended)} ended" if ended else "") +
                               "\n" + self.logs())
            time.sleep(0.2)

    def logs(self):
        text = ""
        for name in ("munged", "slurmctld", "slurmd"):
            for end in (".out", ".log"):
                if os.path.exists(self.file(name + end)):
                    with open(self.file(name + end), encoding="utf-8", errors="replace") as f:
                        text += f"--- {name}{end}\n" + "".join(f.readlines()[-15:])
        return text

    def stop(self):
        for _, process in reversed(self.daemons):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.daemons = []

    def command(self, *words, check=True, cwd=None):
        done = subprocess.run(words, env=self.env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, script, cwd):
        """The id of a job."""
        return self.command("sbatch", "--parsable", script, cwd=cwd).strip()

    def jobs(self, job):
        """What scontrol says about a job, or about every task of an array, as a list of dicts."""
        text = self.command("scontrol", "--oneliner", "show", "job", job)
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines() if line]

    def wait_until_ended(self, job, seconds):
        """The job's, or its tasks', records once all of them have ended for good."""
        end = time.monotonic() + seconds
        while True:
            tasks = self.jobs(job)
            if all(t["JobState"] not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED") for t in tasks):
                return tasks
            if time.monotonic() > end:
                raise AssertionError(f"job {job} has not ended within {seconds} s: {tasks}\n{self.logs()}")
            time.sleep(0.5)
