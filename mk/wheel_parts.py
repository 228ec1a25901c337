# SPDX-License-Identifier: MIT
"""The list of parts of a wheel (a CycloneDX software bill of materials), from the licences of docs/install.md."""
import hashlib
import json
import os
import re
import subprocess


def rows(page):
    """(part, licence, where) of the table of licences."""
    with open(page, encoding="utf-8") as text:
        table = text.read().partition("## Licences")[2]
    return [tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in table.splitlines() if line.startswith("|")][2:]


def package_version(path):
    """What dpkg says of the package that has the file, or nothing."""
    path = os.path.realpath(path)
    for name in (path, path.removeprefix("/usr")):
        try:
            owner = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=True).stdout.partition(": ")[0]
            return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", owner], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
    return ""


def built_versions(build):
    """{CJSON: 1.7.15, ...} of config.mk."""
    with open(os.path.join(build, "config.mk"), encoding="utf-8") as text:
        found = dict(re.findall(r"^(\w+)_VERSION := (.*)$", text.read(), re.M))
    return found | {"GCC'S": found["CC"], "CUDA": found.get("NVCC", "")}


def part(name, licence, version, file=None):
    made = {"type": "library", "name": name, "licenses": [{"license": {"name": licence}}]}
    if version:
        made["version"] = version
    if file:
        with open(file[1], "rb") as data:
            made["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(data.read()).hexdigest()}]
        made["properties"] = [{"name": "file", "value": f"nanobragg.libs/{file[0]}"}]
    return made


def parts(page, build, libraries, sources, version):
    """JSON text.  libraries: {name: path} as packed; sources: {name: path} of the system."""
    built, found = built_versions(build), []
    for name, licence, where in rows(page):
        linked = re.search(r"\bprogram\b|\bheaders\b", where)
        number = built.get(name.split()[0].upper(), "")
        if linked and (number or "CUDA" not in name):
            found.append(part(name, licence, number))
        stems = re.findall(r"\blib\w+", where.partition("wheel:")[2])
        for file in sorted(libraries):
            if file.split(".")[0].split("-")[0] in stems:
                found.append(part(name, licence, package_version(sources[file]), (file, libraries[file])))
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": {
        "type": "library", "name": "nanobragg", "version": version, "licenses": [{"license": {"id": "MIT"}}]}},
        "components": found}, indent=1)
