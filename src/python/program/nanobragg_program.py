# SPDX-License-Identifier: MIT
"""Console script of the wheel: runs the program in place of Python."""

import os
import sys


def path_of():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "nanobragg", "bin", "nanobragg")


def main():
    os.environ["NANOBRAGG_PYTHON"] = sys.executable  # used by subcommands that are written in Python
    os.execv(path_of(), [sys.argv[0], *sys.argv[1:]])
