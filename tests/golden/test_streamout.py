#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""-streamout: a separate reader finds crystals and reflections, at the places that follow
from the geometry in the stream."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpi  # noqa: E402
import script  # noqa: E402

numpy = script.need("numpy")

QUAD = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "detectors", "geom", "quad.geom")
BASE = ["-cell", "30", "40", "50", "90", "95", "90", "-default_F", "100", "-N", "20", "-gauss_xtal", "-lambda", "1.2", "-seed", "5", "-fluence", "1e26",
        "-device", "cpu", "-nodump", "-truth", "spots"]
FLAT = ["-detpixels", "100", "-pixel", "1", "-distance", "100"]
HAS_HDF5 = "hdf5 yes" in " ".join(script.run("-version")[0].lower().split())
SILENT = ["-nofloat", "-noint", "-nonoise", "-nopgm"]


def cut(text, begin, end):
    return [piece.split(end)[0] for piece in text.split(begin)[1:]]


def number(pattern, text):
    return float(re.search(pattern + r" = ([-+0-9.e]+)", text).group(1))


def vector(text):
    """Vector of a text like "+1.0x -2.0y +0.5z"."""
    return numpy.array([float(re.search(r"([-+][0-9.]+)" + axis, text).group(1)) for axis in "xyz"])


def panels_of(geometry):
    """{panel: ([min_fs, max_fs, min_ss, max_ss], corner, step along fs, along ss; m)}."""
    clen = number("clen", geometry)
    out = {}
    for name in re.findall(r"^(\w+)/res", geometry, re.M):
        at = {key: value for key, value in re.findall(rf"^{name}/(\w+) = (.*)$", geometry, re.M)}
        res = float(at["res"])
        corner = [float(at["corner_x"]) / res, float(at["corner_y"]) / res, clen + float(at["coffset"])]
        out[name] = ([int(at[k]) for k in ("min_fs", "max_fs", "min_ss", "max_ss")], numpy.array(corner), vector(at["fs"]) / res, vector(at["ss"]) / res)
    return out


def read(path):
    """(panels, images): each image is (name, event, wavelength in nm, crystals), each
    crystal (axes as columns in 1/nm, lattice type, rows of reflections)."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    assert text.startswith("CrystFEL stream format 2.3\n")
    images = []
    for chunk in cut(text, "----- Begin chunk -----\n", "----- End chunk -----\n"):
        crystals = []
        for body in cut(chunk, "--- Begin crystal\n", "--- End crystal\n"):
            axes = [re.search(rf"^{n}star = (\S+) (\S+) (\S+) nm\^-1$", body, re.M).groups() for n in "abc"]
            table = cut(body, "Reflections measured after indexing\n", "End of reflections\n")[0].splitlines()[1:]
            # split at fixed columns, as some readers do
            rows = [[int(x[:4]), int(x[4:9]), int(x[9:14]), float(x[14:25]), float(x[25:36]), float(x[36:47]), float(x[47:58]), float(x[58:65]),
                     float(x[65:72]), x[72:].strip()] for x in table]
            crystals.append((numpy.array(axes, float).T, re.search(r"lattice_type = (\S+)\n", body).group(1), rows))
            assert number("num_reflections", body) == len(rows)
        assert number("beam_bandwidth", chunk) == 1e-8 and " -0.000000 " not in chunk
        images.append((re.search("Image filename: (.*)", chunk).group(1), re.search("Event: (.*)", chunk).group(1),
                       1.2398419843320026e3 / number("photon_energy_eV", chunk), crystals))
    return panels_of(cut(text, "Begin geometry file -----\n", "----- End geometry")[0]), images


def off_by(panels, wavelength, crystals):
    """(largest distance in pixels between the place of a row and the place where the ray
    k + h a* + k b* + l c* meets the panel; number of rows)."""
    worst, n = 0, 0
    for axes, _, rows in crystals:
        for row in rows:
            (fs0, fs1, ss0, ss1), corner, fast, slow = panels[row[9]]
            assert fs0 <= row[7] <= fs1 + 1 and ss0 <= row[8] <= ss1 + 1
            k = numpy.array([0, 0, 1 / wavelength]) + axes @ row[:3]
            t = numpy.linalg.solve(numpy.array([k, -fast, -slow]).T, corner)
            worst = max(worst, numpy.hypot(t[1] - (row[7] - fs0), t[2] - (row[8] - ss0)))
            n += 1
    return worst, n


def check_image(folder):
    """The stream of an image agrees with -truth: in several lab frames, with panels, a
    spindle angle, several crystals, a twin."""
    stream, table = os.path.join(folder, "a.stream"), os.path.join(folder, "spots.tsv")
    cases = {"mosflm": [*FLAT, "-mosflm"], "xds": [*FLAT, "-xds"], "dials": [*FLAT, "-dials"], "panels": ["-geom", QUAD], "phi": [*FLAT, "-phi", 40],
             "crystals": [*FLAT, "-crystals", 2], "twin": [*FLAT, "-twin", "-h,-k,l:0.3"], "none": [*FLAT, "-crystals", 0]}
    for name, flags in cases.items():
        script.run(*BASE, *flags, "-misset", 10, 20, 30, *SILENT, "-streamout", stream, "-truthfile", table)
        panels, [(_, event, wavelength, crystals)] = read(stream)
        off, n = off_by(panels, wavelength, crystals)
        with open(table, encoding="ascii") as file:
            want = [line.rstrip("\n").split("\t") for line in file][1:]
        column = want[0].index("intensity")
        total = sum(float(row[column]) for row in want[1:])
        # the ray of off_by meets the detector near the centre of the spot, not exactly in
        # the centre
        fine = off < 0.5 and n == len(want) - 1 and abs(sum(r[3] for c in crystals for r in c[2]) - total) <= 1e-3 * (total + 1e-3)
        fine = fine and len(crystals) == {"crystals": 2, "twin": 2, "none": 0}.get(name, 1) and event == "//" and (n > 6 or name == "none")
        script.ok(f"image-{name}", fine, f"{n} of {len(want) - 1} rows, off by {off:.3g} pixels")


def check_lattices(folder):
    stream = os.path.join(folder, "a.stream")
    for cell, kind in (((40,), "cubic"), ((40, 40, 50), "tetragonal"), ((40, 50, 60), "orthorhombic"), ((40, 40, 50, 90, 90, 120), "hexagonal"),
                       ((40, 40, 40, 80, 80, 80), "rhombohedral"), ((40, 50, 60, 90, 100, 90), "monoclinic"), ((40, 50, 60, 80, 85, 95), "triclinic")):
        script.run(*BASE, "-detpixels", 8, "-cell", *cell, *SILENT, "-streamout", stream, "-truthfile", os.path.join(folder, "s.tsv"))
        script.ok(f"lattice-{kind}", [c[1] for c in read(stream)[1][0][3]] == [kind])


def check_series(folder):
    """Events of a stream number the frames. The stream, read again, makes the same
    crystals and images. Threads, -resume and processes do not change it."""
    stream, again, master = (os.path.join(folder, n) for n in ("run.stream", "again.stream", "run.h5"))
    series = [*BASE, *FLAT, "-stills", 4, "-orientations", "random", "-jitter_cell", 1, "-jitter_beam", 2, "-vary", "crystals:choice:1:2",
              "-frames_per_file", 3, "-hdf5", master, "-hdf5type", "float32", "-streamout", stream]
    texts = []
    for flags in (["-threads", 1], ["-threads", 2], ["-resume"]):
        script.run(*series, *flags)
        texts.append(script.read(stream))
        os.remove(stream)
    script.ok("series-threads", texts[0] == texts[1] == texts[2])
    if mpi.version():
        done = subprocess.run([mpi.mpirun(mpi.version()), "-n", "3", script.PROGRAM, *map(str, series), "-noprogress"], capture_output=True, text=True,
                              check=False, env={**os.environ, **mpi.ENVIRONMENT})
        script.ok("series-processes", done.returncode == 0 and script.read(stream) == texts[0], done.stderr[-200:])
    with open(stream, "wb") as file:
        file.write(texts[0])
    first = read(stream)[1]
    script.ok("series-events", [x[:2] for x in first] == [(master, f"//{k}") for k in range(4)])
    script.run(*BASE, *FLAT, "-stills", 4, "-orientations", stream, "-hdf5", os.path.join(folder, "again.h5"), "-hdf5type", "float32", "-jitter_beam", 2,
               "-streamout", again)
    second = read(again)[1]
    draws = script.run(*BASE, *FLAT, "-stills", 4, "-orientations", stream, "-vary", "N:normal:5%", "-draws", "-")[0].splitlines()[1:]
    script.ok("again-draws", [line.split()[0] for line in draws] == [str(k) for k, x in enumerate(first) for _ in x[3]], str(draws))
    alike = "maxrel=1e-6,corr=0.999999"
    frames = [subprocess.run([script.PROGRAM, "compare", f"{folder}/again.h5:{k}", f"{master}:{k}", "-threshold", alike], capture_output=True, text=True,
                             check=False) for k in range(4)]
    script.ok("again-images", all(x.returncode == 0 for x in frames), "\n".join(x.stdout for x in frames))
    axes = [[numpy.abs(c[0] - d[0]).max() / numpy.abs(c[0]).max() for c, d in zip(x[3], y[3])] for x, y in zip(first, second)]
    script.ok("again-axes", [len(x[3]) for x in first] == [len(x[3]) for x in second] and max(map(max, axes)) < 1e-6, str(axes))
    same = all([r[:3] for r in c[2]] == [r[:3] for r in d[2]] and numpy.allclose([r[3:9] for r in c[2]], [r[3:9] for r in d[2]], 2e-4, 0.011)
               for x, y in zip(first, second) for c, d in zip(x[3], y[3]))
    script.ok("again-spots", same and sum(len(c[2]) for x in first for c in x[3]) > 20)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_image(folder)
        check_lattices(folder)
        if HAS_HDF5:
            check_series(folder)
        else:
            print("skip streamout series # no HDF5 in this build")
    sys.exit(bool(script.FAILED))


main()
