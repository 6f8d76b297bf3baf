"""Command lines that run while the site is built, with what they print: ``{executed}``.

The commands of a page run one after another in one empty folder, beside copies of the files in ``docs/_static/data``. Each must end with exit
code 0, or with the one that ``:exit:`` names. ``:lines: N`` shows the first N lines of what is printed. A line ``$ cat FILE`` shows a file, and
``$ python FILE`` runs one of those in ``docs/_static/data``.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

# What a page has room for, alone and beside the list of its section.
WIDTH, WIDTH_BESIDE = 98, 82


def _printed(line: str, folder: Path, expected: int, width: int) -> str:
    words = shlex.split(line)
    if words[0] == "cat":
        return "".join((folder / name).read_text(encoding="utf-8") for name in words[1:])
    if words[0] not in ("biasamp", "python"):
        raise ValueError(f"only biasamp, python and cat run here, not {words[0]!r}")
    done = subprocess.run(
        [sys.executable, *(["-m", "biasamp"] if words[0] == "biasamp" else []), *words[1:]],
        cwd=folder,
        env={**os.environ, "COLUMNS": str(width), "NO_COLOR": "1"},
        text=True,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != expected:
        raise ValueError(f"exit code {done.returncode}, not {expected}, of: {line}\n{done.stdout}")
    return "\n".join(printed.rstrip() for printed in done.stdout.splitlines())


class Executed(SphinxDirective):
    """Commands, each after a ``$``, and what they print."""

    has_content = True
    option_spec = {"exit": directives.nonnegative_int, "lines": directives.positive_int, "hide": directives.flag}

    def run(self) -> list[nodes.Node]:
        folder = self.env.temp_data.get("executed")
        if folder is None:
            folder = self.env.temp_data["executed"] = Path(tempfile.mkdtemp(prefix="biasamp-docs-"))
            for file in (Path(self.env.srcdir) / "_static" / "data").glob("*"):
                shutil.copy(file, folder)
        shown = []
        width = WIDTH if self.config.html_sidebars.get(self.env.docname) == [] else WIDTH_BESIDE
        # A command may go on in the next line after a backslash, as in a shell.
        for line in "\n".join(self.content).replace("\\\n", "\\\0").split("\n"):
            if not line.startswith("$ "):
                raise self.error(f"a command begins with '$ ': {line}")
            command, line = line.removeprefix("$ ").replace("\\\0", " "), line.replace("\0", "\n")
            try:
                printed = _printed(command, folder, self.options.get("exit", 0), width)
            except ValueError as error:
                raise self.error(str(error)) from error
            lines = printed.strip("\n").splitlines()
            most = self.options.get("lines", len(lines))
            kept = lines[:most] + (["..."] if len(lines) > most else [])
            shown.append("\n".join([line, *([] if "hide" in self.options else kept)]))
        text = "\n\n".join(shown)
        return [nodes.literal_block(text, text, language="text", classes=["executed"])]


def _clean(app: Any, *_: Any) -> None:
    folder = app.env.temp_data.get("executed")
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("executed", Executed)
    app.connect("doctree-read", _clean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
