# SPDX-License-Identifier: MIT
"""The scripts of docs/cluster.md: bash and shellcheck accept each script, and each runs
without Slurm. All scripts make the same series.

usage: NANOBRAGG=program python3 tests/cli/cluster_check.py
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpi  # noqa: E402
from script import FAILED, PROGRAM, ok, read  # noqa: E402

# Calls the program with cpu in place of cuda; flags in SLOW give time to interrupt it.
STAND_IN = f"""#!/bin/bash
words=()
for word in "$@"; do case $word in cuda*) word=cpu ;; esac; words+=("$word"); done
exec {PROGRAM} "${{words[@]}}" -quiet $SLOW
"""
SLURM = {"SLURM_CPUS_PER_TASK": "1", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "7"}


def scripts():
    """Writes the blocks of the page into this folder, each under the name of its job;
    returns the names."""
    text = read(os.path.join(mpi.SOURCE, "docs", "cluster.md")).decode()
    names = []
    for block in re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S):
        job = re.search(r"--job-name=(\S+)", block)
        names.append((job.group(1) if job else "series") + ".sh")
        with open(names[-1], "w", encoding="utf-8") as out:
            out.write(block)
    return names


def executable(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, 0o755)


def start(name, **more):
    place = os.getcwd()
    return subprocess.Popen(["bash", name], stderr=subprocess.PIPE, text=True, env={
        **os.environ, **mpi.ENVIRONMENT, **SLURM, "TMPDIR": place, "PATH": f"{place}/bin:{os.environ['PATH']}", "SLOW": "", **more})


def run(name, **more):
    process = start(name, **more)
    error = process.communicate()[1]
    return f"{name}: status {process.returncode}: {error[-300:]}" if process.returncode else ""


def data(h5py, *names):
    frames = []
    for name in names:
        with h5py.File(name) as h5:
            frames += [frame.tobytes() for frame in h5["/entry/data/data"][...]]
    return frames


def stopped():
    """SIGTERM, as Slurm sends it, ends the job early; the next job continues."""
    process = start("staged.sh", SLOW="-oversample 12 -mosaic 1 -mosaic_dom 50")
    scratch = "nanobragg-7/staged_00001.cbf"
    while not os.path.exists(scratch) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    made = len(glob.glob("out/staged_*.cbf"))
    ok("staged-stopped", process.returncode == 130 and 0 < made < 12 and glob.glob("out/*.resume"),
       f"status {process.returncode}, {made} frames")
    shutil.rmtree("out")


def jobs(h5py):
    wrong = run("one-gpu.sh") + run("gpus.sh")
    want = data(h5py, "one_master.h5") if not wrong else []
    ok("gpus", not wrong and len(want) == 12 and want == data(h5py, "gpus_master.h5"), wrong)
    tasks = [start("array.sh") for _ in range(4)]
    wrong = "".join(task.communicate()[1] * (task.returncode != 0) for task in tasks)
    ok("array", not wrong and want == data(h5py, "array_master.h5") and len(glob.glob("array_*.cbf")) == 12 and
       not glob.glob("array_*.resume"), wrong)
    stopped()
    wrong = run("staged.sh")
    ok("staged", not wrong and want == data(h5py, "out/staged_master.h5") and not os.path.exists("nanobragg-7") and
       all(read(name) == read(f"out/staged_{name[6:]}") for name in glob.glob("array_*.cbf")), wrong)
    launcher = mpi.mpirun(mpi.version())
    if not launcher:
        print("skip cluster mpi # this build has no MPI, or there is no mpirun")
        return
    executable("bin/mpirun", f'#!/bin/sh\nexec {launcher} "$@"\n')  # a link would not find mpirun's helpers
    wrong = run("mpi.sh")
    ok("mpi-of-4", not wrong and want == data(h5py, "mpi_master.h5") and len(glob.glob("mpi_data_*.h5")) == 12, wrong)


def main():
    os.chdir(tempfile.mkdtemp())
    names = scripts()
    ok("scripts", len(names) >= 6 and len(set(names)) == len(names), names)
    checks = [["bash", "-n"], ["shellcheck", "-x"]]
    for check in checks:
        if not shutil.which(check[0]):
            print(f"skip cluster {check[0]} # not installed")
            continue
        for name in names:
            done = subprocess.run([*check, name], capture_output=True, text=True, check=False)
            ok(f"{check[0]}-{name}", not done.returncode, done.stdout + done.stderr)
    os.mkdir("bin")
    executable("bin/nanobragg", STAND_IN)
    features = subprocess.run([PROGRAM, "-version"], capture_output=True, text=True, check=True).stdout
    try:
        import h5py
    except ImportError:
        h5py = None
    if h5py and re.search(r"HDF5 +yes", features):
        jobs(h5py)
    else:
        print("skip cluster jobs # no HDF5 in this build, or python3-h5py is not installed")
    place = os.getcwd()
    os.chdir("/")
    shutil.rmtree(place)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
