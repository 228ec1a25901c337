# SPDX-License-Identifier: MIT
"""Run nanobragg bench -quick: the report is complete, every number in it is finite, every
plot is valid SVG."""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

PROGRAM = os.environ["NANOBRAGG"]
FAILED = []


def check(name, good, why=""):
    print(f"ok {name}" if good else f"# {name}: {why}\nnot ok {name}")
    if not good:
        FAILED.append(name)


def numbers(tree, path=""):
    """Yield (path, value) of every number or null in a JSON tree."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from numbers(value, f"{path}/{key}")
    elif isinstance(tree, list):
        for i, value in enumerate(tree):
            yield from numbers(value, f"{path}/{i}")
    elif not isinstance(tree, (str, bool)):
        yield path, tree


def times_are_right(times, repeats):
    values = sorted(times["values"])
    return (len(values) == times["repeats"] >= repeats and values[0] == times["min"] > 0
            and values[-1] == times["max"]
            and times["min"] <= times["q1"] <= times["median"] <= times["q3"] <= times["max"])


def check_results(root, has_peer):
    check("bench-json-format", root["format"] == "nanobragg-bench-1")
    bad = [p for p, v in numbers(root) if not isinstance(v, (int, float)) or not math.isfinite(v)]
    check("bench-json-finite", not bad, bad[:5])
    machine, build = root["machine"], root["build"]
    check("bench-json-machine", machine["cores"] >= 1 and machine["processor"]
          and build["commit"] and build["compiler"] != "unknown" and "-std=" in build["flags"]
          and root["command"].startswith("nanobragg bench -quick") and root["cases"]["simple"])
    points = root["points"]
    check("bench-json-sweeps", {p["sweep"] for p in points} >=
          {"size", "precision", "threads", "oversample", "domains"})
    measured = [p for p in points if p["program"] != "port"]
    check("bench-json-times", all(times_are_right(p[k], 5) for p in measured
                                  for k in ("cold", "warm") if k in p))
    ours = [p for p in points if p["program"] == "nanobragg"]
    check("bench-json-all-timed", all("warm" in p and p["pixels_per_s"] > 0 and p["steps_per_s"] > 0
                                      for p in ours))
    check("bench-json-cold", any("cold" in p and p["peak_mib"] > 1 for p in ours))
    check("bench-json-checked", all(p["check"]["correlation"] > 1 - 1e-4 and p["check"]["rows"] >= 4
                                    and p["check"]["images"] >= 5 for p in measured))
    check("bench-json-rate", all(math.isclose(p["steps_per_s"] * p["warm"]["median"],
                                              p["pixels"] * p["steps_per_pixel"], rel_tol=1e-6)
                                 for p in ours))
    check("bench-json-heavy-steps", any(p["steps_per_pixel"] == 1000 for p in ours))
    check("bench-json-batches", [b["frames"] for b in root["batches"]] == [1, 3]
          and all(b["check"]["images"] == 6 * b["frames"] and times_are_right(b["seconds"], 5)
                  for b in root["batches"]))
    stages = [s["name"] for s in root["breakdowns"][0]["stages"]]
    check("bench-json-stages", {"load", "render", "write", "whole process"} <= set(stages), stages)
    if has_peer:
        peers = {p["program"] for p in points} - {"nanobragg"}
        check("bench-json-peers", peers == {"other", "port"}, peers)


def check_report(folder):
    with open(os.path.join(folder, "summary.md"), encoding="utf-8") as stream:
        text = stream.read()
    check("bench-summary", all(t in text for t in ("Command: `nanobragg bench", "## Time against size",
          "other s", "port warm s", "ours warm s", "correlation", "## Threads", "mean relative error",
          "## Frames of a series", "## One process by its stages")))
    rows = [line.count("|") for line in text.split("\n") if line.startswith("|")]
    heads = [i for i, line in enumerate(text.split("\n")) if line.startswith("| ---")]
    lines = text.split("\n")
    check("bench-tables-are-square", heads and rows and all(
        lines[i].count("|") == lines[i - 1].count("|") == lines[i + 1].count("|") for i in heads))
    names = sorted(n for n in os.listdir(folder) if n.endswith(".svg"))
    want = ["batches", "speedup-heavy-cpu", "speedup-simple-cpu", "threads", "time-heavy", "time-simple"]
    check("bench-plots", names == [f"{name}.svg" for name in want], names)
    for name in names:
        root = xml.dom.minidom.parse(os.path.join(folder, name)).documentElement
        check(f"bench-{name}", root.tagName == "svg" and len(root.getElementsByTagName("path")) > 5)


def check_gains():
    """The case xfel: crystal shapes, tolerances, the time of some rows with every step,
    and another program with the same flags."""
    done = subprocess.run([PROGRAM, "bench", "-cases", "xfel", "-sizes", "24", "-devices", "cpu", "-limit", "60",
                           "-vs", "other=./other", "-o", "gains"], capture_output=True, text=True, check=False)
    check("bench-xfel-runs", done.returncode == 0, done.stderr)
    if done.returncode:
        return
    with open("gains/results.json", encoding="utf-8") as stream:
        gains = json.load(stream)["gains"]
    check("bench-xfel-kinds", [(g["shape"], g["tolerance"]) for g in gains] == [
        ("-gauss_xtal", ""), ("-gauss_xtal", "1e-3")] + [
        (shape, t) for shape in ("-square_xtal", "-round_xtal") for t in ("1e-3", "1e-4", "1e-6")], gains)
    check("bench-xfel-steps", all(g["steps_per_pixel"] == 10000 for g in gains))
    check("bench-xfel-gain", all(math.isclose(g["gain"] * g["whole"]["median"], g["every_step"]["seconds"]
          * g["size"] / g["every_step"]["rows"], rel_tol=1e-9) for g in gains))
    check("bench-xfel-errors", all(0 <= g["too_dark"] <= float(g["tolerance"] or 0) + 2e-6
          and 0 <= g["too_bright"] <= 2e-6 for g in gains))
    check("bench-xfel-others", [len(g["others"]) for g in gains] == [1, 0, 1, 0, 0, 1, 0, 0])
    with open("gains/summary.md", encoding="utf-8") as stream:
        text = stream.read()
    check("bench-xfel-summary", "## What a tolerance gains" in text and "| other |" in text, text)


def check_what_is_missing():
    """bench prints one error line if python3, numpy or its Python package is missing."""
    shutil.copy(PROGRAM, "alone")
    stubs = {"numpy": 'raise ImportError("", name="numpy")', "nanobragg": 'raise ImportError("", name="nanobragg")',
             "older": '__version__ = "0"'}
    for name, text in stubs.items():
        os.mkdir(name)
        with open(f"{name}/{'numpy' if name == 'numpy' else 'nanobragg'}.py", "w", encoding="utf-8") as stream:
            stream.write(text)
    base = {name: value for name, value in os.environ.items() if name != "NANOBRAGG_PYTHON"}
    for program, more, said in ((PROGRAM, {"PATH": "/nosuch"}, "needs python3"),
                                (PROGRAM, {"PYTHONPATH": "numpy"}, "needs numpy (Debian package python3-numpy"),
                                ("./alone", {"PYTHONPATH": "nanobragg"}, "needs the Python package nanobragg (make"),
                                ("./alone", {"PYTHONPATH": "older"}, "is of 0")):
        done = subprocess.run([program, "bench", "-quick", "-o", "none"], env={**base, **more}, capture_output=True,
                              text=True, check=False)
        check(f"bench-says-{said.split(' ')[1]}", done.returncode == 2 and said in done.stderr
              and done.stderr.count("\n") == 1 and not os.path.exists("none"), done.stderr)


def main():
    if not os.path.exists(os.path.join(os.environ["NB_BUILD"], "python")):
        print("skip bench-report # the Python package is not built")
        return
    work = tempfile.mkdtemp()
    os.chdir(work)
    with open("port.json", "w", encoding="utf-8") as stream:
        json.dump({"program": "port", "note": "made up", "points": [
            {"case": "simple", "size": size, "device": "cpu", "cold": 2.5, "warm": [0.1, 0.2, 0.3],
             "correlation": 0.99999, "max_error": 1e-4} for size in (32, 64)]}, stream)
    with open("other", "w", encoding="utf-8") as stream:
        stream.write(f"#!/bin/sh\nexec '{PROGRAM}' \"$@\" -compat\n")
    os.chmod("other", 0o755)
    command = [PROGRAM, "bench", "-quick", "-sizes", "32,64", "-at", "32", "-batches", "1,3",
               "-domains", "1,10", "-devices", "cpu", "-limit", "30", "-isas",
               "scalar,auto", "-threads", "1,2", "-vs", "other=./other",
               "-peer-results", "port.json", "-outdir", "report", "-name", "test"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check("bench-runs", done.returncode == 0, done.stderr)
    check("bench-is-silent", "\r" not in done.stderr and done.stdout == "report      report\n",
          done.stdout + done.stderr)
    if done.returncode == 0:
        with open("report/results.json", encoding="utf-8") as stream:
            check_results(json.load(stream), True)
        check_report("report")
        again = subprocess.run([PROGRAM, "bench", "-from", "report/results.json", "-o", "again"],
                               capture_output=True, text=True, check=False)
        check("bench-from", again.returncode == 0 and sorted(os.listdir("again"))
              == sorted(os.listdir("report")), again.stderr)
        os.remove("again/threads.svg")
        again = subprocess.run([sys.executable, "report/report.py", "again"], capture_output=True, text=True, check=False)
        check("bench-report-tool", again.returncode == 0 and os.path.exists("again/threads.svg"), again.stderr)
        with open("report/summary.md", "rb") as one, open("again/summary.md", "rb") as two:
            check("bench-from-same-tables", one.read() == two.read())
        with open("report/results.json", "rb") as one, open("again/results.json", "rb") as two:
            check("bench-from-same-results", one.read() == two.read())
    if "NB_BIG" in os.environ:
        check_gains()
    check_what_is_missing()
    check("bench-leaves-nothing", not [n for n in os.listdir(".") if ".part" in n], os.listdir("."))
    os.chdir("/")
    shutil.rmtree(work)


main()
sys.exit(1 if FAILED else 0)
