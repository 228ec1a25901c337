# SPDX-License-Identifier: MIT
"""Data of test_sequences.py: arrays, files, values of keywords, and functions that draw
the base (keywords of a new Simulation) and the calls of a trial."""
import json
import os
import sys
import tempfile

import numpy as np

import nanobragg as nb

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")) + os.sep
G, P = ROOT + "golden_data/", ROOT + "golden_data/structure_factors/models/"
D, R = ROOT + "golden_data/detectors/", ROOT + "golden_data/structure_factors/reflections/"
FALSE = "--false" in sys.argv

# --- arrays, and files in the folder W, that calls name -------------------------------------------------------------
I = np.array([(h, k, l) for h in range(-6, 7) for k in range(-6, 7) for l in range(-6, 7)])
F = np.random.default_rng(1).uniform(1, 100, len(I))
M = np.array([[.0190, .0030, -.0020], [-.0025, .0200, .0010], [.0020, -.0015, .0180]])
BLOCKS = np.array([[-.157, -.124, -.732], [.54, .343, -.098], [.232, .084, -.166], [.293, -.093, -.099]])
LINES = [{"N": 3}, {"N": 5, "misset": [10, 20, 30]}]
MORE = [{"N": 4, "fluence": 2e26}, {"misset": [1, 2, 3]}, {"mosaic": .2}]
MASK = np.ones((20, 20), bool)
MASK[3:6] = False
PLANE = np.linspace(.5, 1, 400, dtype="f4").reshape(20, 20)
GEOM = """clen = {0}
res = 2500
data = /entry/data
photon_energy = {1}
adu_per_photon = 1
a/min_fs = 0
a/max_fs = 11
a/min_ss = 0
a/max_ss = 9
a/corner_x = -13
a/corner_y = -10
a/fs = +0.9999x +0.002y
a/ss = -0.002x +0.9999y
b/min_fs = 0
b/max_fs = 11
b/min_ss = 10
b/max_ss = 19
b/corner_x = 1.5
b/corner_y = -9
b/fs = +x
b/ss = +y
"""
FOLDER = tempfile.TemporaryDirectory(prefix="sequences_")
W = FOLDER.name + os.sep
HERE = os.getcwd()


def rows(array):
    return "".join(" ".join(f"{x:.17g}" for x in row) + "\n" for row in array)


# {file: its two possible contents}. A trial changes the contents.
TEXTS = {"x.hkl": [rows(np.c_[I, f]) for f in (F, 1.5 * F[::-1])],
         "x.geom": [GEOM.format(.06, 12000), GEOM.format(.065, 12100)],
         "x.mat": [rows(M), rows(M.T * 1.05)],
         "x.src": ["-10 0 0 1 1e-10\n-10 0.01 0 2 1.01e-10\n", "-10 0.02 0 1 1.02e-10\n"],
         "x.blocks": [rows(BLOCKS), rows(BLOCKS[:2])],
         "x.spec": ["12000 1\n12400 3\n12800 1\n", "11000 1\n11400 2\n12000 0\n"],
         "x.lines": ["".join(json.dumps(x) + "\n" for x in lines) for lines in (LINES, MORE)],
         "x.stol": ["0 2.57\n0.1 3\n0.2 5\n0.3 6\n0.5 4\n0.9 2\n", "0 4\n0.2 6\n0.9 1\n"]}


NOW = dict.fromkeys(TEXTS)  # {file: index of its present content in TEXTS, or None}


def put(name, version):
    """Writes a file with content `version` of TEXTS; None removes the file."""
    if version is None and NOW[name] is not None:
        os.remove(W + name)
    elif version != NOW[name]:
        with open(W + name, "w", encoding="ascii") as out:
            out.write(TEXTS[name][version])
    NOW[name] = version


def prepare():
    """Writes the files of TEXTS, and files that never change."""
    os.mkdir(W + "sub")
    for name in TEXTS:
        put(name, 0)
    PLANE.tofile(W + "plane.bin")
    for n, more in enumerate((dict(distance=60, pixel=.5), dict(distance=90, pixel=.4))):
        sim = nb.Simulation(cell=50, default_F=10, N=4, detpixels=20, fluence=1e26, oversample=1, threads=1, seed=1, **more)
        sim.render()
        sim.write(noisefile=W + f"i{n}.img")


prepare()


def other(sim):
    """Another simulation with an image of the same size."""
    return nb.Simulation(cell=40, default_F=50, N=3, detpixels=sim.shape[::-1], pixel=.5, distance=50, fluence=1e29, oversample=1,
                         threads=1, seed=3)


_SHARED = {}


def shared(sim):
    """An array for images; simulations with the same image size share it."""
    return _SHARED.setdefault(sim.shape, np.empty(sim.shape, np.float32))


# --- {topic: {keyword: values as Python source}} --------------------------------------------------------------------
VALUES = {
    "crystal": dict(cell=["50", "(50, 60, 70)", "(48, 52, 55, 85, 95, 100)"], matrix=["M", "1.05 * M.T", "W + 'x.mat'"],
                    misset=["(10, 20, 30)", "(-5, 0, 77)", "'random'"], N=["3", "(4, 5, 6)", "np.int64(6)"], Na=["5"], Nb=["3"],
                    samplesize=["2.2e-5"], fudge=["1.3"], misset_seed=["4"]),
    "F": dict(default_F=["10", "25"], hkl=["(I, F)", "(I, 2 * F)", "(I[::2], F[::2])", "W + 'x.hkl'"], Badd=["10"],
              Fscale=["2"], F000=["50", "0"], dmin=["3", "6"], fill=["'shell'", "'default'"], nointerpolate=["True"],
              interpolate=["True"], sg=["'P 1'", "'P 2'"]),
    "model": dict(pdb=["P + '1dur.pdb'", "P + '5e5z.pdb'", "P + 'made-scale.pdb'"], mtz=["R + '1CTJ.mtz'", "R + 'made-pairs.mtz'"],
                  anomalous=["'mean'", "'off'"], ksol=["0.3"], bsol=["60"], dmin=["3", "5"], Badd=["5"], sf_method=["'direct'"],
                  F000=["'calc'", "20"], fprime=["'S:1:2'"]),
    "shape": dict(gauss_xtal=["True"], round_xtal=["True"], square_xtal=["True"], tophat_spots=["True"]),
    "mosaic": dict(mosaic=["0.5", "0.8"], mosaic_dom=["4", "3"], mosaic_seed=["7"], mosaic_model=["'gauss'"],
                   mosaic_aniso=["(0.3, 0.4, 0.5)"],
                   mosaic_tensor=["(0.1, 0.2, 0.3, 0.1, 0, -0.1)"], mosaic_frame=["'lab'", "'crystal'"], mosaic_tail=["0.1"], mosaic_blocks=["W + 'x.blocks'", "BLOCKS", "BLOCKS[:2]"]),
    "beam": dict(wavelength=["1.1", "1.05"], energy=["12000"], fluence=["3e26", "np.float64(1e27)"], flux=["1e12"], exposure=["0.5"],
                 beamsize=["0.05"], polar=["0.9", "0"], nopolar=["True"], beam_vector=["(1, 0.01, 0)"]),
    "sources": dict(sources=["([1.0, 1.01], [1, 2])", "([1.1], [1])", "([1, 1.02], [1, 1], [[-1, 0, 0], [-1, .01, 0]])"],
                    sourcefile=["W + 'x.src'"], spectrum=["'sase'", "'gauss'", "W + 'x.spec'"], bandwidth=["0.5", "1"],
                    pulse_length=["15"], wavelengths=["3", "2"], hdivrange=["2"], vdivrange=["1"], hdivstep=["1"],
                    hdivsteps=["3"], divergence=["1.5"], dispersion=["1", "2"], dispsteps=["3"], square_div=["True"]),
    "detector": dict(pixel=["0.4"], distance=["80", "55"], close_distance=["58"], detpixels=["16", "(20, 16)", "24"],
                     detpixels_f=["22"], detsize=["9"], twotheta=["5"], detector_rotx=["3"], detector_roty=["-2"],
                     detector_rotz=["4"], Xbeam=["4"], Ybeam=["6"], ORGX=["9"], ORGY=["11"], mosflm=["True"], xds=["True"],
                     adxv=["True"], denzo=["True"], dials=["True"], pivot=["'sample'", "'beam'"], curved_det=["True"],
                     point_pixel=["True"], detector_thick=["300"], detector_abs=["200"], sensor=["'Si'"], detector_thicksteps=["3"],
                     roi=["(2, 15, 3, 12)"], pix0_vector_mm=["(70, 4, -5)"], spindle_axis=["(0, 1, 0)"],
                     fdet_vector=["(0, 0, 1)"]),
    "files": dict(geom=["W + 'x.geom'"], panel=["'a'", "'1'", "'b'", "'0,1'"], img=["W + 'i0.img'", "W + 'i1.img'"],
                  mask=["MASK", "W + 'i0.img'", "~MASK"], expt=["D + 'geom/hier.expt'", "D + 'geom/flat3.expt'"],
                  nxmx=["D + 'geom/modules.h5'"], expt_number=["0"], transmission=["PLANE", "W + 'plane.bin'", "1.5 - PLANE"],
                  add=["PLANE", "7 * PLANE"], layout=["'file'"]),
    "several": dict(crystals=["LINES", "MORE", "2", "3", "W + 'x.lines'", "1"], twin=["'k,h,-l:0.3'", "'-h,-k,l:0.2'"]),
    "spindle": dict(phi=["0.5", "2.0"], osc=["1", "0.5"], phisteps=["3", "2"]),
    "more": dict(dose=["5", "'auto'"], damage_cell=["0.05"], absorb=["'sphere:50'", "'box:40:50:60'"], absorb_mu=["1"],
                 footprint=["'gauss:0.5:0.3:20'", "'box:0.6:0.4'"], beamstop=["'disc:2'", "'disc:3:0.5,bar:1:30'"],
                 water=["100"], background=["'water:0.1,air:10'"], stol=["W + 'x.stol'"], diffuse_sigma=["0.4"],
                 diffuse_gamma=["20"]),
    "noise": dict(gain=["2"], readout_noise=["3"], adc=["10"], flicker=["0.05"], calibration=["0.05"], psf=["'gauss'", "'fibre'"],
                  psf_fwhm=["300"], saturation=["500"], nopoisson=["True"], deadtime=["100"], calib_seed=["5"]),
    "run": dict(threads=["1", "2"], precision=["'double'", "'single'", "'mixed'"], isa=["'scalar'", "'auto'"], seed=["2", "3"],
                tolerance=["1e-5"], oversample=["1", "2"]),
}
COMPANIONS = {"spectrum": dict(bandwidth="0.5", pulse_length="15", wavelengths="3"), "mosaic": dict(mosaic_dom="4"),
              "mosaic_aniso": dict(mosaic_dom="4"), "mosaic_tensor": dict(mosaic_dom="4"), "dispersion": dict(dispsteps="3"), "absorb": dict(absorb_mu="1"),
              "diffuse_sigma": dict(diffuse_gamma="20"), "flux": dict(exposure="0.5"), "osc": dict(phisteps="3"),
              "sensor": dict(detector_thick="300"), "psf": dict(psf_fwhm="300"), "deadtime": dict(exposure="0.1")}
BAD = dict(distance=["-5", "float('nan')"], N=["0"], nosuch=["1"], hkl=["W + 'none.hkl'", "(I, F[1:])", "(I, np.full(len(I), np.inf))"],
           crystals=["W + 'none'", "[{'NN': 3}]", "[{'N': -1}]"], geom=["W + 'none'"], panel=["'zz'", "'9'"], mask=["MASK[:3]"],
           transmission=["PLANE[:7]"], add=["PLANE[:7]"], matrix=["np.ones((3, 3))", "np.eye(2)", "W + 'none'"],
           sources=["([1.0, 0.0], [1, 1])"], misset=["'x'"], spectrum=["'none'"], mosaic_blocks=["W + 'none'"], wavelength=["0"],
           roi=["(5, 2, 0, 3)"], expt_number=["7"], detector=["'nosuch'"], cell=["(50, 60, 70, 10, 170, 20)"], phi=["'x'"],
           twin=["'k,h:0.3'"], absorb=["'sphere'"], dose=["-1"], background=["'none:1'"], img=["W + 'none'"], mosaic=["-1"],
           footprint=["'x'"], pdb=["W + 'none'"], sg=["'nosuch'"], seed=["'x'"], detpixels=["0"], oversample=["-1"])
PARAMETERS = dict(misset_x=12.0, misset_z=-7.5, rot_x=0.5, rot_y=-0.25, rot_z=1.0, cell_a=53.0, cell_c=61.0, cell_be=92.0, N_a=4.5,
                  N_c=3.25, mosaic=0.4, phi=1.5, osc=0.75, dispersion=1.5, hdivrange=2.5, footprint_a=0.7, distance=70.0,
                  close_distance=61.0, Xbeam=4.5, Ybeam=5.5, ORGX=10.0, detector_rotx=1.0, twotheta=2.0, shift_x=0.5, shift_z=-0.4,
                  shift_fast=0.3, rot_fast=0.6, detector_thick=250.0, detector_abs=180.0, polar=0.5, fudge=1.2, fluence=2e26,
                  water=50.0, default_F=30.0)
PARAMETERS.update({"lambda": 1.08, "F:1:1:1": 500.0, "F:0:0:2": 7.0, "shift_x@a": 0.2, "N_b": -1.0, "nosuch": 1.0, "F:99:0:0": 1.0})
KEPT = ("seed", "threads", "device", "detpixels", "geom", "expt", "nxmx", "img", "mask", "detector", "roi")  # without these keywords images may be large
SHAPES = tuple(VALUES["shape"])
WEIGHTS = dict(crystal=3, F=3, model=1, shape=1, mosaic=2, beam=2, sources=2, detector=3, files=2, several=1.5, spindle=1.5,
               more=1.5, noise=0.7, run=2)


# ENDS: {keyword: first letters of parameters}: set() of the keyword ends their values of
# set_parameters. OPEN: (parameters, keywords) without a rule, which trials do not combine.
_FILES = ("geom", "expt", "expt_number", "nxmx", "img", "mask", "detector", "pix0_vector_mm")
_MODELS = ("pdb", "mtz", "expt", "expt_number", "img", "sg")
ENDS = {"misset": ["misset_"], "cell": ["cell_"], "matrix": ["cell_"], "N": ["N_"], "Na": ["N_a"], "Nb": ["N_b"],
        "samplesize": ["N_"], "mosaic": ["mosaic"], "mosaic_aniso": ["mosaic"], "mosaic_tensor": ["mosaic"], "phi": ["phi"], "osc": ["osc"],
        "wavelength": ["lambda"], "energy": ["lambda"], "dispersion": ["dispersion"], "hdivrange": ["hdivrange"],
        "divergence": ["hdivrange"], "footprint": ["footprint_"], "distance": ["distance"], "close_distance": ["close_distance"],
        "Xbeam": ["Xbeam"], "Ybeam": ["Ybeam"], "ORGX": ["ORGX"], "ORGY": ["ORGY"], "detector_rotx": ["detector_rotx"],
        "twotheta": ["twotheta"], "detector_thick": ["detector_thick"], "detector_abs": ["detector_abs"], "polar": ["polar"],
        "fudge": ["fudge"], "fluence": ["fluence"], "flux": ["fluence"], "water": ["water"], "default_F": ["default_F"]}
OPEN = [(("lambda",), ("sources", "sourcefile", "spectrum", "geom", "expt", "expt_number", "nxmx", "img", "mask")),
        (("cell_", "misset_"), _MODELS + ("crystals",)),
        (("distance", "close_", "Xbeam", "Ybeam", "ORG", "detector_", "twotheta", "shift_", "rot_fast"),
         _FILES + ("close_distance", "distance", "pivot", "mosflm", "xds", "adxv", "denzo", "dials", "spindle_axis", "fdet_vector",
                   "beam_vector", "sensor", "detsize", "Xbeam", "Ybeam", "ORGX", "ORGY")),
        (("osc",), ("phisteps", "phistep")), (("fluence",), ("exposure", "beamsize", "expt", "nxmx")),
        (("mosaic",), ("mosaic_blocks",)), (("polar",), ("nopolar", "expt", "expt_number")), (("N_",), ("crystals",)),
        (("F", "default_F"), ("crystals",))]
FACTORS = {name for name, row in nb.parameters().items() if row["group"] == "Structure factors"} - {
    "default_F", "interpolate", "nointerpolate"}


# --- draw a trial: the keywords of a new object, and the calls ------------------------------------------------------
def draw_base(rng):
    base = dict(cell=rng.choice(VALUES["crystal"]["cell"]), N=rng.choice(["3", "4", "(4, 5, 6)"]), detpixels="20", pixel="0.5",
                distance="60", fluence="1e26", threads="1", seed="1", device="'cpu'")
    if rng.random() < 0.8:
        base["oversample"] = "1"
    kind = rng.random()
    if kind < 0.4:
        base["default_F"] = "10"
    elif kind < 0.8:
        base["hkl"] = rng.choice(VALUES["F"]["hkl"])
    else:
        name = rng.choice(["pdb", "pdb", "mtz"])
        base[name] = rng.choice(VALUES["model"][name])
        base.pop("cell")
    kind = rng.random()
    if kind < 0.25:  # takes a detector from a file
        name = rng.choice(["geom", "geom", "geom", "img", "img", "expt", "nxmx", "mask"])
        base[name] = rng.choice(VALUES["files"][name])
        for word in ("detpixels", "pixel", "distance"):
            base.pop(word)
        if rng.random() < 0.05:
            base.pop(name)
            name = "detector"
            base.update(detector="'rayonix_mx170hs:10'", roi="(200, 219, 200, 215)")
        if name == "expt" and rng.random() < 0.5:
            base.pop("cell", None)
    if kind > 0.85 and "cell" in base:
        base["matrix"] = rng.choice(VALUES["crystal"]["matrix"])
        base.pop("cell")
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        add(base, *draw_word(rng))
    if rng.random() < 0.03:
        base["hkl"] = "'x.hkl'"
    return base


def add(words, name, value):
    for more, its in COMPANIONS.get(name, {}).items():
        words.setdefault(more, its)
    words.pop(name, None)
    words[name] = value


def draw_word(rng):
    topic = rng.choices(list(WEIGHTS), WEIGHTS.values())[0]
    name = rng.choice(list(VALUES[topic]))
    return name, rng.choice(VALUES[topic][name])


def draw_set(rng, base):
    kind, words = rng.random(), {}
    if kind < 0.15:
        name = rng.choice(list(BAD))
        words[name] = rng.choice(BAD[name])
    elif kind < 0.3:  # takes the old value or another value of a keyword of the base
        name = rng.choice(list(base))
        own = [v[name] for v in VALUES.values() if name in v]
        words[name] = rng.choice([base[name], *(own[0] if own else [])])
    if kind > 0.12:
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3]) if words else rng.choice([1, 1, 1, 2, 3])):
            add(words, *draw_word(rng)) if rng.random() < 0.5 else words.update([draw_word(rng)])
    if FALSE and rng.random() < 0.3:
        switches = [*SHAPES, "nopolar", "nointerpolate", "curved_det", "point_pixel", "square_div", "nopoisson", "xds"]
        name = rng.choice([*switches, *5 * [n for n in base if n in switches], *(n for n in base if n not in KEPT), "misset",
                           "osc", "spectrum", "dispersion"])
        words[name] = "False" if name in switches and rng.random() < 0.5 else "None"
    return words


FACTOR_TEXTS = ["1.5 * s.factors()[1]", "s.factors()[1][::-1].copy()", "([[1, 1, 1], [0, 0, 2]], [300.0, 20.0])", "[1.0] * 7919",
                "2 * s.reflections()['F']", "([[99, 0, 0]], [1.0])"]


def draw_call(rng, base):
    """(method of Trial, its argument)."""
    kind = rng.choices(["set", "values", "same", "fold", "F", "render", "out", "other", "noise", "read", "write", "copy", "keep",
                        "put", "chdir", "setF"],
                       [9, 4, 1.5, 0.7, 1.2, 0.7, 0.7, 0.7, 0.7, 1, 0.3, 1.2, 0.7, 1.2, 0.3, 0.5])[0]
    if kind == "set":
        return kind, draw_set(rng, base)
    if kind == "setF":
        return kind, ({"phi": "5.0"} if rng.random() < 0.5 else dict([draw_word(rng)]), rng.choice(FACTOR_TEXTS))
    if kind == "values":
        names = rng.sample(list(PARAMETERS), rng.choice([1, 1, 2, 3]))
        return kind, {name: PARAMETERS[name] * rng.choice([1, 1, 1.01]) for name in names}
    if kind == "same":
        return kind, rng.choice(["fluence", "mosaic", "lambda", "cell_a"] if rng.random() < 0.3 else list(PARAMETERS))
    if kind == "F":
        return kind, (rng.choice(FACTOR_TEXTS), rng.random() < 0.3)
    if kind == "noise":
        return kind, rng.choice([None, 2, 5])
    if kind == "read":
        return kind, rng.choice(["s.derivatives(['misset_x', 'fluence'])", "s.parameter('cell_a')", "s.reflections()", "s.report",
                                 "s.trace(3, 4)", "s.variables()", "repr(s)", "s.pullback(np.ones(s.shape), ['N_a'])",
                                 "s.spectrum()", "s.parameter('nosuch')", "s.factors()", "s.integers()", "s.diffuse()",
                                 "s.derivatives('cell,N,F:1:1:1')", "s.panels(s.render())"])
    if kind in ("copy", "keep"):
        return kind, rng.choice(["copy.copy(s)", "copy.deepcopy(s)", "pickle.loads(pickle.dumps(s))"])
    if kind == "put":
        used = [n for n in TEXTS if any(n in v for v in base.values())]
        return kind, (rng.choice(used or list(TEXTS)), rng.choice([None, 1, 1, 1, 0]), rng.random() < 0.6)
    return kind, None
