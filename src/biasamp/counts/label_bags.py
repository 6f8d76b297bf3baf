"""Association counts by bag: what pairs two runs on the same records, from counts alone.

A record falls into one of 256 bags by its id. What two runs count in the same bag they count, for the most part, of the
same records: sums over bags then know how the runs go together, whichever records they share.

While a long table is counted, the bag of a record travels as one more label of it, whose bits stand above those of the
identities in the record's pattern. So records that go on in the next batch, part or machine keep their bag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.data.keys import Keys

from .bagging import FEWEST_BAGS, bag_of
from .cells import summed

Index = NDArray[np.int64]

BAGS = FEWEST_BAGS
# A pattern has 63 bits; those of the bag are the highest.
BAG_SHIFT = 63 - (BAGS - 1).bit_length()
# Labels that no data hold, short of being made up to.
BAG_LABELS = tuple(f"\0biasamp bag 5eed0fba65 {bag}" for bag in range(BAGS))
BAG_OF_LABEL = {label: bag for bag, label in enumerate(BAG_LABELS)}


def label_bags_of(keys: Keys) -> Index:
    """The bag of each record, from the key of its id."""
    return bag_of(keys, BAGS)


@dataclass(frozen=True, eq=False)
class LabelBags:
    """Counts of records by bag, in all and with each label, each for all identities and for every one.

    Attributes
    ----------
    sizes : ndarray of shape (bags, 1 + identities)
        Records of each bag; then those with each identity.
    keys, values : ndarray of shape (cells,)
        The cells (label, bag, part) that are not 0, by number, and their counts: part 0 is the records with the label,
        part 1 + k those that have identity k too.
    """

    sizes: Index
    keys: Index
    values: Index

    @classmethod
    def of_patterns(
        cls, many: int, masks: Index, records: Index, cells: tuple[Index, Index, Index], identity_bits: Index
    ) -> LabelBags:
        """From counts of patterns, which hold the bag above the identities.

        Parameters
        ----------
        masks, records : ndarray of shape (patterns,)
        cells : pattern, label and records of both
        identity_bits : ndarray of shape (patterns, identities)
        """
        width = 1 + many
        bag = masks >> BAG_SHIFT
        sizes = np.zeros((BAGS, width), dtype=np.int64)
        np.add.at(sizes[:, 0], bag, records)
        pattern, label, values = cells
        place = (label * BAGS + bag[pattern]) * width
        keys, counts = [place], [values]
        for k in range(many):
            has = identity_bits[:, k] == 1
            np.add.at(sizes[:, 1 + k], bag[has], records[has])
            here = has[pattern]
            keys.append(place[here] + 1 + k)
            counts.append(values[here])
        return cls(sizes, *summed(np.concatenate(keys), np.concatenate(counts)))

    @property
    def cells(self) -> tuple[Index, Index, Index]:
        """Label, bag and part of each cell."""
        place, part = np.divmod(self.keys, self.sizes.shape[1])
        label, bag = np.divmod(place, BAGS)
        return label, bag, part

    def moved(self, target: Index) -> LabelBags:
        """The same counts where label i is now label ``target[i]``; a target below 0 leaves it out."""
        label, bag, part = self.cells
        new = target[label]
        kept = new >= 0
        keys = (new * BAGS + bag) * self.sizes.shape[1] + part
        return LabelBags(self.sizes, *summed(keys[kept], self.values[kept]))

    def __add__(self, other: LabelBags) -> LabelBags:
        keys, values = (np.concatenate(pair) for pair in ((self.keys, other.keys), (self.values, other.values)))
        return LabelBags(self.sizes + other.sizes, *summed(keys, values))

    def linear(
        self, labels: Index, of_records: NDArray[np.float64], of_label: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sums of a linear form over the records of each bag, less the form's mean, for some labels.

        Parameters
        ----------
        labels : ndarray of shape (some labels,)
            Ascending.
        of_records, of_label : ndarray of shape (some labels, 1 + identities)
            What a record of a bag adds (first in any case, then for each identity it has), and what it adds besides
            where it has the label.

        Returns
        -------
        ndarray of shape (some labels, bags)
        """
        out = of_records @ self.sizes.T.astype(np.float64)
        label, bag, part = self.cells
        at = np.searchsorted(labels, label)
        mine = labels[np.minimum(at, len(labels) - 1)] == label
        at, bag, part = at[mine], bag[mine], part[mine]
        added = of_label[at, part] * self.values[mine]
        out += np.bincount(at * BAGS + bag, weights=added, minlength=out.size).reshape(out.shape)
        share = self.sizes[:, 0] / self.sizes[:, 0].sum()
        return out - out.sum(axis=1, keepdims=True) * share
