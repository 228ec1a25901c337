# SPDX-License-Identifier: MIT
"""Finds the MPI libraries of this machine: the mpirun for a program, and programs built with other MPIs."""
import glob
import os
import shlex
import shutil
import subprocess

from script import PROGRAM, read

# Let Open MPI run as root, with more processes than cores, each on all cores
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("NB_BUILD", os.path.dirname(PROGRAM))
OWN = ("src/series/ranks.c", "src/outputs/features.c")  # files that include <mpi.h> or name the MPI version


def version(program=PROGRAM):
    """MPI of a program, such as "MPICH 4.0.2" or "Open MPI 4.1"; "" for a build without MPI."""
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stdout
    return next((line.split(None, 2)[2] for line in said.splitlines() if line.split()[:2] == ["MPI", "yes"]), "")


def mpirun(name):
    """The mpirun of this MPI, also when another MPI is the system's default; None if it
    is not installed."""
    kind = "openmpi" if name.startswith("Open MPI") else "mpich"
    return shutil.which("mpirun." + kind) or shutil.which("mpirun") if name else None


def _flags(own):
    """Compiler command of the build, with the flags of another MPI."""
    words = shlex.split(read(os.path.join(BUILD, "flags")).decode())
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    words = [word for word in words if not word.startswith(("-DNB_MPI_", "-DNB_HAVE_MPI", "-M"))]
    return words[:first] + shlex.split(own["MPI_CFLAGS"]) + [
        "-DNB_HAVE_MPI=1", f'-DNB_MPI_VERSION="{own["MPI_VERSION"]}"', f'-DNB_MPI_SONAME="{own["MPI_SONAME"]}"'] + words[first:]


def _link(own, folder):
    """Links the program with another MPI. The objects are those of the build, except
    objects that depend on the MPI."""
    compiler, objects = _flags(own), []
    for number, source in enumerate(OWN):
        objects.append(os.path.join(folder, f"{number}.o"))
        subprocess.run([*compiler, "-c", source, "-o", objects[-1]], check=True, cwd=SOURCE)
    names = [os.path.basename(name)[:-2] for name in sorted(glob.glob(f"{SOURCE}/src/cli/*.c"))]
    objects += [f"{BUILD}/src/cli/{name}.o" for name in names]
    program = os.path.join(folder, "nanobragg")
    libraries = shlex.split(read(os.path.join(BUILD, "libs")).decode())
    subprocess.run([*compiler, *objects, os.path.join(BUILD, "libnanobragg.a"), *libraries, "-o", program], check=True)
    return program


def others(folder):
    """Links a program in the folder with each MPI of this machine except the build's.
    Returns a list of (version, program)."""
    mine, made = version(), []
    if not os.path.exists(os.path.join(BUILD, "flags")):
        return made
    for compiler in ("mpicc.mpich", "mpicc.openmpi"):
        if not shutil.which(compiler):
            continue
        text = subprocess.run(["sh", "mk/detect.sh", "cc", "0", "c++", "0"], cwd=SOURCE, capture_output=True, text=True,
                              check=True, env={**os.environ, "MPICC": compiler}).stdout
        own = dict(line.split(" := ", 1) for line in text.splitlines() if line.startswith("MPI_"))
        if own and own["MPI_VERSION"] != mine:
            place = os.path.join(folder, compiler)
            os.mkdir(place)
            made.append((own["MPI_VERSION"], _link(own, place)))
    return made
