# SPDX-License-Identifier: MIT
"""Files: no file is overwritten by mistake, pipes are read, "-" is standard output,
signals leave no file.

usage: NANOBRAGG=program python3 tests/cli/files_check.py
"""
import bz2
import glob
import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from script import BIG, FAILED, PROGRAM, busy, ok, processor_seconds, read, write  # noqa: E402

X = ["-cell", "70", "80", "90", "-N", "3", "-detpixels", "16", "-pixel", "3", "-fluence", "1e28",
     "-seed", "7"]
F = [*X, "-default_F", "100"]
NONE = ["-nofloat", "-noint", "-nonoise", "-nopgm"]
GEOM = "clen = 0.1\nphoton_energy = 9000\np/min_fs = 0\np/max_fs = 15\np/min_ss = 0\np/max_ss = 15\np/fs = +1x +0y\n" \
    "p/ss = +0x +1y\np/corner_x = -8\np/corner_y = -8\np/res = 10000\n"
LYSOZYME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden_data", "lysozyme_P1.hkl")
HKL = "0 0 0 100\n1 0 0 50\n0 1 0 70\n0 0 1 20\n"


def run(*args, **more):
    return subprocess.run([PROGRAM, *map(str, args)], stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, check=False, **more)


def folder_state():
    """{name: content of a file, target of a link, None for a folder} of this folder."""
    return {name: os.readlink(name) if os.path.islink(name) else
            None if os.path.isdir(name) else read(name) for name in os.listdir(".")}


def has_hdf5():
    good = run(*F, "-stills", 1, "-hdf5", "probe.h5").returncode == 0
    for name in os.listdir("."):
        os.remove(name)
    return good


def collisions():
    """Arguments that would overwrite a file: the program refuses each row and changes no
    file."""
    for name in ("a", "b", "x", "y", "loss.svg", "Fdump.bin", "intimage.img", "data_data_000002.h5",
                 "s_2.img", "s_series.img.resume"):
        write(name, HKL)
    write("j_00001.img", '{"phi": 1}\n{"phi": 2}\n')
    os.link("a", "hard")
    os.symlink("a", "soft")
    os.symlink(".", "loop")
    H = [*X, "-quiet", "-hkl"]
    D = [*F, "-quiet"]
    cases = [
        ("cache-over-hkl", [*H, "a", "-dump", "a"]),
        ("default-cache-over-hkl", [*H, "Fdump.bin"]),
        ("same-name-spelt-twice", [*H, "b", "-floatfile", "./b"]),
        ("master-over-hkl", [*H, "x", "-stills", 2, "-hdf5", "x"]),
        ("frame-over-jobs", [*D, "-jobs", "j_00001.img", "-output", "j_%05d.img"]),
        ("two-outputs-one-by-default", [*D, "-floatfile", "intimage.img"]),
        ("two-outputs", [*D, "-truth", "spots", "-truthfile", "y", "-floatfile", "y"]),
        ("two-new-outputs", [*D, "-intfile", "new", "-floatfile", "loop/new"]),
        ("default-output-over-input", [*D, "-img", "intimage.img"]),
        ("master-and-frame", [*D, "-stills", 2, "-hdf5", "1.bin", "-output", "%d.bin"]),
        ("hard-link", [*H, "a", "-intfile", "hard"]),
        ("symbolic-link", [*H, "soft", "-intfile", "a"]),
        ("data-file-over-input", [*H, "data_data_000002.h5", "-stills", 3, "-frames_per_file", 1,
                                  "-hdf5", "data_master.h5"]),
        ("record-over-spectra", [*D, "-stills", 1, "-output", "s_%d.img", "-spectra",
                                 "s_series.img.resume"]),
        ("frame-over-orientations", [*D, "-stills", 2, "-output", "s_%d.img", "-orientations",
                                     "s_2.img"]),
        ("frame-over-mask", [*D, "-stills", 2, "-output", "s_%d.img", "-mask", "loop/s_2.img"]),
        ("cache-of-a-series", [*H, "a", "-stills", 2, "-output", "n_%d.img", "-dump", "hard"]),
        ("view", ["view", "a", "hard"]),
        ("view-of-a-frame", ["view", "a:1", "a"]),
        ("compare", ["compare", "a", "b", "-diff", "loop/b"]),
    ]
    write("g.geom", GEOM)
    run(*D, "-floatfile", "f.bin", "-noint", "-nonoise", "-nopgm")
    R = ["refine", "f.bin", "-hkl", "a", "-cell", 70, 80, 90, "-N", 3, "-detpixels", 16, "-refine", "rot", "-quiet"]
    draws = [*D, "-vary", "N:normal:1", "-seed", 1, "-draws"]
    write("lines", '{"N": 4}\n{"N": 5}\n')
    cases += [(f"draws{flag}-{name}", [*draws, name, flag, "lines", *more])
              for flag, more in (("-jobs", []), ("-crystals", ["-stills", 2]), ("-orientations", ["-stills", 2]),
                                 ("-spectra", ["-stills", 2]), ("-mat", ["-stills", 2])) for name in ("lines", "./lines")]
    for name in ("n_1.bin", "n_2.bin"):
        shutil.copy("f.bin", name)
    N = ["noise", "n_%d.bin", "n_%d.bin", "-seed", 1, "-quiet", "-noprogress"]
    cases += [("numbered-inputs", N), ("report-over-numbered-input", [*N[:2], "m_%d.img", *N[3:], "-report", "n_2.bin"])]
    cases += [("view-geom", ["view", "f.bin", "g.geom", "-geom", "g.geom", "-size", 16, 16]),
              ("compare-geom", ["compare", "f.bin", "f.bin", "-geom", "g.geom", "-diff", "loop/g.geom"])]
    cases += [("refine-" + flag, [*R, "-" + flag, "hard"]) for flag in ("report", "residual", "exptout")]
    P = [*R[:2], *R[4:], "-default_F", 100]
    cases += [(f"refine{flag}-{out}", [*P, flag, "b", f"-{out}", "loop/b"]) for out in ("report", "residual", "exptout")
              for flag in ("-hkl", "-mat", "-mask", "-sourcefile", "-stol", "-gainmap", "-pdb", "-dump", "-img")]
    cases += [("refine-orientations", [*P, "-orientations", "b", "-report", "loop/b"]),
              ("refine-image", ["refine", "b", "f.bin", *P[2:], "-report", "hard", "-mat", "soft"]),
              ("refine-plots", [*P, "-mask", "loss.svg", "-plots", "loop"]),
              ("refine-plots-and-report", [*P, "-report", "spots.svg", "-plots", "loop"])]
    before = folder_state()
    for name, args in cases:
        done = run(*args)
        lines = [line for line in done.stderr.decode().splitlines() if "note: " not in line]
        ok("refused-" + name, done.returncode == 2 and len(lines) == 1 and
           "name the same file; give two names" in lines[0] and folder_state() == before,
           (done.returncode, lines, sorted(set(folder_state()) ^ set(before))))
    for name in os.listdir("."):
        os.remove(name)
    done = run(*F, "-quiet", "-floatfile", "/dev/null", "-intfile", "/dev/null", "-nonoise", "-nopgm")
    ok("devices-may-be-shared", done.returncode == 0 and not os.listdir("."), done.stderr)
    done = run(*F, "-trace_pixel", 1, 1, "-intfile", "y", "-floatfile", "y")
    ok("nothing-refused-where-nothing-is-written", done.returncode == 0, done.stderr)


def through_pipe(args, path):
    """Runs with PATH in args replaced by a pipe with the content of the file."""
    content, (end, start) = read(path), os.pipe()

    def feed():
        try:
            with os.fdopen(start, "wb") as stream:
                stream.write(content)
        except BrokenPipeError:
            pass
    thread = threading.Thread(target=feed)
    thread.start()
    done = run(*[f"/dev/fd/{end}" if a == path else a for a in args], pass_fds=[end])
    os.close(end)
    thread.join()
    return done


def pipes(hdf5):
    """Input from a pipe gives the same bytes as from a file."""
    write("in.hkl", HKL)
    write("in.mat", "0.01 0 0\n0 0.01 0\n0 0 0.01\n")
    write("in.src", "-10 0 0 1 1e-10\n-10 0.01 0 3 1.1e-10\n")
    write("in.rot", "10 20 30\n0 -1 0 1 0 0 0 0 1\n")
    write("in.spectra", "1 1 1.01 2\n0.99 1\n")
    write("in.jobs", '{"phi": 3}\n{"phi": 4}\n')
    run(*F, "-quiet", *NONE, "-intfile", "in.img", "-adc", 0, "-distance", 90, "-scale", 1e9)
    run(*X, "-quiet", *NONE, "-hkl", "in.hkl", "-dump", "in.dump")
    one = ["-quiet", *NONE, "-floatfile", "out"]
    two = [*F, "-quiet", "-stills", 2, "-output", "out%d.bin"]
    cases = [("in.hkl", [*X, *one, "-hkl", "in.hkl"], "out"),
             ("in.dump", [*X, *one, "-dump", "in.dump"], "out"),
             ("in.mat", [*F[4:], *one, "-mat", "in.mat"], "out"),
             ("in.src", [*F, *one, "-sourcefile", "in.src"], "out"),
             ("in.img", [*F, *one, "-img", "in.img"], "out"),
             ("in.img", [*F, *one, "-mask", "in.img"], "out"),
             ("in.rot", [*two, "-orientations", "in.rot"], "out2.bin"),
             ("in.spectra", [*two, "-spectra", "in.spectra"], "out2.bin"),
             ("in.jobs", [*F, "-quiet", "-jobs", "in.jobs", "-output", "out%d.bin"], "out2.bin"),
             ("in.img", ["view", "in.img", "out"], "out")]
    for path, args, out in cases:
        name = "pipe" + next(a for a in args[::-1] if str(a) in
                             ("-hkl", "-dump", "-mat", "-sourcefile", "-img", "-mask",
                              "-orientations", "-spectra", "-jobs", "view")).join("-\n").strip()
        done = run(*args)
        if done.returncode == 2 and b"build" in done.stderr:
            print(f"skip files {name} # not in this build")
            continue
        wanted = read(out) if os.path.exists(out) else b"no file"
        for other in ("out", "out1.bin", "out2.bin"):
            if os.path.exists(other):
                os.remove(other)
        piped = through_pipe(args, path)
        good = done.returncode == piped.returncode == 0 and os.path.exists(out) and \
            read(out) == wanted
        ok(name, good, piped.stderr)
    done = through_pipe(["compare", "in.img", "./in.img"], "in.img")
    ok("pipe-compare", done.returncode == 0 and b"passed" in done.stdout, done.stderr)
    if hdf5:
        run(*F, "-stills", 1, "-hdf5", "in.h5", "-quiet")
        done = through_pipe(["view", "in.h5", "out.png"], "in.h5")
        ok("pipe-hdf5-refused", done.returncode == 2 and b"pipe" in done.stderr and
           done.stderr.count(b"\n") == 1, done.stderr)


def endless():
    """An endless input is refused after 1 GB; one function reads every kind of input."""
    for args in ([*X, "-nodump", "-hkl"], [*F, "-mask"], ["sf", "-dmin", 3, "-pdb"])[:None if BIG else 1]:
        read_end, write_end = os.pipe()
        with subprocess.Popen(["cat", "/dev/zero"], stdout=write_end) as zeros:
            os.close(write_end)
            done = run(*args, f"/dev/fd/{read_end}", pass_fds=[read_end])
            os.close(read_end)
            zeros.kill()
        ok("endless" + args[-1], done.returncode == 2 and b"larger than 1073741824 bytes" in done.stderr, done.stderr)


def no_folder():
    """A missing folder of a series' file is found before the first frame."""
    for flag in ("-sumfile", "-report", "-exptout", "-draws", "-geomout"):
        done = run(*F, "-quiet", "-stills", 2, "-output", "x_%d.bin", flag, "none/x.json")
        ok("no-folder" + flag, done.returncode == 1 and b"none/x.json" in done.stderr and not os.listdir("."),
           (done.stderr, os.listdir(".")))


def interrupted():
    """An interrupt stops tables of diffuse light, point spread and draws within 5 s of
    processor time."""
    D = ["-hkl", LYSOZYME, "-nodump", "-cell", 79.1, 79.1, 37.9, "-N", 20, "-gauss_xtal", "-lambda", 1, "-seed", 1, "-threads", 1]
    cases = [("diffuse", ["-nonoise", "-noint", "-nopgm", "-detpixels", 512, "-pixel", 0.2, "-diffuse_sigma", 0.4,
                          "-diffuse_gamma", 1000, *D], 1),
             ("point-spread", [*F, "-detpixels", 6000, "-pixel", 0.1, "-oversample", 1, "-psf", "fibre", "-psf_fwhm", 1000,
                               "-threads", 1, "-nofloat", "-noint", "-nopgm"], 2),
             ("draws", [*F, "-stills", 9000000, "-vary", "N:normal:1,rot_x:normal:1", "-draws", "d.txt"], 1)]
    for name, args, seconds in cases:
        with subprocess.Popen([PROGRAM, *map(str, args), "-device", "cpu", "-quiet"], stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as child:
            busy(child, seconds)
            start = processor_seconds() + processor_seconds(child.pid)
            child.send_signal(signal.SIGINT)
            error = child.communicate()[1]
        taken = processor_seconds() - start
        left = [x for x in os.listdir(".") if not x.startswith("o")]  # finished frames stay
        for x in glob.glob("o*"):
            os.remove(x)
        if b"without" in error or b"build" in error:
            print(f"skip files interrupted-{name} # not in this build")
            continue
        ok("interrupted-" + name, child.returncode == 130 and taken < 5 and not left, (child.returncode, taken, error, left))


def formats(hdf5):
    """-mask gives the same pixels from every format; -img takes geometry and beam from
    CBF and HDF5."""
    crystal = ["-cell", "70", "80", "90", "-N", 1, "-default_F", 100, "-fluence", 1e30, "-seed", 3,
               "-quiet"]
    camera = ["-detpixels_f", 24, "-detpixels_s", 16, "-pixel", 2, "-distance", 90, "-lambda", 1.1,
              "-Xbeam", 14, "-Ybeam", 20]
    roi = ["-roi", 4, 19, 2, 9]
    run(*crystal, *camera, *roi, "-floatfile", "m.bin", "-intfile", "m.img", "-pgmfile", "m.pgm",
        "-nonoise", "-adc", 0)
    tiff = run(*crystal, *camera, *roi, *NONE, "-tifffile", "m.tif").returncode == 0
    run(*crystal, *camera, *roi, "-stills", 1, "-output", "m_%d.cbf")
    if hdf5:
        run(*crystal, *camera, *roi, "-stills", 1, "-hdf5", "m.h5")
        done = run("view", "m.h5", "v.png", "-size", 5, 7)
        ok("view-of-another-size", done.returncode == 2 and b"-size 5 7: m.h5 has 24 x 16 pixels" in done.stderr, done.stderr)
    masks = {"m.bin": True, "m.img": True, "m.pgm": True, "m.tif": tiff, "m_1.cbf": True,
             "m.h5": hdf5, "m.h5:0": hdf5}
    for mask, present in masks.items():
        if not present:
            print(f"skip files mask-{mask} # not in this build")
            continue
        done = run(*crystal, *camera, *NONE, "-floatfile", "out", "-mask", mask)
        ok("mask-" + mask, done.returncode == 0 and not done.stderr and
           read("out") == read("m.bin"), done.stderr)
        if os.path.exists("out"):
            os.remove("out")
    wanted = {"fpixels": 24, "spixels": 16, "pixel_mm": 2, "distance_mm": 90, "Fbeam_mm": 21,
              "Sbeam_mm": 15, "wavelength_A": 1.1}
    for image, keys in (("m.img", wanted), ("m_1.cbf", wanted), ("m.h5", wanted),
                        ("m.tif", ("fpixels", "spixels")), ("m.pgm", ("fpixels", "spixels"))):
        if not masks[image]:
            print(f"skip files img-{image} # not in this build")
            continue
        done = run(*crystal, "-img", image, "-show_config")
        if done.returncode == 2 and b"cJSON" in done.stderr:
            print(f"skip files img-{image} # no cJSON in this build")
            continue
        said = json.loads(done.stdout or b"{}")
        found = {k: said.get("detector", {}).get(k, said.get("beam", {}).get(k)) for k in keys}
        ok("img-" + image, all(found[k] is not None and abs(found[k] - wanted[k]) < 1e-6
                               for k in keys) and
           (b"only its size" in done.stderr) == (keys is not wanted), (found, done.stderr))
    write("junk", "12345")
    for flag in ("-img", "-mask"):
        done = run(*crystal, flag, "junk")
        ok("no-image" + flag, done.returncode == 2 and done.stderr.count(b"\n") == 1 and
           b"junk: not an SMV, CBF" in done.stderr, done.stderr)


def standard_output():
    """With "-" the bytes of the file go to stdout, and all text to stderr."""
    flags = {"-floatfile": [], "-intfile": [], "-noisefile": [], "-pgmfile": [], "-pngfile": [],
             "-truthfile": ["-truth", "spots"], "-dump": []}
    write("in.hkl", HKL)
    for flag, more in flags.items():
        args = [*X, "-hkl", "in.hkl", *NONE, *more, *(["-dump", "D"] if flag != "-dump" else [])]
        done = run(*args, flag, "x")
        if done.returncode == 2:
            print(f"skip files stdout{flag} # not in this build")
            continue
        wanted = read("x").replace(f"{flag} x".encode(), f"{flag} -".encode())
        piped = run(*args, flag, "-")
        pixels = wanted.find(b"IDAT") if flag == "-pngfile" else 0  # skips the texts of a PNG, which differ
        ok("stdout" + flag, piped.returncode == 0 and len(piped.stdout) == len(wanted) and
           piped.stdout[pixels:] == wanted[pixels:] and
           b"standard output" in piped.stderr and not os.path.exists("-"),
           (piped.returncode, len(piped.stdout), len(wanted), piped.stderr[-200:]))
        os.remove("x")
    with open("appended", "wb") as stream:
        stream.write(b"before")
        stream.flush()
        done = run(*F, *NONE, "-floatfile", "-", "-quiet", stdout=stream)
    ok("stdout-appends", done.returncode == 0 and len(read("appended")) == 6 + 16 * 16 * 4)
    done = run(*F, "-floatfile", "-", "-intfile", "-")
    ok("stdout-one-file", done.returncode == 2 and not done.stdout and
       b"only one file can go to standard output" in done.stderr, done.stderr)
    done = run(*F, "-stills", 2, "-hdf5", "-")
    ok("stdout-no-series", done.returncode == 2 and b"-hdf5 -" in done.stderr, done.stderr)
    left = set(os.listdir("."))
    end, start = os.pipe()
    os.close(end)
    done = run(*F, "-detpixels", 256, "-floatfile", "-", "-quiet", *NONE[1:], "-tifffile", "t",
               stdout=start)
    os.close(start)
    ok("stdout-reader-left", done.returncode == 1 and b"Broken pipe" in done.stderr and
       not any(".part" in name for name in os.listdir(".")),
       (done.returncode, done.stderr, set(os.listdir(".")) - left))
    run(*F, *NONE, "-quiet", "-intfile", "in.img")
    if run("view", "in.img", "x").returncode == 2:
        print("skip files stdout-view # no libpng in this build")
        return
    ok("stdout-view", run("view", "in.img", "-").stdout == read("x"))
    done = run("compare", "in.img", "in.img", "-diff", "-")
    ok("stdout-compare", done.stdout.startswith(b"\x89PNG") and b"passed" in done.stderr, done.stderr)


def hdf5_limits(hdf5):
    """A file-size limit stops HDF5 output cleanly; many small chunks are read in 8 s."""
    if not hdf5:
        print("skip files hdf5-limits # no HDF5 in this build")
        return
    cases = {"planes": (8192, ["-detpixels", 200, *NONE, "-derivatives", "rot,cell", "-derivfile", "d.h5"]),
             "master": (40000, ["-detpixels", 150, "-stills", 12, "-frames_per_file", 3, "-hdf5", "m_master.h5",
                                "-orientations", "random", "-fluence", 1e29])}
    for name, (limit, flags) in cases.items():
        done = run(*F, "-quiet", *flags, preexec_fn=lambda size=limit: default_signals(size))
        ok("hdf5-file-too-large-" + name, done.returncode == 1 and done.stderr.count(b"\n") == 1 and
           b"File too large" in done.stderr and not any(n.endswith(("part", "d.h5")) for n in os.listdir(".")),
           (done.returncode, done.stderr, os.listdir(".")))
    try:
        import h5py
        import numpy
    except ImportError:
        print("skip files hdf5-chunks # no h5py")
        return
    for name, more in (("plain", {}), ("gzip", {"compression": "gzip"})):
        with h5py.File("c.h5", "w") as h5:
            h5.create_dataset("entry/data/data", data=numpy.ones((1, 150, 150), "u2"), chunks=(1, 1, 1), **more)
        begin = processor_seconds()
        done = run("view", "c.h5", "o.png")
        took = processor_seconds() - begin
        ok("hdf5-chunks-" + name, done.returncode == 0 and took < 8, (done.stderr, took))  # an earlier version needed 12 s


def default_signals(limit=None):
    for number in (signal.SIGHUP, signal.SIGXFSZ, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def signals():
    """A closed terminal, a file-size limit, a second signal: no temporary file stays."""
    slow = [*F, "-quiet", "-detpixels", 3000, "-oversample", 60]
    with subprocess.Popen([PROGRAM, *map(str, slow)], stderr=subprocess.PIPE,
                          preexec_fn=default_signals) as child:
        busy(child, 0.3)
        child.send_signal(signal.SIGHUP)
        said = child.communicate()[1]
    ok("SIGHUP", child.returncode == 130 and b"interrupted" in said and not os.listdir("."),
       (child.returncode, said, os.listdir(".")))

    limited = {"preexec_fn": lambda: default_signals(100000)}
    done = run(*F, "-quiet", "-detpixels", 512, "-oversample", 1, **limited)
    ok("SIGXFSZ", done.returncode == 1 and b"File too large" in done.stderr and
       not any(n.endswith(".part") for n in os.listdir(".")), (done.returncode, done.stderr))
    for name in os.listdir("."):
        os.remove(name)

    os.mkfifo("pipe")
    end = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    args = [*F, "-quiet", "-detpixels", 512, "-oversample", 1, "-floatfile", "pipe"]
    with subprocess.Popen([PROGRAM, *map(str, args)], preexec_fn=default_signals,
                          stderr=subprocess.DEVNULL) as child:
        while not any(n.endswith(".part") for n in os.listdir(".")) and child.poll() is None:
            time.sleep(0.01)
        time.sleep(0.2)  # then the pipe is full, and the program waits
        child.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        child.send_signal(signal.SIGTERM)
        child.wait()
    os.close(end)
    ok("second-signal", child.returncode == -signal.SIGTERM and
       not any(n.endswith(".part") for n in os.listdir(".")), (child.returncode, os.listdir(".")))


def packed():
    """A file packed with gzip or bzip2, recognized by its content, gives the same image
    as the plain file, for each kind of input."""
    P = [*F, "-quiet", "-noint", "-nonoise", "-nopgm", "-floatfile"]
    run(*F, "-quiet", "-intfile", "i.img", "-floatfile", "p.bin", "-nonoise", "-nopgm", "-geomout", "a.geom")
    run(*F, "-quiet", "-nofloat", "-noint", "-nonoise", "-nopgm", "-exptout", "a.expt")
    run(*F, "-quiet", "-stills", 1, "-output", "c_%d.cbf")
    write("a.hkl", HKL)
    write("a.mat", " 0.012 0.003 0.001\n -0.004 0.010 0.002\n 0.000 -0.003 0.009\n")
    write("a.src", "-10 0 0 1 1e-10\n-10 0.01 0 2 1.01e-10\n")
    write("a.stol", "0 2.57\n0.5 2\n1 1\n")
    write("a.pdb", "CRYST1   20.000   24.000   28.000  90.00  90.00  90.00 P 21 21 21    4\n"
          "ATOM      1  CA  ALA A   1      11.000  12.000  13.000  1.00 20.00           C  \n")
    crystal = ["-cell", 70, 80, 90, "-N", 3, "-default_F", 100, "-quiet", "-noint", "-nonoise", "-nopgm", "-floatfile"]
    cases = [("hkl", "a.hkl", P), ("mat", "a.mat", P[4:]), ("sourcefile", "a.src", P), ("stol", "a.stol", P),
             ("img", "i.img", P), ("img", "c_1.cbf", P), ("mask", "i.img", P), ("geom", "a.geom", crystal),
             ("expt", "a.expt", crystal)]
    kinds = [("gz", gzip.compress)]
    versions = run("-version").stdout.decode()
    if "bzip2        yes" in versions:
        kinds.append(("bz2", bz2.compress))
    if "gemmi        yes" in versions:
        cases.append(("pdb", "a.pdb", P[4:]))
    for flag, name, args in cases:
        run(*args, "plain.bin", f"-{flag}", name)
        for kind, pack in kinds:
            with open("packed", "wb") as out:  # the name has no suffix
                out.write(pack(read(name)))
            done = run(*args, "packed.bin", f"-{flag}", "packed")
            ok(f"packed-{flag}-{name}-{kind}", os.path.exists("plain.bin") and os.path.exists("packed.bin") and
               read("plain.bin") == read("packed.bin"), done.stderr)
            for made in ("packed.bin", "packed"):
                if os.path.exists(made):
                    os.remove(made)
        os.remove("plain.bin")
    with open("i.img.gz", "wb") as out:
        out.write(gzip.compress(read("i.img")))
    done = run("compare", "i.img", "i.img.gz")
    ok("packed-compare", done.returncode == 0 and b"correlation" in done.stdout, done.stderr)
    done = run("view", "i.img.gz", "v.png")
    ok("packed-view", done.returncode == 0 and os.path.exists("v.png"), done.stderr)
    write("a.jobs", '{"phi": 3}\n{"phi": 4, "misset": [1, 2, 3]}\n')
    series = [*F, "-quiet", "-output", "q%d.bin", "-jobs"]
    run(*series, "a.jobs")
    plain = read("q2.bin")
    for kind, pack in kinds:
        with open("packed", "wb") as out:
            out.write(pack(read("a.jobs")))
        os.remove("q2.bin")
        done = run(*series, "packed")
        ok(f"packed-jobs-{kind}", os.path.exists("q2.bin") and read("q2.bin") == plain, done.stderr)
    if "HDF5         yes" in versions:
        packed_hdf5()
    with open("a.mat", "wb") as out:
        out.write(gzip.compress(b" " * (2 << 20)))
    done = run(*F, "-quiet", "-mat", "a.mat")
    ok("packed-bomb", done.returncode == 2 and b"larger than 1048576 bytes unpacked" in done.stderr, done.stderr)


def packed_hdf5():
    """A packed HDF5 file is refused with one line: libhdf5 reads only plain files."""
    run(*F, "-quiet", "-stills", 1, "-hdf5", "h_master.h5", "-hdf5type", "float32")
    with open("h.h5", "wb") as out:
        out.write(gzip.compress(read("h_data_000001.h5")))
    write("h.geom", "mask_file = h.h5\nmask = /mask\nmask_good = 0x0\nmask_bad = 0xffff\n" + GEOM)
    for flag, name, more in (("-img", "h.h5", []), ("-mask", "h.h5", []), ("-nxmx", "h.h5", []), ("-geom", "h.geom", []),
                             ("-spectra", "h.h5", ["-stills", 1, "-output", "h%d.bin"])):
        crystal = F if flag in ("-mask", "-spectra") else [*F[:6], "-default_F", 100]
        done = run(*crystal, "-quiet", *([] if more else NONE), flag, name, *more)
        lines = [line for line in done.stderr.splitlines() if b": error: " in line]
        ok(f"packed-hdf5{flag}", done.returncode == 2 and len(lines) == 1 and b"packed" in lines[0] and
           b"h.h5" in lines[0], done.stderr)


def main():
    top = tempfile.mkdtemp()
    for number, check in enumerate((collisions, lambda: pipes(hdf5), lambda: formats(hdf5),
                                    standard_output, packed, signals, endless, no_folder, interrupted,
                                    lambda: hdf5_limits(hdf5))):
        folder = os.path.join(top, str(number))
        os.mkdir(folder)
        os.chdir(folder)
        hdf5 = has_hdf5()
        check()
    os.chdir("/")
    shutil.rmtree(top)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
