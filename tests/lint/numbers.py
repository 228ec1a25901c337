# SPDX-License-Identifier: MIT
"""A number of the physics or of a fast path (coefficient, magic number, limit) is written once.

This applies to numbers whose origin is not obvious to a reader: decimal fractions of six digits
or more, and hexadecimal numbers of eight digits or more that are not masks of ones."""
import glob
import re
import sys

ROOMS = ("src/base", "src/physics", "src/plan", "src/terms", "src/render", "src/image", "cuda")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)
NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]{8,}|\d*\.?\d+\.?\d*(?:[eE][+-]?\d+)?)"
                    r"[uUlLfF]*(?![\w.])")
MIN_DIGITS = 6


def key(word):
    """A form that is the same for all spellings of a number, or None if it is obvious."""
    if word[:2] in ("0x", "0X"):
        value = int(word, 16)
        return None if value & (value + 1) == 0 else value
    digits = re.sub(r"[eE].*", "", word).replace(".", "").strip("0")
    if "." not in word or len(digits) < MIN_DIGITS:
        return None
    value = float(word)
    return value if value.is_integer() else f"{value:.7g}"


def numbers(path):
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    plain = COMMENT_OR_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for match in NUMBER.finditer(plain):
        if (found := key(match.group(1))) is not None:
            yield found, match.group(1), plain.count("\n", 0, match.start()) + 1


def main():
    first, wrong = {}, 0
    for room in ROOMS:
        for path in sorted(glob.glob(f"{room}/**/*.*", recursive=True)):
            for found, word, line in numbers(path):
                if found in first:
                    print(f"    {path}:{line}: {word} stands at {first[found]} already")
                    wrong += 1
                else:
                    first[found] = f"{path}:{line}"
    if not first:
        print("    no number found")
    return 1 if wrong or not first else 0


sys.exit(main())
