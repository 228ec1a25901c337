# SPDX-License-Identifier: MIT
"""Draw the way of the data of plans/architecture.md as SVG.

Each box names the folder or file that has its code; the script ends with an error if one is not there.

usage: python3 plans/data_way.py >plans/data_way.svg     (in the root of the repository)
"""
import os
import sys

# What each step passes on, what is true of it, and where its code is.
WAY = [("flags, Python keywords, calls of C", "users' units", "src/cli src/python src/nanobragg"),
       ("nb_config", "what was typed, checked by the table of parameters", "src/params/flag_rows.h"),
       ("record, resolved", "completed by headers and files", "src/sim/resolve.c"),
       ("nb_settings", "every value is set", "src/params/resolve.c"),
       ("nb_model", "SI units; every count is chosen", "src/model"),
       ("nb_scene", "flat, immutable: all data of a renderer", "src/physics/scene.h"),
       ("nb_backend: scalar, simd, cuda", "plan, path, pixels", "src/render src/plan src/terms cuda"),
       ("nb_photons", "the float image, in memory or on a device", "src/image/photons.h"),
       ("nb_image_make", "stages and products: counts, integers, greys, statistics", "src/image"),
       ("files", "each complete or absent", "src/io src/outputs")]
# The same for what joins the way from the left (in) or leaves it to the right (out), and the step that it meets.
SIDE = [("in", 2, "nb_inputs", "files, through a shared store", "src/inputs src/base/store.h"),
        ("in", 4, "changes", "series, fits, nb_sim_set_parameters", "src/series src/fit src/sim"),
        ("in", 7, "light without steps", "diffuse scattering by tables", "src/light"),
        ("out", 6, "slopes", "planes, pullback, normal equations", "src/derive cuda/slopes"),
        ("out", 7, "reflections", "-truth spots", "src/truth"),
        ("out", 8, "pictures, comparisons", "for people", "src/picture src/analysis")]
WIDTH, STEP, TALL = 940, 74, 52
X = {"in": (10, 230), "way": (290, 360), "out": (700, 230)}  # left edge and width of the columns
FILL = {"in": "#eef3e4", "way": "#e6eef8", "out": "#f8ecdf"}


def middle(step):
    return 16 + TALL / 2 + STEP * step


def box(column, step, title, words, places):
    for place in places.split():
        if not os.path.exists(place):
            sys.exit(f"{__file__}: there is no {place}")
    left, wide = X[column]
    x, y = left + wide / 2, middle(step)
    yield (f'<rect x="{left}" y="{y - TALL / 2}" width="{wide}" height="{TALL}" rx="5" fill="{FILL[column]}" '
           'stroke="#667788"/>')
    for down, size, style, text in ((-10, 13, "font-weight=\"bold\"", title), (5, 11, "", words),
                                    (19, 11, "fill=\"#1f5fb4\" font-family=\"monospace\"", places)):
        yield f'<text x="{x}" y="{y + down}" font-size="{size}" text-anchor="middle" {style}>{text}</text>'


def arrow(x0, y0, x1, y1):
    head = f"{x1 - 5},{y1 - 8} {x1 + 5},{y1 - 8}" if x0 == x1 else f"{x1 - 8},{y1 - 5} {x1 - 8},{y1 + 5}"
    yield f'<line x1="{x0}" y1="{y0}" x2="{x1}" y2="{y1}" stroke="#445566" stroke-width="1.5"/>'
    yield f'<polygon points="{x1},{y1} {head}" fill="#445566"/>'


def drawing():
    left, wide = X["way"]
    for step, row in enumerate(WAY):
        yield from box("way", step, *row)
        if step:
            yield from arrow(left + wide / 2, middle(step - 1) + TALL / 2, left + wide / 2, middle(step) - TALL / 2)
    for column, step, *row in SIDE:
        yield from box(column, step, *row)
        ends = (sum(X["in"]), left) if column == "in" else (left + wide, X["out"][0])
        yield from arrow(ends[0], middle(step), ends[1], middle(step))


height = int(2 * middle(0) + STEP * (len(WAY) - 1))
print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
      'font-family="Helvetica, Arial, sans-serif">\n<title>The way of the data</title>\n'
      '<rect width="100%" height="100%" fill="white"/>', *drawing(), "</svg>", sep="\n")
