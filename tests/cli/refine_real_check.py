# SPDX-License-Identifier: MIT
"""nanobragg refine on a measured still of thaumatin, with structure factors of a model
from molecular replacement, whose atoms were not refined.

NB_BIG=1: also other structure factors, nearer starts, and a start that is too far off.
usage: NANOBRAGG=program python3 tests/cli/refine_real_check.py
"""
import gzip
import json
import math
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from refine_cases import GOLDEN, rotation_vector  # noqa: E402
from script import BIG, FAILED, need, ok, read, run  # noqa: E402

numpy = need("numpy")

REAL = os.path.join(GOLDEN, "real", "thaumatin_still")
FLAGS = ["-expt", os.path.join(REAL, "0003_crop.expt"), "-detpixels", "1200", "-gauss_xtal", "-mosaic_model", "gauss", "-oversample", "1", "-thicksteps",
         "1", "-blocks", "1000", "-system", "tetragonal", "-fit_dmin", "3.6", "-fit_dmax", "30", "-N", "13", "-mosaic", "0.15",
         "-mosaic_dom", "20" if BIG else "10", "-fluence", "5e26", "-refine", "rot,cell,N,mosaic,scale"]
ICE = [[418, 1113]]  # pixel of a spot of ice, at 3.66 A
# beam centre in pixels of the crop, distance in mm, pixel size in mm, wavelength in A
BEAM, DISTANCE, PIXEL, WAVELENGTH = (596.2, 597.6), 345.98, 0.172, 0.96859
HOT = {(300, 400): 500000, (700, 900): 60000, (701, 900): 30000, (900, 300): 2000}
SIDE = 1200


def unpack(folder):
    """Unpacks image and model, so that builds without zlib can read them."""
    for name in ("thau_3_2_0003_crop.cbf", "thaumatin_P41212_MR.pdb"):
        with gzip.open(os.path.join(REAL, name + ".gz")) as packed, open(os.path.join(folder, name), "wb") as out:
            shutil.copyfileobj(packed, out)
    return (os.path.join(folder, name) for name in ("thau_3_2_0003_crop.cbf", "thaumatin_P41212_MR.pdb"))


def counts_of(cbf):
    """Counts of a CBF image in the compression x-CBF_BYTE_OFFSET, as rows."""
    data = read(cbf)
    at, pieces, n = data.index(b"\x0c\x1a\x04\xd5") + 4, [], 0
    while n < SIDE * SIDE:
        end = min(data.find(b"\x80", at) % len(data), at + SIDE * SIDE - n)
        pieces.append(numpy.frombuffer(data, "i1", end - at, at).astype("i8"))
        n, at = n + end - at, end
        if n < SIDE * SIDE:
            wide = data[at + 1:at + 3] == b"\x00\x80"
            pieces.append(numpy.frombuffer(data, "<i4" if wide else "<i2", 1, at + (3 if wide else 1)).astype("i8"))
            n, at = n + 1, at + (7 if wide else 3)
    return numpy.cumsum(numpy.concatenate(pieces)).reshape(SIDE, SIDE)


def spoil(cbf, path):
    """Writes the image with hot pixels, a shadow, and a ring at 4.5 A."""
    counts = counts_of(cbf)
    slow, fast = numpy.mgrid[:SIDE, :SIDE]
    radius = numpy.hypot(fast + 0.5 - BEAM[0], slow + 0.5 - BEAM[1]) * PIXEL
    d = WAVELENGTH / (2 * numpy.sin(numpy.arctan(radius / DISTANCE) / 2))
    counts[(counts > 0) & (4.48 < d) & (d < 4.52)] *= 2
    shadow = (counts > 0) & (400 <= fast) & (fast < 480) & (800 <= slow) & (slow < 848)
    counts[shadow] = fast[shadow] % 2
    for (at_fast, at_slow), value in HOT.items():
        counts[at_slow, at_fast] = value
    return write(cbf, counts.ravel(), path)


def write(cbf, counts, path):
    """Writes counts with the header of `cbf`, in the compression x-CBF_BYTE_OFFSET."""
    steps, packed, last = numpy.diff(counts, prepend=0), bytearray(), 0
    for at in [*numpy.flatnonzero(abs(steps) > 127), len(steps)]:
        packed += steps[last:at].astype("i1").tobytes()
        last = at + 1
        if at < len(steps):
            size = 2 if abs(steps[at]) <= 32767 else 4
            packed += (b"\x80", b"\x80\x00\x80")[size // 4] + int(steps[at]).to_bytes(size, "little", signed=True)
    head = read(cbf).split(b"\x0c\x1a\x04\xd5")[0]
    lines = [b"X-Binary-Size: %d" % len(packed) if line.startswith(b"X-Binary-Size:") else line
             for line in head.split(b"\r\n") if not line.startswith(b"Content-MD5")]
    with open(path, "wb") as out:
        out.write(b"\r\n".join(lines) + b"\x0c\x1a\x04\xd5" + packed + b"\r\n--CIF-BINARY-FORMAT-SECTION----\r\n;\r\n")
    return path


def fit(picture, model, folder, *more, status=0):
    report = os.path.join(folder, "fit.json")
    run("refine", picture, *FLAGS, "-pdb", model, "-report", report, "-quiet", *more, status=status)
    with open(report, encoding="utf-8") as stream:
        return json.load(stream)


def shadow_and_ring(found):
    box, rings = found.get("shadow_box", [0] * 4), found["rings_A"]
    ok("a shadow is found", max(abs(a - b) for a, b in zip(box, (400, 800, 479, 847))) <= 8 and
       80 * 48 <= found["shadow"] <= 96 * 64, found)
    ok("a ring is found", len(rings) == 1 and 4.42 < rings[0][0] <= 4.48 and 4.52 <= rings[0][1] < 4.58, found)


def without_atoms(model, path):
    """Writes three of four atoms of the model, which gives other structure factors."""
    n = 0
    with open(model, encoding="ascii") as lines, open(path, "w", encoding="ascii") as out:
        for line in lines:
            n += line.startswith("ATOM")
            if not (line.startswith("ATOM") and n % 4 == 0):
                out.write(line)
    return path


def numbers_of(result, sigma):
    """{name: (value, sigma)}; `sigma` is the key of the sigma in the report."""
    out = {name: (p["value"], p[sigma]) for name, p in result["parameters"].items()}
    for axis, value, width in zip("xyz", result["misset_deg"], result["rotation_" + sigma + "_deg"]):
        out["misset_" + axis] = value, width
    return out


def agree_with_other_factors(found, other):
    far = {}
    for sigma in ("sigma", "sigma_counting"):
        a, b = numbers_of(found, sigma), numbers_of(other, sigma)
        far[sigma] = max(abs(a[k][0] - b[k][0]) / math.hypot(a[k][1], b[k][1]) for k in a)
    print(f"# two sets of F: {far['sigma']:.2f} sigma apart at most, {far['sigma_counting']:.0f} of counting alone")
    ok("two sets of F agree within 3 sigma", other["converged"] and far["sigma"] <= 3 < far["sigma_counting"], far)


def sigmas_apart(a, b):
    turn = rotation_vector(a["misset_deg"], b["misset_deg"])
    return max(abs(t) / s for t, s in zip(turn, a["rotation_sigma_deg"]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        picture, model = unpack(folder)
        spoilt = spoil(picture, os.path.join(folder, "spoilt.cbf"))
        found = fit(spoilt, model, folder)
        off = math.hypot(*rotation_vector((0, 0, 0), found["misset_deg"]))
        ok("thaumatin from the orientation of DIALS", found["converged"] and off <= 0.15 and
           [stage for stage in found["stages"] if stage["name"] == "orientations"] == [] and found["start_agreement"] > 0.5,
           (found["status"], off))
        ok("hot pixels are found", sorted(map(tuple, found["masked"]["hot_pixels"])) == sorted(HOT), found["masked"])
        ok("a spot of ice is found", found["masked"]["foreign_spots"] == ICE, found["masked"])
        ok("thaumatin: model and picture", found["deviance_per_pixel"] < 8 and found["picture_correlation"] >= 0.85 and
           found["divergence"]["kept"] and found["given_F_deviance_per_pixel"] > 15, (found["deviance_per_pixel"], found["picture_correlation"]))
        print(f"# {off:.4f} deg from DIALS, correlation {found['picture_correlation']:.3f}, deviance per pixel "
              f"{found['deviance_per_pixel']:.2f}; with F of the model {found['given_F_correlation']:.3f} and "
              f"{found['given_F_deviance_per_pixel']:.2f}; {found['seconds']:.2f} s")
        shadow_and_ring(found["masked"])
        if BIG:
            agree_with_other_factors(found, fit(spoilt, without_atoms(model, os.path.join(folder, "part.pdb")), folder))
        for misset in ((0.6, -0.5, 0.6), (1.8, -1.5, 1.8), (3, -3, 3))[0 if BIG else 2:]:
            other = fit(picture, model, folder, "-misset", *misset, "-schedule", "plain")  # this schedule is quicker and gives the same result
            apart = sigmas_apart(found, other)
            ok(f"thaumatin from {math.hypot(*misset):.1f} deg off", other["converged"] and apart <= 1, (other["status"], apart))
        if not BIG:
            return
        lost = fit(picture, model, folder, "-misset", 20, -20, 20, "-fit_dmin", 5, "-maxiter", 5, status=3)
        ok("thaumatin from 36 deg off", "the orientation was not found" in lost["status"], lost["status"])


if __name__ == "__main__":
    main()
    sys.exit(1 if FAILED else 0)
