# SPDX-License-Identifier: MIT
"""Draw the lab frame of each convention as SVG, from the vectors that -show_config prints.

All drawings have the same view: the beam goes away from the reader to the right, and the slow axis of the
detector points down.  What differs between conventions is then visible: the names of the lab axes, the
side to which the fast axis points, the spindle, the two-theta swing and the start of the beam centre.

usage: NANOBRAGG=program python3 docs/images/frames.py FOLDER
"""
import json
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(os.environ.get("NANOBRAGG", "build/nanobragg"))
SCENE = "-detpixels_x 10 -detpixels_y 8 -pixel 10 -distance 120 -cell 100 -default_F 1 -N 3".split()
CUSTOM = ("-beam_vector 0 0 -1 -fdet_vector 1 0 0 -sdet_vector 0 -1 0 -odet_vector 0 0 -1 "
          "-polar_vector 1 0 0 -spindle_axis 1 0 0 -twotheta_axis 1 0 0").split()
# The flags of the beam centre, their values, and a step that is one pixel of the drawing.
CONVENTIONS = {
    "mosflm": (["-mosflm"], [("Xbeam", 30, 10), ("Ybeam", 50, 10)]),
    "denzo": (["-denzo"], [("Xbeam", 30, 10), ("Ybeam", 50, 10)]),
    "adxv": (["-adxv"], [("Xbeam", 50, 10), ("Ybeam", 50, 10)]),
    "xds": (["-xds"], [("ORGX", 5.5, 1), ("ORGY", 3.5, 1)]),
    "dials": (["-dials"], [("ORGX", 5.5, 1), ("ORGY", 3.5, 1)]),
    "custom": (CUSTOM, [("Xbeam", 50, 10), ("Ybeam", 30, 10)])}
TITLES = {"custom": "custom: here the axes of dxtbx, all typed"}
SWING = 25          # degrees of the two-theta that is drawn
AZIMUTH, ELEVATION = math.radians(52), math.radians(22)  # of the camera
WIDTH, HEIGHT, SCALE, CENTRE = 520, 365, 1.72, (232, 188)
GREY, BLACK, BLUE, RED, GREEN, PURPLE, ORANGE = (
    "#999999", "#222222", "#1f5fb4", "#c0392b", "#2e8b57", "#7d3c98", "#c77700")


# --- vectors of three numbers ---

def add(*vectors):
    return [sum(parts) for parts in zip(*vectors)]


def times(vector, factor):
    return [part * factor for part in vector]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(vector):
    return times(vector, 1 / math.sqrt(dot(vector, vector)))


def turn(vector, axis, angle):
    """Right-handed, about a unit vector."""
    return add(times(vector, math.cos(angle)), times(cross(axis, vector), math.sin(angle)),
               times(axis, dot(axis, vector) * (1 - math.cos(angle))))


def name_of(vector):
    """'+z', or the numbers of a vector that is not along a lab axis."""
    for axis, letter in enumerate("xyz"):
        if abs(abs(vector[axis]) - 1) < 1e-6:
            return ("+" if vector[axis] > 0 else "\N{MINUS SIGN}") + letter
    return " ".join(f"{part:g}" for part in vector)


# --- what the program says ---

def ask(flags):
    """The detector, beam and spindle of these flags, as the program resolves them."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM, *SCENE, *flags, "-show_config"], cwd=folder, check=True,
                              capture_output=True)
    config = json.loads(done.stdout)
    return {**config["detector"], **config["beam"], **config["spindle"]}


class Frame:
    """One convention: its vectors and the way of its beam centre, from the program."""

    def __init__(self, name):
        flags, centre = CONVENTIONS[name]
        typed = [*flags]
        for flag, value, _ in centre:
            typed += ["-" + flag, str(value)]
        self.name, self.centre, self.main = name, centre, ask(typed)
        self.swung = ask([*typed, "-twotheta", str(SWING), "-pivot", "sample"])["odet_vector"]
        self.beam, self.fast, self.slow, self.normal = (
            self.main[key] for key in ("beam_vector", "fdet_vector", "sdet_vector", "odet_vector"))
        self.origin = self.main["pix0_vector_mm"]
        self.moved = {flag: ask([*typed, "-" + flag, str(value + step)])
                      for flag, value, step in centre}

    def on_detector(self, fast, slow):
        """The lab place of a point of the detector, mm."""
        return add(self.origin, times(self.fast, fast), times(self.slow, slow))

    def spot(self):
        return self.main["Fbeam_mm"], self.main["Sbeam_mm"]

    def zero_of(self, flag, value, step):
        """The point of the detector where the beam would be with 0 in this flag."""
        there = self.moved[flag]
        return [now - (there[key] - now) * value / step
                for key, now in zip(("Fbeam_mm", "Sbeam_mm"), self.spot())]


# --- the page ---

class Page:
    """An SVG of one frame, seen from upstream, left and above."""

    def __init__(self, frame):
        up = unit(add(times(frame.slow, -1), times(frame.beam, dot(frame.slow, frame.beam))))
        self.axes = cross(up, times(frame.beam, -1)), up, frame.beam
        self.parts = []

    def place(self, point):
        right, up, depth = (dot(point, axis) for axis in self.axes)
        back = depth * math.cos(AZIMUTH) - right * math.sin(AZIMUTH)
        return (CENTRE[0] + SCALE * (right * math.cos(AZIMUTH) + depth * math.sin(AZIMUTH)),
                CENTRE[1] - SCALE * (up * math.cos(ELEVATION) + back * math.sin(ELEVATION)))

    def line(self, points, colour, width=1.5, more=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          f'stroke-width="{width}"{more}/>')

    def area(self, points, fill, colour):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))
        self.parts.append(f'<polygon points="{path}" fill="{fill}" stroke="{colour}"/>')

    def head(self, before, end, colour):
        """An arrow head at `end`, in the direction from `before`."""
        (x0, y0), (x, y) = self.place(before), self.place(end)
        length = math.hypot(x - x0, y - y0) or 1
        ux, uy = (x - x0) / length, (y - y0) / length
        corners = (x, y), (x - 9 * ux - 4 * uy, y - 9 * uy + 4 * ux), (x - 9 * ux + 4 * uy, y - 9 * uy - 4 * ux)
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
        self.parts.append(f'<polygon points="{path}" fill="{colour}"/>')

    def arrow(self, start, end, colour, width=2.0, more=""):
        self.line([start, end], colour, width, more)
        self.head(start, end, colour)

    def text(self, x, y, words, colour, anchor="start", size=13):
        for style in ('fill="white" stroke="white" stroke-width="4" stroke-linejoin="round"',
                      f'fill="{colour}"'):
            self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style} font-size="{size}" '
                              f'text-anchor="{anchor}">{words}</text>')

    def label(self, point, words, colour, dx=0, dy=0, anchor="start"):
        x, y = self.place(point)
        self.text(x + dx, y + dy, words, colour, anchor)

    def label_beyond(self, start, end, words, colour, gap=8):
        """A label behind the head of an arrow, on its own side."""
        (x0, y0), (x, y) = self.place(start), self.place(end)
        length = math.hypot(x - x0, y - y0) or 1
        ux, uy = (x - x0) / length, (y - y0) / length
        anchor = "middle" if abs(ux) < 0.5 else "start" if ux > 0 else "end"
        self.text(x + gap * ux, y + gap * uy + (4 if abs(uy) < 0.5 else 10 if uy > 0 else -1), words, colour,
                  anchor)

    def svg(self, title):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
                f'height="{HEIGHT}" font-family="Helvetica, Arial, sans-serif">\n<title>{title}</title>\n'
                '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def draw_detector(page, frame):
    pixel, nfast, nslow = frame.main["pixel_mm"], frame.main["fpixels"], frame.main["spixels"]
    width, height = nfast * pixel, nslow * pixel
    at = frame.on_detector
    page.area([at(0, 0), at(width, 0), at(width, height), at(0, height)], "#f1f4f8", GREY)
    for i in range(1, nfast):
        page.line([at(i * pixel, 0), at(i * pixel, height)], "#d5dbe3", 0.7)
    for j in range(1, nslow):
        page.line([at(0, j * pixel), at(width, j * pixel)], "#d5dbe3", 0.7)
    page.area([at(0, 0), at(pixel, 0), at(pixel, pixel), at(0, pixel)], BLACK, BLACK)
    page.arrow(at(0, -6), at(0.6 * width, -6), BLUE)
    left = page.place(at(0, 0))[0] < page.place(at(width, 0))[0]
    page.label(at(0.6 * width, -6), "fast " + name_of(frame.fast), BLUE, 6 if left else -4, 0 if left else -8,
               "start" if left else "end")
    page.arrow(at(-6, 0), at(-6, 0.6 * height), BLUE)
    page.label(at(-6, 0.2 * height), "slow " + name_of(frame.slow), BLUE, -7 if left else 7, 4,
               "end" if left else "start")
    page.label(at(0, 0), "first pixel", BLACK, -12 if left else 12, -10, "end" if left else "start")


def draw_beam_centre(page, frame):
    spot = frame.spot()
    for flag, value, step in frame.centre:
        zero = frame.zero_of(flag, value, step)
        page.arrow(frame.on_detector(*zero), frame.on_detector(*spot), ORANGE, 1.6)
        middle = frame.on_detector(*[(a + b) / 2 for a, b in zip(zero, spot)])
        if abs(zero[0] - spot[0]) < 1e-3:
            page.label(middle, flag, ORANGE, 6, 4)
        elif page.place(frame.on_detector(*zero))[0] < page.place(middle)[0]:
            page.label(frame.on_detector(*zero), flag, ORANGE, 5, 17)
        else:
            page.label(middle, flag, ORANGE, 2, -9, "middle")


def draw_beam(page, frame):
    spot = frame.on_detector(*frame.spot())
    start = times(frame.beam, -135)
    page.line([start, spot], RED, 2.4)
    page.head(times(frame.beam, -60), times(frame.beam, -22), RED)
    page.head(start, spot, RED)
    page.label(start, "beam " + name_of(frame.beam), RED, 2, 20)
    polar = frame.main["polar_vector"]
    middle = times(frame.beam, -85)
    ends = [add(middle, times(polar, length)) for length in (-24, 24)]
    page.line(ends, GREEN, 2)
    page.head(middle, ends[0], GREEN)
    page.head(middle, ends[1], GREEN)
    top = min(ends, key=lambda end: page.place(end)[1])
    page.label(top, "polarization \N{PLUS-MINUS SIGN}" + name_of(polar)[1:], GREEN, 0, -9, "middle")


def ring(axis, centre, radius, first, last):
    """Points of a right-handed arc about an axis."""
    start = unit(cross(axis, [0, 1, 0] if abs(axis[1]) < 0.9 else [1, 0, 0]))
    return [add(times(axis, centre), times(turn(start, axis, math.radians(angle)), radius))
            for angle in range(first, last + 1, 10)]


def draw_axes(page, frame):
    """The spindle, the two-theta axis and the way of the detector for a positive two-theta."""
    spindle, swing = frame.main["spindle_axis"], frame.main["twotheta_axis"]
    together = dot(spindle, swing) > 0.999
    end = times(spindle, 62)
    page.line([times(spindle, -20), times(spindle, 50)], PURPLE, 1.8)
    page.arrow(times(spindle, 40), end, PURPLE, 1.8)
    points = ring(spindle, 40, 9, 0, 290)
    page.line(points, PURPLE, 1.5)
    page.head(points[-2], points[-1], PURPLE)
    words = ("spindle, two-theta axis " if together else "spindle ") + name_of(spindle)
    if page.place(end)[0] > CENTRE[0] + 9:  # towards the detector: below the arrow
        page.label(end, words, PURPLE, -6, 20)
    else:
        page.label_beyond([0, 0, 0], end, words, PURPLE)
    if not together:
        end = times(swing, 46)
        page.arrow([0, 0, 0], end, GREY, 1.8)
        page.label_beyond([0, 0, 0], end, "two-theta axis " + name_of(swing), "#666666")
    far = frame.main["distance_mm"] * 0.56
    arc = [times(turn(frame.normal, swing, math.radians(angle)), far) for angle in range(0, SWING + 1)]
    assert max(abs(a - b) for a, b in zip(unit(arc[-1]), frame.swung)) < 1e-6, frame.name
    page.line(arc, "#666666", 1.5)
    page.head(arc[-5], arc[-1], "#666666")
    page.line([[0, 0, 0], arc[-1]], "#666666", 1, ' stroke-dasharray="4 3"')
    above = page.place(arc[-1])[1] < page.place(arc[0])[1]
    page.label(arc[-1], "+two-theta", "#666666", -8 if above else 8, -2 if above else 6,
               "end" if above else "start")


def draw_crystal(page, frame):
    right, up, _ = page.axes
    corners = [add(times(right, 7 * math.cos(a)), times(up, 9 * math.sin(a)))
               for a in [math.radians(30 + 60 * i) for i in range(6)]]
    page.area(corners, "#ffe9a8", BLACK)


def draw_lab(page):
    """The lab axes, in a corner."""
    x0, y0 = 62, HEIGHT - 49
    centre = page.place([0, 0, 0])
    for letter, axis in zip("xyz", ([1, 0, 0], [0, 1, 0], [0, 0, 1])):
        x, y = page.place(times(axis, 19))
        dx, dy = x - centre[0], y - centre[1]
        length = math.hypot(dx, dy)
        page.parts.append(f'<line x1="{x0}" y1="{y0}" x2="{x0 + dx:.1f}" y2="{y0 + dy:.1f}" '
                          f'stroke="{BLACK}" stroke-width="1.5"/>')
        page.text(x0 + dx * (1 + 9 / length), y0 + dy * (1 + 9 / length) + 4, letter, BLACK, "middle")


def draw(name):
    frame = Frame(name)
    page = Page(frame)
    title = TITLES.get(name, "-" + name)
    draw_detector(page, frame)
    draw_beam_centre(page, frame)
    draw_axes(page, frame)
    draw_beam(page, frame)
    draw_crystal(page, frame)
    draw_lab(page)
    page.text(12, 22, title, BLACK, size=16)
    return page.svg(title)


def main(folder):
    for name in CONVENTIONS:
        with open(os.path.join(folder, f"frame-{name}.svg"), "w", encoding="utf-8") as out:
            out.write(draw(name))


if __name__ == "__main__":
    main(sys.argv[1])
