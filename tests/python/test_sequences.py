# SPDX-License-Identifier: MIT
"""Random calls on one object: it gives the same bytes as a fresh object with the final values.

python3 tests/python/test_sequences.py FIRST COUNT [--false] [--all]: trials FIRST to FIRST + COUNT - 1; a number always gives the
same calls.  --false: also sets shapes to False, and keywords to None.  --all: continues after a failure, and counts the kinds."""
import copy
import json
import os
import pickle
import random
import re
import sys
import time

import numpy as np
import pytest

import nanobragg as nb
from sequence_words import *


def draw(number):
    rng = random.Random(number)
    base = draw_base(rng)
    for name in [n for n in base if n not in KEPT][::-1]:  # some keywords exclude others: use fewer
        if not attempt(Model(base).fresh)[1]:
            break
        base.pop(name)
    return base, [draw_call(rng, base) for _ in range(rng.choice([1, 2, 2, 3, 3, 4, 5, 6]))]


# --- the model: knows the right results
# ------------------------------------------------------------------------------------
class Failure(Exception):
    """Arguments: (name of the check, what was seen)."""


class NoRule(Exception):
    """The new scene does not have the parameters of values in force: the trial ends."""


class Model:
    """The final state of the object. words: {keyword: Python source}; force: values in
    force by set_parameters and set(F=...), in order."""

    def __init__(self, words):
        self.words, self.force, self.stale = dict(words), [], False
        self.start, self.later = [], []  # values in force, by call: before set(), after it
        self.disk, self.seen, self.folder = dict.fromkeys(TEXTS, 0), dict.fromkeys(TEXTS, 0), ""
        self.seen_in = ""

    def with_words(self, words):
        new = copy.copy(self)
        new.words, new.force, new.seen, new.stale = dict(self.words), list(self.force), dict(self.seen), False
        for name, value in words.items():
            new.words.pop(name, None)
            new.words.pop({"sources": "sourcefile", "sourcefile": "sources"}.get(name), None)
            if value != "None":
                new.words[name] = value
            for file in TEXTS:
                if f"'{file}'" in value:
                    new.seen[file] = self.disk[file]
            if name in FACTORS:
                new.force = [x for x in new.force if x[0] != "F" and not x[0].startswith("F:")]
            new.force = [x for x in new.force if not any(x[0].startswith(start) for start in ENDS.get(name, []))
                         or x[0].startswith("mosaic_")]
        new.start = [[x for x in run if any(x is y for y in new.force)] for run in self.start + self.later]
        new.later = []
        return new

    def has_rule(self, words):
        return not any(value.startswith(starts) and name in names
                       for name in words for value, _ in self.force for starts, names in OPEN)

    def with_values(self, values):
        new = copy.copy(self)
        given = list(values.items())
        new.force = [x for x in self.force if x[0] not in values] + given
        new.later = [*self.later, given]
        new.stale = False
        return new

    def with_F(self, F):
        new = copy.copy(self)
        given = [("F", F)]
        new.force = [x for x in self.force if x[0] != "F" and not x[0].startswith("F:")] + given
        new.later = [*self.later, given]
        new.stale = False
        return new

    def is_fresh(self):
        """True if the named files have the content that the object read."""
        return all(self.disk[n] == self.seen[n] for n in TEXTS if any(n in v for v in self.words.values())) and (
            self.folder == self.seen_in or "'x.hkl'" not in self.words.values())

    def fresh(self):
        """Simulation(**words), with files that have the content that the object read."""
        odd = [n for n in TEXTS if self.disk[n] != self.seen[n]]
        for name in odd:
            put(name, self.seen[name])
        os.chdir(W + self.seen_in)
        try:
            return nb.Simulation(**{n: eval(v) for n, v in self.words.items()})
        finally:
            os.chdir(W + self.folder)
            for name in odd:
                put(name, self.disk[name])

    def build(self, ways=0):
        """A fresh object with the values in force. ways: 0 sets all in one call, 1 one by
        one; 2 and 3 repeat the calls, but 2 joins those before the last set(). All ways are
        right: the rules do not say when numbers of steps are fixed."""
        sim = self.fresh()
        for run in ([self.force], [[x] for x in self.force], [sum(self.start, []), *self.later], self.start + self.later)[ways]:
            values = {}
            for name, value in [*run, ("F", None)]:
                if name != "F":
                    values[name] = value
                    continue
                if values:
                    sim.set_parameters(values)
                if value is not None:
                    sim.set(F=value)
                values = {}
        return sim


    def built(self):
        """Yields right objects: build() in all ways that are no error."""
        count = 0
        for ways in range(4 if self.force else 1):
            sim, error = attempt(lambda: self.build(ways))
            if error is None:
                count += 1
                yield sim
        if count == 0:
            raise NoRule(error)


def attempt(call):
    """(result, None), or (None, type and line of its error)."""
    try:
        return call(), None
    except Exception as e:  # some lines have the number of spots of the last reflections()
        return None, re.sub(r", and the last reflections\(\) had \d+", "", f"{type(e).__name__}: {named(str(e))}")


NAMES = [n for n in nb.parameters() if not nb.parameters()[n]["flags"] & nb._nanobragg.SERIES]
GROUPS = "misset,rot,cell,N,mosaic,phi,osc,lambda,fluence,default_F,polar,shift,water,fudge"


def values_of(sim):
    return {name: repr(sim.parameter(name)["value"]) for name in sim.variables(GROUPS)}


def plain(sim):
    config = sim.config
    for gone in ("times", "backend"):
        config.pop(gone, None)
    return json.loads(named(json.dumps(config)))


def named(text):
    """Text with BLOCKS in place of names of temporary files of mosaic blocks."""
    return re.sub(r"/[^\" ]*/tmp\w+\.blocks", "BLOCKS", text)


LOOKS = {"image": lambda sim: sim.render().tobytes(), "config": plain,
         "get": lambda sim: {**{name: sim.get(name) for name in NAMES}, "mosaic_blocks": named(sim.get("mosaic_blocks"))},
         "parameter": values_of,
         "factors": lambda sim: [x.tobytes() for x in sim.factors()], "reflections": lambda sim: sim.reflections().tobytes()}


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in {**a, **b} if a.get(key) != b.get(key) for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, bytes) and isinstance(b, bytes):
        if len(a) != len(b) or len(a) % 4:
            return ["other bytes"]
        x, y = np.frombuffer(a, "f4"), np.frombuffer(b, "f4")
        with np.errstate(all="ignore"):
            return [f"sums {x.sum():.7g} {y.sum():.7g}, off by {np.nanmax(np.abs(x - y)) / np.nanmax(np.abs(y)):.2g}"]
    return [f"{path[1:]}: {str(a)[:90]} {str(b)[:90]}"]


def compare(check, a, b, looks=LOOKS):
    for name, look in looks.items():
        one, two = attempt(lambda: look(a)), attempt(lambda: look(b))
        if one != two:
            seen = differences(one[0], two[0]) if one[1] == two[1] else [str(one[1]), str(two[1])]
            raise Failure(f"{check}: {name}", "; ".join(seen[:3]))


def as_bytes(value):
    """The value with arrays as bytes, to be compared with ==."""
    if isinstance(value, dict):
        return {name: as_bytes(its) for name, its in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_bytes(one) for one in value]
    return value.tobytes() if hasattr(value, "tobytes") else repr(value)


def snapshot(sim):
    return {name: attempt(lambda: LOOKS[name](sim)) for name in ("image", "config", "get", "parameter")}


def unchanged(check, sim, before):
    after = snapshot(sim)
    for name in before:
        if before[name] != after[name]:
            raise Failure(f"{check}: {name}", "; ".join(differences(before[name][0], after[name][0])[:3]))


class Trial:
    """One object s and its calls. m: model of s; lines: script that repeats the calls."""

    def __init__(self, base):
        self.m, self.kept, self.lines, self.done = Model(base), [], [], 0
        for name in TEXTS:
            put(name, 0)
        os.chdir(W)
        self.s = self.m.fresh()
        self.say("s = nb.Simulation(" + ", ".join(f"{n}={v}" for n, v in base.items()) + ")")

    def say(self, line):
        self.lines.append(line)

    def do(self, text):
        self.say(text)
        names = {**globals(), "s": self.s}
        return attempt(lambda: eval(text, names))

    def must(self, text, error, new, errors=()):
        """Makes a call: without `error` it must succeed, and the model becomes `new`;
        otherwise it must raise `error` or one of `errors`, and change nothing."""
        self.done += 1
        if error is None:
            result, seen = self.do(text)
            if seen:
                raise Failure("refused: " + text.split("(")[0], seen)
            self.m = new
            return result
        before = snapshot(self.s)
        _, seen = self.do(text)
        if seen != error and seen not in errors:
            raise Failure("accepted" if seen is None else "another line", f"{seen}; a fresh object: {error}")
        unchanged("after a refused call", self.s, before)
        return None

    def set(self, words):
        if not self.m.has_rule(words) or not (self.m.is_fresh() or self.keeps_files(words)):
            return
        new = self.m.with_words(words)
        _, error = attempt(new.fresh)
        if error is None and new.force and attempt(new.build)[1]:
            return  # the scene does not have the parameters of the values in force
        self.must("s.set(" + ", ".join(f"{n}={v}" for n, v in words.items()) + ")", error, new)

    def keeps_files(self, words):
        return not any(name in FACTORS or name == "crystals" for name in words) and (
            not any(name in VALUES["files"] or "W +" in v for name, v in words.items())
            or all(f"'{n}'" in "".join(words.values()) for n in TEXTS if self.m.disk[n] != self.m.seen[n]))

    def setF(self, what):
        words, text = what
        if not self.m.has_rule(words) or not self.m.is_fresh():
            return
        if "s." in text:
            return  # s has the F of another configuration
        new = self.m.with_words(words)
        sim, error = attempt(new.build)
        if error and attempt(new.fresh)[1] != error:
            return
        F = None
        if sim:
            F, error = attempt(lambda: self.given(sim, text))
        self.must("s.set(" + ", ".join(f"{n}={v}" for n, v in words.items()) + f", F={text})", error,
                  new if error else new.with_F(F))

    @staticmethod
    def given(sim, text):
        sim.set(F=eval(text, {**globals(), "s": sim}))
        return sim.factors()[1]

    def F(self, what):
        text, renders = what
        each = [attempt(lambda: self.given(sim, text)) for sim in self.m.built()]
        F, error = each[0]
        errors = [e for _, e in each]
        if error is None and any(errors):
            return
        count = attempt(lambda: len(self.s.factors()[1]))[0]  # the number of F depends on earlier calls
        F = next((one for one, _ in each if one is not None and len(one) == count), F)
        self.must(f"s.{'render' if renders else 'set'}(F={text})", error, self.m if error else self.m.with_F(F), errors)

    def values(self, values):
        if "osc" in values and not ("osc" in self.m.words and "phisteps" in self.m.words):
            return  # a later call may fix the number of steps
        sim = next(self.m.built())
        _, error = attempt(lambda: sim.set_parameters(values))
        self.must(f"s.set_parameters({values})", error, self.m if error else self.m.with_values(values))

    def same(self, name):
        if name == "osc":
            return
        sim = next(self.m.built())
        value, error = attempt(lambda: sim.parameter(name)["value"])
        if error or attempt(lambda: sim.set_parameters({name: value}))[1]:
            return
        before = attempt(lambda: LOOKS["image"](self.s))
        self.must(f"s.set_parameters({{'{name}': s.parameter('{name}')['value']}})", None, self.m.with_values({name: value}))
        after = attempt(lambda: LOOKS["image"](self.s))
        if before != after:
            raise Failure("the same value moves", "; ".join(differences(before[0], after[0])) + f" {name}")

    def fold(self, _):
        sim, turned = next(self.m.built()), any(n.startswith("rot_") and n[4] in "xyz" and v for n, v in self.m.force)
        _, error = attempt(sim.fold_rotation)
        names = sim.variables("misset,rot")
        self.must("s.fold_rotation()", error,
                  self.m.with_values({n: sim.parameter(n)["value"] for n in names}) if turned and not error else self.m)

    def read(self, text):
        """Makes a call that changes nothing: a fresh object must give the same result."""
        each = [attempt(lambda: as_bytes(eval(text, {**globals(), "s": sim}))) for sim in self.m.built()]
        right, error = each[0]
        seen = as_bytes(self.must(text, error, self.m, [e for _, e in each]))
        if error is None and not any(w in text for w in ("report", "repr")) and all(seen != one for one, _ in each):
            raise Failure("result of " + re.sub(r"\(.*", "", text), "; ".join(differences(seen, right)[:3]))

    def render(self, _):
        self.must("s.render()", None, self.m)
        self.m.stale = False

    def out(self, _):
        self.must("s.render(out=shared(s))", None, self.m)
        self.m.stale = False

    def other(self, _):
        self.must("other(s).render(out=shared(s))", None, self.m)

    def noise(self, seed):
        if seed is None:
            self.must("s.noise()", None, self.m)
            return
        new = self.m.with_words({"seed": str(seed)})
        new.stale = True
        self.must(f"s.noise(seed={seed})", None, new)

    def write(self, _):
        self.must("s.write(floatfile=W + 'o.bin')", None, self.m)
        if not self.m.stale and np.fromfile(W + "o.bin", "f4").tobytes() != LOOKS["image"](self.s):
            raise Failure("write", "another image")

    def copied(self, text):
        other, error = self.do(text)
        if error:
            raise Failure("copy", error)
        self.done += 1
        return other

    def copy(self, text):
        if self.m.is_fresh():
            self.kept.append((self.s, snapshot(self.s)))
            other = self.copied(text)
            self.lines[-1] = "s = " + text
            self.s = other

    def keep(self, text):
        if self.m.is_fresh():
            before = snapshot(self.s)
            other = self.copied(text)
            self.lines[-1] = "t = " + text
            unchanged("copy is equal", other, before)
            self.kept.append((other, before))

    def put(self, what):
        name, version, typed = what
        if self.m.disk[name] is None:
            return
        self.do(f"put('{name}', {version})")
        self.m.disk = {**self.m.disk, name: version}
        words = {n: v for n, v in self.m.words.items() if f"'{name}'" in v}
        if not words:
            self.m.seen = {**self.m.seen, name: version}
        elif typed and version is not None:
            self.set(words)
        else:
            self.set({"threads": "2"})

    def chdir(self, _):
        self.m.folder = "" if self.m.folder else "sub"
        self.do(f"os.chdir(W + '{self.m.folder}')")
        if "'x.hkl'" not in self.m.words.values():
            self.m.seen_in = self.m.folder

    def end(self):
        """Compares the object, its copies and its noise with a fresh object."""
        failure, own = None, None if self.m.stale else attempt(self.s.noise)[0]
        if own is not None:
            self.say("own = s.noise()")
        self.say("r = nb.Simulation(" + ", ".join(f"{n}={v}" for n, v in self.m.words.items()) + ")")
        for name, value in self.m.force:
            self.say("r.set(F=s.factors()[1])" if name == "F" else f"r.set_parameters({{'{name}': {value}}})")
        self.say('compare("object", s, r)')
        for ref in self.m.built():
            try:
                compare("object", self.s, ref)
                break
            except Failure as e:
                failure = failure or e
        else:
            raise failure
        if own is not None and own.tobytes() != ref.noise().tobytes():
            self.say("assert np.array_equal(own, r.noise())")
            raise Failure("noise of the image", "that of another image")
        for sim, before in self.kept:
            unchanged("the other of a copy", sim, before)
        if self.m.is_fresh():
            self.say('compare("copy", copy.copy(s), s)')
            other, error = attempt(lambda: copy.copy(self.s))
            if error:
                raise Failure("copy", error)
            compare("copy", other, self.s)
            attempt(lambda: other.set(phi=77.0, misset=(5, 6, 7), fluence=1e20))
            compare("a changed copy", self.s, ref, {"image": LOOKS["image"]})
        noises = [sim.noise(seed=1).tobytes() for sim in (self.s, ref)]
        if noises[0] != noises[1]:
            raise Failure("noise", "differs")


def run(base, calls):
    """(None, or (check, what was seen, script); number of calls, 0 if base is refused)."""
    try:
        trial, error = attempt(lambda: Trial(base))
        if error:
            return None, 0
        try:
            for kind, what in calls:
                getattr(trial, kind)(what)
            trial.end()
        except Failure as e:
            return (*e.args, trial.lines), trial.done
        except NoRule:
            pass
        return None, trial.done
    finally:
        os.chdir(HERE)


def shortest(base, calls, check):
    """Runs with the fewest calls and keywords found that fail in the same check."""
    def fails(b, c):
        seen = attempt(lambda: run(b, c)[0])[0]
        return seen and seen[0] == check

    smaller = True
    while smaller:
        smaller = False
        for i in range(len(calls)):
            if fails(base, calls[:i] + calls[i + 1:]):
                calls, smaller = calls[:i] + calls[i + 1:], True
                break
            kind, what = calls[i]
            if isinstance(what, dict) and len(what) > 1:
                less = [calls[:i] + [(kind, {k: v for k, v in what.items() if k != gone})] + calls[i + 1:] for gone in what]
                less = [c for c in less if fails(base, c)]
                if less:
                    calls, smaller = less[0], True
                    break
        for name in [n for n in base if n not in KEPT]:
            less = {n: v for n, v in base.items() if n != name}
            if fails(less, calls):
                base, smaller = less, True
    return run(base, calls)[0]


def report(number, failure):
    base, calls = draw(number)
    check, seen, lines = shortest(base, calls, failure[0]) or failure
    return (f"trial {number}: {check}: {seen}\n    # PYTHONPATH: the package's folder and tests/python\n"
            "    from test_sequences import *\n" + "".join(f"    {line}\n" for line in lines))


def trials(first, count):
    """Yields (number of the trial, its failure or None, number of calls)."""
    for number in range(first, first + count):
        os.chdir(W)
        failure, done = run(*draw(number))
        yield number, failure, done


@pytest.mark.parametrize("first", range(0, 6000 if os.environ.get("NB_BIG") else 100, 100))
def test_an_object_is_what_a_fresh_one_is(first):
    calls = 0
    for number, failure, done in trials(first, 100):
        assert failure is None, report(number, failure)
        calls += done
    assert calls > 100


def main():
    import logging

    logging.getLogger("nanobragg").addHandler(logging.NullHandler())
    numbers = [int(x) for x in sys.argv[1:] if x.isdigit()]
    start, calls, kinds, failed = time.time(), 0, {}, 0
    for number, failure, done in trials(*(numbers + [0, 400][len(numbers):])):
        calls += done
        if not failure:
            continue
        failed += 1
        text = report(number, failure)
        kinds.setdefault(failure[0], []).append(number)
        print(text, flush=True)
        if "--all" not in sys.argv:
            return 1
    for kind, where in kinds.items():
        print(f"{len(where)} x {kind}: {where[:8]}")
    print(f"{failed} failed, {calls} calls, {time.time() - start:.1f} s")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
