# SPDX-License-Identifier: MIT
"""Functions of nanobragg bench: numbers as text, tables of odd results, results of other
programs, plots, the gate (comparison with a reference), rows of a reference, options."""
import copy
import json
import math
import os
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["NB_BUILD"], "python"))
try:
    from nanobragg._programs import Stop, keywords
    from nanobragg.bench import gate, report
    from nanobragg.bench.job import Job
    from nanobragg.bench.options import Options
except ImportError as why:
    print(f"skip bench-parts # {why}")
    sys.exit(0)

FAILED = []
TIMES = {"median": 0.002, "q1": 0.0019, "q3": 0.0021, "values": [0.002]}
POINT = {"sweep": "size", "case": "simple", "program": "nanobragg", "device": "cpu", "isa": "auto",
         "precision": "mixed", "size": 64, "pixels": 4096, "steps_per_pixel": 2, "threads": 2, "warm": TIMES,
         "cold": TIMES, "pixels_per_s": 2e6, "steps_per_s": 4e6, "backend": "cpu, avx2",
         "check": {"images": 5, "rows": 64, "of_rows": 64, "correlation": 1, "max_error": 3e-7}}


def check(name, good, why=""):
    print(f"ok report-{name}" if good else f"# {name}: {why}\nnot ok report-{name}")
    if not good:
        FAILED.append(name)


def results(*points, **more):
    return {"format": report.FORMAT, "points": [dict(POINT, **p) for p in points], **more}


def refused(points):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as stream:
        json.dump({"program": "x", "points": points}, stream)
        stream.flush()
        try:
            report.add_others({}, [stream.name])
        except report.Refused as why:
            return str(why)
    return ""


def check_figures():
    check("digits", [report.digits(v) for v in (0, -1, float("inf"), float("nan"), 1234.5, 12.345, 0.012345)] ==
          ["-", "-", "-", "-", "1234", "12.3", "0.0123"])
    s = report.statistics([4, 1, 3, 2])
    check("quartiles", (s["median"], s["q1"], s["q3"], s["min"], s["max"]) == (2.5, 1.75, 3.25, 1, 4), s)
    check("labels", [report.tick(v, "s") for v in (2, 0.05, 2e-6)] == ["2 s", "50 ms", "2 us"])


def check_tables():
    other = {"program": "other", "device": "", "warm": None, "cold": {"median": 0.02}}
    text = report.summary(results({}, {"size": 128}, other, {"sweep": "threads", "threads": 1}), [])
    check("ratio", "| 64 | 4096 | 0.0200 | 0.00200 | 0.00200 | 10 % | 10.0 | 10.0 | 1.000000000000 |" in text, text)
    check("no-other-at-this-size", "| 128 | 16384 | - | 0.00200 | 0.00200 | 10 % | - | - |" in text, text)
    gone = report.summary(results({"device": "cuda"}, dict(other, device="cpu")), [])
    check("other-device-is-not-beside", "other" not in gone, gone)
    odd = [{}, {"points": 1}, {"points": [1, {}]}, {"batches": [{"frames": "x"}], "breakdowns": [{"stages": 3}]},
           {"left_out": [{}], "cases": 7, "machine": []}, {"points": [{"sweep": "threads"}] * 2},
           {"points": [dict(POINT, warm={"median": float("inf")})]}, {"points": [dict(POINT, size=1e400)]}]
    for root in odd:  # a file with any content gives a table
        text = report.summary(copy.deepcopy(root), [])
        check(f"odd-{odd.index(root)}", text.startswith("# Benchmark") and "inf" not in text, text)


def check_others():
    good = {"case": "simple", "size": 64, "warm": [0.5, 0.6], "correlation": 1, "max_error": 0}
    check("others-good", not refused([good]), refused([good]))
    for key in ("case", "size", "warm", "correlation", "max_error"):
        less = {k: v for k, v in good.items() if k != key}
        check(f"others-without-{key}", "point 2 needs" in refused([good, less]))
    for bad in (0, -1, "x", [], [1, None], True):
        check(f"others-time-{bad}", "point 1 needs" in refused([dict(good, warm=bad)]))
    check("others-wrong", "is wrong" in refused([dict(good, correlation=0.999)])
          and "is wrong" in refused([dict(good, max_error=0.2)]))


def check_plots():
    root = results({}, {"size": 128}, {"isa": "scalar"}, {"program": "a $x$", "device": "cpu"},
                   {"sweep": "threads", "threads": 1}, {"sweep": "threads", "threads": 2},
                   batches=[{"device": "cpu", "frames": n, "frames_per_s": 9 * n} for n in (1, 4)])
    with tempfile.TemporaryDirectory() as folder:
        made = [name for name, _ in report.draw_all(root, folder)]
        check("plots", made == ["time-simple", "speedup-simple-cpu", "threads", "batches"], made)
        check("pictures", sorted(os.listdir(folder)) == sorted(f"{m}.svg" for m in made))
        text = xml.dom.minidom.parse(os.path.join(folder, "time-simple.svg")).documentElement.toxml()
        check("legend", "nanobragg cpu, warm" in text and "a $x$ cpu, cold" in text)


def check_gate():
    b, nan, mixed = [1, 2, 4, 8], float("nan"), gate.BOUNDS["mixed"]
    cases = ((b, True), ([1, 2, 4, 8.0000038], True), ([1, 2, 4, 8.01], False), ([1, nan, 4, 8], False), ([3] * 4, False))
    check("gate", [gate.is_right(gate.compare(a, b), mixed) for a, _ in cases] == [good for _, good in cases])
    check("gate-nothing", not gate.is_right(gate.compare([], []), mixed))
    check("gate-figures", gate.compare(b, b) == (1, 0, 0) and all(
        abs(x - y) < 1e-6 for x, y in zip(gate.compare([1, 2, 4, 8.01], b)[1:], (0.01 / 8, 0.01 / 32))))
    check("gate-worse", gate.worse((1, 1e-7, 0), (0.5, 1e-8, 3)) == (0.5, 1e-7, 3)
          and math.isnan(gate.worse((1, 0, 0), (nan, 0, 0))[0]))
    check("gate-rows", [gate.bands(100, 50, 10, n) for n in (1e9, 5100, 0)] == [
        ([0], 50), ([0, 12, 24, 36, 49], 1), ([0, 16, 32, 49], 1)])  # cases with all rows, with five rows, and with four rows, the fewest
    first, each = gate.bands(100, 4000, 10, 1e6)  # about a thousand rows, in blocks
    check("gate-blocks", (len(first), each, first[-1]) == (64, 15, 4000 - 15))


def check_options():
    o = Options("-sizes 64,128 --repeats 7 -devices cpu,cuda:1 -isas avx2,scalar -precisions mixed -limit 0.5 -vs a=b "
                "-vs c=d -quick -o /secret/x -name".split() + ["a b"], 6)
    check("options", (o.sizes, o.repeats, o.devices, o.isas, o.precisions, o.limit, len(o.peers), o.threads, o.cases)
          == ([64, 128], 7, ["cpu", "cuda:1"], ["avx2", "scalar"], ["mixed"], 0.5, 2, [1, 2, 4, 6], ["simple", "heavy"]))
    check("options-command", o.command.endswith("-quick -o x -name 'a b'"), o.command)
    o = Options(["-sweeps", "size,batch"], 1)
    check("options-defaults", (o.sweeps, o.threads, o.sizes[4], o.batches[9]) == (["size", "batch"], [1], 4096, 512))
    for words, said in (("-sizes 64,", "whole numbers from 8"), ("-sizes ,64", "whole numbers from 8"),
                        ("-sizes 4", "whole numbers from 8"), ("-sizes " + ",".join(["64"] * 17), "at most 16"),
                        ("-devices cuda:", "cpu, cuda, cuda:N"), ("-devices auto", "cpu, cuda, cuda:N"),
                        ("-sweeps all", "breakdown"), ("-vs =b", "NAME=PROGRAM"), ("-vs a=", "NAME=PROGRAM"),
                        ("-vs a=b " * 5, "at most 4"), ("-name a/b", "without /")):
        try:
            Options(words.split())
            check(f"options-refuse-{words}", False)
        except Stop as why:
            check(f"options-refuse-{words}", said in str(why) and why.status == 2, why)


def check_jobs():
    job = Job("heavy", 64, domains=30, threads=2, isa="avx2")
    given, other = job.keywords(), job.command(False)
    check("job-text", job.text() == "heavy 64x64 on cpu avx2 mixed, 30 domains, 2 threads", job.text())
    check("job-keywords", [given[k] for k in ("detpixels", "mosaic_dom", "threads", "compat", "isa")]
          == ["64", "30", "2", True, "avx2"] and "quiet" not in given, given)
    check("job-of-others", not {"-device", "-compat", "-threads"} & set(other) and other[-1] == "floatimage.bin", other)
    check("job-negative", list(keywords("-N 1 -misset -10 20 -3 -N 2".split()).items())
          == [("misset", "-10 20 -3"), ("N", "2")])


check_figures()
check_tables()
check_others()
check_plots()
check_gate()
check_options()
check_jobs()
sys.exit(1 if FAILED else 0)
