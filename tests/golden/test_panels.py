#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run with many panels equals runs of its single panels; its files state the panels."""
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

numpy = script.need("numpy")

SOURCE = os.path.abspath(os.environ.get("NB_SOURCE", "."))
GEOM = os.path.join(SOURCE, "golden_data", "detectors", "geom")
PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
CRYSTAL = ["-cell", "60", "70", "80", "85", "95", "100", "-default_F", "100", "-N", "6", "-misset", "10", "20", "30",
           "-fluence", "1e24", "-oversample", "1", "-device", "cpu"]
ALONE = ["-nonoise", "-noint", "-nopgm"]


def program(flags, folder, status=0):
    got = subprocess.run([PROGRAM, *flags], cwd=folder, capture_output=True, text=True)
    if got.returncode != status:
        raise SystemExit(f"not ok panels\n# {' '.join(flags)}: {got.returncode} {got.stderr}")
    return got


def has(feature):
    said = subprocess.run([PROGRAM, "-version"], capture_output=True, text=True).stdout.lower()
    return f"{feature.lower()} yes" in " ".join(said.split())


def stack(flags, folder):
    program([*flags, *ALONE, "-floatfile", "i.bin"], folder)
    return numpy.fromfile(os.path.join(folder, "i.bin"), "<f4")


def write_geom(path, panels, head="photon_energy = 12000\nclen = 0\nres = 8192\n"):
    with open(path, "w", encoding="utf-8") as out:
        out.write(head)
        row = 0
        for k, (fs, ss, corner, offset, size) in enumerate(panels):
            for key, v in (("fs", fs), ("ss", ss)):
                out.write(f"p{k}/{key} = {v[0]:+.17g}x {v[1]:+.17g}y {v[2]:+.17g}z\n")
            out.write(f"p{k}/corner_x = {corner[0]:.17g}\np{k}/corner_y = {corner[1]:.17g}\np{k}/coffset = {offset!r}\n")
            out.write(f"p{k}/min_fs = 0\np{k}/max_fs = {size[0] - 1}\np{k}/min_ss = {row}\np{k}/max_ss = {row + size[1] - 1}\n")
            row += size[1]


def random_panel(rng):
    """A tilted panel in a random direction. Half of the panels show their back."""
    q, _ = numpy.linalg.qr(numpy.array([[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]))
    towards = numpy.array([rng.gauss(0, 1) for _ in range(3)])
    towards /= numpy.linalg.norm(towards)
    f, s = q[:, 0], q[:, 1]
    if abs(numpy.dot(numpy.cross(f, s), towards)) < 0.3:
        f = numpy.cross(towards, [0, 0, 1.0])
        f /= numpy.linalg.norm(f)
        s = numpy.cross(towards, f)
    size = (rng.randint(5, 40), rng.randint(5, 30))
    corner = towards * rng.uniform(0.03, 0.2) - f * size[0] / 2 / 8192 - s * size[1] / 2 / 8192
    return f, s, (corner[0] * 8192, corner[1] * 8192), float(corner[2]), size


def check_single_runs(folder):
    rng = random.Random(20)
    write_geom(os.path.join(folder, "r.geom"), [random_panel(rng) for _ in range(20)])
    flags = [*CRYSTAL, "-polar", "0.7", "-precision", "double"]
    all_of = stack(["-geom", "r.geom", *flags], folder)
    panels = json.loads(program(["-geom", "r.geom", *flags, "-show_config"], folder).stdout)["detector"]["panels"]
    first, far, other = 0, 0.0, 0
    for panel in panels:
        f, s = panel["size"]
        place = []
        for flag, key in (("-fdet_vector", "fast"), ("-sdet_vector", "slow"), ("-odet_vector", "normal"),
                          ("-pix0_vector_mm", "origin_mm")):
            place += [flag, *(repr(x) for x in panel[key])]
        one = stack([*place, "-pixel", repr(panel["pixel_mm"][0]), "-detpixels_f", str(f), "-detpixels_s", str(s),
                     "-energy", "12000", *flags], folder)
        mine = all_of[first:first + f * s]
        first += f * s
        far = max(far, abs(one / mine - 1).max() if mine.all() else abs(one - mine).max())
        other += int((one != mine).sum())
    script.ok("20 panels in any direction are 20 single runs", first == all_of.size and far <= 1.3e-7,
              f"{far:.2e}, {other} of {first} pixels differ")


def check_cut(folder):
    f, s = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    write_geom(os.path.join(folder, "one.geom"), [(f, s, (-128, 128), 0.06, (256, 256))])
    cut = [(f, s, (-128 + 16 * i, 128 - 16 * j), 0.06, (16, 16)) for j in range(16) for i in range(16)]
    write_geom(os.path.join(folder, "cut.geom"), cut)
    for name, more in (("mixed", []), ("double", ["-precision", "double"]), ("with a background", ["-background",
                                                                                               "water:1e-6"])):
        one = stack(["-geom", "one.geom", *CRYSTAL, *more], folder).reshape(16, 16, 16, 16)
        many = stack(["-geom", "cut.geom", *CRYSTAL, *more], folder).reshape(16, 16, 16, 16)
        off = abs(many - one.transpose(0, 2, 1, 3)).max() / one.max()
        script.ok(f"256 panels are the detector that they were cut from, {name}", off <= 1e-6, f"{off:.2e}")


def check_header(folder):
    """-img restores a panel of a geometry file from an SMV header. A note reports
    geometry that the header cannot hold."""
    rng = random.Random(3)
    flags = [*CRYSTAL, "-precision", "double"]
    far = 0.0
    for more in ([], ["-xds"], ["-phi", "5", "-osc", "1", "-phisteps", "2"]):
        write_geom(os.path.join(folder, "s.geom"), [random_panel(rng)])
        program(["-geom", "s.geom", *flags, *more, "-nonoise", "-nopgm", "-scale", "1", "-floatfile", "a.bin"], folder)
        back = stack(["-img", "intimage.img", *flags], folder)
        image = numpy.fromfile(os.path.join(folder, "a.bin"), "<f4")
        far = max(far, abs(back - image).max() / image.max() if back.size == image.size else 1)
    script.ok("-img restores the panel of a geometry file", far <= 1e-6, f"{far:.2e}")
    write_geom(os.path.join(folder, "s.geom"), [((1.1, 0, 0), (0, 1, 0), (-9, -9), 0.1, (20, 30))])
    said = program(["-geom", "s.geom", *CRYSTAL, "-nonoise"], folder).stderr
    script.ok("what SMV cannot hold is said", "unequal edges of pixels; -img does not restore" in said, said)


def check_bounds(folder):
    """Pixels saturate at the largest trusted values of a geometry file; report, JSON and
    headers state these values."""
    f, s = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    for n, name in ((1, "one.geom"), (2, "two.geom")):
        write_geom(os.path.join(folder, name), [(f, s, (80 * k - 60, -50), 0.05, (80, 100)) for k in range(n)],
                   "photon_energy = 12000\nclen = 0\nres = 8192\nmax_adu = 70.5\n")
    flags = [*CRYSTAL, "-fluence", "1e28", "-seed", "1", "-report", "r.json"]
    for more in (["-geom", "one.geom", "-noisefile", "n.img"], ["-geom", "two.geom", "-stills", "1", "-hdf5", "n.h5"],
                 ["-geom", "two.geom", "-stills", "1", "-hdf5", "n.h5", "-saturation", "90"]):
        said = [x for x in program([*flags, *more], folder).stdout.splitlines() if x.startswith("clipped")]
        with open(os.path.join(folder, "r.json"), encoding="utf-8") as stream:
            cut = [x for x in json.load(stream)["clipped"] if x["file"].startswith("n.")][0]
        typed = "-saturation" in more
        why = "brighter than -saturation" if typed else "brighter than the largest trusted value of their panel"
        script.ok(f"pixels above the trusted value, {' '.join(more[1:2] + more[-2:-1])}",
                  len(said) == 1 and why in said[0] and cut["largest"] == (91 if typed else 71) and cut["pixels"] > 0,
                  f"{said} {cut}")
    write_geom(os.path.join(folder, "off.geom"), [(f, s, (900 + 80 * k, -50), 0.05, (80, 100)) for k in range(2)])
    said = program(["-geom", "off.geom", *CRYSTAL, "-fluence", "1e10"], folder).stderr
    script.ok("a beam that misses all panels is said", "the beam centre is 110 mm outside of it" in said, said)


def check_truth(folder):
    """A reflection on two panels has two rows in -truth, with pixels of each panel."""
    f, s = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    write_geom(os.path.join(folder, "two.geom"), [(f, s, (-100, 100), 0.05, (100, 200)),
                                                  (f, s, (0, 100), 0.05, (100, 200))])
    flags = ["-geom", "two.geom", *CRYSTAL, "-fluence", "1e27", "-truth", "spots", "-truthfile", "t.txt"]
    pixels = stack(flags, folder).astype(float)
    with open(os.path.join(folder, "t.txt"), encoding="utf-8") as stream:
        head, names, *rows = [line.rstrip("\n") for line in stream]
    names = names.split("\t")
    t = [dict(zip(names, map(float, row.split("\t")))) for row in rows]
    inside = all(0 <= r["fast"] <= 100 and 0 <= r["slow"] <= 200 and r["panel"] in (0, 1) for r in t)
    script.ok("-truth spots has the panel before fast", inside and names[3:5] == ["panel", "fast"], str(names))
    both = {}
    for r in t:
        both.setdefault((r["h"], r["k"], r["l"]), set()).add(r["panel"])
    script.ok("a reflection on two panels is two entries",
              any(len(x) == 2 for x in both.values()) and len({(r["h"], r["k"], r["l"], r["panel"]) for r in t}) == len(t),
              f"{len(t)} entries")
    of_panel = [sum(r["intensity"] for r in t if r["panel"] == k) for k in (0, 1)]
    halves = pixels.reshape(2, -1).sum(axis=1)
    script.ok("each panel's photons are its own", all(0.9 * b <= a <= b * (1 + 1e-6) for a, b in zip(of_panel, halves)),
              f"{of_panel} of {halves}")
    if not has("HDF5"):
        print("skip panels of -truth in HDF5 # the program was built without HDF5")
        return
    try:
        import h5py
    except ImportError:
        print("skip panels of -truth in HDF5 # python3-h5py is not installed")
        return
    program([*flags[:-4], "-truth", "spots", "-stills", "2", "-hdf5", "t.h5", "-seed", "1"], folder)
    program([*flags[:-4], "-truth", "spots", "-stills", "2", "-hdf5", "t.h5", "-seed", "1", "-resume"], folder)
    with h5py.File(os.path.join(folder, "t.h5")) as master:
        table = master["/entry/simulation/reflections/table"]
        rows = table[table["frame"] == 0]
        same = len(rows) == len(t) and all(
            r["panel"] == w["panel"] and r["h"] == w["h"] and abs(r["fast"] - w["fast"]) < 1e-5 for r, w in zip(rows, t))
        names = table.dtype.names
        units = [x.decode() if isinstance(x, bytes) else x for x in table.attrs["units"]]
    script.ok("the table of HDF5 has the same panels", same, f"{len(rows)} and {len(t)} rows")
    script.ok("panel stands before fast in HDF5", names.index("panel") + 1 == names.index("fast") and
              len(units) == len(names) and units[names.index("fast")] == "pixel", f"{names} {units}")


def check_series_files(folder):
    """-resume refuses another geometry, -mask accepts an image of all panels (a canvas),
    and -geomout keeps masked pixels next to HDF5."""
    if not has("HDF5"):
        print("skip panels of a series # the program was built without HDF5")
        return
    with open(os.path.join(GEOM, "quad.geom"), encoding="utf-8") as stream:
        text = stream.read()
    path = os.path.join(folder, "q.geom")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    run = ["-geom", "q.geom", *CRYSTAL, "-stills", "2", "-hdf5", "q.h5", "-seed", "4", "-geomout", "out.geom"]
    program(run, folder)
    program([*run, "-resume"], folder)
    with open(path, "w", encoding="utf-8") as out:
        out.write("; a comment changes nothing\n" + text)
    program([*run, "-resume"], folder)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.replace("clen =", "clen = 0.2 ;", 1))
    refused = subprocess.run([PROGRAM, *run, "-resume"], cwd=folder, capture_output=True, text=True)
    script.ok("-resume sees another geometry", refused.returncode == 2, refused.stderr)
    again = stack(["-geom", "out.geom", *CRYSTAL], folder)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    first = stack(["-geom", "q.geom", *CRYSTAL], folder)
    script.ok("-geomout beside masked HDF5 keeps the masked pixels", numpy.array_equal(again == 0, first == 0) and
              (first == 0).any(), f"{(again == 0).sum()} and {(first == 0).sum()} pixels")
    canvas = json.loads(program(["-geom", "q.geom", *CRYSTAL, "-show_config"], folder).stdout)["detector"]["panels"]
    width = max(p["data"][0] + p["size"][0] for p in canvas)
    height = max(p["data"][1] + p["size"][1] for p in canvas)
    mask = numpy.ones((height, width), "<u2")
    mask[:, :7] = 0
    header = f"{{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1={width};\nSIZE2={height};\n}}\n"
    with open(os.path.join(folder, "m.img"), "wb") as out:
        out.write(header.encode().ljust(512) + mask.tobytes())
    masked, at = stack(["-geom", "q.geom", *CRYSTAL, "-mask", "m.img"], folder), 0
    wanted = first.copy()
    for p in canvas:
        f, s = p["size"]
        block = wanted[at:at + f * s].reshape(s, f)
        block[mask[p["data"][1]:p["data"][1] + s, p["data"][0]:p["data"][0] + f] == 0] = 0
        at += f * s
    script.ok("-mask on a canvas", numpy.array_equal(masked, wanted) and not numpy.array_equal(masked, first),
              "other pixels")


def dots_of(path):
    """(size, unpacked rows before filters are undone) of a PNG, without text chunks."""
    with open(path, "rb") as stream:
        data = stream.read()
    at, packed = 8, b""
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    return data[16:24], zlib.decompress(packed)


def check_pictures(folder):
    f, s = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    write_geom(os.path.join(folder, "gap.geom"), [(f, s, (10, 50), 0.05, (40, 100)), (f, s, (-50, 50), 0.05, (50, 100))])
    flags = ["-geom", "gap.geom", *CRYSTAL, "-background", "water:1e-5"]
    program([*flags, *ALONE, "-floatfile", "g.bin", "-pngfile", "g.png", "-pngscale", "100"], folder)
    program(["view", "g.bin", "v.png", "-geom", "gap.geom", "-pngscale", "100"], folder)
    a, b = (dots_of(os.path.join(folder, name)) for name in ("g.png", "v.png"))
    script.ok("view of a stack beside its geometry is the picture of -pngfile", a == b, "other dots")
    size = tuple(int.from_bytes(a[0][i:i + 4], "big") for i in (0, 4))
    script.ok("the picture is the assembled detector", size in ((100, 100), (101, 101)), str(size))
    if has("HDF5"):
        program([*flags, "-stills", "1", "-hdf5", "g.h5", "-hdf5type", "float32", "-nonoise"], folder)
        try:
            import h5py
            with h5py.File(os.path.join(folder, "g.h5")) as master:
                said = master["/entry/simulation/background"][()]
            script.ok("the master names the background", said == b"water:1e-5", str(said))
        except ImportError:
            print("skip the background in a master # python3-h5py is not installed")
        program(["view", "g.h5", "h.png", "-pngscale", "100"], folder)
        script.ok("view of a master is the same picture", dots_of(os.path.join(folder, "h.png")) == a, "other dots")
    bytes_of = numpy.fromfile(os.path.join(folder, "g.bin"), "<f4")
    bytes_of[40 * 100 + 3 * 50 + 7] += 1
    bytes_of.tofile(os.path.join(folder, "worse.bin"))
    got = subprocess.run([PROGRAM, "compare", "worse.bin", "g.bin", "-geom", "gap.geom", "-diff", "d.png"], cwd=folder,
                         capture_output=True, text=True)
    numpy.zeros(size[0] * size[1], "<f4").tofile(os.path.join(folder, "plain.bin"))
    subprocess.run([PROGRAM, "compare", "plain.bin", "plain.bin", "-size", str(size[0]), str(size[1]), "-diff", "e.png"],
                   cwd=folder, capture_output=True)
    sheets = [dots_of(os.path.join(folder, name))[0] for name in ("d.png", "e.png")]
    script.ok("compare shows the assembled detector", sheets[0] == sheets[1], str(sheets))
    script.ok("compare names the panel of the worst pixel", "= 7 3 of panel p1" in got.stdout, got.stdout + got.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_single_runs(folder)
        check_cut(folder)
        check_header(folder)
        check_bounds(folder)
        check_truth(folder)
        check_series_files(folder)
        check_pictures(folder)


main()
sys.exit(1 if script.FAILED else 0)
