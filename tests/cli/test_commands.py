"""The command line as a whole: help, completion, pipes, exit codes, the demo and the metrics."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from biasamp.cli import group
from biasamp.datasets import berkeley
from biasamp.results.metric_registry import METRICS

CONTEXT = click.Context(group, info_name="biasamp")
COMMANDS = group.list_commands(CONTEXT)
SCHEMA = json.loads(files("biasamp.report").joinpath("audit.schema.json").read_text(encoding="utf-8"))
README = Path(__file__).parent.parent.parent / "README.md"


def parses(line: str) -> None:
    """Fail unless every option of a command line exists and every required one is there; nothing is run."""
    program, name, *rest = shlex.split(line)
    assert program == "biasamp"
    command = group.get_command(CONTEXT, name)
    assert command is not None, line
    command.make_context(name, rest, parent=CONTEXT)


def examples(text: str) -> list[str]:
    """The command lines in a text, continued lines joined."""
    joined = re.sub(r"\\\n\s*", "", text)
    return [line.strip().removeprefix("$ ") for line in joined.splitlines() if re.match(r"\s*(\$ )?biasamp \w", line)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_that_parse(run: Any, name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert ran.err == ""
    command = group.get_command(CONTEXT, name)
    assert command is not None
    shown = examples(command.help or "")
    assert shown, f"biasamp {name} --help has no examples"
    for line in shown:
        assert line.split()[1] == name
        parses(line)
        assert line.split(" \\")[0][:60] in ran.out
    lacking = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert lacking == []


def test_the_readme_and_the_first_page_of_help_name_commands_that_exist(run: Any) -> None:
    lines = examples(README.read_text(encoding="utf-8")) + examples(group.help or "")
    assert len(lines) >= 5
    for line in lines:
        parses(line)
    out = run("--help").out
    assert all(name in out for name in COMMANDS)


def test_an_example_with_a_wrong_option_would_be_found() -> None:
    with pytest.raises(click.UsageError):
        parses("biasamp audit x.csv --attributes g --tasks t --task-prediction p --nonsense")
    with pytest.raises(click.MissingParameter):
        parses("biasamp count x.csv --attributes g --tasks t")


def test_version(run: Any) -> None:
    assert run("--version").out == f"biasamp, version {biasamp.__version__}\n"


def test_the_module_is_the_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "biasamp", "audit"], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert ran.stderr.startswith("Usage: biasamp audit [OPTIONS] DATA")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    rng = np.random.default_rng(1)
    g, t = rng.choice(["a", "b"], 200), rng.integers(0, 2, 200)
    pq.write_table(pa.table({"g": g.tolist(), "t": t, "p": np.where(rng.random(200) < 0.2, 1 - t, t)}), path)
    return path


ROLES = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p", "--resamples", "20")


@pytest.mark.slow
def figures(document: dict[str, Any]) -> dict[str, Any]:
    """All but what says how the audit was made, and when."""
    return {name: held for name, held in document.items() if name not in ("provenance", "checksum")}


def test_json_alone_on_stdout_and_a_table_otherwise(process: Any, data: Path, tmp_path: Path) -> None:
    piped = process("audit", data, *ROLES, "--json", "-")
    assert piped.code == 0
    assert piped.err == ""
    document = json.loads(piped.out)
    jsonschema.validate(document, SCHEMA)
    assert document["provenance"]["command"].startswith("biasamp audit ")
    file = process("audit", data, *ROLES, "--json", tmp_path / "x.json", "--save", tmp_path / "y.json.gz")
    assert figures(json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))) == figures(document)
    assert figures(biasamp.Audit.load(tmp_path / "y.json.gz").to_dict()) == figures(document)
    assert file.out.startswith("biasamp audit of data.parquet  200 records")
    assert "\x1b" not in file.out  # no colours in a pipe
    python = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", resamples=20)
    assert figures(json.loads(python.to_json())) == figures(document)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["metrics"], 0),
        (["audit", "nothing.csv", *ROLES], 2),
        (["audit"], 2),
        (["audit", "{data}", *ROLES, "--metrics", "x"], 2),
    ],
)
def test_exit_codes_of_a_process(process: Any, data: Path, arguments: list[str], code: int) -> None:
    ran = process(*(argument.format(data=data) for argument in arguments))
    assert ran.code == code
    assert "Traceback" not in ran.err
    assert bool(ran.err) == (code != 0)


def test_a_reader_that_stops_early_is_no_error(data: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -c 'from biasamp.cli import main; main()' metrics --json - | head -c 10"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in ran.stderr
    assert ran.stdout == '{\n "schema'


def test_names_that_are_not_unicode(data: Path) -> None:
    """A terminal of another encoding passes bytes that are no UTF-8."""
    command = [sys.executable, "-c", "from biasamp.cli import main; main()", "audit", str(data), "--attributes"]
    ran = subprocess.run(
        [os.fsencode(x) for x in (*command, "g", "--tasks", "t", "--task-predictions")] + [b"p\xff"],
        capture_output=True,
        timeout=60,
    )
    assert ran.returncode == 2
    assert b"Traceback" not in ran.stderr
    assert b"no column 'p" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_without_a_traceback(tmp_path: Path) -> None:
    waiting = "import time, biasamp; biasamp.audit = lambda *a, **k: (print('started', flush=True), time.sleep(60)); "
    command = [sys.executable, "-c", waiting + "from biasamp.cli import main; main()", "audit", "x.csv", *ROLES]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "started\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert err.strip() == "stopped"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(process: Any, shell: str) -> None:
    if shell == "bash" and sys.platform == "win32":
        pytest.skip("no bash")
    code = "import sys; sys.argv = ['biasamp']; from biasamp.cli import main; main()"
    environment = {**os.environ, "_BIASAMP_COMPLETE": f"{shell}_source"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0
    assert f"_BIASAMP_COMPLETE={shell}_complete" in ran.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("biasamp au", {"audit"}),
        ("biasamp metrics d", {"directional", "dpa", "dp"}),
        ("biasamp audit --missing ", {"error", "drop", "negative"}),
        ("biasamp audit --task-", {"--task-predictions", "--task-scores"}),
    ],
)
def test_completion(words: str, expected: set[str]) -> None:
    from click.shell_completion import ShellComplete

    *done, incomplete = words.removeprefix("biasamp ").split(" ")
    completer = ShellComplete(group, {}, "biasamp", "_BIASAMP_COMPLETE")
    assert {item.value for item in completer.get_completions(done, incomplete)} == expected


def test_help_and_completion_import_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['biasamp', '--help']\n"
        "from biasamp.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'pyarrow', 'sklearn', 'scipy.stats', 'pandas', 'polars', 'numba', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr


def test_metrics_lists_all_and_shows_one(run: Any) -> None:
    table = run("metrics").out
    assert all(name in table for name in METRICS)
    card = run("metrics", "dpa").out
    assert METRICS["dpa"].question in card
    document = json.loads(run("metrics", "--json", "-").out)
    assert [row["name"] for row in document["metrics"]] == list(METRICS)
    assert json.loads(run("metrics", "multi", "--json", "-").out)["metrics"][0]["low"] == 0.0


# The demo


def test_the_berkeley_table_is_the_published_one() -> None:
    """Bickel, Hammel & O'Connell (1975): 8442 men and 4321 women applied in all; of the six largest departments 2691
    men, 44.5% admitted, and 1835 women, 30.4% admitted (Freedman, Pisani & Purves, Statistics, ch. 2)."""
    data = berkeley.records()
    assert len(data["gender"]) == 4526
    men, women = data["gender"] == "man", data["gender"] == "woman"
    assert (men.sum(), women.sum()) == (2691, 1835)
    assert (data["admitted"][men].sum(), data["admitted"][women].sum()) == (1198, 557)
    percent = {
        (who, department): round(
            100 * data["admitted"][(data["gender"] == who) & (data["department"] == department)].mean()
        )
        for who in ("man", "woman")
        for department in "ABCDEF"
    }
    assert [percent["man", d] for d in "ABCDEF"] == [62, 63, 37, 33, 28, 6]
    assert [percent["woman", d] for d in "ABCDEF"] == [82, 68, 34, 35, 24, 7]


def test_the_predictions_are_of_applicants_that_the_model_has_not_seen() -> None:
    """A model that had seen them could do no better than the majority of each cell; out of fold it does no better either."""
    data = berkeley.with_predictions()
    assert set(np.unique(data["admitted_pred"])) <= {0, 1}
    assert set(np.unique(data["gender_pred"])) <= {"man", "woman"}
    cells: dict[Any, list[int]] = {}
    for department, who, decision in zip(data["department"], data["gender"], data["admitted"], strict=True):
        cells.setdefault((department, who), []).append(int(decision))
    best = sum(max(sum(cell), len(cell) - sum(cell)) for cell in cells.values())
    right = int((data["admitted_pred"] == data["admitted"]).sum())
    assert 0.6 * len(data["admitted"]) < right <= best


def test_the_demo(process: Any, tmp_path: Path) -> None:
    ran = process("demo", "--folder", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "4,526 applicants" in ran.out
    document = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["data"]["records"] == 4526
    del document["checksum"]
    assert biasamp.Audit.load(tmp_path / "out" / "audit.saved.json.gz").to_dict() == document
    assert len(ran.out.splitlines()) <= 40
    words = re.sub(r"\s+", " ", ran.out)
    for sentence in biasamp.Audit.load(tmp_path / "out" / "audit.saved.json.gz").answer.titled.values():
        assert sentence in words
    words = re.sub(r"\s+", " ", process("demo", "--folder", tmp_path / "out", "--full").out)
    assert "What the 95% intervals conclude" in words
    assert "do not conclude that admissions were fair or unfair" in words
    for entry in document["metrics"]:
        if entry["metric"] == "directional":
            low, high = entry["interval"]
            where = "above 0" if low > 0 else "below 0" if high < 0 else "covers 0"
            assert re.search(rf"{entry['direction'].replace('->', '→')} (lies )?{where}", words)


def test_the_demo_as_json(run: Any, tmp_path: Path) -> None:
    ran = run("demo", "--folder", tmp_path, "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out) == json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))


def test_the_demo_gives_the_rates_of_the_table(run: Any, tmp_path: Path) -> None:
    document = json.loads(run("demo", "--folder", tmp_path, "--json", "-").out)
    (entry,) = [m for m in document["metrics"] if (m["metric"], m["direction"]) == ("directional", "A->T")]
    rates = {(p["given"], p["outcome"]): p["truth_rate"] for p in entry["pairs"]}
    assert rates["gender=man", "admitted=1"] == pytest.approx(1198 / 2691)
    assert rates["gender=woman", "admitted=1"] == pytest.approx(557 / 1835)


def test_the_picture_in_the_readme_shows_the_demo_as_it_is(run: Any, tmp_path: Path) -> None:
    """Drawn anew with ``python docs/make_demo_svg.py``."""
    document = json.loads(run("demo", "--folder", tmp_path, "--json", "-").out)
    picture = (README.parent / "docs" / "demo.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    for entry in document["metrics"]:
        assert f"{abs(entry['value']):.3f}" in picture, entry["metric"]
    drawn = html.unescape(picture)
    for sentence in biasamp.Audit.load(tmp_path / "audit.json").answer.titled.values():
        for words in sentence.split():
            assert words in drawn, words


def test_what_a_process_is_started_with_is_named(tmp_path: Path) -> None:
    """A time that is no number ended in the words of a library, a folder that is gone in ones that name no file."""
    command = [sys.executable, "-m", "biasamp", "demo"]
    ran = subprocess.run(
        command, env={**os.environ, "SOURCE_DATE_EPOCH": "today"}, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "SOURCE_DATE_EPOCH is 'today'; whole seconds" in ran.stderr
    gone = tmp_path / "gone"
    gone.mkdir()
    # A shell, since Python itself would not start in a folder that is not there.
    ran = subprocess.run(
        ["bash", "-c", 'cd "$1" && rmdir "$1" && shift && "$@"', "-", str(gone), *command],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the folder that this command was started in is not there any more" in ran.stderr
    assert "Traceback" not in ran.stderr
