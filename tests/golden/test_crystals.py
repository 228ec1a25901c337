#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several crystals in an image: their reflections and limits add, lists, streams and blocks; test_random_crystals.py adds images."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpi  # noqa: E402
import script  # noqa: E402

numpy = script.need("numpy")

HKL = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "experiments", "hkl")
BASE = ["-cell", "30", "40", "50", "-default_F", "100", "-N", "6", "-detpixels", "48", "-pixel", "2.2", "-distance", "100", "-seed", "5",
        "-fluence", "1e28", "-oversample", "2", "-device", "cpu", "-nodump"]
SILENT = ["-noint", "-nonoise", "-nopgm"]
LINES = [{"N": 5}, {"misset": [10, 20, 30], "default_F": 70, "mosaic": 0.1, "mosaic_dom": 2}, {"misset": [50, -20, 3], "cell": [35, 45, 40]}]


def image(folder, *flags):
    name = os.path.join(folder, "image.bin")
    script.run(*BASE, *flags, *SILENT, "-floatfile", name)
    return numpy.fromfile(name, "f4").astype(float)


def words(line):
    """Flags of a crystal, from its line of -crystals."""
    out = []
    for name, value in line.items():
        out += ["-" + name, *(value if isinstance(value, list) else [value])]
    return out


def check_box(folder):
    """If F is interpolated, the range of the list of F limits the image. -Fscale, -Badd
    and other crystals do not change this range."""
    tri = ["-hkl", os.path.join(HKL, "tri.hkl"), "-N", "2", "-distance", "50", "-default_F", "0"]
    cells = [[24, 30, 45, 80, 100, 95], [20, 33, 36, 80, 100, 95]]
    plain, scaled, added = (image(folder, *tri, "-cell", *cells[0], *more) for more in ([], ["-Fscale", 2], ["-Badd", 1e-9]))
    script.ok("box-scale", (scaled == 4 * plain).all() and numpy.abs(added - plain).max() <= 1e-6 * plain.max(), f"{numpy.abs(scaled / 4 - plain).max() / plain.max():.3g}")
    lines = [{"cell": cell, "Fscale": 2 + i, "misset": [10 * i, 20, 30]} for i, cell in enumerate(cells)]
    both, alone = image(folder, *tri, "-crystals", json.dumps(lines)), [image(folder, *tri, *words(line)) for line in lines]
    script.ok("box-cells", numpy.abs(both - sum(alone)).max() <= 1e-6 * both.max(), f"{numpy.abs(both - sum(alone)).max() / both.max():.3g}")


def lacking(folder, *flags):
    """Reported limits of the missing light (photons; fraction of the brightest pixel),
    and the report's text on the renderer."""
    name = os.path.join(folder, "report.json")
    script.run(*BASE, "-gauss_xtal", "-N", 20, "-nointerpolate", "-mosaic", 0.5, "-mosaic_dom", 8, "-spectrum", "gauss", "-bandwidth", 1,
               "-wavelengths", 20, *flags, *SILENT, "-nofloat", "-report", name)
    with open(name, encoding="utf-8") as f:
        said = json.load(f)
    return said.get("photons_lacking", 0), said.get("tolerance_reached", 0), said["renderer"]


def check_lack(folder):
    """The reported limits of missing light add up over crystals. Absorption, background
    and a list of reflections do not change the limit."""
    lines = [{"default_F": 0, "hkl": os.path.join(HKL, "tet.hkl"), "cell": [32, 32, 40], "misset": [10 * i, 20, 30]} for i in range(3)]
    one = [lacking(folder, *words(line), "-tolerance_photons", 1) for line in lines]
    both, part, how = lacking(folder, "-crystals", json.dumps(lines), "-tolerance_photons", 3)
    script.ok("lack-adds", min(x for x, _, _ in one) > 0 and abs(both / sum(x for x, _, _ in one) - 1) < 1e-9, f"{both} {one}")
    least = max(x / y for x, y, _ in one)
    script.ok("lack-part", abs(part / (both / least) - 1) < 1e-9 and f"together by {part:.2g}" in how, f"{part} {how}")
    reached = [lacking(folder, "-crystals", json.dumps(lines), "-tolerance", 10.0 ** -i)[1] / 10.0 ** -i for i in range(2, 6)]
    script.ok("lack-asked", max(reached) <= 1 and min(reached) > 0.35, f"{reached}")
    for name, more in (("absorbing", ["-absorb", "sphere:100", "-absorb_mu", 1, "-water", 1]), ("listed", ["-truth", "spots", "-truthfile", os.path.join(folder, "l.tsv")])):
        got = lacking(folder, *words(lines[0]), "-tolerance_photons", 1, *more)
        script.ok("lack-" + name, got == one[0], f"{got} {one[0]}")


def spots(folder, *flags):
    name = os.path.join(folder, "spots.tsv")
    script.run(*BASE, "-gauss_xtal", *flags, *SILENT, "-nofloat", "-truth", "spots", "-truthfile", name)
    with open(name, encoding="ascii") as f:
        next(f)
        head = next(f).split()
        return head, numpy.array([line.split() for line in f], float)


def check_spots(folder):
    head, both = spots(folder, "-crystals", json.dumps(LINES))
    script.ok("spots-head", head[:3] == ["crystal", "twin", "h"], f"{head}")
    for i, line in enumerate(LINES):
        _, alone = spots(folder, *words(line))
        mine = both[both[:, 0] == i][:, 2:]
        at = 5  # column of the intensity, after h k l fast slow
        good = mine.shape == alone.shape and (mine[:, :3] == alone[:, :3]).all()
        script.ok(f"spots-{i}", good and numpy.abs(mine[:, at] - alone[:, at]).max() <= 1e-6 * alone[:, at].max())
        script.ok(f"spots-sigma-{i}", good and numpy.allclose(mine[:, -1], alone[:, -1], 1e-5, 0))


def check_twin(folder):
    """A twin described by its other part, with a law that changes nothing, with the
    fraction 0, and on one lattice."""
    mono = ["-hkl", os.path.join(HKL, "tet.hkl"), "-cell", 30, 40, 50, 90, 95, 90, "-mosaic", "0.2", "-mosaic_dom", "3"]
    name, law = os.path.join(folder, "A.mat"), "h+1/2l,-k,-l"
    alone = image(folder, *mono)
    script.ok("twin-none", (image(folder, *mono, "-twin", law + ":0") == alone).all() and (image(folder, *mono, "-twin", "h,k,l:0.4") == alone).all())
    both = image(folder, *mono, "-twin", law + ":0.3")
    # the lattice of the other part: Q A, Q the orthogonal factor of A T A^-1
    A = reciprocal(30, 40, 50, 95)
    T = numpy.array([[1, 0, 0.5], [0, -1, 0], [0, 0, -1]])
    u, _, v = numpy.linalg.svd(A @ T @ numpy.linalg.inv(A))
    with open(name, "w", encoding="ascii") as f:
        f.write("\n".join(" ".join(f"{x:.17g}" for x in row) for row in u @ v @ A) + "\n")
    other = image(folder, *mono[:2], "-mat", name, "-cell", 30, 40, 50, 90, 95, 90, "-mosaic", "0.2", "-mosaic_dom", "3", "-twin", law + ":0.7")
    off = numpy.abs(both - other).max() / both.max()
    script.ok("twin-other-side", off <= 1e-6, f"{off:.3g}")
    single = image(folder, *mono[:2], "-mat", name, "-cell", 30, 40, 50, 90, 95, 90, "-mosaic", "0.2", "-mosaic_dom", "3")
    off = numpy.abs(both - 0.7 * alone - 0.3 * single).max() / both.max()
    script.ok("twin-parts", off <= 1e-6, f"{off:.3g}")
    head, rows = spots(folder, *mono[:2], "-cell", "32", "32", "40", "-twin", "k,h,-l:0.3")
    ours = [rows[rows[:, 1] == i][:, 7].sum() for i in (0, 1)]
    script.ok("twin-spots", head[1] == "twin" and 0.2 < ours[1] / sum(ours) < 0.4, f"{ours}")
    check_table(folder, name)
    wet = image(folder, *mono, "-water", "1", "-twin", law + ":0.3")
    off = numpy.abs(wet - image(folder, *mono, "-water", "1", "-crystals", "0") - both).max() / wet.max()
    script.ok("twin-water", off <= 1e-6, f"{off:.3g}")


def check_table(folder, name):
    """If both parts of a twin have one lattice (then one table of F renders both), the
    image is the sum of two crystals, for each shape."""
    A = numpy.diag([1 / 32, 1 / 32, 1 / 40])
    for law, T in (("k,h,-l", [[0, 1, 0], [1, 0, 0], [0, 0, -1]]), ("-h,-k,-l", -numpy.eye(3))):
        with open(name, "w", encoding="ascii") as f:
            f.write("\n".join(" ".join(f"{x:.17g}" for x in row) for row in A @ T) + "\n")
        for shape in ("-square_xtal", "-round_xtal", "-gauss_xtal", "-tophat_spots"):
            flags = ["-hkl", os.path.join(HKL, "tet.hkl"), "-cell", 32, 32, 40, shape, "-default_F", 7, "-nointerpolate", "-mosaic", "0.2", "-mosaic_dom", "3"]
            both, other = image(folder, *flags, "-twin", law + ":0.3"), image(folder, *flags, "-mat", name)
            off = numpy.abs(both - 0.7 * image(folder, *flags) - 0.3 * other).max() / both.max()
            script.ok(f"twin-table{shape}", off <= 1e-6, f"{off:.3g} {law}")
        script.ok("twin-table-differs", numpy.abs(other - both).max() > 0.01 * both.max() or law != "k,h,-l")


def reciprocal(a, b, c, beta):
    """Columns a*, b*, c* of a monoclinic cell as in the program: a* along x, b* in the
    plane of x and y."""
    s, co = numpy.sin(numpy.radians(beta)), numpy.cos(numpy.radians(beta))
    return numpy.array([[1 / (a * s), 0, -co / (c * s)], [0, 1 / b, 0], [0, 0, 1 / c]])


def check_jobs(folder):
    """A line of -jobs may have a list of crystals. -orientations has a line for each
    crystal of each frame."""
    jobs, turned = os.path.join(folder, "jobs.jsonl"), os.path.join(folder, "turned.txt")
    with open(jobs, "w", encoding="ascii") as f:
        f.write(json.dumps({"crystals": LINES}) + "\n" + json.dumps({"crystals": 0}) + "\n" + json.dumps({"N": 4}) + "\n")
    script.run(*BASE, "-jobs", jobs, "-output", os.path.join(folder, "j_%d.bin"))
    frame = [numpy.fromfile(os.path.join(folder, f"j_{k}.bin"), "f4") for k in (1, 2, 3)]
    script.ok("jobs", (frame[0] == image(folder, "-crystals", json.dumps(LINES))).all() and not frame[1].any()
              and (frame[2] == image(folder, "-N", 4)).all())
    with open(turned, "w", encoding="ascii") as f:
        f.write("10 20 30\n50 -20 3\n1 2 3\n4 5 6\n")
    script.run(*BASE, "-stills", "2", "-crystals", "2", "-orientations", turned, "-output", os.path.join(folder, "o_%d.bin"))
    want = image(folder, "-misset", 1, 2, 3) + image(folder, "-misset", 4, 5, 6)
    script.ok("orientations", numpy.abs(numpy.fromfile(os.path.join(folder, "o_2.bin"), "f4") - want).max() <= 1e-6 * want.max())


def check_stream(folder):
    """-orientations reads orientations, cells and numbers of crystals of a CrystFEL
    stream. z of the stream's frame is along the beam, y is up."""
    name = os.path.join(folder, "run.stream")
    A = reciprocal(30, 40, 50, 95)
    # mosflm's lab frame has x along the beam and y up: x, y, z of the stream are -z, y, x
    # of mosflm's frame
    def crystal(U):
        axes = (U @ A)[[2, 1, 0]] * [[-10], [10], [10]]
        return "--- Begin crystal\n" + "".join(f"{n}star = {' '.join(f'{x:+.12f}' for x in axes[:, i])} nm^-1\n" for i, n in enumerate("abc")) + "--- End crystal\n"

    def about(axis, deg):
        c, s = numpy.cos(numpy.radians(deg)), numpy.sin(numpy.radians(deg))
        m = numpy.roll(numpy.roll(numpy.array([[1, 0, 0], [0, c, -s], [0, s, c]]), axis, 0), axis, 1)
        return m

    def turn(x, y, z):
        return about(2, z) @ about(1, y) @ about(0, x)

    chunks = [[], [turn(10, 20, 30)], [turn(1, 2, 3), turn(50, -20, 3)]]
    with open(name, "w", encoding="ascii") as f:
        f.write("CrystFEL stream format 2.3\n")
        for k, all_of in enumerate(chunks):
            f.write(f"----- Begin chunk -----\nImage filename: run.h5\nEvent: //{k}\n" + "".join(map(crystal, all_of)) + "----- End chunk -----\n")
    script.run(*BASE, "-stills", 2, "-orientations", name, "-output", os.path.join(folder, "c_%d.bin"))
    cell = ["-cell", 30, 40, 50, 90, 95, 90]
    want = [image(folder, *cell, "-misset", 10, 20, 30), image(folder, *cell, "-misset", 1, 2, 3) + image(folder, *cell, "-misset", 50, -20, 3)]
    for k in (0, 1):
        got = numpy.fromfile(os.path.join(folder, f"c_{k + 1}.bin"), "f4")
        off = numpy.abs(got - want[k]).max() / want[k].max()
        script.ok(f"stream-{k}", off <= 1e-5, f"{off:.3g}")
    script.run(*BASE, "-stills", 3, "-orientations", name, "-output", os.path.join(folder, "c_%d.bin"), status=2)


def check_blocks(folder):
    """-mosaic_blocks gives the weighted mean of rotated crystals; the blocks rotate with
    the crystal."""
    name = os.path.join(folder, "blocks.txt")

    def blocks(text, *flags):
        with open(name, "w", encoding="ascii") as f:
            f.write(text)
        return image(folder, *flags, "-mosaic_blocks", name)

    script.ok("blocks-one", (blocks("0 0 0\n") == image(folder)).all())
    want = (image(folder) + 2 * image(folder, "-misset", 5, 0, 0) + image(folder, "-misset", 0, 3, 0)) / 4
    off = numpy.abs(blocks("# vector and weight\n0 0 0 1\n5 0 0 2\n0, 3, 0, 1\n") - want).max() / want.max()
    script.ok("blocks-weights", off <= 1e-6, f"{off:.3g}")
    a = numpy.radians(5)
    matrix = f"1 0 0 0 {numpy.cos(a):.17g} {-numpy.sin(a):.17g} 0 {numpy.sin(a):.17g} {numpy.cos(a):.17g}\n"
    two = (blocks(matrix, "-misset", 10, 20, 30), blocks("5 0 0\n", "-misset", 10, 20, 30))
    # the crystal turns by 5 degrees about a*, before the misset
    turned = image(folder, "-misset", 10, 20, 30, "-vary", "rot_x:choice:0")
    script.ok("blocks-matrix", numpy.abs(two[0] - two[1]).max() <= 1e-6 * two[1].max() and (two[0] != turned).any())


def check_sum(folder):
    """-sumfile is the sum of the written frames of a series, for any number of threads
    and processes."""
    series = ["-stills", "5", "-orientations", "random", "-crystals", "2", "-fluence", "1e26"]
    name, frame = os.path.join(folder, "sum.bin"), os.path.join(folder, "frame_%d.")
    seen = []
    for threads in (1, 2):
        script.run(*BASE, *series, "-threads", threads, "-output", frame + "bin", "-sumfile", name)
        seen.append(script.read(name))
    frames = [numpy.fromfile(frame % k + "bin", "f4").astype(float) for k in range(1, 6)]
    got = numpy.frombuffer(seen[0])
    script.ok("sum-photons", seen[0] == seen[1] and numpy.abs(got - sum(frames)).max() <= 1e-14 * got.max())
    script.run(*BASE, *series, "-output", frame + "img", "-sumfile", name, "-adc", "3")
    frames = [numpy.frombuffer(script.read(frame % k + "img")[-4608:], "u2") for k in range(1, 6)]
    script.ok("sum-counts", (numpy.fromfile(name) == sum(x.astype(float) for x in frames)).all())
    script.run(*BASE, "-sumfile", name, status=2)
    if mpi.version():
        alone = script.read(name)
        done = subprocess.run([mpi.mpirun(mpi.version()), "-n", "3", script.PROGRAM, *map(str, [*BASE, *series]), "-output", frame + "img",
                               "-sumfile", name, "-adc", "3", "-noprogress"], capture_output=True, text=True, check=False, env={**os.environ, **mpi.ENVIRONMENT})
        script.ok("sum-processes", done.returncode == 0 and script.read(name) == alone, done.stderr[-200:])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_box(folder)
        check_lack(folder)
        check_spots(folder)
        check_twin(folder)
        check_jobs(folder)
        check_stream(folder)
        check_blocks(folder)
        check_sum(folder)
    sys.exit(bool(script.FAILED))


main()
