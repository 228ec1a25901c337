# SPDX-License-Identifier: MIT
"""The recipes (commands in blocks of the documents) sample the image finely enough.

Each command with -oversample is rendered as typed, then finer until the image is
constant; total flux and brightest pixel of first and last image must agree. Commands
without -oversample (automatic choice) are tested if the image is quick. The blocks run in
the shell, in the order of the text and in one folder; `nanobragg` is this script.

usage: NANOBRAGG=program python3 tests/cli/recipes_check.py
"""
import array
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(os.environ["NANOBRAGG"])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DOCUMENTS = ["README.md", "docs/guide.md", "docs/series.md", "docs/compare.md"]
FLUX = 0.02         # largest error of a recipe in the total flux
BRIGHTEST = 0.10    # largest error of a recipe in the brightest pixel
CONVERGED = 0.005   # change of the flux below which the reference is good
FINEST = 48         # limit of sub-pixels along an edge; recipes that need more fail
QUICK = 5e7         # pixels x steps of a quick image (about 0.3 s)
NO_FILES = ["-nofloat", "-noint", "-nonoise", "-nopgm", "-quiet"]
NO_IMAGE = {"-trace_pixel", "-show_config", "-frames"}  # flags without one image


# --- this script as the program `nanobragg` of the blocks ---

def without_background(flags):
    """Removes flags that add background, which would hide errors of the spots."""
    left_out = {"-background", "-stol", "-4stol", "-Q", "-water"}
    return [word for i, word in enumerate(flags) if word not in left_out and not (i and flags[i - 1] in left_out)]


def render(flags, *more):
    """Sum and brightest pixel of the image without noise and background."""
    subprocess.run([PROGRAM, *without_background(flags), *NO_FILES, *more, "-floatfile", "recipe.bin"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    image = array.array("f")
    with open("recipe.bin", "rb") as stream:
        image.frombytes(stream.read())
    os.remove("recipe.bin")
    return sum(image), max(image)


def off(value, reference):
    return value / reference - 1


def converge(flags, typed, coarse):
    """Doubles the sampling until flux and brightest pixel are constant. Returns the last
    sampling, its (sum, brightest pixel), and True if constant."""
    n = typed
    while n < FINEST:
        n *= 2
        fine = render(flags, "-oversample", str(n))
        if abs(off(coarse[0], fine[0])) < CONVERGED and abs(off(coarse[1], fine[1])) < BRIGHTEST:
            return n, fine, True
        coarse = fine
    return n, coarse, False


def to_check(words):
    """-oversample of a recipe, or 0 if the recipe is not tested: it makes no image, or
    has the automatic sampling and is slow."""
    if NO_IMAGE & set(words):
        return 0
    done = subprocess.run([PROGRAM, *words, "-quiet", "-show_config"], capture_output=True, check=False)
    if done.returncode:
        return 0
    config = json.loads(done.stdout)
    sampling, detector = config["sampling"], config["detector"]
    steps = sampling["steps_per_pixel"] * detector["fpixels"] * detector["spixels"]
    return sampling["oversample"] if "-oversample" in words or steps < QUICK else 0


def check_recipe(words, sampling):
    """Renders as typed and finer; adds a line of JSON to the log that main reads."""
    coarse = render(words)
    n, fine, good = converge(words, sampling, coarse)
    recipe = {"words": words, "typed": "-oversample" in words, "sampling": sampling, "finest": n,
              "converged": good, "flux": off(coarse[0], fine[0]),
              "brightest": off(coarse[1], fine[1])}
    with open(os.environ["NB_RECIPES"], "a", encoding="ascii") as log:
        print(json.dumps(recipe), file=log)


def as_nanobragg(words):
    """Checks the recipe, and makes the caches of F that later commands read; other
    outputs are not made."""
    if words and words[0] == "run-compare":
        words = words[words.index("--") + 1:]
    elif words and not words[0].startswith("-"):
        return 0
    sampling = to_check(words)
    if sampling:
        check_recipe(words, sampling)
    return subprocess.run([PROGRAM, *words, *NO_FILES, "-roi", "0", "0", "0", "0"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode


# --- the blocks ---

def blocks(document):
    """Yields sh blocks, and text blocks of run-compare, which need another program."""
    with open(os.path.join(SOURCE, document), encoding="utf-8") as stream:
        for language, text in re.findall(r"^```(sh|text)\n(.*?)^```", stream.read(), re.M | re.S):
            if "nanobragg" in text and "make install" not in text and (
                    language == "sh" or text.startswith("nanobragg run-compare")):
                yield text.replace("build/nanobragg", "nanobragg")


def prepare(log):
    """Makes, in the present folder, the files that the documents need."""
    os.mkdir("bin")
    with open("bin/nanobragg", "w", encoding="ascii") as script:
        script.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" -- "$@"\n')
    os.chmod("bin/nanobragg", 0o755)
    os.symlink(os.path.join(SOURCE, "golden_data"), "golden_data")
    os.symlink("golden_data/lysozyme_P1.hkl", "P1.hkl")
    return {**os.environ, "NANOBRAGG": PROGRAM, "NB_RECIPES": log,
            "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}


def read_log(log):
    if not os.path.exists(log):
        return []
    with open(log, encoding="ascii") as stream:
        return [json.loads(line) for line in stream]


def judge(document, recipe):
    good = (recipe["converged"] and abs(recipe["flux"]) <= FLUX and
            abs(recipe["brightest"]) <= BRIGHTEST)
    if not good:
        print("#", " ".join(recipe["words"]))
    print(f"{'ok' if good else 'not ok'} {document} {'typed' if recipe['typed'] else 'automatic'} "
          f"oversampling {recipe['sampling']} against {recipe['finest']}: flux "
          f"{100 * recipe['flux']:+.2f} %, brightest pixel {100 * recipe['brightest']:+.1f} %" +
          ("" if recipe["converged"] else ", not converged"))
    return good


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    log, checked, typed, failed = os.path.join(folder, "log"), 0, 0, 0
    environment = prepare(log)
    try:
        for document in DOCUMENTS:
            for text in blocks(document):
                # Only the recipes count here; check_docs.sh checks the exit status.
                subprocess.run(["bash", "-c", text], env=environment, check=False,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
                recipes = read_log(log)
                failed += sum(not judge(document, recipe) for recipe in recipes[checked:])
                typed += sum(recipe["typed"] for recipe in recipes[checked:])
                checked = len(recipes)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    if not typed or typed == checked:
        print(f"not ok recipes # {typed} of {checked} type -oversample")
        failed += 1
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(as_nanobragg(sys.argv[2:]) if sys.argv[1:2] == ["--"] else main())
