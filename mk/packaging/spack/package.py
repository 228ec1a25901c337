# SPDX-License-Identifier: MIT
# A recipe for Spack 1.0 and later.  make release inserts version and checksum.  The folder of this file is packages/nanobragg of
# a repository; the source archive is in the folder above.
import os

from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Nanobragg(MakefilePackage, CudaPackage):
    """X-ray diffraction of nanocrystals on an absolute scale."""

    url = "file://" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nanobragg-@VERSION@.tar.gz")
    license("MIT")
    version("@VERSION@", sha256="@SHA256@")

    variant("mpi", default=True, description="Series over the processes of mpirun")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python")
    depends_on("py-numpy", type="run")
    depends_on("random123")
    depends_on("mpi", when="+mpi")
    depends_on("cjson")
    depends_on("zlib-api")
    depends_on("libpng")
    depends_on("libtiff")
    depends_on("hdf5")
    depends_on("fftw")
    depends_on("libdeflate")
    depends_on("lz4")
    depends_on("bzip2")

    @property
    def words(self):
        chosen = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ()
        archs = " ".join(a for a in chosen if a != "none") or "all"
        cuda = ["CUDA_ARCH=" + archs] if self.spec.satisfies("+cuda") else ["CUDA=0"]
        return ["SET=spack", "CC=cc", "CXX=c++", "PREFIX=" + self.prefix, "PYTHON=" + self.spec["python"].command.path, *cuda]

    def build(self, spec, prefix):
        make(*self.words)

    def install(self, spec, prefix):
        make("install", *self.words)
