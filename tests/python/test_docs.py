# SPDX-License-Identifier: MIT
"""docs/python.md: its blocks run in their order, in one folder."""
import os
import re

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_blocks_of_the_page_run(tmp_path, monkeypatch):
    with open(os.path.join(SOURCE, "docs/python.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.S | re.M)
    os.symlink(os.path.join(SOURCE, "golden_data"), tmp_path / "golden_data")
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/python.md block {number}", "exec"), names)
    assert len(blocks) >= 4 and names["strong"].size > 0
