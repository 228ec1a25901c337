# SPDX-License-Identifier: MIT
"""-exptout of stills: dxtbx has a crystal for each frame, and -expt renders each frame
again.

usage: NANOBRAGG=program python3 tests/cli/expt_check.py
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpi  # noqa: E402
from script import FAILED, PROGRAM, need, ok, processor_seconds, read, run  # noqa: E402

numpy, h5py = need("numpy", "h5py")

SIZE = ["-default_F", 100, "-N", 6, "-fluence", 1e26, "-seed", 3, "-mosaic", 0.3, "-mosaic_dom", 3, "-quiet"]
PLACE = ["-distance", 90, "-detpixels_f", 40, "-detpixels_s", 36, "-pixel", 1.5, "-detector_rotx", 3]
FLAGS = [*SIZE, *PLACE, "-cell", 50, 60, 70, 80, 95, 100, "-orientations", "random", "-jitter_lambda", 1, "-jitter_cell", 1, "-jitter_beam", 1]
# Turns a vector of our default lab frame into the frame of dxtbx (x along fast, y against
# slow, z against the beam).
T = numpy.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], float)


def axes(crystal):
    """Matrix A (columns a*, b*, c*) of a crystal in an experiment list."""
    return numpy.linalg.inv([crystal[f"real_space_{x}"] for x in "abc"])


def load(path):
    with open(path, encoding="ascii") as stream:
        return json.load(stream)


def truth(path, name):
    with h5py.File(path) as file:
        return file["/entry/simulation/" + name][...]


def each_frame(file):
    """The list has crystal, wavelength, image of each frame; -expt renders each again."""
    frames = 4
    run(*FLAGS, "-stills", frames, "-hdf5", "run.h5", "-hdf5type", "float32", "-exptout", file)
    tree = load(file)
    A, wave = truth("run.h5", "A"), truth("run.h5", "wavelength")
    with h5py.File("run.h5") as h5:
        images = h5["/entry/data/data"][...]
    found = [axes(tree["crystal"][e["crystal"]]) for e in tree["experiment"]]
    off = numpy.abs(found - T @ A).max() / numpy.abs(A).max()
    ok("A-" + file, len(found) == frames and off < 1e-12 and not tree["scan"] and not tree["goniometer"], off)
    ok("beams-" + file, [tree["beam"][e["beam"]]["wavelength"] for e in tree["experiment"]] == list(wave) and len(set(wave)) == frames, wave)
    sets = [tree["imageset"][e["imageset"]] for e in tree["experiment"]]
    name = os.path.join(os.path.dirname(file), sets[0]["images"][0])
    ok("images-" + file, [s["single_file_indices"] for s in sets] == [[k] for k in range(frames)] and os.path.samefile(name, "run.h5"), sets)
    worst = 0
    for k in range(frames):
        choice = ["-expt_image", f"run.h5:{k}"] if k % 2 else ["-expt_number", k]
        seed = truth("run.h5", "seed")[k]
        run(*SIZE, "-expt", file, *choice, "-seed", seed, "-floatfile", "again.bin", "-noint", "-nonoise", "-nopgm")
        again = numpy.fromfile("again.bin", "<f4").reshape(images[k].shape)
        worst = max(worst, numpy.abs(again - images[k]).max() / images[k].max())
    ok("again-" + file, worst < 1e-5 and images.max() > 0, worst)
    os.rename("run.h5", "moved.h5")
    run(*SIZE, "-expt", file, "-expt_image", "run.h5:1", "-show_config")
    os.rename("moved.h5", "run.h5")
    return images


def several_crystals():
    """The list has an experiment for each crystal; a frame without a crystal has none.
    The number of threads does not change the file."""
    flags = [*FLAGS, "-stills", 6, "-vary", "crystals:choice:0:1:3", "-twin", "-h,-k,l:0.3"]
    run(*flags, "-hdf5", "c_master.h5", "-exptout", "c.expt", "-threads", 2)
    with h5py.File("c_master.h5") as file:
        group = file["/entry/simulation/crystals"]
        rows = group["twin"][...] == 0
        frame, A = group["frame"][...][rows], group["A"][...][rows]
    tree = load("c.expt")
    own = [e for e in tree["experiment"] if "crystal" in e]
    empty = sorted(e["imageset"] for e in tree["experiment"] if "crystal" not in e)
    ok("crystals", [e["imageset"] for e in own] == list(frame) and len(set(frame)) < len(frame), own)
    off = max(numpy.abs(axes(tree["crystal"][e["crystal"]]) - T @ x).max() for e, x in zip(own, A))
    ok("crystals-A", off < 1e-12 and len(tree["crystal"]) == len(A), off)
    ok("no-crystal", empty == sorted(set(range(6)) - set(frame)) and empty, empty)
    again = run(*SIZE, "-expt", "c.expt", "-expt_image", f"c_master.h5:{frame[-1]}", "-show_config")
    ok("crystals-notice", "3 experiments have the image" in again[1] or "-quiet" in SIZE, again[1])
    before = read("c.expt")
    run(*flags, "-hdf5", "c_master.h5", "-exptout", "c.expt", "-threads", 1)
    ok("threads", read("c.expt") == before)
    run(*flags, "-hdf5", "c_master.h5", "-exptout", "c.expt", "-resume")
    ok("resume", read("c.expt") == before)
    mpirun = mpi.mpirun(mpi.version())
    if not mpirun:
        print("skip expt processes # no MPI in this build, or no mpirun")
        return
    subprocess.run([mpirun, "-n", "3", PROGRAM, *map(str, flags), "-output", "c_%d.cbf", "-exptout", "d.expt", "-threads", "1"], check=True,
                   capture_output=True, env={**os.environ, **mpi.ENVIRONMENT})
    run(*flags, "-output", "c_%d.cbf", "-exptout", "e.expt")
    ok("processes", read("d.expt") == read("e.expt"))


def files_and_turns():
    """Numbered files, a part of a series, a rotated crystal, refused combinations."""
    os.makedirs("in/side", exist_ok=True)
    run(*FLAGS, "-stills", 3, "-phi", 20, "-osc", 2, "-phisteps", 2, "-only_frame", "1-2", "-output", "in/f_%03d.cbf", "-exptout", "in/side/f.expt")
    run(*FLAGS, "-stills", 3, "-phi", 20, "-osc", 2, "-phisteps", 2, "-only_frame", "1-2", "-hdf5", "f.h5", "-exptout", "in/f.expt")
    tree = load("in/side/f.expt")
    ok("files", [x["images"] for x in tree["imageset"]] == [["../f_002.cbf"], ["../f_003.cbf"]] and os.path.exists("in/f_003.cbf") and
       load("in/f.expt")["imageset"][0]["images"] == ["../f.h5"], tree["imageset"])
    angle = numpy.radians(21)  # phi at mid-frame, about the spindle: z of the lab
    turn = numpy.array([[numpy.cos(angle), -numpy.sin(angle), 0], [numpy.sin(angle), numpy.cos(angle), 0], [0, 0, 1]])
    off = numpy.abs([axes(c) for c in tree["crystal"]] - T @ turn @ truth("f.h5", "A")).max()
    ok("middle-of-the-turn", off < 1e-12, off)
    run(*FLAGS, "-stills", 2, "-output", "g_%d.bin", "-exptout", "g.expt")
    here = os.getcwd()
    names = {(f"{here}/in/side/h.expt", f"{here}/in/h.h5"): "../h.h5", (f"{here}/in/h.expt", "h.h5"): f"{here}/h.h5", ("h.expt", f"{here}/h.h5"): f"{here}/h.h5",
             ("in/../h.expt", "h.h5"): f"{here}/h.h5", ("./in//side/h.expt", "./in/h.h5"): "../h.h5"}
    said = []
    for file, master in names:
        run(*FLAGS, "-stills", 1, "-hdf5", master, "-exptout", file)
        said.append(load(file)["imageset"][0]["images"][0])
    ok("names", said == list(names.values()), said)
    ok("no-images", not load("g.expt")["imageset"] and len(load("g.expt")["crystal"]) == 2)
    with open("p.jsonl", "w", encoding="ascii") as out:
        out.write('{"pixel": 1.5}\n{"pixel": 1.4}\n')
    said = run(*FLAGS, "-jobs", "p.jsonl", "-output", "p_%d.cbf", "-exptout", "p.expt", status=2)[1]
    ok("two-pixels", "another pixel size" in said and not os.path.exists("p.expt") and not os.path.exists("p_1.cbf"), said)
    said = run(*FLAGS, "-stills", 2, "-output", "p_%d.cbf", "-exptout", "none/p.expt", status=None)[1]
    ok("no-folder", "none/p.expt" in said and not os.path.exists("p_1.cbf"), said)


def many():
    """A list of 10,000 experiments is read in 2 s, also if -expt_image names the last."""
    tree = load("run.expt")
    n = 10000
    for key in ("experiment", "imageset", "crystal"):
        tree[key] = [dict(tree[key][0]) for _ in range(n)]
    for k in range(n):
        tree["experiment"][k].update(imageset=k, crystal=k)
        tree["imageset"][k]["single_file_indices"] = [k]
    with open("many.expt", "w", encoding="ascii") as out:
        json.dump(tree, out)
    for name, choice in (("number", ["-expt_number", n - 1]), ("image", ["-expt_image", f"run.h5:{n - 1}"])):
        start = processor_seconds()
        run(*SIZE, "-expt", "many.expt", *choice, "-show_config", "-device", "cpu")
        took = processor_seconds() - start
        ok("many-" + name, took < 2, f"{took:.2f} s")


def dxtbx_opens(images):
    """dxtbx reads the list: each experiment has a crystal and the image of its frame."""
    try:
        from dxtbx.model.experiment_list import ExperimentListFactory
    except ImportError as missing:
        print(f"skip expt dxtbx # {missing}; install the Debian packages dials and python3-dials")
        return
    os.makedirs("other", exist_ok=True)
    os.chdir("other")
    found = ExperimentListFactory.from_json_file("../run.expt", check_format=True)
    A = truth("../run.h5", "A")
    ok("dxtbx-crystals", len(found.crystals()) == len(A) and all(e.is_still() for e in found), len(found.crystals()))
    off = max(numpy.abs(numpy.array(e.crystal.get_A()).reshape(3, 3) - T @ a).max() for e, a in zip(found, A))
    ok("dxtbx-A", off < 1e-9, off)
    same = [numpy.allclose(e.imageset.get_raw_data(0)[0].as_numpy_array(), image, rtol=1e-6) for e, image in zip(found, images)]
    waves = [e.beam.get_wavelength() for e in found]
    ok("dxtbx-images", all(same) and waves == list(truth("../run.h5", "wavelength")), same)
    mask = [numpy.array(e.imageset.get_mask(0)[0].as_numpy_array()).all() for e in found]
    ok("dxtbx-mask", all(mask), mask)
    os.chdir("..")
    found = ExperimentListFactory.from_json_file("in/side/f.expt", check_format=True)
    ok("dxtbx-files", len(found.crystals()) == 2 and found[1].imageset.get_path(0).endswith("f_003.cbf"), found[1].imageset.paths())


def main():
    said = run(*FLAGS, "-stills", 1, "-hdf5", "a.h5", "-exptout", "a.expt", status=None)[1]
    if "HDF5" in said or "JSON" in said:
        print("skip expt # no HDF5 or cJSON in this build")
        return
    images = each_frame("run.expt")
    os.makedirs("sub/dir", exist_ok=True)
    each_frame("sub/dir/run.expt")
    several_crystals()
    files_and_turns()
    many()
    dxtbx_opens(images)


folder = tempfile.mkdtemp()
os.chdir(folder)
main()
os.chdir("/")
shutil.rmtree(folder)
sys.exit(1 if FAILED else 0)
