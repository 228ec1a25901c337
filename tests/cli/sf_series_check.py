# SPDX-License-Identifier: MIT
"""Series with structure factors of a model: -jobs, -spectra, jitter, -resume, mpirun, and
the crystal of -expt.

usage: NANOBRAGG=program python3 tests/cli/sf_series_check.py
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpi  # noqa: E402
from script import FAILED, PROGRAM, floats, ok, read, run  # noqa: E402

MODEL = os.path.join(HERE, "..", "..", "golden_data", "structure_factors", "models", "1dur.pdb")
EDGE = [1.735, 1.741, 1.75]  # A; the K edge of iron
CRYSTAL = ["-dmin", 3, "-N", 6, "-fluence", "1e28", "-precision", "double", "-seed", 7, "-oversample", 6]
X = [*CRYSTAL, "-distance", 80, "-detpixels", 48, "-pixel", 2, "-misset", 10, 20, 30, "-quiet"]
ALONE = ["-noint", "-nonoise", "-nopgm"]
SPECTRUM = [(1.735, 1), (1.741, 3), (1.75, 2)]


def maxrel(a, b):
    top = max(b)
    return max(abs(x - y) for x, y in zip(a, b)) / top if len(a) == len(b) and top > 0 else 9


def image(*flags, model=MODEL):
    run("-pdb", model, *X, *ALONE, *flags, "-floatfile", "single.bin")
    return floats("single.bin")


def frames(stem):
    return [read(name) for name in sorted(glob.glob(stem + "_*.bin"))]


def sources():
    with open("three.src", "w", encoding="ascii") as out:
        for wavelength, weight in SPECTRUM:
            out.write(f"-10 0 0 {weight} {wavelength}e-10\n")
    return ["-sourcefile", "three.src", "-anomalous_tol", 0]


def jobs():
    """Each job uses the table of F for its wavelength."""
    with open("j.jsonl", "w", encoding="ascii") as out:
        for wavelength in EDGE:
            out.write(json.dumps({"lambda": wavelength}) + "\n")
    run("-pdb", MODEL, *X, "-jobs", "j.jsonl", "-output", "j_%d.bin")
    worst = [maxrel(floats(f"j_{i + 1}.bin"), image("-lambda", w)) for i, w in enumerate(EDGE)]
    ok("jobs-have-the-tables-of-their-wavelengths", max(worst) < 2e-5, worst)
    other = maxrel(floats("j_1.bin"), image("-lambda", EDGE[0], "-anomalous", "off"))
    ok("jobs-are-anomalous", other > 1e-4, other)


def spectra():
    """Each still has another spectrum; each wavelength has its table of F."""
    shots = [SPECTRUM, [(1.738, 1), (1.745, 1)]]
    with open("shots.txt", "w", encoding="ascii") as out:
        for shot in shots:
            out.write(" ".join(f"{l} {w}" for l, w in shot) + "\n")
    run("-pdb", MODEL, *X, "-anomalous_tol", 0, "-stills", 2, "-spectra", "shots.txt", "-output",
        "s_%d.bin")
    worst = maxrel(floats("s_1.bin"), image(*sources()))
    ok("spectra-have-their-tables", worst < 2e-5, worst)
    ok("spectra-differ", frames("s")[0] != frames("s")[1])


def jitter():
    """With jitter, any number of threads makes the same frames. Jitter of the fluence
    scales the image: F stays."""
    flags = ["-pdb", MODEL, *X, *sources(), "-stills", 3, "-jitter_lambda", 0.2, "-jitter_cell", 0.5]
    run(*flags, "-threads", 1, "-output", "a_%d.bin")
    run(*flags, "-threads", 3, "-output", "b_%d.bin")
    ok("jitter-on-any-threads", frames("a") == frames("b") and len(set(frames("a"))) == 3)
    run("-pdb", MODEL, *X, "-stills", 2, "-jitter_fluence", 10, "-output", "f_%d.bin")
    own, first, second = image(), floats("f_1.bin"), floats("f_2.bin")
    scale = [sum(f) / sum(own) for f in (first, second)]
    worst = max(maxrel([x / k for x in f], own) for f, k in zip((first, second), scale))
    ok("jitter-of-the-fluence-keeps-the-table", worst < 2e-5 and scale[0] != scale[1], (worst, scale))


def resume():
    shutil.copy(MODEL, "m.pdb")
    flags = ["-pdb", "m.pdb", *[x for x in X if x != "-quiet"], *sources(), "-frames", 4, "-osc", 0.5,
             "-hdf5", "r_master.h5", "-frames_per_file", 1, "-hdf5type", "float32"]
    run(*flags)
    data = sorted(glob.glob("r_data_*.h5"))
    before = {name: read(name) for name in data}
    os.remove(data[1])
    said = run(*flags, "-resume")[0]
    ok("resume-keeps-frames-of-a-model", "3 of them kept" in said and
       {name: read(name) for name in data} == before, said[-300:])
    with open("m.pdb", encoding="ascii") as text:
        lines = text.readlines()
    atom = next(i for i, line in enumerate(lines) if line.startswith("ATOM"))
    with open("m.pdb", "w", encoding="ascii") as out:
        out.writelines(lines[:atom] + lines[atom + 1:])
    said = run(*flags, "-resume", status=None)
    kept = "of them kept" in said[0]
    ok("resume-sees-another-model", not kept, said[0][-300:])


def processes():
    """Processes of mpirun make the same series: each has all tables of F."""
    mpirun = mpi.mpirun(mpi.version())
    if not mpirun:
        print("skip sf_series mpi # no mpirun, or not in this build")
        return
    flags = ["-pdb", MODEL, *X, *sources(), "-threads", 1, "-stills", 5, "-jitter_fluence", 5]
    run(*flags, "-output", "one_%d.bin")
    done = subprocess.run([mpirun, "-n", "2", PROGRAM, *map(str, flags), "-output", "two_%d.bin"],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, **mpi.ENVIRONMENT})
    if "does not find the others" in done.stderr:  # this happens with MPICH 4.2.0 of Ubuntu 24.04 in a chroot
        print("skip sf_series mpi # mpirun's processes do not find each other here")
        return
    ok("mpi-has-the-tables", done.returncode == 0 and frames("one") == frames("two") and
       len(frames("two")) == 5, done.stderr[-300:])


def crystal_of_expt():
    """The crystal of -expt acts like -mat: it moves spots, and F of the model stays."""
    own = image("-lambda", 1.2, "-exptout", "own.expt")
    back = run("-expt", "own.expt", "-pdb", MODEL, *CRYSTAL, *ALONE, "-floatfile", "e.bin")[1]
    ok("expt-with-a-model", maxrel(floats("e.bin"), own) < 2e-4, maxrel(floats("e.bin"), own))
    config = json.loads(run("-pdb", MODEL, *X, "-show_config")[0])
    cell = [x * 1.05 if i < 3 else x for i, x in enumerate(config["structure_factors"]["cell"])]
    typed = image("-lambda", 1.2, "-cell", *cell, "-exptout", "other.expt")
    said = run("-expt", "other.expt", "-pdb", MODEL, *CRYSTAL, *ALONE, "-floatfile", "e.bin")[1]
    ok("expt-is-a-typed-matrix", maxrel(floats("e.bin"), typed) < 2e-4, maxrel(floats("e.bin"), typed))
    ok("expt-moves-spots", maxrel(typed, own) > 0.1)
    ok("expt-cell-differs-is-said", f"has the cell {cell[0]:g} " in said and "has the cell" not in back,
       said + back)


def other_cells():
    """If crystals of a stream or of -jobs have another cell than F, one note names the
    first such crystal."""
    cell = json.loads(run("-pdb", MODEL, *X, "-show_config")[0])["structure_factors"]["cell"]
    for name, edges, said in (("same", cell[:3], False), ("permuted", [1.1 * cell[1], cell[2], cell[0]], True)):
        axes = "".join(f"{a}star = " + " ".join(f"{10 / edges[i]:+.9f}" if i == j else "+0.0" for j in range(3)) + " nm^-1\n" for i, a in enumerate("abc"))
        crystal = f"--- Begin crystal\n{axes}--- End crystal\n"
        with open("o.stream", "w", encoding="ascii") as out:
            out.write("CrystFEL stream format 2.3\n" + f"----- Begin chunk -----\n{crystal}----- End chunk -----\n" * 2)
        with open("o.jsonl", "w", encoding="ascii") as out:
            out.write((json.dumps({"cell": [*edges, 90, 90, 90]}) + "\n") * 2)
        for flags in (["-stills", 2, "-orientations", "o.stream"], ["-jobs", "o.jsonl"]):
            err = run("-pdb", MODEL, *CRYSTAL, "-distance", 80, "-detpixels", 16, "-pixel", 6, "-quiet", *flags, "-output", "s_%d.bin")[1]
            ok(f"cell-{name}{flags[-2]}", err.count("F(h k l) stays that of") == said, err)


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        if "gemmi" not in str([line for line in run("-version")[0].splitlines() if " yes" in line]):
            print("skip sf_series # built without gemmi")
            return 0
        jobs()
        spectra()
        jitter()
        resume()
        processes()
        crystal_of_expt()
        other_cells()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return 1 if FAILED else 0


sys.exit(main())
