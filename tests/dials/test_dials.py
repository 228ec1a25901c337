#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""DIALS reads series of this program and finds the simulated crystals.

usage: NANOBRAGG=program test_dials.py [nxmx] [smv] [cbf] [stills] [panels] [polarization]
       [tilt] [anomalous] [shots] [dose]   (default: all)

nxmx, smv, cbf, stills: DIALS imports a lysozyme series, finds spots, indexes them with an
unknown cell (stills: with the known cell) and refines; cell, orientation, rotation axis,
beam centre and distance must equal the simulation.  polarization: reflections of equal F,
integrated and corrected by DIALS, are equal at any azimuth.  panels: stills on eight
tilted panels of a CrystFEL geometry file.  tilt: DIALS reads the same tilted detector and
other spindle from NXmx and CBF.  anomalous: a protein with copper from a PDB file, just
above the K edge; integrated and scaled intensities and anomalous differences agree with
calculated ones.  shots: stills as of an X-ray laser, with 0, 1 or several crystals.
dose: B of DIALS' scaling grows with the dose.  Needs the Debian package dials.
KEEP=folder keeps the files; punx (from PyPI) on the PATH checks the master file too.
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
# Debian's DIALS does not have the stills indexer. The search on a grid of directions,
# which needs the cell, is three times faster than the Fourier transform.
SHOT_FLAGS = ["stills.indexer=sequences", "joint_indexing=False", "beam.fix=all", "detector.fix=all",
              "unit_cell=79.1,79.1,37.9,90,90,90", "space_group=P43212", "indexing.method=real_space_grid_search",
              "refinement_protocol.n_macro_cycles=2"]
SIZE = 290, 145  # pixels (0.2 mm) of each of eight panels
# Turns a vector of our default lab frame into the frame of DIALS (x along fast, y against
# slow, z against the beam).
T = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], float)
FAILED = []


def check(name, good, detail):
    print(f"# {name}: {detail}")
    print(("ok " if good else "not ok ") + "dials " + name)
    if not good:
        FAILED.append(name)


def run(log, *command):
    """Runs a command of DIALS, and writes its text to the file `log`. True if it works."""
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        with open(log, encoding="utf-8") as text:
            print("".join("# " + line for line in text.readlines()[-15:]))
    return done.returncode == 0


def truth(master):
    """Array [frames, 3, 3] of the matrices A of a master file, in the frame of DIALS."""
    with h5py.File(master) as h5:
        return np.einsum("ij,njk->nik", T, h5["/entry/simulation/A"][...])


def compare(A, A_true):
    """(largest relative error of a cell edge, misorientation in degrees) of the lattice
    A. The true lattice is first put into the basis of A. None if the lattices differ."""
    M = np.rint(np.linalg.inv(A_true) @ A)
    if not abs(abs(np.linalg.det(M)) - 1) < 1e-6:
        return None
    want = A_true @ M
    cells = [np.linalg.norm(np.linalg.inv(x), axis=1) for x in (A, want)]
    u, _, v = np.linalg.svd(A @ np.linalg.inv(want))
    angle = math.degrees(math.acos(min(1, (np.trace(u @ v) - 1) / 2)))
    return float(np.max(np.abs(cells[0] / cells[1] - 1))), angle


def check_one_panel(name, experiments):
    """Imported beam, detector, goniometer and scan equal those of the simulation."""
    one = experiments[0]
    panel = one.detector[0]
    beam = panel.get_beam_centre(one.beam.get_s0())
    # with the mosflm convention Xbeam is along slow and Ybeam along fast, both from the
    # centre of the first pixel
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


def find_and_index(name, images, flags, check_import=check_one_panel):
    """(experiments, indexed reflections) of DIALS, or None if a step fails."""
    if not run(f"{name}.import.log", "dials.import", *images,
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


def stills(name, A_true, least=0.8, check_import=check_one_panel):
    found = find_and_index(name, [f"{name}_master.h5"], SHOT_FLAGS, check_import)
    if not found:
        return
    errors = {}
    for one in found[0]:
        frame = one.imageset.indices()[0]
        result = compare(np.array(one.crystal.get_A()).reshape(3, 3), A_true[frame])
        if result and result[1] <= 0.3:
            errors[frame] = result
    n = len(A_true)
    found = list(errors.values()) or [(math.inf, math.inf)]
    check(f"{name} indexed", len(errors) >= least * n,
          f"{len(errors)} of {n} within 0.3 deg of the truth, median "
          f"{np.median([e[1] for e in found]):.3f} deg, cell off by at most "
          f"{100 * max(e[0] for e in found):.2f} %")


def eight_panels():
    """[(fast axis, slow axis, origin in mm)] of eight panels in CrystFEL's frame: two
    side by side in four rows, each rotated by 3 to 8 degrees about each axis."""
    rng = np.random.default_rng(8)
    panels = []
    for k in range(8):
        x, y, z = np.radians(rng.uniform(3, 8, 3) * rng.choice([-1, 1], 3))
        fast = np.array([math.cos(y) * math.cos(z), math.cos(y) * math.sin(z), -math.sin(y)])
        slow = np.array([-math.sin(z), math.cos(z), math.tan(x)])
        slow -= fast * (fast @ slow)
        slow /= np.linalg.norm(slow)
        if k % 3 == 1:  # some panels are rotated by 180 degrees
            fast, slow = -fast, -slow
        centre = [62 * (k % 2) - 31, 33 * (k // 2) - 49.5, 120 + rng.uniform(-2, 2)]
        panels.append((fast, slow, centre - 0.2 * (SIZE[0] * fast + SIZE[1] * slow) / 2))
    return panels


def write_geometry(name, panels):
    with open(name, "w", encoding="ascii") as out:
        out.write(f"wavelength = 1 A\nclen = 0.12 m\nres = 5000\nadu_per_photon = 1\n"
                  f"min_fs = 0\nmax_fs = {SIZE[0] - 1}\n")
        for k, (fast, slow, origin) in enumerate(panels):
            out.write(f"p{k}/min_ss = {SIZE[1] * k}\np{k}/max_ss = {SIZE[1] * (k + 1) - 1}\n"
                      + "".join(f"p{k}/{key} = {v[0]:+.15f}x {v[1]:+.15f}y {v[2]:+.15f}z\n"
                                for key, v in (("fs", fast), ("ss", slow)))
                      + f"p{k}/corner_x = {5 * origin[0]:.15f}\n"
                      f"p{k}/corner_y = {5 * origin[1]:.15f}\n"
                      f"p{k}/coffset = {(origin[2] - 120) / 1000:.15f}\n")


def panels_of_a_file(program):
    """DIALS reads eight tilted panels from the master file of 20 stills, and finds the
    crystals."""
    panels = eight_panels()
    write_geometry("eight.geom", panels)

    def check_panels(name, experiments):
        detector = experiments[0].detector
        axes = [(panel.get_fast_axis(), panel.get_slow_axis(), panel.get_origin())
                for panel in detector]
        # x and z of dxtbx are opposite to those of CrystFEL
        off = np.abs(np.array(axes) * [-1, 1, -1] - np.array(panels))
        check(f"{name} import", len(detector) == 8 and off.max() < 1e-6,
              f"{len(detector)} panels, off by at most {off.max():.1g} (mm)")
    at = COMMON.index("-distance")
    flags = COMMON[:at] + COMMON[COMMON.index("-Na"):]
    subprocess.run([program, *flags, "-geom", "eight.geom", "-stills", "20", *STILLS[2:],
                    "-hdf5", "panels_master.h5"], check=True)
    stills("panels", truth("panels_master.h5"), 0.9, check_panels)


def reported(program, flags):
    """Polarization options for dials.import that the report prints."""
    out = subprocess.run([program, *flags, "-stills", "1", "-hdf5", "told.h5"], check=True,
                         capture_output=True, text=True).stdout
    if "geometry.beam" not in out:  # a series prints no beam; a single image does
        out = subprocess.run([program, *flags, "-nofloat", "-noint", "-nonoise", "-nopgm"],
                             check=True, capture_output=True, text=True).stdout
    return [word for word in out.split() if word.startswith("geometry.beam.")]


def polarization(program):
    """With equal F and a half polarized beam, corrected intensities near 26 degrees do
    not depend on the azimuth. With the polarization 0.999, which DIALS assumes, they vary
    by 5 %."""
    flags = ["-default_F", "120", "-cell", "60", "60", "60", "90", "90", "90", "-lambda", "1",
             "-distance", "100", "-pixel", "0.2", "-detpixels_f", "560", "-detpixels_s", "540",
             "-Xbeam", "55", "-Ybeam", "53", "-N", "8", "-fluence", "1e28", "-seed", "1",
             "-oversample", "2", "-gauss_xtal", "-polar", "0.5", "-misset", "20", "35", "50"]
    told = reported(program, flags)
    check("polarization report", told == ["geometry.beam.polarization_fraction=0.75"], told)
    subprocess.run([program, *flags, "-phi", "10", "-osc", "0.5", "-phisteps", "5", "-frames", "20",
                    "-hdf5", "polar_master.h5", "-quiet"], check=True)
    steps = (["dials.import", "polar_master.h5", *told, "output.experiments=polar.expt"],
             ["dials.find_spots", "polar.expt", "nproc=2", "output.reflections=polar.strong"],
             ["dials.index", "polar.expt", "polar.strong", "space_group=P432",
              "unit_cell=60,60,60,90,90,90", "indexing.method=real_space_grid_search",
              "refinement_protocol.n_macro_cycles=1", "detector.fix=all", "beam.fix=all",
              "output.experiments=polar_indexed.expt", "output.reflections=polar_indexed.refl"],
             ["dials.integrate", "polar_indexed.expt", "polar_indexed.refl", "nproc=1",
              "prediction.d_min=2.1", "profile.fitting=False",
              "output.experiments=polar_integrated.expt",
              "output.reflections=polar_integrated.refl"])
    for step in steps:
        if not run(f"polar.{step[0]}.log", *step):
            check("polarization", False, f"{step[0]} failed")
            return
    one = ExperimentListFactory.from_json_file("polar_integrated.expt")[0]
    table = flex.reflection_table.from_file("polar_integrated.refl")
    table = table.select(table.get_flags(table.flags.integrated_sum))
    wave = np.array(table["s1"].as_double()).reshape(-1, 3)
    twotheta = np.degrees(np.arctan2(np.hypot(wave[:, 0], wave[:, 1]), -wave[:, 2]))
    take = (abs(twotheta - 26) < 1) & (np.abs(np.array(table["zeta"])) > 0.3) \
        & (np.array(table["partiality"]) > 0.99)
    azimuth = np.arctan2(wave[take, 1], wave[take, 0])
    raw = np.array(table["intensity.sum.value"])[take]
    terms = np.c_[np.ones(take.sum()), np.cos(2 * azimuth), np.sin(2 * azimuth)]

    def variation(intensity):
        fit = np.linalg.lstsq(terms, intensity, rcond=None)[0]
        return float(np.hypot(fit[1], fit[2]) / fit[0])
    corrected = variation(raw * np.array(table["lp"])[take] / np.array(table["qe"])[take])
    # the variation with the polarization that DIALS assumes by default
    c2 = np.cos(np.radians(twotheta[take])) ** 2
    normal = wave[take, 1] ** 2 * one.beam.get_wavelength() ** 2
    factor = [(1 - 2 * p) * (1 - normal) + p * (1 + c2) for p in (0.75, 0.999)]
    assumed = variation(raw * np.array(table["lp"])[take] * factor[0] / factor[1])
    check("polarization", take.sum() > 500 and corrected < 0.01,
          f"azimuthal variation {100 * corrected:.2f} % of {take.sum()} intensities "
          f"({100 * assumed:.1f} % with the fraction that DIALS assumes)")
    check("polarization is seen", assumed > 0.03, f"{100 * assumed:.1f} %")


def tilt(program):
    """DIALS reads the same tilted detector, spindle and scan from CBF and master file."""
    flags = [*COMMON, "-twotheta", "15", "-detector_rotx", "4", "-spindle_axis", "0", "1", "0",
             "-phi", "10", "-osc", "0.5", "-frames", "2"]
    subprocess.run([program, *flags, "-hdf5", "tilt_master.h5", "-output", "tilt_%05d.cbf"],
                   check=True)
    models = []
    for names in (["tilt_master.h5"], ["tilt_00001.cbf", "tilt_00002.cbf"]):
        one = ExperimentListFactory.from_filenames(names)[0]
        panel = one.detector[0]
        models.append([*panel.get_origin(), *panel.get_fast_axis(), *panel.get_slow_axis(),
                       *one.goniometer.get_rotation_axis(), *one.scan.get_oscillation(),
                       *one.scan.get_image_range(), one.beam.get_wavelength()])
    off = float(np.max(np.abs(np.subtract(*models))))
    check("tilt", off < 1e-6 and abs(models[0][5]) > 0.1, f"CBF and NXmx differ by {off:.1g}")


def merged_pairs(table, F):
    """A row for each reflection, merged by the point group 222: mean scaled intensity of
    h k l and of its Friedel mate, then the calculated F^2 of both."""
    value = np.array(table["intensity.scale.value"]) / np.array(table["inverse_scale_factor"])
    sums = {}
    for (h, k, l), x in zip(table["miller_index"], value):
        mate = (h < 0) ^ (k < 0) ^ (l < 0)  # each rotation of 222 changes two signs
        if h and k and l:  # reflections with an index 0 are centric
            at = sums.setdefault((abs(h), abs(k), abs(l)), [[], []])
            at[int(mate)].append(x)
    rows = []
    for (h, k, l), (plus, minus) in sums.items():
        if plus and minus and (h, k, l) in F:
            rows.append([np.mean(plus), np.mean(minus), F[h, k, l] ** 2, F[-h, -k, -l] ** 2])
    return np.array(rows)


def anomalous(program):
    """60 frames with F of a PDB file with copper, near its K edge (8979 eV, 1.3808 A)."""
    model = os.path.join(os.path.dirname(HKL), "structure_factors", "models", "4oz7.pdb")
    source = ["-pdb", model, "-lambda", "1.37"]
    subprocess.run([program, "sf", *source, "-dmin", "2", "-dump_hkl", "copper.hkl", "-quiet"],
                   check=True)
    with open("copper.hkl", encoding="ascii") as stream:
        rows = [line.split() for line in stream]
    F = {tuple(map(int, row[:3])): float(row[3]) for row in rows}
    subprocess.run([program, *source, "-distance", "60", "-pixel", "0.2", "-detpixels_f", "560",
                    "-detpixels_s", "540", "-Xbeam", "55", "-Ybeam", "53", "-N", "16", "-mosaic",
                    "0.1", "-mosaic_dom", "8", "-fluence", "3e28", "-seed", "1", "-oversample", "2",
                    "-gauss_xtal", "-misset", "20", "35", "50", "-phi", "0", "-osc", "1.5",
                    "-phisteps", "15", "-frames", "60", "-hdf5", "copper_master.h5", "-hdf5type",
                    "int32", "-quiet"], check=True)
    steps = (["dials.import", "copper_master.h5", "geometry.beam.polarization_fraction=0.5",
              "output.experiments=copper.expt"],
             ["dials.find_spots", "copper.expt", "nproc=2", "output.reflections=copper.strong"],
             ["dials.index", "copper.expt", "copper.strong", "space_group=I222",
              "unit_cell=36.72,39.42,40.24,90,90,90", "detector.fix=all", "beam.fix=all",
              "output.experiments=copper_indexed.expt", "output.reflections=copper_indexed.refl"],
             ["dials.integrate", "copper_indexed.expt", "copper_indexed.refl", "nproc=1",
              "prediction.d_min=2.1", "profile.fitting=False",
              "output.experiments=copper_integrated.expt",
              "output.reflections=copper_integrated.refl"],
             ["dials.scale", "copper_integrated.expt", "copper_integrated.refl", "anomalous=True",
              "output.experiments=copper_scaled.expt", "output.reflections=copper_scaled.refl"])
    for step in steps:
        if not run(f"copper.{step[0]}.log", *step):
            check("anomalous", False, f"{step[0]} failed")
            return
    table = flex.reflection_table.from_file("copper_scaled.refl")
    table = table.select(~table.get_flags(table.flags.bad_for_scaling, all=False))
    rows = merged_pairs(table, F)
    cc = np.corrcoef(rows[:, :2].ravel(), rows[:, 2:].ravel())[0, 1]
    check("anomalous F^2", len(rows) > 500 and cc >= 0.98, f"CC {cc:.4f} of {len(rows)} pairs")
    difference = np.sqrt(np.maximum(rows[:, 0], 0)) - np.sqrt(np.maximum(rows[:, 1], 0))
    calculated = np.sqrt(rows[:, 2]) - np.sqrt(rows[:, 3])
    cc = np.corrcoef(difference, calculated)[0, 1]
    check("anomalous differences", cc >= 0.8, f"CC {cc:.4f}")


def shots(program):
    """50 stills of SASE pulses: random numbers of crystals with random sizes and mosaic
    spreads, water, diffuse light, a beam stop."""
    flags = [x for x in COMMON if x not in ("-water", "0.05")]
    subprocess.run([program, *flags, "-fluence", "1e27", "-water", "0.02", "-stills", "50", "-orientations", "random", "-spectrum", "sase",
                    "-bandwidth", "0.2", "-pulse_length", "20", "-wavelengths", "24", "-vary",
                    "crystals:poisson:0.6,blocks:lognormal:60%,mosaic:lognormal:40%", "-diffuse_sigma", "0.3", "-diffuse_gamma", "10",
                    "-beamstop", "disc:6,bar:2:200", "-hdf5", "shots_master.h5", "-exptout", "truth.expt"], check=True)
    known = ExperimentListFactory.from_json_file("truth.expt")
    found = find_and_index("shots", ["shots_master.h5"], SHOT_FLAGS, check_shots)
    if not found:
        return
    experiments, _, strong = found
    spots = np.bincount(np.array(strong["id"]) if len(set(strong["id"])) > 1 else np.floor(np.array(strong["xyzobs.px.value"].parts()[2])).astype(int),
                        minlength=50)
    crystals = {}
    for one in known:
        if one.crystal is not None:
            crystals.setdefault(one.imageset.indices()[0], []).append(np.array(one.crystal.get_A()).reshape(3, 3))
    fair = [k for k, all_of in crystals.items() if len(all_of) == 1 and spots[k] >= 60]
    angles = {}
    for one in experiments:
        frame = one.imageset.indices()[0]
        result = compare(np.array(one.crystal.get_A()).reshape(3, 3), crystals[frame][0]) if frame in fair else None
        if result:
            angles[frame] = min(result[1], angles.get(frame, math.inf))
    good = sum(a <= 0.3 for a in angles.values())
    check("shots indexed", len(fair) >= 10 and good >= 0.9 * len(fair),
          f"{good} of {len(fair)} frames with one crystal and 60 spots within 0.3 deg of the truth, median "
          f"{np.median(list(angles.values()) or [math.inf]):.3f} deg; {50 - len(crystals)} frames without a crystal")


def check_shots(name, experiments):
    check(f"{name} import", len(experiments) == 50 and all(one.is_still() for one in experiments), f"{len(experiments)} experiments")


def dose(program):
    """In 90 frames of 1 deg and 0.5 MGy, DIALS finds that B grows by 1 A^2/MGy."""
    subprocess.run([program, *COMMON, "-misset", "20", "35", "50", "-phi", "0", "-osc", "1", "-phisteps", "8", "-frames", "90", "-dose", "0.5",
                    "-damage_B", "1", "-hdf5", "dose_master.h5", "-hdf5type", "int32"], check=True)
    steps = (["dials.import", "dose_master.h5", "geometry.beam.polarization_fraction=0.5", "output.experiments=dose.expt"],
             ["dials.find_spots", "dose.expt", "nproc=2", "output.reflections=dose.strong"],
             ["dials.index", "dose.expt", "dose.strong", "space_group=P43212", "unit_cell=79.1,79.1,37.9,90,90,90", "detector.fix=all",
              "beam.fix=all", "output.experiments=dose_indexed.expt", "output.reflections=dose_indexed.refl"],
             ["dials.integrate", "dose_indexed.expt", "dose_indexed.refl", "nproc=1", "prediction.d_min=2.4", "profile.fitting=False",
              "output.experiments=dose_integrated.expt", "output.reflections=dose_integrated.refl"],
             ["dials.scale", "dose_integrated.expt", "dose_integrated.refl", "model=physical", "physical.absorption_correction=False",
              "output.experiments=dose_scaled.expt", "output.reflections=dose_scaled.refl"])
    for step in steps:
        if not run(f"dose.{step[0]}.log", *step):
            check("dose", False, f"{step[0]} failed")
            return
    table = flex.reflection_table.from_file("dose_scaled.refl")
    table = table.select(~table.get_flags(table.flags.bad_for_scaling, all=False))
    frame, d = np.array(table["xyzcal.px"].parts()[2]), np.array(table["d"])
    scale = np.log(np.array(table["inverse_scale_factor"]))
    doses, B = [], []
    for k in range(5, 90, 10):  # ln of the scale is linear in 1/(2 d^2), with slope -B
        near = np.abs(frame - k) < 1
        doses.append(0.5 * frame[near].mean())
        B.append(-np.polyfit(1 / (2 * d[near] ** 2), scale[near], 1)[0])
    slope = np.polyfit(doses, B, 1)[0]
    check("dose", abs(slope - 1) <= 0.15, f"B of dials.scale grows by {slope:.3f} A^2/MGy, {len(table)} intensities; from first to last "
          f"{B[-1] - B[0]:.2f} of {doses[-1] - doses[0]:.2f} A^2")


def checkers():
    """punx, a program of the NeXus community, finds no error in a master file."""
    if not shutil.which("punx"):
        print("skip dials punx # no punx on the PATH (pip install punx)")
        return
    out = subprocess.run(["punx", "validate", "run_master.h5", "--report", "ERROR"], check=False,
                         capture_output=True, text=True).stdout
    errors = [line for line in out.splitlines() if line.startswith("ERROR")]
    # the only line with errors is the summary, which counts them
    check("punx", len(errors) == 1 and errors[0].split()[1] == "0", "; ".join(errors))


def main(kinds):
    if not shutil.which("dials.import"):
        print("skip dials # no dials.import on the PATH")
        return 0
    program = os.path.abspath(os.environ["NANOBRAGG"])
    folder = os.environ.get("KEEP") or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    if "anomalous" in kinds:
        anomalous(program)
    if "panels" in kinds:
        panels_of_a_file(program)
    if "shots" in kinds:
        shots(program)
    if "dose" in kinds:
        dose(program)
    if set(kinds) - {"anomalous", "panels", "shots", "dose"}:
        lysozyme(program, kinds)
    if "KEEP" not in os.environ:
        os.chdir("/")
        shutil.rmtree(folder)
    return 1 if FAILED else 0


def lysozyme(program, kinds):
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
        stills("stills", truth("stills_master.h5"))
    if "panels" in kinds:
        panels_of_a_file(program)
    checkers()
    if "polarization" in kinds:
        polarization(program)
    if "tilt" in kinds:
        tilt(program)


sys.exit(main(sys.argv[1:] or ["nxmx", "smv", "cbf", "stills", "panels",
                               "polarization", "tilt", "anomalous", "shots", "dose"]))
