# SPDX-License-Identifier: MIT
"""nanobragg view FILE page.html: opens pages in a headless Chromium and uses the mouse.
Screenshots must equal those in tests/cli/pages. They are drawn without letters, which
differ by machine, and compared by the mean colours of 40 x 40 blocks.

usage: NANOBRAGG=program python3 tests/cli/page_check.py [FOLDER]   FOLDER gets the screenshots, FOLDER/blocks new files for tests/cli/pages
"""
import json
import math
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import png  # noqa: E402
from refine_cases import rotation_vector  # noqa: E402
from script import FAILED, ok, read, run  # noqa: E402

SIZE = 200
CRYSTAL = ["-cell", "50", "60", "70", "-default_F", "100", "-N", "12", "-gauss_xtal", "-lambda", "1", "-misset", "10", "20", "30",
           "-fluence", "1e27", "-water", "0.02", "-mosaic", "1", "-mosaic_domains", "40", "-nopgm", "-noint", "-quiet"]
STILL = [*CRYSTAL, "-distance", "100", "-detpixels", SIZE, "-pixel", "0.2"]
TWO = """adu_per_photon = 1
res = 5000
clen = 0.1
photon_energy = 12400
left/min_fs = 0
left/max_fs = 99
left/min_ss = 0
left/max_ss = 199
left/fs = x
left/ss = y
left/corner_x = -110
left/corner_y = -100
right/min_fs = 100
right/max_fs = 199
right/min_ss = 0
right/max_ss = 199
right/fs = x
right/ss = y
right/corner_x = 10
right/corner_y = -100
"""
READY = 'document.body && document.body.dataset.ready === "yes"'
WHERE = 'document.getElementById("where").textContent'


def counts(path):
    """Pixels of an SMV file of 16 bits."""
    data = read(path)
    start = int(re.search(rb"HEADER_BYTES= *(\d+)", data).group(1))
    return struct.unpack(f"<{SIZE * SIZE}H", data[start:start + 2 * SIZE * SIZE])


def brightest(path, *more):
    """Returns h, k, l, fast, slow, photons and the columns `more` of the strongest
    reflection of a list."""
    lines = [line.split("\t") for line in read(path).decode().splitlines() if line[:1] != "#"]
    at = [lines[0].index(name) for name in ("h", "k", "l", "fast", "slow", "intensity", *more)]
    rows = [[float(line[i]) for i in at] for line in lines[1:]]
    return max(rows, key=lambda row: row[5])


def on_screen(page, fast, slow):
    """Position on the screen (x, y) of a point of the image, given in pixels."""
    return page.value(f"(() => {{ const b = canvas.getBoundingClientRect(), p = toScreen({fast}, {slow}); "
                      "return [p[0] / devicePixelRatio + b.left, p[1] / devicePixelRatio + b.top]; })()")


PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")
BLOCKS = 40
LARGEST, RMS = 12, 2  # limits of the largest and rms difference of colours (0 to 255)


def plain(page):
    """Draws no letters, and fixes the size of the picture, which depends on the font."""
    page.value("for (const name of ['fillText', 'strokeText']) CanvasRenderingContext2D.prototype[name] = () => {}; "
               "Object.assign($('stage').style, { flex: 'none', width: '600px', height: '600px' }); 1")
    page.wait("canvas.width === 600 && canvas.height === 600")
    page.value("whole()")


def differs(seen, name):
    """Describes the difference from the stored screenshot; "" if none."""
    path = f"{PAGES}/{name}.png"
    if not os.path.exists(path):
        return f"{path} is missing"
    off = [abs(a - b) for rows in zip(seen, png.pixels(path)) for pair in zip(*rows) for a, b in zip(*pair)]
    largest, rms = max(off), math.sqrt(sum(d * d for d in off) / len(off))
    return f"{largest} levels at most, {rms:.2f} on average" if largest > LARGEST or rms > RMS else ""


def looks(page, name, shots, selector="#stage"):
    seen = page.blocks(selector, BLOCKS, BLOCKS)
    os.makedirs(f"{shots}/blocks", exist_ok=True)
    png.write(f"{shots}/blocks/{name}.png", seen)
    off = differs(seen, name)
    ok(f"looks {name}", not off, off)


def breaks(page, name):
    """The comparison finds changes of the page that a person would see at once."""
    for what, mend in (("view.x += 2; draw()", "whole()"), ("$('map').selectedIndex = 2; draw()", "$('map').selectedIndex = 0; draw()"),
                       ("$('rings').checked = false; draw()", "$('rings').checked = true; draw()"),
                       ("$('high').value = 700; draw()", "$('high').value = 560; draw()"), ("canvas.style.visibility = 'hidden'", "canvas.style.visibility = 'visible'")):
        page.value(what)
        off = differs(page.blocks("#stage", BLOCKS, BLOCKS), name)
        ok(f"seen: {what}", off, "the compared screenshot is the same")
        page.value(mend)


def one_image(folder, shots):
    run(*STILL, "-seed", 1, "-noiseimage", f"{folder}/a.img", "-truth", "spots", "-truthfile", f"{folder}/s.tsv", "-floatfile",
        f"{folder}/a.bin", "-spectrum", "gauss", "-bandwidth", 0.5, "-report", f"{folder}/r.html")
    run("view", f"{folder}/a.img", f"{folder}/a.html", "-spots", f"{folder}/s.tsv", "-pngrings", "4,2.5")
    text = read(f"{folder}/a.html").decode()
    ok("alone", not re.search(r"(src|href)=|https?:|@import|url\(", text), "a page must not load anything")
    spot, pixels = brightest(f"{folder}/s.tsv"), counts(f"{folder}/a.img")
    fast, slow = int(spot[3]), int(spot[4])
    with browser.Page(f"{folder}/a.html") as page:
        page.wait(READY)
        page.mouse(*on_screen(page, fast + 0.5, slow + 0.5))
        said = page.value(WHERE)
        want = [f"fast {fast}, slow {slow}", f"a.img: {pixels[slow * SIZE + fast]}", "h k l " + " ".join(f"{x:.0f}" for x in spot[:3])]
        ok("hover", all(word in said for word in want) and "Å" in said and "2θ" in said, (said, want))
        page.value('document.querySelector("#spots button").click()')
        ok("jump", want[2] in page.value(WHERE) and page.value("view.zoom") >= 12, page.value(WHERE))
        page.key("0")
        before = page.value("view.zoom")
        x, y = map(round, on_screen(page, fast, slow))
        under = "(() => { const b = canvas.getBoundingClientRect(), r = devicePixelRatio; " \
            f"return toImage(({x} - b.left) * r, ({y} - b.top) * r); }})()"
        place = page.value(under)
        page.mouse(x, y, "mouseWheel", deltaX=0, deltaY=-600)
        page.wait(f"view.zoom > 5 * {before}")
        ok("wheel", max(abs(a - b) for a, b in zip(page.value(under), place)) < 0.01, "the pixel under the mouse moved")
        page.key("r")
        ok("keys", page.value('!document.getElementById("rings").checked'))
        page.key("r")
        page.key("0")
        page.settle()
        page.picture(f"{shots}/page.png")
        ink = page.value("(() => { const d = context.getImageData(0, 0, canvas.width, canvas.height).data; const s = new Set(); "
                         "for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size; })()")
        ok("drawn", ink > 20, f"{ink} colours")
        ok("words", page.value('[...document.querySelectorAll("canvas")].every(c => c.getAttribute("aria-label"))') and
           "a.img" in page.value("document.title") and "0.2 x 0.2 mm" in page.value('document.getElementById("facts").textContent'))
        plain(page)
        looks(page, "page", shots)
        breaks(page, "page")
        page.value(f"$('map').selectedIndex = 3; $('law').selectedIndex = 2; Object.assign(view, {{ x: {fast}, y: {slow}, zoom: 20 }}); draw()")
        looks(page, "zoomed", shots)
        ok("console", not page.said, page.said)


def a_run(folder, shots):
    """The page that -report page.html made with the image a.bin."""
    data = read(f"{folder}/a.bin")
    values = struct.unpack(f"<{len(data) // 4}f", data)
    at = values.index(max(values))
    with browser.Page(f"{folder}/r.html", height=1600) as page:
        page.wait(READY)
        page.mouse(*on_screen(page, at % SIZE + 0.5, at // SIZE + 0.5))
        said = page.value(WHERE)
        ok("photons", abs(float(re.search(r"photons: ([-0-9.e+]+)", said).group(1)) / values[at] - 1) < 2e-3, (said, values[at]))
        ok("report", page.value("Object.fromEntries([...$('report').rows].map(r => [r.cells[0].textContent, r.cells[1].textContent]))"
                                ".seed") == "1" and "cell 50 60 70" in page.value("$('report').textContent"))
        drawn = page.value("['histogram', 'radial', 'plot0', 'factors'].map(id => { const c = $(id); return c.getContext('2d')"
                           ".getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length; })")
        ok("plots", min(drawn) > 500, drawn)
        ok("energies", page.value("(p => p.length > 3 && Math.abs(p[p.length >> 1][0] - 12398.42) < 62)(spectrum()[0].points)"))
        page.value("const heard = []; navigator.clipboard.writeText = async text => { heard.push(text); }; $('copy-command').click()")
        ok("copy", "-bandwidth 0.5" in page.value("heard[0]") and page.value("$('copied-command').textContent") == "copied")
        page.picture(f"{shots}/run.png")
        plain(page)
        page.value("plotted = null; plots()")
        looks(page, "radial", shots, "#radial")
        looks(page, "spectrum", shots, "#plot0")
        ok("console of a run", not page.said, page.said)


def a_table(folder, shots):
    """The plot of F^2 against resolution has the whole table, also outside the image."""
    edges, max_index, shells = (50, 60, 70), 8, 30
    listed = {(h, k, l): 10 + (7 * h + 3 * k + l) % 23 + 300 * math.exp(-0.02 * (h * h + k * k + l * l))
              for h in range(max_index + 1) for k in range(-max_index, max_index + 1) for l in range(-max_index, max_index + 1) if (h, k, l) > (0, 0, 0)}
    with open(f"{folder}/t.hkl", "w", encoding="ascii") as out:
        out.write("".join(f"{h} {k} {l} {F!r}\n" for (h, k, l), F in listed.items()))
    run(*STILL, "-default_F", 0, "-hkl", f"{folder}/t.hkl", "-nodump", "-detpixels", 64, "-truth", "spots", "-truthfile", f"{folder}/t.tsv", "-nofloat",
        "-report", f"{folder}/t.html")
    square = {hkl: sum((i / edge) ** 2 for i, edge in zip(hkl, edges)) for hkl in listed}
    far, sums = max(square.values()), [[0, 0] for _ in range(shells)]
    for hkl, F in listed.items():
        shell = sums[min(shells - 1, int(square[hkl] / far * shells))]
        shell[0] += F * F
        shell[1] += 1
    with browser.Page(f"{folder}/t.html") as page:
        page.wait(READY)
        points = page.value("meta.shells")
        off = [abs(p[1] / s[0] - 1) + abs(p[2] - s[1]) for p, s in zip(points, sums) if s[1]]
        ok("F of the whole table", len(points) == shells and len(off) > 25 and max(off) < 1e-6 and abs(points[-1][0] / far - 59 / 60) < 1e-9, (max(off), points))
        drawn = page.value("(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length)($('factors'))")
        ok("F drawn", drawn > 500 and page.value("!$('factors-part').hidden && !$('plot0')"), drawn)
        plain(page)
        page.value("factors()")
        looks(page, "factors", shots, "#factors")
        ok("console of a table", not page.said, page.said)


def two_images(folder, shots):
    run(*STILL, "-seed", 2, "-noiseimage", f"{folder}/b.img", "-nofloat")
    lines = run("compare", f"{folder}/a.img", f"{folder}/b.img", "-threshold", "none", "-report", f"{folder}/ab.html")[0].splitlines()
    a, b = counts(f"{folder}/a.img"), counts(f"{folder}/b.img")
    at = max(range(len(a)), key=lambda i: a[i] - b[i])
    with browser.Page(f"{folder}/ab.html") as page:
        page.wait(READY)
        names = []
        for _ in range(3):
            names.append(page.value('canvas.getAttribute("aria-label")').split(",")[0].split("/")[-1])
            page.key("b")
        ok("blink", names == ["a.img", "b.img", "a.img"], names)
        page.value('$("show").selectedIndex = 2, $("show").oninput()')
        ok("difference", page.value(f"[image.name, image.pixels[{at}]]") == ["difference", a[at] - b[at]])
        page.picture(f"{shots}/difference.png")
        rows = page.value("[...$('report').rows].map(r => [...r.cells].map(c => c.textContent))")
        ok("lines", [row[1] for row in rows] == [line[12:] for line in lines] and rows[-1] == ["result", "passed"], rows)
        page.key("s")
        ok("side by side fits", page.value("Math.abs(view.zoom - Math.min(panes()[0].width / image.fast, canvas.height / image.slow)) < 1e-9"))
        for x, y in (page.value(f"(() => {{ const p = pane; pane = panes()[{k}]; const b = canvas.getBoundingClientRect(), at = "
                                f"toScreen({at % SIZE} + 0.5, {at // SIZE} + 0.5); pane = p; return [at[0] + b.left, at[1] + b.top]; }})()")
                     for k in (0, 1)):
            page.mouse(x, y)
            ok("side by side", f"fast {at % SIZE}, slow {at // SIZE} · a.img: {a[at]} · b.img: {b[at]}" in page.value(WHERE), page.value(WHERE))
        place = page.value("view.zoom")
        page.mouse(x, y, "mouseWheel", deltaX=0, deltaY=-600)
        page.wait(f"view.zoom > 5 * {place}")
        page.settle()
        halves = page.value("(d => panes().map(p => [p.of.name, p.width, d[4 * (p.left + (p.width >> 1)) + 3]]))"
                            "(context.getImageData(0, canvas.height >> 1, canvas.width, 1).data)")
        ok("halves", [h[0] for h in halves] == ["a.img", "b.img"] and all(h[1] > 300 and h[2] == 255 for h in halves), halves)
        page.picture(f"{shots}/beside.png")
        page.value("images[1].knee *= 2; choose(1); plotted = null; window.drawn = {}; const drawing = plot; "
                   "plot = (id, curves) => { drawn[id] = Math.max(...curves[0].xs); }; plots(); plot = drawing; 1")
        part = page.value("drawn.histogram / images[1].knee")
        ok("range of a histogram", 0.95 < part < 1.05, part)
        plain(page)
        page.value("choose(2)")
        looks(page, "difference", shots)
        ok("console of two", not page.said, page.said)
    with browser.Page(f"{folder}/ab.html", colours="dark") as page:
        page.wait(READY)
        page.key("s")
        page.picture(f"{shots}/dark.png")
        rims = page.value("(rims => { context.strokeText = () => rims.push(context.strokeStyle); paint(); return rims; })([])")
        ok("names in the dark", rims == ["#15181c"] * 2, rims)
        plain(page)
        looks(page, "dark", shots)


# JavaScript function: calls `draw` and returns the texts that it draws.
WORDS = "(draw => { const said = [], own = CanvasRenderingContext2D.prototype, fill = own.fillText; " \
    "own.fillText = function (t) { said.push(t); fill.apply(this, arguments); }; draw(); own.fillText = fill; return said; })"


def a_fit(folder, shots):
    """The page of refine -report has the image, and the model before and after it."""
    start = [*CRYSTAL, "-distance", 100, "-detpixels", SIZE, "-pixel", "0.2", "-fluence", "5e26", "-misset", "10.05", "20", "30", "-oversample", 2]
    words = ("refine", f"{folder}/a.img", *start, "-schedule", "none", "-refine", "scale,rot", "-report", f"{folder}/fit.html")
    words = [w for w in words if w not in ("-nopgm", "-noint", "-quiet")]
    out, error = run(*words, status=None)
    after = re.search(r"fluence +\S+ +(\S+)", out).group(1)
    with browser.Page(f"{folder}/fit.html", height=1600) as page:
        page.wait(READY)
        ok("fit", page.value("shown.map(i => i.name)") == ["measured", "before", "after", "measured - before", "measured - after"])
        off = page.value("shown.slice(3).map(i => { let s = 0; for (const v of i.pixels) if (v === v) s += v * v; return s; })")
        ok("fit is better", off[1] < 0.8 * off[0], off)
        rows = page.value("[...$('report').rows].map(r => [...r.cells].map(c => c.textContent))")
        ok("fit table", ["result", "converged"] in rows and ["fluence", "5e+26", after] in [row[:3] for row in rows], rows)
        ok("fit flags", re.match(rf"-fluence {re.escape(after)} -misset ([-0-9.]+ ){{3}}$", page.value("meta.flags")), page.value("meta.flags"))
        page.key("s")
        widths = page.value("panes().map(p => [p.of.name, p.width])")
        ok("fit beside", [w[0] for w in widths] == ["measured", "before", "after"] and widths[2][1] > 200, widths)
        page.picture(f"{shots}/fit.png")
        drawn = page.value("['plot0', 'plot1'].map(id => { const c = $(id); return c.getContext('2d')"
                           ".getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length; })")
        ok("fit plots", min(drawn) > 500, drawn)
        ok("fit legend", page.value(WORDS + "(histogram)")[-3:] == ["measured", "before", "after"])
        scale = page.value(WORDS + "(radial)")
        ok("fit scale", page.value("images[1].rings.ys = images[1].rings.ys.map(v => 100 * v); " + WORDS + "(radial)") == scale, scale)
        plain(page)
        looks(page, "fit", shots)
        ok("console of a fit", not page.said, page.said)


def fits(folder, shots):
    """The page of a joint refinement has each image before and after, the common
    parameters, and the values of each image."""
    start = [w for w in CRYSTAL if w not in ("-nopgm", "-noint", "-quiet")]
    words = ["refine", f"{folder}/a.img", f"{folder}/none.img", f"{folder}/b.img", *start, "-distance", 100, "-detpixels", SIZE, "-pixel", "0.2",
             "-cell", "50.02", "60", "70", "-fluence", "5e26", "-misset", "10.05", "20", "30", "-schedule", "none", "-refine", "scale,rot,cell_a", "-oversample", 2]
    out, error = run(*words, "-joint", "cell_a", "-report", f"{folder}/fits.html", status=None)
    edge = re.search(r"cell_a +\S+ +(\S+) +(\S+)", out)
    with browser.Page(f"{folder}/fits.html", height=1600) as page:
        page.wait(READY)
        table = "(id => [...$(id).rows].map(r => [...r.cells].map(c => c.textContent)))"
        rows = page.value(f"{table}('all')")
        ok("common parameters", ["cell_a", "50.02", edge.group(1), edge.group(2), "A"] in rows and ["pictures", "2, and 1 left out"] in rows, rows)
        listed = page.value("[...$('fits').querySelector('table').rows].slice(1).map(r => [r.cells[0].textContent, !!r.querySelector('button'), r.cells[3].textContent])")
        ok("pictures of a fit", [row[:2] for row in listed] == [["a.img", True], ["none.img", False], ["b.img", True]] and "left out" in listed[1][2], listed)
        better = "shown.slice(3).map(i => { let s = 0; for (const v of i.pixels) if (v === v) s += v * v; return s; })"
        off = [page.value(better)]
        page.key("s")
        page.key("]")
        page.wait('document.body.dataset.frame === "1"')
        off.append(page.value(better))
        ok("fits are better", all(after < 0.9 * before for before, after in off), off)
        ok("another picture", page.value("[$('frame-name').textContent, beside.map(i => i.name)]") == ["b.img", ["measured", "before", "after"]] and
           page.value("[...images[0].pixels]") == [v - 40 for v in counts(f"{folder}/b.img")])
        said = page.value(f"{table}('report')")
        ok("lines of a picture", [r[0] for r in said[:3]] == ["result", "deviance", "correlation"] and said[-1][0] == "misset_z" and
           re.match(rf"-cell {re.escape(edge.group(1))} 60 70 90 90 90 -fluence \S+ -misset ([-0-9.]+ ){{3}}$", page.value("meta.flags")), (said, page.value("meta.flags")))
        turns, found = page.value("fits.map(f => f.values[1])"), [float(row[2]) for row in said[-3:]]
        ok("turns", turns[1] is None and turns[0] > 0 and abs(turns[2] - math.hypot(*rotation_vector([10.05, 20, 30], found))) < 1e-4, (turns, found))
        inked = "[0, 1, 2].map(k => { const c = $('fits' + k); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length; })"
        page.value("plots()")
        ok("plots by picture", min(page.value(inked)) > 500)
        page.picture(f"{shots}/fits.png")
        page.value("document.querySelector('#fits button').click()")
        page.wait('document.body.dataset.frame === "0"')
        ok("jump to a picture", page.value("[$('frame-name').textContent, $('frame').value]") == ["a.img", "0"])
        plain(page)
        page.value("plotFits()")
        looks(page, "fits", shots)
        looks(page, "deviances", shots, "#fits0")
        ok("console of fits", not page.said, page.said)
    run(*words, "-report", f"{folder}/one.html", "-page_frames", "2-2", status=3)
    text = read(f"{folder}/one.html").decode()
    shown = [entry["name"] for entry in map(json.loads, re.findall(r'class="fitted">(.*?)</script>', text, re.S)) if entry["on_page"]]
    ok("chosen pictures", shown == ["b.img"] and "3, each by itself" in text and "1 of 3 pictures; -page_frames a-b chooses others" in text and len(json.loads(re.search('id="meta2_">(.*?)</script>', text, re.S).group(1))["images"]) == 3, shown)


def frames(folder, shots):
    run(*STILL, "-seed", 3, "-stills", 3, "-hdf5", f"{folder}/m.h5", "-hdf5type", "int32", "-nofloat", status=None)
    if not os.path.exists(f"{folder}/m.h5"):
        print("skip page frames # this build has no HDF5")
        return
    run("view", f"{folder}/m.h5", f"{folder}/f.html", "-frames", 0, 2)
    with browser.Page(f"{folder}/f.html") as page:
        page.wait(READY)
        first = page.value("[...image.pixels]")
        page.value("$('frame').value = 2, $('frame').oninput()")
        ok("slider", page.value("image.name") == "frame 2" and page.value("[...image.pixels]") != first)
        page.key("[")
        ok("frame key", page.value("[image.name, $('frame').value, $('frame-name').textContent]") == ["frame 1", "1", "frame 1"])
        page.picture(f"{shots}/frames.png")
        plain(page)
        looks(page, "frame", shots)
        ok("console of frames", not page.said, page.said)
    one = TWO[TWO.index("left/"):TWO.index("right/")].replace("max_fs = 99", "max_fs = 199").replace("-110", "-100")
    with open(f"{folder}/one.geom", "w", encoding="ascii") as out:
        out.write(TWO[:TWO.index("left/")].replace("clen = 0.1", "clen = 0.123") + one)
    run("view", f"{folder}/m.h5", f"{folder}/f.html", "-frames", 0, 1, "-geom", f"{folder}/one.geom")
    lines = run("compare", f"{folder}/m.h5:0", f"{folder}/m.h5:1", "-geom", f"{folder}/one.geom", "-threshold", "none", "-report", f"{folder}/c.html")[0]
    ok("no name of a single panel", "panel" not in lines, lines)
    for name in ("f", "c"):
        plane = json.loads(re.search(r'id="meta">(.*?)</script>', read(f"{folder}/{name}.html").decode(), re.S).group(1))["plane"]
        ok("images on a panel of a file", abs(plane["origin"][2] - 0.123) < 1e-9 and plane["pixel"] == [0.0002, 0.0002], plane)


def panels_and_floats(folder, shots):
    with open(f"{folder}/two.geom", "w", encoding="ascii") as out:
        out.write(TWO)
    run("-geom", f"{folder}/two.geom", *CRYSTAL, "-seed", 1, "-floatfile", f"{folder}/p.bin", "-nonoise", "-truth", "spots", "-truthfile", f"{folder}/p.tsv")
    run("view", f"{folder}/p.bin", f"{folder}/p.html", "-geom", f"{folder}/two.geom", "-spots", f"{folder}/p.tsv")
    data = read(f"{folder}/p.bin")
    values = struct.unpack(f"<{len(data) // 4}f", data)
    with browser.Page(f"{folder}/p.html") as page:
        page.wait(READY)
        x, y = page.value('(() => { const p = meta.panels[1], at = meet(plane, add(add(p.origin, p.fast, 40.5 * p.pixel[0]), p.slow, '
                          '70.5 * p.pixel[1])); const b = canvas.getBoundingClientRect(), s = toScreen(...at); '
                          'return [s[0] / devicePixelRatio + b.left, s[1] / devicePixelRatio + b.top]; })()')
        page.mouse(x, y)
        said = page.value(WHERE)
        shown = float(re.search(r"p\.bin: ([-0-9.e+]+)", said).group(1))
        want = values[SIZE * 100 + 70 * 100 + 40]  # panel 1 follows 200 rows of 100 pixels
        ok("panel", "panel right (40, 70)" in said and abs(shown / want - 1) < 2e-3, (said, want))
        h, k, l, fast, slow, _, panel = brightest(f"{folder}/p.tsv", "panel")
        page.value('document.querySelector("#spots button").click()')
        said, want = page.value(WHERE), f"panel {('left', 'right')[int(panel)]} ({int(fast)}, {int(slow)})"
        ok("spot of a panel", f"h k l {h:.0f} {k:.0f} {l:.0f}" in said and want in said, (said, want))
        page.value("picked = null; whole()")
        ok("gap", page.value("image.pixels.some(v => v === 0)"))
        page.picture(f"{shots}/panels.png")
        plain(page)
        page.value("$('panels').checked = true; draw()")
        looks(page, "panels", shots)
        ok("console of panels", not page.said, page.said)


def refusals(folder):
    run(*STILL, "-detpixels", 64, "-nofloat", "-noiseimage", f"{folder}/small.img")
    error = run(*STILL, "-stills", 2, "-output", f"{folder}/s_%d.img", "-report", f"{folder}/x.html", "-nofloat", status=2)[1]
    ok("refused series", "nanobragg view MASTER.h5" in error and not os.path.exists(f"{folder}/s_1.img"), error)
    fit = ["refine", f"{folder}/a.img", f"{folder}/a.img", *CRYSTAL[:-3], "-detpixels", SIZE, "-distance", 100, "-pixel", "0.2", "-refine", "scale"]
    for more, text in ((("-report", f"{folder}/x.html", "-page_frames", "1-2"), "the pictures are 0 to 1"),
                       (("-report", f"{folder}/x.html", "-page_frames", "1"), "type the first and the last number"),
                       (("-report", f"{folder}/x.json", "-page_frames", "0-1"), "chooses images of -report page.html")):
        error = run(*fit, *more, status=2)[1]
        ok("refused fits", text in error, error)
    for name, words, text in (("png", ("x.png", "-with", f"{folder}/a.img"), "-with needs a page"),
                              ("size", ("x.html", "-with", f"{folder}/small.img"), "one size"),
                              ("frames", ("x.html", "-frames", 0, 99), "up to 64 frames"),
                              ("report", None, "name it something.html"),
                              ("list", ("x.html", "-spots", f"{folder}/a.img"), "a.img")):
        words = ("view", f"{folder}/a.img", f"{folder}/{words[0]}", *words[1:]) if words else \
            ("compare", f"{folder}/a.img", f"{folder}/a.img", "-report", f"{folder}/x.json")
        error = run(*words, status=2)[1].splitlines()
        left = [file for file in os.listdir(folder) if file[:2] == "x."]
        ok(f"refused {name}", len(error) == 1 and text in error[0] and not left, (error, left))


def main():
    shots = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        reason = browser.missing()
        if reason:
            print(f"skip page # {reason}")
            run(*STILL, "-seed", 1, "-noiseimage", f"{folder}/a.img", "-nofloat")
        else:
            one_image(folder, shots or folder)
            a_run(folder, shots or folder)
            a_table(folder, shots or folder)
            two_images(folder, shots or folder)
            a_fit(folder, shots or folder)
            fits(folder, shots or folder)
            panels_and_floats(folder, shots or folder)
            frames(folder, shots or folder)
        refusals(folder)


if __name__ == "__main__":
    main()
    sys.exit(1 if FAILED else 0)
