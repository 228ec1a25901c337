# SPDX-License-Identifier: MIT
"""nanobragg noise makes from a float image the counts that the program itself writes as
noise image: in every format, for series and panels, with backgrounds and with any number
of threads. It refuses bad input.

usage: NANOBRAGG=program python3 tests/cli/noise_verb_check.py
"""
import array
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import FAILED, PROGRAM, ok, read, run, write  # noqa: E402

FAST, SLOW = 53, 41
CRYSTAL = ["-cell", "60", "70", "50", "-N", "8", "-default_F", "80", "-fluence", "2e28", "-lambda", "1.2",
           "-precision", "double", "-oversample", "1"]
PLACE = ["-detpixels_f", FAST, "-detpixels_s", SLOW, "-pixel", "0.6", "-distance", "90"]
CHAIN = ["-flicker", "0.05", "-deadtime", "40", "-exposure", "0.01", "-psf", "gauss", "-psf_fwhm", "900",
         "-calibration", "0.03", "-calib_seed", "5", "-gain", "1.7", "-readout_noise", "2.5", "-gainmap", "gain.bin",
         "-mask", "mask.pgm", "-adc", "17", "-saturation", "900"]
QUIET = ["-quiet", "-noint", "-nopgm"]
GEOM = """photon_energy = 10000
clen = 0.09
res = 2000
adu_per_photon = 1.5
{a}/min_fs = 0
{a}/max_fs = 29
{a}/min_ss = 0
{a}/max_ss = 19
{a}/fs = +1.0x +0.02y
{a}/ss = -0.02x +1.0y
{a}/corner_x = -32
{a}/corner_y = -10
{b}/min_fs = 0
{b}/max_fs = 29
{b}/min_ss = 20
{b}/max_ss = 39
{b}/fs = +1.0x
{b}/ss = +1.0y
{b}/corner_x = 2
{b}/corner_y = -8
bad_edge/panel = {b}
bad_edge/min_fs = 0
bad_edge/max_fs = 3
bad_edge/min_ss = 20
bad_edge/max_ss = 39
"""


def fixtures():
    pixels = range(FAST * SLOW)
    write("gain.bin", array.array("f", [1 + 0.001 * (i % 97) for i in pixels]).tobytes())
    write("mask.pgm", b"P5\n%d %d\n255\n" % (FAST, SLOW) + bytes(0 if i % 31 == 4 else 255 for i in pixels))
    write("two.geom", GEOM.format(a="left", b="right"))


def equal(a, b):
    """True if two image files have the same pixels."""
    return json.loads(run("compare", a, b, "-json", "-threshold", "none")[0])["max_difference"] == 0


def smv_pixels(name):
    return read(name)[-2 * FAST * SLOW:]


def of_one_image():
    """Counts alone, and with the whole chain of point spread, gain and detector noise."""
    for name, chain in (("counts", []), ("chain", CHAIN)):
        run(*CRYSTAL, *PLACE, *QUIET, *chain, "-seed", 11, "-floatfile", "f.bin", "-noisefile", "own.img")
        run("noise", "f.bin", "made.img", "-size", FAST, SLOW, *chain, "-seed", 11, "-pixel", "0.6", "-quiet")
        ok(name + "-smv", smv_pixels("own.img") == smv_pixels("made.img"))
        run(*CRYSTAL, *PLACE, *QUIET, *chain, "-seed", 11, "-stills", 1, "-output", "own_%d.cbf", "-hdf5", "own.h5")
        run("noise", "f.bin", "made.cbf", "-size", FAST, SLOW, *chain, "-seed", 11, "-pixel", "0.6", "-quiet")
        ok(name + "-cbf", equal("own_1.cbf", "made.cbf"))
        run("noise", "f.bin", "made.h5", "-size", FAST, SLOW, *chain, "-seed", 11, "-pixel", "0.6", "-quiet")
        ok(name + "-hdf5", equal("own.h5", "made.h5"))
    run("noise", "f.bin", "deep.cbf", "-size", FAST, SLOW, "-seed", 11, "-saturation", 1e6, "-gain", 1e4, "-quiet")
    with open("f.bin", "rb") as pipe:
        subprocess.run([PROGRAM, "noise", "/dev/stdin", "piped.cbf", "-size", str(FAST), str(SLOW), "-seed", "11", "-quiet",
                        "-saturation", "1e6", "-gain", "1e4"], input=pipe.read(), check=True, capture_output=True)
    ok("from-a-pipe", read("piped.cbf") == read("deep.cbf"))
    run("noise", "own.h5", "again.bin", "-seed", 1, "-pedestal", 17, "-unit", 0.5, "-quiet")
    counts = array.array("f", read("again.bin"))
    own = json.loads(run("compare", "own.h5", "again.bin", "-size", FAST, SLOW, "-json", "-threshold", "none")[0])
    ok("pedestal-and-unit", abs(sum(counts) - (own["sum_a"] - 17 * own["pixels"]) / 2) < 1e-3 * sum(counts), sum(counts))


def series():
    """Series as HDF5 and as numbered files: the seed depends on the frame number only,
    and the result not on the number of threads."""
    rotation = ["-phi", "3", "-osc", "0.4", "-phisteps", "2", "-seed", 23]
    run(*CRYSTAL, *PLACE, "-quiet", *rotation, "-frames", 7, "-hdf5", "photons.h5", "-hdf5type", "float32",
        "-frames_per_file", 3, "-output", "p_%03d.bin")
    run(*CRYSTAL, *PLACE, "-quiet", *rotation, *CHAIN, "-frames", 7, "-hdf5", "own.h5", "-output", "own_%02d.img")
    for threads in (1, 2, 5):
        run("noise", "photons.h5", f"h{threads}.h5", "-seed", 23, *CHAIN, "-threads", threads, "-quiet")
        run("noise", "p_%03d.bin", f"n{threads}_%02d.img", "-size", FAST, SLOW, "-seed", 23, *CHAIN, "-pixel", "0.6",
            "-threads", threads, "-quiet")
        ok(f"hdf5-frames-{threads}-threads", all(equal(f"own.h5:{k}", f"h{threads}.h5:{k}") for k in range(7)))
        ok(f"numbered-{threads}-threads", all(
            smv_pixels(f"own_{k:02d}.img") == smv_pixels(f"n{threads}_{k:02d}.img") for k in range(1, 8)))
    ok("threads-change-no-byte", read("n1_04.img") == read("n5_04.img"))
    run("noise", "photons.h5:4", "fifth.img", "-seed", 3, "-quiet")
    run("noise", "p_005.bin", "same.img", "-size", FAST, SLOW, "-seed", 3, "-quiet", "-pixel", "0.6")
    ok("one-frame-of-hdf5", smv_pixels("fifth.img") == smv_pixels("same.img"))
    head = read("n1_02.img")[:1024].decode("latin-1")
    ok("seed-in-the-header", "NANOBRAGG_SEED=" in head and "NANOBRAGG_SEED=23;" not in head)
    out, err = run("view", "h1.h5:6", "h.png")
    said = json.loads(run("-img", "h1.h5:2", "-show_config", "-default_F", 1, "-cell", 60)[0])
    ok("geometry-goes-along", abs(said["spindle"]["phi_deg"] - 3.8) < 1e-9, said["spindle"])
    run("noise", "photons.h5", "said.h5", "-seed", 23, "-quiet", "-report", "said.json")
    run("noise", "p_%03d.bin", "bare.h5", "-size", FAST, SLOW, "-pixel", "0.6", "-seed", 23, "-quiet")
    with open("said.json", encoding="utf-8") as stream:
        said = json.load(stream)
    try:
        import h5py
    except ImportError:
        print("skip noise_verb crystal-is-not-known # no h5py")
    else:
        with h5py.File("bare.h5") as h5:
            ok("crystal-is-not-known", all((h5["/entry/simulation/" + n][()] != h5["/entry/simulation/" + n][()]).all()
                                           for n in ("A", "U", "N", "mosaic")))
    ok("report", "noise photons.h5 said.h5 -seed 23" in json.dumps(said), list(said))
    ok("no-record-left", not glob.glob("*.resume"), glob.glob("*.resume"))


def resume():
    """-resume makes missing data files again, and refuses an input that changed."""
    run(*CRYSTAL, *PLACE, "-quiet", "-stills", 7, "-orientations", "random", "-seed", 3, "-output", "p_%d.bin")
    flags = ["noise", "p_%d.bin", "r.h5", "-size", FAST, SLOW, "-pixel", "0.6", "-seed", 3, "-frames_per_file", 2, "-quiet"]
    run(*flags)
    names = sorted(glob.glob("r_data_*.h5"))
    before = {name: read(name) for name in names}
    kept = os.stat(names[0]).st_mtime_ns
    os.remove(names[1])
    os.remove("r.h5")
    run(*flags, "-resume")
    ok("resume-makes-the-rest", len(names) == 4 and os.stat(names[0]).st_mtime_ns == kept and
       all(read(name) == before[name] for name in names) and os.path.exists("r.h5"), names)
    os.remove("r.h5")
    os.utime("p_3.bin", (1e9, 1e9))
    error = run(*flags, "-resume", status=2)[1]
    ok("resume-refuses-another-input", "made with other flags or files" in error, error)


def frames_of_their_own():
    """Each frame has the geometry of its image, from a master and from headers; the true
    values of a master are copied."""
    run(*CRYSTAL, *PLACE, "-quiet", "-stills", 5, "-orientations", "random", "-seed", 3, "-mosaic", 0.1, "-mosaic_dom", 2,
        "-jitter_lambda", 2, "-jitter_beam", 1, "-vary", "crystals:choice:1:2,distance:normal:1%", "-truth", "spots",
        "-mask", "mask.pgm", "-hdf5", "p.h5", "-hdf5type", "float32", "-frames_per_file", 2, "-output", "p_%d.cbf", "-nonoise")
    water = ["-background", "water:0.5", "-fluence", "1e26", "-beamsize", "0.05", "-seed", 4, "-quiet"]
    run("noise", "p.h5", "h_%d.bin", *water)
    run("noise", "p_%d.cbf", "c_%d.bin", *water)
    for name, image in (("h", "p.h5:{}"), ("c", "p_{}.cbf")):
        for k in range(5):
            run("noise", image.format(k + (name == "c")), "one.bin", *water)
            ok(f"background-of-frame-{name}{k}", read("one.bin") == read(f"{name}_{k + 1}.bin"))
    ok("backgrounds-differ", read("h_1.bin") != read("h_2.bin"))
    os.mkdir("away")
    err = run("noise", "p.h5", "away/o.h5", "-seed", 4, "-frames_per_file", 3)[1]
    ok("moving-detector-is-told", "the input moves the detector" in err, err)
    run("noise", "p.h5:3", "one.h5", "-seed", 4, "-quiet")
    try:
        import h5py
    except ImportError:
        print("skip noise_verb truth-is-copied # no h5py")
        return
    with h5py.File("p.h5") as a, h5py.File("away/o.h5") as b, h5py.File("one.h5") as one:
        a, b, one = (h["/entry/simulation"] for h in (a, b, one))
        names = []
        a.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        near = ("pix0_vector", "beam_fast", "beam_slow", "distance")  # the program calculates these fields again
        differ = [n for n in names if n not in b or (
            abs(a[n][()] - b[n][()]).max() > 1e-9 if n in near else a[n][()].tobytes() != b[n][()].tobytes())]
        ok("truth-is-copied", sorted(differ) == ["command_line", "seed"] and {"A", "crystals/A", "vary/distance", "reflections/table"}
           <= set(names), differ)
        ok("truth-of-one-frame", all(one[n][0].tobytes() == a[n][3].tobytes() for n in ("A", "N", "misset", "wavelength", "mosaic")))


def panels():
    """Two panels, one partly masked: noise reads a stack or HDF5, and writes HDF5."""
    flags = [*CRYSTAL[:-4], "-precision", "double", "-oversample", "1", "-geom", "two.geom", "-seed", 31]
    noise = ["-psf", "gauss", "-psf_fwhm", "700", "-readout_noise", "3", "-calibration", "0.02"]
    run(*flags, "-quiet", "-floatfile", "stack.bin", "-nonoise", "-noint", "-nopgm")
    run(*flags, "-quiet", *noise, "-stills", 1, "-hdf5", "own.h5", "-hdf5type", "int32")
    run(*flags, "-quiet", "-stills", 1, "-hdf5", "photons.h5", "-hdf5type", "float32")
    run("noise", "stack.bin", "a.h5", "-geom", "two.geom", *noise, "-seed", 31, "-hdf5type", "int32", "-quiet")
    run("noise", "photons.h5", "b.h5", *noise, "-seed", 31, "-hdf5type", "int32", "-quiet")
    ok("panels-of-a-stack", equal("own.h5", "a.h5"))
    ok("panels-of-hdf5", equal("own.h5", "b.h5"))
    out, err = run("noise", "photons.h5", "p.img", "-seed", 1, status=2)
    ok("panels-in-smv", "one panel" in err and not os.path.exists("p.img"), err)


def masked_input():
    """Pixels that the input marks as bad are marked in the output; their value is not
    used as photons."""
    run(*CRYSTAL, *PLACE, "-quiet", "-seed", 2, "-mask", "mask.pgm", "-stills", 2, "-output", "c_%d.cbf", "-hdf5", "c.h5",
        "-hdf5type", "int32")
    for name in ("c_%d.cbf", "c.h5"):
        run("noise", name, "d_%d.cbf", "-seed", 2, "-psf", "gauss", "-psf_fwhm", 800, "-quiet")
        run("noise", name, "e_%d.bin", "-quiet")
        marks = [i for i in range(FAST * SLOW) if i % 31 == 4]
        photons = array.array("f", read("e_2.bin"))
        said = json.loads(run("compare", "d_2.cbf", "c_2.cbf", "-json", "-threshold", "none")[0])
        ok("marks-of-" + name[:3], said["left_out"] == len(marks) and all(photons[i] == 0 for i in marks)
           and min(photons) == 0, said)


def background():
    """noise -background adds the same photons as -background in a rendered image."""
    flags = ["-background", "water:0.5", "-fluence", "1e26", "-beamsize", "0.05"]
    place = ["-distance", "90", "-pixel", "0.6", "-lambda", "1.2"]
    write("zero.bin", bytes(4 * FAST * SLOW))
    run(*flags, *place, "-detpixels_f", FAST, "-detpixels_s", SLOW, *QUIET, "-nonoise", "-precision", "double",
        "-floatfile", "water.bin")
    run("noise", "zero.bin", "sum.bin", "-size", FAST, SLOW, *flags, *place, "-quiet")
    ok("background-alone", read("sum.bin") == read("water.bin"))
    run("noise", "water.bin", "twice.bin", "-size", FAST, SLOW, *flags, *place, "-quiet")
    one, two = array.array("f", read("water.bin")), array.array("f", read("twice.bin"))
    ok("background-is-added", max(one) > 1 and all(b == 2 * a for a, b in zip(one, two)))
    for missing in ("-distance", "-pixel", "-lambda", "-fluence"):
        given = [*flags, *place]
        at = given.index(missing)
        err = run("noise", "zero.bin", "no.img", "-size", FAST, SLOW, *given[:at], *given[at + 2:], status=2)[1]
        errors = [line for line in err.splitlines() if "error:" in line]
        ok("background-names" + missing, len(errors) == 1 and missing in errors[0] and not os.path.exists("no.img"), err)


def notes():
    """One note reports pixels outside the range of counts, or an image without light."""
    write("neg.bin", array.array("f", [-10.0] * 63 * 64 + [5.0] * 64).tobytes())
    write("dark.bin", array.array("f", [0.0] * 64 * 64).tobytes())
    err = run("noise", "neg.bin", "n.img", "-seed", 1, "-quiet")[1]
    ok("below-0-is-told", "98.4 % of the pixels of the first image are below 0" in err and "-pedestal" in err, err)
    err = run("noise", "neg.bin", "n.img", "-seed", 1, "-quiet", "-pedestal", -10)[1]
    ok("a-pedestal-is-not", "below 0" not in err, err)
    err = run("noise", "neg.bin", "n.bin", "-seed", 1, "-quiet")[1]
    ok("floats-have-no-counts", "below 0" not in err, err)
    err = run("noise", "dark.bin", "n.img", "-seed", 1, "-quiet")[1]
    ok("dark-input", "the input has no photons" in err and "structure factor" not in err, err)
    run("noise", "dark.bin", "n.img", "-seed", 1, "-quiet", "-fdet_vector", "0,0,1", "-background", "water:0.1", "-fluence", 1e20,
        "-beamsize", 0.1, "-distance", 100, "-pixel", 0.1, "-lambda", 1)
    run("noise", "dark.bin", "w.img", "-seed", 1, "-quiet", "-fdet_vector", 0, 0, 1, "-background", "water:0.1", "-fluence", 1e20,
        "-beamsize", 0.1, "-distance", 100, "-pixel", 0.1, "-lambda", 1)
    ok("commas", read("n.img") == read("w.img"))


def refused(name, why, *args):
    before = sorted(os.listdir("."))
    err = run("noise", *args, status=2)[1]
    lines = [line for line in err.splitlines() if "error:" in line]
    ok(name, len(lines) == 1 and why in lines[0] and sorted(os.listdir(".")) == before,
       f"{err} {sorted(set(os.listdir('.')) ^ set(before))}")


def bad_input():
    run(*CRYSTAL, *PLACE, "-quiet", "-stills", 5, "-hdf5", "good.h5", "-hdf5type", "float32", "-frames_per_file", 2,
        "-output", "g_%d.bin", "-seed", 1)
    write("short.bin", read("g_1.bin")[:-4])
    nan = array.array("f", read("g_1.bin"))
    nan[FAST + 3] = float("nan")
    write("nan.bin", nan.tobytes())
    size = ["-size", FAST, SLOW]
    refused("truncated-floats", "short.bin", "short.bin", "o.img", *size)
    refused("not-finite", "3 1", "nan.bin", "o.img", *size)
    refused("missing-file", "none.bin", "none.bin", "o.img", *size)
    refused("no-extension", "o.xyz", "g_1.bin", "o.xyz", *size)
    refused("frames-into-one-file", "%05d", "good.h5", "o.img")
    refused("crystal", "-cell", "g_1.bin", "o.img", "-cell", 60)
    refused("onto-itself", "the same file", "good.h5", "good.h5")
    refused("frame-that-is-not-there", "no frame 7", "good.h5:7", "o.img")
    shutil.copy("good_data_000002.h5", "kept")
    write("good_data_000002.h5", read("kept")[:-200])
    refused(
        "truncated-hdf5", "data_000002", "good.h5", "o.h5")
    os.remove("good_data_000002.h5")
    refused("missing-data-file", "data_000002", "good.h5", "o.h5")
    shutil.copy("good_data_000003.h5", "good_data_000002.h5")
    refused("wrong-frame-count", "5 frames", "good.h5", "o.h5")
    os.remove("g_3.bin")
    refused("gap-in-numbers", "g_3.bin", "g_%d.bin", "o_%d.img", *size)
    write("g_3.bin", read("g_1.bin")[:-4])
    err = run("noise", "g_%d.bin", "o.h5", *size, "-threads", 1, "-frames_per_file", 1, status=2)[1]
    ok("short-frame-of-five", "g_3.bin" in err and not glob.glob("o*"), f"{err} {glob.glob('o*')}")


def masked_nan():
    """A masked pixel may be NaN."""
    values = array.array("f", [5.0] * 48)
    values[19] = float("nan")
    write("nan.bin", values.tobytes())
    write("nan.pgm", b"P5\n8 6\n255\n" + bytes(0 if i == 19 else 255 for i in range(48)))
    run("noise", "nan.bin", "o.bin", "-size", 8, 6, "-mask", "nan.pgm", "-seed", 1)
    got = array.array("f", read("o.bin"))
    ok("nan-under-the-mask", got[19] == 0 and list(got[:19]) + list(got[20:]) == [5.0] * 47, got)
    err = run("noise", "nan.bin", "o.bin", "-size", 8, 6, "-seed", 1, status=2)[1]
    ok("nan", "pixel 3 2 (fast slow) is not a finite number" in err, err)


def main():
    folder = tempfile.mkdtemp()
    try:
        for part in (of_one_image, series, resume, frames_of_their_own, panels, masked_input, masked_nan, background, notes, bad_input):
            os.mkdir(os.path.join(folder, part.__name__))
            os.chdir(os.path.join(folder, part.__name__))
            fixtures()
            part()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
