"""Where the labels of an audit come from, and how often they are wrong, as the caller states it: a mapping or a TOML file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasamp.data import printable
from biasamp.data.plain_arguments import shown
from biasamp.data.spelling import mistaken_for
from biasamp.data.toml_files import TomlError, read_toml

_KEYS = ("source", "error")
_LONGEST = 500


@dataclass(frozen=True)
class LabelProvenance:
    """The stated source of labels by attribute or column, and the stated errors of attributes' labels."""

    sources: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, Any] = field(default_factory=dict)

    @property
    def attributes(self) -> set[str]:
        """Everything of which something is stated."""
        return {*self.sources, *self.errors}

    def check(self, attributes: Sequence[str], columns: Sequence[str]) -> None:
        """Refuse names of nothing that is audited, and errors of what is no attribute."""
        known = list(dict.fromkeys([*attributes, *columns]))
        for name in self.attributes:
            if name not in known:
                near = mistaken_for(name, known)
                offer = (
                    f"did you mean {printable(near, 60)!r}?" if near else f"there are {', '.join(map(repr, known[:8]))}"
                )
                raise ValueError(
                    f"provenance names {printable(name, 60)!r}, which is no attribute or column of this audit; {offer}"
                )
        strange = next((name for name in self.errors if name not in attributes), None)
        if strange is not None:
            raise ValueError(
                f"provenance states errors of {printable(strange, 60)!r}, which is no attribute: errors are those of an attribute's labels"
            )

    @property
    def plain(self) -> dict[str, Any]:
        """As :func:`read_label_provenance` takes it."""
        return {
            name: {
                **({"source": self.sources[name]} if name in self.sources else {}),
                **({"error": self.errors[name]} if name in self.errors else {}),
            }
            for name in sorted(self.attributes)
        }


def read_label_provenance(provenance: Any) -> LabelProvenance:
    """What the caller states of labels.

    Parameters
    ----------
    provenance : mapping, path of a TOML file, or None
        For each attribute or column a sentence, or a mapping with ``source`` (a sentence) and ``error``: a chance that a label is
        wrong, one for each group, or what each group is recorded as. A file has the same under ``[labels]`` or at its top.

    Examples
    --------
    >>> held = read_label_provenance({"gender": "perceived by annotators", "race": {"source": "self-reported", "error": 0.01}})
    >>> held.sources["gender"], held.errors
    ('perceived by annotators', {'race': 0.01})
    """
    if provenance is None:
        return LabelProvenance()
    if isinstance(provenance, (str, os.PathLike)):
        provenance = _from_file(Path(provenance))
    if not isinstance(provenance, Mapping):
        raise TypeError(
            f"provenance is {shown(provenance)}; a mapping from attributes to where their labels come from is needed, or a TOML file"
        )
    sources: dict[str, str] = {}
    errors: dict[str, Any] = {}
    for name, held in provenance.items():
        if isinstance(held, str):
            held = {"source": held}
        if not isinstance(held, Mapping):
            raise TypeError(
                f"provenance[{name!r}] is {shown(held)}; a sentence is needed, or a mapping with source and error"
            )
        strange = next((key for key in held if key not in _KEYS), None)
        if strange is not None:
            raise ValueError(f"provenance[{name!r}] has {shown(strange)}; it may have {' and '.join(_KEYS)}")
        if "source" in held:
            source = held["source"]
            if not isinstance(source, str) or not source.strip():
                raise TypeError(f"provenance[{name!r}]: source is {shown(source)}; a sentence is needed")
            sources[str(name)] = source.strip()[:_LONGEST]
        if "error" in held:
            errors[str(name)] = _plain_error(held["error"], str(name))
    return LabelProvenance(sources, errors)


def _plain_error(error: Any, name: str) -> Any:
    """A rate, or rates by group, in plain values; what they mean is checked once the groups are known."""
    if isinstance(error, Mapping):
        return {str(group): _plain_error(held, name) for group, held in error.items()}
    if isinstance(error, (bool, str)) or not hasattr(error, "__float__"):
        raise TypeError(f"provenance[{name!r}]: error is {shown(error)}; a chance is needed, or one for each group")
    return float(error)


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"provenance: no file {str(path)!r}")
    try:
        held, _ = read_toml(path)
    except TomlError as error:
        raise ValueError(f"provenance: {path.name} is no TOML file: {error}") from None
    return held["labels"] if set(held) == {"labels"} and isinstance(held["labels"], Mapping) else held
