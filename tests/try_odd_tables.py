"""Tables of odd values for the judge of the audit in the browser, in odd CSV and in Parquet."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from try_pools import POOLS, ROLES, Made, Rng, column, parquet

_LETTERS = "abAB01.,-_ '\"|;/\t\u00a0\u200b\u0301éßſıİΣςаЕ½²﹣−–＋１٣ﬁ&[](){}<>?#%~😀\u202e\x1f\x85"
_CHANGES: tuple[Callable[[str], str], ...] = (
    str.upper,
    str.lower,
    str.title,
    str.swapcase,
    lambda text: text + " ",
    lambda text: " " + text,
    lambda text: text + "\u00a0",
    lambda text: text + "\u200b",
    lambda text: text.replace(" ", "_"),
    lambda text: text + ".0",
    lambda text: text + "0",
    lambda text: "0" + text,
    lambda text: f"[{text}]",
    lambda text: f"'{text}'",
    lambda text: f"&lt;{text}&gt;",
    lambda text: text.replace("e", "é"),
    lambda text: text + "\u0301",
    lambda text: text[:1],
    lambda text: text + "|x",
    lambda text: text + "/" + text,
    lambda text: text * 2,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKC", text),
)


def _values(rng: Rng) -> list[str]:
    """Some values of one column: of a pool or two, or of odd characters."""
    if rng.random() < 0.25:
        odd = ["".join(rng.choice(list(_LETTERS), int(rng.integers(1, 6)))) for _ in range(int(rng.integers(2, 5)))]
        return list(dict.fromkeys(odd))
    held = [*POOLS[int(rng.integers(len(POOLS)))]]
    if rng.random() < 0.2:
        held += POOLS[int(rng.integers(len(POOLS)))]
    return list(dict.fromkeys(held))


def _changed(rng: Rng, values: list[str]) -> list[str]:
    """The same values, one of them at times in another spelling, or one more."""
    out = list(values)
    if rng.random() < 0.6:
        place = int(rng.integers(len(out)))
        new = _CHANGES[int(rng.integers(len(_CHANGES)))](out[place])
        if rng.random() < 0.5:
            out[place] = new
        else:
            out.append(new)
    return out


def fuzzed(seed: int, count: int) -> Iterator[Made]:
    """Tables of odd values in odd CSV, and as text in Parquet."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        n = int(rng.choice([3, 12, 30, 80]))
        truth = _values(rng)
        pools = {"gender": _values(rng), "hired": truth, "said": _changed(rng, truth)}
        columns: dict[str, list[Any]] = {}
        for name, values in pools.items():
            gaps = 0.05 if rng.random() < 0.15 else 0.0
            drawn = column(rng, n, tuple(values))
            columns[name] = [None if rng.random() < gaps else value for value in drawn]
        roles = dict(ROLES)
        if rng.random() < 0.2:
            columns["other"] = column(rng, n, ("0", "1"))
            columns["guess"] = column(rng, n, tuple(_changed(rng, ["0", "1"])) if rng.random() < 0.3 else ("0", "1"))
            roles = {**roles, "tasks": ["hired", "other"], "task_predictions": ["said", "guess"]}
        if rng.random() < 0.2:
            yield Made(f"fuzz-{seed}-{number}.parquet", parquet(pa.table(columns)), roles)
            continue
        yield Made(f"fuzz-{seed}-{number}.csv", _odd_csv(rng, columns), roles)


def _odd_csv(rng: Rng, columns: dict[str, list[Any]]) -> bytes:
    """A table as CSV of some dialect; fields at random in quotes, and at times something wrong."""
    separator = str(rng.choice([",", ",", ",", ";", "\t", "|"]))
    end = str(rng.choice(["\n", "\n", "\r\n", "\r"]))
    wrong = rng.random() < 0.1
    quotes = float(rng.choice([0.0, 0.0, 0.3, 1.0]))

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        bare = not any(mark in text for mark in (separator, "\n", "\r")) and not text.startswith('"')
        if (bare and rng.random() >= quotes) or (wrong and rng.random() < 0.02):
            return text
        return '"' + text.replace('"', '""') + '"'

    rows = [separator.join(map(cell, row)) + end for row in [list(columns), *zip(*columns.values(), strict=True)]]
    if wrong:
        place = int(rng.integers(len(rows)))
        rows[place] = str(
            rng.choice([rows[place] + end, end, rows[place][:-3] + end, " " + rows[place], rows[place] * 2])
        )
    text = "".join(rows)
    if rng.random() < 0.3:
        text = text.removesuffix(end)
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding, "surrogatepass")
