# SPDX-License-Identifier: MIT
"""SVG plots with the standard library only."""
import base64
import html
import math
import struct
import zlib

WIDTH, HEIGHT, TOP, BOTTOM, LEFT, RIGHT, LEGEND = 720, 480, 56, 56, 76, 24, 270  # sizes of a chart, pixels
MARKS = {"o": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "s": "M-4-4h8v8h-8z", "^": "M0-5l5 9h-10z", "v": "M0 5l5-9h-10z",
         "D": "M0-5l5 5-5 5-5-5z", "x": "M-4-5l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z", "P": "M-2-5h4v3h3v4h-3v3h-4v-3h-3v-4h3z"}


def words(x, y, text, anchor="start", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{html.escape(text)}</text>'


def image(x, y, rgb, dot=1):
    """Image from rgb, uint8 [height, width, 3]; each pixel becomes `dot` x `dot` screen
    pixels."""
    height, width = rgb.shape[:2]
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))  # noqa: E731
    png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
           + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row.tobytes() for row in rgb))) + chunk(b"IEND", b""))
    return (f'<image x="{x}" y="{y}" width="{dot * width}" height="{dot * height}" style="image-rendering: pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(png).decode()}"/>')


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


class Axis:
    """Axis with values low to high at pixels first to last. Values outside the limits are
    drawn just outside the axis."""

    def __init__(self, low, high, first, last, log=False):
        self.scale = math.log10 if log else float
        self.low, self.high, self.first, self.last = self.scale(low), self.scale(high), first, last
        self.ticks = self._powers(low, high) if log and high > 5 * low else self._steps(low, high)

    def __call__(self, value):
        part = (self.scale(value) - self.low) / (self.high - self.low)
        return self.first + min(1.02, max(-0.02, part)) * (self.last - self.first)

    @staticmethod
    def _steps(low, high):
        unit = 10 ** math.floor(math.log10((high - low) / 4))
        step = next(unit * n for n, limit in ((1, 1.5), (2, 3.5), (5, 7.5), (10, math.inf)) if (high - low) / 4 / unit < limit)
        return [round(k * step, 12) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]

    @staticmethod
    def _powers(low, high):
        digits = (1, 2, 5) if high < 200 * low else (1,)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        return [v for v in (n * 10.0 ** k for k in powers for n in digits) if low <= v <= high]


class Chart:
    """Curves with axes. x, y: limits (low, high), or None for the limits of the points.
    log: logarithmic axes, with a tick at the x of each point. word: format of the numbers
    at y."""

    def __init__(self, title, under, beside, x=None, y=None, subtitle="", log=False, word="{:.5g}".format):
        self.title, self.under, self.beside, self.ends, self.subtitle, self.log, self.word = title, under, beside, (x, y), subtitle, log, word
        self.curves, self.bars = [], []

    def add(self, points, colour, label="", line="-", mark=""):
        """Add a curve.  line: "-", "--" or "" (no line); mark: a key of MARKS, or ""."""
        self.curves.append((points, colour, label, line, mark))

    def add_bars(self, edges, heights, colour):
        self.bars += zip(edges, edges[1:], heights, [colour] * len(heights))

    def _axis(self, k, first, last):
        values = [point[k] for points, *_ in self.curves for point in points]
        low, high = min(values, default=0), max(values, default=1)
        room = 0.05 * (high - low) + 0.01
        low, high = self.ends[k] or ((low / 1.4, 1.4 * high) if self.log else (low - room, high + room))
        axis = Axis(low, high, first, last, self.log)
        if self.log and k == 0:
            axis.ticks = sorted(set(values))
        return axis

    @staticmethod
    def _curve(at, colour, line, mark):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        dashes = ' stroke-dasharray="7 4"' if line == "--" else ""
        out = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>'] if line else []
        return out + [f'<path d="{MARKS[mark]}" fill="{colour}" transform="translate({x:.1f} {y:.1f})"/>' for x, y in at if mark]

    def text(self):
        x, y, middle = self._axis(0, LEFT, WIDTH - RIGHT), self._axis(1, HEIGHT - BOTTOM, TOP), (LEFT + WIDTH - RIGHT) / 2
        parts = [f'<path d="M{x(v):.1f} {y.first}V{y.last}" stroke="#ddd"/>' + words(x(v), y.first + 18, f"{v:g}", "middle") for v in x.ticks]
        parts += [f'<path d="M{x.first} {y(v):.1f}H{x.last}" stroke="#ddd"/>' + words(x.first - 6, y(v) + 4, self.word(v), "end") for v in y.ticks]
        parts += [f'<path d="M{x.first} {y.last}V{y.first}H{x.last}" fill="none" stroke="#000"/>', words(middle, 22, self.title, "middle", 15),
                  words(middle, 42, self.subtitle, "middle", 10), words(middle, HEIGHT - 12, self.under, "middle"),
                  words(0, 0, self.beside, "middle", more=f' transform="translate(16 {(y.first + y.last) / 2}) rotate(-90)"')]
        for low, high, top, colour in self.bars:
            parts.append(f'<rect x="{x(low):.1f}" y="{y(top):.1f}" width="{x(high) - x(low):.1f}" height="{y.first - y(top):.1f}" fill="{colour}"/>')
        for points, colour, _, line, mark in self.curves:
            parts += self._curve([(x(a), y(b)) for a, b in points], colour, line, mark)
        named = [curve for curve in self.curves if curve[2]]
        for k, (_, colour, label, line, mark) in enumerate(named):
            at = TOP + 10 + 20 * k
            parts += self._curve([(WIDTH + 4, at), (WIDTH + 32, at)], colour, line, "") + self._curve([(WIDTH + 18, at)], colour, "", mark)
            parts.append(words(WIDTH + 40, at + 4, label, size=11))
        return svg(WIDTH + (LEGEND if named else 0), HEIGHT, parts)
