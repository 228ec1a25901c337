# SPDX-License-Identifier: MIT
"""Make each system call of a few jobs fail in turn. Jobs: an image, a series, a series
as HDF5, reading of HDF5 files, structure factors.

tests/fault/fault.c is loaded before the C library, counts the calls after main begins,
and makes one fail. Every run then ends with status 0 and the right files, or with status
1 (with HDF5 1 or 2) and one error line. No output is incomplete, no other file is left,
and -resume completes a series. The short form makes a few calls (points) of each kind
fail, spread from the first to the last; NB_BIG=1 makes all fail.
usage: NANOBRAGG=program NB_BUILD=folder python3 tests/cli/fault_check.py [JOB [KIND [NTH ERROR HOW]]]
"""
import concurrent.futures
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, PROGRAM, ok, read  # noqa: E402

LIBRARY = os.path.join(os.environ["NB_BUILD"], "tests", "fault.so")
SOURCE = os.environ.get("NB_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MODELS = os.path.join(SOURCE, "golden_data", "structure_factors", "models")
BIG = os.environ.get("NB_BIG")
KINDS = ("write", "fsync", "rename", "close", "read", "malloc", "thread", "stream")
# (error, how) of each kind; how: once, on (later calls too), short (a part of the bytes).
TRIALS = {
    "write": (("ENOSPC", "on"), ("EIO", "once"), ("EINTR", "once"), ("short", "short")),
    "fsync": (("ENOSPC", "on"), ("EIO", "once"), ("EINTR", "once")),
    "rename": (("ENOSPC", "on"), ("EIO", "once")),
    "close": (("EIO", "once"), ("ENOSPC", "on"), ("EINTR", "once")),
    "read": (("EIO", "once"), ("EINTR", "once"), ("short", "short"), ("EIO", "on")),
    "malloc": (("ENOMEM", "once"), ("ENOMEM", "on")),
    "thread": (("EAGAIN", "on"), ("EAGAIN", "once")),
    "stream": (("EIO", "once"), ("ENOSPC", "on")),
}
LINES = int(os.environ.get("NB_FAULT_LINES", 5))  # faults of each kind that are printed
HARMLESS = ("EINTR", "short")  # such a call is made again
X = ["-default_F", "100", "-cell", "70", "80", "90", "-N", "4", "-distance", "100", "-fluence", "1e28",
     "-seed", "7", "-threads", "2"]


class Job:
    def __init__(self, words, outputs, points, resumes=False, varies=(), good=(0,), spared=(), errors=(1,)):
        self.words, self.outputs = words, outputs
        self.points = points  # number of calls of each kind that the short form tries
        self.resumes = resumes
        self.varies = varies  # outputs that hold times, so that their bytes vary
        self.good = good  # statuses without an error
        self.spared = spared  # kinds that libhdf5 1.10 cannot handle
        self.errors = errors  # statuses after an error
        self.results = {}  # {(output, True after -resume): right bytes}
        self.counts = {}


def has(what):
    text = subprocess.run([PROGRAM, "-version"], capture_output=True, text=True, check=True).stdout.lower()
    return any(what in line and " no" not in line for line in text.splitlines())


def make_jobs():
    """Writes the inputs and returns the jobs that this build can do."""
    with open("in.hkl", "w", encoding="ascii") as stream:
        stream.write("".join(f"{h} {k} {l} {10 * h + k + l}\n" for h in range(-2, 3) for k in range(-2, 3)
                             for l in range(-2, 3)))
    with open("in.mat", "w", encoding="ascii") as stream:
        stream.write("0.0125 0 0\n0 0.0111 0\n0 0 0.0142\n")
    shutil.copy(os.path.join(MODELS, "made-hydrogens.pdb"), "in.pdb")
    subprocess.run([PROGRAM, *X, "-detpixels", "48", "-pixel", "1", "-quiet", "-nofloat", "-noint", "-nopgm",
                    "-noisefile", "in.img"], check=True)
    series = [*X, "-detpixels", "32", "-osc", "0.3", "-phisteps", "2", "-frames", "4", "-quiet"]
    jobs = {
        "image": Job(["-hkl", "../in.hkl", "-mat", "../in.mat", *X[6:], "-N", "4", "-default_F", "5", "-detpixels", "260", "-pixel", "0.4", "-floatfile", "f.bin",
                      "-intfile", "i.img", "-noisefile", "n.img", "-pgmfile", "p.pgm", "-pngfile", "p.png",
                      "-report", "r.json", "-truth", "spots", "-truthfile", "t.tsv", "-dump", "d.bin"],
                     ["f.bin", "i.img", "n.img", "p.pgm", "p.png", "r.json", "t.tsv", "d.bin"], 4, varies=["r.json"]),
        "series": Job([*series, "-output", "s_%d.cbf"], [f"s_{k}.cbf" for k in range(1, 5)], 3, True)}
    if has("hdf5"):
        names = ["s.h5", "s_data_000001.h5", "s_data_000002.h5"]
        jobs["masters"] = Job([*series, "-truth", "spots", "-frames_per_file", "2", "-hdf5", "s.h5"], names, 3, True,
                              spared=("malloc",), errors=(1, 2))
        subprocess.run([PROGRAM, *jobs["masters"].words[:-1], "in.h5"], check=True, capture_output=True)
        jobs["hdf5"] = Job([*X[:6], "-N", "4", "-nxmx", "../in.h5", "-mask", "../in_data_000001.h5", "-quiet", "-noint", "-nonoise", "-nopgm", "-floatfile", "f.bin"],
                           ["f.bin"], 3, spared=("malloc",), errors=(1, 2))  # libhdf5 reports a failed call as a damaged file
    if has("gemmi"):
        jobs["sf"] = Job(["sf", "-pdb", "../in.pdb", "-dmin", "3", "-threads", "2", "-dump_mtz", "o.mtz", "-dump_hkl",
                          "o.hkl"], ["o.mtz", "o.hkl"], 3)
    return jobs


def start(job, folder, fault=None, more=()):
    """Runs a job; returns the process, and the number of its calls of each kind."""
    counts = folder + ".counts"
    with open(counts, "wb") as stream:
        stream.write(bytes(8 * (len(KINDS) + 1)))
    env = {**os.environ, "LD_PRELOAD": LIBRARY, "NB_FAULT_COUNT": os.path.abspath(counts), "NB_FAULT": fault or "",
           "MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3"}
    done = subprocess.run([PROGRAM, *job.words, *more], cwd=folder, env=env, capture_output=True, text=True,
                          check=False, errors="replace")
    numbers = struct.unpack(f"{len(KINDS) + 1}q", read(counts))
    return done, dict(zip((*KINDS, "failed"), numbers))


def is_whole_hdf5(data):
    """True if the HDF5 file ends where its superblock states. After an error, a series
    leaves whole files of finished frames."""
    at = {0: 40, 2: 28, 3: 28}.get(data[8] if data[:8] == b"\x89HDF\r\n\x1a\n" else None)
    return at is not None and int.from_bytes(data[at:at + 8], "little") == len(data)


def wrong_file(job, path, name, status, resumed):
    if not os.path.exists(path):
        return None if status and job.resumes else f"no {name}"  # a series removes older files first
    data = read(path)
    if data == b"old\n":
        return None if status else f"{name} is old"
    if name in job.varies or data == job.results[name, resumed] or (
            (status or resumed) and job.resumes and name.endswith(".h5") and is_whole_hdf5(data)):
        return None
    return f"{name} is a part" if status else f"{name} differs"


def wrong_files(job, folder, status, resumed):
    """Wrong, missing and extra files of a run with this exit status."""
    wrong = [wrong_file(job, os.path.join(folder, name), name, status, resumed) for name in job.outputs]
    left = [name for name in os.listdir(folder) if name not in job.outputs and name != "plots" and
            not (job.resumes and (status and ".resume" in name or (status or resumed) and "_data_00000" in name and name[0] != "."))]
    return [w for w in wrong if w] + [f"{name} is left" for name in left]


def judge(job, folder, fault, done, resumed=False):
    """List what is wrong with this run; empty if correct. The error line may come from
    the library of OpenMP."""
    lines = done.stderr.replace("\nlibgomp: ", "nanobragg: error: ").splitlines()
    errors = [line for line in lines if line.startswith("nanobragg: error: ")]
    other = [line for line in lines if line not in errors and not line.startswith("nanobragg: note: ")]
    status = 0 if done.returncode in job.good else done.returncode
    wrong = wrong_files(job, folder, status, resumed)
    if status not in (0, *job.errors):
        wrong.append(f"status {done.returncode}: {errors}")
    if len(errors) != (1 if status else 0) or other:
        wrong.append(f"lines {errors + other}")
    closed = fault.startswith("close") and job.spared  # libhdf5 itself fails to close the file
    if status and any(word in fault for word in HARMLESS) and not closed:
        wrong.append(f"not made again: {errors}")
    return wrong


def try_fault(job, base, fault):
    """Runs a job with a fault; returns (faults found, True if the call failed)."""
    folder = tempfile.mkdtemp(prefix="run", dir=base)
    try:
        for name in job.outputs:
            with open(os.path.join(folder, name), "w", encoding="ascii") as stream:
                stream.write("old\n")
        try:
            done, counts = start(job, folder, fault)
        except subprocess.TimeoutExpired:
            return ["it hangs"], True
        wrong = judge(job, folder, fault, done)
        if done.returncode not in job.good and job.resumes and not wrong:
            again, _ = start(job, folder, more=["-resume"])
            wrong = [f"-resume: {w}" for w in judge(job, folder, "", again, True)]
        return wrong, counts["failed"] > 0
    finally:
        shutil.rmtree(folder)
        os.remove(folder + ".counts")


def points(job, kind):
    """List of trials (nth, error, how): the nth call of this kind fails with `error`."""
    count = job.counts[kind]
    trials = TRIALS[kind]
    if BIG or len(sys.argv) > 2:
        step = int(os.environ.get("NB_FAULT_STEP", 1))
        return [(n, *trial) for n in range(1, count + 1, step) for trial in trials]
    few = sorted({1 + i * (count - 1) // max(1, job.points - 1) for i in range(min(job.points, count))})
    return [(n, *trials[i % len(trials)]) for i, n in enumerate(few)]


def try_kind(name, job, base, kind, pool):
    faults = [f"{kind} {n} {error} {how}" for n, error, how in points(job, kind)]
    if len(sys.argv) > 3:
        faults = [" ".join(sys.argv[2:6])]
    results = list(pool.map(lambda fault: try_fault(job, base, fault), faults))
    bad = [f"{fault}: {'; '.join(wrong)}" for fault, (wrong, _) in zip(faults, results) if wrong]
    failed = sum(there for _, there in results)
    ok(f"{name}-{kind}", not bad and (failed or not faults), "\n# ".join(bad[:LINES]) + f"; {len(bad)} faults" if bad else "no call failed")
    print(f"# {len(faults)} points of {job.counts[kind]} calls, {failed} failed", flush=True)


def make_right(name, job):
    """Stores the right outputs and the numbers of calls of a run without faults."""
    for resumed in (False, True)[:1 + job.resumes]:
        folder = f"{name}{resumed}"
        os.mkdir(folder)
        done, counts = start(job, folder, more=["-resume"] if resumed else [])
        if done.returncode not in job.good:
            ok(name, False, f"status {done.returncode}: {done.stderr}")
            return False
        job.counts = job.counts or counts
        for output in job.outputs:
            job.results[output, resumed] = read(os.path.join(folder, output))
    return True


def main():
    if not os.path.exists(LIBRARY):
        print("skip fault # tests/fault.so is not built (make test does)")
        return 0
    base = tempfile.mkdtemp()
    os.chdir(base)
    jobs = make_jobs()
    with concurrent.futures.ThreadPoolExecutor(2 if BIG or len(sys.argv) > 1 else 1) as pool:
        for name, job in jobs.items():
            if len(sys.argv) > 1 and name not in sys.argv[1].split(","):
                continue
            if not make_right(name, job):
                continue
            for kind in KINDS:
                if kind in job.spared:
                    continue
                if len(sys.argv) < 3 or kind in sys.argv[2].split(","):
                    try_kind(name, job, base, kind, pool)
    shutil.rmtree(base)
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
