#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Diffuse light: a halo follows diffBragg's formula, the light of a group is the mean of
rotated crystals, and light is proportional to cells, fluence and F^2."""
import json
import math
import os
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skip halos # python3-numpy is not installed")
    sys.exit(0)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import script  # noqa: E402

HKL = os.path.join(os.path.abspath(os.environ.get("NB_SOURCE", ".")), "golden_data", "experiments", "hkl")
BIG = bool(os.environ.get("NB_BIG"))
ELECTRON = 7.94079248018965e-30  # square of the classical electron radius, m^2
FLUENCE = 1e26
COMMON = ["-nodump", "-lambda", "1", "-oversample", "1", "-nointerpolate", "-default_F", "0", "-device", "cpu"]
IMAGE = ["-noint", "-nonoise", "-nopgm"]


def render(folder, *flags):
    out = os.path.join(folder, "image.bin")
    script.run(*COMMON, *flags, *IMAGE, "-floatfile", out)
    return numpy.fromfile(out, "f4").astype(float)


def cell_of(*flags):
    """(matrix with the rows a*, b*, c* in 1/A; volume of the cell in A^3)."""
    crystal = json.loads(script.run(*COMMON, *flags, "-show_config")[0])["crystal"]
    return numpy.array([crystal[x + "_star_per_A"] for x in "abc"]), crystal["volume_A3"]


class Scene:
    """A crystal with one reflection g, rotated so that g fulfils Bragg's law, and a small
    detector around its ray."""
    CELL = ["-cell", "24", "30", "36", "80", "100", "95"]
    CELLS = 40
    F = 100.0
    EDGE, PIXEL = 80, 0.05  # EDGE: pixels along an edge; PIXEL: in mm

    def __init__(self, folder, g):
        self.g = numpy.array(g)
        hkl = os.path.join(folder, "one.hkl")
        with open(hkl, "w", encoding="ascii") as f:
            print(*g, self.F, file=f)
        misset = self.misset(hkl)
        self.flags = ["-hkl", hkl, *self.CELL, "-N", self.CELLS, "-misset", *misset]
        self.A, self.volume = cell_of(*self.flags)
        ray = (1, 0, 0) + self.g @ self.A
        half = self.EDGE * self.PIXEL / 2
        self.origin = 100 * ray / ray[0] - numpy.array([0, -half, half])
        self.fast, self.slow = numpy.array([0.0, 0, 1]), numpy.array([0.0, -1, 0])
        self.flags += ["-distance", "100", "-pixel", self.PIXEL, "-detpixels", self.EDGE, "-fdet_vector", *self.fast, "-sdet_vector", *self.slow,
                       "-odet_vector", 1, 0, 0, "-pix0_vector", *(self.origin / 1000), "-fluence", FLUENCE, "-nopolar"]
        middle = (numpy.arange(self.EDGE) + 0.5) * self.PIXEL
        place = self.origin + middle[None, :, None] * self.fast + middle[:, None, None] * self.slow
        away = numpy.linalg.norm(place, axis=-1).ravel()
        self.q = place.reshape(-1, 3) / away[:, None] - (1, 0, 0)
        self.h = self.q @ numpy.linalg.inv(self.A)
        self.solid = self.PIXEL ** 2 * self.origin[0] / away ** 3
        self.near = (numpy.abs(self.h - self.g) < 0.5).all(axis=1)  # pixels nearest to g

    def misset(self, hkl):
        """Angles of -misset: a rotation about z after which g is on the Ewald sphere."""
        q = self.g @ cell_of("-hkl", hkl, *self.CELL, "-N", "5", "-detpixels", "8")[0]
        # |(1, 0, 0) + R q| = 1, so x of R q is -q^2/2
        across = math.hypot(q[0], q[1])
        angle = math.acos(-(q @ q) / 2 / across) - math.atan2(q[1], q[0])
        return 0, 0, math.degrees(angle)

    def X(self, q, sigma):
        return 4 * math.pi ** 2 * sigma ** 2 * (q ** 2).sum(axis=-1)

    def u(self, gamma):
        return 2 * math.pi * gamma * numpy.linalg.norm((self.h - self.g) @ self.A, axis=1)

    def formula(self, sigma, gamma):
        """Photons by diffBragg's model (calc_diffuse_at_hkl without stencil and
        symmetry): only the first order, with X and exp(-X) at the reflection g. To be
        multiplied by the number of cells / volume of a cell."""
        X = self.X(self.g @ self.A, sigma)
        halo = 8 * math.pi * gamma ** 3 / (1 + self.u(gamma) ** 2) ** 2
        return FLUENCE * ELECTRON * self.solid * self.F ** 2 * math.exp(-X) * X * halo

    def diffbragg(self, sigma, gamma):
        """Photons by diffBragg of simtbx, whose beam is along -z."""
        from cctbx import crystal, miller
        from cctbx.array_family import flex
        from dxtbx.model.crystal import CrystalFactory
        from dxtbx.model.detector import DetectorFactory
        from simtbx.nanoBragg import sim_data
        from simtbx.nanoBragg.nanoBragg_beam import NBbeam
        from simtbx.nanoBragg.nanoBragg_crystal import NBcrystal
        turn = numpy.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
        edges = numpy.linalg.inv(self.A).T @ turn.T
        S = sim_data.SimData(use_default_crystal=False)
        S.crystal = x = NBcrystal(False)
        x.symbol, x.thick_mm, x.xtal_shape, x.Ncells_abc, x.isotropic_ncells, x.n_mos_domains, x.mos_spread_deg = "P1", 0.1, "gauss", (5, 5, 5), True, 1, 0
        x.dxtbx_crystal = CrystalFactory.from_dict({"__id__": "crystal", "real_space_a": tuple(edges[0]), "real_space_b": tuple(edges[1]),
                                                    "real_space_c": tuple(edges[2]), "space_group_hall_symbol": " P 1"})
        around = [tuple(int(v) for v in self.g + (i, j, k)) for i in (-2, 0, 2) for j in (-2, 0, 2) for k in (-2, 0, 2)]
        around.append((-1, -1, -1))  # the box of the indices must contain 0 0 0
        indices = miller.set(crystal.symmetry(x.dxtbx_crystal.get_unit_cell(), "P1"), flex.miller_index(around), anomalous_flag=True)
        F = flex.double([self.F if h == tuple(self.g) else 0.0 for h in around])
        x.miller_array = miller.array(indices, F).set_observation_type_xray_amplitude()
        S.beam = NBbeam()
        S.beam.unit_s0, S.beam.spectrum, S.beam.size_mm = (0, 0, -1), [(1.0, 1e12)], 1.0
        S.detector = DetectorFactory.make_detector("", tuple(turn @ self.fast), tuple(turn @ self.slow), tuple(turn @ self.origin),
                                                   (self.PIXEL, self.PIXEL), (self.EDGE, self.EDGE), (0, 2e14))
        S.instantiate_diffBragg(verbose=0, oversample=1, default_F=0)
        D = S.D
        D.spot_scale, D.nopolar, D.laue_group_num, D.use_diffuse, D.only_diffuse, D.stencil_size = 1, True, 1, True, True, 0
        D.diffuse_gamma, D.diffuse_sigma = (gamma,) * 3, (sigma,) * 3
        D.set_rotate_principal_axes((1.0, 0, 0, 0, 1, 0, 0, 0, 1))  # the default rotates indices
        D.add_diffBragg_spots()
        return D.raw_pixels_roi.as_numpy_array().ravel() * (FLUENCE / D.fluence)


def diffbragg_runs():
    try:
        from simtbx.diffBragg import diffBragg  # noqa: F401
    except ImportError:
        return False
    return True


def check_one_reflection(folder):
    """In pixels nearest to the reflection our weak halo, with X of the reflection, equals
    diffBragg's halo times cells / volume."""
    scene = Scene(folder, (5, 4, 7))
    runs = diffbragg_runs()
    sigma = 0.01
    part = scene.X(scene.g @ scene.A, sigma) / scene.X(scene.q, sigma)
    for gamma in (100, 200) if BIG else (200,):
        theirs = {"formula": scene.formula(sigma, gamma)}
        if runs:
            theirs["diffbragg"] = scene.diffbragg(sigma, gamma)
        else:
            print(f"skip halos diffbragg-{gamma} # simtbx.diffBragg is not installed")
        for F in ("mean", "unperturbed"):
            ours = render(folder, *scene.flags, "-diffuse_sigma", sigma, "-diffuse_gamma", gamma, "-diffuse_F", F, "-diffuse_only")
            for name, image in theirs.items():
                ratio = ours[scene.near] / (scene.CELLS ** 3 / scene.volume * image[scene.near])
                off, raw = numpy.abs(ratio * part[scene.near] - 1), numpy.abs(ratio - 1)
                close = scene.u(gamma)[scene.near] < 2
                text = f"{off.max():.2g} with X of the reflection; without that {raw[close].max():.2g} of {close.sum()} pixels of u < 2, {raw.max():.2g} of {len(raw)}"
                print(f"# {name} {gamma} {F}: {text}")
                good = off.max() <= 1e-3 and 2e-3 < raw[close].max() <= 0.03 and close.sum() > 10 and scene.X(scene.q, sigma).max() < 1e-3
                script.ok(f"{name}-{gamma}-{F}", good, text)


ROTATIONS = {"P222": [numpy.diag(s) for s in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))],
             "P4": [numpy.linalg.matrix_power(numpy.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), i) for i in range(4)],
             "P6": [numpy.linalg.matrix_power(numpy.array([[1, -1, 0], [1, 0, 0], [0, 0, 1]]), i) for i in range(6)]}


def whole_list(name, rotations, A, path, d_min=6.0):
    """Writes the reflections of a list up to d_min, with all their symmetry mates."""
    F = {}
    rows = numpy.loadtxt(os.path.join(HKL, name + ".hkl"))
    for row in rows[(numpy.linalg.norm(rows[:, :3] @ A, axis=1) < 1 / d_min)]:
        for R in rotations:
            F[tuple(int(x) for x in row[:3] @ R)] = row[3]
    with open(path, "w", encoding="ascii") as f:
        for g in sorted(F):
            print(*g, F[g], file=f)


def check_group(folder, name, cell, group):
    """Diffuse light with -sg is the mean of crystals whose axes are turned by the
    rotations of the group. With isotropic motions -sg changes nothing."""
    rotations = ROTATIONS[group]
    hkl, mat = os.path.join(folder, "whole.hkl"), os.path.join(folder, "turned.mat")
    A, _ = cell_of("-cell", *cell, "-misset", "10", "20", "30", "-N", "5", "-detpixels", "8")
    whole_list(name, rotations, A, hkl)
    flags = ["-hkl", hkl, "-distance", "150", "-detpixels", "24", "-pixel", "2.5", "-N", "30", "-fluence", FLUENCE, "-diffuse_only"]
    motion = ["-diffuse_sigma", "0.5", "0.3", "0.4", "-diffuse_gamma", "9", "5", "12"]

    def turned(R, *more):
        numpy.savetxt(mat, (R @ A).T, "%.12f")
        return render(folder, *flags, "-mat", mat, *more)
    mean = sum(turned(R, *motion) for R in rotations) / len(rotations)
    together = turned(rotations[0], *motion, "-sg", group)
    off = numpy.abs(together / mean - 1).max()
    print(f"# {group}: {off:.2g} from the mean of turned crystals")
    script.ok(f"turned-{group}", off <= 2e-3, f"{off:.2g}")
    single = numpy.abs(together / turned(rotations[0], *motion) - 1).max()
    script.ok(f"turned-{group}-differs", (single > 0.05) != (group == "P222"), f"{single:.2g} from one alone")
    alike = ["-diffuse_sigma", "0.4", "-diffuse_gamma", "8"]
    off = numpy.abs(turned(rotations[0], *alike, "-sg", group) / turned(rotations[0], *alike) - 1).max()
    script.ok(f"isotropic-{group}", off <= 1e-6, f"{off:.2g}")


def check_proportional(folder):
    """Diffuse light is proportional to cells, blocks, fluence and F^2, and the same for
    each shape of the crystal."""
    flags = ["-hkl", os.path.join(HKL, "ort.hkl"), "-cell", "28", "34", "40", "90", "90", "90", "-misset", "10", "20", "30", "-distance", "200",
             "-detpixels", "16", "-pixel", "3", "-diffuse_only", "-diffuse_sigma", "0.4", "-diffuse_gamma", "6"]
    plain = render(folder, *flags, "-N", "10", "-fluence", FLUENCE)
    for name, factor, more in (("cells", 6, ["-Na", "10", "-Nb", "20", "-Nc", "30", "-fluence", FLUENCE]),
                               ("blocks", 1000, ["-N", "10", "-blocks", "1000", "-fluence", FLUENCE]),
                               ("fluence", 7, ["-N", "10", "-fluence", 7 * FLUENCE]),
                               ("F", 9, ["-N", "10", "-Fscale", "3", "-fluence", FLUENCE]),
                               ("gauss", 1, ["-N", "10", "-gauss_xtal", "-fluence", FLUENCE]),
                               ("round", 1, ["-N", "10", "-round_xtal", "-fluence", FLUENCE])):
        image = render(folder, *flags, *more)
        off = numpy.abs(image / (factor * plain) - 1).max()
        script.ok(f"proportional-{name}", plain.min() > 0 and off <= 1e-6, f"{off:.2g}")


def main():
    if "fftw yes" not in " ".join(script.run("-version")[0].lower().split()):
        print("skip halos # no FFTW in this build")
        return
    with tempfile.TemporaryDirectory() as folder:
        check_one_reflection(folder)
        check_group(folder, "hex", ("30", "30", "40", "90", "90", "120"), "P6")
        if BIG:
            check_group(folder, "tet", ("32", "32", "40", "90", "90", "90"), "P4")
            check_group(folder, "ort", ("28", "34", "40", "90", "90", "90"), "P222")
        check_proportional(folder)
    sys.exit(bool(script.FAILED))


main()
