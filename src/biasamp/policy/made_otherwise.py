"""An audit that was made otherwise than the policy says: of other columns, or with other settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Data
from biasamp.auditing.plan import Plan, Spec, attributes_of, predictions_of
from biasamp.data import printable
from biasamp.data.binning import BINNED, QUANTILES
from biasamp.data.label import canonical
from biasamp.data.spelling import respelled
from biasamp.results.metric_registry import requestable_names

from .limits import PolicyError
from .reading import ROLES, audit_arguments
from .verdict import UNDECIDED, Check

if TYPE_CHECKING:
    from .policy import Policy

# What was asked for, and what the audit has, in words.
Apart = tuple[str, str, str]
_PREDICTIONS = ("task_predictions", "attribute_predictions", "task_scores", "attribute_scores")
_KINDS = ("binary", "categorical", "categories", "bins")
_YES = ("1", "true", "yes")
_NOTHING = "none"


def made_checks(policy: Policy, audits: Sequence[Audit]) -> Iterator[Check]:
    """A check without a pass for everything that the policy names and that audits were made without, or with something else."""
    said: set[tuple[str, str]] = set()
    for audit in audits:
        for field, asked, found in made_otherwise(policy, audit):
            which = "the audit" if len(audits) == 1 else printable(audit.source, 60)
            words = f"the policy is about {asked}, and {which} about {found}"
            if field not in (*ROLES, *_PREDICTIONS):
                words = f"the policy has {field} = {asked}, and {which} was made with {found}"
            reason = f"{words}: audit again as the policy says, or mend its [data]"
            if (field, reason) not in said:
                said.add((field, reason))
                yield Check(rule=field, outcome=UNDECIDED, reason=reason, line=policy.line("data", field))


def made_otherwise(policy: Policy, audit: Audit) -> Iterator[Apart]:
    """The fields that the policy names and the audit has otherwise; what the policy does not name is not compared."""
    asked, data = policy.data, audit.document["data"]
    settings: Mapping[str, Any] = audit.document.get("provenance", {}).get("settings", {})
    if settings:
        yield from _of_plan(policy, Plan.from_dict(settings["plan"]))
    else:
        yield from _of_roles(asked, data)
    for name, used in (("train", data["train"]), ("base", data["base"]), ("weights", data["weighted"])):
        if asked.get(name) is not None and not used:
            yield name, _shown(asked[name]), _NOTHING
    for name in ("train", "base"):  # files, of which the name alone is known
        file, had = asked.get(name), settings.get(name)
        if isinstance(file, (str, os.PathLike)) and had is not None and os.path.basename(os.fspath(file)) != had:
            yield name, _shown(file), repr(had)
    yield from _of_labels(asked, data)
    yield from _of_draws(asked, audit)
    missing = asked.get("missing", "error")
    if data["missing"] != missing and ("missing" in asked or (asked and data["missing_values"])):
        yield "missing", repr(missing), repr(data["missing"])


def made_apart(one: Audit, two: Audit) -> Iterator[Apart]:
    """What two audits of the same attributes were made with that is not the same, and that moves their figures: other tasks, too."""
    data = [audit.document["data"] for audit in (one, two)]
    titles = [printable(held["tasks"]["title"], 60) for held in data]
    if titles[0] != titles[1]:
        yield "tasks", titles[0], titles[1]
    settings: list[Mapping[str, Any]] = [
        audit.document.get("provenance", {}).get("settings", {}) for audit in (one, two)
    ]
    for name in ("train", "base", "weighted", "missing"):
        first, second = (cast("Any", held)[name] for held in data)
        files = [made.get(name) for made in settings]
        if first and second and name in ("train", "base") and None not in files:
            first, second = files  # the names of both are known
        if first != second and (name != "missing" or any(held["missing_values"] for held in data)):
            yield ("weights" if name == "weighted" else name), _shown(first), _shown(second)
    for name in ("positive", "ignored_groups"):
        mine, theirs = (cast("Any", held).get(name) or () for held in data)
        common = set(mine) & set(theirs) if name == "positive" else ()
        if mine != theirs and (name != "positive" or any(mine[task] != theirs[task] for task in common)):
            yield name, _shown(mine), _shown(theirs)
    if all(settings):
        plans = [Plan.from_dict(held["plan"]) for held in settings]
        specs = [{**plan.groups, "": plan.task} for plan in plans]
        for name in specs[0].keys() & specs[1].keys():
            if specs[0][name].names == specs[1][name].names and not _read_alike(specs[0][name], specs[1][name]):
                yield "columns", _as_read(specs[0][name]), _as_read(specs[1][name])
        if plans[0].weights != plans[1].weights and data[0]["weighted"] == data[1]["weighted"]:
            yield "weights", _shown(plans[0].weights), _shown(plans[1].weights)
        if plans[0].cluster != plans[1].cluster:
            yield "cluster", _shown(plans[0].cluster), _shown(plans[1].cluster)


def _read_alike(one: Spec, two: Spec) -> bool:
    """Whether two audits read a column as the same groups or values; declared values that none has change nothing."""
    kinds = [spec.declared or ("categorical" if len(spec.names) == 1 else "binary") for spec in (one, two)]
    return kinds[0] == kinds[1] and (BINNED not in kinds or one.categories == two.categories)


def _of_draws(asked: Mapping[str, Any], audit: Audit) -> Iterator[Apart]:
    """Metrics and resamples; more of them than the policy asks for are no less."""
    data = audit.document["data"]
    settings: Mapping[str, Any] = audit.document.get("provenance", {}).get("settings", {})
    if "metrics" in asked and settings:
        names = requestable_names() if asked["metrics"] == "auto" else _names(asked["metrics"])
        lacking = [name for name in names if name not in settings["metrics"]]
        if lacking:
            yield "metrics", ", ".join(names), ", ".join(settings["metrics"])
    if asked.get("resamples", 0) > data["resamples"]:
        yield "resamples", f"{asked['resamples']:,}", f"{data['resamples']:,}"
    if "seed" in asked and asked["seed"] != audit.document["seed"]:
        yield "seed", str(asked["seed"]), str(audit.document["seed"])


def _of_plan(policy: Policy, plan: Plan) -> Iterator[Apart]:
    """Columns, what they are read as, and how they go together."""
    asked = policy.data
    held = audit_arguments({name: value for name, value in asked.items() if name in (*ROLES, *_PREDICTIONS, *_KINDS)})
    try:
        groups = attributes_of(held["attributes"]) if "attributes" in held else dict(plan.groups)
        task = Spec.of(held["tasks"], "tasks") if "tasks" in held else plan.task
        said = {
            role: predictions_of(held[role], [task] if role.startswith("task") else list(groups.values()), role)
            for role in _PREDICTIONS
            if held.get(role) is not None
        }
    except (TypeError, ValueError) as error:
        raise PolicyError("data", str(error), line=policy.line("data"), source=policy.source) from None
    there = {name: one for name, one in plan.groups.items() if name in groups}
    for role, wanted, had, whole in (
        ("attributes", groups, there, plan.groups),
        ("tasks", {"": task}, {"": plan.task}, {"": plan.task}),
    ):
        if role in held and _columns(wanted.values()) != _columns(had.values()):
            yield role, _listed(wanted.values()), _listed(whole.values())
        elif role in held:
            yield from _kinds(role, asked, wanted, had)
    for role, specs in said.items():
        truths, mine = _of_task(plan, role, task) if role.startswith("task") else _of_groups(plan, role, groups)
        wanted_pairs = _pairs([task] if role.startswith("task") else list(groups.values()), specs)
        had_pairs = _pairs(truths, mine)
        if wanted_pairs != had_pairs:
            plain = sorted(wanted_pairs.values()) == sorted(had_pairs.values())
            yield role, _of_truth(wanted_pairs, plain), _of_truth(had_pairs, plain)
    for name in ("weights", "record", "cluster"):
        column, had_column = asked.get(name), getattr(plan, name)
        if isinstance(column, str) and column != had_column and not (name == "weights" and had_column is None):
            yield name, repr(column), _NOTHING if had_column is None else repr(had_column)
    if asked.get("strata") is not None and _names(asked["strata"]) != list(plan.strata.names if plan.strata else ()):
        yield "strata", _shown(asked["strata"]), plan.strata.title if plan.strata else _NOTHING
    for name in ("intersections", "unseen"):
        if name in asked and asked[name] != getattr(plan, name):
            yield name, _shown(asked[name]), _shown(getattr(plan, name))


def _kinds(role: str, asked: Mapping[str, Any], wanted: Mapping[str, Spec], had: Mapping[str, Spec]) -> Iterator[Apart]:
    """What columns of a role are declared to be, where the policy says: yes/no labels, values, or bins."""
    for name, one in wanted.items():
        other = had[name]
        if one.declared is None or _alike(one, other):
            continue
        field = "bins" if one.declared in (BINNED, QUANTILES) else one.declared
        if one.categories is not None and field != "bins":
            field = "categories"
        yield (field if field in _KINDS else role), _as_read(one), _as_read(other)


def _alike(one: Spec, other: Spec) -> bool:
    if one.declared == QUANTILES:  # ties can leave fewer bins than were asked for
        return other.declared == BINNED and len(other.categories or ()) < int((one.categories or ("0",))[0])
    kind = other.declared or ("categorical" if len(other.names) == 1 else "binary")
    if one.declared != kind:
        return False
    return one.categories is None or set(one.categories) == set(other.categories or ())


def _as_read(spec: Spec) -> str:
    what = {None: "as it is", QUANTILES: "so many bins", BINNED: "edges"}.get(spec.declared, spec.declared or "")
    values = f" ({', '.join(printable(value, 30) for value in spec.categories[:8])})" if spec.categories else ""
    return f"{printable(spec.title, 60)} {what}{values}"


def _of_task(plan: Plan, role: str, task: Spec) -> tuple[list[Spec], list[Spec | None]]:
    """The task columns in the order of the audit, which need not be that of the policy, and what predicts them."""
    same = set(task.names) == set(plan.task.names)
    said = plan.task_prediction if role == "task_predictions" else plan.task_scores
    return [plan.task if same else task], [said]


def _of_groups(plan: Plan, role: str, groups: Mapping[str, Spec]) -> tuple[list[Spec], list[Spec | None]]:
    """The attributes that a policy names, and what predicts them."""
    specs = plan.group_predictions if role == "attribute_predictions" else plan.group_scores
    held = dict(zip(plan.groups, specs, strict=False))
    names = [name for name in groups if name in plan.groups]
    return [plan.groups[name] for name in names], [held.get(name) for name in names]


def _pairs(truths: Sequence[Spec], predicted: Sequence[Spec | None]) -> dict[str, tuple[str, ...]]:
    """Which column predicts which."""
    out: dict[str, tuple[str, ...]] = {}
    for truth, said in zip(truths, predicted, strict=False):
        if said is not None and len(said.names) == len(truth.names):
            out |= {name: (one,) for name, one in zip(truth.names, said.names, strict=True)}
        elif said is not None:
            out[truth.title] = said.names
    return out


def _of_truth(pairs: Mapping[str, tuple[str, ...]], named: bool) -> str:
    """Columns of predictions; with what they predict where they are the same columns of other truths."""
    shown = [f"{truth} by {', '.join(names)}" if named else ", ".join(names) for truth, names in pairs.items()]
    return ", ".join(sorted(shown)) or _NOTHING


def _of_roles(asked: Mapping[str, Any], data: Data) -> Iterator[Apart]:
    """The same of an audit that says no more than its columns; what it does not say is not known to be right."""
    for role in (*ROLES, *_PREDICTIONS, "strata"):
        named, there = set(_names(asked.get(role) or ())), set(data["roles"].get(role, ()))
        if named and not (named <= there if role.startswith("attribute") else named == there):
            yield role, ", ".join(sorted(named)), ", ".join(sorted(there)) or _NOTHING
    crossed = "crossing" in data.get("kinds", {}).values()
    if asked.get("intersections") and not crossed:
        yield "intersections", "True", "False"
    for name in ("cluster", *_KINDS):
        if asked.get(name):
            yield name, _shown(asked[name]), "something that it does not say"


def _of_labels(asked: Mapping[str, Any], data: Data) -> Iterator[Apart]:
    """The positive value of tasks, and the group that others are held against."""
    had = data.get("positive", {})
    apart = [(task, value) for task, value in _positive(asked, data) if not _is_positive(task, value, had)]
    if apart:
        shown = ", ".join(f"{task}={value}" for task, value in had.items()) or _NOTHING
        yield "positive", _shown(asked["positive"]), shown
    references = data.get("reference", {})
    groups = {(row["attribute"], row["group"]): row.get("category") for row in data["groups"]}
    for attribute, name in _references(asked.get("reference")):
        if not any(
            attribute in (None, mine) and name in (group, groups.get((mine, group)))
            for mine, group in references.items()
        ):
            yield "reference", _shown(asked["reference"]), ", ".join(references.values()) or _NOTHING
            return


def _positive(asked: Mapping[str, Any], data: Data) -> Iterator[tuple[str | None, Any]]:
    """Task, where it is said, and value of every positive value that is named; a list is in the order of the policy's tasks."""
    positive = asked.get("positive")
    if positive is None:
        return
    named, tasks = _names(asked.get("tasks", ())), data["roles"]["tasks"]
    tasks = named if sorted(named) == sorted(tasks) else tasks
    if isinstance(positive, Mapping):
        yield from ((str(task), value) for task, value in positive.items())
    elif isinstance(positive, (list, tuple)) and len(positive) == len(tasks):
        yield from zip(tasks, positive, strict=True)
    else:
        yield from ((None, value) for value in (positive if isinstance(positive, (list, tuple)) else [positive]))


def _is_positive(task: str | None, value: Any, had: Mapping[str, str]) -> bool:
    """Whether a value is the positive one of a task, or of any; of yes/no columns, which have no other, it is 1."""
    spelled = {canonical(value).casefold(), str(value).casefold()}
    mine = {name: held for name, held in had.items() if task in (None, name)}
    if not mine:
        return bool(spelled & set(_YES))
    return any(
        spelled & {held.casefold(), f"{name}={held}".casefold()} or respelled([canonical(value)], [held]) is not None
        for name, held in mine.items()
    )


def _references(reference: Any) -> Iterator[tuple[str | None, str]]:
    if isinstance(reference, Mapping):
        yield from ((str(attribute), str(group)) for attribute, group in reference.items())
    elif reference is not None:
        yield from (
            (None, str(group)) for group in (reference if isinstance(reference, (list, tuple)) else [reference])
        )


def _names(value: Any) -> list[str]:
    """The columns that an argument names, however it holds them."""
    value = getattr(value, "data", value)  # binary(...) and categorical(...) hold theirs
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value
    return [name for one in inner for name in _names(one)]


def _columns(specs: Any) -> set[str]:
    return {name for one in specs for name in one.names}


def _listed(specs: Any) -> str:
    return ", ".join(sorted(_columns(specs))) or _NOTHING


def _shown(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    plain = isinstance(value, (str, int, float, bool, list, tuple, Mapping, type(None)))
    return printable(repr(cast("Any", value)) if plain else f"a {type(value).__name__}", 200)
