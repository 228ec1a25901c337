# SPDX-License-Identifier: MIT
"""nanobragg refine -joint: stills with one common cell on a shifted and tilted detector.

With NB_BIG=1, or a number of stills, the errors are compared with their sigmas and with the limits of docs/refine.md.
usage: NANOBRAGG=program python3 tests/cli/joint_check.py [STILLS [FLAGS OF THE FIT...]]
"""
import hashlib
import json
import math
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from refine_cases import rotation_vector, turned  # noqa: E402
from script import FAILED, ok, read, run  # noqa: E402

BIG = os.environ.get("NB_BIG")
FEW, MANY = 16, 200
BOTH = ["-default_F", "100", "-lambda", "1", "-detpixels", "128", "-pixel", "0.4", "-oversample", "1", "-gauss_xtal",
        "-N", "5", "-water", "0.01"]
TRUTH = {"cell_a": 40.05, "cell_b": 44.96, "cell_c": 60.04, "distance": 60.3, "Xbeam": 25.9, "Ybeam": 25.5,
         "detector_roty": 0.5, "detector_rotz": -0.4}
START = {"cell_a": 40, "cell_b": 45, "cell_c": 60, "distance": 60, "Xbeam": 25.8, "Ybeam": 25.6,
         "detector_roty": 0.3, "detector_rotz": -0.3}
COMMON = ",".join(TRUTH)
LIMITS = {"cell": 2e-4, "distance": 0.02, "detector": 0.01}  # limits: cell relative, distance in mm, detector in degrees


def place(values):
    """Flags of the cell and detector in `values`, whose first three keys are the cell."""
    return ["-cell", *(str(values["cell_" + x]) for x in "abc"), "90", "90", "90",
            *(word for name in list(values)[3:] for word in ("-" + name, str(values[name])))]


def draw(folder, count):
    """Render stills; return true orientations, and starting ones about 0.1 degree off
    about each axis."""
    chance = random.Random(5)
    true = [[chance.uniform(-180, 180), chance.uniform(-90, 90), chance.uniform(-180, 180)] for _ in range(count)]
    start = [turned(misset, chance.gauss(0, 0.17), chance) for misset in true]
    for name, list_ in (("true.txt", true), ("start.txt", start)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as out:
            out.write("".join(" ".join(map(repr, misset)) + "\n" for misset in list_))
    run(*BOTH, *place(TRUTH), "-fluence", "1e28", "-stills", count, "-orientations", f"{folder}/true.txt", "-jitter_fluence", 10,
        "-seed", 3, "-hdf5", f"{folder}/s_master.h5", "-hdf5type", "int32", "-quiet")
    return true


def words(folder, count, *more):
    return list(map(str, ["refine", "-series", f"{folder}/s_master.h5:0-{count - 1}", *BOTH, *place(START), "-fluence", "8e27",
                          "-orientations", f"{folder}/start.txt", "-refine", "rot,scale," + COMMON, "-joint", COMMON,
                          "-report", f"{folder}/fit.jsonl", "-exptout", f"{folder}/fit.expt", "-quiet", *more]))


def report(folder):
    lines = [json.loads(line) for line in read(f"{folder}/fit.jsonl").splitlines()]
    return lines[:-1], lines[-1]


def result_bytes(folder):
    """Hashes of fit.jsonl without its times, and of fit.expt."""
    text = re.sub(rb'"seconds":[^,}]*', b"", read(f"{folder}/fit.jsonl"))
    return hashlib.sha256(text).hexdigest(), hashlib.sha256(read(f"{folder}/fit.expt")).hexdigest()


def rms(errors):
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def errors_are_small(folder, true):
    """Errors of the common parameters and of the orientations are within the limits."""
    pictures, common = report(folder)
    p = common["parameters"]
    off = {name: p[name]["value"] - value for name, value in TRUTH.items()}
    over = {name: off[name] / p[name]["sigma"] for name in TRUTH}
    wrong = [name for name, limit in LIMITS.items() for key in TRUTH if key.startswith(name) and
             abs(off[key]) / (TRUTH[key] if name == "cell" else 1) > limit]
    turns = []
    for line in pictures:
        k = int(line["picture"].rsplit(":", 1)[1])
        turns += [t / s for t, s in zip(rotation_vector(true[k], line["misset_deg"]), line["rotation_sigma_deg"])]
    print("# " + ", ".join(f"{k} {off[k]:+.2g} ({over[k]:+.2f} sigma)" for k in TRUTH))
    print(f"# {common['pictures']} pictures, {common['left_out']} left out, {common['evaluations']} evaluations, "
          f"deviance {common['deviance_per_pixel']:.3f}; error/sigma of common parameters: rms {rms(over.values()):.3f}, of "
          f"{len(turns)} turns: rms {rms(turns):.3f}, worst {max(map(abs, turns)):.2f}; {common['seconds']:.2f} s")
    ok("common parameters are right", common["converged"] and not wrong and max(map(abs, over.values())) < 4, (wrong, off))
    scaled = [q["sigma"] / q["sigma_counting"] / math.sqrt(line["deviance_per_pixel"]) for line in [*pictures, common]
              for q in line["parameters"].values()]
    ok("sigmas have the deviance", common["deviance_per_pixel"] > 1.01 and min(scaled[-len(TRUTH):]) > 1 - 1e-9 and
       max(abs(s - 1) for s, line in zip(scaled, pictures) if line["deviance_per_pixel"] > 1) < 1e-9, scaled)
    return list(over.values()), turns


def one_experiment_list(folder, count):
    """fit.expt has one beam, one detector and one crystal per image, and the program
    reads it."""
    expt = json.loads(read(f"{folder}/fit.expt"))
    pictures = report(folder)[0]
    ok("one experiment list", len(expt["detector"]) == len(expt["beam"]) == 1 and len(expt["crystal"]) == len(pictures) and
       [e["identifier"] for e in expt["experiment"]] == [line["picture"] for line in pictures] and
       [e["crystal"] for e in expt["experiment"]] == list(range(len(pictures))) and len(pictures) >= 0.9 * count)
    lengths = [math.dist(c["real_space_b"], (0, 0, 0)) for c in expt["crystal"]]
    ok("one cell", max(abs(b - report(folder)[1]["parameters"]["cell_b"]["value"]) for b in lengths) < 1e-9, lengths)


def same_bytes(folder, count):
    """Results have the same bytes with any number of processes."""
    want = result_bytes(folder)
    run(*words(folder, count, "-threads", 1 if os.cpu_count() > 1 else 3), status=None)
    ok("the same bytes with one process", result_bytes(folder) == want)


def refusals(folder):
    wrong = []
    held = ["-refine", "rot,cell_a,detector_roty", "-joint", "cell_a,detector_roty", "-restrain", "cell_a=40:0", "-restrain",
            "detector_roty=0.3:0"]
    for more, text in ((["-joint", "cell_a,lambda"], "lambda: it is not refined"), (["-joint", "none"], "none"),
                       (["-joint", "cell_a"], "add distance to -joint"), (["-plots", folder + "/p"], "-plots"),
                       (held, "every common parameter is held")):
        error = run(*words(folder, 2, *more), status=2)[1]
        lines = [line for line in error.splitlines() if not line.startswith("nanobragg: note")]
        if len(lines) != 1 or text not in lines[0]:
            wrong.append((more, lines))
    ok("refused", not wrong, wrong)


def bad_pictures_are_left_out(folder):
    """If one file is missing and one still has a wrong start, the others are refined."""
    with open(f"{folder}/start.txt", encoding="ascii") as stream:
        lines = stream.readlines()
    with open(f"{folder}/bad.txt", "w", encoding="ascii") as out:
        out.write("".join(["1 2 3\n", lines[0], "20 40 60\n", *lines[2:6]]))
    args = words(folder, 6, "-orientations", f"{folder}/bad.txt")
    args.insert(1, f"{folder}/none.img")
    error = run(*args, status=3)[1]
    pictures, common = report(folder)
    ok("bad pictures are left out", common["left_out"] == 2 and common["pictures"] == len(pictures) == 5 and
       error.count("left out") == 2 and "none.img" in error, (error, common))


def axes(tree, k):
    one = tree["crystal"][tree["experiment"][k]["crystal"]]
    return [one[f"real_space_{x}"] for x in "abc"]


def experiments_of_pictures(folder):
    """With -expt the fit of each image starts with the crystal and wavelength of its
    experiment, in any order of images. The result has the same beams."""
    order, crystal = (2, 0, 3, 1), [*BOTH[:2], *BOTH[BOTH.index("-oversample"):]]
    run(*BOTH, *place(TRUTH), "-fluence", "1e28", "-stills", 4, "-orientations", f"{folder}/true.txt", "-jitter_lambda", 0.5, "-seed", 3,
        "-hdf5", f"{folder}/e_master.h5", "-hdf5type", "int32", "-exptout", f"{folder}/true.expt", "-quiet")
    true = json.loads(read(f"{folder}/true.expt"))
    start = json.loads(read(f"{folder}/true.expt"))
    for one in start["crystal"]:  # a cell 0.1 % too large, turned by 0.1 degrees
        for x in "abc":
            v = one[f"real_space_{x}"]
            one[f"real_space_{x}"] = [1.001 * (v[0] - 0.0017 * v[1]), 1.001 * (v[1] + 0.0017 * v[0]), 1.001 * v[2]]
    with open(f"{folder}/start.expt", "w", encoding="ascii") as out:
        json.dump(start, out)
    args = ["-expt", f"{folder}/start.expt", *crystal, "-fluence", "8e27", "-refine", "rot,scale,cell_a,cell_b,cell_c", "-joint",
            "cell_a,cell_b,cell_c", "-report", f"{folder}/e.jsonl", "-exptout", f"{folder}/e.expt", "-quiet"]
    run("refine", *[f"{folder}/e_master.h5:{k}" for k in order], *args)
    found = json.loads(read(f"{folder}/e.expt"))
    waves = [found["beam"][e["beam"]]["wavelength"] for e in found["experiment"]]
    want = [true["beam"][true["experiment"][k]["beam"]]["wavelength"] for k in order]
    ok("pictures keep the beams of their experiments", waves == want and len(set(want)) == 4, (waves, want))
    off = max(math.dist(a, b) / math.dist(b, (0, 0, 0)) for i, k in enumerate(order) for a, b in zip(axes(found, i), axes(true, k)))
    ok("pictures find the crystals of their experiments", off < 3e-4, off)
    names = [e["identifier"] for e in found["experiment"]]
    ok("names of pictures", names == [f"{folder}/e_master.h5:{k}" for k in order], names)
    os.rename(f"{folder}/e_master.h5", f"{folder}/x_master.h5")
    os.symlink("x_master.h5", f"{folder}/e_master.h5")
    said = run("refine", f"{folder}/e_master.h5:0", f"{folder}/x_master.h5:1", *args, status=2)[1]
    ok("a picture without experiment", "no experiment has the image" in said and "x_master.h5:1" in said, said)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MANY if BIG else FEW
    if not any(line.split()[:2] == ["HDF5", "yes"] for line in run("-version")[0].splitlines()):
        print("skip joint # needs HDF5")
        return
    with tempfile.TemporaryDirectory() as folder:
        true = draw(folder, count)
        run(*words(folder, count, *sys.argv[2:]), status=None)
        over, turns = errors_are_small(folder, true)
        one_experiment_list(folder, count)
        experiments_of_pictures(folder)
        if count >= MANY:
            ok("errors are as large as they say", 0.7 <= rms(over) <= 1.4 and 0.7 <= rms(turns) <= 1.4)
        same_bytes(folder, count)
        if count <= MANY:
            refusals(folder)
            bad_pictures_are_left_out(folder)


if __name__ == "__main__":
    main()
    sys.exit(1 if FAILED else 0)
