"""Draw the README's picture from what ``biasamp demo`` really prints: ``python docs/make_demo_svg.py``."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

import biasamp
from biasamp.datasets import berkeley
from biasamp.report.first_screen import show_first_screen

result = biasamp.audit(
    berkeley.with_predictions(),
    **berkeley.ROLES,
    **berkeley.PARTS,
)
result = result.named(berkeley.TITLE)
console = Console(
    record=True, width=132, markup=False, highlight=False, emoji=False, file=io.StringIO(), force_terminal=True
)
show_first_screen(result, console)
target = Path(__file__).parent / "demo.svg"
drawn = console.export_svg(title="biasamp demo")
# The picture must not ask another host for a font.
target.write_text(re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.S), encoding="utf-8")
print(f"wrote {target.name}")
