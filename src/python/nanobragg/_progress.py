# SPDX-License-Identifier: MIT
"""Progress of a call: a function of the fraction, or True for a bar."""

import sys


def _own_line(label):
    def show(fraction):
        if sys.stderr.isatty():
            end = "\n" if fraction >= 1 else ""
            print(f"\r{label} {100 * fraction:3.0f} %", end=end, file=sys.stderr, flush=True)
    return show


def _bar(label):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _own_line(label)
    bar = tqdm(total=100, desc=label, unit="%")

    def show(fraction):
        bar.update(round(100 * fraction) - bar.n)
        if fraction >= 1:
            bar.close()
    return show


def callback(progress, label):
    """Function that the library calls with a fraction; None without progress."""
    if progress is None or progress is False:
        return None
    return _bar(label) if progress is True else progress
