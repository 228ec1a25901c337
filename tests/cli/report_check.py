# SPDX-License-Identifier: MIT
"""The report and notes of a run: clipped pixels, the brightest pixel, probable mistakes.

usage: NANOBRAGG=program python3 tests/cli/report_check.py
"""
import array
import glob
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import PROGRAM, floats, in_folder, ok, run  # noqa: E402

X = ["-default_F", "100", "-cell", "80", "-N", "8", "-detpixels", "48", "-pixel", "1", "-seed", "7"]
BRIGHT = X + ["-fluence", "1e31"]


def clipped(text):
    """[(number of pixels, remainder of the line)] of lines about clipped pixels."""
    return [(int(n), line) for n, line in re.findall(r"^clipped +(\d+) pixels? of (.*)$", text, re.M)]


def single_images():
    text = run(*X)[0]
    ok("silent-when-nothing-is-cut", "clipped" not in text, text)
    text = run(*X, "-scale", 50, "-adc", 100, "-nonoise", "-tifffile", "t.tif", "-tiffbits", 16,
               "-roi", 3, 40, 5, 47)[0]
    image = floats("floatimage.bin")
    want = sum(math.floor(v * 50 + 100.5) > 65535 for v in image)
    lines = clipped(text)
    ok("integer-image", want > 5 and len(lines) == 1 and lines[0][0] == want and
       "intimage.img, t.tif at 65535" in lines[0][1], (want, text))
    scale = re.search(r"type -scale ([^ ,]+)", text)
    good = scale and not clipped(run(*X, "-scale", scale[1], "-adc", 100, "-nonoise")[0])
    ok("the-scale-it-names-holds-them", good, text)
    text = run(*BRIGHT, "-noint")[0]
    lines = clipped(text)
    ok("noise-image", len(lines) == 1 and "noiseimage.img at 65535: " in lines[0][1] and
       ".cbf" in lines[0][1], text)
    return lines[0][0] if lines else 0


def beam_and_background():
    """The report has lines on background, wavelengths, gain maps, too large crystals."""
    text = run(*X, "-dispersion", 1, "-dispsteps", 5, "-hdivrange", 1, "-hdivsteps", 2)[0]
    ok("wavelengths", "10 sources" in text and "5 wavelengths, 0.995 to 1.005 A" in text, text)
    alone = ["-default_F", 0, "-N", 2, "-cell", 80, "-detpixels", 120, "-pixel", 0.5, "-oversample", 2, "-fluence", 1e20,
             "-beamsize", 0.01, "-nonoise", "-noint", "-background", "water:0.1", "-water", 3, "-report", "r.json"]
    text = run(*alone)[0]
    photons = re.search(r"^background +-water 3 um, water:0.1: about (\S+) photons, (\S+) a pixel$", text, re.M)
    total = float(re.search(r"sum (\S+) photons", text)[1])
    with open("r.json") as stream:
        about = json.load(stream)["background"]
    ok("background", photons and abs(float(photons[1]) / total - 1) < 0.1 and
       abs(float(photons[2]) * 14400 / total - 1) < 0.1, text)
    ok("background-in-json", about["materials"] == "water:0.1" and abs(about["photons_about"] / total - 1) < 0.1, about)
    with open("gain.bin", "wb") as stream:
        array.array("f", [1.0] * 48 * 48).tofile(stream)
    text = run(*X, "-gainmap", "gain.bin", "-noint")[0]
    ok("gain-map", "gain map gain.bin" in text and "background" not in text, text)
    with open("shots.txt", "w") as stream:
        stream.write("1.0 1 1.01 2\n")
    text = run(*X, "-stills", 1, "-spectra", "shots.txt", "-output", "s_%d.bin")[0]
    ok("spectra", "with the spectra of shots.txt" in text, text)
    wide = [*X, "-noint", "-nonoise", "-beamsize", 0.005]
    text, error = run(*wide, "-crystal_volume", 1000)
    ok("crystal-wider-than-the-beam", "edge of 10 um, is wider than the beam of 5 um" in error and
       "-clip_crystal keeps the 25 %" in error, error)
    whole = floats("floatimage.bin")
    text, error = run(*wide, "-crystal_volume", 1000, "-clip_crystal")
    part = floats("floatimage.bin")
    ok("clip_crystal", "wider than" not in error and abs(sum(part) / sum(whole) - 0.25) < 1e-6, error)
    error = run(*wide, "-crystal_volume", 100, "-clip_crystal")[1]
    ok("crystal-in-the-beam", "wider than" not in error, error)


def series(h5py, noise_of_one):
    """Clipped pixels of each output are those whose int32 count is too large for it."""
    text = run(*BRIGHT, "-stills", 3, "-orientations", "random", "-hdf5", "w.h5", "-hdf5type",
               "int32", "-output", "w_%d.cbf")[0]
    ok("int32-holds-them", not clipped(text), text)
    with h5py.File("w.h5") as h5:
        counts = h5["/entry/data/data"][...]
        bright = h5["/entry/simulation/brightest"][...]
        ok("hdf5-says-none", not h5["/entry/simulation/clipped_pixels"][...].any())
    for extension, flags in (("img", ()), ("tif", ("-tiffbits", 16))):
        text = run(*BRIGHT, "-stills", 3, "-orientations", "random", "-hdf5", "n.h5", *flags,
                   "-output", f"n_%d.{extension}")[0]
        each = [int((c + 40 > 65535).sum()) for c in counts]
        want = [sum(each), f"in {sum(n > 0 for n in each)} of 3 frames, most in frame "
                f"{each.index(max(each)) + 1} ({max(each)})"]
        lines = clipped(text)
        ok(f"series-{extension}", len(lines) == 2 and lines[0][0] == want[0] and
           want[1] in lines[0][1] and ": use .cbf" in lines[0][1], (want, text))
    each = [int((c > 65535).sum()) for c in counts]
    ok("series-hdf5", lines[1][0] == sum(each) and "use -hdf5type int32" in lines[1][1],
       (each, text))
    with h5py.File("n.h5") as h5:
        there = h5["/entry/simulation/clipped_pixels"][...].tolist()
        ok("hdf5-clipped-pixels", there == each and h5["/entry/data/data"].dtype == "uint16",
           (there, each))
    line = re.search(r"^brightest (\S+) photons at pixel (\d+) (\d+) .* of frame (\d)$", text, re.M)
    run(*BRIGHT, "-stills", 3, "-orientations", "random", "-output", "f_%d.bin")
    best = max((v, k, i) for k in (1, 2, 3) for i, v in enumerate(floats(f"f_{k}.bin")))
    ok("brightest-pixel", line and math.isclose(float(line[1]), best[0], rel_tol=1e-6) and
       (int(line[4]), int(line[2]) + 48 * int(line[3])) == best[1:] and
       math.isclose(bright.max(), best[0], rel_tol=1e-6), (best, text))
    text = run(*BRIGHT, "-stills", 1, "-output", "one_%d.img")[0]
    ok("series-as-single", clipped(text)[0][0] == noise_of_one, text)
    cut_at_int32(h5py)


def cut_at_int32(h5py):
    text = run(*X, "-fluence", "3e37", "-stills", 1, "-output", "l_%d.cbf", "-hdf5", "l.h5", "-hdf5type",
               "int32")[0]
    with h5py.File("l.h5") as h5:
        want = int((h5["/entry/data/data"][...] >= 2147483646).sum())
    lines = clipped(text)
    ok("series-int32", want > 5 and len(lines) == 2 and lines[0][0] == want == lines[1][0] and
       "2147483646" in lines[0][1] and "float32" in lines[1][1] and ".bin" in lines[0][1],
       (want, text))
    text = run(*X, "-scale", "3e9", "-nonoise", "-stills", 1, "-output", "m_%d.cbf", "-hdf5", "m.h5")[0]
    ok("series-without-noise", len(clipped(text)) == 2 and "uint16" not in text and
       clipped(text)[1][0] > clipped(text)[0][0] > 0, text)


def blocks(h5py):
    """-blocks and -crystal_volume multiply the light of the crystal, not of the water."""
    water = ["-water", 3]

    def image(*flags):
        run(*X, "-noint", "-nonoise", "-nopgm", "-quiet", *flags)
        return floats("floatimage.bin")

    for name, flags in (("scalar", ["-isa", "scalar"]), ("vectors", []),
                        ("double", ["-precision", "double"]), ("gauss", ["-gauss_xtal"])):
        one, wet = image(*flags), image(*flags, *water, "-default_F", 0)
        many = image(*flags, *water, "-blocks", 2e6)
        worst = max(abs(m - (2e6 * a + w)) / (2e6 * a + w) for m, a, w in zip(many, one, wet))
        volume = image(*flags, *water, "-crystal_volume", 2e6 * 512 * 80 ** 3 * 1e-12)
        apart = max(abs(m - v) / m for m, v in zip(many, volume))
        ok(f"blocks-{name}", max(wet) > 0 and worst < 3e-6 and apart < 3e-7, (worst, apart))
    text = run(*X, "-crystal_volume", 512 * 80 ** 3 * 1e-12 * 250, "-noint")[0]
    with open("noiseimage.img", "rb") as stream:
        header = stream.read(4096)
    config = json.loads(run(*X, "-blocks", 250, "-show_config")[0])["crystal"]
    ok("blocks-are-said", "250 blocks of this size, 0.065536 um^3" in text and
       b"NANOBRAGG_BLOCKS=250;" in header and config["blocks"] == 250 and
       math.isclose(config["volume_um3"], 0.065536), (text, config))
    error = run(*X, "-crystal_volume", 1, "-blocks", 2, status=2)[1]
    ok("blocks-and-volume-refused", "both" in error, error)
    if h5py:
        with open("jobs", "w", encoding="ascii") as stream:
            stream.write('{"blocks": 10}\n{}\n')
        run(*X, "-jobs", "jobs", "-hdf5", "b.h5")
        with h5py.File("b.h5") as h5:
            there = h5["/entry/simulation/blocks"][...].tolist()
            bright = h5["/entry/simulation/brightest"][...]
        ok("blocks-by-frame", there == [10, 1] and
           math.isclose(bright[0], 10 * bright[1], rel_tol=1e-6), (there, bright))


LYS = ["-hkl", os.path.join(os.environ.get("NB_SOURCE", "."), "golden_data/lysozyme_P1.hkl"), "-cell",
       79.1, 79.1, 37.9, "-N", 10]
SPOTS = ["-default_F", 100, "-cell", 70, 80, 90, 85, 95, 105, "-misset", 10, 20, 30, "-detpixels", 96,
         "-pixel", 0.25]
MANY = ["-mosaic", 0.5, "-mosaic_dom", 50, "-osc", 1, "-phisteps", 10, "-hdivrange", 2, "-vdivrange",
        2, "-hdivsteps", 4, "-vdivsteps", 4]
POWDER = ["-default_F", 100, "-cell", 40, "-mosaic", 180, "-mosaic_dom", 500, "-detpixels", 48,
          "-pixel", 0.5, "-N", 5]


def panel(lines):
    """Writes a CrystFEL geometry of one panel with these lines; returns its flags."""
    name = f"panel{len(lines)}.geom"
    with open(name, "w", encoding="ascii") as file:
        file.write("clen = 0.12\nres = 1000\nphoton_energy = 12398\n" + lines +
                   "p/min_fs = 0\np/max_fs = 31\np/min_ss = 0\np/max_ss = 31\n"
                   "p/fs = x\np/ss = y\np/corner_x = -16\np/corner_y = -16\n")
    return ["-geom", name, "-default_F", 100, "-cell", 80, "-N", 5, "-seed", 1, "-nofloat"]


def place_of_the_beam():
    """The report marks the beam centre as the default only if no flag or file sets it."""
    small = ["-noint", "-nopgm", "-nonoise"]
    for name, flags, said in (("default", X, True), ("typed", X + ["-Xbeam", 20], False),
                              ("corner", X + ["-pix0_vector_mm", 100, 20, -20], False),
                              ("file", panel(""), False), ("xds", X + ["-xds"], False)):
        text = run(*flags, *small)[0]
        ok(f"place-of-the-beam-{name}", ("this is the default, a pixel off the middle" in text) == said, text)


def notes():
    """A probable mistake gives one note; other runs give no note."""
    tiny = ["-default_F", 100, "-detpixels", 32, "-pixel", 1, "-lambda", 1, "-seed", 1]
    cases = [  # flags, text of the note; "": no note
        ("fine", tiny + ["-cell", 80, "-N", 5], ""),
        ("no-N", tiny + ["-cell", 80], "no -N: one unit cell"),
        ("N-1-typed", tiny + ["-cell", 80, "-N", 1], ""),
        ("small-size", tiny + ["-cell", 80, "-samplesize", "1e-9"], "smaller than one unit cell"),
        ("metres", tiny + ["-cell", "79e-10", "-N", 5], "a cell edge of 7.9e-09 A is very short: is it in metres?"),
        ("keV", tiny + ["-cell", 80, "-N", 5, "-energy", 12.4], "-energy 12.4 eV is 1e+03 A: is it in keV?"),
        ("lambda", tiny + ["-cell", 80, "-N", 5, "-lambda", "1e-5", "-oversample", 1], "-lambda 1e-05 A is very short: is it in metres?"),
        ("lambda-nm", tiny + ["-cell", 80, "-N", 5, "-lambda", 0.15, "-oversample", 1],
         "-lambda 0.15 A is very short: is it in nm? -lambda takes A"),
        ("electrons", tiny + ["-cell", 80, "-N", 5, "-lambda", 0.0251, "-oversample", 20],
         "-lambda 0.0251 A is very short: is it in nm, or of electrons?"),
        ("electrons-eV", tiny + ["-cell", 80, "-N", 5, "-energy", 2e5, "-oversample", 20], "is it of electrons?"),
        ("lambda-eV", tiny + ["-cell", 80, "-N", 5, "-lambda", 12398],
         "-lambda 12398 A is very long: is it an energy in eV? type -energy 12398"),
        ("background-um", tiny + ["-cell", 80, "-N", 5, "-fluence", "1e20", "-beamsize", 0.003, "-background", "water:50"],
         "-background water:50 is 50 mm of it, and what this absorbs is not subtracted: is it in um? type water:0.05"),
        ("background-of-air", tiny + ["-cell", 80, "-N", 5, "-fluence", "1e20", "-beamsize", 0.003, "-background", "air:50"], ""),
        ("crystal-as-wide-as-the-beam", tiny + ["-cell", 80, "-N", 5, "-crystal_volume", 27, "-beamsize", 0.003], ""),
        ("distance-m", tiny + ["-cell", 80, "-N", 5, "-distance", 0.12, "-oversample", 1],
         "-distance 0.12 mm is very small: is it in metres? -distance takes mm"),
        ("pixel-um", tiny + ["-cell", 80, "-N", 5, "-pixel", 75, "-oversample", 1],
         "-pixel 75 mm is very large: is it in um? -pixel takes mm"),
        ("thick-mm", tiny + ["-cell", 80, "-N", 5, "-detector_thick", 0.45, "-detector_abs", 200],
         "-detector_thick 0.45 um is very small: is it in mm? -detector_thick takes um"),
        ("beamsize-um", tiny + ["-cell", 80, "-N", 5, "-beamsize", 20],
         "-beamsize 20 mm is very large: is it in um? -beamsize takes mm"),
        ("beam-of-the-background", tiny + ["-cell", 80, "-N", 5, "-fluence", "1e20", "-background", "water:0.01"],
         "-fluence without -beamsize: the background fills a beam of 0.1 x 0.1 mm"),
        ("beam-is-typed", tiny + ["-cell", 80, "-N", 5, "-fluence", "1e20", "-beamsize", 0.003, "-background",
                                  "water:0.01"], ""),
        ("cell-nm", ["-hkl", LYS[LYS.index("-hkl") + 1], "-cell", 7.9, 7.9, 3.8, 90, 90, 90, "-N", 5, "-lambda", 1,
                     "-detpixels", 16, "-pixel", 1, "-oversample", 1, "-seed", 1],
         "A with this cell: is it in nm? -cell takes A"),
        ("truth", tiny + ["-cell", 80, "-N", 5, "-truth", "spots"], "into fringes outside of the spot"),
        ("truth-gauss", tiny + ["-cell", 80, "-N", 5, "-truth", "spots", "-gauss_xtal"], ""),
        ("factors-end", LYS + ["-detpixels", 64, "-pixel", 1, "-distance", 60],
         "the structure factors end at 2.05 A, but the corner of the detector is at "),
        ("factors-enough", LYS + ["-detpixels", 64, "-pixel", 1, "-distance", 120], ""),
        ("factors-dmin", LYS + ["-detpixels", 64, "-pixel", 1, "-distance", 60, "-dmin", 2.2], ""),
        ("off-the-beam", LYS + ["-detpixels", 8, "-pixel", 1, "-Xbeam", 404, "-Ybeam", 4, "-dmin", 3],
         "nothing reached the detector: the beam centre is 396 mm outside of it"),
        ("factors-zero", tiny + ["-cell", 80, "-N", 5, "-default_F", 0],
         "nothing reached the detector: every structure factor is 0"),
        ("weak", tiny + ["-cell", 80, "-N", 5, "-flux", "1e7", "-beamsize", 0.02],
         "this is one block of 5x5x5 cells; type -crystal_volume"),
        ("no-reflection", tiny + ["-cell", 80, "-gauss_xtal", "-N", 20, "-roi", 0, 3, 0, 3, "-pixel",
                                  0.1, "-misset", 4, 5, 6], "no reflection is near the Ewald sphere"),
        ("coarse", SPOTS + ["-N", 10, "-oversample", 1], "-oversample 1 is too coarse for the spots"),
        ("coarse-streaks", ["-default_F", 100, "-cell", 80, "-misset", 10, 20, 30, "-Na", 10, "-Nb", 10, "-Nc", 200,
                            "-gauss_xtal", "-osc", 1, "-detpixels", 40, "-pixel", 1, "-oversample", 40],
         "-oversample 40 is too coarse for the spots"),
        ("not-typed", SPOTS + ["-N", 10], ""),
        ("fine-enough", SPOTS + ["-N", 10, "-oversample", 3], ""),
        ("wide-spots", SPOTS + ["-N", 3, "-oversample", 1], ""),
        ("overlapping", SPOTS + ["-N", 8, "-oversample", 1, *MANY], ""),
        ("powder", POWDER + ["-oversample", 1], ""),
        ("coffset", panel("coffset = 0.5732\n") + ["-distance", 120],
         "coffset moves the panels by 573.2 mm from -distance 120"),
        ("coffset-of-the-file", panel("coffset = 0.5732\n"), ""),
        ("no-coffset", panel("") + ["-distance", 120], ""),
    ]
    for name, flags, want in cases:
        said = [line for line in run(*flags, "-quiet", "-noint", "-nopgm", "-nonoise")[1].splitlines()
                if "cache" not in line]
        good = not said if not want else any(want in line for line in said)
        ok(f"note-{name}", good and len(said) <= 2, said)
    with open("negative.stol", "w", encoding="ascii") as stream:
        stream.write("0 -2.57\n0.5 -2\n1 -1\n")
    said = run(*tiny, "-default_F", 0, "-cell", 80, "-N", 1, "-stol", "negative.stol", "-quiet", "-noint", "-nopgm", "-nonoise")[1]
    ok("note-negative-sum", "takes photons away" in said and "nothing reached" not in said, said)
    said = run(*tiny, "-cell", 80, "-N", 5, "-stills", 2, "-output", "d_%d.bin", "-default_F", 0)[1]
    ok("note-dark-series", "nothing reached the detector: every structure factor is 0" in said, said)


def spot_list(n, *flags):
    run(*SPOTS, *flags, "-oversample", n, "-quiet", "-nofloat", "-noint", "-nopgm", "-nonoise", "-truth",
        "spots", "-truth_min", "1e-30")
    with open("spots.tsv", encoding="ascii") as stream:
        rows = [line.split() for line in stream if line[0] in "-0123456789"]
    return {tuple(r[:3]): float(r[5]) for r in rows}


def sampling_error():
    """The note on coarse sampling names a number that resolves the intensities."""
    for name, flags in (("square", ["-N", 10]), ("gauss", ["-N", 12, "-gauss_xtal"]),
                        ("mosaic", ["-N", 10, "-mosaic", 0.3, "-mosaic_dom", 8])):
        said = run(*SPOTS, *flags, "-oversample", 1, "-quiet", "-noint", "-nopgm", "-nonoise")[1]
        found = re.search(r"too coarse.*; -oversample (\d+) resolves", said)
        true = spot_list(6, *flags)
        bright = [h for h in true if true[h] > 0.02 * max(true.values())]

        def error(n):
            coarse = spot_list(n, *flags)
            return math.sqrt(sum((coarse.get(h, 0) / true[h] - 1) ** 2 for h in bright) / len(bright))

        measured = error(1), error(found[1]) if found else 1
        ok(f"sampling-error-{name}", found and measured[0] > 0.1 and measured[1] < 0.02, (said, measured, len(bright)))


def refused_and_long():
    error = run(*X[:4], "-samplesize", 0.1, status=2)[1]
    ok("more-than-100-sub-pixels-refused", "sub-pixels; type -oversample" in error, error)
    run(*X[:4], "-N", 3, "-detpixels", 1, "-oversample", 101, "-quiet")
    done = subprocess.Popen([PROGRAM, *X[:4], "-N", "5", "-detpixels", "2000", "-mosaic", "1", "-mosaic_dom",
                             "2000000", "-device", "cpu", "-quiet"], stderr=subprocess.PIPE, text=True)
    line = done.stderr.readline()
    done.kill()
    done.communicate()
    ok("long-render-announced", re.search(r"will take about \S+ (minutes|hours|days)", line), line)
    done = subprocess.Popen([PROGRAM, *X[:4], "-N", "60", "-detpixels", "1000", "-osc", "10", "-device", "cpu", "-quiet"],
                            stderr=subprocess.PIPE, text=True)
    line = done.stderr.readline() + done.stderr.readline()
    done.kill()
    done.communicate()
    ok("long-steps-announced", re.search(r"take about \S+ (seconds|minutes|hours), with \d+ spindle steps", line), line)


def json_reports(h5py):
    flags = [*BRIGHT, "-oversample", 1]
    text, said = run(*flags, "-report", "r.json")
    with open("r.json", encoding="utf-8") as stream:
        r = json.load(stream)
    config = json.loads(run(*flags, "-show_config")[0])
    line = re.search(r"max (\S+) at pixel (\d+) (\d+) .*sum (\S+) photons", text)
    image, cut = r["image"], {c["file"]: c["pixels"] for c in r["clipped"]}
    ok("json-single", all(r[k] == config[k] for k in config) and
       [f"{image['max_photons']:.9g}", image["max_fast"], image["max_slow"]] ==
       [line[1], int(line[2]), int(line[3])] and f"{image['sum_photons']:.9g}" == line[4], r)
    ok("json-clipped", cut == {"intimage.img": 0, "noiseimage.img": clipped(text)[0][0]} and
       r["files"] == ["floatimage.bin", "intimage.img", "noiseimage.img", "image.pgm"] and
       r["seed"] == 7 and set(r["seconds"]) >= {"load", "render", "write"}, r)
    ok("json-notes", len(r["notes"]) == 1 and "note: " + r["notes"][0] in said, (r["notes"], said))
    ok("json-listed", re.search(r"^ +r.json$", text, re.M), text)
    one = run(*flags, "-report", "-", "-noint", "-nonoise", "-nopgm")
    ok("json-to-standard-output", json.loads(one[0])["image"] == image and "beam " in one[1], one)
    many = run(*BRIGHT, "-stills", 3, "-output", "j_%d.img", "-report", "-")
    r = json.loads(many[0])
    ok("json-series-to-standard-output", r["series"]["frames"] == 3 and "series " in many[1], many)
    cut = clipped(many[1])[0]
    c = r["clipped"][0]
    ok("json-series", f"in {c['frames']} of 3 frames, most in frame {c['worst_frame']} "
       f"({c['worst_pixels']})" in cut[1] and c["pixels"] == cut[0] and
       r["files"] == ["j_%d.img"] and r["image"]["max_photons"] > 1e5, (r["clipped"], cut))
    heads = [w.split()[0] for w in many[1].splitlines() if w[0] != " "]
    ok("series-says-what-a-single-image-says",
       {"beam", "crystal", "spindle", "detector", "sampling", "brightest", "clipped", "files", "seed",
        "backend"} <= set(heads), heads)
    for name, more in (("folder", ["-report", "no/r.json"]), ("series-folder", ["-report", "no/r.json",
                       "-stills", 1, "-output", "k_%d.img"])):
        error = run(*X, *more, status=1)[1]
        ok(f"json-refused-{name}", "folder does not exist" in error and not glob.glob("k_*"), error)
    error = run(*X, "-report", "q_1.img", "-stills", 1, "-output", "q_%d.img", status=2)[1]
    ok("json-over-a-frame-refused", "-report" in error and not os.path.exists("q_1.img"), error)
    if h5py:
        series = [*X, "-stills", 4, "-frames_per_file", 2, "-hdf5", "res.h5"]
        run(*series, "-report", "before.json")
        os.remove("res_data_000002.h5")
        run(*series, "-report", "after.json", "-resume")
        with open("before.json", encoding="utf-8") as a, open("after.json", encoding="utf-8") as b:
            a, b = json.load(a), json.load(b)
        ok("json-of-a-resumed-series", a["image"] == b["image"] and a["clipped"] == b["clipped"] and
           (a["series"]["kept_frames"], b["series"]["kept_frames"]) == (0, 2), b["series"])


def main():
    try:
        import h5py
    except ImportError as missing:
        h5py = None
        print(f"skip report hdf5 # {missing}")
    if h5py and subprocess.run([PROGRAM, *X, "-stills", "1", "-hdf5", "t.h5"], capture_output=True,
                               check=False).returncode == 2:
        print("skip report hdf5 # not in this build")
        h5py = None
    noise = single_images()
    if h5py:
        series(h5py, noise)
    beam_and_background()
    blocks(h5py)
    json_reports(h5py)
    place_of_the_beam()
    notes()
    sampling_error()
    refused_and_long()


in_folder(main)
