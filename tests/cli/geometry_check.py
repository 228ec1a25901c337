# SPDX-License-Identifier: MIT
"""A skewed panel against a direct sum; a left-handed matrix; any number of threads; too few steps.

usage: NANOBRAGG=program python3 tests/cli/geometry_check.py
"""
import json
import math
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, floats, ok, run  # noqa: E402

QUIET = ["-noint", "-nonoise", "-nopgm", "-device", "cpu"]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def unit(a):
    return [x / math.sqrt(dot(a, a)) for x in a]


def plus(a, k, b):
    return [x + k * y for x, y in zip(a, b)]


# --- a panel whose axes are not at right angles ---

FAST, SLOW, PIXEL, CLEN, CORNER = 24, 20, 1e-4, 0.08, (-9, 330)
MU, LAYER, LAYERS, CELLS, F = 1 / 400e-6, 100e-6, 3, 5, 100
CRYSTAL = ["-xds", "-cell", "50", "60", "70", "80", "95", "100", "-misset", "10", "20", "30", "-gauss_xtal", "-N",
           str(CELLS), "-default_F", str(F), "-oversample", "1"]
SENSOR = ["-detector_thick", "300", "-detector_abs", "400", "-detector_thicksteps", str(LAYERS), "-layer_depth", "front"]


def skewed_axes(cosine):
    f = unit([math.cos(.1), math.sin(.1), .02])
    s = [-math.sin(.1), math.cos(.1), .03]
    s = unit(plus(s, -dot(s, f), f))
    return f, plus([cosine * x for x in f], math.sqrt(1 - cosine * cosine), s)


def write_geom(path, f, s):
    axis = "%+.17fx %+.17fy %+.17fz"
    with open(path, "w") as out:
        out.write("photon_energy = 12398.419843320026\nadu_per_photon = 1\nclen = %r\nres = %r\n" % (CLEN, 1 / PIXEL))
        out.write("p/min_fs = 0\np/max_fs = %d\np/min_ss = 0\np/max_ss = %d\n" % (FAST - 1, SLOW - 1))
        out.write("p/corner_x = %d\np/corner_y = %d\np/fs = %s\np/ss = %s\n"
                  % (*CORNER, axis % tuple(f), axis % tuple(s)))


def lab(v):
    """Turns a vector of the CrystFEL frame into the frame of -xds."""
    return [-v[0], -v[1], v[2]]


def direct(f, s, crystal):
    """The image of the skewed panel: r = corner + i f + j s, area |f x s|, path along the normal."""
    f, s = lab(f), lab(s)
    n = cross(f, s)
    sine = math.sqrt(dot(n, n))
    corner = lab([CORNER[0] * PIXEL, CORNER[1] * PIXEL, CLEN])
    n = [x / sine * math.copysign(1, dot(corner, n)) for x in n]
    axes = [[x * 1e-10 for x in crystal[key]] for key in ("a_A", "b_A", "c_A")]
    image = []
    for j in range(SLOW):
        for i in range(FAST):
            front = plus(plus(corner, (i + .5) * PIXEL, f), (j + .5) * PIXEL, s)
            total = 0
            for t in range(LAYERS):
                d = unit(plus(front, t * LAYER, n))
                y = LAYER * MU / dot(d, n)
                index = [dot(a, [d[0] / 1e-10, d[1] / 1e-10, (d[2] - 1) / 1e-10]) for a in axes]
                r2 = sum((CELLS * (h - round(h))) ** 2 for h in index)
                lattice = CELLS ** 3 * math.exp(-r2 / .63)
                total += (math.exp(-t * y) - math.exp(-(t + 1) * y)) * (F * lattice) ** 2
            R = math.sqrt(dot(front, front))
            omega = PIXEL ** 2 * sine * dot(corner, n) / R ** 3
            image.append(total * omega * .5 * (1 + (front[2] / R) ** 2))
    return image


def check_skew():
    for cosine in (.0035, -.05):
        f, s = skewed_axes(cosine)
        write_geom("skew.geom", f, s)
        image = {}
        for isa in ("scalar", "auto"):
            run("-geom", "skew.geom", *CRYSTAL, *SENSOR, *QUIET, "-isa", isa, "-floatfile", isa + ".bin")
            image[isa] = floats(isa + ".bin")
        said = json.loads(run("-geom", "skew.geom", *CRYSTAL, *SENSOR, "-show_config")[0])
        right = direct(f, s, said["crystal"])
        for isa, got in image.items():
            off = max(abs(x / y - 1) for x, y in zip(got, right) if y > 1e-6 * max(right))
            ok("skew-%g-%s" % (cosine, isa), off < (1e-6 if isa == "scalar" else 1e-4), "off by %g" % off)
        f, s = lab(f), lab(s)
        detector = said["detector"]
        beam = plus(plus(lab([x * PIXEL for x in CORNER] + [CLEN]), detector["Fbeam_m"], f), detector["Sbeam_m"], s)
        ok("skew-%g-beam" % cosine, max(abs(x) for x in beam[:2]) < 1e-12, beam)
        for flag, suffix in (("-geomout", "geom"), ("-exptout", "expt")):
            again = "again." + suffix
            run("-geom", "skew.geom", *CRYSTAL, *SENSOR, *QUIET, flag, again, "-nofloat")
            run("-" + suffix, again, *CRYSTAL, *SENSOR, *QUIET, "-isa", "scalar", "-floatfile", "again.bin")
            off = max(abs(x - y) for x, y in zip(floats("again.bin"), image["scalar"])) / max(right)
            ok("skew-%g-%s" % (cosine, suffix), off < 1e-6, "off by %g" % off)


# --- rigid groups ---

def check_groups():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden_data", "detectors", "geom",
                          "quad.geom")
    flags = ["-lambda", "1", "-cell", "50", "50", "50", "90", "90", "90", "-default_F", "1", "-N", "1", "-show_config"]
    shutil.copy(source, "first.geom")
    with open("first.geom", "a") as file:
        file.write("  rigid_group_q1 = p2,p3 ; a comment\ngroup_half = q0, q1\n")
    wanted = ["rigid_group_q0 = p0,p1", "rigid_group_collection_all = q0", "group_all = p0,p1,p2,p3", "rigid_group_q1 = p2,p3",
              "group_half = q0, q1"]
    for name, again in (("first.geom", "second.geom"), ("second.geom", "third.geom")):
        run("-geom", name, *flags, "-geomout", again)
        with open(again) as file:
            lines = [line for line in file.read().split("\n") if "group" in line]
        ok("groups-in-" + again, lines == wanted, lines)


# --- a left-handed matrix ---

def check_hand():
    F = ["-lambda", "1", "-default_F", "10", "-N", "5", "-detpixels", "32", "-distance", "100", "-pixel", "1", *QUIET]
    with open("right.mat", "w") as right, open("left.mat", "w") as left:
        right.write("0.012 0.001 0.002\n0.001 0.015 -0.001\n-0.002 0.003 0.02\n")
        left.write("0.012 0.001 -0.002\n0.001 0.015 0.001\n-0.002 0.003 -0.02\n")  # l becomes -l
    image, said = {}, {}
    for hand in ("right", "left"):
        said[hand] = run("-mat", hand + ".mat", *F, "-floatfile", hand + ".bin")[1]
        image[hand] = floats(hand + ".bin")
    brightest = max(image["right"])
    off = max(abs(x - y) for x, y in zip(image["right"], image["left"]))
    ok("left-handed-pixels", brightest > 0 and off <= 1e-6 * brightest, off)
    ok("left-handed-note", "left-handed" in said["left"] and "left-handed" not in said["right"], said)
    config = json.loads(run("-mat", "left.mat", *F, "-show_config")[0])["crystal"]
    ok("left-handed-volume", abs(config["volume_A3"] - 1 / 3.684e-6) < 1e-3, config["volume_A3"])
    cell = "%r %r %r" % tuple(math.sqrt(dot(config[k], config[k])) for k in ("a_A", "b_A", "c_A"))
    angles = ["%r" % math.degrees(math.acos(dot(unit(config[a]), unit(config[b]))))
              for a, b in (("b_A", "c_A"), ("c_A", "a_A"), ("a_A", "b_A"))]
    both = json.loads(run("-mat", "left.mat", "-cell", *cell.split(), *angles, *F, "-show_config")[0])["crystal"]
    ok("left-handed-with-cell", max(abs(x - y) for x, y in zip(both["a_A"], config["a_A"])) < 1e-6, both["a_A"])


# --- threads ---

def check_threads():
    small = ["-cell", "50", "-default_F", "10", "-N", "3", "-detpixels", "32", "-oversample", "1", *QUIET]
    cases = {"OMP_NUM_THREADS": ({"OMP_NUM_THREADS": "100000"}, []),
             "-threads": ({}, ["-threads", "4096"]),
             "none": ({"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "100000"}, ["-threads", "3"])}
    for name, (more, flags) in cases.items():
        notes = run(*small, *flags, "-floatfile", name + ".bin", env=more)[1]
        ok("threads-" + name, "threads" not in notes and os.path.getsize(name + ".bin") == 4096, notes)


# --- too few steps ---

def check_steps():
    spots = ["-cell", "60", "-default_F", "100", "-N", "20", "-detpixels", "60", "-pixel", "1.5", "-misset", "10", "20",
             "30", "-gauss_xtal", "-oversample", "1", "-tolerance", "1e-3", *QUIET, "-nofloat"]
    cases = {"2 spindle steps": ["-osc", "1", "-phisteps", "2"], "4 spindle steps": ["-osc", "2", "-phistep", "0.5"],
             "10 mosaic domains": ["-mosaic", "0.5"], "2 wavelengths": ["-dispersion", "20"]}
    for words, flags in cases.items():
        notes = run(*spots, *flags)[1]
        ok("too-few-" + words.replace(" ", "-"), words + " are too few" in notes, notes)
    for name, flags in {"steps": ["-osc", "1", "-phisteps", "10"], "automatic-steps": ["-osc", "1"], "still": [], "thin": ["-osc", "0.02"],
                        "domains-of-a-rotation": ["-osc", "3", "-phisteps", "30", "-mosaic", "0.05"],
                        "wavelengths": ["-dispersion", "1", "-dispsteps", "20"]}.items():
        notes = run(*spots, *flags)[1]
        ok("enough-" + name, "too few" not in notes, notes)
    check_automatic_steps(spots[:-1])


def photons(name, *flags):
    """Photons of each reflection of a list of -truth spots."""
    run(*flags, "-truth", "spots", "-truth_min", "1e-6", "-truthfile", name)
    with open(name) as lines:
        rows = [line.split("\t") for line in lines if line[0] not in "#h"]
    return {tuple(row[:3]): float(row[5]) for row in rows}


def check_automatic_steps(spots):
    """The width of the rocking curve has two steps, also in a part of the image. With
    -compat a frame has two steps, as in nanoBragg."""
    def steps(*flags):
        spindle = json.loads(run(*spots, *flags, "-show_config")[0])["spindle"]
        return spindle["phisteps"], spindle["phisteps_automatic"]
    n, automatic = steps("-osc", "1")
    ok("automatic-steps-count", 10 <= n <= 30 and automatic, n)
    ok("automatic-steps-roi", steps("-osc", "1", "-roi", "0", "5", "3", "9") == (n, True))
    ok("automatic-steps-typed", steps("-osc", "1", "-phisteps", "3") == (3, False))
    ok("automatic-steps-step", steps("-osc", "1", "-phistep", "0.5") == (2, False))
    ok("automatic-steps-compat", steps("-osc", "1", "-compat") == (2, False))
    ok("automatic-steps-thin", steps("-osc", "0.01") == (2, True))
    ok("automatic-steps-domains", steps("-osc", "1", "-mosaic", "0.3", "-mosaic_dom", "50")[0] < n)
    ok("automatic-steps-bound", steps("-osc", "180")[0] == 1000)
    notes = run(*spots, "-nofloat", "-osc", "180", "-roi", "0", "5", "0", "5")[1]
    ok("automatic-steps-bound-said", "1000 spindle steps are the most of an automatic number" in notes, notes)
    notes = run(*spots, "-nofloat", "-osc", "1")[1]
    ok("automatic-steps-said", f"no -phisteps: {n} spindle steps resolve the spots" in notes, notes)
    few, many = (photons("steps.tsv", *spots, "-nofloat", "-osc", "1", *f) for f in ([], ["-phisteps", str(8 * n)]))
    error = math.sqrt(sum((few.get(k, 0) - x) ** 2 for k, x in many.items()) / sum(x * x for x in many.values()))
    ok("automatic-steps-photons", error < 0.02, error)


# --- flags that have no effect ---

PLACING = {"-distance": "120", "-close_distance": "130", "-Xbeam": "3", "-Ybeam": "3.5", "-Xclose": "3", "-Yclose": "3.5",
           "-ORGX": "9", "-ORGY": "11", "-detsize": "6", "-detpixels": "12", "-pixel": "0.3", "-twotheta": "7",
           "-detector_rotx": "5", "-detector_roty": "5", "-detector_rotz": "5", "-pivot": None,
           "-fdet_vector": "0 0.1 1", "-sdet_vector": "0 -1 0.1", "-odet_vector": "1 0.1 0", "-beam_vector": "1 0.1 0",
           "-polar_vector": "0 1 1", "-spindle_axis": "0 1 1", "-twotheta_axis": "0 1 1", "-pix0_vector": "0.09 0.01 0.01",
           "-curved_det": "", "-point_pixel": "", "-detector_thick": "300", "-detector_abs": "200",
           "-detector_thicksteps": "5", "-layer_depth": "front", "-layout": "file", "-phi": "3", "-osc": "2",
           "-phistep": "0.7", "-phisteps": "7", "-curved_omega": "exact", "-roi": "0 3 0 3", "-panel": "0"}


def detector_of(*args):
    """Report on the scene, without lines that only echo a flag; None if the program
    refuses."""
    out, notes = run(*args, "-show_config", status=None)
    try:
        config = json.loads(out)
    except ValueError:
        return None, notes
    config["detector"].pop("twotheta_deg", None)
    return {k: config.get(k) for k in ("detector", "crystal", "sampling", "spindle", "beam")}, notes


def check_idle():
    crystal = ["-cell", "60", "-default_F", "10", "-N", "3", "-oversample", "1", "-seed", "1", "-misset", "1", "2", "3"]
    run(*crystal, "-detpixels", "20", "-pixel", "0.25", "-xds", *QUIET, "-nofloat", "-exptout", "a.expt", "-geomout", "a.geom")
    lines = dict(line.split(" = ") for line in open("a.geom", encoding="ascii").read().splitlines() if " = " in line)
    ok("geomout-has-plain-numbers", float(lines["clen"]) > 0 and float(lines["photon_energy"]) > 1000, lines)  # EXtra-geom, cfelpyutils
    run(*crystal, "-detpixels", "20", "-pixel", "0.25", "-nonoise", "-nopgm", "-nofloat", "-intfile", "a.img")
    plain = ["-detpixels", "20", "-pixel", "0.25"]
    with_ = {"mosflm": plain + ["-mosflm"], "xds": plain + ["-xds"], "dials": plain + ["-dials"],
             "custom": plain + ["-fdet_vector", "0", "0", "1"], "close": plain + ["-close_distance", "90"],
             "pix0": plain + ["-pix0_vector", "0.1", "0.0025", "-0.0025"], "geom": ["-geom", "a.geom"],
             "expt": ["-expt", "a.expt"], "img": ["-img", "a.img"]}
    silent = []
    for base, words in with_.items():
        args = [*(crystal[2:] if base == "expt" else crystal), *words, *QUIET]
        before, _ = detector_of(*args)
        image = None
        for flag, value in PLACING.items():
            if flag == "-layout" and base in ("geom", "expt"):
                continue  # this flag acts only on HDF5 files
            value = ("beam" if base in ("xds", "dials") else "sample") if value is None else value
            typed = [*args[:-len(QUIET)], flag, *value.split(), *QUIET]
            after, notes = detector_of(*typed)
            if after is None:
                silent += [] if flag[1:] in notes else [(base, flag, notes)]
            elif after == before and flag not in notes:
                if image is None:
                    run(*args, "-floatfile", "before.bin")
                    image = floats("before.bin")
                run(*typed, "-floatfile", "after.bin")
                silent += [(base, flag)] if floats("after.bin") == image else []
    ok("idle-flags-are-named", not silent, silent)
    for convention in ("-xds", "-dials"):
        notes = run(*crystal, *plain, convention, "-Xbeam", "3", "-Ybeam", "4", *QUIET, "-nofloat")[1]
        ok("idle-beam" + convention, "-Xbeam has no effect" in notes and "-Ybeam has no effect" in notes, notes)
        notes = run(*crystal, *plain, convention, "-Xbeam", "3", "-Ybeam", "4", "-pivot", "beam", *QUIET, "-nofloat")[1]
        ok("pivot-beam" + convention, "no effect" not in notes, notes)
    notes = run(*crystal, *plain, "-distance", "100", "-Xbeam", "2.6", *QUIET, "-nofloat")[1]
    ok("values-of-defaults-are-no-idle-flags", "no effect" not in notes, notes)


def check_F000():
    small = ["-cell", "60", "-N", "3", "-detpixels", "21", "-pixel", "0.25", "-oversample", "1", "-nopolar", "-xds", "-ORGX",
             "11", "-ORGY", "11", "-distance", "1000", *QUIET]
    image = {}
    for name, flags in {"flat": ["-default_F", "10"], "dark": ["-default_F", "10", "-F000", "0"],
                        "both": ["-default_F", "10", "-F000", "30"], "alone": ["-default_F", "0", "-F000", "10"]}.items():
        run(*small, *flags, "-floatfile", name + ".bin")
        image[name] = floats(name + ".bin")
    centre = 10 * 21 + 10  # index of the pixel of the direct beam
    ok("F000-acts", abs(image["both"][centre] / image["flat"][centre] - 9) < 1e-5 and image["dark"][centre] == 0
       and abs(image["alone"][centre] / image["flat"][centre] - 1) < 1e-5, image["both"][centre])


def main():
    work = tempfile.mkdtemp()
    try:
        os.chdir(work)
        check_skew()
        check_groups()
        check_hand()
        check_threads()
        check_steps()
        check_idle()
        check_F000()
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
