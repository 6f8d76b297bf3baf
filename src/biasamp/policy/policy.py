"""A policy: what an audit has to show before a model may pass."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasamp.auditing import audit as run_audit
from biasamp.auditing.audit_result import Audit
from biasamp.data import binary, categorical

from .judging import judge
from .limits import LIMIT_KEYS, Limit, companion_limit, companion_names, near
from .policy_error import PolicyError
from .toml_lines import line_of
from .toml_policy import DATA_KEYS, MIN_GROUP, read_policy
from .verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Limits and what evidence they need.

    Parameters
    ----------
    limits : sequence of Limit or of mappings
        What is held to which limit.
    companions : mapping, optional
        Parity metrics that must be measured for every attribute beside amplification, since zero amplification is
        not fairness: ``True``, or the largest difference (for ``mean_per_class_accuracy`` the least value) that passes.
    min_records, min_group : int
        Fewer records in all, or in any group, are not enough evidence.
    groups : sequence of str
        Groups that must be in the data, as the audit spells them (``"gender=woman"``).
    ignore_groups : sequence of str
        Groups that may be small or gone.
    confidence : float, optional
        The level that intervals must have at least.
    baseline : path or Audit, optional
        The audit that limits with ``against="baseline"`` are held against.
    paired : bool
        Whether the baseline must be of the same records, so that what the models share drops out.
    data : mapping, optional
        Arguments for :func:`biasamp.audit`, used by :meth:`audit`.

    See Also
    --------
    Policy.load : read one from a TOML file.

    Examples
    --------
    >>> import biasamp
    >>> from biasamp.policy import Policy
    >>> data = {"g": ["w", "m"] * 100, "t": [1, 0, 0, 1] * 50, "p": [1, 0, 0, 1] * 50}
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
    ignore_groups: Sequence[str] = ()
    confidence: float | None = None
    baseline: str | os.PathLike[str] | Audit | None = None
    paired: bool = True
    data: Mapping[str, Any] = field(default_factory=dict)
    source: str = "policy"
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", tuple(_limit(limit) for limit in self.limits))
        _require(not isinstance(self.groups, str), "groups", "a list of groups is needed, found text")
        _require(not isinstance(self.ignore_groups, str), "ignore_groups", "a list of groups is needed, found text")
        for key in ("min_records", "min_group"):
            value = getattr(self, key)
            _require(type(value) is int and value >= 0, key, f"a whole number of at least 0 is needed, found {value!r}")
        for key in ("groups", "ignore_groups"):
            for name in getattr(self, key):
                _require(isinstance(name, str), key, f"names of groups are needed, found {name!r}")
        _require(isinstance(self.paired, bool), "paired", f"true or false is needed, found {self.paired!r}")
        if self.confidence is not None:
            given = self.confidence
            right = isinstance(given, float) and 0.0 < given < 1.0
            _require(right, "confidence", f"a level strictly between 0 and 1 is needed, found {given!r}")
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
        return read_policy(Path(path), cls)

    def audit(self, data: Any, **arguments: Any) -> Audit:
        """Audit data with the arguments that the policy holds; those given here take their place."""
        held: dict[str, Any] = {**self.data, **{k: v for k, v in arguments.items() if v is not None}}
        if self.confidence is not None:
            held.setdefault("confidence", self.confidence)
        declared = {"binary": held.pop("binary", ()), "categorical": held.pop("categorical", ())}
        for key in ("attributes", "tasks"):
            if key not in held:
                raise PolicyError(
                    f"data.{key}", "neither the policy nor the call says which columns", source=self.source
                )
            for declare in (binary, categorical):
                if key in declared[declare.__name__]:
                    names = held[key]
                    # Attributes are measured one by one, tasks together.
                    each = key == "attributes" and isinstance(names, list)
                    held[key] = [declare(name) for name in names] if each else declare(names)
        return run_audit(data, **held)

    def check(self, audit: Audit, baseline: Any = None) -> Verdict:
        """Hold an audit to the policy.

        Parameters
        ----------
        audit : Audit
            What is judged, computed now or loaded.
        baseline : Audit or path, optional
            The audit of the model that this one is to be no worse than, in place of the policy's own.

        Returns
        -------
        Verdict
            Pass, fail or not enough evidence, check by check. What the policy names and the audit lacks is not
            enough evidence: nothing passes by silence.
        """
        if not isinstance(audit, Audit):
            raise TypeError(f"audit is a {type(audit).__name__}; an Audit is needed, as biasamp.audit() returns it")
        return judge(self, audit, self._baseline(baseline))

    def _baseline(self, given: Any) -> Audit | None:
        held = self.baseline if given is None else given
        if held is None or isinstance(held, Audit):
            return held
        try:
            return Audit.load(Path(held))
        except (OSError, ValueError) as error:
            line = None if given is not None else self.line("baseline", "audit")
            raise PolicyError("baseline", str(error), line=line, source=self.source) from None

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
    names = companion_names()
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
