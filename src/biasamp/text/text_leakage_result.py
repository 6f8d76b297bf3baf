"""What :func:`biasamp.text_leakage` found: LIC, its two errors, models in pairs, and the words that give an attribute away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from biasamp.data.label import printable
from biasamp.resampling.significance import fisher_exact, normal_quantile, q_values
from biasamp.results.checksums import json_text, with_checksum
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .masking import MASKED, UNKNOWN, Mask, known_gender_words, spelled_out

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
# What texts are called that have no model's name.
MODEL = "texts"
# LIC is printed in percent.
PERCENT = 100.0
# Words of fewer texts than this are not said to give anything away.
_OFTEN = 5
_TOP = 10


class HeldOut(NamedTuple):
    """Scores of held-out texts: ``by_seed`` their mean for each seed; for each unit the sum of its scores and how often it was scored."""

    by_seed: Floats
    total: Floats
    times: Floats
    group: Index  # of each unit

    @property
    def value(self) -> float:
        """The mean score in percent."""
        return float(PERCENT * self.total.sum() / self.times.sum())


def _texts_error(scores: Floats, times: Floats, group: Index) -> float:
    """The standard error of a mean of held-out scores over units, group by group as many of each are drawn."""
    there = times > 0
    scores, times, group = scores[there], times[there], group[there]
    out = 0.0
    for one in np.unique(group):
        own = group == one
        mean = scores[own].sum() / times[own].sum()
        apart = scores[own] - mean * times[own]
        units = int(own.sum())
        out += float((apart**2).sum()) * units / max(units - 1, 1)
    return float(np.sqrt(out) / times.sum())


@dataclass(frozen=True, eq=False)
class TextLeakage:
    """How far texts give an attribute away; see :func:`biasamp.text_leakage`.

    Attributes
    ----------
    models, groups : tuple of str
    sizes : tuple of int
        Records of each group, before groups are balanced.
    mask : Mask
        The masked words and whose list they are.
    settings : mapping
        Seeds, the share that is scored, the level of intervals, and the attacker's recipe.

    Examples
    --------
    >>> import biasamp
    >>> captions = ["a woman in a kitchen", "a man on a board"] * 40 + ["a woman on a board", "a man in a kitchen"] * 10
    >>> result = biasamp.text_leakage(captions, ["woman", "man"] * 50, seeds=3)
    >>> result.groups, result.sizes
    (('man', 'woman'), (50, 50))
    >>> [row["word"] for row in result.words.rows()][:2]
    ['<mask> in', 'a kitchen']
    """

    models: tuple[str, ...]
    groups: tuple[str, ...]
    sizes: tuple[int, ...]
    mask: Mask
    settings: Mapping[str, Any]
    _scores: Mapping[tuple[str, str], HeldOut] = field(repr=False)
    _weights: Mapping[str, Mapping[str, Floats]] = field(repr=False)
    _counts: Mapping[str, Mapping[str, Index]] = field(repr=False)

    @property
    def lic_m(self) -> dict[str, float]:
        """LIC_M of each model, in percent."""
        return {name: self._scores[name, "LIC_M"].value for name in self.models}

    @property
    def lic_d(self) -> dict[str, float] | None:
        """LIC_D for each model's vocabulary, in percent; None where there are no references."""
        if (self.models[0], "LIC_D") not in self._scores:
            return None
        return {name: self._scores[name, "LIC_D"].value for name in self.models}

    @property
    def lic(self) -> dict[str, float] | None:
        """LIC_M less LIC_D of each model; None where there are no references."""
        people = self.lic_d
        return None if people is None else {name: value - people[name] for name, value in self.lic_m.items()}

    @cached_property
    def table(self) -> Table:
        """One row per model and figure: value, ``error`` over texts with its interval, spread over seeds, and the seeds' own values."""
        rows = []
        for name in self.models:
            found = self._scores[name, "LIC_M"]
            rows.append(self._row(name, "LIC_M", found.value, self._error(found), found.by_seed))
            people = self._scores.get((name, "LIC_D"))
            if people is not None:
                rows.append(self._row(name, "LIC_D", people.value, self._error(people), people.by_seed))
                rows.append(
                    self._row(
                        name,
                        "LIC",
                        found.value - people.value,
                        self._paired(found, people),
                        found.by_seed - people.by_seed,
                    )
                )
        return Table.from_rows(rows)

    @cached_property
    def differences(self) -> Table:
        """Each model less each one before it, on the same splits and texts: LIC_M, and LIC where there are references."""
        rows = []
        for first, second in combinations(self.models, 2):
            one, other = self._scores[second, "LIC_M"], self._scores[first, "LIC_M"]
            rows.append(
                self._row(
                    f"{second} less {first}",
                    "LIC_M",
                    one.value - other.value,
                    self._paired(one, other),
                    one.by_seed - other.by_seed,
                )
            )
        for row in rows:
            row["p"] = _normal_p(row["value"], row["error"])
        q = q_values(np.array([row["p"] for row in rows]))
        return Table.from_rows([{**row, "q": float(one)} for row, one in zip(rows, q, strict=True)])

    def _row(self, model: str, figure: str, value: float, error: float, by_seed: Floats) -> dict[str, Any]:
        reach = normal_quantile(self.settings["confidence"]) * error
        spread = float(by_seed.std(ddof=1)) if len(by_seed) > 1 else float("nan")
        return {
            "model": model, "figure": figure, "value": float(value), "low": value - reach, "high": value + reach, "error": error,
            "seed_sd": spread, "seed_low": float(by_seed.min()), "seed_high": float(by_seed.max()),
        }  # fmt: skip

    def _error(self, held: HeldOut) -> float:
        return PERCENT * _texts_error(held.total, held.times, held.group)

    def _paired(self, one: HeldOut, other: HeldOut) -> float:
        """The error of a difference: unit by unit, as each is scored for both on the same splits (if not equally often)."""
        scale = one.times.sum() / other.times.sum()
        return PERCENT * _texts_error(one.total - other.total * scale, one.times, one.group)

    @cached_property
    def words(self) -> Table:
        """The words and pairs of words that give the attribute away, of all models: the heaviest first.

        ``weight`` is the attacker's (mean over seeds) for the group ``toward``, NaN where it has none; then the words go by q. ``count[group]`` are texts
        that have the word; ``q`` tests that their shares are equal.
        """
        parts = [self._words_of(name) for name in self.models]
        rows = [row for part in parts for row in part]
        return Table.from_rows(rows)

    def _words_of(self, model: str) -> list[dict[str, Any]]:
        weights, counts = self._weights[model], self._counts[model]
        names = sorted(word for word, held in counts.items() if held.sum() >= _OFTEN)
        if not names:
            return []
        count = np.array([counts[name] for name in names])
        sizes = np.array(self.sizes)
        share = count / sizes
        toward = share.argmax(axis=1)
        heavy = np.full(len(names), np.nan)
        if weights:
            held = np.array([weights.get(name, np.zeros(len(sizes))) for name in names])
            toward = held.argmax(axis=1)
            heavy = held[np.arange(len(names)), toward]
        own = count[np.arange(len(names)), toward]
        rest = count.sum(axis=1) - own
        p = fisher_exact(own, sizes[toward], rest, sizes.sum() - sizes[toward])
        q = q_values(p)
        gendered = known_gender_words() - {" ".join(parts) for parts in spelled_out(self.mask)}
        order = np.lexsort((np.arange(len(names)), q, np.zeros(len(q)) if not weights else -heavy))
        return [
            {
                **({"model": model} if len(self.models) > 1 else {}),
                "word": names[i],
                "toward": self.groups[toward[i]],
                "weight": float(heavy[i]),
                **{f"count[{group}]": int(count[i, k]) for k, group in enumerate(self.groups)},
                "share": float(share[i, toward[i]]),
                "share_of_others": float(rest[i] / (sizes.sum() - sizes[toward[i]])),
                "q": float(q[i]),
                "unmasked": names[i] in gendered,
            }
            for i in order
        ]

    @property
    def findings(self) -> list[str]:
        """What was found, in words."""
        return list(_findings(self))

    def __repr__(self) -> str:
        held = ", ".join(f"{printable(name)} {value:.1f}" for name, value in self.lic_m.items())
        return f"TextLeakage(LIC_M {held}; {self.settings['recipe']}, {self.settings['seeds']} seeds)"

    def to_dict(self) -> dict[str, Any]:
        """The result in plain values that JSON can hold."""

        def rows(table: Table) -> list[dict[str, Any]]:
            return table.plain_rows()

        return {
            "schema": 1,
            "kind": "text_leakage",
            "groups": [{"group": name, "texts": size} for name, size in zip(self.groups, self.sizes, strict=True)],
            "mask": {"words": list(self.mask.words), "source": self.mask.source},
            "settings": dict(self.settings),
            "figures": rows(self.table),
            "differences": rows(self.differences),
            "words": rows(self.words),
            "findings": self.findings,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text with a checksum, which is also written to ``path`` where one is given."""
        return written(json_text(with_checksum(self.to_dict())), path)

    def _repr_html_(self) -> str:
        return str(render("plain table", self.table))


def _findings(result: TextLeakage) -> Iterator[str]:
    about = f"{result.settings['seeds']} random splits, {result.settings['recipe']}"
    for row in result.table.rows():
        what = {
            "LIC_M": "the model's texts",
            "LIC_D": "human texts in its vocabulary",
            "LIC": "the model's texts less human ones",
        }[row["figure"]]
        name = "" if row["model"] == MODEL else f"{printable(row['model'])}: "
        yield (
            f"{name}{row['figure']} of {what} is {row['value']:.1f} [{row['low']:.1f}, {row['high']:.1f}] over texts, given the attackers; splits spread by "
            f"{0.0 if row['seed_sd'] is None else row['seed_sd']:.1f} ({about})."
        )
    if result.lic_d is None:
        yield "LIC_D was not measured, for there are no human texts: whether the model adds to what people write is not known."
    for row in result.differences.rows():
        clear = "more" if row["value"] > 0 else "less"
        verdict = f"gives {clear} away" if row["q"] <= 0.05 else "the difference may be chance"
        yield (
            f"{printable(row['model'])}: LIC_M differs by {row['value']:+.1f} [{row['low']:+.1f}, {row['high']:+.1f}], paired on the same splits and texts: "
            f"{verdict} (q {row['q']:.2g})."
        )
    clear_words = [
        row
        for row in result.words.rows()
        if row["q"] <= 0.05 and MASKED not in row["word"] and UNKNOWN not in row["word"]
    ]
    for group in result.groups:
        own = [printable(row["word"]) for row in clear_words if row["toward"] == group]
        if own:
            yield f"Words that give {printable(group)} away: {', '.join(list(dict.fromkeys(own))[:_TOP])}."
    left = list(dict.fromkeys(row["word"] for row in result.words.rows() if row["unmasked"]))
    if left:
        yield (
            f"The mask leaves out {', '.join(map(printable, left[:_TOP]))}, which other lists take for words of a gender: mask them too, or the figure "
            "has them in it."
        )
    yield f"{len(result.mask.words)} words are masked ({result.mask.source}); another list gives another figure."


def _normal_p(value: float, error: float) -> float:
    if not error > 0:
        return 1.0 if value == 0 else float("nan")
    return float(2 * norm.sf(abs(value) / error))
