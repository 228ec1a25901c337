#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""DIALS opens our series and finds the crystal that we simulated.

usage: NANOBRAGG=program dials_check.py [nxmx] [smv] [cbf] [stills]      (default: all)

A lysozyme series is rendered, imported, its spots found and indexed with an unknown cell (stills:
with the known one) and refined; cell, orientation, rotation axis, beam centre and distance must be
those of the simulation.  The Debian package dials is needed.  KEEP=folder keeps the files.
"""
import math
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import h5py
    from dxtbx.model.experiment_list import ExperimentListFactory
    from dials.array_family import flex
except ImportError as missing:
    print(f"skip dials # {missing}; install the Debian packages dials and python3-h5py")
    sys.exit(0)

CELL = (79.1, 79.1, 37.9)
HKL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../golden_data/lysozyme_P1.hkl")
COMMON = ["-hkl", HKL, "-cell", "79.1", "79.1", "37.9", "90", "90", "90", "-lambda", "1",
          "-distance", "120", "-pixel", "0.2", "-detpixels_f", "560", "-detpixels_s", "540",
          "-Xbeam", "55", "-Ybeam", "53", "-Na", "12", "-Nb", "12", "-Nc", "25", "-mosaic", "0.1",
          "-mosaic_dom", "8", "-fluence", "2e26", "-water", "0.05", "-seed", "1",
          "-oversample", "2", "-gauss_xtal", "-quiet"]
ROTATION = ["-misset", "20", "35", "50", "-phi", "10", "-osc", "0.5", "-phisteps", "5",
            "-frames", "60"]
STILLS = ["-stills", "50", "-orientations", "random", "-dispersion", "0.4", "-dispsteps", "3"]
# The lab of the default convention in DIALS' frame: x fast, y against slow, z against the beam.
T = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], float)
FAILED = []


def check(name, good, detail):
    print(f"# {name}: {detail}")
    print(("ok " if good else "not ok ") + "dials " + name)
    if not good:
        FAILED.append(name)


def run(log, *command):
    """Run a command of DIALS; its text goes to a file."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        with open(log, encoding="utf-8") as text:
            print("".join("# " + line for line in text.readlines()[-15:]))
    return done.returncode == 0


def truth(master):
    """A matrices [frames][3][3] in DIALS' frame."""
    with h5py.File(master) as h5:
        return np.einsum("ij,njk->nik", T, h5["/entry/simulation/A"][...])


def compare(A, A_true):
    """Largest relative error of the cell, and the misorientation in degrees, after writing the
    true lattice in the basis that was found; None when that is another lattice."""
    M = np.rint(np.linalg.inv(A_true) @ A)
    if not abs(abs(np.linalg.det(M)) - 1) < 1e-6:
        return None
    want = A_true @ M
    cells = [np.linalg.norm(np.linalg.inv(x), axis=1) for x in (A, want)]
    u, _, v = np.linalg.svd(A @ np.linalg.inv(want))
    angle = math.degrees(math.acos(min(1, (np.trace(u @ v) - 1) / 2)))
    return float(np.max(np.abs(cells[0] / cells[1] - 1))), angle


def check_import(name, experiments):
    """The models as imported are those of the simulation."""
    one = experiments[0]
    panel = one.detector[0]
    beam = panel.get_beam_centre(one.beam.get_s0())
    # mosflm's convention: X along slow, Y along fast, both from the centre of the first pixel
    want = (53 + 0.1, 55 + 0.1)
    good = all(abs(b - w) < 1e-3 for b, w in zip(beam, want)) \
        and abs(panel.get_distance() - 120) < 1e-6 and abs(one.beam.get_wavelength() - 1) < 1e-9
    detail = f"beam {beam} mm, distance {panel.get_distance()} mm"
    if one.goniometer is not None:
        axis = one.goniometer.get_rotation_axis()
        scan = one.scan.get_oscillation() + tuple(one.scan.get_image_range())
        good &= max(abs(a - w) for a, w in zip(axis, (1, 0, 0))) < 1e-9
        good &= abs(scan[0] - 10) < 1e-9 and abs(scan[1] - 0.5) < 1e-9 \
            and scan[3] - scan[2] == 59
        detail += f", axis {axis}, scan {scan}"
    check(f"{name} import", good, detail)


def find_and_index(name, images, flags, import_flags=()):
    """Experiments and indexed reflections, or None."""
    if not run(f"{name}.import.log", "dials.import", *images, *import_flags,
               f"output.experiments={name}.expt"):
        check(f"{name} import", False, "dials.import failed")
        return None
    check_import(name, ExperimentListFactory.from_json_file(f"{name}.expt"))
    if not run(f"{name}.find.log", "dials.find_spots", f"{name}.expt", "nproc=2",
               f"output.reflections={name}.strong"):
        check(f"{name} spots", False, "dials.find_spots failed")
        return None
    if not run(f"{name}.index.log", "dials.index", f"{name}.expt", f"{name}.strong", *flags,
               f"output.experiments={name}_indexed.expt",
               f"output.reflections={name}_indexed.refl"):
        check(f"{name} index", False, "dials.index failed")
        return None
    return (ExperimentListFactory.from_json_file(f"{name}_indexed.expt"),
            flex.reflection_table.from_file(f"{name}_indexed.refl"),
            flex.reflection_table.from_file(f"{name}.strong"))


def rotation(name, images, A_true):
    found = find_and_index(name, images, ["space_group=P1"])
    if not found:
        return
    experiments, reflections, strong = found
    fraction = (reflections["id"] >= 0).count(True) / len(strong)
    result = compare(np.array(experiments[0].crystal.get_A()).reshape(3, 3), A_true)
    check(f"{name} indexed", fraction >= 0.9, f"{100 * fraction:.1f} % of {len(strong)} spots")
    check(f"{name} lattice", result is not None and len(experiments) == 1,
          f"{len(experiments)} lattice, cell {experiments[0].crystal.get_unit_cell().parameters()}")
    if result:
        check(f"{name} cell", result[0] <= 0.003, f"off by at most {100 * result[0]:.4f} %")
        check(f"{name} orientation", result[1] <= 0.1, f"off by {result[1]:.4f} deg")
    panel = experiments[0].detector[0]
    beam = panel.get_beam_centre_px(experiments[0].beam.get_s0())
    check(f"{name} refined geometry",
          math.hypot(beam[0] - 265.5, beam[1] - 275.5) < 0.2
          and abs(panel.get_distance() / 120 - 1) < 0.003,
          f"beam {beam} px, distance {panel.get_distance():.4f} mm")


def stills(A_true):
    # Debian's DIALS lacks the extension of the stills indexer.  The search on a grid of
    # directions, which needs the cell, is three times faster than by Fourier transform.
    flags = ["stills.indexer=sequences", "joint_indexing=False", "beam.fix=all",
             "detector.fix=all", "unit_cell=79.1,79.1,37.9,90,90,90", "space_group=P43212",
             "indexing.method=real_space_grid_search", "refinement_protocol.n_macro_cycles=2"]
    found = find_and_index("stills", ["stills_master.h5"], flags)
    if not found:
        return
    errors = {}
    for one in found[0]:
        frame = one.imageset.indices()[0]
        result = compare(np.array(one.crystal.get_A()).reshape(3, 3), A_true[frame])
        if result and result[1] <= 0.3:
            errors[frame] = result
    n = len(A_true)
    check("stills indexed", len(errors) >= 0.8 * n,
          f"{len(errors)} of {n} within 0.3 deg of the truth, median "
          f"{np.median([e[1] for e in errors.values()]):.3f} deg, cell off by at most "
          f"{100 * max(e[0] for e in errors.values()):.2f} %")


def main(kinds):
    if not shutil.which("dials.import"):
        print("skip dials # no dials.import on the PATH")
        return 0
    program = os.path.abspath(os.environ["NANOBRAGG"])
    folder = os.environ.get("KEEP") or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    subprocess.run([program, *COMMON, *ROTATION, "-hdf5", "run_master.h5", "-frames_per_file",
                    "25"], check=True)
    A_true = truth("run_master.h5")[0]
    if "nxmx" in kinds:
        rotation("nxmx", ["run_master.h5"], A_true)
    for kind, extension in (("smv", "img"), ("cbf", "cbf")):
        if kind in kinds:
            subprocess.run([program, *COMMON, *ROTATION, "-output", f"{kind}_%05d.{extension}"],
                           check=True)
            rotation(kind, [f"template={kind}_#####.{extension}"], A_true)
    if "stills" in kinds:
        subprocess.run([program, *COMMON, *STILLS, "-hdf5", "stills_master.h5"], check=True)
        stills(truth("stills_master.h5"))
    if "KEEP" not in os.environ:
        os.chdir("/")
        shutil.rmtree(folder)
    return 1 if FAILED else 0


sys.exit(main(sys.argv[1:] or ["nxmx", "smv", "cbf", "stills"]))
