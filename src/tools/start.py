# SPDX-License-Identifier: MIT
"""Start a subcommand in Python, or report what is missing.  The program contains this
text (src/cli/python_verb.c).  Arguments: verb, folder of the package or "", "passive" if
the program has set OMP_WAIT_POLICY, version, program, words.
"""
import os
import runpy
import sys

verb, folder, passive, version = sys.argv[1:5]
sys.argv[:5] = [verb]
sys.path[:] = [path for path in (folder, *sys.path) if path]  # "" in a path means the user's folder

SYSTEM = "/usr/bin/python3"  # used if the first python3 of PATH does not have a package
LACKING = {"numpy": "numpy (Debian package python3-numpy, or pip install numpy)",
           "nanobragg": "the Python package nanobragg (make python, Debian package python3-nanobragg, or pip install "
                        "nanobragg)"}


def end(what):
    print(f"nanobragg: error: {verb} needs {what}", file=sys.stderr)
    sys.exit(2)


try:
    import nanobragg
except ImportError as why:
    if "NANOBRAGG_PYTHON" not in os.environ and sys.executable != SYSTEM and os.access(SYSTEM, os.X_OK):
        os.execv(SYSTEM, [SYSTEM, *sys.orig_argv[1:]])
    need = LACKING.get(why.name, f"the Python package nanobragg, and Python 3.11 or newer: {why}")
    end(f"{need}; {sys.executable} has none, NANOBRAGG_PYTHON names another one")
if nanobragg.__version__ != version:
    end(f"the Python package of nanobragg {version}; {nanobragg.__file__} is of {nanobragg.__version__}")
if passive:  # OpenMP has read the variable; remove it, so that other programs do not get it
    os.environ.pop("OMP_WAIT_POLICY", None)
runpy.run_module("nanobragg." + verb.replace("-", "_"), run_name="__main__", alter_sys=True)
