# SPDX-License-Identifier: MIT
"""A page in headless Chromium, controlled through a pipe of remote debugging."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


# Flags to try in turn: if a container forbids a step of the browser's start, the next flags avoid the step.
WAYS = ((), ("--no-zygote",), ("--no-zygote", "--single-process"))

# JavaScript: mean colours of blocks of a screenshot. The browser runs this code, because Python would take a second.
MEANS = """async (data, columns, rows) => {
  const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0)), image = await createImageBitmap(new Blob([bytes]));
  const w = image.width, h = image.height, context = new OffscreenCanvas(w, h).getContext("2d");
  context.drawImage(image, 0, 0);
  const seen = context.getImageData(0, 0, w, h).data, sums = new Array(3 * columns * rows).fill(0), n = new Array(columns * rows).fill(0);
  for (let i = 0; i < w * h; i++) {
    const k = Math.floor(Math.floor(i / w) * rows / h) * columns + Math.floor(i % w * columns / w);
    for (let c = 0; c < 3; c++) sums[3 * k + c] += seen[4 * i + c];
    n[k]++;
  }
  return sums.map((sum, k) => Math.round(sum / n[Math.floor(k / 3)]));
}"""


def program():
    """Name of the browser; None if it is not installed."""
    names = ("chromium", "chromium-headless-shell", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


def missing():
    """Returns the reason why this machine cannot open a page, or None. Chooses the flags
    of later pages (Page.way)."""
    if not program():
        return "no Chromium (Debian package chromium)"
    for Page.way in WAYS:
        try:
            with Page("/dev/null", seconds=20) as page:
                if page.value("20 + 1") == 21:
                    return None
        except (RuntimeError, OSError) as error:
            reason = str(error)
    return f"Chromium does not start here: {reason}"


class Page:
    """A page, opened by `with Page(path, width, height) as page`. page.said holds the text
    of the console; colours is "light" or "dark"."""
    way = WAYS[0]

    def __init__(self, path, width=1200, height=800, seconds=60, colours="light"):
        self.path, self.size, self.limit, self.colours = os.path.abspath(path), (width, height), seconds, colours
        self.said, self.number, self.rest, self.session = [], 0, b"", None

    def __enter__(self):
        self.start()
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        self.folder = tempfile.mkdtemp()
        self.log = open(os.path.join(self.folder, "stderr"), "w+b")
        to_child, ours_out = os.pipe()
        ours_in, from_child = os.pipe()

        def give():  # makes the pipes descriptors 3, from which the browser reads, and 4, to which it writes
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        words = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                 "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions", "--force-color-profile=srgb",
                 f"--window-size={self.size[0]},{self.size[1]}", f"--user-data-dir={self.folder}/user",
                 "--remote-debugging-pipe", *self.way]
        self.child = subprocess.Popen(words, close_fds=False, preexec_fn=give, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=self.log)
        os.close(to_child)
        os.close(from_child)
        self.out, self.into = ours_out, ours_in

    def open(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1,
                 mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": self.colours}])
        self.ask("Page.navigate", url="file://" + self.path)

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        os.close(self.out)
        os.close(self.into)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, **parameters):
        self.number += 1
        call = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        try:
            os.write(self.out, json.dumps(call).encode() + b"\0")
        except BrokenPipeError:
            raise RuntimeError(self.why_it_ended()) from None
        end = time.time() + self.limit
        while time.time() < end:
            answer = self.hear()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"{method}: no answer")

    def why_it_ended(self):
        try:
            status = self.child.wait(10)
        except subprocess.TimeoutExpired:
            status = "none"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return f"it ended (exit status {status}): {' | '.join(lines[-3:])[:400]}"

    def hear(self):
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], self.limit)[0]:
                raise RuntimeError(f"no word from the browser for {self.limit} s")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError(self.why_it_ended())
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        answer = json.loads(text)
        if answer.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.said.append(json.dumps(answer["params"])[:400])
        return answer

    def value(self, expression):
        """Value of an expression in the page. If the value is a promise, waits for its result."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"])[:400])
        return result["result"].get("value")

    def wait(self, expression):
        """Waits until the expression is true; returns the seconds."""
        start = time.time()
        while not self.value(expression):
            if time.time() - start > self.limit:
                raise RuntimeError(f"not within {self.limit} s: {expression}")
            time.sleep(0.05)
        return time.time() - start

    def mouse(self, x, y, kind="mouseMoved", **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, text=name if kind == "keyDown" and len(name) == 1 else "")

    def settle(self):
        """Waits until the requested picture is drawn."""
        self.value("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame)).then(() => 1)")

    def blocks(self, selector, columns, rows):
        """Mean colours (red, green, blue) of blocks of an element on the screen: `rows`
        lists of `columns` blocks."""
        self.settle()
        box = self.value(f"(b => [b.left, b.top, b.width, b.height])(document.querySelector('{selector}').getBoundingClientRect())")
        clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
        data = self.ask("Page.captureScreenshot", format="png", clip=clip)["data"]
        means = self.value(f"({MEANS})('{data}', {columns}, {rows})")
        return [[tuple(means[3 * k:3 * k + 3]) for k in range(columns * y, columns * (y + 1))] for y in range(rows)]

    def picture(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
