# SPDX-License-Identifier: MIT
"""Random scenes of test_combined.py, and the files that their flags name. The number of a
scene is the seed of its flags."""
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess

import numpy

FACTORS = {"5e5z.pdb": "models/5e5z.pdb", "special.pdb": "models/made-special.pdb", "r32.pdb": "models/made-r32.pdb", "hydrogens.pdb": "models/made-hydrogens.pdb",
           "models.pdb": "models/made-models.pdb", "1aki.pdb": "models/1aki.pdb", "copper.pdb": "models/4oz7.pdb", "small.cif": "models/made-small.cif",
           "pairs.mtz": "reflections/made-pairs.mtz", "intensities.mtz": "reflections/made-intensities.mtz"}
PANELS = {"two": (24, 42), "three": (14, 30)}  # (fast, slow) pixels of the detectors of panel files

# In the texts below ~a:b is a number between a and b, and #a:b an integer.
ANGLES = "~-90:90 ~-90:90 ~-90:90"
CELL = [(4, "-cell 24 30 36 80 100 95 -default_F 100"), (2, "-cell 40 50 60 -default_F 30"), (1, "-mat m.mat -default_F 50")]
LIST = [(3, "-hkl mid.hkl -nodump -cell 40 50 60"), (1, "-hkl mid.hkl -nodump -cell 40 50 60 -default_F 20"), (1.5, "-hkl mid.hkl -nodump -cell 40 50 60 -fill shell"),
        (3, "-hkl low.hkl -nodump -cell 15 18 21 82 99 94"), (1, "-hkl octant.hkl -nodump -sg P222 -cell 40 50 60"), (0.5, "-hkl mid.hkl -nodump -mat m.mat")]
MODEL = [(2, "-pdb 5e5z.pdb"), (1, "-pdb special.pdb"), (1, "-pdb special.pdb -dmin ~3:8"), (1, "-pdb r32.pdb"), (1, "-pdb hydrogens.pdb -dmin ~3:5"),
         (0.5, "-pdb models.pdb -dmin 4"), (1, "-pdb 1aki.pdb -dmin ~5:8"), (2, "-pdb copper.pdb -dmin ~4:6"), (2, "-mtz pairs.mtz"), (1, "-mtz intensities.mtz"),
         (0.5, "-mtz pairs.mtz -mtzlabel F -fill shell"), (0.5, "-cif small.cif")]
SIZE = ["-N #2:7", "-N ~3:6", "-Na #2:5 -Nb #2:5 -Nc #3:6", "-samplesize ~6e-6:2e-5", "-N #3:6 -blocks #2:9", "-N #3:6 -crystal_volume ~1e-4:1e-3"]
SHAPE = ["-gauss_xtal", "-round_xtal", "-tophat_spots", "-square_xtal", "-gauss_xtal -fudge ~0.7:1.4"]
MOSAIC = ["-mosaic ~0.1:1 -mosaic_dom #2:6", "-mosaic ~0.1:1 -mosaic_dom #2:6 -mosaic_model gauss", "-mosaic ~0.1:2 -mosaic_dom #2:6 -mosaic_model uniform -mosaic_seed #1:99",
          "-mosaic_aniso 0.4 0.3 0.7 -mosaic_dom 4 -mosaic_model gauss",
          "-mosaic_tensor 0.3 0.2 0.5 0.1 0 -0.2 -mosaic_dom #2:6", "-mosaic_tensor 0.3 0.2 0.5 0.1 0 -0.2 -mosaic_frame lab -mosaic_dom 4", "-mosaic_blocks blocks.txt", "-mosaic 0.3 -mosaic_dom 4 -mosaic_model gauss -mosaic_tail 0.2"]
TUNE = ["-Badd ~1:20", "-Fscale ~0.3:3", "-F000 ~10:300", "-dmin ~3:9", "-Fscale ~0.3:3 -Badd ~1:9"]
CUBIC = ["-interpolate", "-nointerpolate"]
FLUENCE = ["-fluence 1e24", "-fluence 1e26", "-fluence 1e22", "-flux 1e22 -exposure ~0.5:2 -beamsize 0.1"]
POLAR = ["-polar ~0.2:1", "-nopolar"]
RAYS = ["-sourcefile pink.txt", "-sourcefile pink.txt", "-divergence ~1:4 -divsteps 2", "-hdivrange 2 -vdivrange 1 -hdivsteps 3 -vdivsteps 2 -square_div", "-dispersion ~0.3:2 -dispsteps #2:4",
        "-divergence 2 -divsteps 2 -dispersion 1 -dispsteps 2", "-spectrum gauss -bandwidth ~0.3:2 -wavelengths 8", "-spectrum tophat -bandwidth ~0.3:2 -wavelengths 8",
        "-spectrum twocolour -bandwidth 0.3 -split 2:0.4 -wavelengths 8", "-spectrum sase -bandwidth 0.4 -pulse_length 8 -wavelengths 16",
        "-spectrum seeded -bandwidth 0.5 -pulse_length 10 -line 0.05 -wavelengths 16", "-spectrum spectrum.txt -wavelengths 8"]
FRAME = ["", "", "-xds", "-adxv", "-denzo", "-dials", "-fdet_vector 0 0 1 -sdet_vector 0 -1 0", "-spindle_axis 0 1 0.1"]
TILT = ["-detector_rotx ~-8:8 -detector_roty ~-8:8", "-detector_rotz ~-30:30", "-twotheta ~-25:25", "-twotheta ~5:20 -detector_roty ~-5:5 -pivot sample", "-twotheta ~-9:9 -pivot beam"]
SENSOR = ["-detector_thick 300 -detector_abs 400 -detector_thicksteps 2", "-curved_det", "-point_pixel", "-sensor Si -detector_thick 300 -detector_thicksteps 2 -layer_depth front"]
BACKGROUND = ["-water ~1:9", "-background water:0.01", "-background air:5,vitreous:0.01", "-stol material.stol -amorphous_thick 0.05", "-water 2 -background ice:0.01"]
SHADE = ["-beamstop disc:~3:12", "-beamstop disc:8,bar:3:30:0.5", "-transmission t_PIXELS.bin", "-add a_PIXELS.bin", "-add n_PIXELS.bin", "-transmission t_PIXELS.bin -add a_PIXELS.bin"]
FOOTPRINT = ["-footprint gauss:~1:4:~1:4", "-footprint box:~1:4:~1:4:30", "-footprint gauss:2:0", "-footprint box:~0.5:2:~0.5:2"]
ABSORB = ["-absorb sphere:#50:600 -absorb_mu ~0.5:4", "-absorb sphere:100 -absorb_mu 1", "-absorb box:100:200:50 -absorb_mu ~0.5:3"]
TWIN = ["-twin -h,-k,-l:0.3", "-twin -h,-k,l:0.35", "-twin -h,-k,l:0.2;h,-k,-l:0.1"]
DIFFUSE = ["-diffuse_sigma ~0.1:0.4 -diffuse_gamma ~1:3", "-diffuse_sigma 0.2 0.3 0.4 -diffuse_gamma 2 -diffuse_halo gauss", "-diffuse_sigma ~0.1:0.3 -diffuse_gamma ~2:14", "-diffuse_sigma ~0.15:0.3 -diffuse_gamma ~8:14",
           "-diffuse_sigma 0.3 -diffuse_gamma ~2:3 -diffuse_F unperturbed", "-diffuse_sigma ~0.2:0.4 -diffuse_gamma ~3:12 -diffuse_only"]
DOSE = ["-dose ~0.5:3", "-dose ~0.5:3 -damage_half ~4:9", "-dose ~0.5:3 -damage_cell ~0.05:0.3 -damage_B 2", "-dose auto"]
NUMBERS = ["-precision double", "-isa scalar", "-isa avx2", "-tolerance 0", "-tolerance 1e-4"]
# Values of flags: a crystal of a list has flags of OF_CRYSTAL, a line of -jobs of both
OF_CRYSTAL = {
    "misset": [ANGLES], "N": ["#2:7"], "Na": ["#2:6"], "blocks": ["#2:6"], "Fscale": ["~0.3:3"], "Badd": ["~1:15"], "dmin": ["~3:9"], "default_F": ["~1:90"],
    "cell": ["44 44 33", "50 62 56 90 91 90", "~39:41 ~49:51 ~59:61", "24 31 36 80 100 95", "15.2 18.1 20.8 82 99 94"], "mat": ["m.mat"], "hkl": ["mid.hkl", "low.hkl"],
    "pdb": ["special.pdb", "5e5z.pdb"], "mtz": ["pairs.mtz"], "fill": ["shell", "default"], "F000": ["~1:90"], "mosaic": ["~0.1:1"], "mosaic_dom": ["#2:4"], "twin": ["-h,-k,l:0.3", "-h,-k,-l:0.2"],
    "gauss_xtal": [""], "round_xtal": [""], "fudge": ["~0.8:1.2"], "interpolate": [""], "samplesize": ["~6e-6:2e-5"], "diffuse_sigma": ["~0.1:0.4"], "diffuse_gamma": ["~1:3"]}
OF_FRAME = {
    "seed": ["#1:9999"], "lambda": ["~0.9:1.4"], "energy": ["~9000:13000"], "fluence": ["1e23", "3e25"], "distance": ["~60:110"], "close_distance": ["~60:110"], "polar": ["~0:1"], "nopolar": [""],
    "phi": ["~0:90"], "osc": ["~0.2:2"], "phisteps": ["2", "3"], "water": ["~0:9"], "twotheta": ["~-20:20"], "Xbeam": ["~10:40"], "Ybeam": ["~10:40"], "ORGX": ["~5:20"],
    "detector_rotx": ["~-9:9"], "detector_rotz": ["~-9:9"], "footprint": ["gauss:~1:3:~1:3", "box:1:2"], "beamstop": ["disc:~3:9"], "absorb": ["sphere:#50:500"], "absorb_mu": ["~0.5:3", "0"],
    "sourcefile": ["pink.txt", "edge.txt"], "dispersion": ["1"], "divergence": ["~1:3"], "bandwidth": ["~0.3:0.9"], "spectrum": ["gauss", "tophat"], "oversample": ["1", "2"],
    "transmission": ["t_PIXELS.bin"], "add": ["a_PIXELS.bin"], "background": ["water:0.02"], "panel": ["0", "1"], "crystals": ["0", "2", "3", "LIST", "LIST", "LIST"], "nopoisson": [""],
    "mask": ["mask_PIXELS.img"], "exposure": ["0.5"], "flux": ["1e22"], "beamsize": ["~0.05:0.2"]}
# Laws of -vary. NAME:choice:X with X of CHOICE must give the same frame as flag -NAME X
LAWS = ["N:lognormal:30%", "N:choice:3:4:5", "Na:uniform:2:6", "cell:normal:0.3%", "cell_a:ramp:30:60", "cell_a:normal:0.3%", "cell_b:normal:0.2,cell_al:normal:0.5", "Badd:uniform:0:20", "Fscale:gamma:3",
        "default_F:uniform:0:50", "blocks:poisson:4", "fudge:uniform:0.8:1.3", "mosaic:lognormal:40%", "rot_x:normal:3", "rot_z:uniform:-2:2", "misset_y:normal:5", "crystals:poisson:1.2", "crystals:choice:0:1:2:3",
        "fluence:gamma:4", "lambda:normal:0.5%", "energy:uniform:9000:9500", "polar:uniform:0.2:0.9", "distance:ramp:70:80", "distance:normal:5%", "Xbeam:normal:1", "ORGX:normal:1", "water:uniform:0:5",
        "phi:uniform:0:90", "twotheta:normal:3", "detector_rotx:uniform:-3:3", "bandwidth:uniform:0.3:0.5", "divergence:uniform:0.5:2", "hdivrange:normal:10%", "dispersion:uniform:0.1:1", "osc:uniform:0.5:1",
        "diffuse_sigma:uniform:0.1:0.5", "diffuse_gamma:uniform:1.5:3", "damage_B:gamma:2", "damage_cell:uniform:0:0.3", "damage_half:uniform:4:9", "samplesize:uniform:6e-6:2e-5", "sample_x:gamma:9",
        "crystal_volume:gamma:4", "exposure:normal:5%", "flux:lognormal:40%", "beamsize:uniform:0.05:0.2", "close_distance:normal:0.5", "Xclose:normal:1", "pulse_length:uniform:8:12"]
CHOICE = {"N": "5", "Na": "4", "Badd": "12", "Fscale": "1.7", "blocks": "3", "fudge": "1.2", "mosaic": "0.4", "lambda": "1.17", "energy": "9400", "fluence": "3e24", "polar": "0.7", "distance": "81", "phi": "33",
          "close_distance": "79", "Xbeam": "21", "Ybeam": "17", "Xclose": "16", "ORGX": "11", "twotheta": "7", "detector_rotx": "3", "detector_rotz": "-8", "water": "4", "bandwidth": "0.7", "divergence": "1.5",
          "hdivrange": "1.5", "dispersion": "0.8", "osc": "0.7", "diffuse_sigma": "0.3", "diffuse_gamma": "2.2", "samplesize": "1.3e-5", "crystals": "2", "default_F": "40", "damage_B": "2", "damage_cell": "0.2",
          "damage_half": "6", "exposure": "0.7", "flux": "2e22", "beamsize": "0.07", "crystal_volume": "5e-4", "pulse_length": "9", "sample_x": "1.2e-5"}
GEOMETRY = set("distance close_distance Xbeam Ybeam Xclose Yclose ORGX ORGY detector_rotx detector_roty detector_rotz twotheta panel mask detpixels pixel".split())


TABLE, FILE, SHAPED = ("hkl", "pdb", "mtz", "cif"), ("geom", "expt", "nxmx", "detector", "img"), ("gauss_xtal", "round_xtal", "tophat_spots")
# NEEDS: a drawn name usually needs one of the listed flags. AGAINST: flags that the name usually excludes
NEEDS = {"Badd": TABLE, "Fscale": TABLE, "F000": TABLE, "fill": TABLE, "damage_B": ("dose",), "damage_cell": ("dose",), "damage_half": ("damage_half",), "bandwidth": ("spectrum",), "pulse_length": ("pulse_length",),
         "diffuse_sigma": ("diffuse_sigma",), "diffuse_gamma": ("diffuse_sigma",), "fudge": SHAPED, "mosaic": ("mosaic",), "mosaic_dom": ("mosaic",), "absorb_mu": ("absorb",), "exposure": ("flux",), "flux": ("flux",),
         "beamsize": ("flux",), "hdivrange": ("hdivrange",), "divergence": ("divergence",), "dispersion": ("dispersion",), "ORGX": ("xds",), "osc": ("osc",), "phisteps": ("osc",), "sample_x": ("samplesize",),
         "samplesize": ("samplesize",), "crystal_volume": ("crystal_volume",), "panel": ("geom", "expt", "nxmx"), "close_distance": ("close_distance",), "Na": ("Na", "N")}
RAY = ("sourcefile", "spectrum", "dispersion", "divergence", "hdivrange", "spectra")
AGAINST = {"N": ("samplesize", "Na"), "Na": ("samplesize",), "cell": ("mat",), "cell_a": ("mat", *TABLE[1:]), "cell_b": ("mat", *TABLE[1:]), "hkl": (*TABLE[1:], "diffuse_sigma"), "pdb": ("hkl", "mtz", "cif", "diffuse_sigma"), "mtz": ("hkl", "pdb", "cif", "diffuse_sigma"),
           "fluence": ("flux",), "sourcefile": RAY, "spectrum": RAY, "misset_y": ("crystals", "orientations", "misset_seed"), "lambda": ("mat", "spectra", "energy"), "energy": ("mat", "spectra"), "blocks": ("crystal_volume",),
           "dispersion": ("spectrum", "sourcefile", "spectra"), "divergence": ("sourcefile", "spectra"), "mosaic": ("mosaic_blocks",), "distance": ("close_distance", *FILE), "ORGX": ("Xbeam", *FILE), "mat": ("cell", "expt"),
           **{x: FILE for x in ("Xbeam", "Ybeam", "Xclose", "detector_rotx", "detector_rotz", "twotheta", "mask", "close_distance")}}


OFTEN = {"cell": 4, "seed": 4, "crystals": 5, "mat": 3, "misset": 2, "diffuse_sigma": 3, "dmin": 2, "distance": 2}


def by_name(words):
    """Dict from the name of each flag to the list of its words; words: a text or a list."""
    flags = {}
    for word in words.split() if isinstance(words, str) else map(str, words):
        if re.fullmatch("-(4stol|[A-Za-z][A-Za-z_0-9]*)", word):
            flags[word[1:]] = []
        else:
            flags[list(flags)[-1]].append(word)
    return flags


def words_of(flags):
    return [word for name, words in flags.items() for word in ("-" + name, *words)]


def seed_of(seed, k):
    """The seed of frame k (docs/series.md: splitmix64, 53 bits)."""
    mask = 2 ** 64 - 1
    x = (seed + k * 0x9e3779b97f4a7c15) & mask
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & mask
    x = (x ^ x >> 27) * 0x94d049bb133111eb & mask
    return seed if k == 0 else (x ^ x >> 31) >> 11


def member(words):
    """Converts the words of a flag to a value of JSON."""
    def value(word):
        try:
            return int(word) if re.fullmatch(r"-?\d+", word) else float(word)
        except ValueError:
            return word
    if words[:1] and words[0].startswith("["):
        return json.loads(words[0])
    return True if not words else value(words[0]) if len(words) == 1 else [value(x) for x in words]


def line_of(flags):
    return json.dumps({name: member(words) for name, words in flags.items()})


class Scene:
    """A random scene: its flags by name, flags of the series, laws of -vary, lines of -jobs
    and a list of crystals."""

    def __init__(self, number):
        self.number, self.rng = number, random.Random(number)
        self.flags, self.series, self.laws, self.lines, self.crystals, self.files = {}, {}, [], [], None, {}

    # ---------------------------------------------------------------- drawing

    def text(self, text):
        """Replaces ~a:b and #a:b by random numbers, and PIXELS by the number of pixels."""
        def one(found):
            kind, (a, b) = found[1], [float(x) for x in (found[2], found[3])]
            return str(self.rng.randint(int(a), int(b))) if kind == "#" else f"{self.rng.uniform(a, b):.4g}"
        number = r"(-?[0-9.]+(?:e-?[0-9]+)?)"
        return re.sub(f"([~#]){number}:{number}", one, text).replace("PIXELS", str(self.pixels()))

    def take(self, part, choices):
        if self.rng.random() < part:
            weighted = isinstance(choices[0], tuple)
            text = self.rng.choices([x[1] for x in choices], [x[0] for x in choices])[0] if weighted else self.rng.choice(choices)
            self.flags.update(by_name(self.text(text)))

    def shape(self):
        """Pixels along fast and slow."""
        for name in ("geom", "expt", "nxmx"):
            if name in self.flags:
                return PANELS["two" if "two" in self.flags[name][0] else "three"]
        for name in ("img", "mask"):
            if name in self.flags and "detpixels" not in self.flags and "detpixels_f" not in self.flags:
                return (24, 20)
        if "detector" in self.flags:
            return (487, 619)
        n = self.flags.get("detpixels", ["20"])[0]
        return int(self.flags.get("detpixels_f", [n])[0]), int(self.flags.get("detpixels_s", [n])[0])

    def pixels(self):
        return math.prod(self.shape())

    def has(self, *names):
        """True if the scene, a line, a crystal or a law has a flag with one of the names."""
        said = {*self.flags, *self.series, *(x for line in [*self.lines, *(self.crystals or [])] for x in line), *(x.split(":")[0] for law in self.laws for x in law.split(","))}
        said |= {name for line in self.lines if "crystals" in line for one in as_list(line["crystals"]) for name in one}
        return bool(said & set(names))

    def model(self):
        return self.has("pdb", "mtz", "cif")

    def exact(self):
        """Allowed difference of a frame of the series from the frame made alone; 0: equal
        bytes. Frames may share a table of F that reaches farther than one frame needs, if
        F are of a model or vary, or if a line or crystal has a dmin."""
        cut = any("dmin" in line for line in (*self.lines, *(self.crystals or [])))
        cut = cut or "dmin" in self.flags and any(name in law for law in self.laws for name in ("Badd", "Fscale", "default_F"))
        return 1e-6 if cut or self.model() and (self.lines or self.laws or "dmin" not in self.flags) else 0

    def table(self):
        return self.has(*TABLE)

    def fits(self, name):
        """True if the name fits the flags; sometimes, by chance, also if it does not."""
        name = name.split(":")[0]
        good = (name not in NEEDS or self.has(*NEEDS[name])) and not self.has(*AGAINST.get(name, ())) and not (name == "crystals" and self.crystals)
        placed = self.has(*FILE) and set(AGAINST.get(name, ())) >= set(FILE)  # a file places the detector
        return good or self.rng.random() < (0.2 if placed and not self.lines else 0.06)

    def sample(self, names, fewest, limit):
        names = sorted((x for x in names if self.fits(x)), key=lambda name: self.rng.random() ** (1 / OFTEN.get(name, 1)))
        limit = self.rng.randint(fewest, limit)
        return names[len(names) - min(limit, len(names)):]

    def members(self, table, limit, fixed=()):
        names = self.sample(table, 0 if fixed else 1, limit)
        flags = {name: self.text(self.rng.choice(table[name])).split() for name in [*fixed, *(x for x in names if x not in fixed)]}
        if "crystals" in flags and flags["crystals"] == ["LIST"]:
            flags["crystals"] = ["[" + ", ".join(line_of(self.members(OF_CRYSTAL, 1, ("misset",) if self.rng.random() < 0.7 else ("N",))) for _ in range(self.rng.randint(1, 3))) + "]"]
        for name, other in (("hkl", "cell"), ("diffuse_sigma", "diffuse_gamma"), ("absorb", "absorb_mu"), ("spectrum", "bandwidth")):
            if name in flags and other not in flags and other not in self.flags and self.rng.random() < 0.9:
                flags[other] = self.text(self.rng.choice({**OF_CRYSTAL, **OF_FRAME}[other])).split()
        if "hkl" in flags and table is not OF_CRYSTAL:
            flags["nodump"] = []
        if flags.get("hkl") == ["low.hkl"]:
            flags["cell"] = "15 18 21 82 99 94".split()
        return flags

    def detector(self):
        rng = self.rng
        kind = rng.choices(["flags", "geom", "expt", "crystal", "nxmx", "img", "name"], [56, 14, 8, 6, 4, 5, 2])[0]
        which = rng.choice(["two", "three"])
        if kind in ("geom", "expt", "nxmx"):
            self.flags[kind] = [f"{which}.{'h5' if kind == 'nxmx' else kind}"]
            self.take(0.15, ["-panel 0", "-panel 1", "-panel 1,0"])
            if kind != "nxmx":
                self.take(0.08, ["-distance ~50:90"])
        elif kind == "crystal":
            self.flags["expt"] = [which + "_crystal.expt"]
            for name in ("cell", "mat", "misset") if rng.random() < 0.8 else ():
                self.flags.pop(name, None)
        elif kind == "name":
            self.flags.update(by_name(self.text("-detector pilatus_300k -oversample 1 -distance ~60:200")))
            self.take(0.5, ["-roi 200 240 300 330"])
        elif kind == "img":
            self.flags["img"] = ["tilted.img"]
        else:
            self.flags.update(by_name(self.text(rng.choice(["-detpixels #16:32", "-detpixels #16:32", "-detpixels_f #16:30 -detpixels_s #16:30"]))))
            self.flags["pixel"] = [f"{rng.uniform(25, 70) / self.shape()[0]:.4g}"]
            self.flags.update(by_name(self.text(rng.choice(["-distance ~60:110", "-distance ~60:110", "-close_distance ~60:110"]))))
            self.flags.update(by_name(rng.choice(FRAME)))
            self.take(0.25, TILT)
            if "xds" in self.flags:
                self.take(0.4, ["-ORGX ~5:20 -ORGY ~5:20"])
            else:
                self.take(0.2, ["-Xbeam ~12:40 -Ybeam ~12:40"])
            self.take(0.12, SENSOR)
            self.take(0.06, ["-mask mask_PIXELS.img"])

    def draw(self):
        rng = self.rng
        self.flags["seed"] = [str(rng.randint(1, 9999))]
        self.take(1, rng.choices([CELL, LIST, MODEL], [3, 4, 3])[0])
        self.take(0.75, ["-misset " + ANGLES])
        if "misset" not in self.flags:
            self.take(0.4, ["-misset random -misset_seed #1:99"])
        self.detector()
        self.take(1, SIZE)
        for part, choices in ((0.4, SHAPE), (0.25, MOSAIC), (0.5 if self.table() else 0, TUNE), (0.12, CUBIC), (0.35, POLAR), (0.3, BACKGROUND), (0.15, SHADE), (0.18, FOOTPRINT), (0.18, ABSORB), (0.15, TWIN), (0.12, NUMBERS)):
            self.take(part, choices)
        self.take(1, FLUENCE)
        if "geom" not in self.flags and "expt" not in self.flags:
            self.take(0.9, ["-lambda ~0.9:1.4"])
        edge = "copper" in self.flags.get("pdb", [""])[0] and rng.random() < 0.6
        if edge:
            self.flags.update(by_name("-lambda 1.38 -sourcefile edge.txt"))
        else:
            self.take(0.3, RAYS)
        if self.has("hkl", "pdb") and "fill" not in self.flags and not edge and "name" not in self.flags:
            if self.flags.get("hkl") == ["low.hkl"] or self.flags.get("pdb") == ["5e5z.pdb"]:  # diffuse light of other files takes long
                self.take(0.5, DIFFUSE)
            if self.has("diffuse_sigma") and "Fscale" not in self.flags:
                self.take(0.5, ["-Fscale ~0.3:3"])
            if self.has("diffuse_sigma") and "distance" in self.flags and "detpixels" in self.flags:
                self.take(0.6, ["-distance ~110:170"])  # halos of reflections outside the detector
        self.take(0.12 if self.table() else 0, DOSE)
        if "oversample" not in self.flags:
            self.take(0.95, ["-oversample 1", "-oversample 1", "-oversample 2"])
        series = rng.random() < 0.55
        if rng.random() < (0.3 if series else 0.5) and "box" not in self.flags.get("absorb", [""])[0]:
            self.draw_crystals()
        if series:
            self.draw_series()
        else:
            self.take(0.15, ["-osc ~0.3:2 -phisteps #1:3"])
            self.take(0.08 if not self.has("geom", "expt", "nxmx", "roi") else 0, ["-roi 2 12 3 11"])

    def draw_crystals(self):
        if self.rng.random() < 0.35:
            self.flags["crystals"] = [self.rng.choice(["0", "2", "3"])]
        else:
            placed = self.rng.random() < 0.85
            self.crystals = [self.members(OF_CRYSTAL, 2, ("misset",) if placed else ("N",)) for _ in range(self.rng.randint(1, 3))]

    def draw_series(self):
        rng = self.rng
        kind = rng.choices(["jobs", "stills", "frames"], [5, 5, 2])[0]
        count = rng.choice([2, 3, 3])
        if kind == "frames":
            self.flags.update(by_name(self.text("-osc ~0.3:2 -phisteps #1:3")))
        elif "dose" in self.flags and rng.random() < 0.8:
            del self.flags["dose"]
        if kind == "jobs":
            table = {**OF_CRYSTAL, **OF_FRAME}
            few = rng.random() < 0.5
            self.lines = [self.members(table, 1 if few else 4) if rng.random() < 0.85 else {} for _ in range(rng.randint(1, 4))]
            if rng.random() < 0.2:
                self.series["stills"] = [str(len(self.lines))]
        else:
            self.series[kind] = [str(count)]
        if kind == "stills":
            self.series.update(by_name(rng.choice(["", "-orientations random", "-orientations random", "-orientations angles.txt", "-orientations turning.txt" if self.crystals is None and not self.has("crystals") else "", "-orientations crystals.stream" if not self.has("mat", "crystals", "expt", "diffuse_sigma") and self.crystals is None else "", "-spectra spectra.txt" if not self.has(*RAY) else ""])))
        if kind == "stills" and rng.random() < 0.15:
            self.series.update(by_name(rng.choice(["-jitter_fluence 10", "-jitter_lambda 0.5", "-jitter_cell 0.5", "-jitter_mosaic 20", "-jitter_beam 0.5"])))
        if kind != "jobs" or rng.random() < 0.15:
            if rng.random() < 0.45:
                self.laws = [f"{name}:choice:{CHOICE[name]}" for name in self.sample(CHOICE, 1, 2)]
            elif rng.random() < 0.8:
                self.laws = self.sample(LAWS, 1, 4)

    # ---------------------------------------------------------------- words

    def base(self, crystals="own", flags=None, file="list.txt"):
        crystals = self.crystals if crystals == "own" else crystals
        words = words_of(flags or self.flags)
        if crystals is not None:
            text = "[" + ", ".join(map(line_of, crystals)) + "]"
            if self.number % 2 and text != "[]":
                self.files[file] = "".join(line_of(x) + "\n" for x in crystals)
                text = file
            words += ["-crystals", text]
        return words

    def all_words(self):
        words = self.base() + words_of(self.series)
        if self.lines:
            self.files["jobs.txt"] = "".join(line_of(x) + "\n" for x in self.lines)
            words += ["-jobs", "jobs.txt"]
        return words + (["-vary", ",".join(self.laws)] if self.laws else [])

    def count(self):
        return int((self.series.get("stills") or self.series.get("frames") or [len(self.lines)])[0])


def as_list(words):
    return [x for x in json.loads(words[0])] if words[:1] and words[0].startswith("[") else []


def smv(name, fast, slow, pixels):
    head = f"{{\nHEADER_BYTES=  512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1={fast};\nSIZE2={slow};\n}}\f"
    with open(name, "wb") as f:
        f.write(head.ljust(512).encode() + struct.pack(f"<{fast * slow}H", *pixels))


def write(name, lines):
    with open(name, "w", encoding="ascii") as f:
        f.write("".join(f"{x}\n" for x in lines))


def panels(name, wave, distance, res, places):
    lines = [f"photon_energy = {12398.42 / wave:.6g}", f"clen = {distance}", f"res = {res}"]
    at = 0
    for i, (fast, slow, fs, ss, x, y, back) in enumerate(places):
        lines += [f"p{i}/min_fs = 0", f"p{i}/max_fs = {fast - 1}", f"p{i}/min_ss = {at}", f"p{i}/max_ss = {at + slow - 1}", f"p{i}/fs = {fs}", f"p{i}/ss = {ss}", f"p{i}/corner_x = {x}", f"p{i}/corner_y = {y}",
                  f"p{i}/coffset = {back}"]
        at += slow
    write(name, lines)


def make_files(root, program):
    """Writes the files that the flags name into this folder."""
    rng = random.Random(1)
    for name, path in FACTORS.items():
        shutil.copy(os.path.join(root, "golden_data", "structure_factors", path), name)
    span = [(h, k, l) for h in range(-7, 8) for k in range(-7, 8) for l in range(-7, 8)]
    write("mid.hkl", [f"{h} {k} {l} {20 + 200 * rng.random():.4g}" for h, k, l in span if max(abs(h), abs(k), abs(l)) < 7 and rng.random() < 0.8])
    write("low.hkl", [f"{h} {k} {l} {50 + 200 * rng.random():.4g}" for h, k, l in span if 0 < (h / 15) ** 2 + (k / 18) ** 2 + (l / 21) ** 2 < 1 / 3.9 ** 2])
    write("octant.hkl", [f"{h} {k} {l} {20 + 100 * rng.random():.4g}" for h, k, l in span if min(h, k, l) >= 0 and h + k + l])
    write("m.mat", ["0.02 0.001 0", "0 0.019 0.002", "0.001 0 0.021"])
    write("blocks.txt", ["0 0 0 1", "0.5 0 0 2", "0 0.3 0.1 1"])
    write("pink.txt", ["-10 0 0 1 1.10e-10", "-10 0.02 0 3 1.11e-10", "-10 0 0.01 2 1.13e-10"])
    write("edge.txt", ["-10 0 0 1 1.370e-10", "-10 0 0 3 1.380e-10", "-10 0 0 2 1.392e-10"])
    write("spectrum.txt", [f"{e} {math.exp(-((e - 11000) / 100) ** 2):.5g}" for e in range(10800, 11201, 25)])
    write("spectra.txt", [" ".join(f"{1.1 + 0.01 * i + 0.003 * k:.4f} {1 + rng.random():.3f}" for i in range(3)) for k in range(4)])
    write("material.stol", [f"{0.02 * i:.2f} {6 * math.exp(-0.1 * i) + 2:.4f}" for i in range(40)])
    write("angles.txt", [" ".join(f"{rng.uniform(-90, 90):.4f}" for _ in range(3)) for _ in range(12)])
    lines = []
    for _ in range(12):
        p, q = rng.uniform(0, 6.28), rng.uniform(0, 6.28)
        c, s, d, e = math.cos(p), math.sin(p), math.cos(q), math.sin(q)
        begin = numpy.array([[c, -s * d, s * e], [s, c * d, -c * e], [0, e, d]]) @ numpy.diag([1 / 40, 1 / 50, 1 / 60])
        end = numpy.array([[1, -0.01, 0], [0.01, 1, 0], [0, 0, 1]]) @ begin
        lines.append(" ".join(f"{x:.7f}" for x in (*begin.ravel(), *end.ravel())))
    write("turning.txt", lines)
    panels("two.geom", 1.28, 0.09, 685, [(24, 21, "x", "y", -25, -10, 0), (24, 21, "x", "y", 5, -10, 0)])
    panels("three.geom", 1.127, 0.05, 1500, [(14, 10, "+0.99x +0.05y", "-0.05x +0.99y", -17, -6.5, 0), (14, 10, "-y", "+x", 1.3, 6.5, 0.001), (14, 10, "+x", "-y", -5, 20, 0)])
    plain = "-device cpu -default_F 10 -N 3 -oversample 1 -seed 1 -nonoise -nopgm -quiet -noprogress".split()
    for name in ("two", "three"):
        subprocess.run([program, *plain, *"-cell 40 50 60 -misset 10 20 30 -geom".split(), name + ".geom", "-exptout", name + "_crystal.expt", "-noint", "-nofloat"], check=False, capture_output=True)
        with open(name + "_crystal.expt", encoding="ascii") as f:
            whole = json.load(f)
        whole["crystal"] = []
        for one in whole["experiment"]:
            one.pop("crystal", None)
        with open(name + ".expt", "w", encoding="ascii") as f:
            json.dump(whole, f)
        subprocess.run([program, *plain, *"-cell 40 50 60 -stills 1 -geom".split(), name + ".geom", "-hdf5", name + ".h5"], check=False, capture_output=True)
    subprocess.run([program, *plain, *"-cell 40 50 60 -detpixels_f 24 -detpixels_s 20 -pixel 2 -distance 80 -lambda 1.1 -twotheta 9 -nofloat -intfile tilted.img".split()], check=False, capture_output=True)
    subprocess.run([program, *plain, *"-cell 40 50 60 -detpixels 20 -pixel 2 -distance 70 -stills 4 -orientations random -truth spots -crystals 2 -hdf5 s.h5 -streamout crystals.stream".split()],
                          check=False, capture_output=True)
    if not os.path.exists("crystals.stream"):
        write("crystals.stream", ["no HDF5 in this build"])


def make_pixels(n):
    """Writes files of n pixels."""
    rng = numpy.random.default_rng(n)
    for name, low, high in (("t", 0, 2), ("a", 0, 9), ("n", -5, 9), ("one", 1, 1), ("zero", 0, 0)):
        file = f"{name}_{n}.bin"
        if not os.path.exists(file):
            rng.uniform(low, high, n).astype("f4").tofile(file)
