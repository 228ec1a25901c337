# SPDX-License-Identifier: MIT
"""Helpers of the acceptance tests: a common scene for the scalar reference renderer, and figures of images."""
import numpy as np

import nanobragg

SUITE = dict(default_F=100, cell=(100, 100, 100, 90, 90, 90), N=5, wavelength=1, pixel=0.1, distance=100, oversample=1,
             isa="scalar", precision="double", device="cpu")
FLUENCE = 1 / 7.94079248018965e-30  # photons/m2: 1 / r_e^2, so that r_e^2 fluence is 1
TRICLINIC = (70, 80, 90, 75, 85, 95)


def suite(**words):
    """A simulation with the keywords of SUITE and `words`; None removes a keyword."""
    return nanobragg.Simulation(**{name: value for name, value in {**SUITE, **words}.items() if value is not None})


def image(**words):
    return suite(**words).render().astype(float)


def vector(panel, name):
    return np.array(panel[name], float)


def points(sim):
    """Array [slow, fast, 3] of the pixel centres of the first panel, in m."""
    panel = sim.config["detector"]["panels"][0]
    f, s = (np.arange(n) + 0.5 for n in panel["size"])
    edge = panel["pixel_mm"][0]
    return (vector(panel, "origin_mm") + edge * f[None, :, None] * vector(panel, "fast")
            + edge * s[:, None, None] * vector(panel, "slow")) / 1e3


def directions(sim):
    x = points(sim)
    return x / np.linalg.norm(x, axis=2, keepdims=True)


def solid_angles(sim, point=False):
    """Solid angle of each pixel, from the place of its centre."""
    x, panel = points(sim), sim.config["detector"]["panels"][0]
    R = np.linalg.norm(x, axis=2)
    area = panel["pixel_mm"][0] ** 2 * 1e-6
    return area / R ** 2 * (1 if point else abs(x @ vector(panel, "normal")) / R)


def nearest_indices(sim):
    """Array [slow, fast, 3] of the reflection h, k, l nearest to each pixel's centre."""
    config = sim.config
    beam = config["beam"]
    q = (directions(sim) - vector(beam, "beam_vector")) / beam["wavelength_A"]
    axes = np.array([config["crystal"][name] for name in ("a_A", "b_A", "c_A")])
    return np.rint(q @ axes.T).astype(int)


def same(a, b, tolerance):
    """True if max|a - b| <= tolerance max(b)."""
    return a.shape == b.shape and abs(a - b).max() <= tolerance * b.max()


def correlation(a, b):
    return np.corrcoef(a.ravel(), b.ravel())[0, 1]


def brightest(pixels):
    """(fast, slow) of the brightest pixel."""
    slow, fast = np.unravel_index(pixels.argmax(), pixels.shape)
    return fast, slow


def peaks(pixels, percentile, exclusion, count=None):
    """Rows (fast, slow) of local maxima, brightest first, refined by parabolas."""
    e = exclusion
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (2 * e + 1, 2 * e + 1)).max(axis=(2, 3))
    inner = pixels[e:-e, e:-e]
    s, f = (x + e for x in np.nonzero((inner == windows) & (inner > np.percentile(pixels, percentile))))
    order = np.argsort(-pixels[s, f], kind="stable")[:count]
    s, f = s[order], f[order]

    def refined(at, low, high):
        return at + (high - low) / 2 / (2 * pixels[s, f] - low - high)
    return np.stack([refined(f, pixels[s, f - 1], pixels[s, f + 1]),
                     refined(s, pixels[s - 1, f], pixels[s + 1, f])], axis=1)


def distances(wanted, found):
    """Distance in pixels from each wanted peak to the nearest peak of `found`."""
    return np.linalg.norm(wanted[:, None] - found[None], axis=2).min(axis=1)
