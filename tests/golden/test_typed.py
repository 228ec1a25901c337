#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each frame of a series with varying numbers is rendered again as a single image. Its
flags have values from -draws, orientations from the master file, the spectrum from
-spectrumout, and a line of flags for each crystal. The image has the same bytes."""
import json
import math
import os
import random
import re
import sys
import tempfile

import test_frames as frames  # this module draws flags that may be combined
from combined import by_name, words_of

try:
    import h5py
except ImportError:
    h5py = None

numpy, script = frames.numpy, frames.script
# (laws of -vary, flags that the laws need). draw() takes at most one row of each list.
CRYSTAL = [
    [("N:lognormal:30%", ""), ("N:normal:1", "-Na 3 -Nb 4 -Nc 5"), ("Na:uniform:2:6,Nc:normal:2", ""), ("Nb:poisson:5", ""), ("samplesize:uniform:8e-6:2e-5", "-samplesize 1e-5"),
     ("sample_x:normal:20%,sample_y:lognormal:20%,sample_z:gamma:9", "-sample_x 1e-5 -sample_y 2e-5 -sample_z 1e-5")],
    [("blocks:lognormal:50%", "-blocks 7"), ("crystal_volume:gamma:4", "-crystal_volume 3e-4")],
    [("fudge:uniform:0.8:1.3", "")],
    [("mosaic:lognormal:40%", "-mosaic 0.5 -mosaic_dom 3"), ("mosaic:uniform:0.2:0.9", "-mosaic_aniso 0.4 0.3 0.7 -mosaic_dom 4 -mosaic_model gauss"),
     ("mosaic:uniform:0.2:0.9", "-mosaic_tensor 0.16 0.25 0.49 0.1 0 -0.2 -mosaic_dom 4 -mosaic_model gauss")],
    [("Badd:normal:9", "")], [("Fscale:gamma:3", "")], [("default_F:uniform:0:5", "")],
    [("cell:normal:0.3%", ""), ("cell_a:uniform:31.5:32.5,cell_c:normal:0.2", ""),
     ("cell_b:normal:0.1,cell_al:normal:0.3,cell_be:uniform:89:91,cell_ga:normal:0.2", "")],
    [("rot_x:normal:3", ""), ("rot_z:uniform:-2:2,rot_y:normal:1e-3", ""), ("rot_x:uniform:-180:180,rot_y:uniform:-180:180,rot_z:normal:1", "")],
]
MISSET = [("misset_x:normal:3,misset_z:uniform:-180:180", ""), ("misset_y:uniform:-180:180", "-misset 10 20 30")]
BEAM = [[("lambda:normal:0.5%", "-lambda 1.1"), ("energy:normal:0.5%", "-energy 12000")],
        [("fluence:gamma:4", ""), ("flux:lognormal:40%,exposure:normal:5%,beamsize:uniform:0.05:0.2", "-flux 1e22 -exposure 0.1 -beamsize 0.1")],
        [("polar:uniform:0.2:0.9", "")]]
SPREAD = [("divergence:uniform:0:2", "-divergence 1 -divsteps 2"), ("hdivrange:normal:1,vdivrange:uniform:0:1", "-hdivrange 1 -vdivrange 1 -divsteps 2"), ("dispersion:uniform:0.1:1", "-dispersion 1 -dispsteps 3")]
TURN = [("phi:uniform:0:90", ""), ("osc:uniform:0.5:2", "")]
PLACE = [[("distance:ramp:99:101", ""), ("close_distance:normal:0.5", "-close_distance 100")],
         [("Xbeam:normal:1,Ybeam:uniform:17:19", ""), ("Xclose:normal:1,Yclose:normal:1", "-Xclose 18 -Yclose 17"), ("ORGX:normal:1,ORGY:uniform:12:13", "-xds")],
         [("detector_rotx:normal:1,detector_roty:uniform:-2:2", ""), ("detector_rotz:normal:3,twotheta:normal:5", "-twotheta 10")],
         [("water:uniform:0:3", "")]]
DAMAGE = ["damage_B:gamma:2", "damage_cell:uniform:0:0.3", "damage_half:uniform:4:9"]
OF_CRYSTAL = ("N Na Nb Nc samplesize sample_x sample_y sample_z crystal_volume blocks fudge mosaic Badd Fscale default_F diffuse_sigma diffuse_gamma damage_B damage_cell "
              "damage_half").split()
EDGES = ["cell_a", "cell_b", "cell_c", "cell_al", "cell_be", "cell_ga"]
OTHERS = {"N": "samplesize", "samplesize": "N", "Na": "sample_x", "Nb": "sample_y", "Nc": "sample_z", "sample_x": "Na", "sample_y": "Nb", "sample_z": "Nc",
          "blocks": "crystal_volume", "crystal_volume": "blocks", "lambda": "energy", "energy": "lambda", "fluence": "flux", "distance": "close_distance", "close_distance": "distance"}
# Stills that share tables of diffuse light: (flags, laws of -vary).
SHARED = [("-N 5 -seed 3 -diffuse_sigma 0.3 -diffuse_gamma 2", "Badd:uniform:0:20,cell:normal:0.3%"),
          ("-N 3 -seed 4 -diffuse_sigma 0.2 0.3 0.4 -diffuse_gamma 2 -diffuse_halo gauss -crystals 2", "Badd:normal:5,cell:uniform:31.8:32.2,Fscale:gamma:3"),
          ("-N 5 -seed 5 -diffuse_sigma 0.3 -diffuse_gamma 3 -diffuse_F unperturbed -beamstop disc:8", "cell:normal:0.2%,fluence:gamma:4"),
          ("-N 5 -seed 6 -diffuse_sigma 0.3 -diffuse_gamma 2", "Badd:choice:0:0:0:5:1:2:3:4:6,N:lognormal:30%")]
SPECTRUM = "spectrum bandwidth pulse_length split line wavelengths".split()
TRIED = set()


def draw(rng):
    """({flag: values} of a series of two frames, laws of -vary)."""
    flags = by_name(frames.draw(rng))
    laws = []

    def take(choices, part=0.35):
        if rng.random() < part:
            law, more = rng.choice(choices)
            laws.append(law)
            flags.update(by_name(more.split()))
    given = flags.pop("vary", [""])[0]
    laws += ["crystals:" + x for x in re.findall("crystals:([^,]*)", given)]
    if "gauss_xtal" in flags or "round_xtal" in flags or "tophat_spots" in flags:
        take(CRYSTAL[2])
    for choices in CRYSTAL[:2] + CRYSTAL[4:] + BEAM + PLACE:
        take(choices)
    if "mosaic_blocks" not in flags:
        take(CRYSTAL[3])
    if "frames" in flags:
        take(TURN)
        if "crystals" not in flags and not any("rot_" in x for x in laws):
            take(MISSET)
    if "dose" in flags and rng.random() < 0.6:
        laws.append(rng.choice(DAMAGE if "damage_half" in flags else DAMAGE[:2]))
    if "diffuse_sigma" in flags:
        take([("diffuse_sigma:normal:5%", ""), ("diffuse_gamma:uniform:1.9:2.1", "")], 0.7)
    if "spectrum" in flags:
        take([("bandwidth:uniform:0.3:0.5", "")] + ([("pulse_length:uniform:8:12", "")] if "pulse_length" in flags else []))
    else:
        take(SPREAD)
    for one, other in ("mosaic_aniso", "mosaic"), ("mosaic_tensor", "mosaic"), ("flux", "fluence"), ("close_distance", "distance"):
        if one in flags:
            flags[other] = None
    if "add" in flags and ("spectrum" in flags or any("flu" in x for x in laws)):
        del flags["add"]  # -add refers to the fluence of the whole series
    if set(flags) & {"samplesize", "sample_x", "Na"}:
        flags.pop("N", None)
    return flags, laws


def scaled(x, v, c):
    """x times v / c: all values of a flag scale when the first changes from c to v."""
    return f"{float(x) * v / c:.12g}" if float(x) != c else f"{v:.12g}"


def put(name, text, flags):
    """Puts a drawn value of `name` into the flags of a frame or crystal."""
    value = float(text)
    flags.pop(OTHERS.get(name), None)
    if name == "cell":
        old = [float(x) for x in flags["cell"]]
        flags["cell"] = [scaled(x, value, old[0]) for x in old[:3]] + flags["cell"][3:]
    elif name in EDGES:
        flags["cell"][EDGES.index(name)] = text
    elif name == "N" and "Na" in flags:
        old = [float(flags[x][0]) for x in ("Na", "Nb", "Nc")]
        for x, y in zip(("Na", "Nb", "Nc"), old):
            flags[x] = [text if y == old[0] else str(max(1, int(y * value / old[0] + 0.5)))]
    elif name == "mosaic" and "mosaic_aniso" in flags:
        flags["mosaic_aniso"] = [scaled(x, value, float(flags["mosaic_aniso"][0])) for x in flags["mosaic_aniso"]]
    elif name == "mosaic" and "mosaic_tensor" in flags:
        by = value / math.sqrt(float(flags["mosaic_tensor"][0]))
        flags["mosaic_tensor"] = [f"{float(x) * by * by:.12g}" for x in flags["mosaic_tensor"]]
    elif name.startswith("diffuse_"):
        flags[name] = [scaled(x, value, float(flags[name][0])) for x in flags[name]]
    else:
        flags[name] = [text]


class Series:
    """A series, the images of its frames, and the values that its files record."""

    def __init__(self, flags, laws):
        self.flags = {name: words for name, words in {**by_name(frames.BASE), **flags}.items() if words is not None}
        self.flags["cell"] = self.flags["cell"] + ["90", "90", "90"]
        self.turned, self.many = "frames" in flags, "crystals" in flags or any("crystals" in x for x in laws)
        self.words = [*words_of(self.flags), *(["-vary", ",".join(laws)] if laws else []), "-noprogress"]
        script.run(*self.words, "-hdf5", "m.h5", "-hdf5type", "float32", "-threads", 2)
        script.run(*self.words, "-draws", "draws.txt")
        with open("draws.txt", encoding="ascii") as f:
            names, *rows = [line.split() for line in f]
        self.rows = [dict(zip(names, row)) for row in rows]
        self.names = [x for x in names[3:] if x not in ("spectrum_factor", "dose")]
        with h5py.File("m.h5") as f:
            self.images = [image.tobytes() for image in f["/entry/data/data"]]
            at = f["/entry/simulation"]
            self.truth = {name: at[name][:].tolist() for name in ("phi", "fluence", "seed", "misset", "cell")}
            if self.many or "twin" in flags:
                table = at["crystals"]
                self.truth["crystals"] = {(k, m): x for k, m, i, x in zip(table["frame"][:], table["crystal"][:], table["twin"][:], table["misset"][:].tolist()) if i == 0}
        self.short = True  # angles and cells of the master are exact in 12 digits
        TRIED.update(self.names)

    def orientation(self, k, m, flags):
        turns = any(x.startswith(("rot_", "misset")) for x in self.names)
        if m == 0 and not turns and "orientations" in self.flags:
            flags["misset"], flags["misset_seed"] = ["random"], [self.rows_of(k)[0]["seed"]]
        elif m or turns:
            angles = self.truth["crystals"][k, m] if self.many else self.truth["misset"][k]
            said = {name[-1]: float(row[name]) for name in self.names for row in self.rows_of(k)[:1] if name.startswith("misset_")}
            self.short &= all(float(f"{x:.12g}") == x and said.get(axis, x) == x for axis, x in zip("xyz", angles))
            flags["misset"] = [repr(x) for x in angles]

    def rows_of(self, k):
        return [row for row in self.rows if int(row["frame"]) == k]

    def crystal(self, row, flags):
        """Completes `flags` for the crystal of a row of -draws."""
        for name in self.names:
            if name in OF_CRYSTAL or name == "cell" or name in EDGES:
                put(name, row[name], flags)
        k, m = int(row["frame"]), int(row["crystal"])
        self.orientation(k, m, flags)
        if not self.many and "dose" not in self.flags:
            self.short &= [float(x) for x in flags["cell"]] == self.truth["cell"][k]
        return flags

    def typed(self, k):
        """(flags that render frame k as a single image, file of that image)."""
        flags, rows = dict(self.flags), self.rows_of(k)
        flags["cell"] = list(flags["cell"])
        for name in ("stills", "orientations", "frames", "crystals"):
            flags.pop(name, None)
        flags["seed"] = [rows[0]["seed"]]
        for name in self.names:
            if name != "crystals" and not name.startswith(("rot_", "misset")) and name not in OF_CRYSTAL and name != "cell" and name not in EDGES:
                put(name, rows[0][name], flags)
        if self.turned:
            flags["phi"] = [repr(self.truth["phi"][k])]
        if int(rows[0]["crystal"]) < 0:
            flags["crystals"] = ["0"]
        elif not self.many:
            self.crystal(rows[0], flags)
        else:
            with open("lines.json", "w", encoding="ascii") as f:
                for row in rows:
                    own = {name: list(flags[name]) for name in flags if name in OF_CRYSTAL or name in ("cell", "mosaic_aniso", "mosaic_tensor")}
                    own = {name: x if len(x) > 1 else x[0] for name, x in self.crystal(row, own).items()}
                    f.write(json.dumps(own) + "\n")
            flags["crystals"] = ["lines.json"]
        return self.rendered(k, flags, rows)

    def rendered(self, k, flags, rows):
        if "dose" in flags:
            flags["dose"] = [f"{2 * float(rows[0]['dose']):.12g}"]
            flags["frames"] = ["1"]
        elif "spectrum" in flags:
            script.run(*self.words, "-only_frame", k, "-spectrumout", "shot.txt", "-show_config")
            for name in SPECTRUM:
                flags.pop(name, None)
            flags.pop("flux", None)
            flags.update(spectra=["shot.txt"], stills=["1"], fluence=[repr(self.truth["fluence"][k])])
        if "frames" in flags or "stills" in flags:
            return [*words_of(flags), "-output", "one_%d.bin"], "one_1.bin"
        return [*words_of(flags), "-floatfile", "one.bin", "-nonoise", "-noint", "-nopgm"], "one.bin"


def check_series(i, rng):
    flags, laws = draw(rng)
    series = Series(flags, laws)
    lit = 0
    for k in range(2):
        words, file = series.typed(k)
        script.run(*words)
        got = script.read(file)
        lit += any(got)
        one, two = (numpy.frombuffer(x, "f4") for x in (series.images[k], got))
        off = f"{(one != two).sum()} of {one.size} pixels differ, {abs(one - two).max() / abs(one).max():.2g}" if one.size == two.size else "other size"
        script.ok(f"again-{i}-{k}", got == series.images[k], f"{off}\n# {' '.join(map(str, series.words))}\n# {' '.join(map(str, words))}")
    script.ok(f"short-{i}", series.short, f"{series.truth['misset']} {series.truth['cell']}\n# {' '.join(map(str, series.words))}")
    return lit


def check_light(i, words, laws):
    """Frames with varying F or cell share tables of diffuse light. A single image has a
    table for itself, and the same bytes."""
    series = Series(by_name(f"{words} -stills 9 -orientations random -oversample 1".split()), laws.split(","))
    for k in range(9) if frames.BIG else (2, 8):
        words, file = series.typed(k)
        script.run(*words)
        script.ok(f"light-{i}-{k}", script.read(file) == series.images[k], f"# {' '.join(map(str, series.words))}\n# {' '.join(map(str, words))}")


def main():
    if not h5py or "hdf5 yes" not in " ".join(script.run("-version")[0].lower().split()):
        print("skip typed # no HDF5 in this build, or python3-h5py is not installed")
        return
    rng, lit = random.Random(133), 0
    number = 300 if frames.BIG else 12
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        frames.make_files()
        for i in range(number):
            lit += check_series(i, rng)
        for i, (words, laws) in enumerate(SHARED if frames.DIFFUSE else []):
            check_light(i, words, laws)
        os.chdir("/")
    script.ok("lit", lit > number, f"{lit} of {2 * number} frames have light")
    _, says = script.run("-cell", 40, 40, 40, "-default_F", 1, "-vary", "none:normal:1", "-stills", 1, "-output", "x_%d.bin", status=2)
    listed = says.split("these can:")[1].split()
    ranges = [x.split("..") for x in listed]  # misset_x..z
    left = {name for first, *last in ranges for name in [first, *(first[:-len(x)] + x for x in last)]} - TRIED
    script.ok("names", listed[-1] == "water" and (not left or not frames.BIG), f"{left} did not vary, the last is {listed[-1]}")
    print(f"# {len(TRIED)} names varied, {len(left)} did not")
    sys.exit(bool(script.FAILED))


main()
