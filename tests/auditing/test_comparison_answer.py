"""What a comparison says first: Found, How sure, Next, true in every state."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.auditing.comparison_answer import answer_of_comparison


def row(metric: str, difference: float, reach: float, p: float | None, **more: Any) -> dict[str, Any]:
    made = {
        "attribute": "g",
        "metric": metric,
        "direction": "A->T",
        "models": ["old", "new"],
        "first": 0.0,
        "second": difference,
        "difference": difference,
        "low": difference - reach,
        "high": difference + reach,
        "paired": True,
        "method": "",
        "verdict": "new differs from old",
        "p": p,
    }
    return {**made, **more}


def document(*rows: Any, **more: Any) -> Any:
    models = list(dict.fromkeys(name for held in rows for name in held["models"]))
    made = {"models": models, "level": 0.95, "differences": list(rows), "notes": [], "runs": dict.fromkeys(models, 1)}
    return {**made, **more}


def pair(sign: int, q: float, **more: Any) -> dict[str, Any]:
    place = {"attribute": "g", "metric": "directional", "direction": "A->T", "models": ["old", "new"]}
    named = {"given": "g=a", "outcome": "t", "sign": sign, "first": 0.0, "second": 0.1}
    return {**place, **named, "difference": 0.1, "low": 0.05, "high": 0.15, "p": q / 2, "q": q, **more}


def test_what_is_found_counts_all_figures() -> None:
    # Holm by hand: .01 <= .05 / 3 is found; .03 > .05 / 2 is not, and differs by itself alone.
    rows = (
        row("directional", 0.05, 0.038, 0.01),
        row("fpr_difference", 0.04, 0.036, 0.03),
        row("tpr_difference", 0.01, 0.05, 0.7, more_records=9000),
    )
    answer = answer_of_comparison(document(*rows))
    assert answer.found == "g directional A→T: new differs from old, by +0.0500 [+0.0120, +0.0880]."
    assert answer.sure.startswith(
        "1 of 3 differences are decided at 95% with all of them counted (Holm), 2 each by itself."
    )
    assert "All are paired on the same records. Each model has one run: what other seeds would give is not known." in (
        answer.sure
    )
    takes = (
        "To decide g TPR difference A→T with a chance of 80%, a difference of +0.0100 takes about 9,000 records in all."
    )
    assert takes in answer.next
    assert "train each several times" in answer.next
    # Without the first, the second has a p-value of .03 in two: nothing is found with both counted.
    said = answer_of_comparison(document(*rows[1:]))
    assert said.found == (
        "No figure differs beyond chance with all 2 counted; by itself, g FPR difference A→T: new differs from old, by +0.0400 "
        "[+0.0040, +0.0760]."
    )
    assert said.sure.startswith("0 of 2 differences are decided at 95%")


def test_equal_models_are_not_sent_for_more_records() -> None:
    equal = answer_of_comparison(document(row("directional", 0.0, 0.02, 1.0), row("multi", 0.0, 0.02, 1.0)))
    assert equal.found == "All 2 figures are equal on these records."
    assert equal.next == "These figures do not choose between the models; other grounds may."
    some = answer_of_comparison(document(row("directional", 0.0, 0.02, 1.0), row("multi", 0.01, 0.02, 0.3)))
    assert some.found == "No figure differs beyond what the sampling of records explains; 1 of 2 are equal."
    assert "would take over 1,000 times the records" in some.next
    (one,) = [answer_of_comparison(document(row("directional", 0.0, 0.02, 1.0, paired=False)))]
    assert one.found == "The figure is equal on these records."
    assert one.sure.startswith("The difference is not decided at 95%. It is not paired on the same records.")


def test_pairs_that_changed_are_found_where_the_mean_hides_them() -> None:
    rows = row("directional", 0.001, 0.02, 0.9)
    pairs = [pair(1, 0.001), pair(-1, 0.2), pair(1, 0.001, mirror=True)]
    answer = answer_of_comparison(document(rows, pairs=pairs))
    assert answer.found == "No figure differs beyond what the sampling of records explains. But 1 of 2 pairs changed."
    assert answer.next.startswith(
        "Look at t given g=a, the change with the best evidence (+0.1000 [+0.0500, +0.1500])."
    )
    assert "is not known" in answer.sure  # of other seeds
    assert "Which way the bias goes" not in answer.sure


def test_unknown_directions_ask_for_training_labels_not_for_records() -> None:
    held = document(row("directional", 0.05, 0.1, 0.3, more_records=800), pairs=[pair(0, 0.9), pair(0, 0.9)])
    answer = answer_of_comparison(held)
    assert "Which way the bias goes is not known for 2 of 2 pairs" in answer.sure
    assert answer.next.startswith("Give the training labels for g directional A→T: no direction is known")
    assert "800" not in answer.next
    known = copy.deepcopy(held)
    known["pairs"][0]["sign"] = 1
    assert "takes about 800 records in all" in answer_of_comparison(known).next


@pytest.mark.parametrize(
    ("seeds", "records", "words"),
    [
        ([3, 17], 4000, "takes 3 to 17 more runs of each or about 4,000 records in all."),
        ([3, None], None, "takes at least 3 more runs of each."),
        ([None, None], 4000, "takes about 4,000 records in all."),
        ([None, None], None, "takes more runs and more records at once."),
        (
            [270, 3600],
            None,
            "Leave g directional A→T undecided: a difference of +0.0100 would take 270 to 3,600 more runs",
        ),
    ],
)
def test_several_runs_say_what_would_decide(seeds: Any, records: Any, words: str) -> None:
    behind = {"more_seeds": seeds, "more_records": records}
    held = document(row("directional", 0.01, 0.02, 0.3, runs=behind), runs={"old": 3, "new": 3})
    answer = answer_of_comparison(held)
    assert answer.found == "No figure differs beyond what seeds and records explain."
    assert words in answer.next
    assert "means over 3 runs of each" in answer.sure
    uneven = answer_of_comparison({**held, "runs": {"old": 1, "new": 3}})
    assert "Runs: old 1, new 3; intervals count how seeds vary, a single run as the runs that it is held against." in (
        uneven.sure
    )


def test_audits_that_differ_in_more_than_their_models_come_first() -> None:
    caution = {"code": "other-data", "models": ["old", "new"], "text": "Other records. Audit again.", "weight": 9.9}
    of_one = {**caution, "code": "threshold", "text": "A threshold."}
    held = document(row("directional", 0.05, 0.01, 1e-6), cautions=[of_one, caution])
    assert answer_of_comparison(held).next.startswith("Mend this first: Other records.")
    assert "Mend" not in answer_of_comparison({**held, "cautions": [of_one]}).next


def test_terminal_markdown_and_text_begin_with_the_answer(capsys: Any) -> None:
    from rich.console import Console

    from biasamp.report.comparison_terminal import show_comparison

    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    truth = (rng.random(300) < 0.3 + 0.3 * group).astype(int)
    data = {"g": group, "t": truth, "old": truth.copy(), "new|x": np.where(rng.random(300) < 0.3, group, truth)}
    audits = {
        name: biasamp.audit(data, attributes="g", tasks="t", task_predictions=name, metrics=["directional"])
        for name in ("old", "new|x")
    }
    compared = biasamp.compare(audits)
    titled = compared.answer.titled
    assert list(titled) == ["Found", "How sure", "Next"]
    assert titled["Found"].startswith("g directional A→T: new|x amplifies more than old")
    assert str(compared).splitlines()[:3] == [f"{title}: {words}" for title, words in titled.items()]
    show_comparison(compared, Console(width=2000))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:4] == [f"{title:<9} {words}" for title, words in titled.items()]
    markdown = compared.to_markdown().splitlines()
    assert [line[: line.index("**", 4) + 2] for line in markdown[2:5]] == [f"- **{title}.**" for title in titled]
    assert "new\\|x" in markdown[2]
    assert all(words.split(".")[0].split(":")[0] in compared._repr_html_() for words in titled.values())
