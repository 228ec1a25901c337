# SPDX-License-Identifier: MIT
"""Compares the bytes that two programs write: shows that a change has no effect on them.

usage: frozen.py hash PROGRAM TABLE [--only ROOM,...] [--device cuda] [--jobs N]
       frozen.py compare TABLE TABLE

`hash` runs some hundred command lines over every flag and format and writes a line for each
output: room, run, file, hash.  Standard output and standard error are outputs too, without their
times and rates.  `compare` prints the lines that differ, and then exits with 1.
tests/golden/frozen.sh does both for this tree and another commit.

Rooms: golden (every golden image on each instruction set and precision), files (the same once,
with all files), flags (tests/cli/flags.tsv), refusals (tests/cli/bad_inputs.tsv), series, texts.
"""
import concurrent.futures
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CLI = os.path.join(HERE, "..", "cli")
GOLDEN = os.path.join(HERE, "..", "..", "golden_data")
ROOMS = ["golden", "files", "flags", "refusals", "series", "texts"]
X = "-default_F 100 -cell 70 80 90 -N 8 -detpixels 96 -pixel 0.5 -fluence 3e28 -distance 100 -seed 7"
ROTATION = X + " -mosaic 0.5 -phi 10 -osc 0.3 -phisteps 2 -frames 5 -frames_per_file 2"
STILLS = X + " -stills 4 -orientations random -jitter_fluence 5 -jitter_cell 0.1 -jitter_beam 0.2"
SCENES = {
    "plain": X + " -misset 10 20 30",
    "everything": X + " -misset 10 20 30 -mosaic 0.7 -mosaic_domains 4 -osc 1 -phisteps 3 -hdivrange 2 "
    "-hdivsteps 3 -dispersion 1 -dispsteps 3 -polar 0.9 -water 0.1 -detector_thick 300 -detector_abs 200 "
    "-thicksteps 3 -detector_rotx 5 -twotheta 10 -oversample 2 -roi 5 80 10 90",
    "curved": X + " -curved_det -gauss_xtal -point_pixel",
    "round": X + " -round_xtal -oversample_omega -oversample_polar -polar 0.5 -dmin 3",
    "tophat": X + " -tophat_spots -xds -ORGX 40 -ORGY 50",
    "compat": X + " -compat -misset random -misset_seed 5 -mosaic 1 -cell 70 80 90 75 85 95",
    "table": "-hkl good.hkl -cell 50 60 70 -N 4 -detpixels 64 -interpolate -fluence 1e30 -seed 3",
}
SERIES = {
    **{f"numbered-{kind}": f"{ROTATION} -output f_%03d.{kind}"
       for kind in ("img", "cbf", "bin", "tif", "png")},
    "numbered-tiff16": ROTATION + " -output f_%03d.tif -tiffbits 16",
    "numbered-nonoise": ROTATION + " -output f_%03d.img -nonoise -scale 1",
    **{f"hdf5-{kind}-{how}": f"{ROTATION} -hdf5 r_master.h5 -hdf5type {kind} -compress {how}"
       for kind in ("uint16", "int32", "float32") for how in ("none", "gzip", "bslz4")},
    "hdf5-truth": ROTATION + " -hdf5 r_master.h5 -truth spots -truth_min 10",
    "hdf5-nonoise": ROTATION + " -hdf5 r_master.h5 -nonoise",
    "stills-hdf5": STILLS + " -hdf5 s_master.h5",
    "stills-cbf": STILLS + " -output s_%d.cbf",
    "stills-table": X + " -stills 2 -orientations good.rot -output s_%d.bin",
    "stills-spectra": X + " -stills 2 -spectra good.spectra -hdf5 s_master.h5",
    "jobs": X + " -jobs good.jobs -output j_%d.img",
    "jobs-hdf5": X + " -jobs good.jobs -hdf5 j_master.h5",
    "both": ROTATION + " -hdf5 r_master.h5 -output r_%d.img",
    "compat": ROTATION + " -compat -output c_%d.img",
}
TIMES = re.compile(r"[0-9.]+(e[-+]?[0-9]+)? ?(s|ms|us|ns|h|min)\b(/[a-z]+)?|[0-9.]+ frames/s|[0-9.]+ [kMG]?B/s"
                   r"|pid [0-9]+|[0-9.]+ MiB")
SECONDS = re.compile(rb'"seconds":\s*\{[^}]*\}')  # times in a file of -report


def rows_of(name):
    with open(os.path.join(CLI, name), encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split("\t")
            if not line.startswith("#") and fields[0] not in ("", "id"):
                yield fields


def golden_rows():
    with open(os.path.join(GOLDEN, "cases.tsv"), encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split("\t")
            if not line.startswith("#") and fields[0] not in ("", "id"):
                yield fields[0], fields[-1]


def list_runs(device):
    """Yields (room, name, command line as typed in a shell)."""
    ways = {"cuda-" + p: f"-device cuda -precision {p}" for p in ("mixed", "double")}
    if not device:
        ways = {isa: "-device cpu -isa " + isa for isa in ("scalar", "sse2", "avx2", "avx512")}
        ways["double"] = "-device cpu -precision double"
    where = "-device cuda" if device else "-device cpu"
    for name, flags in golden_rows():
        for way, extra in ways.items():
            yield "golden", f"{name}/{way}", f"{flags} {extra} -noint -nopgm -nonoise -seed 1 -quiet"
        yield "files", name, f"{flags} {where} -seed 1 -pngfile p.png -tifffile t.tif"
    for fields in rows_of("flags.tsv"):
        if fields[0] in ("time", "time-json"):
            continue
        yield "flags", fields[0], f"-seed 1 {where} {fields[3]}"
    for fields in rows_of("bad_inputs.tsv"):
        yield "refusals", fields[0], fields[3]
    for name, flags in SERIES.items():
        yield "series", name, f"{flags} {where}"
    for name, flags in SCENES.items():
        yield "texts", name + "-report", f"{flags} {where} -truth spots -pngfile p.png -pngrings 3,5"
        yield "texts", name + "-config", f"{flags} {where} -show_config"
        yield "texts", name + "-trace", f"{flags} {where} -trace_pixel 40 45"
        yield "texts", name + "-printout", f"{flags} {where} -printout -printout_pixel 40 45"
    for words in ("-help", "-help-json", "-version", "compare -help",
                  "view -help", "bench -help", "compare good.img good.img", "view good.img v.png"):
        yield "texts", words, words


def hash_of(data):
    return hashlib.sha256(data).hexdigest()[:20]


def contents(folder):
    made = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            with open(path, "rb") as stream:
                data = stream.read()
            if name.endswith(".json"):
                data = SECONDS.sub(b"", data)
            made[os.path.relpath(path, folder)] = hash_of(data)
    return made


def expand(words, variables):
    return [os.path.expandvars(w) if "$" in w else w
            for w in shlex.split(re.sub(r"\$(\w+)", lambda m: variables.get(m[1], m[0]), words))]


def one_run(job):
    room, name, words, program, fixtures, variables = job
    folder = tempfile.mkdtemp(dir=os.path.dirname(program))
    inputs = GOLDEN if room in ("golden", "files") else fixtures
    for entry in os.listdir(inputs):
        source = os.path.join(inputs, entry)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(folder, entry))
        elif room not in ("golden", "files") or entry in words.split():
            shutil.copy(source, folder)
    before = contents(folder)
    environment = dict(os.environ, LC_ALL="C", SOURCE_DATE_EPOCH="0", **variables)
    done = subprocess.run(["../nanobragg", *expand(words, variables)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    after = contents(folder)
    lines = [(room, name, "exit status", str(done.returncode))]
    lines += [(room, name, path, hashed) for path, hashed in sorted(after.items())
              if before.get(path) != hashed]
    for what, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        said = TIMES.sub("T", text.decode("utf-8", "replace").replace(folder, "."))
        lines.append((room, name, what, hash_of(said.encode())))
    shutil.rmtree(folder)
    return lines


def hash_program(program, table, rooms, device, jobs):
    with tempfile.TemporaryDirectory(prefix="frozen-") as work:
        shutil.copy(program, os.path.join(work, "nanobragg"))  # both programs get the same name
        fixtures = os.path.join(work, "fixtures")
        script = f'. ./fixtures.sh; make_fixtures "{fixtures}" && printf "%s\\n%s\\n" "$X" "$NOFILES"'
        said = subprocess.run(["bash", "-c", script], cwd=CLI, text=True, capture_output=True, check=True,
                              env=dict(os.environ, NANOBRAGG=os.path.join(work, "nanobragg")))
        variables = dict(zip(("X", "NOFILES"), said.stdout.splitlines()))
        todo = [(*run, os.path.join(work, "nanobragg"), fixtures, variables)
                for run in list_runs(device) if run[0] in rooms]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            lines = [line for lines in pool.map(one_run, todo) for line in lines]
    with open(table, "w", encoding="utf-8") as stream:
        stream.writelines("\t".join(line) + "\n" for line in lines)
    print(f"{len(todo)} runs, {len(lines)} hashes: {table}")


def read_table(path):
    with open(path, encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    return {tuple(row[:3]): row[3] for row in rows}


def compare(first, second):
    a, b = read_table(first), read_table(second)
    differ = sorted(key for key in a.keys() | b.keys() if a.get(key) != b.get(key))
    for key in differ:
        print("differs: " + "  ".join(key) + ("" if key in a and key in b else "  (on one side only)"))
    print(f"{len(a)} and {len(b)} hashes, {len(differ)} differ")
    return 1 if differ or not a else 0


def option(words, name, default):
    if name not in words:
        return default
    at = words.index(name)
    value = words[at + 1]
    del words[at:at + 2]
    return value


def main(words):
    rooms = option(words, "--only", ",".join(ROOMS)).split(",")
    device = option(words, "--device", "")
    jobs = int(option(words, "--jobs", str(os.cpu_count() or 1)))
    if len(words) == 3 and words[0] == "hash" and set(rooms) <= set(ROOMS):
        return hash_program(os.path.abspath(words[1]), words[2], rooms, device, jobs)
    if len(words) == 3 and words[0] == "compare":
        return compare(words[1], words[2])
    print(__doc__.split("\n\n")[1], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
