# SPDX-License-Identifier: MIT
"""Rates of vague words in comments, each per 10,000 words of comments, at most twice those of zstd (section 6 of the plain-English rules).

usage: comments.py [-v] [FILE or FOLDER ...]   -v: print the lines; with names: the rates of these, without a verdict"""
import io
import os
import re
import sys
import tokenize

FOLDERS = ["src", "cuda", "tests"]
C_SOURCE = (".c", ".h", ".cc", ".cu", ".cuh")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
# (what, pattern, limit per 10,000 words): twice the rate of zstd's comments.
RATES = [
    ("of it, of them", r"\bof (?:it|them|these|those)\b", 2.2),
    ("none", r"\b(?:[Tt]here (?:is|are) none|NULL: none|: none|or none)\b", 0.2),
    ("begins with Of", r"\A\W*Of\b", 0),
    ("say, tell", r"\b(?:say|says|said|tell|tells|told)\b", 10),
    ("beside, behind, beyond", r"\b(?:beside|besides|behind|beyond)\b", 10),
    ("own", r"\bown\b", 2.6),
    ("question", r"\?(?:\s|\Z)", 1.8),
    ("most", r"(?<!at )\bmost\b", 1.8),
]


def c_comments(text):
    for found in COMMENT.finditer(text):
        if found[0].startswith("/"):
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"\n\s*\*? ?", " ", found[0].strip("/*<! \n"))


def python_comments(text):
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.strip("# ")
        elif token.type == tokenize.STRING and fresh and token.string.lstrip("rf").startswith('"""'):
            yield token.start[0], token.string.strip('rf" \n')
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def comments(path):
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    return list(c_comments(text) if path.endswith(C_SOURCE) else python_comments(text))


def files(names):
    for name in names:
        if os.path.isfile(name):
            yield name
        for folder, _, inside in sorted(os.walk(name)):
            yield from (os.path.join(folder, n) for n in sorted(inside)
                        if n.endswith((*C_SOURCE, ".py")) and "corpus" not in folder)


def main():
    names = [n for n in sys.argv[1:] if n != "-v"]
    words, counts = 0, [0] * len(RATES)
    for path in files(names or FOLDERS):
        if path == "tests/lint/comments.py":
            continue
        for line, comment in comments(path):
            words += len(comment.split())
            for k, (what, pattern, _) in enumerate(RATES):
                found = re.findall(pattern, comment, 0 if what in ("none", "begins with Of") else re.I)
                counts[k] += len(found)
                if found and "-v" in sys.argv:
                    print(f"{path}:{line}: {what}: {comment[:150]}")
    wrong = 0
    for (what, _, limit), n in zip(RATES, counts):
        rate = 1e4 * n / max(words, 1)
        wrong += rate > limit
        print(f"    {what:<24} {n:5d}  {rate:5.1f} per 10,000 words (at most {limit})" + (" TOO MANY" if rate > limit else ""))
    print(f"    {words} words of comments")
    return 1 if wrong and not names else 0


sys.exit(main())
