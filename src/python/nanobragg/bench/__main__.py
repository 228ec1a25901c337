# SPDX-License-Identifier: MIT
"""nanobragg bench (src/cli/python_verb.c): PROGRAM, words after `nanobragg bench`."""

import logging
import os
import shutil
import sys
import tempfile
import time

import nanobragg

from .. import _build
from .._programs import Runner, Stop, find, finish, tell
from . import report
from .job import Job, case_text
from .measure import Bench, last_line
from .options import DEVICES, ISAS, MAX_DEVICES, Options, cores
from .plan import Plan

PLENTY = 2e9  # bytes of free memory that suffice for the files of the runs


# --- the folder of a report: complete or absent -------------------------------------------------
class Folder:
    """Context of two folders, removed on failure. `part` becomes the report at the end.
    Programs run in `scratch`, which is in memory if possible, so that the disk does not
    affect times."""

    def __init__(self, path):
        self.path = path.rstrip("/") or "/"
        self.part, self.scratch = f"{self.path}.{os.getpid()}.part", None

    def __enter__(self):
        if os.path.lexists(self.path):
            raise Stop(2, f"-outdir {self.path}: it exists already; remove it or type another name")
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            os.mkdir(self.part)
            in_memory = os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > PLENTY
            self.scratch = tempfile.mkdtemp(prefix="nanobragg-bench.",
                                            dir="/dev/shm" if in_memory else os.path.realpath(self.part))
        except OSError as why:
            self.__exit__()
            raise Stop(1, f"-outdir: cannot make {why.filename}: {why.strerror}") from None
        return self

    def new_scratch(self):
        """Make the empty folder of one run."""
        path = os.path.join(self.scratch, "run")
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def commit(self):
        shutil.rmtree(self.scratch, ignore_errors=True)
        os.rename(self.part, self.path)

    def __exit__(self, *_):
        for path in (self.scratch, self.part):
            if path:
                shutil.rmtree(path, ignore_errors=True)


# --- this machine -------------------------------------------------------------------------------
def look_up(path, key):
    """Value of the first line "key : value" of a file, or ""."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key) and ":" in line), "")
    except OSError:
        return ""


def machine():
    system = os.uname()
    found = {"processor": look_up("/proc/cpuinfo", "model name") or "unknown", "cores": cores(),
             "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") / 2**20,
             "system": f"{system.sysname} {system.release} {system.machine}", "load_at_start": os.getloadavg()[0]}
    driver = look_up("/proc/driver/nvidia/version", "NVRM version")
    return {**found, "gpu_driver": driver} if driver else found


def build():
    parts = {name: detail or "absent" for name, detail in nanobragg.features().items()}
    return {"version": nanobragg.__version__, "commit": _build.COMMIT, "compiler": _build.COMPILER,
            "flags": _build.FLAGS, "features": parts}


def date():
    """Date of SOURCE_DATE_EPOCH, or of today (UTC)."""
    return time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())))


# --- results.json (docs/performance.md) ---------------------------------------------------------------
def row_of(p):
    """Row of a measured point in results.json."""
    job, row = p.job, dict(p.found)
    row.update(sweep=p.sweep, program=p.program, case=job.case, size=job.size, pixels=job.size**2)
    row.update({key: value for key, value in (("oversample", job.oversample), ("domains", job.domains)) if value})
    if not p.peer:
        row.update(device=job.device, isa=job.isa, precision=job.precision, threads=job.threads)
    names = ("correlation", "max_error", "mean_relative_error")
    row["check"] = {"images": p.images, "rows": p.rows, "of_rows": p.of_rows, **dict(zip(names, p.worst))}
    return row


def left_out_of(p):
    what = " ".join(p.job.text().split(" ")[:2]) if p.peer else p.job.text()
    return {"sweep": p.sweep, "program": p.program, "what": what, "why": p.left_out}


def results(options, points, head):
    lists = {"batch": "batches", "breakdown": "breakdowns"}
    root = {"format": report.FORMAT, "name": options.name, "command": options.command, **head, "build": build(),
            "date": date(), "cases": {case: case_text(case, options.own) for case in options.cases},
            "points": [], "left_out": [], "batches": [], "breakdowns": []}
    for p in points:
        if p.left_out:
            root["left_out"].append(left_out_of(p))
        else:
            root[lists.get(p.sweep, "points")].append(row_of(p))
    return root


# --- devices and instruction sets ---------------------------------------------------------------
def why_not(bench, device):
    """Reason why a device cannot render, or "".  Another process opens the device."""
    try:
        bench.process(Job("simple", 8, device=device))
    except Stop as why:
        return str(why).split("error: ", 1)[-1]
    return ""


def find_devices(bench, asked):
    """Requested devices, or the devices that start."""
    for device in asked:
        why = why_not(bench, device)
        if why:
            raise Stop(2, f"-devices {device}: {why}")
    return asked or [word for word in DEVICES if ":" not in word
                     and (word == "cpu" or not why_not(bench, word))][:MAX_DEVICES]


def find_isas(asked):
    """Requested instruction sets, or all that run on this processor."""
    found = []
    for isa in ISAS:
        if isa not in asked if asked else isa == "auto":
            continue
        try:
            Job("simple", 8, isa=isa).simulation()
            found.append(isa)
        except (ValueError, NotImplementedError) as why:
            if asked:
                raise Stop(2, f"-isas {isa}: {why}") from None
    return found


def find_programs(program, peers):
    found = {None: program}
    for name, path in peers:
        try:
            found[name] = find(path)
        except OSError as why:
            raise Stop(2, f"-vs: the program {path} cannot be run: {why.strerror}") from None
    return found


def check_own(bench, own):
    """Let the program check the user's flags before any measurement."""
    folder = bench.folder.new_scratch()
    log = os.path.join(folder, "log.txt")
    if own and bench.runner.run([bench.programs[None], *Job("own", 8, tuple(own)).command(True), "-show_config"],
                                folder, log, log)["exit_status"]:
        raise Stop(2, last_line(log).split("error: ", 1)[-1])


# --- the program --------------------------------------------------------------------------------
def measure(options, folder, programs):
    """Write results.json."""
    head = {"machine": machine()}
    with Runner() as runner:
        bench = Bench(options, folder, programs, runner)
        check_own(bench, options.own)
        plan = Plan(options, find_devices(bench, options.devices), find_isas(options.isas), folder.scratch)
        plan.write_factors()
        bench.measure(plan.points)
    report.write_json(os.path.join(folder.part, "results.json"), results(options, plan.points, head))


def run(program, words):
    options = Options(words)
    programs = find_programs(program, options.peers)
    with Folder(options.outdir or f"reports/benchmarks/{date()}-{options.name}") as folder:
        report.add_others({}, options.others)  # called before the measurements, to find errors in these files
        if not options.results:
            measure(options, folder, programs)
        report.make(folder.part, options.results, options.others)
        folder.commit()
    tell(f"report      {folder.path}\n")


def main():
    """Return the exit status."""
    logging.getLogger("nanobragg").addHandler(logging.NullHandler())  # do not show notices of renders
    return finish(lambda: run(sys.argv[1], sys.argv[2:]), "interrupted; no report was written",
                  [((report.Refused, ValueError, NotImplementedError), 2), ((nanobragg.DeviceError,), 1)])


if __name__ == "__main__":
    sys.exit(main())
