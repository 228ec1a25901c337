#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/options.md, the man page or the completion for bash, from nanobragg -help-json.

usage: python3 mk/help_pages.py markdown | man | bash | flags PROGRAM   (to standard output; flags: each spelling on a line)"""
import json
import re
import subprocess
import sys

OPTIONS = """# Options

This page lists every flag with its other names: the unit is in [brackets], the default in (parentheses). `make docs` writes it; do not edit it.

Type one dash or two, and the whole name of a flag. If you type a flag twice, the last one is used. A flag
wins over the header of `-img` and `-mask`. An unknown flag, a missing value, a value out of range, or flags that
contradict each other give one line on standard error and exit status 2.

<!-- contents -->

"""
MAN = """.TH NANOBRAGG 1 "" "nanobragg {version}" "User commands"
.SH NAME
nanobragg \\- X\\-ray diffraction images of nanocrystals on an absolute scale
.SH SYNOPSIS
.B nanobragg
.I flags
.SH DESCRIPTION
Renders the diffraction image of a small crystal in photons per pixel, and writes it as 32\\-bit floats, as SMV image with \
and without Poisson noise, and as pictures.
.PP
Type one dash or two, and the whole name of a flag. If you type a flag twice, the last one is used. The unit is in \
[brackets], the default in (parentheses).
.SH OPTIONS
"""
STATUS = """.SH EXIT STATUS
.TP
.B 0
all images were made
.TP
.B 1
a file, the memory or the device failed
.TP
.B 2
bad input: a flag, a value, a file's content
.TP
.B 130
stopped by SIGINT (Ctrl\\-C), SIGTERM, SIGHUP, SIGUSR1 or \\-time_limit. No unfinished file is left. A single image leaves none of its files. A \
series keeps its finished frames: type the same flags and \\-resume to continue. A second SIGINT or SIGTERM stops the \
program at once; no temporary file is left.
.PP
A signal ends compare, run\\-compare and view at once; they have no status for it.
"""
BASH = """# bash completion for nanobragg; made by mk/help_pages.py
_nanobragg()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD - 1]}}
    flag=${{flag#-}}
    flag=-${{flag#-}}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] && [ -n "$word" ] && [ "${{word#-}}" = "$word" ]; then
        mapfile -t COMPREPLY < <(compgen -W '{commands}' -- "$word")
        return
    fi
    case $flag in
    {files})
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    {numbers})
        return
        ;;
{words}    esac
    [ ${{#COMPREPLY[@]}} -gt 0 ] && return
    mapfile -t COMPREPLY < <(compgen -W '{flags}' -- "$word")
}}
complete -o filenames -F _nanobragg nanobragg
"""


def spellings(flag):
    return ["-" + name for name in (flag["name"], *flag.get("synonyms", "").split())]


def groups(flags):
    """{group: its flags}, in the order of `flags`."""
    by_group = {}
    for flag in flags:
        by_group.setdefault(flag["group"], []).append(flag)
    return by_group


# --- docs/options.md ---
def plain(text):
    return re.sub(r"([|*_])", r"\\\1", text)


def names(flag):
    first, *others = spellings(flag)
    value = " " + flag["value"].replace("|", "\\|") if "value" in flag else ""
    return " ".join([f"`{first}{value}`", *(f"`{name}`" for name in others)])


def row(flags):
    """A row of the table for flags that only differ in their names."""
    flag = flags[0]
    text = plain(flag["help"]) + (": " + plain(flag["note"]) if "note" in flag else "")
    if "default" in flag:  # "0 (off)" becomes "(0: off)"
        before, _, note = flag["default"].partition(" (") if flag["default"].endswith(")") else (flag["default"], "", "")
        text += f" ({plain(before)}" + (f": {plain(note)}" if note else ")")
    unit = f" [{flag['unit']}]" if "unit" in flag else ""
    return f"| {', '.join(map(names, flags))}{unit} | {text} |\n"


def rows(flags):
    together = []
    for flag in flags:
        same = together and "note" not in flag and all(flag.get(k) == together[-1][0].get(k)
                                                       for k in ("help", "unit", "default", "note"))
        together[-1].append(flag) if same else together.append([flag])
    return "".join(map(row, together))


def borrowed(command, flags):
    """Lists flags of a simulation that a subcommand has. If it has nearly all of a group, lists those that it lacks."""
    taken, lines = command["flags"].split(), []
    if "*" in taken:
        lines.append("* all flags that describe a simulation\n")
    for group, of_group in groups(flags).items():
        have = [f"`-{f['name']}`" for f in of_group if f["name"] in taken]
        lack = [f"`-{f['name']}`" for f in of_group if f["name"] not in taken]
        if have and len(have) < 3 * len(lack):
            lines.append(f"* *{group}*: {' '.join(have)}\n")
        elif have:
            lines.append(f"* *{group}*: all{' but ' if lack else ''}{' '.join(lack)}\n")
    return "\nAlso flags of these groups:\n\n" + "".join(lines)


def section(command, flags):
    name, options = command["name"], command["options"]
    text = (f"\n## nanobragg {name}\n\n`nanobragg {name} {command['usage']}`\n\n{command['what']}; see "
            f"[{command['page']}]({command['page']}).\n" + ("\n| flag | meaning |\n| --- | --- |\n" if options else ""))
    for o in options:
        value = " " + o["value"].replace("|", "\\|") if "value" in o else ""
        text += f"| `-{o['name']}{value}` | {o['help'].replace('|', chr(92) + '|')} |\n"
    return text + (borrowed(command, flags) if "flags" in command else "") + f"\nExit status: {command['statuses']}.\n"


def markdown(data):
    titles = [*groups(data["flags"]), *("nanobragg " + c["name"] for c in data["subcommands"])]
    text = OPTIONS
    for title in titles:
        text += f"* [{title}](#{re.sub('[^a-z0-9_-]', '', title.lower().replace(' ', '-'))})\n"
    text += "\n<!-- end of contents -->\n"
    for group, flags in groups(data["flags"]).items():
        text += f"\n## {group}\n\n| flag | meaning |\n| --- | --- |\n" + rows(flags)
    return text + "".join(section(c, data["flags"]) for c in data["subcommands"])


# --- man page ---
def roff(text):
    return re.sub(r"([-\\])", r"\\\1", text)


def entry(head, value, text):
    return f".TP\n.B {roff(head)}" + (f" \\fI{roff(value)}\\fR" if value else "") + f"\n{text}\n"


def man(data):
    text = MAN.format(version=data["version"])
    for group, flags in groups(data["flags"]).items():
        text += f".SS {group}\n"
        for f in flags:
            about = roff(f["help"]) + (f" [{f['unit']}]" if "unit" in f else "")
            about += f" (default: {roff(f['default'])})" if "default" in f else ""
            text += entry(", ".join(spellings(f)), f.get("value"), about)
    text += ".SH SUBCOMMANDS\n"
    for c in data["subcommands"]:
        text += f".SS nanobragg {roff(c['name'])} {roff(c['usage'])}\n{roff(c['what'])}.\n"
        text += "".join(entry("-" + o["name"], o.get("value"), roff(o["help"])) for o in c["options"])
        text += f".PP\nExit status: {roff(c['statuses'])}.\n"
    text += ".SH EXAMPLES\n" + "".join(entry(e["command"], None, e["what"]) for e in data["examples"])
    return text + STATUS


# --- completion for bash ---
def bash(data):
    def case(kind):
        return "|".join(name for f in data["flags"] if f.get("kind") == kind and "words" not in f for name in spellings(f))
    words = "".join(f"    {'|'.join(spellings(f))})\n        mapfile -t COMPREPLY < <(compgen -W '{f['words']}' -- \"$word\")\n"
                    "        ;;\n" for f in data["flags"] if "words" in f)
    return BASH.format(commands=" ".join(c["name"] for c in data["subcommands"]), files=case("file"), numbers=case("number"),
                       words=words, flags="".join(" -" + f["name"] for f in data["flags"]))


def flags(data):
    return "".join(name + "\n" for f in data["flags"] for name in spellings(f))


if __name__ == "__main__":
    FORMS = {"markdown": markdown, "man": man, "bash": bash, "flags": flags}
    if len(sys.argv) != 3 or sys.argv[1] not in FORMS:
        sys.exit(__doc__)
    printed = subprocess.run([sys.argv[2], "-help-json"], capture_output=True, text=True, check=True).stdout
    sys.stdout.write(FORMS[sys.argv[1]](json.loads(printed)))
