"""``counterfactual``: the same item asked of several groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.columns import Column
from biasamp.data.label import category_order, printable
from biasamp.data.plain_arguments import level_of, one_of, shown, text_or_none
from biasamp.data.spelling import in_utf8
from biasamp.resampling.significance import METHODS, q_values
from biasamp.results.checksums import json_text, with_checksum
from biasamp.results.interval import plain
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .named_arguments import one_columns, spelled
from .paired_answers import Answers, paired
from .read_text import TextLabels, read_text

Mask = NDArray[np.bool_]
# How models begin when they decline; give your own for other languages or models.
REFUSALS = (
    "i cannot",
    "i can't",
    "i can not",
    "i am unable",
    "i'm unable",
    "i am not able",
    "i'm not able",
    "i am sorry",
    "i'm sorry",
    "i won't",
    "i will not",
    "as an ai",
    "as a language model",
)
REFUSED, UNANSWERED = "(refused)", "(no answer)"
SCORE = "score"
_YES = ("yes", "true", "1", "1.0", "y")
# More distinct answers than this are sentences, not categories.
_MOST_CATEGORIES = 40


@in_utf8
def counterfactual(
    answers: Any,
    group: Any,
    item: Any,
    *,
    data: Any = None,
    topic: Any = None,
    labels: Any = None,
    refusals: Any = "auto",
    reference: str | None = None,
    confidence: float = 0.95,
    correction: str = "bh",
) -> Counterfactual:
    r"""Compare the answers to the same items asked of several groups.

    For an item i (a prompt that differs in nothing but the group) with mean answer :math:`y_{ig}` over its repeats,

    .. math:: \bar d = \frac1G \sum_i (y_{i g} - y_{i r})

    over the G items that both the group g and the reference r answered, with items as clusters.

    Parameters
    ----------
    answers : array-like, TextLabels, or the name of a column
        Scores; yes/no answers (0/1, true/false, or two words); categories; or free text with ``labels``, or as
        :func:`biasamp.read_text` reads it. A missing answer is one that could not be read: an outcome of its own.
    group, item : array-like, or names of columns
        Whom the prompt was about, and which prompt it was. Answers with the same item and group are repeats (epochs, seeds): they
        are averaged within the item, and add nothing to the number of items.
    data : frame, file or mapping of columns, optional
        Where names refer to; also what :func:`biasamp.read_eval_log` gives.
    topic : array-like or name, optional
        What an item is about: each topic is compared by itself, with q-values over all comparisons.
    labels : list of words, mapping of names to words, or "words", optional
        For free text: what answers are searched for, as in :func:`biasamp.read_text`; each label is an outcome.
    refusals : "auto", list of phrases, or array of bool
        Answers that decline, an outcome of their own: text answers that begin with one of the phrases (``"auto"``: usual ones in English),
        or whatever is marked. They count in no other outcome.
    reference : str, optional
        The group that the others are compared with; by default all pairs are.
    confidence : float
    correction : {"bh", "by"}

    Returns
    -------
    Counterfactual
        ``.table`` has a row per topic, outcome and pair of groups: means, the difference with its interval, the standard error, p and q,
        and for yes/no answers asked once the discordant table. ``.findings`` says it in words.

    Notes
    -----
    With one yes/no answer for each item and group the test is McNemar's in its exact form, a binomial test of the discordant items,
    and the interval that of Bonett and Price. Otherwise it is the t-test with items as clusters: the error is that of OLS of the
    item means on the group with a cluster-robust covariance. Items that one of two groups has no answer to are left out of
    their comparison and counted as ``unpaired``.

    References
    ----------
    Q. McNemar, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12, 1947.
    D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data", J. Educational and Behavioral Statistics 37, 2012.

    Examples
    --------
    >>> items = [f"loan {i}" for i in range(20)] * 2
    >>> who = ["man"] * 20 + ["woman"] * 20
    >>> said = ["yes"] * 15 + ["no"] * 5 + ["yes"] * 6 + ["no"] * 14
    >>> result = counterfactual(said, who, items)
    >>> row = next(result.table.rows())
    >>> row["group"], row["reference"], row["outcome"], row["difference"], round(row["p"], 4)
    ('woman', 'man', 'yes', -0.45, 0.0039)
    """
    level_of(confidence, "confidence")
    text_or_none(reference, "reference")
    for name, value in (("answers", answers), ("group", group), ("item", item)):
        if value is None:
            raise TypeError(f"{name} is None; an array, or the name of a column of data, is needed")
    one_of(correction, "correction", METHODS)
    if isinstance(answers, TextLabels):
        if labels is not None:
            raise TypeError("labels has no meaning for answers that read_text has read already")
        answers = answers.table["labels"]
    marked = refusals if not _are_phrases(refusals) else None
    columns = one_columns(data, {"answers": answers, "group": group, "item": item, "topic": topic, "refusals": marked})
    groups, group_code = _coded(spelled(columns["group"], "group"))
    if len(groups) < 2:
        raise ValueError(f"group is {groups[0]!r} throughout; two groups or more are compared")
    if reference is not None and reference not in groups:
        raise ValueError(f"reference is {shown(reference)}; the groups are {', '.join(map(repr, groups[:12]))}")
    items, item_code = _coded(spelled(columns["item"], "item"))
    topics, topic_code = (
        _coded(spelled(columns["topic"], "topic")) if topic is not None else ([""], np.zeros_like(item_code))
    )
    said = columns["answers"]
    refused = _refused(said, columns.get("refusals"), refusals)
    outcomes = _outcomes(said, refused, labels)
    rows: list[dict[str, Any]] = []
    for place, title in enumerate(topics):
        own = topic_code == place
        # Items of a topic alone: an item may be asked in several topics.
        of_topic, code = np.unique(item_code[own], return_inverse=True)
        for outcome in outcomes:
            held = Answers(outcome.value[own], code, group_code[own], len(of_topic), len(groups))
            means, counts = held.means()
            for first, second in _pairs(groups, reference):
                found = paired(means, counts, second, first, binary=outcome.share, confidence=confidence)
                if not found.items and not found.unpaired:
                    continue
                table = dict(
                    zip(("both", "group_only", "reference_only", "neither"), found.table or (None,) * 4, strict=True)
                )
                rows.append(
                    {
                        **({"topic": title} if topic is not None else {}),
                        "outcome": outcome.name,
                        "group": groups[second],
                        "reference": groups[first],
                        **{name: value for name, value in found._asdict().items() if name != "table"},
                        **{name: float("nan") if value is None else float(value) for name, value in table.items()},
                        "answers": int(counts[:, [first, second]].sum()),
                    }
                )
    if not any(row["items"] for row in rows):
        raise ValueError("no item was answered for two groups: items must be the same prompts asked of each group")
    found_q = q_values(np.array([row["p"] for row in rows]), correction)
    rows = [{**row, "q": float(q)} for row, q in zip(rows, found_q, strict=True)]
    settings = {"confidence": confidence, "correction": correction, "reference": reference}
    return Counterfactual(
        tuple(rows), tuple(groups), len(items), len(said), int(refused.sum()), _missing(said), settings
    )


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """How answers to the same items differ between groups; see :func:`biasamp.counterfactual`.

    Attributes
    ----------
    rows : tuple of dict
        A comparison each: those of ``.table``.
    groups : tuple of str
    items, answers, refused, unanswered : int
        Distinct items, answers in all, those that declined, and those that could not be read.

    Examples
    --------
    >>> import biasamp
    >>> items, who = [f"loan {i}" for i in range(20)] * 2, ["man"] * 20 + ["woman"] * 20
    >>> result = biasamp.counterfactual(["yes"] * 15 + ["no"] * 5 + ["yes"] * 6 + ["no"] * 14, who, items)
    >>> result.items, result.answers, result.groups
    (20, 40, ('man', 'woman'))
    >>> [(row["group"], row["outcome"], row["difference"]) for row in result.table.rows()]
    [('woman', 'yes', -0.45)]
    """

    rows: tuple[dict[str, Any], ...]
    groups: tuple[str, ...]
    items: int
    answers: int
    refused: int
    unanswered: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Counterfactual({self.answers:,} answers to {self.items:,} items about {', '.join(self.groups[:6])}; "
            f"{len(self.rows)} comparisons)"
        )

    @property
    def table(self) -> Table:
        """One row per topic, outcome and pair of groups."""
        return Table.from_rows(self.rows)

    @property
    def findings(self) -> list[str]:
        """What was found, in words; the clearest first."""
        clear = sorted(
            (row for row in self.rows if row["q"] <= 0.05), key=lambda row: (row["q"], -abs(row["difference"]))
        )
        out = [_sentence(row) for row in clear]
        rest = len(self.rows) - len(clear)
        if rest:
            words = ("concludes", "its difference") if rest == 1 else ("conclude", "their differences")
            out.append(
                f"{rest} of {len(self.rows)} comparisons {words[0]} nothing: {words[1]} may be chance (q above 0.05), which is not "
                "to say that there are none."
            )
        if self.refused or self.unanswered:
            out.append(
                f"{self.refused:,} of {self.answers:,} answers declined and {self.unanswered:,} could not be read: they are "
                "outcomes of their own and part of no other."
            )
        unpaired = max(row["unpaired"] for row in self.rows)
        if unpaired:
            out.append(
                f"Up to {unpaired:,} items were answered for one of two groups only, and are left out of their comparison."
            )
        return out

    def to_dict(self) -> dict[str, Any]:
        """The result in plain values that JSON can hold."""
        rows = [{name: plain(value) for name, value in row.items()} for row in self.rows]
        return {
            "schema": 1,
            "kind": "counterfactual",
            "groups": list(self.groups),
            "items": self.items,
            "answers": self.answers,
            "refused": self.refused,
            "unanswered": self.unanswered,
            "settings": dict(self.settings),
            "comparisons": rows,
            "findings": self.findings,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text with a checksum, which is also written to ``path`` where one is given."""
        return written(json_text(with_checksum(self.to_dict())), path)

    def _repr_html_(self) -> str:
        return str(render("plain table", self.table))


def _sentence(row: Mapping[str, Any]) -> str:
    about = f"{printable(row['topic'])}: " if row.get("topic") else ""
    lead = f"{about}{printable(row['group'])} against {printable(row['reference'])}, "
    what = {
        REFUSED: "answers that decline",
        UNANSWERED: "answers that could not be read",
        SCORE: "mean score",
    }.get(row["outcome"], f"share of {printable(row['outcome'])!r}")
    interval = "" if row["low"] != row["low"] else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    return (
        f"{lead}{what}: {row['group_mean']:.3f} and {row['reference_mean']:.3f}, a difference of {row['difference']:+.3f}{interval} "
        f"over {row['items']:,} items (q {row['q']:.2g})."
    )


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Values of one outcome, NaN where the answer is none of it; ``share`` says that they are 0 and 1."""

    name: str
    value: NDArray[np.float64]
    share: bool


def _coded(values: Any) -> tuple[list[str], Any]:
    names = sorted(set(values.tolist()), key=category_order)
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place[value] for value in values.tolist()], dtype=np.int64)


def _pairs(groups: Sequence[str], reference: str | None) -> list[tuple[int, int]]:
    """Reference and group of each comparison."""
    if reference is None:
        return list(combinations(range(len(groups)), 2))
    base = groups.index(reference)
    return [(base, place) for place in range(len(groups)) if place != base]


def _are_phrases(refusals: Any) -> bool:
    """Whether the argument lists phrases (or is "auto", or says that there are none)."""
    if refusals is None or isinstance(refusals, str):
        if refusals not in (None, "auto"):
            raise ValueError(f"refusals is {shown(refusals)}; 'auto', a list of phrases, or an array of True and False")
        return True
    return isinstance(refusals, (list, tuple)) and all(isinstance(one, str) for one in refusals)


def _missing(said: Column) -> int:
    return int(_gone(said).sum())


def _gone(said: Column) -> Mask:
    if said.kind == "text":
        blank = np.array([*(not name.strip() for name in said.categories), True], dtype=bool)
        return blank[said.values]
    gone = said.gone.copy()
    return gone | np.isnan(said.values) if said.kind == "float" else gone


def _refused(said: Column, marked: Column | None, refusals: Any) -> Mask:
    if marked is not None:
        if marked.kind not in ("bool", "int") or not set(np.unique(marked.values).tolist()) <= {0, 1}:
            raise TypeError("refusals holds values other than True and False; mark each answer, or list phrases")
        return marked.values.astype(bool) & ~_gone(said)
    if said.kind != "text" or refusals is None:
        return np.zeros(len(said), dtype=bool)
    phrases = REFUSALS if isinstance(refusals, str) else tuple(refusals)
    if not phrases or not said.categories:
        return np.zeros(len(said), dtype=bool)
    # The beginning tells: 'I cannot recommend her enough' in the middle of a letter is no refusal.
    heads = [name.strip()[:60] for name in said.categories]
    found = read_text(heads, labels={REFUSED: phrases}, plurals=False).table["labels"].to_pylist()
    return np.array([*map(bool, found), False], dtype=bool)[said.values]


def _outcomes(said: Column, refused: Mask, labels: Any) -> list[_Outcome]:
    gone = _gone(said)
    there = ~gone & ~refused

    def share(name: str, hit: Mask, among: Mask) -> _Outcome:
        return _Outcome(name, np.where(among, hit.astype(np.float64), np.nan), True)

    if labels is not None:
        if said.kind != "text":
            raise TypeError("labels are searched in text, and answers holds none")
        found = read_text(list(said.categories) or [""], labels=labels).table["labels"].to_pylist()
        names = sorted({name for one in found for name in one} | set(_all_names(labels)))
        sets = [set(one) for one in found]
        out = []
        for name in names:
            holds = np.array([*(name in one for one in sets), False], dtype=bool)
            out.append(share(name, holds[said.values], there))
    elif said.kind == "list":
        row = (
            np.repeat(np.arange(len(said)), np.diff(said.indptr))
            if said.indptr is not None
            else np.zeros(0, dtype=np.int64)
        )
        out = []
        for code, name in enumerate(said.categories):
            hit = np.zeros(len(said), dtype=bool)
            hit[row[said.values == code]] = True
            out.append(share(name, hit, there))
    elif said.kind == "text":
        held = np.unique(said.values[there])
        names = [said.categories[code] for code in held]
        if len(names) > _MOST_CATEGORIES:
            raise ValueError(
                f"answers has {len(names):,} different texts, such as {printable(names[0], 60)!r}: say what to look for in them "
                "with labels=, or give scores or categories"
            )
        wanted = _shown_categories(names)
        out = [share(name, said.values == said.categories.index(name), there) for name in wanted]
    else:
        value = np.where(there, said.values.astype(np.float64), np.nan)
        seen = set(np.unique(value[there]).tolist())
        binary = said.kind == "bool" or (seen <= {0.0, 1.0} and bool(seen))
        out = [_Outcome("yes" if said.kind == "bool" else SCORE, value, binary)]
    for name, hit in ((REFUSED, refused), (UNANSWERED, gone)):
        if hit.any():
            out.append(share(name, hit, np.ones(len(said), dtype=bool)))
    return out


def _all_names(labels: Any) -> list[str]:
    if isinstance(labels, str):
        return []
    return [str(name) for name in labels]


def _shown_categories(names: Sequence[str]) -> list[str]:
    """All categories, or one of two: yes where there is one, else the last."""
    if len(names) != 2:
        return list(names)
    yes = [name for name in names if name.strip().lower() in _YES]
    return yes[:1] if len(yes) == 1 else [names[-1]]
