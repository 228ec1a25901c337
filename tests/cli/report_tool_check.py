# SPDX-License-Identifier: MIT
"""src/tools/report.py alone: figures in words, tables of odd results, figures of other programs, plots."""
import copy
import json
import os
import sys
import tempfile
import xml.dom.minidom

SOURCE = os.environ.get("NB_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "src", "tools"))
import report  # noqa: E402  (its folder is known only now)

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
           {"gains": [{}, 5], "left_out": [{}], "cases": 7, "machine": []}, {"points": [{"sweep": "threads"}] * 2},
           {"points": [dict(POINT, warm={"median": float("inf")})]}, {"points": [dict(POINT, size=1e400)]}]
    for root in odd:  # whatever a file has, a table comes out of it
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
    with open(os.path.join(SOURCE, "src/cli/bench/judge.c"), encoding="utf-8") as stream:
        same = f"{{{report.OTHERS_CORRELATION:.0e}, {report.OTHERS_ERROR}}}".replace("e-0", "e-")
        check("others-limits-as-in-c", same in stream.read(), same)


def check_plots():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("skip report-plots # python3-matplotlib is missing")
        return
    root = results({}, {"size": 128}, {"isa": "scalar"}, {"program": "a $x$", "device": "cpu"},
                   {"sweep": "threads", "threads": 1}, {"sweep": "threads", "threads": 2},
                   batches=[{"device": "cpu", "frames": n, "frames_per_s": 9 * n} for n in (1, 4)])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made = [name for name, _ in report.draw_all(root)]
        check("plots", made == ["time-simple", "speedup-simple-cpu", "threads", "batches"], made)
        check("pictures", sorted(os.listdir(".")) == sorted(f"{m}.{e}" for m in made for e in ("png", "svg")))
        text = xml.dom.minidom.parse("time-simple.svg").documentElement.toxml()
        check("legend", "nanobragg cpu, warm" in text and "a $x$ cpu, cold" in text)
        os.chdir("/")


check_figures()
check_tables()
check_others()
check_plots()
sys.exit(1 if FAILED else 0)
