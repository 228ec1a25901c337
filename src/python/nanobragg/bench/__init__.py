# SPDX-License-Identifier: MIT
"""nanobragg bench: times of renderers and other programs, with every timed image checked (docs/performance.md)."""
