# SPDX-License-Identifier: MIT
"""Lists the parts of a wheel (a CycloneDX software bill of materials) from the licences of docs/install.md, and finds
the texts of the licences in the packages that the parts come from."""
import glob
import hashlib
import json
import os
import re
import subprocess

from wheel_graft import CC, output

# {part that is compiled or linked in: one of its headers}.
HEADERS = {"cJSON": "cjson/cJSON.h", "Random123": "Random123/philox.h", "gemmi": "gemmi/model.hpp", "PEGTL": "tao/pegtl.hpp", "zlib": "zlib.h",
           "libdeflate": "libdeflate.h", "LZ4 library": "lz4.h", "libpng": "png.h", "GCC's libraries": "iostream", "bzip2": "bzlib.h"}
# Files with the licence of NVIDIA's toolkit: in NVIDIA's packages, and in packages of PyPI.
CUDA_LICENCES = ["EULA.txt", "dist-info/nvidia_cuda_runtime-*/licenses/License.txt"]
COMMON = re.compile(r"/usr/share/common-licenses/\w[\w+-]*(?:\.\d+)*")


def rows(page):
    """[(part, licence, where)] of the page's table of licences."""
    with open(page, encoding="utf-8") as text:
        table = text.read().partition("## Licences")[2]
    return [tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in table.splitlines() if line.startswith("|")][2:]


def package_of(path):
    """Name of the Debian package that contains the file, or ""."""
    path = os.path.realpath(path)
    for name in (path, path.removeprefix("/usr")):
        try:
            return output("dpkg", "-S", name).partition(": ")[0]
        except (OSError, subprocess.CalledProcessError):
            continue
    return ""


def package_version(package):
    return output("dpkg-query", "-W", "-f", "${Version}", package) if package else ""


def config(build):
    """{name: value} of the assignments in config.mk."""
    with open(os.path.join(build, "config.mk"), encoding="utf-8") as text:
        return dict(re.findall(r"^(\w+) := (.*)$", text.read(), re.M))


def built_versions(build):
    """{CJSON: 1.7.15, ...}: versions from config.mk.  gemmi, PEGTL and CUDA have no version if they are not built in."""
    found = {name.removesuffix("_VERSION"): value for name, value in config(build).items() if name.endswith("_VERSION")}
    pegtl = package_version(package_of(header("PEGTL"))) if "GEMMI" in found else ""
    return found | {"GCC'S": found["CC"], "CUDA": found.get("NVCC", ""), "PEGTL": pegtl}


def header(part_name):
    """Path where the compiler finds the header of a part, or ""."""
    name = HEADERS[part_name]
    done = subprocess.run([*CC, "-xc++", "-M", "-"], input=f"#include <{name}>\n", capture_output=True, text=True, check=False)
    return next((word for word in done.stdout.split() if word.endswith(f"/{name}")), "")


def licence_of(source):
    """(name, path) of the licence of the package that contains a file, or None."""
    path = os.path.realpath(f"/usr/share/doc/{package_of(source).partition(':')[0]}/copyright")
    return (os.path.basename(os.path.dirname(path)) + ".txt", path) if os.path.isfile(path) else None


def cuda_licence(nvcc):
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    found = [path for wanted in CUDA_LICENCES for path in glob.glob(os.path.join(toolkit, wanted))]
    return ("cuda.txt", found[0]) if found else licence_of(nvcc) or ("cuda.txt", cuda_header(nvcc))


def cuda_header(nvcc):
    """A header of the toolkit: without a licence file, its first comment is the notice that NVIDIA asks for."""
    done = subprocess.run([nvcc, "-x", "cu", "-M", "-"], input="", capture_output=True, text=True, check=True)
    return next(word for word in done.stdout.split() if word.endswith("/cuda_runtime.h"))


def with_common(licences):
    """{name: text} of licences {name: path}, and of files in /usr/share/common-licenses that their texts name."""
    found = {}
    for name, path in licences.items():
        with open(path, "rb") as text:
            found[name] = text.read().partition(b"*/" if path.endswith(".h") else b"\0")[0]
        for common in COMMON.findall(found[name].decode("utf-8", "replace")):
            if os.path.isfile(common):
                with open(common, "rb") as text:
                    found[f"common-licenses/{os.path.basename(common)}"] = text.read()
    return found


def part(name, licence, version, text, file=None):
    made = {"type": "library", "name": name, "licenses": [{"license": {"name": licence}}]}
    if version:
        made["version"] = version
    if file:
        with open(file[1], "rb") as data:
            made["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(data.read()).hexdigest()}]
    made["properties"] = [{"name": "file", "value": f"nanobragg.libs/{file[0]}"}] if file else []
    made["properties"] += [{"name": "licence", "value": text[0]}] if text else []
    return made


def parts(page, build, libraries, sources, version):
    """(JSON text, {name: text} of licences).  libraries: {name: path} in the wheel; sources: {name: path} on the system."""
    built, found, licences = built_versions(build), [], {}
    for name, licence, where in rows(page):
        linked = re.search(r"\bprogram\b|\bheaders\b", where)
        number = built.get(name.split()[0].upper(), "")
        if linked and (number or not re.match("CUDA|gemmi|PEGTL", name)):
            text = licence_of(header(name)) if name in HEADERS else cuda_licence(config(build)["NVCC"])
            found.append(part(name, licence, number, text))
            licences.update([text] if text else [])
        stems = re.findall(r"\blib\w+", where.partition("wheel:")[2])
        for file in sorted(libraries):
            if file.split(".")[0].split("-")[0] in stems:
                text = licence_of(sources[file])
                found.append(part(name, licence, package_version(package_of(sources[file])), text, (file, libraries[file])))
                licences.update([text] if text else [])
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": {
        "type": "library", "name": "nanobragg", "version": version, "licenses": [{"license": {"id": "MIT"}}]}},
        "components": found}, indent=1), with_common(licences)
