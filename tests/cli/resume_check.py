# SPDX-License-Identifier: MIT
"""-resume keeps complete files, makes damaged ones again, and refuses a series whose
flags or inputs changed.

usage: NANOBRAGG=program python3 tests/cli/resume_check.py
"""
import glob
import os
import shutil
import signal
import subprocess
import time

from series_check import PROGRAM, ROTATION, X, contents, differences, in_folder, ok, read, run
from script import write

LOUD = [flag for flag in ROTATION if flag != "-quiet"]


def one(error, kind="error"):
    """True if there is exactly one line of this kind."""
    return sum(line.startswith(f"nanobragg: {kind}: ") for line in error.splitlines()) == 1


def kept(out):
    """Number of kept frames in the report."""
    words = out.split(" of them kept from the earlier run")
    return int(words[0].split()[-1]) if len(words) > 1 else 0


def data_files():
    return {name: (os.stat(name).st_ino, read(name)) for name in sorted(glob.glob("l_data_*.h5"))}


def jobs_without_effect():
    """One note names the flags of a job that have no effect on its frame."""
    with open("j.jsonl", "w", encoding="ascii") as out:
        out.write('{"floatfile": "x.bin", "phi": 1}\n{"threads": 2, "time": "json"}')
    said = run(*X, "-detpixels", 8, "-jobs", "j.jsonl", "-output", "j_%d.bin")[1]
    ok("jobs-without-effect", said.count("no effect") == 1 and
       "floatfile, threads, time in -jobs j.jsonl: no effect" in said, said)


def lists_are_kept(h5py):
    """-resume keeps complete data files with lists of reflections. It makes again files
    that are cut short or hold other frames."""
    flags = LOUD + ["-frames", 7, "-frames_per_file", 3, "-truth", "spots", "-gauss_xtal", "-oversample", 1, "-detpixels", 40,
                    "-mosaic", 0, "-hdf5", "l_master.h5"]
    run(*flags)
    before, whole = data_files(), contents(h5py, "l_master.h5")
    out = run(*flags, "-resume")[0]
    ok("resume-keeps-files-with-lists", kept(out) == 7 and data_files() == before and
       contents(h5py, "l_master.h5") == whole, out)

    def attribute(name):
        def change(path):
            with h5py.File(path, "r+") as h5:
                h5["/entry/data/data"].attrs.modify(name, h5["/entry/data/data"].attrs[name] + 1)
        return change

    def other(path):
        with h5py.File(path, "r+") as h5:
            h5["/entry"].attrs.modify("seed", 8)

    damages = {"first": attribute("image_nr_low"), "last": attribute("image_nr_high"), "cut": lambda path: os.truncate(path, 3000)}
    wrong = []
    for name, damage in damages.items():
        damage("l_data_000002.h5")
        out = run(*flags, "-resume")[0]
        if kept(out) != 4 or {n: d for n, (_, d) in data_files().items()} != \
                {n: d for n, (_, d) in before.items()}:
            wrong.append((name, kept(out)))
        wrong += [(name, other) for other in differences(whole, contents(h5py, "l_master.h5"))]
    ok("damaged-files-are-made-again", not wrong, wrong)
    other("l_data_000002.h5")
    error = run(*flags, "-resume", status=2)[1]
    ok("file-of-another-series-refused", one(error) and "l_data_000002.h5" in error, error)


def parts_are_kept(h5py):
    """A run that is stopped closes its data file early; runs with -resume write the other
    frames to further files, whatever stops these runs."""
    flags = [*LOUD, "-frames", 60, "-oversample", 6, "-truth", "spots", "-truth_min", "1e4", "-gauss_xtal", "-threads", 2]
    began = time.time()
    run(*flags, "-hdf5", "p_master.h5")
    part = (time.time() - began) / 4  # a quarter of the time of the series; longer on a busy machine
    whole, stops = contents(h5py, "p_master.h5"), []
    for stop in (["-time_limit", max(0.4, part)], signal.SIGUSR1, signal.SIGINT, signal.SIGKILL):
        words = [PROGRAM, *map(str, flags), "-hdf5", "q_master.h5", "-resume"]
        process = subprocess.Popen(words + list(map(str, stop)) if isinstance(stop, list) else words, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        if not isinstance(stop, list):
            time.sleep(max(0.4, part))
            process.send_signal(stop)
        error = process.communicate()[1]
        names = sorted(glob.glob("q_data_*"))
        frames = sum(len(h5py.File(name)["/entry/data/data"]) for name in names)
        stops.append((process.returncode, len(names), frames, one(error)))
    out = run(*flags, "-hdf5", "q_master.h5", "-resume")[0]
    other = differences(whole, contents(h5py, "q_master.h5"))
    good = [s[0] for s in stops[:3]] == [130] * 3 and all(s[3] for s in stops[:3])
    ok("early-data-files", not other and "q_data_000001b.h5" in os.listdir() and not glob.glob(".q_*") and
       not glob.glob("q_*.resume") and (good or stops[-1][2] == 60) and kept(out) == stops[-1][2], (stops, other))


def stills_are_kept(h5py):
    """-resume restores values that only a master of stills holds (spectra and weights,
    beams, cells), whichever of the files is missing."""
    write("s.txt", "".join(f"1.0 {k + 1} 1.0{k} 1\n" for k in range(6)))
    flags = [*LOUD[:-6], "-detpixels", 40, "-oversample", 1, "-stills", 6, "-orientations", "random", "-frames_per_file", 2,
             "-truth", "spots", "-truth_min", "1e-30", "-gauss_xtal", "-spectra", "s.txt", "-jitter_fluence", 20,
             "-jitter_cell", 0.3, "-jitter_mosaic", 10, "-jitter_beam", 0.4, "-hdf5", "m_master.h5"]
    run(*flags)
    whole, wrong = contents(h5py, "m_master.h5"), []
    for gone in ([], ["m_master.h5"], ["m_master.h5", "m_data_000001.h5"], ["m_data_000003.h5"]):
        for name in gone:
            os.remove(name)
        out = run(*flags, "-resume")[0]
        wrong += [(gone, name) for name in differences(whole, contents(h5py, "m_master.h5"))]
        if kept(out) != (6 if len(gone) < 2 and gone != ["m_data_000003.h5"] else 4):
            wrong.append((gone, kept(out)))
    ok("resumed-master-of-stills", not wrong and any("weights" in name for name in whole), wrong)


def hkl(shift=0, factor=1):
    """Text of an .hkl file; with `shift`, the same F have other indices h."""
    return "".join(f"{h + shift} {k} {l} {factor * (10 + 3 * h + 2 * k + l)}\n"
                   for h in range(4) for k in range(4) for l in range(4))


SMALL = ["-cell", "70", "80", "90", "-N", "5", "-detpixels", "24", "-pixel", "2", "-fluence", "1e28",
         "-distance", "100", "-seed", "7", "-oversample", "1"]


def input_files():
    write("a.hkl", hkl())
    write("a.src", "-10 0 0 1 1e-10\n-10 0.01 0 3 1.1e-10\n")
    write("a.rot", "1 2 3\n4 5 6\n7 8 9\n")
    write("a.mat", "0.0125 0 0\n0 0.011 0\n0 0 0.012\n")
    run(*SMALL, "-default_F", 100, "-noint", "-nopgm", "-nofloat", "-noisefile", "a.img", "-quiet")


def what_counts(h5py):
    """-resume keeps a finished HDF5 series after some changes of flags or inputs, and
    refuses it after others."""
    input_files()
    orientations = ["-stills", 3, "-orientations", "a.rot"]
    series = [*SMALL, "-hkl", "a.hkl", "-sourcefile", "a.src", "-mask", "a.img", *orientations,
              "-hdf5", "w_master.h5", "-frames_per_file", 2]
    run(*series)
    before = {name: read(name) for name in glob.glob("w_data_*.h5")}
    whole = contents(h5py, "w_master.h5")
    os.mkdir("folder")
    for name in before:
        shutil.copy(name, "folder/" + name)
    shutil.copy("a.hkl", "same.hkl")
    keep = {"picture": ["-pngfile", "x.png", "-colormap", "viridis", "-pnglog", "-pngrings", "20"],
            "files": ["-floatfile", "x.bin", "-nopgm", "-noint", "-pgmscale", 3, "-tiffbits", "16"],
            "threads": ["-threads", 1], "progress": ["-noprogress", "-time"],
            "folder": ["-hdf5", "folder/w_master.h5"],
            "name": ["-hkl", "same.hkl"]}
    wrong = []
    for name, flags in keep.items():
        out = run(*series, *flags, "-resume")[0]
        if kept(out) != 3 or {n: read(n) for n in before} != before:
            wrong.append((name, kept(out)))
        wrong += [(name, other) for other in differences(whole, contents(h5py, "w_master.h5"))]
    ok("resume-takes-what-changes-no-pixel", not wrong, wrong)
    image = bytearray(read("a.img"))
    with open("header.img", "wb") as out:
        out.write(image.replace(b"CONVENTION=mosflm;", b"CONVENTION=denzo;\n"))
    image[1030:1032] = b"\0\0"  # 0: masks one more pixel
    with open("b.img", "wb") as out:
        out.write(image)
    refuse = {"one F": ["-hkl", write("b.hkl", hkl(factor=1.001))],
              "limits": ["-hkl", write("c.hkl", hkl(shift=1))], "offset": ["-adc", 7],
              "sources": ["-sourcefile", write("b.src", "-10 0 0 1 1e-10\n-10 0.01 0 2 1.1e-10\n")],
              "orientations": ["-orientations", write("b.rot", "1 2 3\n4 5 6.1\n7 8 9\n")],
              "matrix": ["-mat", "a.mat"], "header": ["-img", "header.img"], "mask": ["-mask", "b.img"],
              "type": ["-hdf5type", "int32"], "compression": ["-compress", "none"],
              "fluence": ["-fluence", "2e28"], "truth": ["-truth", "spots"]}
    missed = []
    for name, flags in refuse.items():
        error = run(*series, *flags, "-resume", status=None)[1]
        if not one(error) or "error: -resume: " not in error:
            missed.append((name, error))
    ok("resume-refuses-other-inputs", not missed and
       {n: read(n) for n in before} == before and not glob.glob("w_*.resume"), missed)
    # -dump writes the cache of structure factors if -hkl is typed, and otherwise reads
    # the cache
    run(*SMALL, "-hkl", "a.hkl", "-dump", "a.dump", "-nopgm", "-noint", "-nofloat", "-nonoise")
    run(*SMALL, "-hkl", "b.hkl", "-dump", "b.dump", "-nopgm", "-noint", "-nofloat", "-nonoise")
    cached = [*SMALL, *orientations, "-hdf5", "d.h5", "-dump"]
    run(*cached, "a.dump")
    out = run(*cached, "a.dump", "-resume")[0]
    error = run(*cached, "b.dump", "-resume", status=2)[1]
    ok("resume-refuses-another-cache", kept(out) == 3 and "-resume: " in error, error)


def renderer_counts():
    """The last digits of floats, and so some counts, depend on the renderer. -resume with
    another renderer is refused, with its name."""
    floats = [*SMALL, "-default_F", 100, "-stills", 2, "-hdf5", "g.h5"]
    lines = [run(*floats, *flags)[0] for flags in ([], ["-isa", "scalar"])]
    error = run(*floats, "-resume", status=None)[1]
    if lines[0].split("backend")[1] == lines[1].split("backend")[1]:
        print("skip series resume-renderer # this machine has one renderer")
    else:
        ok("resume-renderer", "-resume: the series was begun with the renderer scalar" in error and
           one(error), error)


def stop_at(path, *args):
    """Makes a run fail when it writes the file `path`, because a folder has this name."""
    if os.path.exists(path):
        os.remove(path)
    os.mkdir(path)
    error = run(*args, status=1)[1]
    os.rmdir(path)
    if not one(error) or path not in error:
        raise AssertionError(f"it did not end at {path}: {error[-300:]}")


def pictures_count():
    """-resume refuses other colours only if the frames are pictures (PNG)."""
    flags = [*SMALL, "-default_F", 100, "-stills", 2, "-threads", 1]
    for name, status in (("q_%d.png", 2), ("q_%d.cbf", 0)):
        if name.endswith("png") and "libpng" in run(*SMALL, "-default_F", 1, "-stills", 1, "-output",
                                                    "no_%d.png", status=None)[1]:
            print("skip series resume-pictures # no libpng in this build")
            continue
        stop_at(name % 2, *flags, "-output", name)
        out, error = run(*flags, "-output", name, "-colormap", "heat", "-resume", status=status)
        ok("resume-colours-of-" + name[-3:], "-resume: " in error if status else kept(out) == 1,
           out + error)


def files_of_jobs(h5py):
    """An input file that only one line of -jobs names is read before the first frame."""
    input_files()
    write("j.jsonl", '{"phi": 1}\n{"hkl": "j.hkl"}\n{"phi": 2, "sourcefile": "later.src"}\n')
    flags = [*SMALL, "-hkl", "a.hkl", "-jobs", "j.jsonl", "-threads", 1, "-output", "j_%d.cbf"]
    if h5py:
        flags += ["-hdf5", "j_master.h5", "-frames_per_file", 1]
    write("j.hkl", hkl(factor=2))
    there = os.listdir()
    error = run(*flags, status=2)[1]
    ok("missing-file-of-a-job", "-jobs j.jsonl:3: -sourcefile later.src: cannot read: No such file" in error and
       one(error) and os.listdir() == there, error)
    write("later.src", "no sources\n")
    there = os.listdir()
    error = run(*flags, status=2)[1]
    ok("bad-file-of-a-job", "-jobs j.jsonl:3: later.src:1" in error and one(error) and os.listdir() == there, error)
    shutil.copy("a.src", "later.src")
    stop_at("j_3.cbf", *flags)
    before = read("j_2.cbf")
    out = run(*flags, "-resume")[0]
    ok("job-resumed", kept(out) == 2 and read("j_2.cbf") == before and not glob.glob("j_*.resume"), out)


LONG = [*SMALL, "-default_F", "100", "-osc", "0.5", "-frames", "4000", "-oversample", "8", "-quiet",
        "-threads", "1"]


def start(flags, record, **more):
    """Starts a long run and waits for a file that matches `record`."""
    process = subprocess.Popen([PROGRAM, *flags], **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})
    while not glob.glob(record) and process.poll() is None:
        time.sleep(0.01)
    return process


def two_at_a_time(h5py):
    """Two runs at once share a series: each frame is made once. A third run with other
    flags is refused."""
    flags = [*SMALL, "-default_F", "100", "-osc", "0.5", "-frames", 60, "-oversample", 40, "-threads", 1, "-noprogress"]
    outputs = {"output": ["-output", "two_%02d.bin"]}
    if h5py:
        outputs["hdf5"] = ["-hdf5", "two_master.h5", "-frames_per_file", 4]
    for name, files in outputs.items():
        run(*flags, *[word.replace("two", "one") if isinstance(word, str) else word for word in files])
        with open("said", "w", encoding="ascii") as said:
            first = start([*map(str, [*flags, *files])], "two_series.*.resume", stdout=said)
        error = run(*flags, *files, "-fluence", "1e20", status=2)[1]
        ok(f"other-flags-at-a-time-{name}", first.poll() is None and one(error) and "another run" in error, error)
        out, error = run(*flags, *files)
        first.wait()
        made = [text.split("MB of images")[0].split()[-1] for text in (out, read("said").decode())]
        ones, twos = ([read(path) for path in sorted(glob.glob(f"{stem}_[0-9d]*"))] for stem in ("one", "two"))
        ok(f"two-at-a-time-{name}", ones == twos and "another run makes" in error and not glob.glob("two*resume") and
           not glob.glob(".two*") and abs(sum(map(float, made)) - sum(map(len, ones)) / 1e6) < (0.01 if name == "output" else 1),
           (made, error))
        if name == "hdf5":
            ok("two-at-a-time-master", not differences(contents(h5py, "one_master.h5"), contents(h5py, "two_master.h5")))


NO_LOCKS = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
int fcntl(int fd, int what, ...)
{
    va_list more;
    va_start(more, what);
    void *value = va_arg(more, void *);
    va_end(more);
    if (what >= 36 && what <= 38) { errno = ENOLCK; return -1; }
    return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl"))(fd, what, value);
}
int fcntl64(int fd, int what, void *value) { return fcntl(fd, what, value); }
"""


def without_locks():
    """On a file system without locks, a run leaves files of another process alone, and
    names the file that the user must remove."""
    write("no_locks.c", NO_LOCKS)
    if not shutil.which("cc") or subprocess.run(
            ["cc", "-shared", "-fPIC", "no_locks.c", "-o", "no_locks.so", "-ldl"], check=False).returncode:
        print("skip series without-locks # no C compiler")
        return
    env = {"LD_PRELOAD": os.path.abspath("no_locks.so")}
    flags = [flag for flag in LONG if flag != "-quiet"] + ["-frames", "5", "-output", "n_%d.bin"]
    run(*flags, env=env)
    ok("without-locks", len(glob.glob("n_[1-5].bin")) == 5 and not glob.glob("n_*resume"))
    os.mkdir("n_5.bin.folder")
    os.remove("n_5.bin")
    os.rename("n_5.bin.folder", "n_5.bin")
    run(*flags, status=1, env=env)
    os.rmdir("n_5.bin")
    error = run(*flags, status=2, env=env)[1]
    ok("begun-without-locks", one(error) and "n_series.bin.resume" in error and "-resume" in error, error)
    write(".n_5.bin.part", "")
    error = run(*flags, "-resume", env=env)[1]
    ok("claimed-without-locks", ".n_5.bin.part" in error and not os.path.exists("n_5.bin"), error)
    run(*flags, "-resume")
    ok("claim-of-a-dead-run", os.path.exists("n_5.bin") and not os.path.exists(".n_5.bin.part"))


def foreign_records():
    """A run is refused if its record (.resume) is a link, a pipe or a foreign file."""
    flags = [*LONG, "-frames", 2, "-output", "v_%d.bin"]
    wrong = []
    write("victim.txt", "precious\n")

    def look(name, untouched):
        for more in ([], ["-resume"]):
            error = run(*flags, *more, status=2)[1]
            if not one(error) or "v_series.bin.resume" not in error or not untouched() or \
                    glob.glob("v_*.bin"):
                wrong.append((name, error))
        os.remove("v_series.bin.resume")

    os.symlink("victim.txt", "v_series.bin.resume")
    look("link", lambda: read("victim.txt") == b"precious\n")
    os.symlink("nowhere", "v_series.bin.resume")
    look("dangling link", lambda: not os.path.exists("nowhere"))
    for text in ("p", "precious text of another program, which is longer than a head of ours " * 9):
        write("v_series.bin.resume", text)
        look("file", lambda t=text: read("v_series.bin.resume") == t.encode())
    os.mkfifo("v_series.bin.resume")
    look("pipe", lambda: True)
    ok("foreign-records-refused", not wrong, wrong)


def longer_runs(h5py):
    """The program names files that an earlier, longer series left. A run that replaces
    another series can be resumed."""
    flags = [f for f in LONG if f != "-quiet"] + ["-oversample", "1", "-output", "s_%d.bin"]
    if h5py:
        flags += ["-hdf5", "s_master.h5", "-frames_per_file", "2"]
    error = run(*flags, "-frames", 9)[1]
    ok("nothing-left-of-nothing", "series;" not in error, error)
    error = run(*flags, "-frames", 5)[1]
    ok("longer-series-is-named", "s_6.bin and what follows are left from an earlier, longer series" in error
       and ("s_data_000004.h5 and what follows are left" in error or not h5py), error)
    if not h5py:
        return
    run(*flags, "-frames", 9)
    # a run with other flags replaces a finished series, and is interrupted
    write("l.jsonl", "".join(f'{{"phi": {k}}}\n' for k in range(6)) + '{"sourcefile": "a.src"}\n')
    over = [*flags, "-jobs", "l.jsonl", "-stills", 7, "-threads", 1]
    over = over[:over.index("-frames")] + over[over.index("-frames") + 2:]
    stop_at("s_7.bin", *over)
    out = run(*over, "-resume")[0]
    resumed, whole = {name: read(name) for name in glob.glob("s_data_00000[1-4].h5")}, contents(h5py, "s_master.h5")
    run(*over)
    ok("begun-over-another", kept(out) >= 5 and resumed == {n: read(n) for n in resumed} and
       whole == contents(h5py, "s_master.h5"), out)


def main():
    try:
        import h5py
    except ImportError as missing:
        print(f"skip series resume-hdf5 # {missing}")
        h5py = None
    jobs_without_effect()
    if subprocess.run([PROGRAM, *SMALL, "-default_F", "1", "-stills", "1", "-hdf5", "t.h5"],
                      capture_output=True, check=False).returncode == 2:
        print("skip series resume-hdf5 # not in this build")
        h5py = None
    if h5py:
        lists_are_kept(h5py)
        parts_are_kept(h5py)
        stills_are_kept(h5py)
        what_counts(h5py)
        renderer_counts()
    files_of_jobs(h5py)
    pictures_count()
    two_at_a_time(h5py)
    without_locks()
    foreign_records()
    longer_runs(h5py)


in_folder(main)
