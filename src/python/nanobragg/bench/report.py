# SPDX-License-Identifier: MIT
"""Tables and plots of `nanobragg bench`: results.json -> summary.md and NAME.svg."""
import json
import math
import os
import shutil
from statistics import quantiles

from .. import _plot

FORMAT = "nanobragg-bench-1"
# Limits for images of other programs: 1 - correlation, largest error over the brightest pixel.
OTHERS_CORRELATION, OTHERS_ERROR = 1e-4, 0.1
# Colours that people with any kind of colour vision can distinguish (Okabe and Ito).
BLUE, GREEN, GREY, BLACK = ("#0072b2", "o"), ("#009e73", "^"), ("#808080", "x"), ("#000000", "s")
OTHERS = (("#e69f00", "s"), ("#cc79a7", "D"), ("#d55e00", "v"), ("#56b4e9", "P"))


class Refused(Exception):
    """A file that cannot be used; the text is the message for the user."""


# --- results.json -------------------------------------------------------------------------------
def number(tree, *keys):
    """Number tree[key][key]... if it is finite, or 0."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    good = isinstance(tree, (int, float)) and not isinstance(tree, bool)
    return float(tree) if good and abs(tree) < 1e300 else 0.0


def text(tree, key):
    """Text tree[key], or ""."""
    value = tree.get(key) if isinstance(tree, dict) else None
    return value if isinstance(value, str) else ""


def items(tree, key):
    """Objects of the list tree[key]."""
    value = tree.get(key) if isinstance(tree, dict) else None
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def points(root, **wanted):
    """Points that have the wanted texts and the wanted size."""
    return [p for p in items(root, "points")
            if all(number(p, k) == v if k == "size" else text(p, k) == v for k, v in wanted.items())]


def different(values):
    """Each value once, in the order of the first occurrence."""
    return list(dict.fromkeys(values))


def by_size(some):
    """{size: first point of this size}"""
    return {number(p, "size"): p for p in reversed(list(some))}


def engine(point):
    return text(point, "program"), text(point, "device"), text(point, "isa")


def by_engine(some):
    """Lists of points, one for each program, device and instruction set."""
    groups = {}
    for p in some:
        groups.setdefault(engine(p), []).append(p)
    return list(groups.values())


def median(point, how):
    return number(point, how, "median")


def best(point):
    """Time that represents a program: that of a warm call, or else that of the
    process."""
    return median(point, "warm") or median(point, "cold")


def is_ours(point):
    return text(point, "program") == "nanobragg"


def is_scalar(point):
    return text(point, "isa") == "scalar"


def is_beside(point, device):
    """True for another program that runs on such a device, or whose device is not
    known."""
    return not is_ours(point) and text(point, "device")[:4] in ("", device[:4])


def read_json(flag, path):
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except OSError:
        raise Refused(f"{flag} {path}: cannot be read") from None
    except (ValueError, RecursionError):
        raise Refused(f"{flag} {path}: it is no JSON") from None


# --- figures of other programs ------------------------------------------------------------------
def times_of(value):
    """List of seconds from a number or a list of numbers; [] for any other value."""
    values = value if isinstance(value, list) else [value]
    return [float(s) for s in values] if all(number({"s": s}, "s") > 0 for s in values) else []


def statistics(values):
    q1, middle, q3 = quantiles(values if len(values) > 1 else 2 * values, n=4, method="inclusive")
    return {"repeats": len(values), "median": middle, "min": min(values), "max": max(values), "q1": q1, "q3": q3,
            "values": values}


def other_point(path, k, program, given):
    """Point of results.json from point k of a file of -peer-results."""
    times = {how: times_of(given[how]) for how in ("cold", "warm") if how in given}
    check = {key: given.get(key) for key in ("correlation", "max_error")}
    size = int(number(given, "size"))
    if (not text(given, "case") or size < 1 or not times or not all(times.values())
            or not all(isinstance(f, (int, float)) and math.isfinite(f) for f in check.values())):
        raise Refused(f"-peer-results {path}: point {k} needs case, size, cold or warm in seconds, correlation "
                      "and max_error")
    if not (1 - check["correlation"] <= OTHERS_CORRELATION and check["max_error"] <= OTHERS_ERROR):
        raise Refused(f"-peer-results {path}: the image of point {k} is wrong: correlation {check['correlation']:.9g}, "
                      f"largest difference {check['max_error']:.3g} of the brightest pixel")
    if number(given, "mean_relative_error"):
        check["mean_relative_error"] = number(given, "mean_relative_error")
    return {"sweep": "size", "program": program, "case": text(given, "case"), "device": text(given, "device"),
            "size": size, "pixels": size * size, **{how: statistics(v) for how, v in times.items()},
            "check": {"images": sum(len(v) for v in times.values()), "rows": size, "of_rows": size, **check}}


def add_others(root, paths):
    """Add the points of files of -peer-results."""
    for path in paths:
        source = read_json("-peer-results", path)
        if not text(source, "program") or not isinstance(source.get("points"), list):
            raise Refused(f'-peer-results {path}: it needs "program" and "points"')
        for k, given in enumerate(source.pop("points"), 1):
            given = given if isinstance(given, dict) else {}
            root.setdefault("points", []).append(other_point(path, k, source["program"], given))
        root.setdefault("peer_results", []).append(source)


# --- tables -------------------------------------------------------------------------------------
def digits(value):
    """Three significant digits, without an exponent; "-" for 0 and less."""
    if not 0 < value < math.inf:
        return "-"
    return f"{value:.{min(9, max(0, 2 - math.floor(math.log10(value))))}f}"


def over(a, b):
    """a / b, or 0 if b is not above 0."""
    return a / b if b > 0 else 0


def ratio(a, b):
    return digits(over(a, b))


def whole(tree, *keys):
    return f"{number(tree, *keys):.0f}"


def square(point):
    return f"{whole(point, 'size')} x {whole(point, 'size')} pixels"


def table(heads, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads)] + rows]
    return "\n".join(lines) + "\n\n"


# Columns of tables: the text of a point.  Any other column shows the member with the same name.
COLUMNS = {
    "instructions": lambda p: text(p, "isa") if text(p, "device") == "cpu" else "-",
    "warm ms": lambda p: digits(1e3 * median(p, "warm")),
    "ns per step": lambda p: ratio(1e9, number(p, "steps_per_s")),
    "images checked": lambda p: whole(p, "check", "images"),
    "correlation": lambda p: f"{number(p, 'check', 'correlation'):.12f}",
    "largest error": lambda p: f"{number(p, 'check', 'max_error'):.2g}",
    "mean relative error": lambda p: f"{number(p, 'check', 'mean_relative_error'):.2g}",
}
ERRORS = ("largest error", "mean relative error")
CHECKED = ("correlation", *ERRORS)


def column(head):
    """(head, function of a point) of a column that is given by its head."""
    key = head.replace(" ", "_")
    return head, COLUMNS.get(head, lambda p: text(p, key) or (whole(p, key) if number(p, key) else ""))


def rows(some, *columns):
    """Table with a row per point.  columns: heads, or (head, function of a point)."""
    columns = [column(c) if isinstance(c, str) else c for c in columns]
    return table([head for head, _ in columns], [[of(p) for _, of in columns] for p in some])


def section(title, some, intro, *columns):
    """Part of the summary, or "" without points.  intro: function of the first point."""
    return f"## {title}\n\n{intro(some[0])}\n\n" + rows(some, *columns) if some else ""


def spread(point):
    """Range between the quartiles of the warm times, divided by their median."""
    warm = median(point, "warm")
    return f"{100 * (number(point, 'warm', 'q3') - number(point, 'warm', 'q1')) / warm:.0f} %" if warm > 0 else "-"


def times_columns(ours, others, resident):
    """Columns of a size: times of all programs, and ratios of their time to our time."""
    time = lambda of, how: lambda size: digits(median(of.get(size), how))  # noqa: E731
    beside = lambda of, theirs, own: lambda size: ratio(theirs(of.get(size)), median(ours.get(size), own))  # noqa: E731
    cold, warm = (lambda p: median(p, "cold")), (lambda p: median(p, "warm"))
    ratios = []
    yield "size", lambda size: f"{size:.0f}"
    yield "pixels", lambda size: f"{size * size:.0f}"
    for of in others:
        name, has_warm = text(next(iter(of.values())), "program"), any(warm(p) > 0 for p in of.values())
        yield f"{name} cold s" if has_warm else f"{name} s", time(of, "cold")
        if has_warm:
            yield f"{name} warm s", time(of, "warm")
        ratios += [(f"{name} / ours cold", beside(of, cold, "cold")),
                   (f"{name} warm / ours warm" if has_warm else f"{name} / ours warm", beside(of, best, "warm"))]
        ratios += [(f"{name} warm / ours, left there", beside(of, warm, "resident"))] if resident and has_warm else []
    yield from (("ours cold s", time(ours, "cold")), ("ours warm s", time(ours, "warm")), ("spread", lambda size: spread(ours.get(size))))
    if resident:
        yield "ours, left there s", time(ours, "resident")
    yield from ratios
    yield "correlation", lambda size: COLUMNS["correlation"](ours[size]) if size in ours else "-"


def one_size_table(root, case, device):
    sized = points(root, sweep="size", case=case)
    mine = [p for p in sized if is_ours(p) and text(p, "device") == device]
    ours, scalar = (by_size(p for p in mine if is_scalar(p) == kind) for kind in (False, True))
    others = [by_size(some) for some in by_engine(p for p in sized if is_beside(p, device))]
    if not ours:
        return ""
    sizes = sorted({number(p, "size") for p in sized})
    resident = any(median(p, "resident") > 0 for p in ours.values())
    more = "  Left there: warm, the image stays in the GPU's memory." if resident else ""
    out = f"### {case} case, {device}\n\n{text(ours[min(ours)], 'backend')}.{more}\n\n"
    out += rows(sizes, *times_columns(ours, others, resident))
    out += rows([ours[s] for s in sizes if s in ours], "size",
                ("steps", lambda p: f"{number(p, 'size') ** 2 * number(p, 'steps_per_pixel'):.3g}"),
                ("Mpixel/s", lambda p: digits(number(p, "pixels_per_s") / 1e6)),
                ("Gstep/s", lambda p: digits(number(p, "steps_per_s") / 1e9)),
                ("scalar renderer s", lambda p: digits(median(scalar.get(number(p, "size")), "warm"))),
                ("peak MiB", lambda p: whole(p, "peak_mib")), "images checked",
                ("rows of each", lambda p: f"{whole(p, 'check', 'rows')} of {whole(p, 'check', 'of_rows')}"), *ERRORS)
    if others:
        out += rows([of[s] for of in others for s in sizes if s in of], "program", "size",
                    ("images", lambda p: whole(p, "check", "images")),
                    ("correlation", lambda p: f"{number(p, 'check', 'correlation'):.10f}"), "largest error",
                    ("peak MiB", lambda p: digits(number(p, "peak_mib"))))
    return out


def size_tables(root):
    ours = points(root, sweep="size", program="nanobragg")
    if not ours:
        return ""
    out = """## Time against size

The time of a program is that of its whole process, with start-up and files (float and 16-bit image).
Cold: a new process of nanobragg with the same files. Warm: one more render into memory, in a process that
has rendered before. All times are medians. Spread: range between the quartiles over the median.
"X / ours": time of X over time of nanobragg.

"""
    for case in different(text(p, "case") for p in ours):
        for device in different(text(p, "device") for p in ours):
            out += one_size_table(root, case, device)
    return out


def sweep_tables(root):
    threads = points(root, sweep="threads")
    first = {text(p, "case"): median(p, "warm") for p in reversed(threads)}
    out = section("Precision and instruction set", points(root, sweep="precision"), lambda p: f"{square(p)}.",
                  "case", "device", "instructions", "precision", "warm ms", "ns per step", *CHECKED)
    out += section("Threads", threads, lambda p: f"{square(p)}.", "case", "threads", "warm ms",
                   ("times faster than the first row of the case", lambda p: ratio(first[text(p, "case")], median(p, "warm"))), "correlation")
    for sweep, title, head in (("oversample", "Sub-pixels", "sub-pixels along an edge"), ("domains", "Mosaic domains", "domains")):
        out += section(title, points(root, sweep=sweep), lambda p: f"{text(p, 'case')} case, {square(p)}.", "device",
                       (head, lambda p, sweep=sweep: whole(p, sweep)), "steps per pixel", "warm ms", "ns per step", *CHECKED)
    return out + section("Frames of a series", items(root, "batches"), lambda p: (
        f"One call of run_series for a rotation of {square(p)} ({text(p, 'case')} case), with one float file per frame."),
        "device", "frames", ("s", lambda p: digits(median(p, "seconds"))),
        ("frames per second", lambda p: digits(number(p, "frames_per_s"))), "images checked", *CHECKED)


def breakdowns_table(root):
    """Table: a row for each stage of the longest list, a column for each process."""
    runs = items(root, "breakdowns")
    stages = [{text(s, "name"): median(s, "seconds") for s in items(b, "stages")} for b in runs]
    longest = max(stages, key=len, default={})
    if not longest:
        return ""
    return (f"## One process by its stages\n\n`-time json` of a new process, {square(runs[0])}, structure "
            "factors from a text file of 117,649 reflections, float and 16-bit image written; medians.\n\n"
            ) + table(["stage, ms"] + [f"{text(b, 'case')}, {text(b, 'device')}" for b in runs],
                      [[name] + [digits(1e3 * of.get(name, 0)) for of in stages] for name in longest])


def head(root):
    m, b = root.get("machine"), root.get("build")
    driver = text(m, "gpu_driver")
    out = f"""# Benchmark {text(root, 'name')}, {text(root, 'date')}

Command: `{text(root, 'command')}`

Machine: {text(m, 'processor')}, {whole(m, 'cores')} cores, {whole(m, 'memory_mib')} MiB, {text(m, 'system')}{', ' + driver if driver else ''}; load {number(m, 'load_at_start'):.2f} at the start.

Build: nanobragg {text(b, 'version')}, commit {text(b, 'commit')}, {text(b, 'compiler')}, `{text(b, 'flags')}`.

"""
    cases = root.get("cases")
    for case, flags in cases.items() if isinstance(cases, dict) else ():
        out += f"Case {case}: `{flags}`\n\n"
    out += """Every timed image was compared with the scalar renderer in double precision: all rows, or rows spread over
the image if all would take longer than a second. A wrong image ends the benchmark without a report.
Method: docs/performance.md. All figures: [results.json](results.json).

"""
    for one in items(root, "peer_results"):
        out += f"{text(one, 'program')}, measured by another program (-peer-results): {text(one, 'note')}\n\n"
    return out


def left_out(root):
    some = items(root, "left_out")
    return "## Left out\n\n" + rows(some, "sweep", "program", "what", "why") if some else ""


def summary(root, plots):
    out = head(root) + size_tables(root) + sweep_tables(root) + breakdowns_table(root)
    out += "## Plots\n\n" if plots else ""
    for name, caption in plots:
        out += f"![{caption}]({name}.svg)\n\n{caption}.\n\n"
    return out + left_out(root)


# --- plots --------------------------------------------------------------------------------------
def colour_of(root, point):
    """Colour of a program and device, the same in every chart."""
    if is_ours(point):
        return GREY if is_scalar(point) else BLUE if text(point, "device") == "cpu" else GREEN
    theirs = different(engine(p) for p in points(root, sweep="size") if not is_ours(p))
    return OTHERS[theirs.index(engine(point)) % len(OTHERS)]


def label_of(point, how):
    if is_ours(point) and is_scalar(point):
        return "scalar renderer, warm"
    if not is_ours(point) and "warm" not in point:
        return f"{text(point, 'program')}, process"
    return f"{text(point, 'program')} {text(point, 'device')}".strip() + f", {'left there' if how == 'resident' else how}"


# Curves of a chart: (label, colour, points (x, y), line).
def time_curves(root, case):
    for some in by_engine(points(root, sweep="size", case=case)):
        colour = colour_of(root, some[0])
        for how, colour, line in (("resident", BLACK, "-"), ("warm", colour, "-"), ("cold", colour, "--")):
            yield label_of(some[0], how), colour, [(number(p, "size"), median(p, how)) for p in some], line


def ratio_curves(root, case, device):
    sized = points(root, sweep="size", case=case)
    mine = [p for p in sized if is_ours(p)]
    ours = by_size(p for p in mine if text(p, "device") == device and text(p, "isa") == "auto")
    for some in by_engine(p for p in sized if is_beside(p, device) or (is_ours(p) and is_scalar(p))):
        name = "scalar renderer" if is_ours(some[0]) else text(some[0], "program")
        for how, time, line in (("warm", best, "-"), ("cold", lambda p: median(p, "cold"), "--"))[:1 if is_ours(some[0]) else 2]:
            yield (f"{name} {how if 'warm' in some[0] else 'process'} / ours {how}", colour_of(root, some[0]),
                   [(number(p, "size"), over(time(p), median(ours.get(number(p, "size")), how))) for p in some], line)


def thread_curves(some):
    for case, colour in zip(different(text(p, "case") for p in some), (BLUE,) + OTHERS):
        mine = [p for p in some if text(p, "case") == case]
        yield f"{case} case", colour, [(number(p, "threads"), over(median(mine[0], "warm"), median(p, "warm"))) for p in mine], "-"
    counts = sorted({number(p, "threads") for p in some} - {0})
    yield "every thread a full share", (GREY[0], ""), [(n, n / counts[0]) for n in counts], "--"


def batch_curves(batches):
    for device in different(text(b, "device") for b in batches):
        yield device, BLUE if device == "cpu" else GREEN, [
            (number(b, "frames"), number(b, "frames_per_s")) for b in batches if text(b, "device") == device], "-"


def charts(root):
    """(name, title, x axis, y axis, unit of y, curves) of each chart."""
    sized, threads, batches = points(root, sweep="size"), points(root, sweep="threads"), items(root, "batches")
    sizes = "detector size, pixels along an edge"
    for case in different(text(p, "case") for p in sized):
        yield (f"time-{case}", f"Time of an image against its size, {case} case", sizes,
               "time of an image (median), s", "s", time_curves(root, case))
        for device in different(text(p, "device") for p in sized if is_ours(p) and text(p, "isa") == "auto"):
            yield (f"speedup-{case}-{device[:4]}", f"Speed-up against size, {case} case on {device}", sizes,
                   "their time / our time", "x", ratio_curves(root, case, device))
    if threads:
        yield ("threads", f"Scaling with threads, {square(threads[0])}", "threads",
               "speed over that of the fewest threads", "x", thread_curves(threads))
    if batches:
        yield ("batches", f"Throughput against frames in a series, {square(batches[0])}, {text(batches[0], 'case')} case",
               "frames in one call", "frames per second", "", batch_curves(batches))


def tick(value, unit):
    """Label of the y axis."""
    if unit == "s":
        for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
            if value * factor >= 0.999 or name == "us":
                return f"{value * factor:g} {name}"
    return f"{value:g} \u00d7" if unit == "x" else f"{value:g}"


def draw(root, title, under, beside, unit, curves):
    """SVG of lines with markers, both axes logarithmic; None if no point has a marker."""
    m = root.get("machine")
    subtitle = f"{text(m, 'processor')}, {whole(m, 'cores')} cores; {text(root, 'name')}, {text(root, 'date')}"
    chart = _plot.Chart(title, under, beside, subtitle=subtitle, log=True, word=lambda value: tick(value, unit))
    for label, (colour, mark), pairs, line in curves:
        pairs = sorted((x, y) for x, y in pairs if x > 0 and y > 0)
        if pairs:
            chart.add(pairs, colour, label, line, mark)
    return chart.text() if any(mark for *_, mark in chart.curves) else None


def draw_all(root, folder):
    """Write NAME.svg of each plot to the folder; returns [(name, caption)]."""
    made = []
    for name, title, *more in charts(root):
        picture = draw(root, title, *more)
        if picture:
            with open(os.path.join(folder, f"{name}.svg"), "w", encoding="utf-8") as stream:
                stream.write(picture)
            made.append((name, title))
    return made


# --- the program --------------------------------------------------------------------------------
def write_json(path, root):
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(root, stream, indent=1, ensure_ascii=False)
        stream.write("\n")


def make(folder, results=None, others=()):
    """Write tables and plots of `results`, or of results.json in the folder."""
    target = os.path.join(folder, "results.json")
    root = read_json("-from", results or target)
    if text(root, "format") != FORMAT:
        raise Refused(f'-from {results or target}: its "format" is not {FORMAT}')
    add_others(root, others)
    if others:
        write_json(target, root)
    elif results:
        shutil.copyfile(results, target)
    plots = draw_all(root, folder)
    with open(os.path.join(folder, "summary.md"), "w", encoding="utf-8") as stream:
        stream.write(summary(root, plots))
