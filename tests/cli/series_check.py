# SPDX-License-Identifier: MIT
"""Series: frames equal single images, formats agree, -resume continues a killed run.

usage: NANOBRAGG=program python3 tests/cli/series_check.py
"""
import array
import glob
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from master import contents, differences  # noqa: E402
from script import BIG, PROGRAM, in_folder, ok, read, run  # noqa: E402
from small_disk import small_disk  # noqa: E402

X = ["-default_F", "100", "-cell", "70", "80", "90", "-N", "8", "-detpixels", "96", "-pixel", "0.5",
     "-fluence", "3e28", "-distance", "100", "-mosaic", "0.5", "-seed", "7", "-mosaic_domains", "5", "-oversample", "6", "-quiet"]
ROTATION = X + ["-phi", "10", "-osc", "0.3", "-phisteps", "2"]


def frames_equal_single_images():
    """Each frame equals, byte for byte, the single image with the seed of its header."""
    run(*ROTATION, "-frames", 4, "-output", "r_%d.img")
    run(*ROTATION, "-frames", 4, "-output", "r_%d.bin", "-threads", 1)
    same = []
    for k, phi in enumerate(("10", "10.3", "10.6", "10.9")):
        head = read(f"r_{k + 1}.img")[:8192].decode("latin-1")
        seed = head.split("NANOBRAGG_SEED=")[1].split(";")[0]
        run(*ROTATION, "-phi", phi, "-seed", seed, "-noint", "-nopgm")
        same.append(read("floatimage.bin") == read(f"r_{k + 1}.bin"))
        same.append(read("noiseimage.img") == read(f"r_{k + 1}.img"))
    ok("frame-is-the-single-image", all(same) and len({read(f"r_{k}.bin") for k in (1, 2, 3)}) == 3,
       same)
    ok("seed-of-frame-0", seed != "7" and "NANOBRAGG_SEED=7;" in
       read("r_1.img")[:8192].decode("latin-1"))
    ok("no-record-left", not glob.glob("*.resume"), glob.glob("*.resume"))


def automatic_steps():
    """Each frame has as many automatic spindle steps as its single image."""
    flags = [*X[:-3], "-quiet", "-detpixels", "48", "-phi", "10", "-osc", "2"]  # without -oversample
    run(*flags, "-frames", 2, "-output", "a_%d.bin")
    with open("a.jsonl", "w", encoding="ascii") as out:
        out.write('{"phi": 10}\n{"phi": 12, "osc": 3}')
    run(*flags, "-jobs", "a.jsonl", "-output", "b_%d.bin")
    for name, frame in {"a_2.bin": ["-phi", 12], "b_1.bin": [], "b_2.bin": ["-phi", 12, "-osc", 3]}.items():
        run(*flags, *frame, "-noint", "-nonoise", "-nopgm")
        ok("automatic-steps-" + name, read("floatimage.bin") == read(name))


def realism():
    """-realism is the flags that its notes print; what is typed wins; draws follow their laws."""
    mx = ["-vary", "fluence:normal:1%,overlap:offset:8%,spindle:normal:0.002", "-calibration", 0.01]
    _, notes = run(*ROTATION, "-frames", 3, "-realism", "mx", "-output", "m_%d.img")
    run(*ROTATION, "-frames", 3, *mx, "-output", "n_%d.img")
    ok("realism-is-its-flags", all(read(f"m_{k}.img")[8192:] == read(f"n_{k}.img")[8192:] for k in (1, 2, 3)))
    ok("realism-prints-its-flags", all(f"-realism mx: {mx[i]} {mx[i + 1]}" in notes for i in (0, 2)), notes)
    run(*ROTATION, "-frames", 3000, "-realism", "mx", "-vary", "fluence:normal:2%", "-draws", "d.txt")
    with open("d.txt", encoding="utf-8") as file:
        names, *rows = [line.split() for line in file]
    fluence, overlap, spindle = (list(map(float, column)) for column in list(zip(*rows))[3:])
    mean = [sum(column) / len(rows) for column in (fluence, overlap, spindle)]
    sd = [(sum((x - m) ** 2 for x in column) / len(rows)) ** 0.5 for column, m in zip((fluence, overlap, spindle), mean)]
    ok("realism-yields-to-typed-laws", names[3:] == ["fluence", "overlap", "spindle"], names)
    ok("draws-of-realism", abs(sd[0] / mean[0] - 0.02) < 1e-3 and abs(sd[2] - 0.002) < 1e-4 and
       abs(mean[1] - 1 / (1 + 8 * math.log(2) * 0.08 ** 2)) < 0.003, (mean, sd))
    run(*X, "-stills", 2, "-blocks", 10, "-vary", "overlap:choice:0.5", "-output", "o_%d.bin")
    run(*X, "-stills", 2, "-blocks", 5, "-output", "p_%d.bin")
    ok("overlap-scales-blocks", read("o_2.bin") == read("p_2.bin"))
    run(*X, "-phi", 10, "-osc", 0.1, "-frames", 1, "-phisteps", 2, "-vary", "spindle:choice:0.05", "-output", "q_%d.bin")
    run(*X, "-phi", 10.05, "-osc", 0.1, "-phisteps", 2, "-noint", "-nopgm", "-nonoise")
    turned, plain = (array.array("f", read(name)) for name in ("q_1.bin", "floatimage.bin"))
    ok("spindle-turns-about-the-spindle", max(abs(a - b) for a, b in zip(turned, plain)) < 1e-3 * max(plain))


def png_pixels(path):
    """Compressed pixels of a PNG, without its text chunks."""
    data, at, pixels = read(path), 8, b""
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] in (b"IHDR", b"IDAT"):
            pixels += data[at + 8:at + 8 + size]
        at += size + 12
    return pixels


def pictures():
    """A PNG of a frame equals that of -pngfile, also in colours."""
    if subprocess.run([PROGRAM, *X, "-pngfile", "t.png"], capture_output=True,
                      check=False).returncode == 2:
        print("skip series pictures # no libpng in this build")
        return
    same = []
    for look in ([], ["-colormap", "inverse", "-pngscale", "0:100"],
                 ["-colormap", "viridis", "-pnglog", "-pngrings", "20,10,5"],
                 ["-pngrings", "10", "-pngscale", "90", "-pnggamma", "0.4"]):
        run(*ROTATION, *look, "-frames", 2, "-output", "p_%d.png")
        run(*ROTATION, *look, "-phi", "10.3", "-pngfile", "p.png", "-noint", "-nonoise", "-nopgm")
        same.append(png_pixels("p.png"))
        same[-1] = (png_pixels("p_2.png") == same[-1], len(same[-1]))
    ok("pictures", all(good for good, _ in same) and len(set(same)) == 4, same)


def stills_equal_single_images(h5py, numpy):
    """Each still is rendered again from its values in /entry/simulation: same image."""
    run(*X, "-stills", 3, "-orientations", "random", "-jitter_fluence", 20, "-jitter_lambda", 0.5,
        "-jitter_cell", 0.3, "-jitter_mosaic", 10, "-jitter_beam", 0.4, "-hdf5", "s.h5",
        "-output", "s_%d.bin")
    with h5py.File("s.h5") as h5:
        truth = {key: h5["/entry/simulation/" + key][...] for key in
                 ("seed", "fluence", "wavelength", "mosaic", "B", "A", "U", "beam_fast",
                  "beam_slow")}
        still = h5["/entry/sample/depends_on"][()] == b"." and \
            "transformations" not in h5["/entry/sample"]
        listed = h5["/entry/instrument/beam/incident_wavelength"][...]
    run(*X, "-stills", 3, "-orientations", "random", "-jitter_fluence", 20, "-jitter_lambda", 0.5, "-jitter_cell", 0.3, "-jitter_mosaic", 10,
        "-jitter_beam", 0.4, "-draws", "s.txt")
    with open("s.txt", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    drawn = numpy.array(rows[1:], float).T
    made = [truth["fluence"], truth["wavelength"], 1 / truth["B"][:, 0, 0], truth["mosaic"], numpy.exp(truth["beam_fast"] * 0.5), numpy.exp(truth["beam_slow"] * 0.5)]
    drawn[7:] = numpy.exp(drawn[7:])  # shifts in mm, as factors
    ok("draws-of-jitter", rows[0][3:] == [f"jitter_{name}" for name in ("fluence", "lambda", "cell", "mosaic", "beam_fast", "beam_slow")] and
       all(numpy.allclose(m / m[0], d / d[0], rtol=1e-6) for m, d in zip(made, drawn[3:])), rows)
    seed = int(truth["seed"][2])
    factor = 1 / (truth["B"][2][0][0] * 70)  # a* = 1/a of a right-angled cell
    beam = [f"{round((v - 0.5) * 0.5, 9)}" for v in (truth["beam_slow"][2], truth["beam_fast"][2])]
    run(*X, "-misset", "random", "-misset_seed", seed, "-seed", seed,
        "-fluence", repr(truth["fluence"][2]), "-lambda", repr(truth["wavelength"][2]),
        "-cell", *(repr(v * factor) for v in (70, 80, 90)), "-mosaic", repr(truth["mosaic"][2]),
        "-Xbeam", beam[0], "-Ybeam", beam[1], "-noint", "-nonoise", "-nopgm")
    one, shot = (numpy.fromfile(f, "f4") for f in ("floatimage.bin", "s_3.bin"))
    error = float(numpy.max(numpy.abs(one - shot)) / numpy.max(shot))
    ok("truth-makes-the-shot", error < 1e-4, f"largest difference {error} of the maximum")
    ok("shots-differ", all(len(set(truth[key].tolist())) == 3 for key in
                           ("fluence", "wavelength", "mosaic", "beam_fast", "beam_slow"))
       and abs(numpy.linalg.det(truth["U"][1]) - 1) < 1e-9)
    ok("A-is-U-B", bool(numpy.allclose(truth["U"] @ truth["B"], truth["A"], atol=1e-12)))
    ok("stills-have-no-scan", still)
    ok("wavelength-by-shot", listed.tolist() == truth["wavelength"].tolist())


def parts(h5py):
    """-only_frame a-b makes the same frames a to b as the whole series, with draws,
    values that change along the series, lines of files and doses."""
    with open("p.txt", "w", encoding="ascii") as out:
        out.write("".join(f"1.0 1 1.0{k} 1\n" for k in range(6)))
    with open("p.jsonl", "w", encoding="ascii") as out:
        out.write("".join(f'{{"misset": [{k}, 2, 3]}}\n' for k in range(6)))
    with open("p.rot", "w", encoding="ascii") as out:
        out.write("".join(f"{10 * k} 20 30\n" for k in range(6)))
    small = [*X, "-detpixels", 40, "-threads", 1]
    kinds = {"stills": ["-stills", 6, "-orientations", "random", "-jitter_beam", 0.4, "-jitter_lambda", 0.5,
                        "-vary", "N:ramp:5:9,fluence:gamma:4,crystals:poisson:1.5"],
             "files": ["-stills", 6, "-orientations", "p.rot", "-spectra", "p.txt", "-vary", "rot_x:normal:2"],
             "jobs": ["-jobs", "p.jsonl", "-derivatives", "rot_x", "-derivfile", "?_%d.der"],
             "rotation": ["-frames", 6, "-phi", 10, "-osc", 0.3, "-dose", 2, "-vary", "distance:ramp:99:101"]}
    for name, flags in kinds.items():
        def make(to, *more):
            return run(*small, *(str(flag).replace("?", to) for flag in flags), "-output", to + "_%d.img",
                       *(["-hdf5", f"{to}_{more[1]}.h5"] if h5py and more else ["-hdf5", f"{to}.h5"] if h5py else []), *more)[0]
        make("whole")
        for part in ("0-1", "2-4", "5-5"):
            make("part", "-only_frame", part)
        wrong = [k for k in range(1, 7) if read(f"whole_{k}.img") != read(f"part_{k}.img")]
        wrong += [k for k in range(1, 7) if name == "jobs" and read(f"whole_{k}.der") != read(f"part_{k}.der")]
        if h5py:
            with h5py.File("whole.h5") as one, h5py.File("part_2-4.h5") as two:
                wrong += [key for key, have in one["/entry/simulation"].items() if isinstance(have, h5py.Dataset) and
                          have.shape[:1] == (6,) and have[2:5].tobytes() != two["/entry/simulation/" + key][...].tobytes()]
                if (one["/entry/data/data"][2:5] != two["/entry/data/data"][...]).any():
                    wrong.append("data")
        ok("parts-of-" + name, not wrong, wrong)
    said = run(*small, "-stills", 6, "-output", "whole_%d.img", "-only_frame", "0-1")[1]
    ok("parts-do-not-miss-others", "left from" not in said, said)
    if not h5py:
        return
    flags = [*small, "-stills", 6, "-orientations", "random", "-frames_per_file", 1, "-hdf5", "q.h5", "-only_frame"]
    run(*flags, "2-4")
    whole = contents(h5py, "q.h5")
    os.remove("q_data_000002.h5")
    out = run(*[flag for flag in flags if flag != "-quiet"], "2-4", "-resume")[0]
    ok("part-is-resumed", "2 of them kept" in out and not differences(whole, contents(h5py, "q.h5")), out)
    ok("part-is-not-resumed-as-another", "-resume" in run(*flags, "1-3", "-resume", status=2)[1])


def orientations_and_jobs():
    with open("o.txt", "w", encoding="ascii") as out:
        out.write("# two shots\n10 20 30\n0 -1 0 1 0 0 0 0 1\n")
    run(*X, "-stills", 2, "-orientations", "o.txt", "-output", "o_%d.bin")
    run(*X, "-misset", 10, 20, 30, "-noint", "-nonoise", "-nopgm")
    same = read("floatimage.bin") == read("o_1.bin")
    run(*X, "-misset", 0, 0, 90, "-noint", "-nonoise", "-nopgm")
    ok("orientations-of-a-file", same and read("floatimage.bin") == read("o_2.bin"))
    jobs = [{"misset": [1, 2, 3], "nopolar": True}, {"lambda": 1.1, "water": 2, "cell": 75}]
    with open("j.jsonl", "w", encoding="ascii") as out:
        out.write("\n".join(map(json.dumps, jobs)))
    run(*X, "-jobs", "j.jsonl", "-output", "j_%d.bin")
    run(*X, "-misset", 1, 2, 3, "-nopolar", "-noint", "-nonoise", "-nopgm")
    same = read("floatimage.bin") == read("j_1.bin")
    run(*X, "-lambda", 1.1, "-water", 2, "-cell", 75, "-noint", "-nonoise", "-nopgm")
    ok("jobs", same and read("floatimage.bin") == read("j_2.bin"))


def spectra(h5py, numpy):
    """A still with a spectrum equals the single image with the same list of sources."""
    generator = random.Random(3)
    shots = [[(f"{generator.uniform(0.98, 1.02):.6f}", f"{generator.uniform(0, 5):.4g}")
              for _ in range(size)] for size in (3, 1, 7, 4)]
    with open("spectra.txt", "w", encoding="ascii") as out:
        out.write("# wavelength weight ...\n\n")
        for shot in shots:
            out.write("  ".join(f"{a} {w}" for a, w in shot) + "\n")
    flags = X + ["-stills", 4, "-orientations", "random", "-spectra", "spectra.txt"]
    run(*flags, "-output", "c_%d.bin", "-hdf5", "c_master.h5", "-hdf5type", "float32")
    same = []
    with h5py.File("c_master.h5") as h5:
        beam = h5["/entry/instrument/beam"]
        data, seeds = h5["/entry/data/data"][...], h5["/entry/simulation/seed"][...]
        numbers = h5["/entry/simulation/spectrum"][...].tolist()
        means = beam["incident_wavelength"][...]
        name = beam["incident_wavelength"].attrs["variant"]
        name = name.decode() if isinstance(name, bytes) else name
        A, weights = beam[name][...], beam[name + "_weights"][...]
    for k, shot in enumerate(shots):
        with open("sources.txt", "w", encoding="ascii") as out:
            out.writelines(f"-10 0 0 {w} {a}e-10\n" for a, w in shot)
        run(*X, "-misset", "random", "-misset_seed", seeds[k], "-sourcefile", "sources.txt",
            "-noint", "-nonoise", "-nopgm")
        same.append(read("floatimage.bin") == read(f"c_{k + 1}.bin") == data[k].tobytes())
        a, w = numpy.array(shot, float).T
        same.append(abs(means[k] - (a * w).sum() / w.sum()) < 1e-12)
        same.append(numpy.allclose(A[k][:len(a)], a, rtol=1e-14) and
                    (weights[k] == numpy.append(w, numpy.zeros(7 - len(w)))).all())
    # -spectra also reads a master of this program, and a table of another program
    pictures_of_shots = [read(f"c_{k}.bin") for k in range(1, 5)]
    with h5py.File("table.h5", "w") as h5:
        h5["wavelength"], h5["weight"] = A, weights
    for name in ("c_master.h5", "table.h5"):
        run(*flags[:-1], name, "-output", "d_%d.bin")
        same.append([read(f"d_{k}.bin") for k in range(1, 5)] == pictures_of_shots)
    with h5py.File("table.h5", "w") as h5:
        h5["wavelength"], h5["weight"] = A[2], weights * 0
    error = run(*flags[:-1], "table.h5", "-output", "d_%d.bin", status=2)[1]
    ok("dark-spectra", "spectrum 0: the weights add up to 0" in error, error)
    with h5py.File("table.h5", "w") as h5:
        h5["weight"] = weights
    error = run(*flags[:-1], "table.h5", "-output", "d_%d.bin", status=2)[1]
    ok("no-spectra-in-hdf5", "table.h5" in error and "/wavelength" in error, error)
    ok("spectra-are-source-lists", all(same) and numbers == [0, 1, 2, 3], same)
    error = run(*flags, "-stills", 5, "-hdf5", "d.h5", status=2)[1]
    ok("too-few-spectra", "4 spectra for 5 stills" in error, error)
    run(*flags, "-hdf5", "e_master.h5")
    with open("spectra.txt", "a", encoding="ascii") as out:
        out.write("5 5\n")
    run(*flags, "-hdf5", "e_master.h5", "-resume")  # unused files may change
    with open("spectra.txt", encoding="ascii") as text:
        other = text.read().replace(shots[1][0][0], "1.0001")
    with open("spectra.txt", "w", encoding="ascii") as out:
        out.write(other)
    error = run(*flags, "-hdf5", "e_master.h5", "-resume", status=2)[1]
    ok("other-spectra-refused", "-resume" in error, error)


def formats_agree(h5py, numpy, fabio):
    """Files of all formats that this build writes have the same photons."""
    flags = ROTATION + ["-frames", 5, "-frames_per_file", 2]
    run(*flags, "-output", "f_%02d.cbf", "-hdf5", "f_master.h5")
    run(*flags, "-output", "f_%02d.img", "-hdf5", "g.h5", "-hdf5type", "int32", "-compress", "none")
    run(*flags, "-output", "f_%02d.bin", "-hdf5", "h.h5", "-hdf5type", "float32")
    with h5py.File("f_master.h5") as f, h5py.File("g.h5") as g, h5py.File("h.h5") as h:
        data = f["/entry/data/data"][...]
        types = [x["/entry/data/data"].dtype for x in (f, g, h)]
        ok("hdf5-types", types == ["uint16", "int32", "float32"], types)
        ok("hdf5-compressions-agree", (data == g["/entry/data/data"][...]).all())
        raw = numpy.array([numpy.fromfile(f"f_{k:02d}.bin", "f4") for k in range(1, 6)])
        ok("hdf5-float", (h["/entry/data/data"][...].reshape(raw.shape) == raw).all())
        omega = f["/entry/sample/transformations/omega"][...]
        ok("hdf5-scan", numpy.allclose(omega, 10 + 0.3 * numpy.arange(5), atol=1e-9), omega)
        ok("hdf5-config", json.loads(f["/entry/simulation/config"][()])["output"]["seed"] == 7)
    ok("data-files", len(glob.glob("f_data_*.h5")) == 3)
    ok("photons", 0 < data.max() < 60000 and data.std() > 1, data.max())
    if fabio is None:
        print("skip series fabio # python3-fabio is not installed")
        return
    cbf = [fabio.open(f"f_{k:02d}.cbf").data for k in range(1, 6)]
    img = [fabio.open(f"f_{k:02d}.img").data.astype(int) - 40 for k in range(1, 6)]
    ok("fabio-cbf", (numpy.array(cbf) == data).all() and cbf[0].dtype == numpy.int32)
    ok("fabio-smv", (numpy.array(img) == data).all())


def bslz4(h5py):
    plugins = glob.glob("/usr/lib/*/hdf5/serial/plugins/libh5bshuf.so")
    if not plugins:
        print("skip series bslz4 # Debian's package bitshuffle is not installed")
        return
    for kind in ("uint16", "int32", "float32"):
        for name in ("none", "bslz4"):
            run(*ROTATION, "-detpixels", "70", "-frames", 2, "-hdf5", f"{name}.h5", "-hdf5type",
                kind, "-compress", name)
        code = "import h5py,sys; a,b=(h5py.File(f)['/entry/data/data'][...] for f in sys.argv[1:]);" \
               "sys.exit(not (a == b).all())"
        done = subprocess.run([sys.executable, "-c", code, "none.h5", "bslz4.h5"], check=False,
                              env={**os.environ, "HDF5_PLUGIN_PATH": os.path.dirname(plugins[0])})
        ok(f"bslz4-{kind}", done.returncode == 0)


def large_counts(h5py, fabio):
    """int32 and CBF hold counts that are too large for 16 bits."""
    flags = X + ["-stills", 1, "-fluence", "1e32", "-detpixels", 32]
    run(*flags, "-hdf5", "l32.h5", "-hdf5type", "int32", "-output", "l_%d.cbf")
    run(*flags, "-hdf5", "l16.h5")
    run(*flags, "-nonoise", "-hdf5", "lf.h5", "-hdf5type", "float32")
    a, b, f = (h5py.File(n)["/entry/data/data"][0].astype(float) for n in
               ("l32.h5", "l16.h5", "lf.h5"))
    big = f > 1e5
    ok("int32-above-16-bits", big.any() and (b[big] == 65535).all() and
       (abs(a - f) < 8 * f ** 0.5 + 8).all(), f"{big.sum()} pixels, maximum {a.max()}")
    if fabio is not None:
        ok("cbf-above-16-bits", (fabio.open("l_1.cbf").data == a).all())


def add_up(numpy, h5, images):
    """Largest relative difference between the sum of an image and sums of its list."""
    lists = h5["/entry/simulation/reflections"]
    table, first, count = lists["table"][...], lists["first"][...], lists["count"][...]
    worst = 0
    for k, image in enumerate(images):
        rows = table[first[k]:first[k] + count[k]]
        if not (rows["frame"] == k).all() or len(rows) == 0:
            return float("nan")
        parts = rows["intensity"].sum() + sum(lists[name][k] for name in ("background", "diffuse", "unassigned"))
        worst = max(worst, abs(parts / image.sum(dtype=float) - 1))
    return worst


def reflections(h5py, numpy):
    """Compare the list with the images: sums, centres, and positions from the A matrix."""
    with open("truth.jsonl", "w", encoding="ascii") as out:
        out.write('{"truth": "spots"}')
    flags = ROTATION + ["-mosaic", "0.05", "-N", "30", "-gauss_xtal", "-oversample", "1", "-frames",
                        5, "-frames_per_file", 2, "-water", "0.1", "-truth", "spots",
                        "-fluence", "3e25", "-detpixels", 240, "-pixel", "0.2"]
    run(*flags, "-hdf5", "t_master.h5", "-hdf5type", "float32")
    with h5py.File("t_master.h5") as h5:
        data = h5["/entry/data/data"][...]
        worst = add_up(numpy, h5, data)
        ok("reflections-add-up", worst < 1e-9, worst)
        lists = h5["/entry/simulation/reflections"]
        share = lists["unassigned"][...] / (data.sum(axis=(1, 2)) - lists["background"][...])
        ok("reflections-hold-the-crystal", (numpy.abs(share) < 0.02).all(), share)
        units = [file["/entry/simulation/reflections/table"].attrs["units"].tolist()
                 for file in (h5, h5["/entry/files/data_000001"].file)]
        ok("reflections-have-units", units[0] == units[1] == b"1 1 1 1 pixel pixel photon photon deg "
           b"angstrom 1/angstrom electron angstrom photon/pixel pixel photon".split(), units)
        table, water = lists["table"][...], lists["background"][0] / data[0].size
        truth = {key: h5["/entry/simulation/" + key][...] for key in
                 ("A", "beam_vector", "fdet_vector", "sdet_vector", "pix0_vector",
                  "spindle_axis")}
    centres_and_places(numpy, table, data, water, truth)
    run(*flags, "-hdf5", "u_master.h5", "-hdf5type", "float32", "-threads", 1)
    run(*flags, "-frames", 1, "-phi", "10.6", "-noint", "-nonoise", "-nopgm",
        "-hdf5", "one.h5")
    with h5py.File("u_master.h5") as h5, h5py.File("one.h5") as one:
        again = h5["/entry/simulation/reflections/table"][...]
        single = one["/entry/simulation/reflections/table"][...]
        single["frame"] = 2
    ok("reflections-any-threads", again.tobytes() == table.tobytes())
    ok("reflections-of-one-frame", single.tobytes() == table[table["frame"] == 2].tobytes())
    # the list of a single image, as text
    single_flags = list(flags)
    for name in ("-frames", "-frames_per_file"):
        at = single_flags.index(name)
        del single_flags[at:at + 2]
    run(*single_flags, "-phi", "10.6", "-noint", "-nonoise", "-nopgm")
    text = numpy.genfromtxt("spots.tsv", names=True, skip_header=1)
    ok("reflections-as-text", all(numpy.allclose(text[key], single[key], rtol=1e-6, atol=1e-9)
                                  for key in text.dtype.names) and len(text) == len(single))
    error = run(*ROTATION, "-frames", 2, "-output", "n_%d.img", "-truth", "spots", status=2)[1]
    ok("reflections-need-hdf5", "-hdf5" in error, error)
    error = run(*X, "-jobs", "truth.jsonl", "-hdf5", "n.h5", status=2)[1]
    ok("reflections-not-by-job", "whole series" in error, error)


def centres_and_places(numpy, table, images, water, truth):
    """For isolated spots, the listed position equals the centre in the image and the
    position calculated from A, phi and wavelength."""
    off, far, alone = [], [], 0
    for spot in table[table["intensity"] > 50]:
        near = (numpy.hypot(table["fast"] - spot["fast"], table["slow"] - spot["slow"]) < 12) \
            & (table["frame"] == spot["frame"])
        f, s = int(spot["fast"]), int(spot["slow"])
        if near.sum() > 1 or not (4 <= f < 236 and 4 <= s < 236):
            continue
        alone += 1
        box = images[spot["frame"], s - 4:s + 5, f - 4:f + 5] - water
        grid = numpy.arange(9) + 0.5
        centre = (f - 4 + (box * grid).sum() / box.sum(),
                  s - 4 + (box * grid[:, None]).sum() / box.sum())
        off.append(max(abs(centre[0] - spot["fast"]), abs(centre[1] - spot["slow"]),
                       abs(box.sum() / spot["intensity"] - 1)))
        # the ray along k + R A h (R: rotation by phi) meets the detector at this pixel
        here = {key: truth[key][spot["frame"]] for key in truth}
        phi, axis = numpy.radians(spot["phi"]), here["spindle_axis"]
        g = here["A"] @ numpy.array([spot["h"], spot["k"], spot["l"]], float)
        g = g * numpy.cos(phi) + numpy.cross(axis, g) * numpy.sin(phi) \
            + axis * (axis @ g) * (1 - numpy.cos(phi))
        out = here["beam_vector"] / spot["wavelength"] + g
        basis = numpy.array([out, -here["fdet_vector"], -here["sdet_vector"]]).T
        _, fast, slow = numpy.linalg.solve(basis, here["pix0_vector"]) / 0.2
        far.append(numpy.hypot(fast - spot["fast"], slow - spot["slow"]))
    ok("reflections-are-where-the-image-has-them", alone >= 20 and max(off) < 0.05,
       f"{alone} alone, {off}")
    ok("reflections-are-where-A-puts-them", alone >= 20 and max(far) < 0.5, far)


def whole_series(h5py, stem):
    """(content of the master file, contents of the numbered files)."""
    return contents(h5py, stem + "_master.h5"), [read(f) for f in sorted(glob.glob(stem + "_*.cbf"))]


def killed_runs_go_on(h5py):
    flags = ROTATION + ["-frames", 40, "-frames_per_file", 3, "-hdf5", "k_master.h5",
                        "-output", "k_%02d.cbf", "-oversample", 3, "-truth", "spots",
                        "-gauss_xtal", "-truth_min", "1e4"]
    start = time.monotonic()
    run(*flags)
    seconds = time.monotonic() - start
    whole = whole_series(h5py, "k")
    generator = random.Random(1)
    good = kept = 0
    other, times = [], 10 if BIG else 4
    for _ in range(times):
        for name in glob.glob("k_*"):
            os.remove(name)
        process = subprocess.Popen([PROGRAM, *map(str, flags)], stderr=subprocess.DEVNULL)
        time.sleep(generator.uniform(0.1, 0.9) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for name in glob.glob("k_*.h5"):
            with h5py.File(name) as h5:
                h5["/entry/data/data"][0]
        text = run(*[f for f in flags if f != "-quiet"], "-resume")[0]
        kept += "kept from the earlier run" in text
        again = whole_series(h5py, "k")
        other += differences(whole[0], again[0])
        good += again == whole
    ok("killed-and-resumed", good == times, f"{good} of {times} as uninterrupted; {set(other)}")
    ok("resume-keeps-frames", kept >= times // 4, f"only {kept} of {times} runs kept any")  # number of complete data files
    with open("k_07.cbf", "r+b") as damaged:
        damaged.seek(3000)
        damaged.write(b"damage")
    os.remove("k_master.h5")
    run(*flags, "-resume")
    ok("damaged-file-is-made-again", whole_series(h5py, "k") == whole)
    error = run(*flags, "-resume", "-fluence", "1e20", status=2)[1]
    ok("other-flags-refused", "-resume" in error, error)


def interrupted(h5py):
    """After Ctrl-C the status is 130, and the finished frames can be read."""
    flags = ROTATION + ["-frames", "5000", "-hdf5", "i.h5", "-oversample", "4",
                        "-output", "i_%04d.cbf"]
    process = subprocess.Popen([PROGRAM, *map(str, flags)], stderr=subprocess.PIPE, text=True)
    while not os.path.exists("i_0003.cbf") and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    error = process.communicate()[1]
    frames = 0
    if os.path.exists("i.h5"):
        with h5py.File("i.h5") as h5:
            frames = len(h5["/entry/data/data"])
    ok("interrupted", process.returncode == 130 and "-resume" in error and 0 < frames < 5000,
       f"status {process.returncode}, {frames} frames: {error}")


def full_disk(h5py):
    with small_disk("series") as disk:
        if not disk:
            return
        flags = ROTATION + ["-frames", 40, "-frames_per_file", 3]
        for what, path in (("-hdf5", "small/d.h5"), ("-output", "small/d_%03d.img")):
            error = run(*flags, what, path, status=1)[1]
            ok(f"full-disk{what}", "space" in error or "disk" in error, error)
            for name in glob.glob("small/*.h5"):
                with h5py.File(name) as h5:
                    h5["/entry/data/data"][...]
            ok(f"full-disk{what}-leaves-whole-files",
               all(os.path.getsize(f) == os.path.getsize("r_1.img")
                   for f in glob.glob("small/*.img")) and not glob.glob("small/*.part"))
            for name in glob.glob("small/*"):
                os.remove(name)
        subprocess.run(["mount", "-o", "remount,ro", "small"], check=True)
        error = run(*flags, "-hdf5", "small/d.h5", status=1)[1]
        ok("read-only-folder", "small/d" in error and "Read-only" in error, error)


def file_system_without_locks():
    """HDF5 locks its files. On a file system that refuses locks, as some network file
    systems do, files are written without locks."""
    with open("no_locks.c", "w", encoding="ascii") as stream:
        stream.write("#include <errno.h>\nint flock(void) { errno = ENOLCK; return -1; }\n")
    if not shutil.which("cc") or subprocess.run(
            ["cc", "-shared", "-fPIC", "no_locks.c", "-o", "no_locks.so"], check=False).returncode:
        print("skip series file-system-without-locks # no C compiler")
        return
    hooked = {**os.environ, "LD_PRELOAD": "./no_locks.so", "HDF5_USE_FILE_LOCKING": "TRUE"}
    done = subprocess.run([PROGRAM, *ROTATION, "-frames", "10", "-hdf5", "locks.h5"], check=False,
                          capture_output=True, text=True, env=hooked)
    run(*ROTATION, "-frames", 10, "-hdf5", "free.h5")
    ok("file-system-without-locks", done.returncode == 0 and
       read("locks_data_000001.h5") == read("free_data_000001.h5"), f"status {done.returncode}: {done.stderr}")


def same_bytes():
    """The same flags give files with the same bytes, masters too, at another time."""
    for folder in ("first", "second"):
        os.mkdir(folder)
        os.chdir(folder)
        run(*ROTATION, "-frames", 5, "-frames_per_file", 2, "-truth", "spots", "-gauss_xtal", "-truth_min", "1e4", "-hdf5", "s.h5")
        os.chdir("..")
        time.sleep(1.1)  # times that HDF5 stores are in whole seconds
    names = sorted(os.listdir("first"))
    ok("same-bytes", len(names) == 4 and all(read(f"first/{n}") == read(f"second/{n}")
                                             for n in names), names)


def main():
    try:
        import h5py
        import numpy
    except ImportError as missing:
        h5py = numpy = None
        print(f"skip series hdf5 # {missing}")
    try:
        import fabio
    except ImportError:
        fabio = None
    if subprocess.run([PROGRAM, *X, "-stills", "1", "-hdf5", "t.h5"], capture_output=True,
                      check=False).returncode == 2:
        print("skip series hdf5 # not in this build")
        h5py = None
    frames_equal_single_images()
    orientations_and_jobs()
    parts(h5py)
    automatic_steps()
    realism()
    pictures()
    if h5py:
        stills_equal_single_images(h5py, numpy)
        spectra(h5py, numpy)
        formats_agree(h5py, numpy, fabio)
        bslz4(h5py)
        large_counts(h5py, fabio)
        reflections(h5py, numpy)
        interrupted(h5py)
        full_disk(h5py)
        killed_runs_go_on(h5py)
        file_system_without_locks()
        same_bytes()


if __name__ == "__main__":
    in_folder(main)
