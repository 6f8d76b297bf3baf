"""``text_leakage``: how far texts give an attribute away once its words are masked (LIC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import level_of, listed, number, shown, whole_number
from biasamp.data.same_columns import same_index
from biasamp.data.spelling import in_utf8
from biasamp.engines.progress import Bar

from .masking import Mask, masked_texts, read_mask, within_vocabulary
from .named_arguments import one_columns, spelled
from .read_text import texts_of
from .text_attackers import TextAttacker, Texts, text_attacker
from .text_leakage_result import MODEL, PERCENT, HeldOut, TextLeakage

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
# Fewer records of a group than this cannot be split.
_FEWEST = 10
_MOST_SEEDS = 10_000


@in_utf8
def text_leakage(
    texts: Any,
    attribute: Any,
    *,
    references: Any = None,
    data: Any = None,
    mask: Any = "auto",
    attacker: Any = "logistic",
    seeds: int = 10,
    test_share: float = 0.1,
    cluster: Any = None,
    confidence: float = 0.95,
) -> TextLeakage:
    r"""Measure how far texts give an attribute away once its words are masked: LIC.

    Words of the attribute are masked, groups are balanced, an attacker learns the attribute from 90% of the texts, and the rest is scored:

    .. math:: \mathrm{LIC}_M = 100 \cdot \mathrm{mean}\; s_a \, \mathbb 1[\text{attacker right}],

    with :math:`s_a` its confidence in the right answer. :math:`\mathrm{LIC}_D` is the same on human texts, whose words outside the model's
    vocabulary are replaced; :math:`\mathrm{LIC} = \mathrm{LIC}_M - \mathrm{LIC}_D` is above 0 where the model's texts give more away.

    Parameters
    ----------
    texts : list of texts, mapping of a model's name to its texts, or names of columns
        One text for each record. Several models are attacked on the same splits, and compared in pairs.
    attribute : array-like, or the name of a column
        The group of each record.
    references : list of texts, or of lists of texts, or the name of a column, optional
        What people wrote for the same records. Without it LIC_D is not measured.
    data : frame, file or mapping of columns, optional
        Where names refer to.
    mask : "auto", {"lic", "helm", "weat", "captions"}, list of words, mapping, or None
        The words that name the attribute, with their English plurals. ``"auto"`` takes ``"lic"`` where the groups are women and men. What the mask
        leaves out decides the figure: it is part of the result.
    attacker : {"logistic", "naive_bayes", "lstm"} or estimator of scikit-learn
        ``"logistic"`` is logistic regression (C = 1) on TF-IDF of words and pairs of words. An estimator gets the same features, a pipeline the texts.
        ``"lstm"`` needs the extra ``torch``. Figures of different attackers do not compare.
    seeds : int
        How many random splits are made.
    test_share : float
        The share of each group that is scored.
    cluster : array-like or name, optional
        What texts belong together, such as several captions of an image: they fall on one side of a split, and are one unit of the error.
    confidence : float
        The level of intervals.

    Returns
    -------
    TextLeakage
        ``.table`` has LIC_M, LIC_D and LIC of each model with two errors: ``seed_sd``, the spread over splits, which is no sampling error, and
        ``error`` over texts. ``.differences`` compares models in pairs, ``.words`` says which words give the attribute away.

    Notes
    -----
    With two balanced groups an attacker that knows nothing has LIC 25, and one that is always right and sure 100. The error over texts is that of the mean of the
    held-out scores with the texts (or clusters) as units, given the attackers: what other training texts would make of them is not in it. Among 200 made
    corpora of 300 texts, 95% intervals held the mean over corpora in 78%.

    References
    ----------
    Y. Hirota, Y. Nakashima, N. Garcia, "Quantifying Societal Bias Amplification in Image Captioning", CVPR 2022.

    Examples
    --------
    >>> captions = ["a woman in a kitchen", "a man on a board"] * 40 + ["a woman on a board", "a man in a kitchen"] * 10
    >>> result = text_leakage(captions, ["woman", "man"] * 50, seeds=3)
    >>> row = next(result.table.rows())
    >>> row["model"], row["figure"], 25 < row["value"] < 80
    ('texts', 'LIC_M', True)
    """
    level_of(confidence, "confidence")
    whole_number(seeds, "seeds", least=1, most=_MOST_SEEDS)
    number(test_share, "test_share", least=0.01, most=0.9)
    named = texts if isinstance(texts, Mapping) else {MODEL: texts}
    if not named:
        raise ValueError("texts is an empty mapping: name at least one model")
    same_index(
        {
            "attribute": attribute,
            "cluster": cluster,
            "references": references,
            **{f"texts[{name!r}]": held for name, held in named.items()},
        }
    )
    columns = one_columns(data, {"attribute": attribute, "cluster": cluster})
    groups_of = spelled(columns["attribute"], "attribute")
    groups = sorted(set(groups_of.tolist()))
    if len(groups) < 2:
        raise ValueError(f"attribute is {shown(groups[0])} throughout; an attacker needs two groups or more")
    code = np.searchsorted(np.array(groups, dtype=object), groups_of).astype(np.int64)
    units = (
        np.arange(len(code))
        if cluster is None
        else np.unique(spelled(columns["cluster"], "cluster"), return_inverse=True)[1]
    )
    masked_by = read_mask(mask, groups)
    learner = text_attacker(attacker)
    rows = _Rows(code, units.astype(np.int64), len(groups))
    words = {
        str(name): masked_texts(_one_each(texts_of(held, data, "texts"), len(code), f"texts[{name!r}]"), masked_by)
        for name, held in named.items()
    }
    for name, own in words.items():
        if not any(own):
            raise ValueError(f"texts[{name!r}] has no words: there is nothing that an attacker could learn from")
    held_out: dict[tuple[str, str], HeldOut] = {}
    weights: dict[str, dict[str, Floats]] = {}
    people = None if references is None else _references(texts_of(references, data, "references"), len(code), masked_by)
    if people is not None and not any(people[0]):
        raise ValueError("references has no words: there is nothing that an attacker could learn from")
    steps = len(words) * seeds * (1 if people is None else 2)
    with closing(Bar("attackers trained")) as bar:
        for name, own in words.items():
            found, weights[name] = _attacked(rows, own, np.arange(len(code)), learner, seeds, test_share, bar, steps)
            held_out[name, "LIC_M"] = found
            if people is not None:
                said, whose = people
                vocabulary = {word for one in own for word in one}
                of_model = within_vocabulary(said, vocabulary)
                held_out[name, "LIC_D"], _ = _attacked(rows, of_model, whose, learner, seeds, test_share, bar, steps)
    settings = {"seeds": seeds, "test_share": test_share, "confidence": confidence, "recipe": learner.recipe}
    counted = {name: _word_counts(own, code, len(groups)) for name, own in words.items()}
    sizes = tuple(np.bincount(code, minlength=len(groups)).tolist())
    return TextLeakage(tuple(words), tuple(groups), sizes, masked_by, settings, held_out, weights, counted)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Groups and units of records."""

    code: Index
    unit: Index
    groups: int

    @cached_property
    def unit_group(self) -> Index:
        """The group of each unit, which all its records must share."""
        out = np.full(int(self.unit.max()) + 1, -1, dtype=np.int64)
        out[self.unit] = self.code
        if (out[self.unit] != self.code).any():
            raise ValueError("cluster holds records of two groups in one cluster: each must be of one")
        counts = np.bincount(out, minlength=self.groups)
        if counts.min() < _FEWEST:
            raise ValueError(
                f"attribute has a group of {counts.min()} texts or clusters; {_FEWEST} or more of each are needed"
            )
        return out

    def split(self, seed: int, test_share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Units to learn from and units to score: as many of each group, by chance."""
        rng = np.random.default_rng([seed, len(self.unit_group)])
        least = int(np.bincount(self.unit_group, minlength=self.groups).min())
        scored = max(1, round(least * test_share))
        learn, score = (np.zeros(len(self.unit_group), dtype=bool) for _ in range(2))
        for group in range(self.groups):
            drawn = rng.permutation(np.flatnonzero(self.unit_group == group))[:least]
            score[drawn[:scored]] = True
            learn[drawn[scored:]] = True
        return learn, score


def _attacked(
    rows: _Rows, texts: Texts, record: Index, learner: TextAttacker, seeds: int, test_share: float, bar: Any, steps: int
) -> tuple[HeldOut, dict[str, Floats]]:
    """Scores of texts, each of a record, over all splits; and the mean weights of words, where the attacker has any."""
    unit, group = rows.unit[record], rows.code[record]
    total, times = (np.zeros(len(rows.unit_group)) for _ in range(2))
    by_seed = np.zeros(seeds)
    summed: dict[str, Floats] = {}
    for seed in range(seeds):
        learn, score = rows.split(seed, test_share)
        train, test = np.flatnonzero(learn[unit]), np.flatnonzero(score[unit])
        fitted = learner.fit([texts[i] for i in train.tolist()], group[train], seed)
        chance = fitted.probabilities([texts[i] for i in test.tolist()])
        right = chance.argmax(axis=1) == group[test]
        scored = np.where(right, chance[np.arange(len(test)), group[test]], 0.0)
        by_seed[seed] = PERCENT * scored.mean()
        np.add.at(total, unit[test], scored)
        np.add.at(times, unit[test], 1.0)
        for word, weight in (fitted.weights() or {}).items():
            summed[word] = summed.get(word, 0.0) + weight / seeds
        bar(seed + 1, steps)
    return HeldOut(by_seed, total, times, rows.unit_group), summed


def _word_counts(texts: Texts, code: Index, groups: int) -> dict[str, Index]:
    """How many texts of each group have each word, and each pair of neighbours."""
    out: dict[str, Index] = {}
    for words, group in zip(texts, code.tolist(), strict=True):
        for word in {*words, *(f"{one} {two}" for one, two in pairwise(words))}:
            held = out.get(word)
            if held is None:
                held = out[word] = np.zeros(groups, dtype=np.int64)
            held[group] += 1
    return out


def _one_each(texts: Sequence[Any], size: int, name: str) -> list[str | None]:
    if len(texts) != size:
        raise ValueError(
            f"{name} has {len(texts):,} texts, and attribute {size:,} values: one text for each record is needed"
        )
    if any(isinstance(one, list) for one in texts):
        raise TypeError(f"{name} holds lists; one text for each record is needed")
    return list(texts)


def _references(texts: Sequence[Any], size: int, mask: Mask) -> tuple[list[list[str]], Index]:
    """The words of human texts, and the record that each is of; a record may have several."""
    if len(texts) != size:
        raise ValueError(
            f"references has {len(texts):,} entries, and attribute {size:,} values: one for each record is needed"
        )
    several = [listed(one, "references", "texts") if isinstance(one, list) else [one] for one in texts]
    whose = np.repeat(np.arange(size), [len(one) for one in several])
    return masked_texts([text for one in several for text in one], mask), whose
