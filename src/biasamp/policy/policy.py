"""A policy: what an audit has to show before a model may pass; every mistake in its file is named with line and key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from biasamp.auditing import audit as run_audit
from biasamp.auditing.as_audit import FORMS, are_counts, as_audit, is_audit
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.comparison_models import refuse_same_run
from biasamp.auditing.group_choice import MayBeGone
from biasamp.data.plain_arguments import listed, path_of, same_file, shown
from biasamp.data.toml_files import TomlError, read_toml
from biasamp.results.metric_registry import audited_metrics

from .evidence import CONFIDENCE
from .judging import judge
from .limits import LIMIT_KEYS, Limit, PolicyError, companion_limit, near
from .reading import DATA_KEYS, OF_COUNTS, ROLES, audit_arguments
from .toml_lines import key_lines, line_of
from .verdict import Verdict

SCHEMA = 1
MIN_GROUP = 30
# A level below this is the chance of an error, written by mistake.
LEAST_LEVEL = 0.5
# More records than anything counts.
_MOST = 1 << 53


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Limits and what evidence they need.

    Parameters
    ----------
    limits : sequence of Limit or of mappings
        What is held to which limit.
    companions : mapping, optional
        Parity metrics that must be measured for every attribute with amplification, since zero amplification is
        not fairness: ``True``, or the largest difference (for ``mean_per_class_accuracy`` the least value) that passes.
    min_records, min_group : int
        Fewer records in all, or in any group, are not enough evidence.
    groups : sequence of str
        Groups that must be in the data, as the audit spells them (``"gender=woman"``).
    associated : sequence of str
        Attributes that go together with the tasks, beyond chance, in records that are what they should be.
    ignore_groups : sequence of str
        Groups that may be small or gone: they are left out of everything that compares groups.
    confidence : float, optional
        The level that intervals must have at least; 0.95 unless ``data`` names another.
    baseline : Audit, counts or path, optional
        The audit that limits with ``against="baseline"`` are held against.
    paired : bool
        Whether the baseline must be of the same records, so that what the models share drops out. A baseline of
        other data is an error unless this is False.
    data : mapping, optional
        Arguments for :func:`biasamp.audit`, used by :meth:`audit`.

    See Also
    --------
    Policy.load : read one from a TOML file.

    Examples
    --------
    >>> import biasamp
    >>> from biasamp.policy import Policy
    >>> data = {"g": ["w", "m"] * 200, "t": [1, 0, 0, 1] * 100, "p": [1, 0, 0, 1] * 100}
    >>> audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=["directional", "parity"])
    >>> policy = Policy(
    ...     limits=[{"metric": "directional", "direction": "A->T", "max": 0.02}], companions={"tpr_difference": 0.1}
    ... )
    >>> policy.check(audit).outcome
    'pass'
    """

    limits: Sequence[Limit | Mapping[str, Any]] = ()
    companions: Mapping[str, bool | float] = field(default_factory=dict)
    min_records: int = 0
    min_group: int = MIN_GROUP
    groups: Sequence[str] = ()
    associated: Sequence[str] = ()
    ignore_groups: Sequence[str] = ()
    confidence: float | None = None
    baseline: str | os.PathLike[str] | Audit | None = None
    paired: bool = True
    data: Mapping[str, Any] = field(default_factory=dict)
    source: str = "policy"
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for key in ("limits", "groups", "associated", "ignore_groups"):
            names: Any = getattr(self, key)
            several = isinstance(names, (list, tuple, set, frozenset))
            _require(several, key, f"a list is needed, found {shown(names)}")
        for key in ("companions", "data"):
            _require(
                isinstance(getattr(self, key), Mapping), key, f"a mapping is needed, found {shown(getattr(self, key))}"
            )
        _require(
            all(isinstance(one, (Limit, Mapping)) for one in self.limits), "limits", "each is a Limit or a mapping"
        )
        object.__setattr__(self, "limits", tuple(_limit(limit) for limit in self.limits))
        for key in ("min_records", "min_group"):
            value = getattr(self, key)
            right = type(value) is int and 0 <= value <= _MOST
            _require(right, key, f"a whole number of at least 0 is needed, found {shown(value)}")
        for key in ("groups", "associated", "ignore_groups"):
            for name in getattr(self, key):
                what = "attributes" if key == "associated" else "groups"
                _require(isinstance(name, str), key, f"names of {what} are needed, found {shown(name)}")
        _require(isinstance(self.paired, bool), "paired", f"true or false is needed, found {shown(self.paired)}")
        for level in (self.confidence, self.data.get("confidence")):
            right = level is None or (isinstance(level, float) and 0.0 < level < 1.0)
            _require(right, "confidence", f"a level strictly between 0 and 1 is needed, found {shown(level)}")
            if level is not None and level < LEAST_LEVEL:
                problem = f"{level} is the level of an interval, not the chance of an error: write {1 - level:g}"
                raise PolicyError("confidence", problem)
        for metric, largest in self.companions.items():
            _companion(metric, largest)
        for key in self.data:
            _require(key in DATA_KEYS, key, f"unknown key{near(key, DATA_KEYS)}")
        _require(bool(self.limits or self.companions), "limit", "the policy has no limit: it would pass everything")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy from a TOML file; what is wrong with it is said with its line and key.

        Parameters
        ----------
        path : str or Path
            Paths inside the file, of a baseline or of train records, are relative to its folder.
        """
        file = Path(path_of(path))
        try:
            tree, text = read_toml(file)
        except TomlError as error:
            raise PolicyError("syntax", str(error), line=error.line, source=file.name) from None
        except IsADirectoryError:
            raise PolicyError("file", "it is a folder, and the file of a policy is needed", source=str(file)) from None
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no policy file {str(file)!r}; biasamp check --init writes one") from None
        return _Reader(tree, key_lines(text), file.name, file.parent).policy(cls)

    @property
    def level(self) -> float:
        """The level that intervals must have at least."""
        return float(self.data.get("confidence", CONFIDENCE)) if self.confidence is None else self.confidence

    def reading(self, **arguments: Any) -> Policy:
        """The same policy about data that are read with other arguments of :func:`biasamp.audit`."""
        return replace(self, data={**self.data, **{k: v for k, v in arguments.items() if v is not None}})

    def audit(self, data: Any, **arguments: Any) -> Audit:
        """Audit data with the arguments that the policy holds; those given here take their place.

        Counts, and a file of them, say by themselves how their data were read.
        """
        held: dict[str, Any] = {**self.data, **{k: v for k, v in arguments.items() if v is not None}}
        if self.confidence is not None:
            held.setdefault("confidence", self.confidence)
        if self.ignore_groups:
            held.setdefault("ignore_groups", MayBeGone(self.ignore_groups))
        held.setdefault("min_group", self.min_group)
        if are_counts(data):
            return run_audit(data, **{k: v for k, v in held.items() if k in OF_COUNTS or k in arguments})
        for key in ROLES:
            if key not in held:
                problem = "neither the policy nor the call says which columns"
                raise PolicyError(f"data.{key}", problem, source=self.source)
        return run_audit(data, **audit_arguments(held))

    def check(self, audit: Any, baseline: Any = None, *, earlier: Any = None) -> Verdict:
        """Hold an audit to the policy.

        Parameters
        ----------
        audit : Audit, counts or path, or a sequence of them
            What is judged: an audit, what :func:`biasamp.count` gave, or the file of either. Records are audited
            first, by :meth:`audit`. A sequence holds runs of one training procedure that differ in their seed: limits are then held
            by the means over runs, with intervals that know of seeds and of records.
        baseline : Audit, counts or path, or a sequence of them, optional
            The audit of the model that this one is to be no worse than, or those of its runs, in place of the policy's own.
        earlier : sequence of Audit, counts or path, optional
            Audits of earlier windows, in order: figures that the policy limits may be no worse than these let expect of one window more,
            by Student's prediction interval (at 95%, all figures counted), no shorter than records make it. Four or more are needed.

        Returns
        -------
        Verdict
            Pass, fail or not enough evidence, check by check. What the policy names and the audit lacks is not
            enough evidence: nothing passes by silence.
        """
        held = self.baseline if baseline is None else baseline
        line = None if baseline is not None else self.line("baseline", "audit")
        before = None
        if earlier is not None:
            before = [self._audited(one, "earlier") for one in listed(earlier, "earlier", "audits")]
        if held is not None:
            self._refuse_itself(audit, held, line)
        runs = self._runs(audit, "audit")
        return judge(self, runs, None if held is None else self._saved(held, line), before)

    def _runs(self, held: Any, role: str) -> list[Audit]:
        """The audits of one or several runs."""
        if not isinstance(held, (list, tuple)):
            return [self._audited(held, role)]
        if not held:
            raise ValueError(f"{role} is an empty list: give an audit, or those of several runs")
        refuse_same_run(held, role)
        return [self._audited(one, f"{role}[{place}]") for place, one in enumerate(held)]

    def _refuse_itself(self, audit: Any, held: Any, line: int | None) -> None:
        """Refuse a baseline that is the audit itself: the same object, or the same file."""
        sides = [list(side) if isinstance(side, (list, tuple)) else [side] for side in (audit, held)]
        same = next((one for one in sides[0] for two in sides[1] if one is two or same_file(one, two)), None)
        if same is not None:
            name = f"the file {os.fspath(same)!r}" if isinstance(same, (str, os.PathLike)) else "the same audit"
            problem = f"{name} is both what is judged and its baseline: name the audit of the model that it is to be no worse than"
            raise PolicyError("baseline", problem, line=line, source=self.source)

    def _saved(self, held: Any, line: int | None) -> list[Audit]:
        try:
            return self._runs(held, "baseline")
        except (OSError, ValueError) as error:
            raise PolicyError("baseline", str(error), line=line, source=self.source) from None

    def _audited(self, held: Any, role: str) -> Audit:
        """The audit in any form that it comes in; counts are measured as the policy says."""
        if are_counts(held):
            return self.audit(held)
        if not is_audit(held):
            raise TypeError(
                f"{role} is a {type(held).__name__}; {FORMS} is needed. Records are audited first: "
                "policy.check(policy.audit(data))"
            )
        return as_audit(held, role)

    def line(self, *path: str | int) -> int | None:
        """The line of an entry of the policy's file."""
        return line_of(dict(self.lines), path)


def _limit(limit: Limit | Mapping[str, Any]) -> Limit:
    if isinstance(limit, Limit):
        return limit
    for key in limit:
        _require(key in LIMIT_KEYS, str(key), f"unknown key{near(key, LIMIT_KEYS)}")
    _require("metric" in limit, "metric", "a limit needs the metric that it is about")
    return Limit(**limit)


def _companion(metric: str, largest: Any) -> None:
    # Error rates: what has a value for each outcome.
    names = tuple(known.name for known in audited_metrics() if known.by_outcome)
    _require(metric in names, str(metric), f"unknown companion{near(metric, names)}")
    _require(largest is not False, metric, "false requires nothing: leave the key out")
    if largest is not True:
        try:
            companion_limit(metric, largest)
        except PolicyError as error:
            raise PolicyError(metric, error.problem) from None


def _require(right: bool, key: str, problem: str) -> None:
    if not right:
        raise PolicyError(key, problem)


def _are_texts(held: Any) -> bool:
    return isinstance(held, list) and all(isinstance(one, str) for one in held)


@dataclass(frozen=True)
class _Reader:
    tree: dict[str, Any]
    lines: dict[tuple[str | int, ...], int]
    source: str
    folder: Path

    def policy(self, kind: type[Policy]) -> Policy:
        self._known(self.tree, ("schema", "data", "evidence", "companions", "baseline", "limit"))
        if self.tree.get("schema", SCHEMA) != SCHEMA:
            raise self._error(("schema",), f"schema {self.tree['schema']!r}; this version reads schema {SCHEMA}")
        evidence = self._table(
            "evidence", ("min_records", "min_group", "groups", "associated", "ignore_groups", "confidence")
        )
        baseline = self._table("baseline", ("audit", "paired"))
        companions = self._table("companions", None)
        held = baseline.get("audit")
        if held is not None and not isinstance(held, str):
            raise self._error(("baseline", "audit"), f"the path of a saved audit is needed, found {held!r}")
        if isinstance(evidence.get("confidence"), int):
            raise self._error(("evidence", "confidence"), "a level strictly between 0 and 1 is needed, such as 0.95")
        for key in ("groups", "associated", "ignore_groups"):
            if not isinstance(evidence.get(key, []), list):
                what = "attributes" if key == "associated" else "groups"
                raise self._error(("evidence", key), f"a list of {what} is needed, found {evidence[key]!r}")
        limits, data = self._limits(), self._data()
        try:
            return kind(
                limits=limits,
                companions=companions,
                **evidence,
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
        tables = ("evidence", "baseline", "companions", "data")
        return next(((table, key) for table in tables if key in self.tree.get(table, {})), (key,))

    def _limits(self) -> list[Limit]:
        listed = self.tree.get("limit", [])
        if not isinstance(listed, list) or not all(isinstance(row, dict) for row in listed):
            raise self._error(("limit",), "limits are a list of tables: write [[limit]] above each")
        out = []
        for place, row in enumerate(listed):
            try:
                out.append(_limit(row))
            except PolicyError as error:
                raise self._error(("limit", place, error.key), error.problem) from None
        return out

    def _data(self) -> dict[str, Any]:
        data = dict(self._table("data", DATA_KEYS))
        for key in ("train", "base"):  # files, which are found from the policy's folder
            if isinstance(data.get(key), str):
                data[key] = str(self.folder / data[key])
        for role in ROLES:
            held = data.get(role, "")
            if not isinstance(held, (str, dict)) and not _are_texts(held):
                raise self._error(("data", role), f"the names of columns are needed, found {held!r}")
        for key in ("binary", "categorical"):
            roles = data.get(key, [])
            if not _are_texts(roles) or not set(roles) <= set(ROLES):
                raise self._error(("data", key), f"some of {list(ROLES)} are needed, found {roles!r}")
        values = data.get("categories", {})
        listed = isinstance(values, dict) and all(isinstance(held, list) for held in values.values())
        if not listed or not set(values) <= set(ROLES):
            raise self._error(
                ("data", "categories"), f"lists of values for some of {list(ROLES)} are needed, found {values!r}"
            )
        bins = data.get("bins", {})
        roles = [data[role] for role in ROLES if role in data]
        known = [name for named in roles for name in ([named] if isinstance(named, str) else named)]
        if not isinstance(bins, dict) or not all(isinstance(held, (list, int)) for held in bins.values()):
            raise self._error(
                ("data", "bins"), f"edges by column are needed, such as {{ age = [25, 45] }}, found {bins!r}"
            )
        if known and not set(bins) <= set(known):
            raise self._error(("data", "bins"), f"{min(set(bins) - set(known))!r} is no column of attributes or tasks")
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
