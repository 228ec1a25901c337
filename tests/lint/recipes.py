# SPDX-License-Identifier: MIT
"""Checks recipes of packages, without Docker, Apptainer, conda and Spack: syntax, version, and libraries that they name.

usage: recipes.py [FOLDER]           (mk/packaging by default; a folder of make release has filled recipes)
       recipes.py --commands FILE    (prints the shell commands of the last stage of a Dockerfile or Apptainer definition)
"""
import ast
import os
import re
import subprocess
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# {feature of the Makefile: package names in Debian, conda-forge and Spack}. None: the
# recipe builds without the feature, or uses headers that it downloads.
LIBRARIES = {
    "PNG": ("libpng-dev", "libpng", "libpng"),
    "CJSON": ("libcjson-dev", "cjson", "cjson"),
    "RANDOM123": ("librandom123-dev", None, "random123"),
    "ZLIB": ("zlib1g-dev", "zlib", "zlib-api"),
    "TIFF": ("libtiff-dev", "libtiff", "libtiff"),
    "GEMMI": ("libgemmi-dev|gemmi-dev", "gemmi", None),
    "FFTW": ("libfftw3-dev", "fftw", "fftw"),
    "XRAYLIB": ("libxrl-dev", "xraylib", None),
    "HDF5": ("libhdf5-dev", "hdf5", "hdf5"),
    "LIBDEFLATE": ("libdeflate-dev", "libdeflate", "libdeflate"),
    "BZIP2": ("libbz2-dev", "bzip2", "bzip2"),
    "LZ4": ("liblz4-dev", "lz4-c", "lz4"),
    "MPI": ("libmpich-dev", None, "mpi"),
    "OPENMP": (None, None, None),  # OpenMP comes with the compiler
    "CUDA": (None, None, None),
}
TOOLS = {"python", "numpy", "py-numpy", "c", "cxx", "gmake", "pkgconfig"}


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r'NB_VERSION "(.*)"', text(ROOT, "src/nanobragg/build.h"))[1]


def shell_fails(script):
    return not script.strip() or subprocess.run(["bash", "-n", "-c", script], check=False).returncode


def citation():
    cite = yaml.safe_load(text(ROOT, "CITATION.cff"))
    for key in ("cff-version", "message", "title", "authors", "license"):
        if not cite.get(key):
            yield f"no {key}"
    if cite.get("version") != version():
        yield f"the version is {cite.get('version')}, that of src/nanobragg/build.h {version()}"


def docker(lines):
    """Stages of a Dockerfile: [(name, [(instruction, its arguments)])]."""
    stages = [("", [])]
    for line in re.sub(r"\\\n", "", lines).splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            if word == "FROM":
                stages.append((rest.partition(" AS ")[2], []))
            stages[-1][1].append((word, rest.strip()))
    return stages


def dockerfile(folder):
    stages = docker(text(folder, "Dockerfile"))
    for _, lines in stages:
        for word, rest in lines:
            if word not in ("ARG", "FROM", "ENV", "COPY", "WORKDIR", "RUN", "ENTRYPOINT") or not rest:
                yield f"{word} {rest} is no instruction"
            if word == "RUN" and shell_fails(rest):
                yield f"RUN {rest} does not parse"
            source = re.match(r"--from=(\S+)", rest)
            if word == "COPY" and source and source[1] not in [n for n, _ in stages]:
                yield f"no stage {source[1]}"


def apptainer(lines):
    """Stages of an Apptainer definition: [(header, {section: text})]."""
    stages = []
    for part in re.split(r"^(?=Bootstrap:)", re.sub(r"^#.*\n", "", lines, flags=re.M), flags=re.M)[1:]:
        header, *sections = re.split(r"^%", part, flags=re.M)
        stages.append((dict(re.findall(r"^(\w+): (\S+)$", header, re.M)),
                       {s.split()[0]: s.partition("\n")[2] for s in sections}))
    return stages


def definition(folder):
    stages = apptainer(text(folder, "nanobragg.def"))
    if [header.get("Stage") for header, _ in stages] != ["build", "run"]:
        yield "its stages are not build and run"
    for header, sections in stages:
        if header.get("Bootstrap") != "docker" or not header.get("From"):
            yield f"the header is {header}"
        for name in sections:
            if name not in ("files", "post", "runscript", "test"):
                yield f"no section %{name}"
            if name != "files" and shell_fails(sections[name]):
                yield f"%{name} does not parse"


def compare(feature_column, named, extra):
    wanted = {names[feature_column] for names in LIBRARIES.values()} - {None}
    for name in sorted(wanted - named):
        yield f"{name} is missing"
    for name in sorted(named - wanted - extra):
        yield f"{name} is no library of the Makefile"


def conda(folder):
    raw = text(folder, "conda/meta.yaml")
    recipe = yaml.safe_load(re.sub(r"\{\{(.*?)\}\}", "x", raw))
    if set(recipe) != {"package", "source", "build", "requirements", "test", "about", "extra"}:
        yield f"the sections are {sorted(recipe)}"
    if recipe["package"]["version"] not in ("@VERSION@", version()):
        yield f"the version is {recipe['package']['version']}"
    if shell_fails(recipe["build"]["script"]):
        yield "the script does not parse"
    needs = recipe["requirements"]
    yield from compare(1, {n.split()[0] for n in needs["host"]}, TOOLS)
    for feature in re.findall(r"^soname (\w+)", text(ROOT, "mk/detect.sh"), re.M):  # conda cannot see libraries that are loaded when needed
        if LIBRARIES[feature][1] not in {n.split()[0] for n in needs["run"]}:
            yield f"{LIBRARIES[feature][1]} is missing in run"


def spack(folder):
    tree = ast.parse(text(folder, "spack/package.py"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    classes = [c for c in tree.body if isinstance(c, ast.ClassDef)]
    if [c.name for c in classes] != ["Nanobragg"]:
        yield "its class is not Nanobragg"
    imported = {name.name for n in tree.body if isinstance(n, ast.ImportFrom) and n.module.startswith("spack_repo.") for name in n.names}
    for base in [base.id for c in classes for base in c.bases if base.id not in imported]:
        yield f"{base} is not imported from spack_repo.builtin.build_systems: Spack 1.0 does not have it in spack.package"
    of = {name: [c.args[0].value for c in calls if c.func.id == name] for name in ("version", "depends_on")}
    if of["version"] not in (["@VERSION@"], [version()]):
        yield f"its versions are {of['version']}"
    yield from compare(2, {spec.split("+")[0] for spec in of["depends_on"]}, TOOLS)


def debian(_):
    listed = text(ROOT, "mk/packages.sh")
    groups = " ".join(re.findall(r'^[a-z]+="(.*?)"', listed.replace("\\\n", ""), re.S | re.M)).split()
    yield from compare(0, set(re.search(r'^build="(.*?)"', listed.replace("\\\n", ""), re.S | re.M)[1].split()),
                       set("gcc g++ libc6-dev make pkg-config tao-pegtl-dev python3-dev python3-numpy".split()))
    names = [n for group in groups for n in group.split("|")]
    known = subprocess.run(["apt-cache", "show", "--no-all-versions", "gcc", *names], capture_output=True, text=True, check=False).stdout
    known = set(re.findall(r"^Package: (.*)$", known, re.M))
    if "gcc" not in known:
        print("    recipes: no lists of apt here, names of packages are not looked up")
        return
    for group in groups:
        if not set(group.split("|")) & known:
            yield f"this distribution has no {group}"


def features(_):
    named = set(re.search(r"^FEATURES := (.*)", text(ROOT, "Makefile"), re.M)[1].replace("$(NEEDED)", "").split())
    named |= set(re.search(r"^NEEDED := (.*)", text(ROOT, "Makefile"), re.M)[1].split())
    for name in sorted(named ^ set(LIBRARIES)):
        yield f"{name}: a feature of the Makefile has a row in tests/lint/recipes.py, and the other way"


def filled(folder):
    for name in ("Dockerfile", "nanobragg.def", "conda/meta.yaml", "spack/package.py"):
        if re.search(r"@[A-Z0-9]+@", text(folder, name)):
            yield f"{name} is not filled"


def commands(path):
    """Shell commands of the last stage, and then a command that tries its image."""
    if path.endswith(".def"):
        sections = apptainer(text(path))[-1][1]
        return "set -e\n" + sections["post"] + sections["test"]
    last = docker(text(path))[-1][1]
    lines = [{"ENV": "export " + rest, "RUN": rest, "WORKDIR": f"mkdir -p {rest} && cd {rest}"}.get(word) for word, rest in last]
    entry = [" ".join(ast.literal_eval(rest)) + " -version" for word, rest in last if word == "ENTRYPOINT"]
    return "\n".join(["set -e", *filter(None, lines), *entry])


def main():
    if sys.argv[1:2] == ["--commands"]:
        print(commands(sys.argv[2]))
        return
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "mk/packaging")
    found = [f"CITATION.cff: {f}" for f in citation()]
    for check, name in ((features, "Makefile"), (debian, "mk/packages.sh"), (dockerfile, "Dockerfile"), (definition, "nanobragg.def"),
                        (conda, "conda/meta.yaml"), (spack, "spack/package.py")):
        try:
            found += [f"{name}: {f}" for f in check(folder)]
        except (yaml.YAMLError, SyntaxError) as error:
            found.append(f"{name}: {error}")
    if len(sys.argv) > 1:
        found += filled(folder)
        found or print("read, not run: syntax, versions, names of libraries")
    for fault in found:
        print(f"    {fault}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
