"""Policies from TOML files: every mistake is named with its line and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .limits import LIMIT_KEYS, Limit, near
from .policy_error import PolicyError
from .toml_lines import key_lines, line_of

SCHEMA = 1
MIN_GROUP = 30
# The arguments of ``audit`` that a policy may hold, so that a check needs nothing but the data.
DATA_KEYS = (
    "attributes",
    "tasks",
    "attribute_predictions",
    "task_predictions",
    "train",
    "base",
    "weights",
    "record",
    "cluster",
    "missing",
    "intersections",
    "metrics",
    "confidence",
    "resamples",
    "seed",
    "binary",
    "categorical",
)
_TOP = ("schema", "data", "evidence", "companions", "baseline", "limit")
_EVIDENCE = ("min_records", "min_group", "groups", "ignore_groups", "confidence")
_BASELINE = ("audit", "paired")
# Arguments that name files, which are found from the policy's folder.
_FILES = ("train", "base")
_ROLES = ("attributes", "tasks")


P = TypeVar("P")


def read_policy(path: Path, make: Callable[..., P]) -> P:
    """The policy in a file, made of the arguments that the file holds."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise PolicyError("file", "it is not UTF-8 text", source=path.name) from None
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no policy file {str(path)!r}; biasamp check --init writes one") from None
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        raise PolicyError("syntax", str(error), line=int(place[1]) if place else None, source=path.name) from None
    return _Reader(tree, key_lines(text), path.name, path.parent).policy(make)


class _Reader:
    def __init__(
        self, tree: dict[str, Any], lines: dict[tuple[str | int, ...], int], source: str, folder: Path
    ) -> None:
        self.tree, self.lines, self.source, self.folder = tree, lines, source, folder

    def policy(self, make: Callable[..., P]) -> P:
        self._known(self.tree, _TOP)
        if self.tree.get("schema", SCHEMA) != SCHEMA:
            raise self._error(("schema",), f"schema {self.tree['schema']!r}; this version reads schema {SCHEMA}")
        evidence = self._table("evidence", _EVIDENCE)
        baseline = self._table("baseline", _BASELINE)
        companions = self._table("companions", None)
        held = baseline.get("audit")
        if held is not None and not isinstance(held, str):
            raise self._error(("baseline", "audit"), f"the path of a saved audit is needed, found {held!r}")
        if isinstance(evidence.get("confidence"), int):
            raise self._error(("evidence", "confidence"), "a level strictly between 0 and 1 is needed, such as 0.95")
        for key in ("groups", "ignore_groups"):
            if not isinstance(evidence.get(key, []), list):
                raise self._error(("evidence", key), f"a list of groups is needed, found {evidence[key]!r}")
        limits, data = self._limits(), self._data()
        try:
            return make(
                limits=limits,
                companions=companions,
                min_records=evidence.get("min_records", 0),
                min_group=evidence.get("min_group", MIN_GROUP),
                groups=evidence.get("groups", ()),
                ignore_groups=evidence.get("ignore_groups", ()),
                confidence=evidence.get("confidence"),
                baseline=None if held is None else self.folder / held,
                paired=baseline.get("paired", True),
                data=data,
                source=self.source,
                lines=self.lines,
            )
        except PolicyError as error:
            raise self._error(self._place(error.key), error.problem) from None

    def _place(self, key: str) -> tuple[str | int, ...]:
        """Where an entry stands that the policy itself refused."""
        for table in ("evidence", "baseline", "companions", "data"):
            if key in self.tree.get(table, {}):
                return table, key
        return (key,)

    def _limits(self) -> list[Limit]:
        listed = self.tree.get("limit", [])
        if not isinstance(listed, list) or not all(isinstance(row, dict) for row in listed):
            raise self._error(("limit",), "limits are a list of tables: write [[limit]] above each")
        out = []
        for place, row in enumerate(listed):
            self._known(row, LIMIT_KEYS, ("limit", place))
            if "metric" not in row:
                raise self._error(("limit", place, "metric"), "a limit needs the metric that it is about")
            try:
                out.append(Limit(**row))
            except PolicyError as error:
                raise self._error(("limit", place, error.key), error.problem) from None
        return out

    def _data(self) -> dict[str, Any]:
        data = dict(self._table("data", DATA_KEYS))
        for key in _FILES:
            if isinstance(data.get(key), str):
                data[key] = str(self.folder / data[key])
        for key in ("binary", "categorical"):
            roles = data.get(key, [])
            if not isinstance(roles, list) or not set(roles) <= set(_ROLES):
                raise self._error(("data", key), f"some of {list(_ROLES)} are needed, found {roles!r}")
        return data

    def _table(self, name: str, keys: tuple[str, ...] | None) -> dict[str, Any]:
        table = self.tree.get(name, {})
        if not isinstance(table, dict):
            raise self._error((name,), f"a table is needed: write [{name}] above its keys")
        if keys is not None:
            self._known(table, keys, (name,))
        return table

    def _known(self, table: dict[str, Any], keys: tuple[str, ...], path: tuple[str | int, ...] = ()) -> None:
        for key in table:
            if key not in keys:
                raise self._error((*path, key), f"unknown key{near(key, keys)}")

    def _error(self, path: tuple[str | int, ...], problem: str) -> PolicyError:
        key = ".".join(str(part) for part in path if isinstance(part, str))
        return PolicyError(key, problem, line=line_of(self.lines, path), source=self.source)
