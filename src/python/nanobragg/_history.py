# SPDX-License-Identifier: MIT
"""What made a simulation, so that a copy can be made the same way."""

KEYWORD, VALUE, FOLD = range(3)  # of set(); of set_parameters(); fold_rotation()


class History:
    """Words and values in their order; of each name only the last."""

    def __init__(self, entries=()):
        self._entries = dict(entries)
        self._folds = sum(key[1] == FOLD for key in self._entries)

    def _add(self, kind, name, value):
        key = (self._folds, kind, name)
        self._entries.pop(key, None)
        self._entries[key] = value

    def words(self, pairs):
        for name, words in pairs:
            self._add(KEYWORD, name, words)

    def values(self, names, numbers):
        for name, number in zip(names, numbers):
            self._add(VALUE, name, number)

    def fold(self):
        self._add(FOLD, "", None)
        self._folds += 1

    def entries(self):
        return list(self._entries.items())

    def runs(self):
        """[(kind, [(name, value), ...]), ...]: neighbours of one kind together; the first are keywords."""
        runs = [(KEYWORD, [])]
        for (_, kind, name), value in self._entries.items():
            if kind == FOLD or kind != runs[-1][0]:
                runs.append((kind, []))
            runs[-1][1].append((name, value))
        return runs
