# SPDX-License-Identifier: MIT
"""The processes of mpirun share a series, and make the same images and master files as
one process. This runs with each MPI of this machine.

usage: NANOBRAGG=program python3 tests/cli/mpi_check.py
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpi  # noqa: E402
import script  # noqa: E402
from master import contents, differences  # noqa: E402
from script import BIG, FAILED, PROGRAM, ok, read  # noqa: E402
from small_disk import small_disk  # noqa: E402

ROTATION = ["-default_F", "100", "-cell", "70", "80", "90", "-N", "8", "-detpixels", "96",
            "-pixel", "0.5", "-fluence", "3e28", "-distance", "100", "-mosaic", "0.5", "-seed", "7", "-mosaic_domains", "5", "-oversample", "6",
            "-phi", "10", "-osc", "0.3", "-phisteps", "2", "-threads", "1", "-quiet"]
HERE = os.path.abspath(__file__)
VERSION = mpi.version()
MPIRUN = mpi.mpirun(VERSION)


def start(ranks, args, env=None, program=(PROGRAM,)):
    words = [*program, *map(str, args)]
    if ranks:
        words = [MPIRUN, "-n", str(ranks), *words]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **mpi.ENVIRONMENT, **(env or {})})


def programs():
    """Ids of the processes of the program that run in this folder."""
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            if read(folder + "/cmdline").split(b"\0")[0].decode() == PROGRAM and \
                    os.readlink(folder + "/cwd") == os.getcwd():
                yield int(os.path.basename(folder))
        except OSError:
            pass


def ancestors(pid):
    """Yield a process, its parent, its parent's parent and so on."""
    while pid > 1:
        yield pid
        try:
            pid = int(re.search(rb"PPid:\s*(\d+)", read(f"/proc/{pid}/status"))[1])
        except OSError:
            return


def finished(process, ranks):
    """Standard output and standard error of mpirun; None if it hangs without its processes."""
    while True:
        try:
            return process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            if ranks and not any(process.pid in ancestors(pid) for pid in programs()):
                process.kill()
                process.communicate()
                return None


def run(ranks, *args, status=0, **rest):
    for _ in range(3):  # MPICH's mpirun sometimes dies, or hangs, if its processes end at once
        process = start(ranks, args, **rest)
        said = finished(process, ranks)
        if not said:
            continue
        out, error = said
        if not ranks or process.returncode != -signal.SIGPIPE:
            break
    if (process.returncode != 0) != bool(status) or (status > 0 and process.returncode != status):
        raise AssertionError(f"exit status {process.returncode}, not {status}: {error[-400:]}")
    return out, error


def ours(error):
    return [line for line in error.splitlines() if line.startswith("nanobragg: ")]


def failures(error):
    return [line for line in ours(error) if line.startswith("nanobragg: error: ")]


def images(h5py, stem):
    """(content of the master file, contents of the numbered files)."""
    return (contents(h5py, stem + "_master.h5"), [read(f) for f in sorted(glob.glob(stem + "_*.cbf"))])


def wrong(h5py, stem, one):
    """Names of outputs that differ from `one`, a result of images()."""
    two = images(h5py, stem)
    return differences(one[0], two[0]) + ([] if one[1] == two[1] else ["numbered files"])


def clear(stem):
    for name in glob.glob(stem + "_*"):
        os.remove(name)


def readable(h5py, stem):
    """Number of frames in data files; raises an error if a file cannot be read."""
    frames = 0
    for name in glob.glob(stem + "_data_*.h5"):
        with h5py.File(name) as h5:
            frames += len(h5["/entry/data/data"][...])
    if os.path.exists(stem + "_master.h5"):
        with h5py.File(stem + "_master.h5") as h5:
            data = h5["/entry/data/data"][...]
            if not all(frame.any() for frame in data):
                raise AssertionError("the master has frames that are not there")
    return frames


def equality(h5py, numpy):
    series = {"rotation": ["-frames", 11, "-frames_per_file", 3],
              "stills": ["-stills", 9, "-orientations", "random", "-jitter_fluence", 20, "-frames_per_file", 1],
              "jobs": ["-jobs", "j.jsonl", "-frames_per_file", 2]}
    with open("j.jsonl", "w", encoding="ascii") as out:
        out.write("\n".join(json.dumps({"misset": [i, 2, 3]}) for i in range(7)))
    for name, flags in series.items():
        files = ["-hdf5", f"{name}_master.h5", "-output", f"{name}_%02d.cbf"]
        run(0, *ROTATION, *flags, *files)
        one = images(h5py, name)
        for ranks in (2, 3) if BIG or name == "rotation" else (2,):
            clear(name)
            error = run(ranks, *ROTATION, *flags, *files)[1]
            other = wrong(h5py, name, one)
            ok(f"{name}-{ranks}-ranks", not other and not failures(error) and not glob.glob("*.resume") and
               ("type -frames_per_file" in error) == (name != "stills"), f"{other} {error}")
    run(3, *ROTATION, "-frames", 2, "-output", "few_%d.bin")  # this series has fewer frames than processes
    raw = numpy.fromfile("few_2.bin", "f4")
    ok("fewer-frames-than-ranks", raw.size == 96 * 96 and raw.max() > 0)


def resumed_truth(h5py):
    """-resume keeps the frames of finished data files, with another number of processes
    too."""
    with open("s.txt", "w", encoding="ascii") as out:
        out.write("".join(f"1.0 {i + 1} 1.0{i} 1\n" for i in range(9)))
    flags = [*ROTATION, "-detpixels", 40, "-phisteps", 1, "-stills", 9, "-orientations", "random", "-frames_per_file", 2, "-truth", "spots",
             "-truth_min", "1e-30", "-gauss_xtal", "-mosaic_domains", 4, "-oversample", 1, "-jitter_fluence", 20, "-spectra", "s.txt",
             "-hdf5", "t_master.h5"]
    run(0, *flags)
    one = images(h5py, "t")
    for before, after in ((0, 3), (0, 2), (3, 0), (2, 3)) if BIG else ((0, 2), (2, 3)):
        clear("t")
        run(before, *flags)
        for name in ("t_master.h5", "t_data_000003.h5"):
            os.remove(name)
        run(after, *flags, "-resume")
        other = wrong(h5py, "t", one)
        ok(f"resumed-truth-{before}-{after}", not other, other)


def panels(h5py):
    """Processes share a series on detectors of several panels, with water and noise."""
    detectors = os.path.join(mpi.SOURCE, "golden_data", "detectors", "geom")
    crystal = ["-default_F", "100", "-cell", "70", "80", "90", "-N", "8", "-mosaic", "0.5", "-seed", "7",
               "-fluence", "3e28", "-osc", "0.3", "-phi", "10", "-threads", "1", "-quiet", "-background", "water:0.01", "-frames", 7]
    for name, flags in {"quad": ["-geom", f"{detectors}/quad.geom", "-layout", "file"],
                        "expt": ["-expt", f"{detectors}/flat3.expt"]}.items():
        files = ["-hdf5", f"{name}_master.h5", "-frames_per_file", 2]
        run(0, *crystal, *flags, *files)
        one = images(h5py, name)
        clear(name)
        error = run(2, *crystal, *flags, *files)[1]
        ok(f"panels-{name}", images(h5py, name) == one and not failures(error) and
           len(glob.glob(f"{name}_data_*.h5")) == 4, error)


def refinement():
    """refine is refused under mpirun, because it starts processes itself."""
    error = run(2, "refine", "a.img", "b.img", *ROTATION[:2], "-refine", "scale", status=2)[1]
    ok("refinement", len(ours(error)) == 1 and "without mpirun" in error, error)


def reports():
    flags = [f for f in ROTATION if f not in ("-quiet", "-seed", "7")]
    out, error = run(2, *flags, "-frames", 4, "-output", "p_%d.cbf", "-nopgm")
    ok("rank-0-reports", out.count("processes 2") == 1 and out.count("series ") == 1 and
       len(ours(error)) == 1 and "-nopgm: no effect" in error, out + error)
    run(2, *ROTATION, "-noint", "-nopgm", "-floatfile", "both.bin")
    run(0, *ROTATION, "-noint", "-nopgm", "-floatfile", "one.bin")
    ok("one-image-of-each", read("both.bin") == read("one.bin"))
    error = run(3, *ROTATION, "-frames", "x", status=2)[1]
    ok("one-line-for-all", len(ours(error)) == 1 and "-frames" in error, error)
    error = run(3, *ROTATION, "-frames", 3, "-hdf5", "no/folder.h5", status=1)[1]
    ok("no-folder", len(failures(error)) == 1 and "no/folder" in error, error)


def finds_others():
    """True if mpirun connects its processes. MPICH 4.2.0 of Ubuntu 24.04 does not."""
    error = start(2, [*ROTATION, "-frames", 2, "-hdf5", "probe_master.h5"]).communicate()[1]
    clear("probe")
    return "does not find the others" not in error


def stranger():
    """A run is refused under an mpirun of another MPI, or if the build has no MPI."""
    for size, rank in (("PMI_SIZE", "PMI_RANK"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")):
        error = run(0, *ROTATION, "-frames", 2, "-output", "n_%d.bin", status=2,
                    env={size: "2", rank: "0"})[1]
        ok(f"refused-{size}", len(ours(error)) == 1 and "processes" in error and
           not glob.glob("n_*"), error)


def single_image():
    """A program started by a process of mpirun makes a single image as without mpirun."""
    for name, env in (("alone", {}), ("child", {"PMI_SIZE": "4", "PMI_RANK": "2"})):
        run(0, *ROTATION, "-frames", 4, "-only_frame", 2, "-noint", "-nopgm", "-floatfile", f"{name}.bin", env=env)
    ok("single-image-in-a-child", read("alone.bin") == read("child.bin"))
    error = run(0, "-cell", 60, "-N", "x", status=2, env={"PMI_SIZE": "4", "PMI_RANK": "2"})[1]
    ok("a-child-says-its-error", len(ours(error)) == 1 and "-N" in error, error)


def failing_frame(h5py):
    """A frame that cannot be written stops all processes; complete files stay. A bad
    input file in a late line of -jobs is refused before the first frame."""
    with open("f.jsonl", "w", encoding="ascii") as out:
        for i in range(24):
            job = {"misset": [i, 2, 3]} if i != 17 else {"sourcefile": "late.src"}
            out.write(json.dumps(job) + "\n")
    flags = ROTATION + ["-jobs", "f.jsonl", "-hdf5", "f_master.h5", "-frames_per_file", 4,
                        "-output", "f_%02d.cbf"]
    with open("late.src", "w", encoding="ascii") as out:
        out.write("-10 0 0 1 no-wavelength\n")
    error = run(3, *flags, status=2)[1]
    ok("bad-file-of-a-frame", len(ours(error)) == 1 and "late.src" in error and not glob.glob("f_*"), error)
    with open("late.src", "w", encoding="ascii") as out:
        out.write("-10 0 0 1 1e-10\n")
    os.mkdir("f_18.cbf")
    error = run(3, *flags, status=1)[1]
    os.rmdir("f_18.cbf")
    frames = readable(h5py, "f")
    ok("failing-frame", failures(error) and all("f_18.cbf" in line for line in failures(error)) and 0 < frames < 24,
       f"{frames} frames: {error}")
    out = run(2, *[f for f in flags if f != "-quiet"], "-resume")[0]
    two = images(h5py, "f")
    clear("f")
    run(0, *flags)
    ok("failing-frame-resumed", "kept from the earlier run" in out and images(h5py, "f") == two, out)


def members(mpirun):
    """{rank: process id} of the processes of a run."""
    found = {}
    for pid in programs():
        try:
            for word in read(f"/proc/{pid}/environ").decode().split("\0"):
                name, _, value = word.partition("=")
                if name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK"):
                    found[int(value)] = pid
        except OSError:
            pass
    return found if mpirun.poll() is None else {}


LONG = ROTATION + ["-frames", 30, "-frames_per_file", 4, "-hdf5", "k_master.h5", "-output",
                   "k_%02d.cbf", "-oversample", 4]


def wait_for(pattern, count, process):
    while len(glob.glob(pattern)) < count and process.poll() is None:
        time.sleep(0.005)


def killed(h5py, times):
    """One process is killed at a random time; mpirun ends the others; any number of processes can continue."""
    run(2, *LONG)
    whole = images(h5py, "k")
    generator = random.Random(3)
    good = kept = hit = 0
    for _ in range(times):
        clear("k")
        ranks = generator.choice((2, 3))
        process = start(ranks, LONG)
        wait_for("k_*.cbf", generator.randrange(1, 25), process)
        victim = members(process).get(generator.randrange(ranks))
        if victim:
            hit += 1
            os.kill(victim, signal.SIGKILL)
        process.communicate()
        readable(h5py, "k")
        again = generator.choice((0, 2, 3))
        text = run(again, *[f for f in LONG if f != "-quiet"], "-resume")[0]
        kept += "kept from the earlier run" in text
        good += images(h5py, "k") == whole and (process.returncode != 0 or not victim)
    ok("killed-and-resumed", good == times, f"{good} of {times} as uninterrupted")
    ok("killed-in-time", hit > 0 and kept > 0, f"{hit} of {times} were hit, {kept} kept frames")


def two_runs(h5py):
    """A process without mpirun shares a series with the processes of mpirun."""
    run(0, *LONG)
    whole = images(h5py, "k")
    clear("k")
    first = start(2, LONG)
    wait_for("k_series.h5.resume", 1, first)
    error = run(0, *LONG)[1] + first.communicate()[1]
    ok("two-runs", images(h5py, "k") == whole and "another run makes" in error and not failures(error) and
       not glob.glob("k_*.resume") and not glob.glob(".k_data*"), error)


def other_inputs():
    """Processes are refused if their input files of one name differ (separate disks)."""
    for rank in range(2):
        os.mkdir(f"r{rank}")
        with open(f"r{rank}/a.hkl", "w", encoding="ascii") as out:
            out.write(f"0 0 1 10\n1 2 3 {rank + 5}\n")
    error = run(2, *ROTATION, "-hkl", "a.hkl", "-frames", 2, "-output", os.path.abspath("i_%d.bin"),
                status=2, program=("sh", "-c", 'cd "r${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" && exec "$0" '
                                   '"$@"', PROGRAM))[1]
    ok("other-inputs", len(failures(error)) == 1 and "rank 1: " in error and not glob.glob("i_*"), error)


def interrupted(h5py):
    clear("k")
    process = start(2, LONG)
    wait_for("k_*.cbf", 1, process)
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1]
    # MPICH's mpirun sometimes returns 0 although every process returned 130; Open MPI's
    # returns 1
    ok("interrupted", process.returncode in (0, 1, 130) and len(ours(error)) == 1 and
       "-resume" in error and 0 < readable(h5py, "k") < 30, f"{process.returncode}: {error}")


def full_disk(h5py):
    with small_disk("mpi") as disk:
        if not disk:
            return
        flags = ROTATION + ["-frames", 40, "-frames_per_file", 3]
        error = run(3, *flags, "-hdf5", "small/d_master.h5", status=1)[1]
        frames = readable(h5py, "small/d")
        ok("full-disk", failures(error) and ("space" in error or "disk" in error) and
           frames > 0, f"{frames} frames: {error}")


PYTHON_SERIES = """
import nanobragg
crystal = dict(cell=(70, 80, 90), N=8, default_F=100, detpixels=96, seed=7, fluence=3e28, oversample=3, threads=1)
nanobragg.run_series(crystal, frames=9, osc=0.3, frames_per_file=2, hdf5="y_master.h5", output="y_%02d.cbf", truth="spots")
print("done")
"""


def python_series(h5py):
    """The Python package under mpirun: the processes share a series with the same file
    names, and each reports so."""
    package = os.path.join(mpi.BUILD, "python")
    if not os.path.exists(package + "/nanobragg/_nanobragg.abi3.so"):
        print("skip mpi python-series # the package was not built")
        return
    said, made = [], []
    for ranks in (0, 2):
        clear("y")
        out, error = run(ranks, "-c", PYTHON_SERIES, program=(sys.executable,), env={"PYTHONPATH": package})
        said.append(sorted(line.split()[0] for line in out.splitlines()))
        made.append(images(h5py, "y"))
    ok("python-series", said == [["done"], ["done", "done"]] and made[0] == made[1] and
       not glob.glob("y_*.resume") and error.count("2 processes") == 2, (out, error))


def of_others(folder):
    """Run this script with each other MPI of this machine: the tests of sharing and
    resuming, or all tests in the long form."""
    for name, program in mpi.others(folder):
        done = subprocess.run([sys.executable, HERE, name], check=False,
                              env={**os.environ, "NANOBRAGG": program})
        if done.returncode:
            FAILED.append(name)


def checks(h5py, numpy):
    equality(h5py, numpy)
    resumed_truth(h5py)
    if script.SCRIPT != "mpi" and not BIG:
        return
    python_series(h5py)
    reports()
    panels(h5py)
    refinement()
    failing_frame(h5py)
    killed(h5py, 10 if BIG else 3)
    interrupted(h5py)
    two_runs(h5py)
    other_inputs()
    full_disk(h5py)


def main():
    """With an argument (name of an MPI) this process was started by of_others."""
    folder = tempfile.mkdtemp()
    if len(sys.argv) > 1:
        script.SCRIPT += "-" + re.sub(r"\W+", "-", sys.argv[1])
    os.chdir(folder)
    stranger()
    single_image()
    if not VERSION:
        print("skip mpi # not in this build")
    elif not MPIRUN:
        print("skip mpi # there is no mpirun (package mpich)")
    elif not finds_others():
        print("skip mpi # mpirun's processes do not find each other here")
    else:
        try:
            import h5py
            import numpy
            checks(h5py, numpy)
            if len(sys.argv) == 1:
                os.mkdir("others")
                of_others(os.path.abspath("others"))
        except ImportError as missing:
            print(f"skip mpi # {missing}")
    os.chdir("/")
    shutil.rmtree(folder)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
