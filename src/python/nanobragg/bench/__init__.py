# SPDX-License-Identifier: MIT
"""nanobragg bench: times of renderers, with checked images (docs/performance.md)."""
