#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random combinations of flags, with checks that need no second model.

A trial is a number.  It draws a command line and a few checks: a frame alone is that of its series, a line of -jobs or a drawn number
is the typed flag, the list of -truth adds up to the image, a switch that is off changes nothing, a region is a part of the image, ...
Every run ends well, or with status 2 and one line; every image is finite.

usage: test_combined.py [FIRST COUNT] [--program P] [--device D] [--jobs n] [--check NAME] [--shrink] [--keep FOLDER] [--flags TEXT]
  --shrink  leave out flags of a failed trial, as long as it fails
  --keep    make the files and run the trials in this folder, and leave it
  --flags   flags behind those of every command
"""
import argparse
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    print("skip combined # python3-numpy is not installed")
    sys.exit(0)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.environ.get("NB_SOURCE", os.path.join(HERE, "..", "..")))
QUIET = "-threads 1 -quiet -noprogress -noint -nopgm".split()
LIMIT = 20  # seconds a run may take
FACTORS = {"5e5z.pdb": "models/5e5z.pdb", "special.pdb": "models/made-special.pdb", "r32.pdb": "models/made-r32.pdb", "hydrogens.pdb": "models/made-hydrogens.pdb",
           "models.pdb": "models/made-models.pdb", "1aki.pdb": "models/1aki.pdb", "copper.pdb": "models/4oz7.pdb", "small.cif": "models/made-small.cif",
           "pairs.mtz": "reflections/made-pairs.mtz", "intensities.mtz": "reflections/made-intensities.mtz"}
PANELS = {"two": (24, 42), "three": (14, 30)}  # pixels of the detectors from files

# In the texts below ~a:b is a number between a and b, and #a:b a whole one.
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
          "-mosaic_aniso 0.4 0.3 0.7 -mosaic_dom 4 -mosaic_model gauss", "-mosaic_blocks blocks.txt", "-mosaic 0.3 -mosaic_dom 4 -mosaic_model gauss -mosaic_tail 0.2"]
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
DIFFUSE = ["-diffuse_sigma ~0.1:0.4 -diffuse_gamma ~1:3", "-diffuse_sigma 0.2 0.3 0.4 -diffuse_gamma 2 -diffuse_halo gauss", "-diffuse_sigma ~0.1:0.3 -diffuse_gamma ~2:14",
           "-diffuse_sigma 0.3 -diffuse_gamma ~2:3 -diffuse_F unperturbed", "-diffuse_sigma ~0.2:0.4 -diffuse_gamma ~3:12 -diffuse_only"]
DOSE = ["-dose ~0.5:3", "-dose ~0.5:3 -damage_half ~4:9", "-dose ~0.5:3 -damage_cell ~0.05:0.3 -damage_B 2", "-dose auto"]
NUMBERS = ["-precision double", "-precision single", "-isa scalar", "-isa avx2", "-tolerance 0", "-tolerance 1e-4"]
# What a line, or a crystal of a list, may say
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
# Laws of -vary; of CHOICE names a choice of one number is the typed flag
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
# Flags that are off, where the scene does not have the first of them
OFF = ["-Fscale 1", "-Badd 0", "-crystals 1", "-crystals [{}]", "-water 0", "-dose 0", "-dmin 0", "-fudge 1", "-blocks 1", "-osc 0", "-mosaic 0", "-mosaic_tail 0", "-absorb sphere:200 -absorb_mu 0", "-footprint box:0:0",
       "-footprint gauss:0:0", "-twin h,k,l:0.3", "-twin -h,-k,l:0", "-divergence 0", "-dispersion 0", "-phisteps 1", "-flicker 0", "-detector_thick 0", "-transmission one_PIXELS.bin", "-add zero_PIXELS.bin",
       "-damage_cell 0", "-polar 0", "-phi 0", "-misset 0 0 0", "-mosaic_dom 1", "-square_xtal", "-stills 1 -only_frame 0", "-beamstop disc:5:1", "-twotheta 0", "-detector_rotx 0", "-fill default"]
# Flags of the same number: a drawn one takes the place of the others
SAME = [("N", "Na", "Nb", "Nc", "samplesize", "sample_x"), ("lambda", "energy"), ("fluence", "flux"), ("distance", "close_distance"), ("blocks", "crystal_volume")]
GEOMETRY = set("distance close_distance Xbeam Ybeam Xclose Yclose ORGX ORGY detector_rotx detector_roty detector_rotz twotheta panel mask detpixels pixel".split())


TABLE, FILE, SHAPED = ("hkl", "pdb", "mtz", "cif"), ("geom", "expt", "nxmx", "detector", "img"), ("gauss_xtal", "round_xtal", "tophat_spots")
# What a drawn name mostly goes with, and what it mostly does not go with
NEEDS = {"Badd": TABLE, "Fscale": TABLE, "F000": TABLE, "fill": TABLE, "damage_B": ("dose",), "damage_cell": ("dose",), "damage_half": ("damage_half",), "bandwidth": ("spectrum",), "pulse_length": ("pulse_length",),
         "diffuse_sigma": ("diffuse_sigma",), "diffuse_gamma": ("diffuse_sigma",), "fudge": SHAPED, "mosaic": ("mosaic",), "mosaic_dom": ("mosaic",), "absorb_mu": ("absorb",), "exposure": ("flux",), "flux": ("flux",),
         "beamsize": ("flux",), "hdivrange": ("hdivrange",), "divergence": ("divergence",), "dispersion": ("dispersion",), "ORGX": ("xds",), "osc": ("osc",), "phisteps": ("osc",), "sample_x": ("samplesize",),
         "samplesize": ("samplesize",), "crystal_volume": ("crystal_volume",), "panel": ("geom", "expt", "nxmx"), "close_distance": ("close_distance",), "Na": ("Na", "N")}
RAY = ("sourcefile", "spectrum", "dispersion", "divergence", "hdivrange", "spectra")
AGAINST = {"N": ("samplesize", "Na"), "Na": ("samplesize",), "cell": ("mat",), "cell_a": ("mat", *TABLE[1:]), "cell_b": ("mat", *TABLE[1:]), "hkl": TABLE[1:], "pdb": ("hkl", "mtz", "cif"), "mtz": ("hkl", "pdb", "cif"),
           "fluence": ("flux",), "sourcefile": RAY, "spectrum": RAY, "misset_y": ("crystals", "orientations", "misset_seed"), "lambda": ("mat", "spectra", "energy"), "energy": ("mat", "spectra"), "blocks": ("crystal_volume",),
           "dispersion": ("spectrum", "sourcefile", "spectra"), "divergence": ("sourcefile", "spectra"), "mosaic": ("mosaic_blocks",), "distance": ("close_distance", *FILE), "ORGX": ("Xbeam", *FILE), "mat": ("cell", "expt"),
           **{x: FILE for x in ("Xbeam", "Ybeam", "Xclose", "detector_rotx", "detector_rotz", "twotheta", "mask", "close_distance")}}


class Refused(Exception):
    """The program refused a command line as it should."""


class Failure(Exception):
    pass


def by_name(text):
    """Flags by name, with the words of each."""
    flags = {}
    for word in text.split():
        if re.fullmatch("-[A-Za-z4][A-Za-z_0-9]*", word):
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
    """A flag's words as a value of JSON."""
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


class Trial:
    """A drawn scene: flags by name, those of its series, laws, lines, a list of crystals."""

    def __init__(self, number):
        self.number, self.rng, self.log, self.lit, self.runs = number, random.Random(number), [], False, 0
        self.flags, self.series, self.laws, self.lines, self.crystals, self.files = {}, {}, [], [], None, {}

    # ---------------------------------------------------------------- drawing

    def text(self, text):
        """A text with its numbers drawn."""
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
        """Does the scene have one of these flags, or a line or crystal of it?"""
        said = {*self.flags, *self.series, *(x for line in [*self.lines, *(self.crystals or [])] for x in line), *(x.split(":")[0] for law in self.laws for x in law.split(","))}
        said |= {name for line in self.lines if "crystals" in line for one in as_list(line["crystals"]) for name in one}
        return bool(said & set(names))

    def model(self):
        return self.has("pdb", "mtz", "cif")

    def table(self):
        return self.has(*TABLE)

    def fits(self, name):
        """Does the name go with the flags?  Now and then any does."""
        name = name.split(":")[0]
        good = (name not in NEEDS or self.has(*NEEDS[name])) and not self.has(*AGAINST.get(name, ())) and not (name == "crystals" and self.crystals)
        return good or self.rng.random() < 0.06

    def sample(self, names, least, most):
        names = [x for x in sorted(names) if self.fits(x)]
        return self.rng.sample(names, min(len(names), self.rng.randint(least, most)))

    def members(self, table, most, fixed=()):
        names = self.sample(table, 0 if fixed else 1, most)
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
            small = self.flags.get("hkl") == ["low.hkl"] or self.flags.get("pdb") == ["5e5z.pdb"]
            self.take(0.5 if small else 0.05, DIFFUSE)
            if not small and self.has("diffuse_gamma"):
                self.flags["diffuse_gamma"] = ["1.5"]
        self.take(0.12 if self.table() else 0, DOSE)
        if "oversample" not in self.flags:
            self.take(0.95, ["-oversample 1", "-oversample 1", "-oversample 2"])
        series = rng.random() < 0.55
        if rng.random() < (0.3 if series else 0.5) and "box" not in self.flags.get("absorb", [""])[0]:
            self.crowd()
        if series:
            self.draw_series()
        else:
            self.take(0.15, ["-osc ~0.3:2 -phisteps #1:3"])
            self.take(0.08 if not self.has("geom", "expt", "nxmx", "roi") else 0, ["-roi 2 12 3 11"])

    def crowd(self):
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
            self.series.update(by_name(rng.choice(["", "-orientations random", "-orientations random", "-orientations angles.txt", "-orientations turning.txt", "-orientations crystals.stream" if not self.has("mat", "crystals", "expt") and self.crystals is None else "", "-spectra spectra.txt" if not self.has(*RAY) else ""])))
        if kind == "stills" and rng.random() < 0.15:
            self.series.update(by_name(rng.choice(["-jitter_fluence 10", "-jitter_lambda 0.5", "-jitter_cell 0.5", "-jitter_mosaic 20", "-jitter_beam 0.5"])))
        if kind != "jobs" or rng.random() < 0.15:
            if rng.random() < 0.45:
                self.laws = [f"{name}:choice:{CHOICE[name]}" for name in self.sample(CHOICE, 1, 2)]
            elif rng.random() < 0.8:
                self.laws = self.sample(LAWS, 1, 4)

    # ---------------------------------------------------------------- words

    def base(self, crystals="own", flags=None):
        crystals = self.crystals if crystals == "own" else crystals
        words = words_of(flags or self.flags)
        if crystals is not None:
            text = "[" + ", ".join(map(line_of, crystals)) + "]"
            if self.number % 2 and text != "[]":
                self.files["list.txt"] = "".join(line_of(x) + "\n" for x in crystals)
                text = "list.txt"
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

    # ---------------------------------------------------------------- running

    def run(self, words, threads=None, kill=None):
        for name, text in self.files.items():
            if text is not None:
                with open(name, "w", encoding="ascii") as f:
                    f.write(text)
        words = ["-device", ARGS.device, *QUIET, *words, *(["-threads", str(threads)] if threads else []), *ARGS.flags.split()]
        self.log.append("$NANOBRAGG " + shlex.join(words))
        self.runs += 1
        with subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace") as process:
            if kill:
                stop = time.time() + LIMIT
                while process.poll() is None and not os.path.exists(kill) and time.time() < stop:
                    time.sleep(0.0005)
                process.kill()
            try:
                says = process.communicate(timeout=ARGS.limit)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise Failure(f"still running after {ARGS.limit} s") from None
        if kill:
            return
        errors = [x for x in says.splitlines() if "error:" in x]
        if "Sanitizer" in says or "runtime error:" in says:
            raise Failure("sanitizer: " + next(x for x in says.splitlines() if "Sanitizer" in x or "runtime error" in x))
        if process.returncode not in (0, 2):
            raise Failure(f"exit status {process.returncode}: {says[-300:]}")
        if process.returncode == 2:
            if len(errors) != 1 or "internal" in says:
                raise Failure(f"{len(errors)} lines of error: {says[-300:]}")
            raise Refused(errors[0])

    def image(self, words, file="x.bin", **more):
        """The photons of a single image."""
        remove(file)
        self.run([*words, "-nonoise", "-floatfile", file], **more)
        return self.pixels_of(file)

    def pixels_of(self, file):
        image = numpy.fromfile(file, "f4")
        brightest = abs(image).max() if image.size else 0
        if not image.size or not numpy.isfinite(image).all():
            raise Failure(f"{file}: {image.size} pixels, {(~numpy.isfinite(image)).sum()} of them not finite")
        if image.min() < 0 and not self.has("add") and image.min() < -1e-6 * brightest:
            raise Failure(f"{file}: a pixel has {image.min()} photons")
        if brightest > 1e-12 * self.most_fluence():
            raise Failure(f"{file}: a pixel has {brightest} photons")
        self.lit |= bool(image.any())
        return image

    def most_fluence(self):
        """The largest fluence that the scene may have; its brightest pixels have up to 1e-15 of it."""
        return max([2e29] if not self.has("fluence", "flux") else [8 * float(x["fluence"][0]) for x in (self.flags, *self.lines) if "fluence" in x] + [1e31 if self.has("flux") else 0] + [1e26 if self.laws else 0])

    def frames(self, pattern="o_%d.bin", threads=None, words=None):
        for k in range(1, 12):
            remove(pattern % k)
        self.run([*(words or self.all_words()), "-output", pattern], threads=threads)
        return [pattern % (k + 1) for k in range(self.count())]


def as_list(words):
    return [x for x in json.loads(words[0])] if words[:1] and words[0].startswith("[") else []


def remove(file):
    if os.path.exists(file):
        os.remove(file)


def read(file):
    with open(file, "rb") as f:
        return f.read()


def same(one, two, part=0.0, what="other pixels"):
    """Images that are equal to the byte, or to a part of the brightest pixel."""
    if one.shape != two.shape:
        raise Failure(f"{what}: {one.size} and {two.size} pixels")
    if one.tobytes() == two.tobytes():
        return
    one, two = one.astype(float), two.astype(float)
    most = max(abs(one).max(), abs(two).max())
    off = abs(one - two).max()
    if part == 0 or off > part * most:
        raise Failure(f"{what}: {(one != two).sum()} of {one.size} pixels differ, by {off / most:.2g} of the brightest, {most:.4g}; sums {one.sum():.6g} {two.sum():.6g}")


# -------------------------------------------------------------------- checks

def check_alone(t, rng):
    """-only_frame makes the frame of the series, with the same bytes; counts, too."""
    counts = rng.random() < 0.25 and not t.has("geom", "expt", "nxmx")
    files = t.frames("o_%d.img" if counts else "o_%d.bin")
    k = rng.randrange(len(files))
    words = [*t.all_words(), "-only_frame", str(k)]
    try:
        if counts:
            remove("n.img")
            t.run([*words, "-nofloat", "-noisefile", "n.img"])
            n = 2 * t.pixels()
            if read("n.img")[-n:] != read(files[k])[-n:]:
                raise Failure(f"counts of frame {k} of the series and alone differ")
            return
        t.log.append(f"# frame {k} is {files[k]}")
        same(t.pixels_of(files[k]), t.image(words), what=f"frame {k} of the series and alone")
    except Refused as why:
        if "-only_frame with -spectra" not in str(why):
            raise Failure(f"the series renders, and frame {k} alone is refused: {why}") from None


def typed(t, k):
    """Words that type frame k of a series."""
    flags, seed = t.flags, int(t.flags["seed"][0])
    more = {"seed": [str(seed_of(seed, k))]}
    kind = t.series.get("orientations", [""])[0]
    if kind == "random":
        more.update(by_name(f"-misset random -misset_seed {more['seed'][0]}"))
    elif kind == "angles.txt":
        with open(kind, encoding="ascii") as f:
            more["misset"] = f.read().splitlines()[k].split()
    for law in t.laws:
        name, _, value = law.split(":")
        more[name] = [value]
        same_number = next((x for x in SAME if name in x), ())
        flags = {flag: has for flag, has in flags.items() if flag not in same_number}
    more.update({name: value for name, value in (t.lines[k] if t.lines else {}).items()})
    return t.base(flags=flags) + words_of(more)


def can_type(t):
    return (not t.has("frames", "dose", "jitter_fluence", "jitter_lambda", "jitter_cell", "jitter_mosaic", "jitter_beam", "spectra", "damage_B", "damage_cell", "damage_half") and t.count() and
            t.series.get("orientations", ["random"])[0] in ("random", "angles.txt") and all(re.fullmatch("[a-zA-Z_]+:choice:[^:,]+", x) for x in t.laws) and not (t.lines and t.laws) and
            not (t.has("add") and t.has("spectrum", "pulse_length", "fluence", "flux", "exposure", "beamsize")) and
            not ("orientations" in t.series and (t.crystals is not None or t.has("crystals") or t.has("mat") or "crystal" in t.flags.get("expt", [""])[0])))


def check_typed(t, rng):
    """A line of -jobs, or a drawn number, is the typed flag: the same pixels, or both are refused."""
    k = rng.randrange(t.count())
    words, said = typed(t, k), None
    try:
        files = t.frames()
    except Refused as why:
        said = why
    if said:
        alone = []
        for j in range(t.count()):
            try:
                alone.append(t.image(typed(t, j)))
            except Refused:
                return
        known = ["of the whole series", "pixels", "a detector from a file", "cannot vary", "-vary", "jobs"]
        where = t.has("geom", "expt", "nxmx", "detector", "img", "mask") and t.has(*GEOMETRY)
        if not where and not any(x in str(said) for x in known[:4]):
            raise Failure(f"refused in a series, not if it is typed: {said}")
        return
    try:
        t.log.append(f"# frame {k} is {files[k]}")
        same(t.pixels_of(files[k]), t.image(words), what=f"frame {k} and the typed flags")
    except Refused as why:
        if t.has("geom", "expt", "nxmx"):
            t.log.append("# " + str(why))
        raise Failure(f"the series renders what is refused if it is typed: {why}") from None


def check_truth(t, rng):
    """The list of reflections and the numbers of its header add up to the image."""
    series = []
    if t.series or t.lines:
        series = ["-only_frame", str(rng.randrange(t.count()))]
    words = [*t.all_words(), *series]
    plain = t.image(words, "y.bin") if rng.random() < 0.3 else None
    remove("t.tsv")
    try:
        image = t.image([*words, "-truth", "spots", "-truth_min", rng.choice(["1e-12", "0"]), "-truthfile", "t.tsv"])
    except Refused as why:
        if plain is not None or "written to HDF5" in str(why):
            raise Failure(f"refused with -truth, not without: {why}") from None
        raise
    with open("t.tsv", encoding="ascii") as f:
        head, names, *rows = f.read().splitlines()
    said = re.findall(r"([a-z][a-z ]*) (-?[0-9.]+(?:e[-+]?\d+)?)", head.split(";")[1])
    at = names.split("\t").index("intensity")
    listed = sum(float(x.split("\t")[at]) for x in rows)
    total, pixels = listed + sum(float(x[1]) for x in said), image.astype(float)
    off = (total - pixels.sum()) / max(abs(pixels).sum(), 1e-30)
    lost = t.has("footprint") and len(said) - ("diffuse" in head) <= 2  # the header does not say what leaves the panels
    if off < -5e-6 or (off > 5e-6 and not lost):
        raise Failure(f"list {listed:.8g}, header {said}: together {off:.2g} off the image, {pixels.sum():.8g}")
    if plain is not None:
        same(image, plain, 2e-6, what="the image with -truth and without")


def check_off(t, rng):
    """A switch that is off changes no byte."""
    choices = [x for x in OFF if not t.has(x.split()[0][1:])]
    off = t.text(rng.choice(choices)).split()
    if off[0] == "-crystals" and t.crystals is not None or off[0] == "-mosaic_dom" and t.has("mosaic", "mosaic_aniso", "mosaic_blocks") or off[0] == "-misset" and t.has("mat", "expt"):
        return
    if off[0] in ("-square_xtal",) and t.has(*(x.split()[0][1:] for x in SHAPE)) or off[0] == "-phisteps" and t.has("osc") or off[0] == "-damage_cell" and not t.has("dose"):
        return
    if off[0] == "-dmin" and t.model() or off[0] in ("-divergence", "-dispersion", "-phi", "-twotheta", "-osc") and t.has("hdivrange", "vdivrange", "expt", "img", "mask", "sourcefile", "spectrum"):
        return
    if off[0] == "-blocks" and t.has("crystal_volume") or off[0] == "-twin" and "box" in t.flags.get("absorb", [""])[0] or off[0] == "-detector_thick" and t.has("detector"):
        return
    if off[0] in ("-fill", "-polar") and t.has("hkl", "nopolar", "expt"):
        return
    plain = t.image(t.base())
    try:
        image = t.image([*t.base(), *off])
    except Refused as why:
        if "contradicts" in str(why) or "need" in str(why) or "only" in str(why) or "no effect" in str(why):
            return
        raise Failure(f"{' '.join(off)} is refused: {why}") from None
    same(plain, image, 1e-12 if off[0] in ("-footprint",) else 0, what=" ".join(off))


def check_region(t, rng):
    """-roi is a part of the whole image; pixels outside of it are 0."""
    fast, slow = t.shape()
    a, b = sorted(rng.sample(range(fast), 2))
    c, d = sorted(rng.sample(range(slow), 2))
    if rng.random() < 0.5:
        b, d = min(b, a + 3), min(d, c + 3)
    whole = t.image(t.base()).reshape(slow, fast)
    part = t.image([*t.base(), "-roi", *map(str, (a, b, c, d))]).reshape(slow, fast)
    outside = numpy.ones(part.shape, bool)
    outside[c:d + 1, a:b + 1] = False
    if part[outside].any():
        raise Failure("light outside of the region")
    inside = whole[c:d + 1, a:b + 1]
    t.log.append(f"# the region {a} {b} {c} {d} of the image")
    most = max(abs(whole).max() * (1e-6 if not t.has("diffuse_sigma") else 1e-4), abs(inside).max() * 1e-2 if t.has("diffuse_sigma") else 0)
    off = abs(part[c:d + 1, a:b + 1] - inside).max()
    exact = not t.has("diffuse_sigma") and not t.model()
    if off > (0 if exact else most):
        raise Failure(f"region off by {off / max(abs(inside).max(), 1e-30):.2g} of its brightest pixel, {off / abs(whole).max():.2g} of the whole image's")


def check_linear(t, rng):
    """Twice the fluence is twice the photons."""
    name = "flux" if "flux" in t.flags else "fluence"
    plain = t.image(t.base())
    power = rng.choice([2, 8, 0.25])
    image = t.image([*t.base(), "-" + name, repr(float(t.flags[name][0]) * power)])
    same(plain.astype(float) * power, image.astype(float), 1e-6, what=f"{power} x -{name}")


def check_threads(t, rng):
    """Any number of threads makes the same bytes, noise too."""
    if t.series or t.lines:
        kind = rng.choice(["o_%d.bin", "o_%d.img", "o_%d.cbf"]) if not t.has("geom", "expt", "nxmx") else "o_%d.bin"
        one = [read(x) for x in t.frames(kind)]
        if one != [read(x) for x in t.frames(kind, threads=3)]:
            raise Failure("one and three threads make other frames")
        return
    seen = []
    for threads in (1, 3):
        remove("n.img")
        noise = ["-nonoise"] if t.has("geom", "expt", "nxmx", "detector") else ["-noisefile", "n.img"]
        t.run([*t.base(), "-floatfile", "x.bin", *noise], threads=threads)
        seen.append((t.pixels_of("x.bin").tobytes(), len(noise) > 1 and read("n.img")[-2 * t.pixels():]))
    if seen[0] != seen[1]:
        raise Failure(f"one and three threads make another image: photons {'differ' if seen[0][0] != seen[1][0] else 'are the same'}")


def check_order(t, rng):
    """Crystals of a list in another order."""
    other = t.crystals[::-1] if rng.random() < 0.5 else t.crystals[1:] + t.crystals[:1]
    same(t.image(t.base()), t.image(t.base(other)), 1e-6 if not t.has("diffuse_sigma") else 1e-4, what="crystals in another order")


def check_sum(t, rng):
    """The light of crystals of a list is that of each one typed, beside the background."""
    whole = t.image(t.base())
    none = t.image([*t.base(None), "-crystals", "0"]).astype(float)
    total = none.copy()
    for one in t.crystals:
        total += t.image([*t.base(None), *words_of(one)]).astype(float) - none
    same(whole.astype(float), total, 3e-6 if not t.has("diffuse_sigma") else 1e-4, what="the sum of crystals")


def check_dmin(t, rng):
    """A -dmin beyond the reflections of the table changes nothing."""
    at = rng.choice([0.15, 0.62]) * (3.9 if t.flags["hkl"] == ["low.hkl"] else 4.2) if not t.has("diffuse_sigma") else 0.4  # it hides pixels of diffuse light
    plain, image = t.image(t.base()), t.image([*t.base(), "-dmin", f"{at:.4g}"])
    same(plain, image, 1e-3 if t.has("diffuse_sigma") else 1e-6, what=f"-dmin {at:.4g}")


def check_empty(t, rng):
    """Without its crystal the image has the background alone."""
    keep = {"detpixels", "detpixels_f", "detpixels_s", "pixel", "geom", "nxmx", "img", "lambda", "energy", "fluence", "flux", "exposure", "beamsize", "polar", "nopolar", "oversample", "roi", "mask",
            "xds", "adxv", "denzo", "dials", "fdet_vector", "sdet_vector", "spindle_axis", "pivot", "Xbeam", "Ybeam", "ORGX", "ORGY", "curved_det", "point_pixel", "detector_thick", "detector_abs", "detector_thicksteps",
            "sensor", "layer_depth", "water", "background", "stol", "amorphous_thick", "beamstop", "transmission", "add", "seed", "panel", "detector", "distance", "close_distance", *GEOMETRY, "sourcefile",
            "divergence", "divsteps", "hdivrange", "vdivrange", "hdivsteps", "vdivsteps", "square_div", "dispersion", "dispsteps", "spectrum", "bandwidth", "split", "pulse_length", "line", "wavelengths", "isa"}
    plain = t.image([*words_of({name: words for name, words in t.flags.items() if name in keep}), *"-cell 50 -N 1 -default_F 0".split()])
    same(plain, t.image([*t.base(None), "-crystals", "0"]), 1e-6, what="-crystals 0 and the background")


def check_isa(t, rng):
    """The scalar renderer and that in double precision make the same image."""
    one = t.image(t.base())
    same(one, t.image([*t.base(), *rng.choice(["-isa scalar", "-precision double", "-isa sse2"]).split()]), 2e-6, what="another renderer")


def check_parts(t, rng):
    """Parts of a series, and one that is killed and resumed, make the frames of the whole."""
    whole = [read(x) for x in t.frames("w_%d.bin")]
    if rng.random() < 0.6:
        for part in ("0", "1-") if t.count() > 1 else ("0",):
            t.run([*t.all_words(), "-only_frame", f"0-0" if part == "0" else f"1-{t.count() - 1}", "-output", "o_%d.bin"])
        how = "in parts"
    else:
        remove("o_1.bin")
        t.run([*t.all_words(), "-output", "o_%d.bin"], kill="o_1.bin")
        t.run([*t.all_words(), "-output", "o_%d.bin", "-resume"])
        how = "resumed"
    if whole != [read(f"o_{k + 1}.bin") for k in range(t.count())]:
        raise Failure(f"the series {how} has other frames")


def check_slopes(t, rng):
    """Derivatives against central differences."""
    value = {"fluence": None, "polar": None, "lambda": None, "distance": None, "default_F": None, "water": None, "misset_x": None, "misset_z": None, "cell_a": None, "cell_b": None, "Na": None, "twotheta": None, "Xbeam": None,
             "mosaic": None, "dispersion": None, "fudge": None, "phi": None}
    flags = dict(t.flags)
    names = [x for x in value if x in flags or x == "misset_x" and "misset" in flags or x == "misset_z" and "misset" in flags or x in ("cell_a", "cell_b") and "cell" in flags]
    name = rng.choice(names)
    words = [*t.base(), "-precision", "double"]
    remove("d.bin")
    t.run([*words, "-nonoise", "-nofloat", "-derivatives", name, "-derivfile", "d.bin", "-derivtype", "float64"])
    plane = numpy.fromfile("d.bin")
    flag, axis = (name[:-2], "xyz".find(name[-1]) if name[0] == "m" else "ab".index(name[-1])) if name[-2:-1] == "_" and name != "default_F" else (name, 0)
    old = flags[flag]
    x = float(old[axis])
    step = abs(x) * 2e-3 if flag in ("fluence", "default_F", "water") else 2e-4 * {"misset": 40, "lambda": 0.5, "cell": 5, "distance": 40, "Na": 5, "twotheta": 40, "Xbeam": 50, "phi": 40}.get(flag, 1)
    differences = []
    for h in (step, step / 2):
        two = [t.image([*words, "-" + flag, *old[:axis], repr(x + s * h), *old[axis + 1:]]).astype(float) for s in (1, -1)]
        differences.append((two[0] - two[1]) / (2 * h))
    best, most = (4 * differences[1] - differences[0]) / 3, abs(plane).max()
    noise = 6e-8 * abs(two[0]).max() / step * 4
    off = abs(best - plane).max()
    if off > 2e-3 * most + noise + 2 * abs(differences[1] - differences[0]).max():
        raise Failure(f"derivative by {name}: off by {off / max(most, 1e-30):.2g} of the largest, {most:.4g} (noise {noise:.2g})")


def checks_of(t):
    """Checks that apply, with their weights."""
    flags, series = t.flags, bool(t.series or t.lines)
    plain = not series
    placed = t.crystals is not None and all("misset" in x for x in t.crystals) and not t.has("add")
    table = "hkl" in flags and flags["hkl"][0] in ("low.hkl", "mid.hkl") and flags.get("cell") in ("40 50 60".split(), "15 18 21 82 99 94".split())
    flat = not t.has("geom", "expt", "nxmx", "detector", "img", "hkl", "pdb", "mtz", "cif", "crystals", "twin", "tophat_spots", "dose", "interpolate", "absorb", "beamstop", "roi", "mask", "dmin", "footprint", "samplesize",
                     "add", "transmission", "spectrum", "N") and t.crystals is None
    return {"alone": 3 * series, "typed": (series and can_type(t)) * 4, "truth": 2 * (t.number % 3 == 0 or plain) * (not t.has("precision")), "off": 2 * plain,
            "region": 2 * (plain and not t.has("roi", "geom", "expt", "nxmx")), "linear": plain and "fluence" in flags and not t.has("add", "tolerance_photons") and flags.get("dose") != ["auto"], "threads": 0.7,
            "order": 6 * (plain and placed and len(t.crystals) > 1 and not t.has("twin")), "sum": 6 * (plain and placed and t.has("oversample") and not t.has("spectrum", "dose")),
            "dmin": 6 * (plain and table and not t.has("fill", "default_F", "dmin", "mat", "crystals") and (t.crystals is None or not any({"hkl", "pdb", "mtz", "cell"} & set(x) for x in t.crystals))),
            "empty": plain and t.has("oversample") and not t.has("expt", "osc", "dose"), "isa": 0.7 * (plain and not t.has("tophat_spots", "precision", "tolerance")),
            "parts": 0.5 * series, "slopes": 1.5 * (plain and flat)}


CHECKS = {name[6:]: value for name, value in globals().items() if name.startswith("check_")}


# -------------------------------------------------------------------- files

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


def make_files():
    """The files that the flags name, in this folder."""
    rng = random.Random(1)
    for name, path in FACTORS.items():
        shutil.copy(os.path.join(ROOT, "golden_data", "structure_factors", path), name)
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
        made = subprocess.run([PROGRAM, *plain, *"-cell 40 50 60 -misset 10 20 30 -geom".split(), name + ".geom", "-exptout", name + "_crystal.expt", "-noint", "-nofloat"], check=False, capture_output=True)
        with open(name + "_crystal.expt", encoding="ascii") as f:
            whole = json.load(f)
        whole["crystal"] = []
        for one in whole["experiment"]:
            one.pop("crystal", None)
        with open(name + ".expt", "w", encoding="ascii") as f:
            json.dump(whole, f)
        subprocess.run([PROGRAM, *plain, *"-cell 40 50 60 -stills 1 -geom".split(), name + ".geom", "-hdf5", name + ".h5"], check=False, capture_output=True)
    subprocess.run([PROGRAM, *plain, *"-cell 40 50 60 -detpixels_f 24 -detpixels_s 20 -pixel 2 -distance 80 -lambda 1.1 -twotheta 9 -nofloat -intfile tilted.img".split()], check=False, capture_output=True)
    made = subprocess.run([PROGRAM, *plain, *"-cell 40 50 60 -detpixels 20 -pixel 2 -distance 70 -stills 4 -orientations random -truth spots -crystals 2 -hdf5 s.h5 -streamout crystals.stream".split()],
                          check=False, capture_output=True)
    if not os.path.exists("crystals.stream"):
        write("crystals.stream", ["no HDF5 in this build"])


def make_pixels(n):
    """Files of n pixels."""
    rng = numpy.random.default_rng(n)
    for name, low, high in (("t", 0, 2), ("a", 0, 9), ("n", -5, 9), ("one", 1, 1), ("zero", 0, 0)):
        file = f"{name}_{n}.bin"
        if not os.path.exists(file):
            rng.uniform(low, high, n).astype("f4").tofile(file)


# -------------------------------------------------------------------- trials

def attempt(t, name):
    """The reason of a check's failure; "" if it is good, None if its command is refused."""
    t.log, t.files = [], {}
    fast, slow = t.shape()
    make_pixels(fast * slow)
    if t.has("mask"):
        smv(f"mask_{fast * slow}.img", fast, slow, [int(i % 11 > 1) for i in range(fast * slow)])
    try:
        CHECKS[name](t, random.Random(f"{t.number} {name}"))
    except Refused as why:
        t.why = str(why)
        return None
    except Failure as why:
        return str(why)
    return ""


def kind_of(why):
    return re.sub(r"exit status.*|[-0-9.e+]+", "", why, flags=re.DOTALL)[:40]


def shrink(t, name, why):
    """Leave out what the failure does not need."""
    kind = kind_of(why)

    def still(put_back):
        try:
            found = attempt(t, name)
        except (KeyError, IndexError, ValueError, ZeroDivisionError, TypeError):
            found = ""
        if not found or kind_of(found) != kind:
            put_back()
            return False
        return True
    again = True
    while again:
        again = False
        for table in (t.flags, t.series, *t.lines, *(t.crystals or [])):
            for flag in list(table):
                if table is t.flags and flag in ("seed", "detpixels", "detpixels_f", "detpixels_s", "pixel", "oversample", "wavelengths", "img", "cell", "geom", "expt", "nxmx", "stills", "frames"):
                    continue  # without them images are large
                old = dict(table)
                del table[flag]

                def back(table=table, old=old):
                    table.clear()
                    table.update(old)
                again |= still(back)
        for some in (t.lines, t.crystals or [], t.laws):
            for i in reversed(range(len(some))):
                old = list(some)
                del some[i]

                def restore(some=some, old=old):
                    some[:] = old
                again |= still(restore)
        if t.crystals is not None:
            old, t.crystals = t.crystals, None

            def whole(old=old):
                t.crystals = old
            again |= still(whole)
    return attempt(t, name)


def run_trial(number, only):
    """Names of checks, the reason of each, and what to print."""
    t = Trial(number)
    t.draw()
    weights = {name: float(w) for name, w in checks_of(t).items() if w}
    chooser = random.Random(f"{number} checks")
    chosen = {only} & set(weights) if only else {chooser.choices(list(weights), weights.values())[0] for _ in range(2)}
    results = []
    for name in sorted(chosen):
        why, text = attempt(t, name), ""
        if why and ARGS.shrink:
            why = shrink(t, name, why) or why
        if why:
            text = "\n".join([f"# trial {number}, {name}: {why}", *(f"# cat >{file} <<'E'\n" + "".join(f"# {x}\n" for x in body.splitlines()) + "# E" for file, body in t.files.items()), *("# " + x for x in t.log)])
        if why and ARGS.shrink:
            results.append((name, why, text))
            break  # the scene has changed
        if ARGS.verbose and why is None:
            text = f"# trial {number}, {name} refused: {t.why}"
        results.append((name, why, text))
    return number, results, t.runs, t.lit


def work(numbers, only, folder, out):
    """Trials of one process; a line of JSON for each."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    make_files()
    for number in numbers:
        out.write(json.dumps(run_trial(number, only)) + "\n")
        out.flush()


def all_trials(first, count, only, folder):
    numbers = range(first, first + count)
    if ARGS.jobs < 2:
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        make_files()
        for number in numbers:
            yield run_trial(number, only)
        return
    readers = []
    for j in range(ARGS.jobs):
        come, go = os.pipe()
        if os.fork() == 0:
            with os.fdopen(go, "w") as out:
                work(numbers[j::ARGS.jobs], only, os.path.join(folder, str(j)), out)
            os._exit(0)
        os.close(go)
        readers.append(os.fdopen(come))
    for reader in readers:
        for line in reader:
            yield json.loads(line)


def main():
    start, seen, runs, lit, refused, failed = time.time(), {}, 0, 0, 0, {}
    folder = os.path.abspath(ARGS.keep) if ARGS.keep else tempfile.mkdtemp()
    for number, results, more, light in all_trials(ARGS.first, ARGS.count, ARGS.check, folder):
        runs, lit = runs + more, lit + light
        for name, why, text in results:
            seen[name] = seen.get(name, 0) + 1
            refused += why is None
            if text:
                print(text, flush=True)
            if why:
                failed.setdefault(name, []).append(number)
    os.chdir("/")
    if not ARGS.keep:
        shutil.rmtree(folder)
    total = sum(seen.values())
    for name in sorted(seen):
        script.ok(name, name not in failed, f"failed in trials {failed.get(name)}")
    print(f"# {ARGS.count} trials, {total} checks {seen}, {100 * refused / max(total, 1):.0f} % refused, {100 * lit / ARGS.count:.0f} % lit, {runs} runs of {1000 * (time.time() - start) / max(runs, 1):.0f} ms")
    if not ARGS.check and ARGS.count > 50:
        script.ok("rendered", refused < 0.4 * total and lit > 0.6 * ARGS.count, f"{refused} of {total} checks refused, {lit} trials lit")
    sys.exit(bool(script.FAILED))


def arguments():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = 5000 if "NB_BIG" in os.environ else 40 if "NB_REDUCED" in os.environ else 200
    parse.add_argument("first", nargs="?", type=int, default=1)
    parse.add_argument("count", nargs="?", type=int, default=size)
    parse.add_argument("--program", default=os.environ.get("NANOBRAGG"))
    parse.add_argument("--device", default="cpu")
    parse.add_argument("--jobs", type=int, default=1)
    parse.add_argument("--check", choices=sorted(CHECKS))
    parse.add_argument("--shrink", action="store_true")
    parse.add_argument("--verbose", action="store_true")
    parse.add_argument("--keep")
    parse.add_argument("--flags", default="")
    parse.add_argument("--limit", type=float, default=LIMIT)
    return parse.parse_args()


if __name__ == "__main__":
    ARGS = arguments()
    PROGRAM = os.environ["NANOBRAGG"] = os.path.abspath(ARGS.program)
    sys.path.insert(0, os.path.join(HERE, "..", "support"))
    import script  # noqa: E402
    main()
