"""Single statistics on disk, as counts of audits hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasamp.counts.storage import from_arrays, read_arrays, to_arrays, write_arrays


def save(counts: Any, path: str | Path) -> None:
    """Write a statistic to a file of its own."""
    write_arrays(path, *to_arrays(counts))


def load(path: str | Path) -> Any:
    """Read what :func:`save` wrote; a damaged or foreign file is refused."""
    header, arrays = read_arrays(path)
    try:
        return from_arrays(header, arrays)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{Path(path).name} is damaged: it does not hold what counts consist of ({error})") from None
