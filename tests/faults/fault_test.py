"""Damaged checkpoints, a full disk and a read-only one, met by a whole training run.

usage: fault_test.py SHOAL

Each must give the same end as an undisturbed run, from an older checkpoint where the newest is damaged, or a clear error;
never a crash, never another result. The disks are file systems in memory, mounted in a mount namespace of this script's
own; where that is not permitted those two tests are skipped, which is said.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile

from shoal_run import Shoal, losses

STEPS = ["run.steps=30", "checkpoint.every=5", "checkpoint.keep_last=3", "checkpoint.keep_every=0"]


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 0x10]))


def newest(run):
    return os.path.join(run, "ckpt", "step_000030.h5")


def damaged_newest(shoal, folder, reference):
    """Cut short, or a bit flipped in any section: the one before is used, and the end is the same."""
    size = os.path.getsize(newest(reference))
    damages = [("cut", n) for n in (0, 100, 4096, 5000, size // 2, size - 1)]
    damages += [("flip", at) for at in (3, 17, 60, 4000, 4096, 4106, 4200, 5000, 8192, 20000, size // 2, size - 1)]
    for kind, at in damages:
        run = os.path.join(folder, "damaged")
        shutil.copytree(reference, run)
        if kind == "cut":
            os.truncate(newest(run), at)
        else:
            flip(newest(run), at)
        code, text = shoal.train(run, *STEPS)
        assert code == 0, f"{kind} {at}: exit code {code}\n{text}"
        assert "step_000030.h5" in text and "step_000025.h5" in text, text
        assert os.path.exists(newest(run) + ".damaged")
        shoal.must("diff", reference, run)
        assert losses(run) == losses(reference)
        shutil.rmtree(run)
    print(f"{len(damages)} damages of the newest checkpoint: reported, the one before used, the same end")


def all_damaged(shoal, folder, reference):
    run = os.path.join(folder, "all")
    shutil.copytree(reference, run)
    names = sorted(os.listdir(os.path.join(run, "ckpt")))
    for name in names:
        flip(os.path.join(run, "ckpt", name), 9000)
    code, text = shoal.train(run, *STEPS)
    assert code == 1 and "none of its 3 checkpoints can be read" in text, f"{code}\n{text}"
    assert sorted(os.listdir(os.path.join(run, "ckpt"))) == names
    print("all checkpoints damaged: a clear error, nothing lost")


def full_disk(shoal, folder, reference):
    disk = os.path.join(folder, "small")
    os.mkdir(disk)
    size = os.path.getsize(newest(reference)) // 1024
    mount("-t", "tmpfs", "-o", f"size={size * 5 // 2 + 60}k", "tmpfs", disk)  # room for two of three, and the logs
    run, out = os.path.join(disk, "run"), os.path.join(folder, "full.out")
    code, text = shoal.train(run, *STEPS, out=out)
    assert code == 1 and "No space left on device" in text, f"{code}\n{text}"
    shoal.must("verify", run)
    code, text = shoal.train(run, *STEPS, out=out)
    assert code == 1 and "No space left on device" in text, f"{code}\n{text}"
    mount("-o", f"remount,size={size * 8}k", disk)
    code, text = shoal.train(run, *STEPS, out=out)
    assert code == 0, f"{code}\n{text}"
    shoal.must("diff", reference, run)
    print("a full disk: a clear error, good checkpoints kept, the same end once there is room")


def read_only(shoal, folder, reference):
    disk = os.path.join(folder, "fixed")
    os.mkdir(disk)
    mount("-t", "tmpfs", "tmpfs", disk)
    run = os.path.join(disk, "run")
    shutil.copytree(reference, run)
    mount("-o", "remount,ro", disk)
    for target in (run, os.path.join(disk, "new")):
        code, text = shoal.train(target, *STEPS, out=os.path.join(folder, "fixed.out"))
        assert code in (1, 2) and "Read-only file system" in text, f"{code}\n{text}"
    shoal.must("verify", run)
    shoal.must("ls", run)
    print("a read-only disk: a clear error; ls and verify work")


def main():
    program = sys.argv[1]
    may_mount = "--mounts" in sys.argv
    if not may_mount:
        probe = ["unshare", "--mount", "--propagation", "private", "true"]
        if subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
            again = [*probe[:-1], sys.executable, os.path.abspath(__file__), program, "--mounts"]
            os.execvp("unshare", again)
        print("skipped: mounting is not permitted here, so neither the full nor the read-only disk is tried")
    folder = tempfile.mkdtemp(prefix="shoal_faults_", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        shoal = Shoal(program, folder, random.Random(1))
        reference = os.path.join(folder, "reference")
        code, text = shoal.train(reference, *STEPS)
        assert code == 0, text
        tests = [damaged_newest, all_damaged]
        if may_mount:
            tests += [full_disk, read_only]
        for test in tests:
            test(shoal, folder, reference)
    finally:
        for name in ("small", "fixed"):
            subprocess.run(["umount", os.path.join(folder, name)], stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
