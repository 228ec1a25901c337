# SPDX-License-Identifier: MIT
"""Text rules: licence line, at most 800 lines, no tabs or trailing blanks, no machine paths, plain words; reports without SVG and JSON."""
import os
import re
import subprocess
import sys

SOURCE = (".c", ".h", ".cc", ".cu", ".cuh", ".py", ".sh", ".mk")
SOURCE_NAMES = ("Makefile", ".ci/run")
C_SOURCE = (".c", ".h", ".cc", ".cu", ".cuh")
MAX_LINES = 800
MAX_LINES_OF = {"src/io/structure/gemmi.cc": 400}
# Paths that exist on one person's machine only.
LOCAL_PATH = re.compile(r"(?<![\w.])/(work|root|home|Users|mnt|tmp/\w+)/\w")
# {word that is rare in international English, or vague: its replacement}.
PLAIN = {"purse": "budget", "hangs on": "depends on", "anew": "again", "whereof": "of which", "thereof": "of it",
         "lest": "so that ... not", "hitherto": "until now", "by whatever way": "directly or not",
         "utilise": "use", "utilize": "use", "in order to": "to", "due to the fact": "because",
         "likewise": "the same", "at the most": "at most", "whoever": "who does it", "whomever": "who does it",
         "somebody": "who does it", "for ever": "always, without end", "hand over": "pass", "hands over": "passes",
         "worked out": "calculated", "as they stand": "unchanged", "as it stands": "unchanged", "goes by": "depends on",
         "worth it": "quicker, or what it gains", "dear": "slow, expensive", "dearer": "slower, more expensive",
         "so manyth": "each n-th", "is no matter": "has no effect", "beforehand": "before", "thereupon": "then",
         "henceforth": "from now on", "whilst": "while", "amongst": "among", "upon": "on", "prior to": "before",
         "notwithstanding": "in spite of", "albeit": "although", "in lieu": "instead"}
PLAIN_RE = re.compile(r"\b(" + "|".join(PLAIN) + r")\b", re.I)
# Folders without checks: their examples may look like paths of one machine.
DATA = ("golden_data/", "tests/fuzz/corpus/")


def tracked():
    """Files that git tracks, and new ones; without git, all files outside build and dist."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"],
                             capture_output=True, check=False)
    if listing.returncode == 0:
        return sorted(n for n in listing.stdout.decode().split("\0") if n)
    return sorted(os.path.normpath(os.path.join(folder, name))
                  for folder, _, names in os.walk(".") for name in names
                  if not folder.startswith(("./build", "./dist")))


def faults(name, text):
    lines = text.split("\n")
    is_source = name.endswith(SOURCE) or name in SOURCE_NAMES
    if is_source and not any("SPDX-License-Identifier" in l for l in lines[:3]):
        yield 1, "no SPDX-License-Identifier in the first lines"
    limit = MAX_LINES_OF.get(name, MAX_LINES)
    if is_source and len(lines) - 1 > limit:
        yield len(lines) - 1, f"more than {limit} lines"
    for number, line in enumerate(lines, 1):
        if name.endswith(C_SOURCE) and "\t" in line:
            yield number, "tab"
        if is_source and line != line.rstrip():
            yield number, "blanks at the end of the line"
        if name != "tests/lint/text.py" and (word := PLAIN_RE.search(line)):
            yield number, f"'{word[1]}': write '{PLAIN[word[1].lower()]}'"
        if LOCAL_PATH.search(line):
            yield number, "path of one machine"


def main():
    wrong = files = 0
    for name in tracked():
        if name.startswith(DATA) or not os.path.isfile(name):
            continue
        with open(name, "rb") as stream:
            data = stream.read()
        if b"\0" in data:
            continue
        files += 1
        if name.startswith("reports/") and name.endswith((".svg", ".json")):
            print(f"    {name}: reports keep tables and PNG; name the commit that has the rest")
            wrong += 1
        for number, what in faults(name, data.decode("utf-8", "replace")):
            print(f"    {name}:{number}: {what}")
            wrong += 1
    return 1 if wrong or files == 0 else 0


sys.exit(main())
