# SPDX-License-Identifier: MIT
"""Fits as files: JSON, and a page for a browser with the picture and the model before and after."""
import json
import math
import os

import numpy as np

from .. import _nanobragg, _parameters
from .._images import PAGE_BYTES, page_text, write
from ._plots import logs, plots, shells  # noqa: F401 (of __main__)

PIXELS, FRAMES, USUAL = 1 << 26, 64, 16  # limits of the numbers of pixels and of pictures; usual number of pictures
NAMES, SHELLS, PLACE = ("measured", "before", "after"), 30, "<!--NB-DATA-->"  # PLACE: text in the page that the data replace


def is_page(path):
    return bool(path) and os.fspath(path).endswith(".html")


def plain(value):
    """Value for JSON; numbers that are not finite become None."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_line(value):
    return json.dumps(plain(value), separators=(",", ":"))


# --- texts of a page: a name and its value, or cells with tabs between ---
def _parameter_lines(r):
    yield "parameter\tstart\tvalue\tsigma\tunit"
    for name, p in r.parameters.items():
        sigma = "at its bound" if p.at_bound else "" if p.sigma is None else f"{p.sigma:.2g}"
        yield f"{name}\t{p.start:.8g}\t{p.value:.9g}\t{sigma}\t{p.unit}"
    for axis, value, sigma in zip("xyz", r.misset_deg or (), r.rotation_sigma_deg):
        yield f"misset_{axis}\t\t{value:.5f}\t{sigma:.2g}\tdeg"


def _head_lines(r):
    yield f"result     {r.status}"
    yield f"deviance   {r.deviance_per_pixel:.4f} per pixel over {r.pixels} pixels"


def _work_line(r):
    return f"work       {r.evaluations} evaluations, {f'{r.images} images, ' if r.images else ''}{r.seconds:.2f} s"


def report(r):
    """Report of a picture, as text."""
    lines = [*_head_lines(r), f"correlation  {r.picture_correlation:.4f}"]
    if r.F_sigma > 0:
        lines.append(f"scales     of reflections: F are right to {r.F_sigma:.2g}; correlation without them "
                     f"{r.given_F_correlation:.4f}")
    if r.stages:  # the result of a picture of a joint fit has no stages
        lines += [f"spots      {r.peaks} in the picture; the lattice indexes {100 * r.agreement:.0f} % of them beyond chance "
                  f"({100 * r.start_agreement:.0f} % before)", _work_line(r)]
    lines += _parameter_lines(r)
    if r.stages:
        lines.append("stage\tpixels\tevaluations\tloss\tseconds")
    for s in r.stages:
        lines.append(f"{s.name}{'' if s.converged else ' (still falling)'}\t{s.pixels}\t{s.evaluations}\t{s.loss:.6g}\t"
                     f"{s.seconds:.3f}")
    return "\n".join(lines) + "\n"


def flags(sim, r, common=None):
    """Flags that start a simulation with the result, and names of values without flag."""
    words, others, cells = [], [], False
    for name, value in [*(common or {}).items(), *r.values.items()]:
        if name.startswith("cell_"):
            if not cells:
                words.append("-cell " + " ".join(f"{sim.parameter(key)['value']:.9g}" for key in
                                                 ("cell_a", "cell_b", "cell_c", "cell_al", "cell_be", "cell_ga")))
            cells = True
        elif name in _parameters._BY_NAME:
            words.append(f"-{name} {value:.9g}")
        else:
            others.append(name)
    if r.misset_deg is not None:
        words.append("-misset {:.6f} {:.6f} {:.6f}".format(*r.misset_deg))
    if others:
        words.append("# without a flag, see -exptout: " + " ".join(others))
    return " ".join(words) + ("" if others else " ")


# --- a page ---
def _spots(sim, r):
    """Lists [h, k, l, fast, slow, photons, panel or -1 (one panel), None (F), d], one for
    each spot."""
    panels = sim.panels
    starts = np.cumsum([0] + [rows * columns for _, rows, columns in panels]).tolist()
    for s in r.spots:
        fast, slow = s["pixel"]
        at = slow * r.observed.shape[1] + fast
        k = max(k for k, start in enumerate(starts[:-1]) if start <= at)
        row, column = divmod(at - starts[k], panels[k][2])
        yield [*s["hkl"], column + 0.5, row + 0.5, s["observed"], k if len(panels) > 1 else -1, None, 0.5 / float(r.stol[slow, fast])]


def _curves(r):
    if r.history:
        yield {"title": "Loss of all stages", "under": "evaluation", "beside": "log10 loss/pixel", "points": logs(r)}
    for name, model in (("after", r.model), ("before", r.before)):
        seen, there = r.observed[r.used], model[r.used]
        there = np.where(there > 0, there, np.nan)
        points = shells(r, (seen - there) / np.sqrt(there), SHELLS)
        yield {"title": "Residuals by resolution: " + name, "under": "1/d, 1/Å", "beside": "log10 rms residual",
               "points": [(at, math.log10(max(rms, 1e-9))) for at, rms in points]}


def page_of(sim, r, command="", common=None, number=-1, size=PAGE_BYTES):
    """Page of a fit, or part `number` of a page of several fits."""
    more = {"title": r.picture or "A fit", "unit": "photons", "report": report(r), "flags": flags(sim, r, common), "command": command,
            "plots": list(_curves(r)), "spots": list(_spots(sim, r))}
    images = [np.ascontiguousarray(a, dtype=np.float32) for a in (r.observed, r.before, r.model)]
    return page_text(images, NAMES, json_line(more), sim, number, size)


def write_report(sim, r, command, path):
    """Write a JSON file or a page."""
    write(path, page_of(sim, r, command) if is_page(path) else json_line(r.to_dict()) + "\n")


# --- several pictures: each is a line of the report ---
def element(value, attribute):
    """Element of a page with JSON."""
    return f'<script type="application/json" {attribute}>' + json_line(value).replace("<", "\\u003c") + "</script>\n"


class Shown:
    """Choice of the pictures that a page shows. frames: typed (first, last) | None."""

    def __init__(self, count, pixels, frames):
        self.count, room = count, int(min(FRAMES, max(1, PIXELS / len(NAMES) / pixels)))
        if frames:
            first, last = frames
            if last - first + 1 > room or last >= count:
                raise ValueError(f"-page_frames {first}-{last}: the pictures are 0 to {count - 1}, and {room} of this size fit on a "
                                 "page")
            self.numbers = set(range(first, last + 1))
        else:
            n = min(count, room, USUAL)
            self.numbers = {int(i * (count - 1) / (n - 1)) if n > 1 else 0 for i in range(n)}

    def line(self, sim, k, name, r, turn, why="", common=None):
        """Elements of picture k on the page: its result, and its data if they are shown.
        turn: rotation from the start, deg."""
        values = [r.deviance_per_pixel, turn, r.picture_correlation] if r else [math.nan] * 3
        text = element({"number": k, "name": os.path.basename(name), "on_page": bool(r) and r.before is not None,
                        "status": r.status if r else why, "values": values}, 'class="fitted"')
        if r and r.before is not None:
            text += page_of(sim, r, "", common, k, PAGE_BYTES // len(self.numbers))
        return text.rstrip("\n")

    def end(self, common, command):
        """Last element of the page; common: Result of a joint fit | None."""
        if common:
            lines = [*_head_lines(common), f"pictures   {common.pictures}, and {common.left_out} left out", _work_line(common)]
        else:
            lines = [f"pictures   {self.count}, each by itself"]
        if len(self.numbers) < self.count:
            lines.append(f"page       {len(self.numbers)} of {self.count} pictures; -page_frames a-b chooses others")
        if common:
            lines += _parameter_lines(common)
        return element({"title": "A joint fit of pictures" if common else "Fits of pictures", "unit": "photons",
                        "report": "\n".join(lines) + "\n", "command": command}, 'id="meta"').rstrip("\n")


class Lines:
    """Report of several pictures, a line for each, in order.  A file gets its name at the
    end, also after a stop; a page only after success."""

    def __init__(self, path):
        self.path, self.next, self.waiting, self.written, self.stream = path, 0, {}, 0, None
        before, _, self.behind = _nanobragg.PAGE.partition(PLACE) if is_page(path) else ("", "", "")
        if path and path != "-":
            self.part = f"{path}.{os.getpid()}.part"
            self.stream = self._try(open, self.part, "w", encoding="utf-8")  # noqa: SIM115
            self._try(self.stream.write, before)

    def _try(self, call, *args, **keywords):
        try:
            return call(*args, **keywords)
        except OSError as why:
            self.abort()
            raise OSError(f"cannot create {self.path}: {why.strerror}") from None

    def add(self, line):
        if line is None:
            return
        if self.path == "-":
            print(line, flush=True)
        elif self.stream:
            self._try(self.stream.write, line + "\n")
        self.written += 1

    def put(self, k, line, then=lambda: None):
        """Add the line of picture k (None: no line) in order; then call then()."""
        self.waiting[k] = line, then
        while self.next in self.waiting:
            line, then = self.waiting.pop(self.next)
            self.add(line)
            then()
            self.next += 1

    def abort(self):
        if self.stream:
            self.stream.close()
            os.remove(self.part)
            self.stream = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for k in sorted(self.waiting):
            self.add(self.waiting[k][0])
        if not self.stream:
            return
        if not kind and self.behind:
            self.add(self.behind)
        if kind and (is_page(self.path) or not self.written):
            self.abort()
            return
        self._try(self.stream.close)
        self.stream = None
        self._try(os.replace, self.part, self.path)
