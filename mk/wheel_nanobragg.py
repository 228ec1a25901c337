# SPDX-License-Identifier: MIT
"""Makes the wheel: extension module, program, and the libraries that a bare system does not have.

pip calls build_wheel (PEP 517); `make wheel` runs this file:
    python3 mk/wheel_nanobragg.py BUILD-FOLDER OUTPUT-FOLDER
"""
import base64
import glob
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

from wheel_glibc import check, write_older
from wheel_graft import closure, graft, output
from wheel_parts import parts

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Libraries that are loaded when needed, by a soname that the module contains.  FFTW is left out, because it is GPL.
LATE = re.compile(rb"\0(lib(?:tiff|hdf5\w*)\.so\.\d+)\0")
CLASSIFIERS = ["Development Status :: 4 - Beta", "Environment :: Console", "Environment :: GPU :: NVIDIA CUDA",
               "Intended Audience :: Science/Research", "Operating System :: POSIX :: Linux", "Programming Language :: C",
               "Programming Language :: Python :: 3 :: Only", "Programming Language :: Python :: Implementation :: CPython",
               "Topic :: Scientific/Engineering :: Chemistry", "Topic :: Scientific/Engineering :: Physics", "Typing :: Typed"]
# The licence of nanobragg, and that of the tables of water and air, which are compiled in.
LICENCES = ["LICENSE", "golden_data/detectors/tables/NOTICE"]


def late_libraries(path):
    with open(path, "rb") as file:
        return sorted({name.decode() for name in LATE.findall(file.read())})


def tag(files):
    """Tag of the wheel with manylinux_2_N: 2.N is the newest version of glibc that a symbol needs."""
    versions = [int(v) for f in files for v in re.findall(r"GLIBC_2\.(\d+)", output("objdump", "-T", f))]
    return f"cp311-abi3-manylinux_2_{max([17, *versions])}_{platform.machine()}"


def version():
    """The version as Python writes it: 0.5.0.dev0 for 0.5.0-dev."""
    with open(os.path.join(ROOT, "src", "nanobragg", "build.h"), encoding="utf-8") as text:
        return re.search(r'NB_VERSION "(.*)"', text.read()).group(1).replace("-dev", ".dev0")


def without_links(text):
    """The page without pictures, and with the text of links only, because a wheel does not contain their files."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"^!\[.*\n", "", text, flags=re.M))


def metadata(licences=()):
    """Text of METADATA.  licences: names of files, from the source's root or from the wheel's folder of licences."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as text:
        return (f"Metadata-Version: 2.4\nName: nanobragg\nVersion: {version()}\n"
                "Summary: X-ray diffraction of nanocrystals on an absolute scale\n"
                "Author: nanobragg developers\nLicense-Expression: MIT\n" + "".join(f"License-File: {name}\n" for name in licences) +
                "".join(f"Classifier: {name}\n" for name in CLASSIFIERS) +
                "Keywords: X-ray diffraction,crystallography,simulation\nRequires-Python: >=3.11\nRequires-Dist: numpy\n"
                "Description-Content-Type: text/markdown\n\n" + without_links(text.read()))


class Wheel:
    """A zip file, and the record of its contents (RECORD)."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.info, self.rows = info, []

    def put(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # a fixed date: the same bytes every time
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.rows.append(f"{name},sha256={digest},{len(data)}")

    def put_file(self, name, path, mode=0o644):
        with open(path, "rb") as file:
            self.put(name, file.read(), mode)

    def close(self):
        rows = [*self.rows, f"{self.info}/RECORD,,", ""]
        self.zip.writestr(f"{self.info}/RECORD", "\n".join(rows))
        self.zip.close()


def pack(build, folder):
    """Makes the wheel from the files that `make wheel-files` left in build/wheel; returns its name."""
    files = os.path.join(build, "wheel")
    package = os.path.join(build, "python", "nanobragg")
    own = {name: os.path.join(files, name) for name in ("nanobragg.so", "_nanobragg.abi3.so", "nanobragg")}
    late = late_libraries(own["nanobragg.so"])
    sources = closure(own, late)
    libraries = graft(sources, os.path.join(files, "libraries"))
    packed = write_older(own | libraries, os.path.join(files, "older"))
    check([*own, *late], packed)
    module, program = packed.pop("_nanobragg.abi3.so"), packed.pop("nanobragg")
    name = f"nanobragg-{version()}-{tag([module, program, *packed.values()])}"
    info = f"nanobragg-{version()}.dist-info"
    os.makedirs(folder, exist_ok=True)
    wheel = Wheel(os.path.join(folder, name + ".whl"), info)
    for path in sorted(glob.glob(os.path.join(package, "**"), recursive=True)):
        if path.endswith((".py", ".pyi", "py.typed")):
            wheel.put_file(f"nanobragg/{os.path.relpath(path, package)}", path)
    wheel.put_file("nanobragg/_nanobragg.abi3.so", module, 0o755)
    wheel.put_file("nanobragg/bin/nanobragg", program, 0o755)
    wheel.put_file("nanobragg_program.py", os.path.join(ROOT, "src", "python", "program",
                                                        "nanobragg_program.py"))
    for soname, path in sorted(packed.items()):
        wheel.put_file(f"nanobragg.libs/{soname}", path, 0o755)
    sbom, texts = parts(os.path.join(ROOT, "docs", "install.md"), build, libraries, sources, version())
    wheel.put(f"{info}/METADATA", metadata([*LICENCES, *sorted(texts)]).encode())
    wheel.put(f"{info}/sboms/nanobragg.cdx.json", sbom.encode())
    for licence in LICENCES:
        wheel.put_file(f"{info}/licenses/{licence}", os.path.join(ROOT, licence))
    for licence, text in sorted(texts.items()):
        wheel.put(f"{info}/licenses/{licence}", text)
    wheel.put(f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: nanobragg\nRoot-Is-Purelib: false\n"
                                f"Tag: {name.split('-', 2)[2]}\n").encode())
    wheel.put(f"{info}/entry_points.txt",
              b"[console_scripts]\nnanobragg = nanobragg_program:main\n")
    wheel.close()
    return name + ".whl"


def make(*words):
    subprocess.run(["make", "-C", ROOT, f"-j{os.cpu_count()}", f"PYTHON={sys.executable}", *words],
                   check=True)


# --- PEP 517 ---

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory
    target = os.path.abspath(wheel_directory)
    make("wheel", f"WHEEL_DIR={target}", f"CUDA_ARCH={os.environ.get('CUDA_ARCH', 'auto')}")  # for this machine
    built = [f for f in os.listdir(target) if f.startswith(f"nanobragg-{version()}-")]
    return max(built, key=lambda f: os.path.getmtime(os.path.join(target, f)))


def build_sdist(sdist_directory, config_settings=None):
    """Makes an archive of the files of the last commit and PKG-INFO.  The same commit gives the same bytes."""
    del config_settings
    name = f"nanobragg-{version()}"
    subprocess.run(["git", "-C", ROOT, "-c", "tar.tar.gz.command=gzip -9cn", "archive", "--format=tar.gz",
                    f"--prefix={name}/", f"--add-virtual-file={name}/PKG-INFO:{metadata(LICENCES)}",
                    "-o", os.path.join(sdist_directory, name + ".tar.gz"), "HEAD"], check=True)
    return name + ".tar.gz"


if __name__ == "__main__":
    print(os.path.join(sys.argv[2], pack(sys.argv[1], sys.argv[2])))
