"""``biasamp check``: exit codes, files written, and mistakes."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import biasamp
from amplified import columns
from biasamp.policy import Policy

ROLES = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p")
QUICK = ("--resamples", "50")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, said in (("old", 0.0), ("new", 0.5)):
        data = columns(said=said)
        with open(f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([data, *zip(*data.values(), strict=True)])
    return tmp_path


def write(limit: str, more: str = "") -> None:
    Path("policy.toml").write_text(
        '[data]\nattributes = "g"\ntasks = "t"\ntask_predictions = "p"\nresamples = 50\nmetrics = ["directional"]\n'
        f"{more}\n[[limit]]\nmetric = 'directional'\n{limit}\n"
    )


@pytest.mark.parametrize(("limit", "code"), [("max = 0.3", 0), ("max = 0.01", 1), ("max = 0.075", 3)])
def test_exit_codes(run: Any, folder: Path, limit: str, code: int) -> None:
    write(limit)
    ran = run("check", "new.csv", "--policy", "policy.toml")
    assert ran.code == code, ran
    assert {0: "PASS", 1: "FAIL", 3: "NOT ENOUGH EVIDENCE"}[code] in ran.out


def test_the_exit_code_of_the_process(process: Any, folder: Path) -> None:
    write("max = 0.01")
    assert process("check", "new.csv", "--policy", "policy.toml").code == 1


def test_init_writes_a_policy_that_loads_and_checks(run: Any, folder: Path) -> None:
    assert run("check", "old.csv", "--init", "--policy", "p.toml", *ROLES, *QUICK).code == 0
    policy = Policy.load("p.toml")
    assert (policy.data["attributes"], policy.data["task_predictions"]) == ("g", "p")
    assert set(policy.groups) == {"g=w", "g=m"}
    assert all((limit.on, limit.figure) == ("bound", "value") for limit in policy.limits)  # type: ignore[union-attr]
    assert run("check", "old.csv", "--policy", "p.toml").code == 0
    assert run("check", "new.csv", "--policy", "p.toml").code == 1
    again = run("check", "old.csv", "--init", "--policy", "p.toml", *ROLES)
    assert again.code == 2
    assert "exists" in again.err


def test_init_says_a_command_that_can_be_pasted(run: Any, folder: Path) -> None:
    Path("my old.csv").write_bytes(Path("old.csv").read_bytes())
    said = run("check", "my old.csv", "--init", "--policy", "a policy.toml", *ROLES, *QUICK).err
    command = " ".join(said.partition("then: ")[2].split())
    assert shlex.split(command) == ["biasamp", "check", "my old.csv", "--policy", "a policy.toml"]


def test_init_for_hostile_names(run: Any, folder: Path) -> None:
    name = 'g"]\n[x] # \x7f'
    with open("odd.csv", "w", newline="") as file:
        data = columns()
        csv.writer(file).writerows([[name, "t", "p"], *zip(*data.values(), strict=True)])
    biasamp.audit("odd.csv", attributes=name, tasks="t", task_predictions="p", resamples=50).save("odd.json")
    assert run("check", "odd.json", "--init", "--policy", "odd.toml").code == 0
    assert Policy.load("odd.toml").data["attributes"] == name
    assert run("check", "odd.json", "--policy", "odd.toml").code == 0


def test_init_from_a_saved_audit_keeps_how_it_was_made(run: Any, folder: Path) -> None:
    data = columns()
    biasamp.audit(
        {**data, "h": data["g"][::-1]},
        attributes=["g", "h"],
        tasks="t",
        task_predictions="p",
        intersections=True,
        missing="drop",
        train={"g": data["g"], "h": data["g"], "t": data["t"]},
        metrics=["directional"],
        resamples=50,
    ).save("made.json")
    assert run("check", "made.json", "--init", "--policy", "made.toml").code == 0
    policy = Policy.load("made.toml")
    assert (policy.data["intersections"], policy.data["missing"]) == (True, "drop")
    assert "# train = ...  # the audit was made with it" in Path("made.toml").read_text()


def test_a_saved_audit_and_a_baseline(run: Any, folder: Path) -> None:
    write('against = "baseline"\nmax = 0.02', '[baseline]\naudit = "old.json.gz"')
    for name in ("old", "new"):
        biasamp.audit(
            f"{name}.csv", attributes="g", tasks="t", task_predictions="p", metrics=["directional"], resamples=50
        ).save(f"{name}.json.gz")
    assert run("check", "new.json.gz", "--policy", "policy.toml").code == 1
    assert run("check", "new.csv", "--policy", "policy.toml").code == 1
    assert run("check", "old.csv", "--policy", "policy.toml", "--baseline", "new.json.gz").code == 0
    # A model is never worse than itself, which shows nothing: the same file is a mistake, the same predictions no evidence.
    ran = run("check", "old.json.gz", "--policy", "policy.toml")
    assert (ran.code, "old.json.gz is both DATA and --baseline" in ran.err) == (2, True)
    assert run("check", "new.csv", "--policy", "policy.toml", "--baseline", "new.json.gz").code == 3
    ran = run("check", "new.json.gz", "--policy", "policy.toml", *ROLES)
    assert (ran.code, "saved audit" in ran.err) == (2, True)


def test_a_baseline_is_never_overwritten(run: Any, folder: Path) -> None:
    """Saved first and read after, the new audit would be its own baseline."""
    audit = biasamp.audit("old.csv", attributes="g", tasks="t", task_predictions="p", metrics=["directional"])
    audit.save("base.json")
    before = Path("base.json").read_bytes()
    write('against = "baseline"\nmax = 0.02', '[baseline]\naudit = "base.json"')
    assert run("check", "new.csv", "--policy", "policy.toml", "--save", "base.json").code == 2
    assert (
        run("check", "new.csv", "--policy", "policy.toml", "--baseline", "base.json", "--save", "base.json").code == 2
    )
    assert run("check", "new.csv", "--policy", "policy.toml", "--markdown", "policy.toml").code == 2
    assert Path("base.json").read_bytes() == before


def test_a_baseline_that_no_limit_uses(run: Any, folder: Path) -> None:
    write("max = 0.3")
    biasamp.audit("old.csv", attributes="g", tasks="t", task_predictions="p", metrics=["directional"]).save("base.json")
    ran = run("check", "new.csv", "--policy", "policy.toml", "--baseline", "base.json")
    assert (ran.code, "old.csv" in ran.err, "used by no limit" in ran.err) == (2, True, True)


def test_counts_are_judged_as_the_policy_says(run: Any, folder: Path) -> None:
    write("max = 0.3")
    biasamp.count("new.csv", attributes="g", tasks="t", task_predictions="p").save("new.counts")
    assert run("check", "new.counts", "--policy", "policy.toml").code == 0
    write("max = 0.3", "[evidence]\nconfidence = 0.99")
    ran = run("check", "new.counts", "--policy", "policy.toml", "--json", "-")
    assert next(c for c in json.loads(ran.out)["checks"] if c["rule"] == "confidence")["outcome"] == "pass"


def test_cautions_and_records_stand_in_every_form(run: Any, folder: Path) -> None:
    write("max = 0.06")
    ran = run(
        "check", "new.csv", "--policy", "policy.toml", "--json", "v.json", "--junit", "v.xml", "--markdown", "v.md"
    )
    assert ran.code == 3
    (check,) = [c for c in json.loads(Path("v.json").read_text())["checks"] if c["metric"]]
    words = "Amplification is sensitive to the threshold"
    assert any(words in caution for caution in check["cautions"])
    assert 400 < check["records_needed"] < 4000
    assert f"about {check['records_needed']:,} records in all would decide" in check["reason"]
    for text in (" ".join(ran.out.split()), Path("v.xml").read_text(), Path("v.md").read_text()):
        assert words in text
        assert f"{check['records_needed']:,} records in all" in text


def test_what_is_written(run: Any, folder: Path) -> None:
    write("max = 0.01")
    ran = run("check", "new.csv", "--policy", "policy.toml", "--json", "-", "--junit", "v.xml", "--markdown", "v.md")
    document = json.loads(ran.out)
    assert (document["outcome"], document["schema"]) == ("fail", 1)
    assert "<failure" in Path("v.xml").read_text()
    assert Path("v.md").read_text().startswith("## ❌ biasamp check: fail")
    assert run("check", "new.csv", "--policy", "policy.toml", "--markdown", "-").out.startswith("## ❌")
    assert run("check", "new.csv", "--policy", "policy.toml", "--markdown", "-", "--json", "-").code == 2


def test_markdown_is_appended_where_asked_for(run: Any, folder: Path) -> None:
    write("max = 0.01")
    line = ("check", "new.csv", "--policy", "policy.toml", "--markdown")
    run(*line, "once.md")
    section = Path("once.md").read_text()
    for name, before in {"absent": None, "empty": "", "full": "# Steps\n\nlast line"}.items():
        if before is not None:
            Path(name).write_text(before)
        assert run(*line, name, "--append").code == 1
        assert Path(name).read_text() == (f"{before}\n" if before else "") + section
    run(*line, "full", "--append")
    assert Path("full").read_text().count(section) == 2
    run(*line, "full")
    assert Path("full").read_text() == section
    for more in (("--append",), ("--markdown", "-", "--append")):
        ran = run(*line[:-1], *more)
        assert (ran.code, "--append goes with a file that --markdown names" in ran.err) == (2, True)


def test_mistakes_are_exit_code_2(run: Any, folder: Path) -> None:
    write("max = 7")
    ran = run("check", "new.csv", "--policy", "policy.toml")
    assert (ran.code, ran.out) == (2, "")
    assert "policy.toml, line 10: limit.max: everything passes 7" in ran.err
    assert run("check", "new.csv", "--policy", "none.toml").code == 2
    write("max = 0.3")
    assert run("check", "none.csv", "--policy", "policy.toml").code == 2
    assert run("check", "new.csv", "--init", "--policy", "q.toml").code == 2
