#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Images of thick sensors agree with a separate model, written only from docs/physics.md.

The model has one still crystal, one wavelength and a constant F, in Python doubles:
sections 2 to 5, 9, 12 and 14 to 16. Pixels of the scalar renderer and of the vector
renderer in double precision agree to the rounding of a float, in mixed precision to 1e-6
of the maximum. Axes of crystal and detector, and the origin, are those of -show_config:
only the layers of the sensor are tested here.
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.environ["NANOBRAGG"]
CRYSTAL = ("-default_F 100 -cell 70 80 90 75 85 95 -misset 10 20 30 -N 5 -lambda 1 -seed 1 "
           "-detpixels_x 31 -detpixels_y 23 -nonoise -noint -nopgm").split()
CASES = {
    "one-layer": "-pixel 1.5 -distance 40 -detector_thick 500 -detector_abs 200 -thicksteps 1 "
                 "-oversample 1",
    "five-layers": "-pixel 1.5 -distance 40 -detector_thick 500 -detector_abs 200 -thicksteps 5 "
                   "-oversample 2 -polar 0.9",
    "tilted": "-pixel 2 -distance 50 -detector_thick 900 -detector_abs 100 -thicksteps 2 -twotheta 25 "
              "-detector_rotx 20 -detector_roty -15 -oversample 1 -oversample_omega",
    "skew-normal": "-pixel 1 -distance 60 -odet_vector 0.8 0 0.6 -detector_thick 700 "
                   "-detector_abs 300 -thicksteps 3 -oversample 2",
    "thin": "-pixel 2 -distance 50 -detector_thick 300 -detector_abs 1e6 -thicksteps 3 -oversample 1",
    "close": "-pixel 0.2 -distance 3 -detector_thick 1000 -detector_abs 400 -thicksteps 4 "
             "-oversample 1 -oversample_polar -polar -0.5",
    "front": "-pixel 1.5 -distance 40 -detector_thick 500 -detector_abs 200 -thicksteps 2 "
             "-oversample 1 -layer_depth front",
    "curved": "-pixel 2 -distance 50 -curved_det -detector_thick 800 -detector_abs 300 "
              "-thicksteps 3 -oversample 2 -point_pixel",
    "curved-exact": "-pixel 2 -distance 50 -curved_det -curved_omega exact -detector_thick 800 "
                    "-detector_abs 300 -thicksteps 3 -oversample 2 -oversample_omega",
    "curved-exact-no-sensor": "-pixel 3 -distance 50 -curved_det -curved_omega exact -oversample 1",
}


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def along(*terms):
    """Sum of k v over the pairs (k, v): number times vector."""
    return [sum(k * v[i] for k, v in terms) for i in range(3)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a):
    return along((1 / math.sqrt(dot(a, a)), a))


class Detector:
    """Geometry of a pixel: sections 4 (flat), 5 (curved), 15 and 16 of docs/physics.md."""

    def __init__(self, d, beam):
        self.d, self.b = d, beam
        self.f, self.s, self.o = d["fdet_vector"], d["sdet_vector"], d["odet_vector"]
        self.p, self.D = d["pixel_mm"] * 1e-3, d["distance_m"]
        self.f1 = unit(along((1, self.f), (-dot(self.f, beam), beam)))
        s = along((1, self.s), (-dot(self.s, beam), beam))
        self.s1 = unit(along((1, s), (-dot(s, self.f1), self.f1)))

    def point(self, F, S, depth):
        d = self.d
        if not d["curved"]:
            return along((1, d["pix0_vector_m"]), (F, self.f), (S, self.s), (depth, self.o))
        u, v = (F - d["Fbeam_m"]) / self.D, (S - d["Sbeam_m"]) / self.D
        r = self.D + depth
        return along((r * math.cos(u) * math.cos(v), self.b),
                     (r * math.cos(u) * math.sin(v), self.s1), (r * math.sin(u), self.f1))

    def solid_angle(self, x, F):
        d, R2 = self.d, dot(x, x)
        if d["curved"] and d["curved_omega"] == "exact":
            return math.cos((F - d["Fbeam_m"]) / self.D) * (self.p / self.D) ** 2
        if d["curved"] or d["point_pixel"]:
            return self.p ** 2 / R2
        return self.p ** 2 * d["close_distance_m"] / R2 ** 1.5

    def layer(self, F, S, t):
        """(place in m, captured fraction) of layer t: section 16 of docs/physics.md."""
        step = self.d["layer_step_m"]
        if not step:
            return self.point(F, S, 0), 1.0
        front = self.point(F, S, t * step)
        g = 1.0 if self.d["curved"] else dot(unit(front), self.o)
        y = self.d["attenuation_per_m"] * step / g
        captured = math.exp(-t * y) - math.exp(-(t + 1) * y)
        if self.d["layer_depth"] == "front":
            return front, captured
        m = 0.5 - y / 12 if y < 1e-3 else 1 / y - 1 / math.expm1(y)
        return self.point(F, S, step * (t + m)), captured


def grating(h, n):
    x = math.pi * (h - round(h))
    return n if x == 0 else math.sin(n * x) / math.sin(x)


def polarization(K, i, d, axis):
    c2 = dot(i, d) ** 2
    B = unit(cross(axis, i))
    E = unit(cross(i, B))
    e2, b2 = dot(d, E) ** 2, dot(d, B) ** 2
    turn = (e2 - b2) / (e2 + b2) if e2 + b2 else 1
    return (1 + c2 - K * turn * (1 - c2)) / 2


def model(config):
    """Photons of every pixel: section 2 of docs/physics.md."""
    d, beam, crystal = config["detector"], config["beam"], config["crystal"]
    sampling = config["sampling"]
    os_, lam = sampling["oversample"], beam["wavelength_m"]
    i = beam["source_list"][0]["incident"]
    det = Detector(d, beam["beam_vector"])
    cell = [[x * 1e-10 for x in crystal[k]] for k in ("a_A", "b_A", "c_A")]
    edge = det.p / os_
    scale = 7.94079248018965e-30 * beam["fluence_photons_per_m2"] / os_ ** 2 * 100 ** 2

    def factors(x, F):
        return (polarization(beam["polarization"], i, unit(x), beam["polar_vector"]),
                det.solid_angle(x, F))

    def pixel(f, s):
        total = 0
        for t in range(d["layers"]):
            for n in range(os_ * os_):
                F, S = edge * (f * os_ + n % os_ + 0.5), edge * (s * os_ + n // os_ + 0.5)
                x, term = det.layer(F, S, t)
                P, W = factors(x, F)
                if t + n == 0:
                    P0, W0 = P, W
                q = along((1 / lam, unit(x)), (-1 / lam, i))
                for a, N in zip(cell, crystal["N"]):
                    term *= grating(dot(a, q), N) ** 2
                total += term * (P if sampling["oversample_polar"] else 1) * \
                    (W if sampling["oversample_omega"] else 1)
        return scale * total * (1 if sampling["oversample_polar"] else P0) * \
            (1 if sampling["oversample_omega"] else W0)

    fast, slow = d["fpixels"], d["spixels"]
    return [pixel(f, s) for s in range(slow) for f in range(fast)]


def render(flags, out):
    subprocess.run([PROGRAM, *flags, "-floatfile", out, "-quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out, "rb") as f:
        data = f.read()
    return struct.unpack(f"<{len(data) // 4}f", data)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in CASES.items():
            flags = CRYSTAL + words.split()
            config = json.loads(subprocess.run([PROGRAM, *flags, "-show_config"], check=True,
                                               capture_output=True, text=True).stdout)
            truth = model(config)
            for way in ("-isa scalar", "-precision double", "-precision mixed"):
                image = render(flags + way.split() + ["-device", "cpu"],
                               os.path.join(folder, "image.bin"))
                limit = 1e-6 if "mixed" in way else 1.2e-7
                worst = max(abs(a - b) for a, b in zip(image, truth)) / max(truth)
                ok = worst <= limit and len(image) == len(truth)
                failed += not ok
                print(f"{'ok' if ok else 'not ok'} layers-{name}/{way.split()[1]}"
                      f"{'' if ok else f' # differs by {worst:.1e} of the maximum'}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
