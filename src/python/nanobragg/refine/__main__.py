# SPDX-License-Identifier: MIT
"""nanobragg refine: the command line.  The program has checked flags, words, single numbers and names of files
(src/cli/refine.c)."""
import functools
import math
import shlex
import sys
import time

import numpy as np

from .. import _images, _nanobragg, _parameters, _programs
from .._simulation import _NO_FILES, Simulation
from . import _options, _page
from ._schedule import fit_one

NOT_CONVERGED = 3
OWN = {"refine": "names", "system": "system", "joint": "joint", "likelihood": "likelihood", "fit_background": "background",
       "select": "select", "spot_half": "spot_half", "spot_sigma": "spot_sigma", "fit_dmin": "dmin", "fit_dmax": "dmax",
       "fit_mask": "mask", "schedule": "schedule", "maxiter": "evaluations", "F_sigma": "F_sigma"}
NUMBERS = {"spot_half": int, "maxiter": int, "spot_sigma": float, "fit_dmin": float, "fit_dmax": float,
           "F_sigma": lambda word: _F_sigma(word)}
PAIRS = {"bound": ("bounds", "name=low:high"), "restrain": ("restraints", "name=value:sigma")}
FILES = ("series", "orientations", "report", "page_frames", "exptout", "plots", "residual")
SWITCHES = ("quiet", "noprogress", "show_config")
NOTE = functools.partial(_programs.say, "note")


class Line:
    """A command line: images, words of the simulation, options, files, switches."""

    def __init__(self, words):
        self.images, self.words, self.options, self.files, self.switches = [], [], {"bounds": [], "restraints": []}, {}, set()
        words = list(words)
        self.command = "nanobragg refine " + shlex.join(words)
        while words:
            word = words.pop(0)
            name = word.lstrip("-")
            if not word.startswith("-") or word == "-":
                self.images.append(word)
            elif name in OWN:
                value = words.pop(0)
                self.options[OWN[name]] = NUMBERS[name](value) if name in NUMBERS else value
            elif name in PAIRS:
                key, form = PAIRS[name]
                self.options[key].append(_pair(f"-{name}", words.pop(0), form))
            elif name in FILES:
                self.files[name] = words.pop(0)
            elif name in SWITCHES:
                self.switches.add(name)
            else:
                self.words.append(_borrowed(name, words))
        if "series" in self.files:
            path, _, frames = self.files["series"].rpartition(":")
            first, last = _span("-series", frames, "file.h5:0-99")
            self.images += [f"{path}:{k}" for k in range(first, last + 1)]
        self.is_many = len(self.images) > 1 or "series" in self.files or "orientations" in self.files
        self.check()

    def check(self):
        """Refuse flags that do not fit the number of images."""
        files, joint = self.files, "joint" in self.options
        why = None
        if not self.images:
            why = "an image is missing; usage: nanobragg refine IMAGE flags -refine list"
        elif self.is_many and ("plots" in files or "residual" in files):
            why = "-plots and -residual are of one image; refine one at a time, or use -report"
        elif "page_frames" in files and not (self.is_many and _page.is_page(files.get("report"))):
            why = "-page_frames chooses images of -report page.html of several images"
        elif self.is_many and "exptout" in files and not joint:
            why = "-exptout is of one image, or of several with -joint; refine one at a time, or use -report"
        elif not self.is_many and joint:
            why = (f"-joint {self.options['joint']}: one image has nothing in common with another; name several, or use "
                   "-series")
        if why:
            raise ValueError(why)


def _F_sigma(word):
    if word == "auto":
        return None
    if not (_is_number(word) and 0 <= float(word) <= 2):
        raise ValueError(f"-F_sigma '{word}': write auto, or the relative standard deviation of F, from 0 (exact) to 2")
    return float(word)


def _pair(flag, text, form):
    """(name, (a, b)) of "name=a:b"."""
    name, _, numbers = text.partition("=")
    values = numbers.split(":")
    if not name or len(values) != 2 or not all(map(_is_number, values)):
        raise ValueError(f"{flag} '{text}': two numbers must follow the name; write it as {form}")
    return name, tuple(map(float, values))


def _span(flag, text, form):
    """(a, b) of "a-b"."""
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"{flag} '{text}': type the first and the last number, the first one the smaller; write it as {form}")
    return int(first), int(last)


def _is_number(word):
    try:
        float(word)
        return True
    except ValueError:
        return False


def _borrowed(name, words):
    """(flag of the simulation, its words), removed from the front of `words`: for cells
    and lists all numbers, for angles one word or all."""
    row = _parameters.find(name, False)
    fewest, limit = row["words_min"], row["words_max"]
    n = fewest
    if row["kind"] == _nanobragg.PRESET:
        n = 0
    elif limit > 1 and words and "," in words[0]:
        return row["name"], words.pop(0).split(",")
    elif row["kind"] == _nanobragg.MISSET and words:
        n = limit if _is_number(words[0]) else fewest
    elif row["kind"] == _nanobragg.CELL or row["flags"] & _nanobragg.EACH:
        while n < limit and n < len(words) and _is_number(words[n]):
            n += 1
    taken = words[:n]
    del words[:n]
    return row["name"], taken


# --- a fit in words ---
def stage_line(stage):
    kind = "images     " if stage.name.startswith("search") or stage.name == "orientations" else "evaluations"
    falling = "" if stage.converged else " (still falling)"
    return (f"{stage.name:<18} {stage.pixels:8d} pixels {stage.evaluations:4d} {kind}  loss {stage.loss:.6g}{falling}  "
            f"{stage.seconds:.3f} s")


def _places(at):
    return " (" + ", ".join(f"{f} {s}" for f, s in at[:4]) + ")" if at else ""


def masks_line(masked):
    """Line of the masked pixels and their places, or ""."""
    rings = ", ".join(f"{low:.3f}-{high:.3f} A" for low, high in masked.get("rings_A", []))
    where = {"hot": _places(masked.get("hot_pixels")), "foreign": _places(masked.get("foreign_spots")),
             "shadow": " (from {} {} to {} {})".format(*masked["shadow_box"]) if "shadow_box" in masked else "",
             "ring": f" ({rings})" if rings else ""}
    names = {"file": "in the file", "saturated": "saturated", "hot": "hot", "shadow": "in a shadow", "ring": "on rings",
             "foreign": "of foreign spots"}
    parts = [f"{masked[key]} {text}{where.get(key, '')}" for key, text in names.items() if masked.get(key)]
    return "masked pixels: " + ", ".join(parts) if parts else ""


def result_lines(r):
    """Lines of the final table."""
    yield ""
    if r.masked and masks_line(r.masked):
        yield masks_line(r.masked)
    yield "parameter                 start            value        sigma  unit"
    for name, p in r.parameters.items():
        sigma = "-" if p.sigma is None else f"{p.sigma:.2g}"
        yield (f"{name:<16} {p.start:14.8g} {p.value:16.9g} {sigma:>12}  {p.unit}"
               + (" (at its bound)" if p.at_bound else ""))
    if r.misset_deg is not None:
        yield ("misset           {:.5f} {:.5f} {:.5f} deg, sigma about the lab axes {:.2g} {:.2g} {:.2g} deg").format(
            *r.misset_deg, *r.rotation_sigma_deg)
    if r.F_sigma > 0:
        yield (f"scales of reflections: F are right to {r.F_sigma:.2g}; correlation without scales "
               f"{r.given_F_correlation:.4f}")
    what = (f"{r.pictures} pictures, {r.left_out} left out, " if r.pictures else f"correlation {r.picture_correlation:.4f}, ")
    images = f"{r.images} images, " if r.images else ""  # joint fits do not count images
    yield (f"{r.status}: deviance per pixel {r.deviance_per_pixel:.4f} over {r.pixels} pixels, {what}{r.evaluations} "
           f"evaluations, {images}{r.seconds:.2f} s")


def _write_all(line, sim, result):
    files = line.files
    if "report" in files:
        _page.write_report(sim._sim, result, line.command, files["report"])
    if "residual" in files:
        _page.write(files["residual"], result.residual.tobytes())
    if "plots" in files:
        _page.plots(result, files["plots"])
    if "exptout" in files:
        sim.write(image=np.zeros(sim.shape, dtype=np.float32), exptout=files["exptout"])  # an image that is not used, because only experiments are written


class Alive:
    """During a stage, print a line every half minute, for users who read a log."""

    EVERY = 30  # seconds

    def __init__(self, line, out):
        self.out, self.said = out, time.monotonic()
        self.every = math.inf if {"noprogress", "quiet"} & line.switches else self.EVERY

    def stage(self, stage):
        self.out(stage_line(stage))
        self.said = time.monotonic()

    def __call__(self, name, evaluations, loss):
        if time.monotonic() - self.said > self.every:
            self.out(f"{name}: {evaluations} so far, loss {loss:.6g}")
            self.said = time.monotonic()


def _refine_one(line, out):
    """Refine one image; print and write all results."""
    sim = Simulation._of_words(line.words, NOTE)
    options = _options.Options(**line.options, keep_start=_page.is_page(line.files.get("report")))
    fast, slow = sim._sim.size
    image = _images.of_file(_nanobragg.read_image(line.images[0], fast, slow))
    alive = Alive(line, out)
    result = fit_one(sim._sim, image, options, NOTE, alive.stage, alive)
    sim._changed()
    result.picture = line.images[0]
    for text in result_lines(result):
        out(text)
    _write_all(line, sim, result)
    return 0 if result.converged else NOT_CONVERGED


def _refine_many(line, out):
    from . import _joint, _many  # processes take a while to load
    from ._workers import Start

    options, files = _options.Options(**line.options), line.files
    start = Start(_NO_FILES + line.words, {}, [], line.images, files.get("orientations"))
    frames = _span("-page_frames", files["page_frames"], "0-15") if "page_frames" in files else None
    lost = []

    def done(k, result, why):
        if result:
            seconds = f", {result.seconds:.2f} s" if result.seconds else ""  # seconds are 0 in a joint fit
            out(f"{line.images[k]}: {result.status}, deviance per pixel {result.deviance_per_pixel:.4f}, correlation "
                f"{result.picture_correlation:.4f}{seconds}")
        else:
            _programs.say("error", why)
        if not (result and result.converged):
            lost.append(k)

    ways = {"report": files.get("report"), "frames": frames, "command": line.command}
    good = True
    if options.joint:
        alive = Alive(line, out)
        common, _ = _joint.refine_joint(start, options, NOTE, done, alive.stage, exptout=files.get("exptout"),
                                        alive=alive, **ways)
        for text in result_lines(common):
            out(text)
        good = common.converged
    else:
        _many.refine_series(start, options, NOTE, done, **ways)
    out(f"{len(line.images) - len(lost)} of {len(line.images)} images converged")
    return 0 if good and not lost else NOT_CONVERGED


def _status_of(error):
    """Exit status of an error: 2 for bad input, 1 for an unwritable file or no memory."""
    bad = (ValueError, TypeError, NotImplementedError)
    return 2 if isinstance(error, bad) or (isinstance(error, OSError) and ": cannot read: " in str(error)) else 1


def _run(line):
    stream = sys.stderr if line.files.get("report") == "-" else sys.stdout
    silent = "quiet" in line.switches
    out = lambda text: None if silent else print(text, file=stream, flush=True)  # noqa: E731
    if "show_config" in line.switches:
        print(Simulation._of_words(line.words, NOTE)._sim.text("config"))
        return 0
    return _refine_many(line, out) if line.is_many else _refine_one(line, out)


def main(words):
    _programs.stop_on_signals()
    try:
        return _run(Line(words))
    except (_programs.Interrupted, KeyboardInterrupt):
        _programs.say("error", "interrupted")
        return 130
    except (ValueError, TypeError, OSError, MemoryError, NotImplementedError, RuntimeError) as error:
        sys.stdout.flush()
        _programs.say("error", error if str(error) else type(error).__name__)
        return _status_of(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
