"""Label sets of the shape of Open Images: few common labels, many rare ones, skews of known size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import listed, names_of, number, pair_of, shown, whole_number

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GeneratedLabels:
    """Generated label sets and the truth about them.

    Attributes
    ----------
    identities : tuple of str
    identity : ndarray of bool, shape (records, 2)
        Which records carry each identity.
    label_names : tuple of str
        From the most common to the rarest.
    record, label : ndarray of int
        One row per label of a record, sorted by record; ``label`` is an index into ``label_names``.
    rate : ndarray of shape (labels, 4)
        The chance of each label among records of neither identity, of the first, of the second, and of both.
    skew : ndarray of shape (labels,)
        The planted ``ln P(y|x1)/P(y|x2)`` among records of one identity; 0 for a label without skew.

    Examples
    --------
    >>> import biasamp
    >>> made = biasamp.open_images_shape(records=1000, labels=20, seed=0)
    >>> made.identities, len(made.label_names)
    (('man', 'woman'), 20)
    >>> made.to_arrow().column_names
    ['record', 'label']
    """

    identities: tuple[str, str]
    identity: NDArray[np.bool_]
    label_names: tuple[str, ...]
    record: Index
    label: Index
    rate: Array
    skew: Array

    @property
    def skewed(self) -> NDArray[np.bool_]:
        """Which labels have a planted skew."""
        return self.skew != 0

    def to_arrow(self) -> Any:
        """The long table of (record, label), identities among the labels, sorted by record."""
        import pyarrow as pa

        which, holder = np.nonzero(self.identity.T)
        record = np.concatenate([self.record, holder])
        label = np.concatenate([self.label, len(self.label_names) + which])
        order = np.lexsort((label, record))
        names = pa.array([*self.label_names, *self.identities])
        codes = pa.array(label[order].astype(np.int32))
        return pa.table({"record": record[order], "label": pa.DictionaryArray.from_arrays(codes, names)})


def open_images_shape(
    records: int = 200_000,
    labels: int = 20_000,
    *,
    labels_per_record: float = 8.0,
    identities: tuple[str, str] = ("man", "woman"),
    identity_rates: tuple[float, float] = (0.2, 0.15),
    both: float = 0.0,
    common: float = 0.05,
    rare: float = 0.92,
    skewed: tuple[float, float] = (0.8, 0.05),
    ratios: tuple[tuple[float, ...], tuple[float, ...]] = ((3.0, 4.0), (6.0, 8.0, 10.0)),
    exponent: float = 1.0,
    seed: int | np.random.Generator = 0,
) -> GeneratedLabels:
    """Draw label sets with Zipf label counts and planted skews.

    Parameters
    ----------
    records, labels : int
    labels_per_record : float
        Mean number of labels of a record.
    identities : tuple of two str
    identity_rates : tuple of two float
        Share of the records that carry the first identity, and the second, alone or with the other.
    both : float
        Share of the records that carry both.
    common : float
        Share of the labels that count as common: the most frequent ones.
    rare : float
        Share of the labels that count as rare: the least frequent ones. Those between have no skew.
    skewed : tuple of two float
        Share of the common labels, and of the rare ones, that are given a skew: common
        ones spread evenly over their ranks, rare ones over the logarithm of their ranks.
    ratios : tuple of two tuples of float
        Sizes of the skews of common and of rare labels: how many times likelier a label is with one identity than
        with the other. Each ratio is planted toward each identity in turn. In Open Images, too, the largest
        ratios are found at rare labels.
    exponent : float
        The rate of the r-th label falls as ``1 / (r + 3)**exponent``.
    seed : int or Generator

    Returns
    -------
    GeneratedLabels

    Notes
    -----
    A label skewed by ratio r toward x1 has its usual rate times sqrt(r) among records of x1 alone and divided by
    sqrt(r) among those of x2 alone, and the usual rate elsewhere; rates stay below 0.9. Labels without skew have
    one rate everywhere, so ``P(y|x1) = P(y|x2)`` holds for them exactly.

    Examples
    --------
    >>> drawn = open_images_shape(1000, 50, seed=1)
    >>> len(drawn.label_names), int(drawn.identity.sum(axis=1).max())
    (50, 1)
    """
    whole_number(records, "records", least=1, most=10**9)
    whole_number(labels, "labels", least=1, most=10**7)
    identity_rates, skewed = pair_of(identity_rates, "identity_rates"), pair_of(skewed, "skewed")
    rates = {"labels_per_record": labels_per_record, "both": both, "common": common, "rare": rare, "exponent": exponent}
    for name, value in rates.items():
        number(value, name, least=0.0, most=1e6)
    if not isinstance(seed, np.random.Generator):
        parts: Any = seed  # numpy takes several numbers as one seed, too
        for part in parts if isinstance(parts, (list, tuple)) else [parts]:
            whole_number(part, "seed")
    if not isinstance(ratios, (tuple, list)) or len(ratios) != 2:
        raise TypeError(f"ratios is {shown(ratios)}; two lists of numbers are needed")
    common_ratios, rare_ratios = (
        tuple(number(one, "ratios", least=1.0) for one in listed(side, "ratios", "numbers")) for side in ratios
    )
    if len(names_of(identities, "identities", "two names")) != 2:
        raise ValueError(f"identities is {shown(identities)}; two names are needed")
    first, second = identity_rates
    if not (0 <= both <= min(first, second) and first + second - both <= 1 and min(first, second) > 0):
        raise ValueError(
            f"identity_rates={identity_rates} with both={both} is impossible: both must not exceed either rate, and "
            "together they must not exceed 1"
        )
    if records < 1 or labels < 1:
        raise ValueError(f"records={records} and labels={labels} must both be at least 1")
    rng = np.random.default_rng(seed)
    pattern = rng.choice(4, size=records, p=[1 - first - second + both, first - both, second - both, both])
    base = _scaled(np.asarray((np.arange(labels) + 4.0) ** -exponent, dtype=np.float64), labels_per_record)
    skew = np.zeros(labels)
    if not (common >= 0 and rare >= 0 and common + rare <= 1):
        raise ValueError(f"common={common} and rare={rare} are shares of the labels: together at most 1")
    edges = round(common * labels), labels - round(rare * labels)
    skew[: edges[0]] = _planted(0, edges[0], skewed[0], common_ratios)
    skew[edges[1] :] = _planted(edges[1], labels, skewed[1], rare_ratios)
    # A common label cannot be eight times likelier: it takes the largest skew its rate has room for.
    over = base * np.exp(np.abs(skew) / 2) > 0.9
    room = np.where(over, np.log(0.9 / base) * 2, np.inf)
    skew = np.sign(skew) * np.minimum(np.abs(skew), np.maximum(room, 0.0))
    rate = np.column_stack([base, base * np.exp(skew / 2), base * np.exp(-skew / 2), base])
    drawn: list[tuple[int, Index]] = []
    groups = [np.flatnonzero(pattern == p) for p in range(4)]
    for y in range(labels):
        for p, group in enumerate(groups):
            if len(group):
                size = rng.binomial(len(group), rate[y, p])
                chosen = group if size == len(group) else rng.choice(group, size, replace=False, shuffle=False)
                drawn.append((y, chosen))
    record = np.concatenate([chosen for _, chosen in drawn])
    label = np.repeat([y for y, _ in drawn], [len(chosen) for _, chosen in drawn])
    order = np.lexsort((label, record))
    identity = np.column_stack([(pattern == 1) | (pattern == 3), (pattern == 2) | (pattern == 3)])
    names = tuple(f"label {y:05d}" for y in range(labels))
    return GeneratedLabels(identities, identity, names, record[order], label[order], rate, skew)


def _scaled(base: Array, total: float) -> Array:
    """Rates in proportion to base, at most 0.6 each, that add up to the mean number of labels."""
    if not 0 < total <= 0.6 * len(base):
        raise ValueError(f"labels_per_record={total} is impossible with {len(base)} labels of rates up to 0.6")
    factor = total / base.sum()
    for _ in range(100):
        rates = np.minimum(base * factor, 0.6)
        if rates.sum() >= total * (1 - 1e-9):
            break
        factor *= total / rates.sum()
    return rates


def _planted(start: int, stop: int, share: float, ratios: tuple[float, ...]) -> Array:
    """Skews of the labels of ranks start to stop; they thin out with the rank, as labels do with their count."""
    if not 0 <= share <= 1:
        raise ValueError(f"skewed={share} must be a share from 0 to 1")
    if any(not ratio > 0 for ratio in ratios):
        raise ValueError(f"ratios={ratios} must be above 0")
    skew = np.zeros(stop - start)
    many = round(share * (stop - start))
    if many and ratios:
        if start == 0:
            place = np.linspace(0, stop - 1, many)
        else:
            place = start * (stop / start) ** ((np.arange(many) + 0.5) / many) - start
        place = np.unique(place.astype(np.int64))
        sizes = np.resize(np.repeat(np.log(ratios), 2), len(place))
        signs = np.resize(np.array([1.0, -1.0]), len(place))
        skew[place] = sizes * signs
    return skew
