"""Finished parts of long experiments, kept in a folder, so that a run that was stopped can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import biasamp

from .internals import save_text


@dataclass(frozen=True)
class Kept:
    """A folder of parts, each a small JSON file named after what made it.

    Attributes
    ----------
    folder : Path
    named : callable
        What makes a part, as text: with the same text the part is the same.
    pack, unpack : callable
        A part as plain values, and back.
    """

    folder: Path
    named: Callable[[Any], str]
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]

    def _path(self, job: Any) -> Path:
        digest = hashlib.sha256(f"{biasamp.__version__} {self.named(job)}".encode()).hexdigest()[:24]
        return self.folder / f"part-{digest}.json"

    def load(self, job: Any) -> Any | None:
        """The part of a job, where it was kept and can be read."""
        try:
            return self.unpack(json.loads(self._path(job).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, job: Any, result: Any) -> None:
        """Keep a part."""
        self.folder.mkdir(parents=True, exist_ok=True)
        save_text(self._path(job), json.dumps(self.pack(result)))
