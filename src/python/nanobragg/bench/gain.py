# SPDX-License-Identifier: MIT
"""The case xfel: whole images with a tolerance, compared in a part of the image with a
render of every step.  All steps of a whole image would take minutes."""

import numpy as np

from .._programs import Stop
from .gate import steps_of, timed
from .report import statistics

# Time (s) for rows with every step; largest rounding error / brightest pixel.
PART_SECONDS, ROUNDING = 1.0, 2e-6
FEW_ROWS = 4


def measure(bench, p):
    """Fill the row of a point of the case xfel."""
    every, light, size = np.zeros((p.job.size,) * 2, np.float32), np.zeros((p.job.size,) * 2, np.float32), p.job.size
    part, seconds, steps, p.found["every_step_backend"] = every_step(p.job, every)
    render_whole(bench, p, light)
    if p.left_out:
        return
    judge(p, part, every, light)
    p.found["others"] = [{"program": name, **part_figures(*run_peer(bench, p.job, name), size, steps)}
                         for name, _ in bench.options.peers if is_first(bench, p)]
    whole = statistics(p.warm)
    p.found.update(shape=p.job.shape, tolerance=p.job.tolerance or "", steps_per_pixel=steps, whole=whole,
                   every_step=part_figures(part.rows, seconds, size, steps),
                   gain=seconds * size / part.rows / whole["median"])


def part_figures(rows, seconds, size, steps):
    return {"rows": rows, "seconds": seconds, "steps_per_s": steps * rows * size / seconds}


def is_first(bench, p):
    """True if p is the first point of its shape and device."""
    same = [q for q in bench.points if q.sweep == "gain" and (q.job.shape, q.job.device) == (p.job.shape, p.job.device)]
    return p is same[0]


def rows_for(job, rows, seconds):
    """Job of middle rows for about PART_SECONDS; `rows` rows took `seconds`."""
    rows = int(min(job.size, max(rows, rows * PART_SECONDS / max(seconds, 1e-6))))
    return job.but(rows=rows, row=(job.size - rows) // 2)


def every_step(job, image):
    """Render every step of rows into image: (job, seconds, steps per pixel, backend)."""
    rows, seconds = FEW_ROWS, PART_SECONDS
    for _ in range(2):  # the first measurement gives the number of rows
        part = rows_for(job.but(tolerance="0"), rows, seconds)
        sim = part.simulation()
        sim.render(out=image)  # warm up
        rows, seconds = part.rows, timed(sim.render, out=image)[1]
    return part, seconds, steps_of(sim), sim.backend


def render_whole(bench, p, image):
    """Time whole images."""
    sim = p.job.simulation()
    p.warm = bench.repeat(p, "renders", lambda: timed(sim.render, out=image)[1])
    p.found["backend"] = sim.backend


def judge(p, part, every, light):
    """Compare the rows of the part."""
    allowed, rows = float(p.job.tolerance or 0), slice(part.row, part.row + part.rows)
    lost = (every[rows].astype(np.float64) - light[rows]) / (light.max() or np.finfo(np.float32).tiny)
    dark, bright = (float(np.maximum(0.0, worst)) for worst in (lost.max(), -lost.min()))  # NaN remains and fails the test
    p.found.update(too_dark=dark, too_bright=bright)
    if not (dark <= allowed + ROUNDING and bright <= ROUNDING):
        raise Stop(3, f"wrong image: xfel {p.job.shape} with -tolerance {p.job.tolerance or 'unset'} on {p.job.device} "
                      f"is {dark:.2g} of the brightest pixel too dark and {bright:.2g} too bright")


def run_peer(bench, job, name):
    """(rows, seconds) of a process of some seconds, so that its start is negligible."""
    rows, seconds = 1, PART_SECONDS
    for _ in range(2):
        part = rows_for(job, rows, seconds)
        rows, seconds = part.rows, bench.process(part, name)[1]["seconds"]
        if seconds >= 4 * PART_SECONDS:
            break
    return rows, seconds
