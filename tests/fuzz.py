"""A fuzzer with a seed: structured random input for functions, files, commands and saved results.

``make fuzz MINUTES=10 SEED=1`` runs it, ``python tests/fuzz.py --kind paths --number 17`` one case again. A case fails by
anything but a result or a ``ValueError``/``TypeError`` with words of its own, and by two paths that give different results
where they must be equal. What it finds becomes a case in the tests.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import biasamp
from biasamp.predictability.attackers import AttackerError
from table_files import write

Rng = np.random.Generator
# Words of libraries, which tell that nobody looked at an argument.
_FOREIGN = re.compile(
    r"truth value of an array|object is not|not supported between|unsupported operand|has no attribute|not subscriptable"
    r"|could not broadcast|ufunc|inhomogeneous shape|not iterable|index \d+ is out of bounds|must be real number|codec can't"
)


class Refused(Exception):
    """Input that was refused in words."""


class Failed(AssertionError):
    """A case that a user would report."""


@contextmanager
def answered() -> Iterator[None]:
    """Turn a message of the package into :class:`Refused`; let everything else through."""
    try:
        yield
    except (ValueError, TypeError, FileNotFoundError, AttackerError) as error:
        if _FOREIGN.search(str(error)) or not str(error):
            raise Failed(f"words of a library: {type(error).__name__}: {error}") from error
        raise Refused(str(error)) from error


# Columns: each maker gives n values of one kind.
def _words(rng: Rng, n: int) -> Any:
    pool = rng.choice(
        np.array(["a", "b", "c", "", "NA", "é", "1", "0", "x y", "a|b", "[1]", "\ud800", "=1+1"], dtype=object),
        int(rng.integers(1, 4)),
    )
    return [str(value) for value in rng.choice(pool, n)]


def _numbers(rng: Rng, n: int) -> Any:
    kind = rng.choice(["int8", "int64", "uint64", "float32", "float64", "bool", "object"])
    values = rng.integers(0, int(rng.integers(2, 4)), n)
    return values.astype(kind)


def _scores(rng: Rng, n: int) -> Any:
    values = rng.random(n).round(int(rng.integers(0, 4)))
    return values.astype(rng.choice(["float32", "float64", "float16"]))


def _with_missing(rng: Rng, n: int) -> Any:
    values = np.array(_MAKERS[int(rng.integers(0, 3))](rng, n), dtype=object)
    values[rng.random(n) < 0.2] = rng.choice(np.array([None, float("nan"), pd.NA, pd.NaT], dtype=object))
    return values.tolist()


def _lists(rng: Rng, n: int) -> Any:
    return [[str(x) for x in "abc" if rng.random() < 0.4] for _ in range(n)]


def _odd(rng: Rng, n: int) -> Any:
    return rng.choice(np.array([2**70, -1, 3, "x", 1.5, None, True, b"b", (1,), 1e300], dtype=object), n).tolist()


_MAKERS: list[Callable[[Rng, int], Any]] = [_words, _numbers, _scores, _with_missing, _lists, _odd]


def _column(rng: Rng, n: int) -> Any:
    values = _MAKERS[int(rng.choice(len(_MAKERS), p=[0.3, 0.3, 0.15, 0.1, 0.1, 0.05]))](rng, n)
    form = int(rng.integers(0, 7))
    try:
        if form == 0:
            return pd.Series(values)
        if form == 1:
            return pl.Series(values, strict=False)
        if form == 2:
            return pa.array(values)
        if form == 3:
            return pa.array(values).dictionary_encode()
        if form == 4:
            return pd.Series(values).astype("category")
        if form == 5:
            return np.asarray(values)
    except Exception:
        return values
    return values


def _side(rng: Rng, n: int) -> Any:
    if rng.random() < 0.25:
        matrix = (rng.random((n, int(rng.integers(1, 4)))) < rng.random()).astype(
            rng.choice(["uint8", "float64", "bool"])
        )
        return pd.DataFrame(matrix) if rng.random() < 0.5 else matrix
    made = _column(rng, n)
    return biasamp.binary(made) if rng.random() < 0.1 else biasamp.categorical(made) if rng.random() < 0.1 else made


def _functions(rng: Rng) -> None:
    """A public function on random columns."""
    n = int(rng.choice([1, 2, 5, 20, 60]))
    given, truth, predicted = (_side(rng, n) for _ in range(3))
    if rng.random() < 0.5:
        predicted = truth  # alike enough to get past the vocabulary
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["weights"] = rng.choice([rng.random(n), rng.integers(0, 3, n)]) if n != 2 else rng.random(n)
    with answered():
        name = str(rng.choice(["directional", "multi", "mals", "parity", "dpa", "leakage", "classify_errors", "sweep"]))
        if name == "mals":
            result: Any = biasamp.mals(given, truth, given, predicted, **options)
        elif name == "classify_errors":
            biasamp.classify_errors(given, truth, given, predicted)
            return
        elif name == "sweep":
            biasamp.sweep(_scores(rng, n), given, truth, **options)
            return
        elif name in ("dpa", "leakage"):
            result = getattr(biasamp, name)(given, truth, predicted, trials=3)
        else:
            result = getattr(biasamp, name)(given, truth, predicted, **options)
        # Intervals of attackers take half a second each, and their values a hundredth of that.
        if name in ("dpa", "leakage") and rng.random() < 0.9:
            float(result.value)
            return
        text = json.dumps(result.to_dict(), allow_nan=False)
        if name in ("directional", "multi", "mals"):
            result.confidence_interval(resamples=20)
        if "NaN" in text:
            raise Failed("NaN in JSON")


def _records(rng: Rng) -> tuple[dict[str, Any], dict[str, Any]]:
    """Records with ids that are likely to be audited, and their roles."""
    n = int(rng.choice([3, 30, 200]))
    data: dict[str, Any] = {"id": rng.permutation(n) if rng.random() < 0.7 else [f"r{i}" for i in range(n)]}
    data["g"] = rng.choice(["w", "m", "é"], n, p=[0.5, 0.4, 0.1]).tolist()
    data["h"] = rng.integers(0, 2, n)
    kind = rng.choice(["variable", "words", "soft", "set", "lists"])
    if kind == "variable":
        data["t"], data["p"] = rng.integers(0, 2, n), rng.integers(0, 2, n)
    elif kind == "words":
        data["t"], data["p"] = (rng.choice(["a", "b", "c"], n).tolist() for _ in range(2))
    elif kind == "soft":
        data["t"], data["p"] = rng.integers(0, 2, n), rng.integers(0, 17, n) / 16
    elif kind == "lists":
        data["t"], data["p"] = ([["a"] + [x for x in "bc" if rng.random() < 0.4] for _ in range(n)] for _ in range(2))
    else:
        data |= {name: rng.integers(0, 2, n) for name in ("t", "u", "p", "q")}
    roles: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
    if kind == "set":
        roles |= {"tasks": ["t", "u"], "task_predictions": ["p", "q"]}
    if rng.random() < 0.3:
        roles["attributes"] = ["g", "h"]
        roles["intersections"] = bool(rng.random() < 0.5)
    if rng.random() < 0.3:
        data["w"] = rng.integers(1, 4, n) if rng.random() < 0.5 else rng.integers(1, 9, n) / 8
        roles["weights"] = "w"
    if rng.random() < 0.2:
        data["c"] = rng.integers(0, max(n // 3, 2), n)
        roles["cluster"] = "c"
    if rng.random() < 0.2:
        values = np.array(data["t"], dtype=object) if kind != "lists" else None
        if values is not None:
            values[rng.random(n) < 0.1] = None
            data["t"] = values.tolist()
            roles["missing"] = str(rng.choice(["drop", "negative"]))
    return data, roles


_SETTINGS: dict[str, Any] = {"metrics": ["directional", "multi", "parity"], "resamples": 20}


def _document(*given: Any, **roles: Any) -> Any:
    """The figures of an audit, or the words with which it is refused."""
    try:
        with answered():
            document = biasamp.audit(*given, **roles, **_SETTINGS).document
    except Refused:
        return "refused"
    # What is measured again on the records themselves, or names where they came from.
    left = {"provenance", "sweep", "findings", "registry", "version", "not_run"}
    out = {name: held for name, held in document.items() if name not in left}
    out["metrics"] = [
        {k: v for k, v in entry.items() if k not in ("decided", "cautions", "caution_kinds")}
        for entry in document["metrics"]
    ]
    return json.loads(json.dumps(out))


def _paths(rng: Rng) -> None:
    """The same records as arrays, frames, files of any format, in parts and as counts that were added up."""
    data, roles = _records(rng)
    whole = _document(data, **roles)
    table = pa.table({name: pa.array(values) for name, values in data.items()})
    order = rng.permutation(table.num_rows)
    flat = not any(pa.types.is_list(kind) for kind in table.schema.types)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = ["parquet", "feather", "arrow", "jsonl", "parquet.gz"] + (["csv", "tsv", "csv.gz"] if flat else [])
        path = write(table, folder / f"x.{rng.choice(kinds)}")
        found = {
            "frame": _document(table.to_pandas() if rng.random() < 0.5 else pl.from_arrow(table), **roles),
            "other order": _document(table.take(order), **roles),
            f"file {path.name}": _document(path, **roles),
            f"parts of {path.name}": _document(path, **roles, engine="local", threads=1),
        }
        cut = int(rng.integers(0, table.num_rows + 1))
        (folder / "parts").mkdir()
        for i, part in enumerate((table.slice(0, cut), table.slice(cut))):
            if part.num_rows:
                write(part, folder / "parts" / f"{i}.parquet")
        found["folder"] = _document(folder / "parts", **roles, engine="local")
        try:
            with answered():
                counts = biasamp.count(table, **roles)
                counts.save(folder / "counts.parquet")
            found["saved counts"] = _document(folder / "counts.parquet")
            if 0 < cut < table.num_rows and "cluster" not in roles:
                with answered():
                    halves = [
                        biasamp.count(part, **roles, labels=counts) for part in (table.slice(0, cut), table.slice(cut))
                    ]
                found["sum of counts"] = _document(halves[0] + halves[1])
        except Refused as refusal:
            # A part may have no label of a column, or one that is not known: it has nothing to be counted.
            alone = "labels=" in str(refusal) or "every value is missing" in str(refusal)
            if whole != "refused" and not alone:
                found["counts"] = "refused"
    for path_name, other in found.items():
        if "counts" in path_name and isinstance(other, dict) and isinstance(whole, dict):
            # What needs the records themselves is not run on counts.
            measured = {_place(entry) for entry in other["metrics"]}
            right = {**whole, "metrics": [entry for entry in whole["metrics"] if _place(entry) in measured]}
            right["excluded"] = [row for row in whole["excluded"] if _place(row) in measured]
        else:
            right = whole
        if other != right:
            raise Failed(f"{path_name} differs from arrays: {_difference(right, other)}")


def _place(entry: Any) -> tuple[Any, ...]:
    return entry["attribute"], entry["metric"], entry["direction"]


def _difference(one: Any, two: Any, path: str = "") -> str:
    """The first place at which two documents differ."""
    if type(one) is not type(two) or not isinstance(one, (dict, list)):
        return f"{path}: {str(one)[:80]} and {str(two)[:80]}" if one != two else ""
    keys = sorted({*one, *two}) if isinstance(one, dict) else range(max(len(one), len(two)))
    for key in keys:
        there = [key in held if isinstance(held, dict) else key < len(held) for held in (one, two)]
        if not all(there):
            return f"{path}[{key}] is there once"
        if one[key] != two[key]:
            return _difference(one[key], two[key], f"{path}[{key}]")
    return ""


def _commands(rng: Rng) -> None:
    """A command line on random records, in this process."""
    from biasamp.cli import group

    data, roles = _records(rng)
    table = pa.table({name: pa.array(values) for name, values in data.items()})
    with tempfile.TemporaryDirectory() as name:
        path = write(table, Path(name) / f"x.{rng.choice(['parquet', 'jsonl', 'feather'])}")
        named = {
            "--attributes": roles["attributes"],
            "--tasks": roles["tasks"],
            "--task-predictions": roles["task_predictions"],
        }
        options = [
            word
            for option, columns in named.items()
            for word in (option, columns if isinstance(columns, str) else ",".join(columns))
        ]
        odd = [
            "--record",
            "id",
            "--resamples",
            str(rng.choice([20, 1, -5, "x"], p=[0.85, 0.05, 0.05, 0.05])),
            "--missing",
            "drop",
        ]
        odd += [
            str(word)
            for word in rng.choice(
                [
                    "--intersections",
                    "--engine=local",
                    "--json=-",
                    "--confidence=2",
                    "--seed=-1",
                    "--nothing",
                    "--memory=1",
                    "--positive=1",
                ],
                int(rng.integers(0, 3)),
                replace=False,
            )
        ]
        saved = Path(name) / "audit.json"
        lines = [
            ["audit", str(path), *options, *odd],
            ["audit", str(path), *options, *odd, "--save", str(saved)],
            ["count", str(path), *options, "--record", "id", "--missing", "drop", str(Path(name) / "c.parquet")],
            ["associate", str(path), "--label", "t", "-i", "a", "-i", "b"],
            ["check", str(path), "--policy", str(Path(name) / "none.toml")],
            ["compare", f"one={path}", f"two={path}"],
            ["metrics", str(rng.choice(["directional", "mals", "x", ""]))],
            ["explore", str(path), "--html", str(Path(name) / "page.html")],
        ]
        line = lines[int(rng.integers(0, len(lines)))]
        import click

        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        try:
            with mock.patch.object(sys, "stdout", out), mock.patch.object(sys, "stderr", io.StringIO()), answered():
                group.main(line, prog_name="biasamp", standalone_mode=False)
        except (click.ClickException, click.exceptions.Exit, SystemExit):
            return


def _damaged(rng: Rng) -> None:
    """A damaged file, read in a process of its own."""
    import damaged_files

    number = int(rng.integers(1 << 30))
    for result in damaged_files.read_damaged(40, seed=number, first=int(rng.integers(1000))):
        if result.verdict in ("crash", "silent"):
            raise Failed(f"{result} of python tests/damaged_files.py 40 --seed {number}")


def _saved(rng: Rng) -> None:
    """What is saved is read again, and refused once a byte of its values is another."""
    data, roles = _records(rng)
    with tempfile.TemporaryDirectory() as name, answered():
        audit = biasamp.audit(data, **roles, **_SETTINGS)
        path = Path(name) / str(rng.choice(["a.json", "a.json.gz"]))
        audit.save(path)
        again = biasamp.Audit.load(path)
        if again.document != audit.document or again.resamples != audit.resamples:
            raise Failed(f"a saved audit is read as another: {_difference(audit.document, again.document)}")
        raw = bytearray(path.read_bytes())
        raw[int(rng.integers(len(raw)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(raw)
        try:
            changed = biasamp.Audit.load(path)
        except (ValueError, FileNotFoundError):
            return
        if changed.document != audit.document and "unchecked" not in [finding.code for finding in changed.findings]:
            raise Failed("a changed audit is read without a word")


KINDS: dict[str, tuple[Callable[[Rng], None], float]] = {
    "functions": (_functions, 0.6),
    "paths": (_paths, 0.15),
    "commands": (_commands, 0.12),
    "saved": (_saved, 0.12),
    "damaged": (_damaged, 0.01),
}


def run_case(kind: str, number: int, seed: int) -> str:
    """One case; ``"result"`` or ``"refused"``, else an exception."""
    rng = np.random.default_rng([seed, number, list(KINDS).index(kind)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            KINDS[kind][0](rng)
        except Refused:
            return "refused"
    return "result"


def run(
    *, seed: int, seconds: float | None = None, cases: int | None = None, kinds: dict[str, float] | None = None
) -> tuple[Counter[str], list[tuple[str, int, str]]]:
    """Cases for some time, or so many: how many ended how, and the failures with what reproduces them."""
    shares = kinds or {kind: share for kind, (_, share) in KINDS.items()}
    chooser = random.Random(seed)
    ended: Counter[str] = Counter()
    failures: list[tuple[str, int, str]] = []
    started, number = time.monotonic(), 0
    while number != cases and (seconds is None or time.monotonic() < started + seconds):
        (kind,) = chooser.choices(list(shares), list(shares.values()))
        try:
            ended[f"{kind}: {run_case(kind, number, seed)}"] += 1
        except KeyboardInterrupt:
            break  # what was found so far is told
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            failures.append(
                (kind, number, f"{type(error).__name__}: {str(error)[:300]} ({Path(last.filename).name}:{last.lineno})")
            )
            ended[f"{kind}: failed"] += 1
        number += 1
    return ended, failures


def main() -> int:
    """Fuzz for some minutes, or run one case again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="so many, however long it takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS))
    parser.add_argument("--number", type=int)
    given = parser.parse_args()
    if given.number is not None:
        print(run_case(given.kind, given.number, given.seed))
        return 0
    seconds = 60 * given.minutes if given.cases is None else None
    kinds = {given.kind: 1.0} if given.kind else None
    ended, failures = run(seed=given.seed, seconds=seconds, cases=given.cases, kinds=kinds)
    for name, times in sorted(ended.items()):
        print(f"{name:<24}{times:>8}")
    for kind, number, words in failures[:60]:
        print(f"--kind {kind} --seed {given.seed} --number {number}: {words}")
    print(f"{sum(ended.values())} cases, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
