"""Several runs as evidence, in audits that are written by hand."""

from __future__ import annotations

from biasamp.policy.several_runs import of_runs
from hand_audits import entry, hand_audit


def one(value: float, source: str = "run.csv", **data: object) -> object:
    return hand_audit(entry(value=value, pairs=[]), data=data, source=source)


def told(*runs: object) -> list[tuple[str, str, str]]:
    return [(check.rule, check.outcome, check.reason) for check in of_runs(runs)]  # type: ignore[arg-type]


def test_runs_of_their_own_are_evidence() -> None:
    assert told(one(0.1), one(0.2), one(0.3)) == []


def test_copies_are_none() -> None:
    ending = "copies of one run are no evidence of how seeds move a model. Give each training run once"
    for runs, many, first in (((0.1, 0.2, 0.2), 1, "2 and 3"), ((0.1, 0.2, 0.1, 0.2, 0.1), 3, "1 and 3")):
        said = f"{many} of {len(runs)} runs have the predictions of another (runs {first} are the first): {ending}"
        assert told(*map(one, runs)) == [("runs", "not enough evidence", said)]


def test_runs_that_were_audited_otherwise() -> None:
    for others in ((0.2,), (0.2, 0.3)):
        many = [one(value) for value in others]
        reasons = [reason for _, _, reason in told(one(0.1, train=True), *many)]
        assert reasons == [
            f"the first run was made with train = True, and run {number} (run.csv) with False: audit all runs alike"
            for number in range(2, 2 + len(many))
        ]
    runs = one(0.1), one(0.2), one(0.3, "other.csv", train=True, base=True)
    assert told(*runs) == [
        (
            "runs",
            "not enough evidence",
            f"the first run was made with {field} = False, and run 3 (other.csv) with True: audit all runs alike",
        )
        for field in ("train", "base")
    ]
