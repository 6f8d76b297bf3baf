"""Which records were counted, known by their ids: whether two counts are of the same, of some of the same, or of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.data.keys import Keys

from .fingerprints import Fingerprint, least_keys


@dataclass(frozen=True)
class KnownRecords:
    """The fingerprint of records' ids, and a sample of their keys by which overlaps are noticed.

    Examples
    --------
    >>> from biasamp.data.keys import record_keys
    >>> import numpy as np
    >>> whole = KnownRecords.of(record_keys(np.arange(1000)))
    >>> part = KnownRecords.of(record_keys(np.arange(900, 1000)))
    >>> whole.shares(part), whole == part, whole == KnownRecords.of(record_keys(np.arange(900))) + part
    (True, False, True)
    """

    keys: Fingerprint
    sampled: tuple[int, ...]

    @classmethod
    def of(cls, keys: Keys) -> KnownRecords:
        """From the key of each record."""
        return cls(Fingerprint.of(keys), least_keys(keys))

    def __add__(self, other: KnownRecords) -> KnownRecords:
        sampled = least_keys(np.array(self.sampled + other.sampled, dtype=np.uint64))
        return KnownRecords(self.keys + other.keys, sampled)

    def once(self, keys: Keys) -> KnownRecords:
        """The same without the second mention of some records, which two neighbouring parts both hold."""
        return KnownRecords(self.keys - Fingerprint.of(keys), self.sampled)

    def shares(self, other: KnownRecords) -> bool:
        """Whether some of the sampled keys are in both: certain where it is true, likely where it is not."""
        return not set(self.sampled).isdisjoint(other.sampled)

    def to_dict(self) -> dict[str, Any]:
        """As a file's header holds it."""
        return {"keys": str(self.keys), "sampled": [f"{key:016x}" for key in self.sampled]}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> KnownRecords:
        """What :meth:`to_dict` gave."""
        return cls(Fingerprint.parse(held["keys"]), tuple(int(key, 16) for key in held["sampled"]))
