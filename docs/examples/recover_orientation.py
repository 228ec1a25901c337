# SPDX-License-Identifier: MIT
"""Find the orientation of a crystal that is 0.3 degrees off, from one still with noise.

Three ways: Adam of PyTorch over nanobragg.torch, least_squares of scipy over sim.derivatives, and the
program `nanobragg refine`.  The first two begin with a smaller crystal, whose broad spots reach the true ones.

usage: python3 recover_orientation.py [FOLDER]     writes recover_orientation.png there
needs numpy, scipy; PyTorch and matplotlib if they are there
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

import nanobragg

TRUTH = (10.0, 20.0, 30.0)
OFF = np.array([0.20, -0.18, 0.13])  # deg, about the lab axes: 0.3 in all
CELLS = 6
SCENE: dict[str, Any] = dict(cell=(79.1, 79.1, 37.9, 90, 90, 90), wavelength=1.0, distance=100,
                             detpixels=160, pixel=0.3, oversample=2, fluence=4e26)
STAGES = ((3, 40), (CELLS, 60))  # cells of the model, steps of Adam

Way = list[tuple[float, float]]  # seconds, degrees off


def factors() -> tuple[Any, Any]:
    """Structure factors of nobody: random amplitudes that fall off with the angle."""
    h = np.array([(h, k, l) for h in range(-40, 41) for k in range(-40, 41) for l in range(-20, 21)])
    q2 = (h[:, 0] / 79.1) ** 2 + (h[:, 1] / 79.1) ** 2 + (h[:, 2] / 37.9) ** 2
    keep = q2 < 0.3
    F = np.random.default_rng(7).rayleigh(300, len(h)) * np.exp(-5 * q2)
    return h[keep], F[keep]


def matrix(misset: Any) -> Any:
    """Rotation by misset angles, deg: about x, then y, then z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(misset)), np.sin(np.radians(misset))
    return (np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]) @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
            @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]))


def turned(misset: Any, rotation: Any) -> Any:
    """matrix(misset) after a rotation vector, deg, about the lab axes."""
    x, y, z = np.radians(rotation)
    angle = float(np.sqrt(x * x + y * y + z * z))
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sin, cos = (np.sin(angle) / angle, (1 - np.cos(angle)) / angle ** 2) if angle > 1e-9 else (1.0, 0.5)
    return (np.eye(3) + sin * K + cos * K @ K) @ matrix(misset)


def off_by(rotation_matrix: Any) -> float:
    """Degrees between this orientation and the true one."""
    cosine = (np.trace(rotation_matrix @ matrix(TRUTH).T) - 1) / 2
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def angles(R: Any) -> tuple[float, float, float]:
    """Misset angles of a rotation, deg."""
    return (float(np.degrees(np.arctan2(R[2, 1], R[2, 2]))), float(np.degrees(-np.arcsin(R[2, 0]))),
            float(np.degrees(np.arctan2(R[1, 0], R[0, 0]))))


def by_adam(start: Any, target: Any, hkl: Any) -> tuple[Way, Any]:
    """The way, and the rotation that it ends with."""
    import torch

    from nanobragg.torch import render

    sim = nanobragg.Simulation(hkl=hkl, N=CELLS, misset=start, **SCENE)
    seen: Any = torch.from_numpy(target)
    weight = 1 / (seen + 1)
    rotation = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    torch.optim.Adam([rotation])  # it imports much
    begin, path = time.perf_counter(), []
    for cells, steps in STAGES:
        sim.set(N=cells)
        adam = torch.optim.Adam([rotation], lr=0.4 / cells ** 1.5)
        slower = torch.optim.lr_scheduler.ExponentialLR(adam, 0.02 ** (1 / steps))
        for _ in range(steps):
            adam.zero_grad()
            model = render(sim, rot=rotation)
            scale = (weight * model * seen).sum() / (weight * model * model).sum()
            loss = (weight * (scale * model - seen) ** 2).mean()
            loss.backward()
            adam.step()
            slower.step()
            path.append((time.perf_counter() - begin, off_by(turned(start, rotation.detach().numpy()))))
    return path, rotation.detach().numpy()


def by_least_squares(start: Any, target: Any, hkl: Any) -> tuple[Way, Any]:
    from scipy.optimize import least_squares

    sim = nanobragg.Simulation(hkl=hkl, N=CELLS, misset=start, **SCENE)
    names, sigma = ["rot_x", "rot_y", "rot_z"], np.sqrt(target + 1)
    rotation, begin, path = np.zeros(3), time.perf_counter(), []

    def model(x: Any) -> tuple[Any, Any]:
        sim.set_parameters(dict(zip(names, x)))
        J, image = sim.derivatives(names, image=True)
        scale = (image * target / sigma ** 2).sum() / (image * image / sigma ** 2).sum()
        path.append((time.perf_counter() - begin, off_by(turned(start, x))))
        return ((scale * image - target) / sigma).ravel(), np.stack(
            [(scale * J[name] / sigma).ravel() for name in names], axis=1)

    for cells, _ in STAGES:
        sim.set(N=cells)
        found: dict[bytes, Any] = {}

        def once(x: Any) -> Any:
            key = x.tobytes()
            if key not in found:
                found.clear()
                found[key] = model(x)
            return found[key]

        rotation = least_squares(lambda x: once(x)[0], rotation, lambda x: once(x)[1], max_nfev=25,
                                 x_scale=0.1, method="trf").x
    path.append((time.perf_counter() - begin, off_by(turned(start, rotation))))
    return path, rotation


def by_the_program(start: Any, sim: Any, hkl: Any, folder: str) -> tuple[float, float]:
    """(seconds, degrees off) of `nanobragg refine`, which reads and writes files."""
    program = os.environ.get("NANOBRAGG", "nanobragg")
    sim.write(noisefile=os.path.join(folder, "still.img"))
    table = os.path.join(folder, "still.hkl")
    np.savetxt(table, np.column_stack(hkl), fmt="%d %d %d %.6f")
    flags = ["-hkl", table, "-dump", os.devnull, "-N", str(CELLS), "-misset", *map(str, start)]
    for name, value in SCENE.items():
        flags += ["-" + name, *map(str, value if isinstance(value, tuple) else (value,))]
    report = os.path.join(folder, "fit.json")
    begin = time.perf_counter()
    done = subprocess.run([program, "refine", os.path.join(folder, "still.img"), *flags, "-refine", "rot,scale",
                           "-report", report], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    with open(report, encoding="utf-8") as file:
        return seconds, off_by(matrix(json.load(file)["misset_deg"]))


def draw(path: str, target: Any, images: dict[str, Any], ways: dict[str, Way]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), constrained_layout=True)
    for axis, (title, image) in zip(axes, images.items()):
        drawn = axis.imshow((target - image) / np.sqrt(image + 1), cmap="RdBu", vmin=-10, vmax=10)
        axis.set_title(title)
        axis.set_axis_off()
    for name, points in ways.items():
        seconds, off = zip(*points)
        axes[2].loglog(seconds, off, "o" if len(points) == 1 else "-", label=f"{name}: {off[-1]:.4f} deg")
    figure.colorbar(drawn, ax=axes[:2], label="sigma", shrink=0.8)
    axes[2].set_xlabel("seconds")
    axes[2].set_ylabel("degrees off")
    axes[2].set_title("Way to the true orientation")
    axes[2].legend()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main(folder: str = ".") -> dict[str, Way]:
    hkl = factors()
    sim = nanobragg.Simulation(hkl=hkl, N=CELLS, misset=TRUTH, seed=1, **SCENE)
    offset = 40  # -adc, ADU
    target = np.maximum(sim.noise().astype(np.float32) - offset, 0)
    start = tuple(round(x, 4) for x in angles(turned(TRUTH, OFF)))
    before = nanobragg.Simulation(hkl=hkl, N=CELLS, misset=start, **SCENE).render()
    way, rotation = by_least_squares(start, target, hkl)
    ways = {"least squares (scipy)": way}
    try:
        ways["Adam (PyTorch)"], rotation = by_adam(start, target, hkl)
    except ImportError:
        print("PyTorch is not installed: Adam is left out")
    ways["nanobragg refine"] = [by_the_program(start, sim, hkl, folder)]
    print(f"start: {off_by(matrix(start)):.4f} degrees off")
    for name, points in ways.items():
        print(f"{name}: {points[-1][1]:.5f} degrees off after {points[-1][0]:.2f} s, {len(points)} steps")
    found = nanobragg.Simulation(hkl=hkl, N=CELLS, misset=angles(turned(start, rotation)), **SCENE).render()
    try:
        draw(os.path.join(folder, "recover_orientation.png"), target,
             {"Seen less start": before, "Seen less found": found}, ways)
    except ImportError:
        print("matplotlib is not installed: no picture")
    return ways


if __name__ == "__main__":
    main(*sys.argv[1:2])
