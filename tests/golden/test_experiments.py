#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames with the physics of an experiment (spectra, varying numbers, diffuse light,
dose, absorption, shadows) agree with the cases of golden_data/experiments."""
import csv
import json
import math
import os
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skip experiments # python3-numpy is not installed")
    sys.exit(0)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

try:
    import h5py
except ImportError:
    h5py = None

CASES = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "experiments")
SMALL = ["-default_F", "1", "-detpixels", "8", "-N", "2", "-oversample", "1", "-device", "cpu"]
CELL = ["-cell", "70", "80", "90"]
BEAM = "/entry/instrument/beam/incident_wavelength_1Dspectrum"
BIG = "NB_BIG" in os.environ
PARTS = " ".join(script.run("-version")[0].lower().split())
HAS_HDF5, HAS_FFTW = "hdf5 yes" in PARTS, "fftw yes" in PARTS


def series(flags, folder):
    """Rows frame, factor, wavelength, weight of a master's spectra; fluence by frame."""
    name = os.path.join(folder, "series.h5")
    script.run(*CELL, *SMALL, *flags, "-hdf5", name)
    with h5py.File(name) as f:
        wave, weight, factor = f[BEAM][:], f[BEAM + "_weights"][:], f["/entry/simulation/spectrum_factor"][:]
        fluence = f["/entry/simulation/fluence"][:]
    frame = numpy.repeat(numpy.arange(len(factor)), wave.shape[1])
    return numpy.stack([frame, factor[frame], wave.ravel(), weight.ravel()], axis=1), fluence


def line(path):
    """The same rows, for frame 0, from a file of -spectrumout."""
    with open(path, encoding="ascii") as f:
        head, numbers = f.read().splitlines()
    pairs = numpy.array(numbers.split(), float).reshape(-1, 2)
    return numpy.hstack([numpy.zeros((len(pairs), 1)), numpy.full((len(pairs), 1), float(head.split()[-1])), pairs])


def check_spectrum(case, folder):
    flags, tolerance = case["flags"].split(), float(case["tolerance"])
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64")).reshape(-1, 4)
    if "-stills" in flags and not (h5py and HAS_HDF5):
        print(f"skip experiments {case['id']} # no HDF5 in this build, or python3-h5py is not installed")
        return
    if "-stills" in flags:
        got, fluence = series(flags, folder)
        typed = fluence / got[::len(got) // len(fluence), 1]
        script.ok(case["id"] + "-fluence", numpy.ptp(typed) < 1e-10 * typed[0], f"{typed}")
        got = got[numpy.isin(got[:, 0], want[:, 0])]
    else:
        out = os.path.join(folder, "spectrum.out")
        script.run(*CELL, *SMALL, *flags, "-show_config", "-spectrumout", out)
        got = line(out)
    good = got.shape == want.shape and numpy.abs(got - want).max() <= tolerance * want.max()
    script.ok(case["id"], good, f"{got.shape} {want.shape}" if got.shape != want.shape else f"{got - want}")


def check_number(case):
    text = case["flags"]
    first, turns = text.split(" and in turn: ")
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64"))
    for i, flags in enumerate(turns.split(";")):
        report = script.run(*first.split(), *flags.split(), "-show_config", "-device", "cpu")[0]
        found = int(report.split('"sources":')[1].split(",")[0])
        script.ok(f"{case['id']}-{i}", found == want[i], f"{found} wavelengths, not {want[i]}")


def check_draws(case, folder):
    out = os.path.join(folder, "draws.txt")
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64"))
    want = want.reshape([int(n) for n in case["shape"].split("x")])
    script.run(*case["flags"].split(), "-draws", out)
    got = numpy.delete(numpy.loadtxt(out, skiprows=1), 2, axis=1)
    if "crystals" in case["what"].split("frame, crystal, ")[1]:  # the case has a row per frame
        first = numpy.unique(got[:, 0], return_index=True)[1]
        count = numpy.bincount(got[:, 0].astype(int), weights=got[:, 1] >= 0)
        script.ok(case["id"] + "-rows", (count == got[first, 2]).all(), f"{count}")
        got = got[first]
        got[:, 1] = 0
    good = got.shape == want.shape and (numpy.abs(got - want) <= float(case["tolerance"]) * numpy.abs(want)).all()
    script.ok(case["id"], good, f"{got}")


def check_hits(folder):
    """A fraction exp(-0.6) of all frames has no crystal; each has a row with the crystal
    -1."""
    out, frames = os.path.join(folder, "hits.txt"), 20000
    script.run(*CELL, *SMALL, "-seed", "80", "-stills", frames, "-vary", "crystals:poisson:0.6", "-draws", out)
    frame, crystal = numpy.loadtxt(out, skiprows=1, usecols=(0, 1)).T
    misses = (crystal == -1).mean() * len(crystal) / frames
    print(f"# misses: {100 * misses:.2f} % of {frames} frames")
    script.ok("hits", numpy.ptp(frame) == frames - 1 and abs(misses - 0.5488) < 4 * math.sqrt(0.5488 * 0.4512 / frames), f"{misses}")


def check_orientations(case, folder):
    """The master file has the matrix U of each crystal of a series."""
    if not (h5py and HAS_HDF5):
        print(f"skip experiments {case['id']} # no HDF5 in this build, or python3-h5py is not installed")
        return
    name = os.path.join(folder, "orientations.h5")
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64")).reshape(-1, 11)
    flags = case["flags"].split()
    script.run(*CELL, *SMALL, *flags, "-hdf5", name)
    with h5py.File(name) as f:
        group = f["/entry/simulation/crystals"]
        got = numpy.column_stack([group["frame"][:], group["crystal"][:], group["U"][:].reshape(-1, 9)])
    at = flags.index("-crystals")
    script.run(*CELL, *SMALL, *flags[:at], *flags[at + 2:], "-hdf5", name)
    with h5py.File(name) as f:
        alone = f["/entry/simulation/U"][:].reshape(-1, 9)
    script.ok(case["id"] + "-first", (alone == got[got[:, 1] == 0, 2:]).all(), f"{alone}")
    script.ok(case["id"], got.shape == want.shape and numpy.abs(got - want).max() <= float(case["tolerance"]), f"{got}")


def check_image(case, folder):
    """Each renderer makes the image of the case."""
    out = os.path.join(folder, "image.bin")
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64"))
    for name, more, part in (("vectors", [], 1e-6), ("scalar", ["-isa", "scalar"], 2e-7), ("double", ["-precision", "double"], 2e-7)):
        script.run(*case["flags"].split(), *more, "-device", "cpu", "-floatfile", out, "-noint", "-nonoise", "-nopgm")
        off = numpy.abs(numpy.fromfile(out, "f4") - want).max() / want.max()
        script.ok(f"{case['id']}-{name}", off <= part, f"{off:.3g} of the brightest pixel, not {part}")


def lost_halos(case, edge=32, pixel=2.5, distance=100.0):
    """Photons of halos that the reference of llm-hex does not have. Six of the twelve
    mates of 8 -4 8, just at the list's limit of 3 A, are not in its list because of
    rounding; -sg P6 adds them. The sum has all orders (section 5.1 of the contract)."""
    flags = case["flags"].split()

    def numbers(name, n):
        at = flags.index(name) + 1
        return numpy.array(flags[at:at + n], float)
    with open(flags[1], encoding="ascii") as f:
        F = {tuple(int(x) for x in row[:3]): float(row[3]) for row in map(str.split, f)}
    sixth = [numpy.linalg.matrix_power(numpy.array([[1, -1, 0], [1, 0, 0], [0, 0, 1]]), i) for i in range(6)]
    orbit = {tuple(sign * numpy.array((8, -4, 8)) @ R) for R in sixth for sign in (1, -1)}
    missing = sorted(g for g in orbit if g not in F)
    crystal = json.loads(script.run(*flags, "-show_config", "-device", "cpu")[0])["crystal"]
    A = numpy.array([crystal[x + "_star_per_A"] for x in "abc"]).T
    a, c = A[:, 0] / numpy.linalg.norm(A[:, 0]), numpy.linalg.inv(A)[2] / numpy.linalg.norm(numpy.linalg.inv(A)[2])
    axes = numpy.array([a, numpy.cross(c, a), c]) @ A
    sigma, gamma, N = numbers("-diffuse_sigma", 3), numbers("-diffuse_gamma", 3), numbers("-Na", 1) * numbers("-Nb", 1) * numbers("-Nc", 1)

    def X(h):
        return 4 * math.pi ** 2 * ((h @ axes.T * sigma) ** 2).sum(axis=-1)
    fast, slow = numpy.meshgrid((numpy.arange(edge) + 0.5) * pixel - 42.5, 42.5 - (numpy.arange(edge) + 0.5) * pixel)
    to = numpy.stack([numpy.full(fast.shape, distance), slow, fast], axis=-1).reshape(-1, 3)
    away = numpy.linalg.norm(to, axis=1)
    h = (to / away[:, None] - (1, 0, 0)) @ numpy.linalg.inv(A).T
    D = 0
    for R in sixth:
        for g in map(numpy.array, missing):
            I0 = F[8, -4, 8] ** 2 * numpy.exp(X(g @ R))
            u = 4 * math.pi ** 2 * (((h - g) @ R @ axes.T * gamma) ** 2).sum(axis=1)
            D = D + sum(numpy.exp(-X(h @ R)) * X(h @ R) ** n / math.factorial(n) * I0 * 8 * math.pi * gamma.prod() / n ** 3 / (1 + u / n ** 2) ** 2
                        for n in range(1, 20)) / 6
    solid, polar = pixel ** 2 * distance / away ** 3, (1 + (to[:, 0] / away) ** 2) / 2
    photons = numbers("-fluence", 1) * 7.94079248018965e-30 * solid * polar * N * abs(numpy.linalg.det(A)) * D
    return photons, len(missing)


def check_diffuse(case, folder):
    """Diffuse light agrees: each pixel to 5e-3 of its value (llm-gauss: of the maximum),
    the sum to 5e-4. One renderer is enough, because all add the same plane."""
    out = os.path.join(folder, "image.bin")
    if not HAS_FFTW:
        print(f"skip experiments {case['id']} # no FFTW in this build")
        return
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64"))
    script.run(*case["flags"].split(), "-device", "cpu", "-floatfile", out, "-noint", "-nonoise", "-nopgm")
    got = numpy.fromfile(out, "f4").astype(float)
    if case["id"] == "llm-hex":
        more, n = lost_halos(case)
        script.ok(case["id"] + "-lost", n == 6 and (more / want).max() > 0.2, f"{n} reflections, {(more / want).max():.3g} of a pixel")
        want = want + more
    off = numpy.abs(got - want) / (want.max() if case["id"] == "llm-gauss" else want)
    script.ok(case["id"], off.max() <= 5e-3, f"{off.max():.3g} of a pixel")
    script.ok(case["id"] + "-sum", abs(got.sum() / want.sum() - 1) <= 5e-4, f"{got.sum() / want.sum() - 1:.3g}")


def check_vary_master(folder):
    """The master file has the drawn values of -draws."""
    laws = ("N:lognormal:40%,cell:normal:0.3%,mosaic:normal:50%,rot_x:normal:3,rot_z:uniform:-1:1,fluence:gamma:4,"
            "distance:uniform:99:101,lambda:normal:1%")
    flags = [*CELL, *SMALL, "-N", "5", "-pixel", "2", "-mosaic", "0.1", "-mosaic_dom", "3", "-seed", "7", "-fluence", "1e24", "-vary", laws]
    table = os.path.join(folder, "table.txt")
    script.run(*flags, "-stills", "4", "-draws", table)
    with open(table, encoding="ascii") as f:
        names = f.readline().split()
    drawn = numpy.loadtxt(table, skiprows=1)
    if not (h5py and HAS_HDF5):
        print("skip experiments vary-master # no HDF5 in this build, or python3-h5py is not installed")
        return
    name = os.path.join(folder, "vary.h5")
    script.run(*flags, "-stills", "4", "-hdf5", name)
    with h5py.File(name) as f:
        group = f["/entry/simulation/vary"]
        good = sorted(group) == ["distance", "fluence", "lambda"] and all(
            (numpy.abs(group[n][:] / drawn[:, names.index(n)] - 1) < 1e-11).all() for n in group)
        script.ok("vary-master", good, f"{sorted(group)}")


def check_factors(folder, hkl):
    """With a varying F, each frame has the same bytes as the image with its drawn numbers
    typed. A series reads its files once, so that they may be pipes."""
    table = os.path.join(folder, "F.txt")
    model = os.path.join(CASES, "..", "structure_factors", "models", "1orc.pdb")
    with open(hkl, encoding="ascii") as f:
        part = "".join(line for line in f if int(line.split()[2]) > -3)  # some reflections have no Friedel mate
    laws = "Badd:choice:0:8:-3,default_F:choice:0:40"
    for name, given, files, more in (("list", part, ["-hkl", "/dev/stdin"], ",Fscale:choice:1:1.5"),
                                     ("interpolated", part, ["-hkl", "/dev/stdin", "-N", "2"], ""),
                                     ("changed", part, ["-hkl", "/dev/stdin", "-N", "2", "-F000", "90"], ""),
                                     ("model", None, ["-pdb", model, "-dmin", "5"], ",Fscale:choice:1:1.5")):
        flags = [*SWEEP, *files, "-nonoise", "-noint", "-nopgm"]
        vary = ["-stills", "6", "-vary", laws + more]
        script.run(*flags, *vary, "-output", os.path.join(folder, "F_%d.bin"), "-threads", "2", given=given)
        script.run(*flags, *vary, "-draws", table, given=given)
        images = set()
        for k, row in enumerate(numpy.loadtxt(table, skiprows=1)):
            typed = [x for pair in zip(("-Badd", "-default_F", "-Fscale"), row[3:]) for x in pair]
            one = os.path.join(folder, "one.bin")
            script.run(*flags, *typed, "-floatfile", one, given=given)
            images.add(script.read(one))
            script.ok(f"factors-{name}-{k}", script.read(one) == script.read(os.path.join(folder, f"F_{k + 1}.bin")), f"{typed}")
        script.ok(f"factors-{name}", len(images) > 2, f"{len(images)} images differ")


def check_typed_again(folder):
    """-spectra with the -spectrumout of a shot makes the same bytes as the shot."""
    again, out = os.path.join(folder, "again.bin"), os.path.join(folder, "shot.txt")
    image = os.path.join(folder, "shot.bin")
    flags = [*CELL, *SMALL, "-seed", "4", "-lambda", "1.3", "-nonoise", "-noint", "-nopgm"]
    script.run(*flags, "-spectrum", "sase", "-bandwidth", "0.3", "-pulse_length", "5", "-wavelengths", "30",
               "-floatfile", image, "-spectrumout", out)
    factor = line(out)[0, 1]
    fluence = f"{1.2593201528622709e29 * factor:.12g}"
    script.run(*flags, "-spectra", out, "-stills", "1", "-fluence", fluence, "-output", os.path.join(folder, "again_%d.bin"))
    one = os.path.join(folder, "again_1.bin")
    os.rename(one, again)
    script.ok("typed-again", script.read(image) == script.read(again), "the images differ")


SHADED = [*CELL, *SMALL, "-detpixels", "48", "-pixel", "0.5", "-distance", "100", "-N", "3", "-mosaic", "1", "-mosaic_dom", "4",
          "-water", "0.3", "-blocks", "1e4", "-seed", "5", "-fluence", "1e26", "-nodump", "-default_F", "200"]


def image(folder, *flags):
    """Floats and the bytes of counts of an image."""
    one, two = os.path.join(folder, "one.bin"), os.path.join(folder, "two.img")
    script.run(*SHADED, *flags, "-floatfile", one, "-noisefile", two, "-noint", "-nopgm")
    return numpy.fromfile(one, numpy.float32), script.read(two)[-2 * 48 * 48:]


def mixed(factor, plain, add=0.0):
    return (factor.astype(float) * plain.astype(float) + add).astype(numpy.float32)


def check_shadow(case, folder):
    """With a shadow each float is exactly factor x float, in every renderer and -roi."""
    flags = case["flags"].split()[:2]
    factor = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64")).astype(numpy.float32)
    for more in ([], ["-isa", "scalar"], ["-precision", "double"], ["-footprint", "gauss:0.8:0.8"], ["-gauss_xtal"]):
        plain, _ = image(folder, *more)
        got, _ = image(folder, *more, *flags)
        script.ok(f"{case['id']}{''.join(more)}", (got == mixed(factor, plain)).all() and plain.min() > 0,
                  f"{numpy.abs(got - mixed(factor, plain)).max()}")
    plain, _ = image(folder, "-roi", "3", "40", "5", "44")
    got, _ = image(folder, "-roi", "3", "40", "5", "44", *flags)
    script.ok(case["id"] + "-roi", (got == mixed(factor, plain)).all())


def check_mix(folder):
    """-transmission and -add act on floats, counts, series of varying fluence, truth."""
    rng = numpy.random.default_rng(35)
    factor = rng.uniform(0, 2, 48 * 48).astype(numpy.float32)
    factor[:700] = 0
    plain, _ = image(folder)
    add = (rng.normal(size=48 * 48) * plain.mean()).astype(numpy.float32)
    names = [os.path.join(folder, n) for n in ("t.bin", "a.bin")]
    factor.tofile(names[0])
    add.tofile(names[1])
    flags = ["-transmission", names[0], "-add", names[1]]
    got, counts = image(folder, *flags, "-threads", "1")
    script.ok("mix", (got == mixed(factor, plain, add)).all() and (got < 0).any(), "floats")
    numbers = numpy.frombuffer(counts, numpy.uint16)
    script.ok("mix-negative", (numbers[got < 0] == 40).all() and (numbers[got > 50] > 40).all(), "a negative mean counts as 0")
    for more in (["-threads", "2"], ["-precision", "double"]):
        script.ok("mix-counts" + "".join(more), image(folder, *flags, *more)[1] == counts, "counts differ")
    wide, _ = image(folder, "-beamstop", "disc:1000", "-add", names[1])
    script.ok("mix-dark", (wide == add).all(), "the added light alone is left")
    script.run(*SHADED, *flags, "-stills", "3", "-vary", "fluence:uniform:1e25:1e26", "-output", os.path.join(folder, "s_%d.bin"),
               "-draws", os.path.join(folder, "d.txt"))
    script.run(*SHADED, *flags, "-stills", "3", "-vary", "fluence:uniform:1e25:1e26", "-output", os.path.join(folder, "s_%d.bin"))
    fluence = numpy.loadtxt(os.path.join(folder, "d.txt"), skiprows=1)[:, 3]
    for k in range(3):
        plain_k, _ = image(folder, "-fluence", f"{fluence[k]:.12g}")
        want = mixed(factor, plain_k, (add.astype(float) * (fluence[k] / 1e26)).astype(numpy.float32))
        frame = numpy.fromfile(os.path.join(folder, f"s_{k + 1}.bin"), numpy.float32)
        script.ok(f"mix-series-{k}", (frame == want).all(), f"{numpy.abs(frame - want).max()}")
        only, _ = image(folder, *flags, "-stills", "3", "-vary", "fluence:uniform:1e25:1e26", "-only_frame", k)
        script.ok(f"mix-only-{k}", (frame == only).all())
    check_truth(folder, flags, factor)
    if h5py and HAS_HDF5:
        name = os.path.join(folder, "m.h5")
        for how in ("none", "bslz4"):
            script.run(*SHADED, *flags, "-stills", "1", "-hdf5", name, "-compress", how)
            with h5py.File(name) as f:
                there = f["/entry/simulation/transmission"]
                made = there.id.get_create_plist()
                used = [made.get_filter(i)[0] for i in range(made.get_nfilters())]
                same = used == [2, 1] and (there[:].ravel() == factor).all()
            script.ok("mix-master-" + how, same, f"{used}")


def check_truth(folder, flags, factor):
    """Listed intensities include the factor of -transmission, not the light of -add."""
    lists = []
    for more in ([], ["-transmission", flags[1]], flags):
        path = os.path.join(folder, "spots.tsv")
        got, _ = image(folder, *more, "-truth", "spots", "-truthfile", path)
        with open(path, encoding="ascii") as f:
            lines = f.read().splitlines()
        lists.append({tuple(line.split()[:3]): float(line.split()[5]) for line in lines if line and not line.startswith(("#", "h"))})
        script.ok(f"mix-truth-{len(more)}", sum(lists[-1].values()) > 0 and got.size == factor.size)
    same = [k for k in lists[2] if k in lists[1]]
    worst = max(abs(lists[2][k] / lists[1][k] - 1) for k in same)
    script.ok("mix-truth-add", len(same) == len(lists[1]) and worst < 1e-4, f"{worst}")
    part = sum(lists[1].values()) / sum(lists[0].values())
    script.ok("mix-truth-factor", 0.4 < part < 0.95 * factor.max() / 2 + 0.5 and part != 1, f"{part}")


SWEEP = ["-cell", "30", "40", "50", "90", "100", "90", "-N", "6", "-mosaic", "0.5", "-mosaic_dom", "5", "-detpixels", "64", "-pixel", "1",
         "-distance", "60", "-phisteps", "2", "-seed", "3", "-nodump", "-fluence", "1e30", "-oversample", "1"]


def reflections(folder):
    """Writes a small list of F; returns its name."""
    name = os.path.join(folder, "small.hkl")
    rng = numpy.random.default_rng(1)
    with open(name, "w", encoding="ascii") as f:
        for h in range(-8, 9):
            for k in range(-11, 12):
                for n in range(-14, 15):
                    f.write(f"{h} {k} {n} {rng.uniform(50, 200):.4f}\n")
    return name


def sweep(folder, *flags):
    """[dose, B_added, cell_factor] by frame or None; {(frame, h, k, l): (d, photons)}."""
    name = os.path.join(folder, "sweep.h5")
    script.run(*SWEEP, *flags, "-hdf5", name, "-truth", "spots", "-truth_min", "1e-20")
    with h5py.File(name) as f:
        group = f["/entry/simulation"]
        truth = [group[n][:] for n in ("dose", "B_added", "cell_factor")] if "dose" in group else None
        table, count = group["reflections/table"][:], group["reflections/count"][:]
    keys = zip(numpy.repeat(numpy.arange(len(count)), count).tolist(), *(table[n].tolist() for n in ("h", "k", "l")))
    return truth, dict(zip(keys, zip(table["d"].tolist(), table["intensity"].tolist())))


def has_xraylib(name):
    there = "xraylib yes" in PARTS
    if not there:
        print(f"skip experiments {name} # no xraylib in this build")
    return there


def check_dose(case, folder, hkl):
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64"))
    want = want.reshape([int(n) for n in case["shape"].split("x")])
    flags = case["flags"].split()
    if case["id"] == "dose-auto" and not has_xraylib("dose-auto"):
        return
    if case["id"] == "dose-auto":
        for eV, MGy in want:
            got = sweep(folder, "-hkl", hkl, *flags[:-1], eV, "-roi", "0", "1", "0", "1")[0][0][0] * 2
            script.ok(f"dose-auto-{eV:g}", abs(got / MGy - 1) < float(case["tolerance"]), f"{got} {MGy}")
        return
    truth, damaged = sweep(folder, "-hkl", hkl, *flags)
    script.ok(case["id"], (numpy.abs(numpy.array(truth).T - want[:, 1:4]) <= 1e-12 * want.max()).all(), f"{truth}")
    plain = sweep(folder, "-hkl", hkl, *flags[:4])[1]
    halves = float(flags[flags.index("-damage_half") + 1]) if "-damage_half" in flags else numpy.inf
    n, worst = damaged_by(plain, damaged, truth[0], truth[1], halves)
    script.ok(case["id"] + "-intensities", n > 50 and worst <= 1e-5, f"{n}: {worst}")


def damaged_by(plain, damaged, dose, B, halves):
    """(number of reflections, largest error of the ratio damaged / plain intensity
    against exp(-B / (2 d^2)) 2^(-dose / (halves d)))."""
    worst, n = 0, 0
    for key, (d, intensity) in plain.items():
        if intensity < 1 or d == 0:
            continue
        ratio = numpy.exp(-B[key[0]] / (2 * d * d) - numpy.log(2) * dose[key[0]] / (halves * d))
        worst, n = max(worst, abs(damaged[key][1] / intensity / ratio - 1)), n + 1
    return n, worst


def check_sweep(folder, hkl):
    """Along a sweep the intensities and cell edges follow the dose. -dose auto gives the
    dose of photons in water."""
    frames = 60 if BIG else 4
    flags = ["-hkl", hkl, "-frames", frames, "-osc", "1"]
    each = 24 / frames  # dose of each frame in MGy
    dose = each * (numpy.arange(frames) + 0.5)
    for name, more, B, halves in (("B", ["-damage_B", "1.5"], 1.5, numpy.inf), ("half", ["-damage_half", "8"], 0, 8), ("both", ["-damage_half", "8", "-damage_B", "0.7"], 0.7, 8)):
        n, worst = damaged_by(sweep(folder, *flags)[1], sweep(folder, *flags, "-dose", each, *more)[1], dose, B * dose, halves)
        script.ok("sweep-" + name, n > 10 * frames and worst <= 1e-5, f"{n}: {worst}")
        print(f"# sweep {name}, {frames} frames: {n} reflections, {worst:.1e}")
    sweep(folder, *flags, "-dose", each, "-damage_cell", "0.3", "-roi", "0", "1", "0", "1")
    with h5py.File(os.path.join(folder, "sweep.h5")) as f:
        A, factor = f["/entry/simulation/A"][:], f["/entry/simulation/cell_factor"][:]
    edges = numpy.linalg.norm(numpy.linalg.inv(A), axis=2) / (30, 40, 50)
    off = max(numpy.abs(edges / (1 + 0.003 * dose)[:, None] - 1).max(), numpy.abs(factor / (1 + 0.003 * dose) - 1).max())
    script.ok("sweep-edges", off < 1e-9, f"{off}")
    if not has_xraylib("sweep-water"):
        return
    for keV, absorbed in ((8, 9.915), (10, 4.944), (15, 1.374), (20, 0.5503)):  # values in cm2/g, of NIST SRD 126
        got = sweep(folder, "-hkl", hkl, "-frames", "1", "-osc", "1", "-fluence", "2e21", "-dose", "auto", "-energy", keV * 1000, "-roi", "0", "1", "0", "1")[0][0][0] * 2
        want = 2e21 * keV * 1.602176634e-16 * absorbed * 0.1 / 1e6
        script.ok(f"sweep-water-{keV}", abs(got / want - 1) < 3e-3, f"{got} {want}")
        print(f"# water at {keV} keV: {got / want - 1:+.2e} of NIST's")


def floats(folder, *flags):
    name = os.path.join(folder, "floats.bin")
    script.run(*SWEEP, *flags, "-floatfile", name, "-nonoise", "-noint", "-nopgm")
    return numpy.fromfile(name, numpy.float32)


def check_damage(folder, hkl):
    """Dose 0 changes nothing; damage equals -Badd or a typed larger cell; -dose auto
    follows the fluence; -only_frame equals the frame of its sweep."""
    plain = floats(folder, "-hkl", hkl, "-osc", "1")
    still = floats(folder, "-hkl", hkl, "-osc", "1", "-dose", "0", "-damage_cell", "2", "-damage_half", "1")
    script.ok("damage-none", (plain == still).all())
    for more in ([], ["-isa", "scalar"], ["-precision", "double"], ["-gauss_xtal"]):
        damaged = floats(folder, "-hkl", hkl, "-osc", "1", "-dose", "24", *more)
        added = floats(folder, "-hkl", hkl, "-osc", "1", "-Badd", "12", *more)
        script.ok("damage-badd" + "".join(more), added.max() > 0 and (numpy.abs(damaged - added) <= 1e-7 * added.max()).all(),
                  f"{numpy.abs(damaged - added).max() / added.max()}")
    grown = floats(folder, "-hkl", hkl, "-osc", "1", "-dose", "2", "-damage_B", "0", "-damage_cell", "0.7", "-blocks", "7")
    typed = floats(folder, "-hkl", hkl, "-osc", "1", "-blocks", "7", "-cell", 30 * 1.007, 40 * 1.007, 50 * 1.007, 90, 100, 90)
    script.ok("damage-cell", (numpy.abs(grown - typed) <= 2e-5 * typed.max()).all() and numpy.abs(grown - plain).max() > 0.01 * plain.max(),
              f"{numpy.abs(grown - typed).max() / typed.max()}")
    if not has_xraylib("damage-auto"):
        return
    flags = ["-hkl", hkl, "-frames", "3", "-osc", "1", "-fluence", "1e21", "-dose", "auto", "-damage_cell", "0.1", "-vary", "fluence:uniform:1e21:2e21"]
    script.run(*SWEEP, *flags, "-output", os.path.join(folder, "d_%d.bin"), "-threads", "2")
    table = os.path.join(folder, "doses.txt")
    script.run(*SWEEP, *flags, "-draws", table)
    with open(table, encoding="ascii") as f:
        head = f.readline().split()
    drawn = numpy.loadtxt(table, skiprows=1)
    fluence, dose = drawn[:, head.index("fluence")], drawn[:, head.index("dose")]
    want = (numpy.cumsum(fluence) - fluence / 2) * dose[0] * 2 / fluence[0]
    script.ok("damage-auto", numpy.allclose(dose, want, rtol=1e-10), f"{dose} {want}")
    for k in range(3):
        only = floats(folder, *flags, "-only_frame", k)
        there = numpy.fromfile(os.path.join(folder, f"d_{k + 1}.bin"), numpy.float32)
        script.ok(f"damage-only-{k}", (only == there).all() and only.max() > 0)


# One cell with F = 1000 everywhere: all pixels are equal, but for their solid angle
EVEN = ["-default_F", "1000", "-N", "1", "-nointerpolate", "-oversample", "1", "-nopolar", "-fluence", "1e30", "-seed", "1", "-nodump"]


def even(folder, *flags):
    name = os.path.join(folder, "even.bin")
    script.run(*EVEN, *flags, "-floatfile", name, "-nonoise", "-noint", "-nopgm")
    return numpy.fromfile(name, numpy.float32).astype(float)


def check_absorb(case, folder):
    want = numpy.fromfile(os.path.join(CASES, "data", case["id"] + ".f64"))
    flags, tolerance = case["flags"].split(), float(case["tolerance"])
    if case["id"] == "absorb-box":
        scene = flags[4:]
        got = even(folder, *scene, *flags[:4]) / even(folder, *scene)
        script.ok(case["id"], numpy.abs(got / want - 1).max() <= tolerance, f"{numpy.abs(got / want - 1).max()}")
        return
    for two_theta, transmission in want.reshape(-1, 2):
        if not 0 < two_theta < 80:
            continue
        # shift of a detector of one pixel to this angle
        x = 100 * numpy.tan(numpy.radians(two_theta))
        scene = ["-cell", "50", "50", "50", "90", "90", "90", "-xds", "-detpixels", "1", "-pixel", "0.01", "-distance", "100", "-ORGX", x / 0.01, "-ORGY", "0.5"]
        got = even(folder, *scene, *flags) / even(folder, *scene)
        script.ok(f"{case['id']}-{two_theta:g}", abs(got[0] / transmission - 1) < tolerance, f"{got} {transmission}")


def check_absorbed(folder):
    """Absorption weakens the light of the crystal, not of the background; counts are
    equal in every renderer; boxes rotate with the crystal."""
    body = ["-absorb", "box:200:100:50", "-absorb_mu", "6"]
    no_water = ["-water", "0"]
    dry, _ = image(folder, *no_water)
    wet, _ = image(folder)
    dry_less, _ = image(folder, *no_water, *body)
    wet_less, counts = image(folder, *body)
    part = dry_less.astype(float) / dry
    script.ok("absorb-part", part.max() < 1 and part.min() > 0.1, f"{part.min()} {part.max()}")
    want = wet + dry.astype(float) * (part - 1)
    script.ok("absorb-background", (numpy.abs(wet_less - want) <= 1e-5 * wet.max()).all(), f"{numpy.abs(wet_less - want).max() / wet.max()}")
    script.ok("absorb-none", (image(folder, "-absorb", "sphere:100", "-absorb_mu", "0")[0] == wet).all())
    for more in (["-threads", "1"], ["-precision", "double"], ["-isa", "scalar"]):
        script.ok("absorb-counts" + "".join(more), image(folder, *body, *more)[1] == counts, "counts differ")
    turned, _ = image(folder, "-absorb", "box:100:200:50", "-absorb_mu", "6")
    script.ok("absorb-turned", (turned != wet_less).any())
    grown = [image(folder, "-absorb", "sphere:100", "-absorb_mu", mu)[0].sum(dtype=float) for mu in ("1e-6", "1", "10", "100")]
    script.ok("absorb-grows", abs(grown[0] / wet.sum(dtype=float) - 1) < 1e-5 and grown == sorted(grown, reverse=True), f"{grown}")
    cube = ["-cell", "50", "50", "50", "90", "90", "90", "-detpixels", "16", "-pixel", "8", "-absorb_mu", "6"]
    for misset, sizes in ((("90", "0", "0"), "200:50:100"), (("0", "90", "0"), "50:100:200"), (("0", "0", "90"), "100:200:50")):
        one, other = even(folder, *cube, "-absorb", "box:" + sizes), even(folder, *cube, "-absorb", "box:200:100:50", "-misset", *misset)
        as_it_was = even(folder, *cube, "-absorb", "box:200:100:50")
        off = numpy.abs(one / other - 1).max()
        script.ok("absorb-edges-" + sizes, off < 1e-5 and numpy.abs(one / as_it_was - 1).max() > 0.01, f"{off}")
    box, inner, outer = (even(folder, *cube, "-absorb", x) for x in ("box:100:100:100", "sphere:100", f"sphere:{100 * math.sqrt(3)}"))
    script.ok("absorb-cube", (outer < box).all() and (box < inner).all())
    formula = even(folder, "-cell", "50", "50", "50", "90", "90", "90", "-detpixels", "8", "-absorb", "sphere:300", "-absorb_mu", "H2O:1")
    plain = even(folder, "-cell", "50", "50", "50", "90", "90", "90", "-detpixels", "8")
    script.ok("absorb-formula", 0.8 < (formula / plain).mean() < 0.999, f"{(formula / plain).mean()}")


def main():
    os.chdir(CASES)
    with tempfile.TemporaryDirectory() as folder, open("cases.tsv", encoding="utf-8") as f:
        hkl = reflections(folder)
        for case in csv.DictReader(f, delimiter="\t"):
            if case["id"] == "automatic":
                check_number(case)
            elif case["part"] == "C":
                check_diffuse(case, folder)
            elif case["what"] == "image":
                check_image(case, folder)
            elif case["id"] == "orientations":
                check_orientations(case, folder)
            elif case["part"] == "B":
                check_draws(case, folder)
            elif case["part"] == "D":
                if h5py and HAS_HDF5:
                    check_dose(case, folder, hkl)
            elif case["part"] == "E":
                check_absorb(case, folder)
            elif case["part"] == "F":
                check_shadow(case, folder)
            else:
                check_spectrum(case, folder)
        check_factors(folder, hkl)
        check_typed_again(folder)
        check_hits(folder)
        check_vary_master(folder)
        check_mix(folder)
        check_damage(folder, hkl)
        if h5py and HAS_HDF5:
            check_sweep(folder, hkl)
        check_absorbed(folder)
    sys.exit(bool(script.FAILED))


main()
