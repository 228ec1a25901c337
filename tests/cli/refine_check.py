# SPDX-License-Identifier: MIT
"""nanobragg refine: right starts end at the truth, bad ones are refused, and a lost fit says so.

With NB_BIG=1 every row of docs/refine.md over three stills, and the errors of 200 stills (NB_STILLS: another
number).
usage: NANOBRAGG=program python3 tests/cli/refine_check.py [ROW SEED...]
"""
import array
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from refine_cases import ROWS, flags, rotation_vector  # noqa: E402
from script import FAILED, PROGRAM, ok, run  # noqa: E402

BIG = os.environ.get("NB_BIG")
QUIET = ["-quiet", "-noint", "-nopgm"]
EDGES, ANGLES = ("a", "b", "c"), ("al", "be", "ga")


def draw(case, folder, seed):
    """The picture of a still with noise."""
    path = os.path.join(folder, "still.img")
    extra = []
    if "-gauss_xtal" in case.refine:
        extra = ["-gauss_xtal"]
    run(*flags(case.common), *flags(case.truth), *extra, *QUIET, "-nonoise", "-floatfile",
        os.path.join(folder, "still.bin"))
    if extra:
        return with_readout(case, folder, seed)
    run(*flags(case.common), *flags(case.truth), *QUIET, "-nofloat", "-seed", seed, "-noisefile", path)
    return path


def with_readout(case, folder, seed):
    """Counts on a smooth background with gain 4 and read-out noise 6 ADU, as floats."""
    chance = random.Random(seed + 1)
    side = case.common["detpixels"]
    photons = array.array("f")
    with open(os.path.join(folder, "still.bin"), "rb") as stream:
        photons.frombytes(stream.read())
    for i in range(len(photons)):
        x, y = i % side - side / 2, i // side - side / 2
        mean = photons[i] + 20 * math.exp(-(x * x + y * y) / (2 * (0.4 * side) ** 2)) + 3
        photons[i] = 4 * poisson(chance, mean) + chance.gauss(0, 6) + 40
    path = os.path.join(folder, "readout.bin")
    with open(path, "wb") as stream:
        photons.tofile(stream)
    return path


def poisson(chance, mean):
    if mean > 60:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    limit, n, p = math.exp(-mean), 0, chance.random()
    while p > limit:
        n += 1
        p *= chance.random()
    return n


def fit(case, picture, folder, *more, status=0):
    report = os.path.join(folder, "report.json")
    run("refine", picture, *flags(case.common), *flags(case.start), *case.refine, "-quiet", "-report",
        report, *more, status=status)
    with open(report, encoding="utf-8") as stream:
        return json.load(stream)


def errors_of(case, result):
    """Name: (error, its sigma, which limit)."""
    out = {}
    p = result["parameters"]
    for i, name in enumerate(EDGES):
        q = p.get("cell_" + name)
        if q:
            true = case.truth["cell"][i]
            out["cell_" + name] = (100 * (q["value"] / true - 1), 100 * q["sigma"] / true, "cell")
    for i, name in enumerate(ANGLES):
        q = p.get("cell_" + name)
        if q:
            out["cell_" + name] = (q["value"] - case.truth["cell"][3 + i], q["sigma"], "angle")
    for name in EDGES:
        q = p.get("N_" + name)
        if q:
            out["N_" + name] = (q["value"] - case.truth["N" + name], q["sigma"], "N")
    for name, limit in (("distance", "distance"), ("Xbeam", "beam"), ("Ybeam", "beam")):
        q = p.get(name)
        if q:
            out[name] = (q["value"] - case.truth[name], q["sigma"], limit)
    turn = rotation_vector(case.truth["misset"], result["misset_deg"])
    for i, axis in enumerate("xyz"):
        out["rot_" + axis] = (turn[i], result["rotation_sigma_deg"][i], "misset")
    return out


def one_still(row, seed, name=None):
    case = ROWS[row](seed)
    with tempfile.TemporaryDirectory() as folder:
        picture = draw(case, folder, seed)
        try:
            result = fit(case, picture, folder)
        except AssertionError as wrong:
            ok(name or f"{row} {seed}", False, str(wrong))
            return None
    found = errors_of(case, result)
    wrong = [f"{key} is off by {error:.3g}, sigma {sigma:.2g}, limit {case.limits[limit]}"
             for key, (error, sigma, limit) in found.items()
             if abs(error) > max(case.limits[limit], 4 * sigma)]
    worst = {limit: max(abs(e) for e, _, other in found.values() if other == limit)
             for limit in case.limits}
    print(f"# {row} {seed}: " + ", ".join(f"{k} {v:.2g} ({case.limits[k]})" for k, v in worst.items()) +
          f"; {result['evaluations']} evaluations, {result['images']} images, {result['seconds']:.2f} s, "
          f"correlation {result['picture_correlation']:.4f}")
    ok(name or f"{row} {seed}", result["converged"] and not wrong, "; ".join(wrong))
    return found


def main():
    if len(sys.argv) > 2:
        for seed in sys.argv[2:]:
            one_still(sys.argv[1], int(seed))
        return
    one_still("still", 101)


if __name__ == "__main__":
    main()
    sys.exit(1 if FAILED else 0)
