#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Crystals, beams and goniometers that change along a scan (golden_data/real/lcysteine):
written, chosen and refused values, and places of reflections against the prediction of
DIALS."""
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, need, ok, run  # noqa: E402

h5py, numpy = need("h5py", "numpy")

DATA = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "real", "lcysteine")
MEASURED = os.path.join(DATA, "scan_varying_02.expt")
POINTS, WIDTH, PIXEL = 16, 0.1, 0.172  # points of the scan; width of a frame in deg; pixel in mm


def rotation(axis, degrees):
    x, y, z = numpy.array(axis) / numpy.linalg.norm(axis)
    cross = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = math.radians(degrees)
    return numpy.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def load(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def save(path, experiments):
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(experiments, stream)
    return path


def points_of(experiments, crystal=0):
    return numpy.array(experiments["crystal"][crystal]["A_at_scan_points"]).reshape(-1, 3, 3)


def vary(experiments):
    """A crystal that turns and grows, a beam and a goniometer setting that turn, each
    much more than in reality."""
    places = numpy.linspace(-1, 1, POINTS)
    beam, goniometer, crystal = (experiments[key][0] for key in ("beam", "goniometer", "crystal"))
    A = [rotation([1, 2, -1], 0.1 * t + 0.05 * t * t) @ a @ numpy.diag([1 + 0.003 * t, 1 - 0.002 * t * t, 1 + 0.001 * t])
         for t, a in zip(places, points_of(experiments))]
    crystal["A_at_scan_points"] = [list(a.ravel()) for a in A]
    s0 = -numpy.array(beam["direction"]) / beam["wavelength"]
    beam["s0_at_scan_points"] = [list(rotation([0, 1, 1], 0.02 * t) @ s0) for t in places]
    setting = rotation([1, 1, 0], 25)
    goniometer["setting_rotation"] = list(setting.ravel())
    goniometer["setting_rotation_at_scan_points"] = [list((rotation([0, 1, 2], 0.05 * t) @ setting).ravel()) for t in places]
    return experiments


def reflections(path):
    """Fast, slow, frame of each reflection over all frames, by its indices."""
    with h5py.File(path) as h5:
        table = h5["/entry/simulation/reflections/table"][...]
    rows = {}
    for row in table:
        rows.setdefault((row["h"], row["k"], row["l"]), []).append((row["fast"], row["slow"], row["phi"], row["intensity"]))
    return {h: numpy.average(numpy.array(r)[:, :3], axis=0, weights=numpy.array(r)[:, 3]) for h, r in rows.items()}


def check_prediction(folder):
    """Middles of spots, without a sensor, where DIALS predicts them on the plane."""
    try:
        from dials.algorithms.spot_prediction import ScanVaryingReflectionPredictor
        from dials.array_family import flex
        from dxtbx.model.experiment_list import ExperimentListFactory
    except ImportError as missing:
        print(f"skip scan-varying prediction # {missing}; the Debian package dials is not installed")
        return
    expt, hdf5 = save(os.path.join(folder, "varied.expt"), vary(load(MEASURED))), os.path.join(folder, "varied.h5")
    run("-expt", expt, "-default_F", 100, "-N", 300, "-gauss_xtal", "-frames", POINTS - 1, "-phisteps", 20, "-oversample", 8,
        "-detector_thick", 0, "-fluence", 1e20, "-blocks", 1e3, "-hdf5", hdf5, "-truth", "spots", "-truth_min", 1e-6,
        "-seed", 1, "-nonoise")
    one, at = ExperimentListFactory.from_json_file(expt, check_format=False)[0], range(POINTS)
    table = ScanVaryingReflectionPredictor(one, dmin=0.45).for_varying_models(
        flex.mat3_double([one.crystal.get_A_at_scan_point(i) for i in at]),
        flex.vec3_double([one.beam.get_s0_at_scan_point(i) for i in at]),
        flex.mat3_double([one.goniometer.get_setting_rotation_at_scan_point(i) for i in at]))
    spots, start, off = reflections(hdf5), one.scan.get_oscillation()[0], []
    for index, mm, px in zip(table["miller_index"], table["xyzcal.mm"], table["xyzcal.px"]):
        if index in spots and 0.5 < px[2] < POINTS - 1.5:  # whole rocking curves
            fast, slow, phi = spots[index]
            off.append((fast - mm[0] / PIXEL, slow - mm[1] / PIXEL, (phi - start) / WIDTH - px[2]))
    worst = abs(numpy.array(off)).max(0)
    print(f"# {len(off)} reflections, {worst.round(4)} pixels and frames from DIALS' prediction")
    ok("prediction: reflections", len(off) >= 12, len(off))
    ok("prediction: places", worst[:2].max() <= 0.05, worst)
    ok("prediction: frames", worst[2] <= 0.05, worst)


def check_written(folder):
    """-exptout and the truth of a series have A of each frame: the product of setting,
    fixed and A, halfway between the points."""
    varied = vary(load(MEASURED))
    expt = save(os.path.join(folder, "written.expt"), varied)
    out, hdf5 = os.path.join(folder, "out.expt"), os.path.join(folder, "out.h5")
    goniometer = varied["goniometer"][0]
    fixed, setting = (numpy.array(goniometer[key]).reshape(3, 3) for key in ("fixed_rotation", "setting_rotation"))
    axis, start = setting @ goniometer["rotation_axis"], varied["scan"][0]["oscillation"][0]
    run("-expt", expt, "-default_F", 1, "-N", 3, "-frames", POINTS - 1, "-phisteps", 1, "-oversample", 1, "-roi", 0, 9, 0, 9,
        "-dials", "-exptout", out, "-hdf5", hdf5, "-seed", 1)
    again = load(out)
    expected = []
    for i, a in enumerate(points_of(varied)):
        turned = numpy.array(goniometer["setting_rotation_at_scan_points"][i]).reshape(3, 3) @ setting.T
        spindle = rotation(axis, start + i * WIDTH)
        expected.append(spindle.T @ turned @ spindle @ setting @ fixed @ a)
    written = points_of(again)
    ok("exptout: A at each point", abs(written - expected).max() < 1e-12, abs(written - expected).max())
    ok("exptout: s0 at each point",
       numpy.allclose(again["beam"][0]["s0_at_scan_points"], varied["beam"][0]["s0_at_scan_points"], atol=1e-12, rtol=0))
    ok("exptout: all images", again["scan"][0]["image_range"] == [1, POINTS - 1], again["scan"][0]["image_range"])
    with h5py.File(hdf5) as h5:
        truth, axes = h5["/entry/simulation/A"][...], h5["/entry/simulation/beam_vector"][...]
    middle = (points_of(varied)[1:] + points_of(varied)[:-1]) / 2
    lengths = numpy.linalg.norm(truth, axis=1) / numpy.linalg.norm(middle, axis=1) - 1
    ok("truth: A of each frame", abs(lengths).max() < 1e-7 and abs(numpy.diff(truth, axis=0)).max() > 1e-5,
       abs(lengths).max())
    ok("truth: beam of each frame", abs(numpy.diff(axes, axis=0)).max() > 1e-6, axes[:2])
    run("-expt", out, "-default_F", 1, "-N", 3, "-frames", POINTS - 1, "-phisteps", 1, "-oversample", 1, "-roi", 0, 9, 0, 9,
        "-dials", "-hdf5", os.path.join(folder, "again.h5"), "-seed", 1)
    with h5py.File(os.path.join(folder, "again.h5")) as h5:
        ok("exptout: read again", abs(h5["/entry/simulation/A"][...] - truth).max() < 1e-8,
           abs(h5["/entry/simulation/A"][...] - truth).max())


def check_choice(folder):
    """The experiment and the angle of a named image; several crystals."""
    two = load(MEASURED)
    two["crystal"].append(load(os.path.join(DATA, "scan_varying_04.expt"))["crystal"][0])
    two["imageset"].append({"__id__": "ImageSequence", "template": "/y/second_##.cbf"})
    two["experiment"].append({**two["experiment"][0], "crystal": 1, "imageset": 1})
    expt = save(os.path.join(folder, "two.expt"), two)
    flags = ["-expt", expt, "-default_F", 1, "-N", 3, "-oversample", 1, "-phisteps", 1, "-show_config", "-seed", 1]

    def cell(*more):
        shown = json.loads(run(*flags, *more)[0])
        return shown["crystal"]["a_A"][0], shown["spindle"]["phi_deg"]
    first, second = cell("-expt_number", 0), cell("-expt_number", 1)
    ok("experiments differ", first[0] != second[0], (first, second))
    ok("image of the first", cell("-expt_image", "l-cyst_02_00001.cbf") == first)
    ok("image of the second", cell("-expt_image", "raw/second_01.cbf") == second)
    ok("angle of an image", abs(cell("-expt_image", "second_04.cbf")[1] - first[1] - 3 * WIDTH) < 1e-9)
    for name, more, text in (
            ("image-unknown", ["-expt_image", "second_16.cbf"], "-expt_image second_16.cbf: no experiment"),
            ("image-of-other", ["-expt_image", "second_04.cbf", "-expt_number", 0], "experiment 0 (-expt_number) has no such"),
            ("frame-outside", ["-phi", -143.45], "-phi -143.45: the frame from -143.45"),
            ("frames-outside", ["-frames", 16, "-output", os.path.join(folder, "f_%d.cbf")], "type -frames 15")):
        said = run(*[f for f in flags if f != "-show_config" or "-frames" not in more], *more, status=2)[1]
        ok(name, text in said, said)
    run(*flags, "-phi", -143.45 + 360, "-osc", 0.05, status=2)
    run(*flags, "-phi", -143.95 + 360)
    one = load(MEASURED)
    del one["crystal"][0]["A_at_scan_points"][3:]
    said = run("-expt", save(os.path.join(folder, "few.expt"), one), *flags[2:])[1]
    ok("points of other number", "3 scan points, but the scan has 15 images" in said, said)


def check_ends(folder):
    """A at both ends of a frame, by -mat and -orientations; the fast paths equal the
    scalar renderer; -exptout has both."""
    A = numpy.array([[[0.02, 0.001, 0], [0, 0.015, 0.001], [0.001, 0, 0.012]],
                     [[0.0201, 0.0012, 0], [0, 0.015, 0.0011], [0.001, 0, 0.012]]])
    mat, lines, expt = (os.path.join(folder, "ends." + end) for end in ("mat", "txt", "expt"))
    for name in (mat, lines):
        with open(name, "w", encoding="ascii") as stream:
            stream.write(" ".join(map(str, A.ravel())) + "\n")
    common = ["-lambda", 1, "-default_F", 100, "-N", 20, "-gauss_xtal", "-osc", 1, "-phisteps", 7, "-oversample", 7, "-detpixels", 120,
              "-pixel", 1, "-distance", 100, "-seed", 1, "-mosaic", 0.2, "-mosaic_dom", 3, "-dials", "-stills", 1, "-hdf5type", "float32"]
    images = []
    for more in (["-mat", mat, "-isa", "scalar"], ["-mat", mat], ["-mat", mat, "-tolerance", 1e-4],
                 ["-cell", 50, 66.6, 83.3, "-orientations", lines, "-exptout", expt]):
        out = os.path.join(folder, f"ends{len(images)}.h5")
        run(*common, *more, "-hdf5", out)
        with h5py.File(out) as h5:
            images.append((h5["/entry/data/data"][0], h5["/entry/simulation/A"][0]))
    (truth, middle), brightest = images[0], images[0][0].max()
    ok("ends: photons", brightest > 0)
    ok("ends: A of the middle", numpy.allclose(middle, A.mean(0), atol=1e-12), middle)
    ok("ends: fast paths", abs(images[1][0] - truth).max() <= 2e-6 * brightest, abs(images[1][0] - truth).max() / brightest)
    ok("ends: a tolerance", abs(images[2][0] - truth).max() <= 1.1e-4 * brightest, abs(images[2][0] - truth).max() / brightest)


with tempfile.TemporaryDirectory() as scratch:
    check_prediction(scratch)
    check_written(scratch)
    check_choice(scratch)
    check_ends(scratch)
sys.exit(1 if FAILED else 0)
