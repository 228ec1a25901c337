# SPDX-License-Identifier: MIT
"""Random command lines over the flags of nanoBragg, and the files that they name.

A command line is a list of options, each a list of words, the flag first.  It depends on the seed
and its number alone.  Images are small and steps few, so that a thousand run in minutes."""
import os
import random
import struct

WIDTH, HEIGHT = 24, 20  # pixels of the SMV files

# {flag of nanoBragg without samples: the reason}.
LEFT_OUT = {
    "-stolout": "no effect in either program",
    "-floatfile": "the file that is compared", "-floatimage": "the file that is compared",
    "-printout": "prints a line a pixel", "-printout_pixel": "prints only",
}


def header(**keys):
    """Bytes of an SMV file with these keys in its header; some of its pixels are 0."""
    text = "{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\n"
    text += f"SIZE1={WIDTH};\nSIZE2={HEIGHT};\n"
    text += "".join(f"{key}={value};\n" for key, value in keys.items()) + "}\n\f"
    pixels = [0 if i * 7919 % 11 == 0 else i % 300 + 1 for i in range(WIDTH * HEIGHT)]
    return text.ljust(512).encode() + struct.pack(f"<{len(pixels)}H", *pixels)


# {name of an SMV file: header keys, as other programs write them}.
HEADERS = {
    "plain.img": dict(PIXEL_SIZE=0.5, DISTANCE=80, WAVELENGTH=1.1, BEAM_CENTER_X=5.5,
                      BEAM_CENTER_Y=6.25, PHI=12),
    "close.img": dict(PIXEL_SIZE=0.5, DISTANCE=85, CLOSE_DISTANCE=80, WAVELENGTH=1.1),
    "swung.img": dict(PIXEL_SIZE=0.5, DISTANCE=85, CLOSE_DISTANCE=80, TWOTHETA=20),
    "still.img": dict(PIXEL_SIZE=0.5, DISTANCE=85, PHI=3, OSC_RANGE=0),
    "xds.img": dict(PIXEL_SIZE=0.5, DISTANCE=85, XDS_ORGX=10.5, XDS_ORGY=9.25),
    "mask.img": dict(PIXEL_SIZE=0.5),
    "centred-mask.img": dict(PIXEL_SIZE=0.5, BEAM_CENTER_X=5.5, BEAM_CENTER_Y=6.25),
}


def write_inputs(folder):
    """Writes the files that command lines may name."""
    rng = random.Random("inputs")
    for name, keys in HEADERS.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(header(**keys))
    texts = {
        "a.mat": "0.01 0.001 0\n-0.002 0.012 0.001\n0.0005 0.0003 0.015\n",
        "two.txt": "-10 0 0 1 1.00e-10\n-10 0.01 0 3 1.01e-10\n",
        "full.hkl": "".join(f"{h} {k} {l} {rng.uniform(1, 200):.2f}\n" for h in range(-9, 10)
                            for k in range(-9, 10) for l in range(-9, 10)),
        "few.hkl": "0 0 0 300\n1 0 0 120\n0 1 0 60\n0 0 1 90\n-1 2 1 70\n2 1 -1 50\n",
    }
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as out:
            out.write(text)


def shown(value):
    return str(value) if isinstance(value, int) else f"{value:.8g}"


class Sampler:
    """Draws one command line; crystal, factors, beam ... add options of one kind."""

    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed}/{number}")
        self.options = []

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def add(self, flags, *values):
        """Adds one of the spellings of a flag (words of `flags`), with values."""
        flag = self.rng.choice(flags.split())
        self.options.append([flag] + [v if isinstance(v, str) else shown(v) for v in values])

    def maybe(self, percent, flags, *choices):
        """Adds, with this probability in percent, a flag with one of the choices: a
        value, or a tuple of values."""
        if self.chance(percent):
            pick = self.rng.choice(choices) if choices else ()
            self.add(flags, *(pick if isinstance(pick, tuple) else (pick,)))

    def between(self, low, high):
        return round(self.rng.uniform(low, high), 3)

    def direction(self, x, y, z):
        """Returns a vector along (x, y, z), sometimes longer and sometimes tilted."""
        v = [x, y, z]
        if self.chance(40):
            v = [a * 2.5 for a in v]
        if self.chance(40):
            v = [round(a + self.rng.uniform(-0.1, 0.1), 3) for a in v]
        return tuple(v)

    def cell(self):
        r = self.rng
        a, b, c = (self.between(20, 120) for _ in range(3))
        kinds = [(a,), (100,), (a, b, c), (a, b, c, 90, 90, 90), (a, b, c, 90, 105.5, 90),
                 (a, a, c, 90, 90, 120), (a, a, a, 75, 75, 75), (70, 80, 90, 75, 85, 95),
                 (a, b, c, self.between(80, 100), self.between(80, 100), self.between(80, 100))]
        if self.chance(88):
            self.add("-cell", *r.choice(kinds))
        if not self.options or self.chance(8):
            self.add("-mat", "a.mat")

    def crystal(self):
        r = self.rng
        self.cell()
        if self.chance(55):
            self.add("-misset", *(self.between(-180, 180) for _ in range(3)))
        elif self.chance(12):
            self.add("-misset", "random")
        self.maybe(8, "-misset_seed", 5, 12345, -7)
        self.maybe(70, "-N", 1, 2, 3, 4, 5, 8, 0 if self.chance(10) else 6)
        for flag in ("-Na", "-Nb", "-Nc"):
            self.maybe(15, flag, 1, 3, 7)
        self.maybe(6, "-samplesize -sample_size -xtalsize -xtal_size", 0.00003, 0.00005)
        self.maybe(3, "-sample_thick -sample_x -xtal_thick -xtal_x", 0.00004)
        self.maybe(3, "-sample_width -sample_y -width -xtal_width -xtal_y", 0.00004)
        self.maybe(3, "-sample_heigh -sample_z -heigh -xtal_heigh -xtal_z", 0.00004)
        self.maybe(35, r.choice(["-round_xtal", "-gauss_xtal", "-binary_spots", "-tophat_spots",
                                 "-square_xtal"]))
        self.maybe(12, "-fudge", 0.5, 1, 1.7)
        self.maybe(25, "-mosaic -mosaici -mosaic_spr", 0, 0.5, 2, 180)
        self.maybe(20, "-mosaic_dom", 1, 2, 4)
        self.maybe(8, "-mosaic_seed", 1, 99, 12345678, -5)
        self.maybe(2, "-density -sample_den", 1.2)
        self.maybe(2, "-MW -molec", 18)

    def factors(self):
        self.maybe(40, "-hkl", "full.hkl", "few.hkl")
        if self.chance(30) or not any(o[0] == "-hkl" for o in self.options):
            self.add("-default_F", self.rng.choice([1, 100, 37.5]))
        self.maybe(8, "-interpolate -nointerpolate")
        self.maybe(12, "-dmin", 0, 3, 8, 30)
        self.maybe(2, "-dump", "cache.bin")
        self.maybe(1, "-stol -4stol -Q", "few.hkl")

    def beam(self):
        self.maybe(70, "-lambda -wave", 1, 1.5, 0.97935, self.between(0.5, 6))
        self.maybe(12, "-energy", 12398.42, 9000, 7112.5)
        self.maybe(12, "-fluence", 1e28, 3e30)
        self.maybe(10, "-flux", 0, 1e20)
        self.maybe(8, "-exposure", 0.1, 2)
        self.maybe(8, "-beamsize", 0.1, 0.02, 0.00003)
        self.maybe(25, "-polar", 0, 1, 0.95, -0.5)
        self.maybe(12, "-nopolar")
        self.maybe(7, "-sourcefile", "two.txt")
        self.maybe(2, "-coherent")
        self.divergence()
        self.maybe(12, "-dispersion", 0.5, 3)
        self.maybe(12, "-dispsteps", 1, 3)

    def divergence(self):
        self.maybe(8, "-divergence", 0.5, 3)
        self.maybe(8, "-hdivrange", 1, 4)
        self.maybe(8, "-vdivrange", 1, 4)
        self.maybe(4, "-hdivstep", 0.7)
        self.maybe(4, "-vdivstep", 0.5)
        self.maybe(4, "-hdivsteps", 1, 3, 4)
        self.maybe(4, "-vdivsteps", 1, 3)
        self.maybe(4, "-divsteps", 2, 3)
        self.maybe(8, "-square_div -round_div")

    def spindle(self):
        self.maybe(35, "-phi", 0, 10, -1, -0.5, self.between(-180, 180))
        self.maybe(25, "-osc", 0, 1, 0.5, 10, -1 if self.chance(10) else 2)
        self.maybe(15, "-phistep", 0, 0.25, 0.3)
        self.maybe(20, "-phisteps", 1, 2, 3, 4)
        if self.chance(4):
            self.add("-spindle_axis", *self.direction(0, 0, 1))

    def size(self):
        pixels = self.rng.choice([12, 20, 24, 31])
        self.maybe(92, "-detpixels", pixels)
        self.maybe(6, "-detpixels_f -detpixels_x", 16)
        self.maybe(6, "-detpixels_s -detpixels_y", 25)
        if not any(o[0].startswith("-detpixels") for o in self.options):
            self.add("-detsize", 10)
            self.options.append(["-pixel", "0.5"])
        self.maybe(3, "-detsize", 9.9)
        self.maybe(3, "-detsize_f", 8)
        self.maybe(3, "-detsize_s", 7)
        self.maybe(80, "-pixel", 0.5, 1, 2, 0.172)
        self.maybe(55, "-distance", 100, 60, 123.4567, 300)
        self.maybe(12, "-close_distance", 90, 55.5)
        self.maybe(8, "-roi", (0, 8, 2, 9), (3, 3, 4, 4), (0, pixels, 0, pixels),
                   (0, pixels - 1, 0, pixels - 1))
        self.maybe(4, "-mask", "mask.img", "centred-mask.img")
        self.maybe(6, "-img", "plain.img", "close.img", "swung.img", "still.img", "xds.img")

    def sensor(self):
        self.maybe(8, "-detector_thick", 0, 300)
        self.maybe(8, "-detector_abs", 200, 0, "inf")
        self.maybe(6, "-detector_thicksteps -thicksteps", 1, 2, 3)
        self.maybe(4, "-curved_det")
        self.maybe(8, "-point_pixel")

    def place(self):
        self.maybe(55, "-mosflm -xds -adxv -denzo -dials")
        self.maybe(12, "-Xbeam", 5, 6.05, -3)
        self.maybe(12, "-Ybeam", 4, 7.15)
        self.maybe(5, "-Xclose", 5, 6.05)
        self.maybe(5, "-Yclose", 4, 7.15)
        self.maybe(10, "-ORGX", 10, 0.5, 12.25)
        self.maybe(10, "-ORGY", 11, -4)
        for axis in "xyz":
            self.maybe(15, "-detector_rot" + axis, 5, -12, 40)
        self.maybe(15, "-twotheta", 0, 10, -25, 70)
        self.maybe(5, "-pivot", "beam", "sample")
        axes = {"-fdet_vector": (0, 0, 1), "-sdet_vector": (0, -1, 0),
                "-odet_vector": (1, 0, 0), "-beam_vector": (1, 0, 0),
                "-polar_vector": (0, 0, 1), "-twotheta_axis": (0, 1, 0)}
        for flag, axis in axes.items():
            if self.chance(4):
                self.add(flag, *self.direction(*axis))
        self.maybe(2, "-pix0_vector", (0.1, 0.004, -0.006))

    def sampling(self):
        self.maybe(70, "-oversample", 1, 2, 3)
        for what in ("thick", "polar", "omega"):
            self.maybe(6, "-oversample_" + what)
        self.maybe(8, "-water", 0.01, 0.1)

    def outputs(self):
        self.maybe(80, "-nonoise")
        self.maybe(80, "-nopgm")
        self.maybe(6, "-adc", 0, 40)
        self.maybe(6, "-scale", 1, 0.01)
        self.maybe(3, "-pgmscale", 1)
        self.maybe(4, "-seed", 1, 77, -3)
        self.maybe(3, "-intfile -intimage", "i.img")
        self.maybe(3, "-noisefile -noiseimage", "n.img")
        self.maybe(3, "-pgmfile -pgmimage", "p.pgm")
        self.maybe(3, "-noprogress -progress")


def command_line(seed, number):
    """Options in random order: of two contradictory options nanoBragg uses the last."""
    s = Sampler(seed, number)
    for part in (s.crystal, s.factors, s.beam, s.spindle, s.size, s.sensor, s.place, s.sampling,
                 s.outputs):
        part()
    s.rng.shuffle(s.options)
    return s.options
