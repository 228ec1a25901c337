# SPDX-License-Identifier: MIT
"""Values changed in place by set_parameters, and data kept from the last image (shadow,
absorption, tables, light), give the same bytes as a fresh object with keywords for the
values. test_sequences.py mixes set() with all other calls."""
import numpy as np
import pytest

import nanobragg as nb

BASE = {"cell": (70, 80, 90, 75, 85, 95), "N": 6, "default_F": 100, "detpixels": 24, "pixel": 2, "distance": 100, "lambda": 1,
        "misset": (10, 20, 30), "oversample": 2, "mosaic": 0.5, "mosaic_domains": 4, "phi": 3, "osc": 0.2, "phisteps": 2,
        "fluence": 1e28, "seed": 7, "threads": 1, "device": "cpu"}
CALC = {"hkl": (np.array([(h, k, l) for h in range(-9, 10) for k in range(-9, 10) for l in range(-9, 10)]),
                np.random.default_rng(1).uniform(1, 100, 19 ** 3))}


def one(keyword):
    return lambda value: {keyword: value}


def part(keyword, i, values):
    """Function from a value to {keyword: values with this value at place i}."""
    return lambda value: {keyword: (*values[:i], value, *values[i + 1:])}


# VALUES: (parameter, more keywords, two values, function from a value to keywords).
MISSET, CELL = BASE["misset"], BASE["cell"]
# MATRIX: no typed wavelength; that of the matrix is not the mean wavelength of sources.
MATRIX = {"matrix": np.diag((0.014, 0.012, 0.011)), "sources": ([1, 1.02], [1, 1]), **dict.fromkeys(("cell", "misset", "lambda"))}
VALUES = [*((f"misset_{x}", {}, (11.5, -80), part("misset", i, MISSET)) for i, x in enumerate("xyz")),
          *((f"cell_{x}", {}, (CELL[i] * 1.01, CELL[i] * 0.97), part("cell", i, CELL))
            for i, x in enumerate(("a", "b", "c", "al", "be", "ga"))),
          *((f"N_{x}", {}, (7, 4.5), one("N" + x)) for x in "abc"),
          ("mosaic", {}, (0.7, 0.1), one("mosaic")), ("phi", {}, (4, -50), one("phi")), ("osc", {}, (0.4, 0.1), one("osc")),
          ("lambda", {}, (1.1, 0.9), one("lambda")),
          ("dispersion", {"dispersion": 1, "dispsteps": 3}, (2, 0.5), one("dispersion")),
          ("hdivrange", {"hdivrange": 1, "hdivsteps": 3}, (2, 0.5), one("hdivrange")),
          ("vdivrange", {"vdivrange": 1, "vdivsteps": 3}, (2, 0.5), one("vdivrange")),
          ("footprint_a", {"footprint": "gauss:1:2:0"}, (3, 0.5), lambda v: {"footprint": f"gauss:{v}:2:0"}),
          ("footprint_angle", {"footprint": "gauss:1:2:0"}, (30, -5), lambda v: {"footprint": f"gauss:1:2:{v}"}),
          ("distance", {}, (103, 80), one("distance")), ("distance", MATRIX, (103, 80), one("distance")),
          ("close_distance", {"distance": None, "close_distance": 100}, (103, 80), one("close_distance")),
          ("Xbeam", {}, (26, 10), one("Xbeam")), ("Ybeam", {}, (26, 10), one("Ybeam")),
          ("ORGX", {"xds": True, "ORGX": 12, "ORGY": 12}, (13.5, 4), one("ORGX")),
          ("ORGY", {"xds": True, "ORGX": 12, "ORGY": 12}, (13.5, 4), one("ORGY")),
          *((f"detector_rot{x}", {}, (3, -7), one(f"detector_rot{x}")) for x in "xyz"),
          ("twotheta", {}, (3, -7), one("twotheta")),
          ("detector_thick", {"detector_thick": 300, "detector_abs": 200}, (400, 100), one("detector_thick")),
          ("detector_abs", {"detector_thick": 300, "detector_abs": 200}, (300, 100), one("detector_abs")),
          ("polar", {}, (0.9, -0.5), one("polar")), ("fudge", {"gauss_xtal": True}, (1.2, 0.8), one("fudge")),
          ("fluence", {}, (2e28, 1e20), one("fluence")), ("water", {"water": 1}, (2, 0.25), one("water")),
          ("default_F", {}, (50, 200), one("default_F"))]

# {kind of data kept between images: keywords of its scene}. MOVES: values that change it.
BESIDE = {"plain": {},
          "shadow": {"beamstop": "disc:6,disc:2:0.5", "background": "water:1e-9"},
          "factors": {"transmission": np.linspace(0.1, 1, 576, dtype="f4").reshape(24, 24), "add": np.full((24, 24), 3, "f4")},
          "mask": {"mask": np.arange(576).reshape(24, 24) % 5 > 0},
          "absorption": {"absorb": "sphere:0.5", "absorb_mu": 2, "background": "water:1e-9"},
          "table": {**CALC, "default_F": 0}, "damage": {**CALC, "dose": 3, "damage_cell": 0.1},
          "diffuse": {**CALC, "diffuse_sigma": 0.4, "diffuse_gamma": 5, "detpixels": 6, "pixel": 1, "oversample": 1, "mosaic_domains": 2},
          "shape": {"gauss_xtal": True}}
MOVES = [row for row in VALUES if row[0] in ("misset_x", "cell_a", "phi", "lambda", "distance", "Xbeam", "fluence", "default_F")]


def words(*several):
    """Joins dicts of keywords: a later one replaces an earlier one; None removes it."""
    return {name: value for name, value in {k: v for w in several for k, v in w.items()}.items() if value is not None}


def image(sim):
    return sim.render().tobytes()


def check(name, more, values, keyword):
    base = words(BASE, more)
    sim = nb.Simulation(**base)
    first, start = image(sim), sim.parameter(name)["value"]
    seen = {first}
    for value in values:
        sim.set_parameters({name: value})
        fresh = image(nb.Simulation(**words(base, keyword(value))))
        assert image(sim) == fresh
        seen.add(fresh)
    sim.set_parameters({name: start})
    assert image(sim) == first
    assert len(seen) == 1 + len(values)  # each value changes the image


@pytest.mark.parametrize("row", VALUES, ids=lambda row: row[0])
def test_a_value_is_the_keyword(row):
    name, more, values, keyword = row
    check(name, more, values, keyword)


@pytest.mark.parametrize("beside", BESIDE)
def test_what_is_kept_is_that_of_the_new_values(beside):
    for name, more, values, keyword in MOVES:
        if name == "default_F" and "hkl" in BESIDE[beside]:
            continue  # all F are listed: default_F has no effect
        check(name, words(more, BESIDE[beside]), values, keyword)


def test_files_to_write_change_no_pixel(tmp_path):
    sim = nb.Simulation(**BASE)
    first = image(sim)
    for change in ({"floatfile": str(tmp_path / "a.bin")}, {"noisefile": str(tmp_path / "a.img")}, {"pgmscale": 3}, {"adc": 7}):
        sim.set(**change)
        assert image(sim) == first
        assert sim.noise(seed=3).tobytes() == nb.Simulation(**words(BASE, change)).noise(seed=3).tobytes()
