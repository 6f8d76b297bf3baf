"""A fuzzer with a seed: structured random input for functions, files, commands and saved results.

``make fuzz MINUTES=10 SEED=1`` runs it, ``python tests/fuzz.py --kind paths --number 17`` one case again. A case fails by
anything but a result or a ``ValueError``/``TypeError`` with words of its own, and by two paths that give different results
where they must be equal. What it finds becomes a case in the tests.
"""

from __future__ import annotations

import argparse
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

import numpy as np
import polars as pl
import pyarrow as pa

import biasamp
import fuzz_columns as columns
import fuzz_commands
import fuzz_forged
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


def _sides(rng: Rng, n: int) -> dict[str, Any]:
    """What a plain function is given: groups, truth, predictions, scores, strata, of one kind that fits together."""
    groups = columns.variable(rng, n, columns.vocabulary(rng))
    kind = rng.choice(["variable", "yes or no", "lists"], p=[0.55, 0.3, 0.15])
    if kind == "variable":
        values = columns.vocabulary(rng)
        truth: Any = columns.variable(rng, n, values)
        predicted: Any = columns.changed(rng, truth, values)
        scores = columns.scores(rng, n)
    elif kind == "yes or no":
        wide = int(rng.integers(1, 4))
        truth = rng.integers(0, 2, (n, wide)).astype(rng.choice(["uint8", "bool", "float64", "int64"]))
        predicted = np.where(rng.random(truth.shape) < 0.2, 1 - truth, truth).astype(truth.dtype)
        scores = rng.random((n, wide)).round(int(rng.integers(1, 4)))
    else:
        truth, predicted = ([[x for x in "abc" if rng.random() < 0.5] for _ in range(n)] for _ in range(2))
        scores = rng.random((n, 3)).round(2)
    return {
        "given": groups,
        "truth": truth,
        "predicted": predicted,
        "scores": scores,
        "strata": columns.variable(rng, n, ["n", "s", "e"]),
        "said": columns.changed(rng, groups, sorted(set(groups), key=str)),
        "weights": rng.random(n).round(1) if rng.random() < 0.5 else rng.integers(0, 3, n),
        "cluster": rng.integers(0, max(n // 3, 1), n).tolist(),
    }


def _figures(name: str, made: dict[str, Any], options: dict[str, Any], trials: int) -> Any:
    """What a function gives, as JSON, with an interval where it has one."""
    three = made["given"], made["truth"], made["predicted"]
    if name == "mals":
        result: Any = biasamp.mals(made["given"], made["truth"], made["said"], made["predicted"], **options)
    elif name == "classify_errors":
        result = biasamp.classify_errors(made["given"], made["truth"], made["said"], made["predicted"])
    elif name == "sweep":
        result = biasamp.sweep(made["scores"], made["given"], made["truth"], **options)
    elif name == "decompose":
        strata = {"strata": made["strata"]} if "cluster" in options else {}
        result = biasamp.decompose(made["given"], made["truth"], made["scores"], **strata, **options)
    elif name == "choose_thresholds":
        result = biasamp.choose_thresholds(made["scores"], made["given"], made["truth"], limit=0.05, **options)
    elif name == "calibrate":
        result = biasamp.calibrate(made["scores"], rate=0.4)
    elif name in ("dpa", "leakage"):
        result = getattr(biasamp, name)(*three, trials=trials)
        # Their intervals take half a second each, and their values a hundredth of that.
        return None if result.value is None or np.isnan(result.value) else float(result.value)
    else:
        result = getattr(biasamp, name)(*three, **options)
    if not hasattr(result, "to_dict"):
        return str(result)
    text = json.dumps(result.to_dict(), allow_nan=False)
    if name in ("directional", "multi", "mals"):
        result.confidence_interval(resamples=20)
        str(result), repr(result)
    return json.loads(text)


# What takes which options; DPA and leakage run attackers, so that they are drawn less often.
_FUNCTIONS: dict[str, tuple[tuple[str, ...], float]] = {
    "directional": (("weights", "cluster"), 3),
    "multi": (("weights", "cluster"), 2),
    "mals": (("weights", "cluster"), 2),
    "parity": (("weights",), 2),
    "decompose": (("weights", "cluster"), 2),
    "sweep": (("weights",), 1),
    "choose_thresholds": (("weights",), 1),
    "classify_errors": ((), 1),
    "calibrate": ((), 1),
    "dpa": ((), 0.5),
    "leakage": ((), 0.5),
}


def _functions(rng: Rng) -> None:
    """A public function on columns that fit, in any container, equal to that on plain ones; often with one odd column."""
    n = int(rng.choice([1, 2, 5, 20, 60], p=[0.03, 0.07, 0.2, 0.4, 0.3]))
    plain = _sides(rng, n)
    chances = np.array([share for _, share in _FUNCTIONS.values()])
    name = str(rng.choice(list(_FUNCTIONS), p=chances / chances.sum()))
    takes = [option for option in _FUNCTIONS[name][0] if rng.random() < 0.3]
    held = {key: columns.contained(rng, values) if rng.random() < 0.5 else values for key, values in plain.items()}
    if str(plain["truth"]) == str(plain["predicted"]):  # frames of one name and content are refused as one column
        held["predicted"] = plain["predicted"]
    if rng.random() < 0.35:
        held[str(rng.choice([*takes, "given", "truth", "predicted", "scores"]))] = columns.odd(rng, n)
        with answered():
            _figures(name, held, {key: held[key] for key in takes}, 3)
        return
    found = []
    for made in (plain, held):
        try:
            with answered():
                found.append(_figures(name, made, {key: made[key] for key in takes}, 3))
        except Refused as refusal:
            found.append(refusal)
    if isinstance(found[0], Refused) and isinstance(found[1], Refused):
        raise found[0]
    if any(isinstance(one, Refused) for one in found) or found[0] != found[1]:
        kinds = {key: type(value).__name__ for key, value in held.items() if value is not plain[key]}
        raise Failed(f"{name} differs in other containers {kinds}: {_difference(*found) or found}")


def _labels(found: Any) -> Any:
    """The figures of an association, without how its data were read; labels in one order."""
    made = found.to_dict()
    rows = {key: sorted(json.dumps(row) for row in made[key]) for key in ("excluded", "labels") if key in made}
    return {**json.loads(json.dumps({key: held for key, held in made.items() if key not in ("data", "notes")})), **rows}


def _associations(rng: Rng) -> None:
    """Associations of random labels: as lists, as rows, as counts that were added up."""
    n = int(rng.choice([4, 30, 200]))
    pool = ["man", "woman", "car", "x y", "é", "=1"]
    kind = str(rng.choice(["plain", "strata", "crossings"], p=[0.5, 0.25, 0.25]))
    if kind == "strata":  # of which a record has one at most
        lists = [
            [str(rng.choice(two)) for two in (pool[:2], pool[2:4])] + pool[4:][rng.integers(0, 3) :] for _ in range(n)
        ]
    else:
        lists = [[word for word in pool if rng.random() < 0.5] for _ in range(n)]
    asked = ["man", "woman"] if rng.random() < 0.8 else ["man", "woman", "é"]
    options = {"plain": {}, "strata": {"strata": ["car", "x y"]}, "crossings": {"crossings": True}}[kind]
    rows = [(i, word) for i, held in enumerate(lists) for word in held]
    with answered():
        one = biasamp.associate(lists, asked, **options)
        table = {"image": [i for i, _ in rows], "name": [word for _, word in rows]}
        found = {"rows": biasamp.associate(table, asked, label="name", record="image", **options)} if all(lists) else {}
        if kind == "plain":
            cut = int(rng.integers(1, n))
            parts = [biasamp.count(part, identities=asked) for part in (lists[:cut], lists[cut:])]
            found["counts"] = biasamp.associate(parts[0] + parts[1])
        for name, other in found.items():
            if _difference(_labels(one), _labels(other)):
                raise Failed(f"{name} differ from lists: {_difference(_labels(one), _labels(other))}")
        one.top(str(rng.choice([*one.metrics, "none"])), 3)
        if kind != "crossings":
            biasamp.association_change(one, biasamp.associate(lists[: n // 2 + 1], asked, **options))


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
    """A command line in this process: an exit code of its own, whole outputs, and inputs as they were."""
    # Of a few sets of files, each made once.
    held = fuzz_commands.files((int(rng.integers(12)),))
    problem, code = fuzz_commands.problem(rng, held, _FOREIGN.search)
    if problem:
        raise Failed(problem)
    if code == 2:
        raise Refused("exit 2")


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


def _forged(rng: Rng) -> None:
    """A forged audit, with right checksums, is refused by name, or whatever is made of it is a result or a message."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "forged.json"
        path.write_text(json.dumps(fuzz_forged.forged(rng)))
        with answered():
            audit = biasamp.Audit.load(path)
        refusals = []
        for use in fuzz_forged.uses(Path(name)):
            try:
                with answered():
                    use(audit)
            except Refused as refusal:
                refusals.append(refusal)
    if refusals:
        raise refusals[0]


KINDS: dict[str, tuple[Callable[[Rng], None], float]] = {
    "functions": (_functions, 0.55),
    "associations": (_associations, 0.05),
    "paths": (_paths, 0.15),
    "commands": (_commands, 0.12),
    "saved": (_saved, 0.12),
    "damaged": (_damaged, 0.01),
    "forged": (_forged, 0.03),
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
