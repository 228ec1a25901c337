# SPDX-License-Identifier: MIT
"""nanobragg refine on spots that a footprint or a divergence widens: the schedule finds
the width.

usage: NANOBRAGG=program python3 tests/cli/refine_wide_check.py
"""
import json
import math
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from refine_cases import GOLDEN, rotation_vector  # noqa: E402
from script import BIG, FAILED, ok, run  # noqa: E402

SCENE = ["-hkl", os.path.join(GOLDEN, "dense.hkl"), "-dump", "/dev/null", "-lambda", 1, "-distance", 60, "-detpixels", 320, "-pixel", 0.1,
         "-oversample", 1, "-mosaic_domains", 5, "-water", 0.3]
GAUSS = ["-gauss_xtal"]
CELL = ["-cell", 40, 40, 60, 90, 90, 90]
MISSET, N, MOSAIC, FLUENCE = (10, 20, 30), 24, 0.2, 5e26
FOOTPRINT = {"footprint_a": 0.4, "footprint_b": 0.15, "footprint_angle": 30}
START = ["-cell", 40.02, 40.02, 60, 90, 90, 90, "-misset", 10.1, 20, 29.9, "-N", 20, "-mosaic", 0.25, "-fluence", 4e26]
REFINE = ["-refine", "rot,cell,N,mosaic,scale,water", "-system", "tetragonal"]


def picture(folder, *more, shape=GAUSS, seed=1):
    path = os.path.join(folder, "wide.img")
    run(*SCENE, *shape, *CELL, "-misset", *MISSET, "-N", N, "-mosaic", MOSAIC, "-fluence", FLUENCE, *more, "-quiet", "-noint", "-nopgm",
        "-nofloat", "-seed", seed, "-noisefile", path)
    return path


def fit(image, folder, *more, shape=GAUSS):
    report = os.path.join(folder, "fit.json")
    run("refine", image, *SCENE, *shape, *START, *REFINE, "-quiet", "-report", report, *more, status=None)
    with open(report, encoding="utf-8") as stream:
        return json.load(stream)


def sigmas_off(result, truth):
    """{name: error / sigma} of parameters and rotations; inf without a sigma."""
    p = result["parameters"]
    off = {k: (p[k]["value"] - v) / p[k]["sigma"] if k in p and p[k]["sigma"] else math.inf for k, v in truth.items()}
    for axis, turn, sigma in zip("xyz", rotation_vector(MISSET, result["misset_deg"]), result["rotation_sigma_deg"]):
        off["rot_" + axis] = turn / sigma
    return off


CRYSTAL = {"N_a": N, "N_b": N, "N_c": N, "mosaic": MOSAIC, "fluence": FLUENCE, "cell_a": 40, "cell_c": 60}


def footprint_is_found(folder):
    image = picture(folder, "-footprint", "gauss:0.4:0.15:30")
    found, plain = fit(image, folder), fit(image, folder, "-schedule", "plain")
    off = sigmas_off(found, {**CRYSTAL, **FOOTPRINT})
    print(f"# footprint: {found['seconds']:.2f} s ({plain['seconds']:.2f} s without), {found['evaluations']} evaluations, sigmas off:",
          ", ".join(f"{k} {v:.1f}" for k, v in off.items()), found["footprint"])
    ok("a footprint is found", found["converged"] and found["footprint"]["kept"] and not found["divergence"]["kept"] and max(map(abs, off.values())) <= 3 and
       found["footprint"]["gain"] > found["footprint"]["cost"], (found["status"], off))
    typed = sigmas_off(fit(image, folder, "-schedule", "plain", "-footprint", "gauss:0.4:0.15:30"), CRYSTAL)
    ok("a fit begins with the footprint that is typed", max(map(abs, typed.values())) <= 3, typed)
    biased = sigmas_off(plain, CRYSTAL)
    ok("without it N is biased", max(abs(biased[k]) for k in ("N_a", "N_b", "N_c")) > 10 and "footprint_a" not in plain["parameters"],
       biased)


def fringes_do_not_hide_it(folder):
    """A footprint is found for a parallelepiped too, whose loss has many minima in N."""
    found = fit(picture(folder, "-footprint", "gauss:0.4:0.15:30", shape=[]), folder, shape=[])
    off = sigmas_off(found, {**CRYSTAL, **FOOTPRINT})
    ok("a footprint of a parallelepiped is found", found["converged"] and found["footprint"]["kept"] and max(map(abs, off.values())) <= 3, off)


def divergence_is_found(folder):
    """The fit finds the width of a horizontal divergence, and N does not become smaller
    to explain it."""
    image = picture(folder, "-hdivrange", 6, "-hdivsteps", 4)
    found, plain = fit(image, folder), fit(image, folder, "-schedule", "plain")
    off = sigmas_off(found, {**CRYSTAL, "hdivrange": 6})
    print(f"# divergence: {found['seconds']:.2f} s ({plain['seconds']:.2f} s without), {found['evaluations']} evaluations, sigmas off:",
          ", ".join(f"{k} {v:.1f}" for k, v in off.items()), found["divergence"], found["footprint"])
    ok("a divergence is found", found["converged"] and found["divergence"]["kept"] and not found["footprint"]["kept"] and
       "vdivrange" not in found["parameters"] and max(map(abs, off.values())) <= 3, (found["status"], off))
    biased = sigmas_off(plain, CRYSTAL)
    ok("without it the crystal is biased", max(map(abs, biased.values())) > 10 and "hdivrange" not in plain["parameters"], biased)


def plain_spots_stay_plain(folder):
    image = picture(folder)
    found, plain = fit(image, folder), fit(image, folder, "-schedule", "plain")
    ok("plain spots have no footprint and no divergence", not found["footprint"]["kept"] and not found["divergence"]["kept"] and found["parameters"] == plain["parameters"],
       found["footprint"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (divergence_is_found, footprint_is_found, plain_spots_stay_plain, *([fringes_do_not_hide_it] if BIG else [])):
            test(folder)


if __name__ == "__main__":
    main()
    sys.exit(1 if FAILED else 0)
