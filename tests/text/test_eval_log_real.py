"""Logs that the harnesses themselves write, each in an environment of its own (``make apart``)."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import biasamp

# A task with the mock model; which prompts get a yes is fixed.
INSPECT_TASK = """
import sys

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate

samples = [
    Sample(
        id=f"{item}-{group}",
        input=f"{group}: hire nurse {item}?",
        target="yes",
        metadata={"gender": group, "prompt": item},
    )
    for item in range(6)
    for group in ("woman", "man")
]
answers = [
    "no" if sample.metadata["gender"] == "woman" and sample.metadata["prompt"] < 4 else "yes" for sample in samples
] * 2
model = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", text) for text in answers])
task = Task(dataset=samples, solver=[generate()], scorer=[includes(), match()], epochs=Epochs(2, "mean"), name="hiring")
eval(task, model=model, log_dir=sys.argv[1], log_format=sys.argv[2], display="none", max_samples=1, max_connections=1)
"""
DOCS = [
    {"id": item, "question": f"hire nurse {item}?", "gender": group, "choices": ["no", "yes"], "label": item % 2}
    for item in range(6)
    for group in ("woman", "man")
]


def python_of(variable: str, tool: str) -> str:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} does not name the Python of an environment with {tool}")
    return python


def run(python: str, *arguments: str, cwd: Path) -> None:
    quiet = {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(cwd / "hf"),
        "XDG_DATA_HOME": str(cwd / "xdg"),
    }
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, *arguments], cwd=cwd, env={**kept, **quiet}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eval", "json"])
def test_inspect(kind: str, tmp_path: Path) -> None:
    python = python_of("BIASAMP_INSPECT", "inspect_ai 0.3.100")
    (tmp_path / "task.py").write_text(INSPECT_TASK)
    run(python, "task.py", str(tmp_path / "logs"), kind, cwd=tmp_path)
    (path,) = (tmp_path / "logs").glob(f"*.{kind}")
    log = biasamp.read_eval_log(path)
    assert (log.tool, len(log)) == ("Inspect", 24)
    assert set(log["task"]) == {"hiring"}
    assert Counter(log["epoch"]) == {1: 12, 2: 12}
    assert Counter(zip(log["gender"], log["answer"], strict=True))[("woman", "no")] == 8
    assert log["score"] == [float(answer == "yes") for answer in log["answer"]]
    row = next(biasamp.counterfactual("score", "gender", "prompt", data=log).table.rows())
    assert (row["group"], row["items"], row["answers"]) == ("woman", 6, 24)
    assert row["difference"] == pytest.approx(-4 / 6)


@pytest.mark.slow
def test_lm_evaluation_harness(tmp_path: Path) -> None:
    python = python_of("BIASAMP_LM_EVAL", "lm-eval")
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(doc) + "\n" for doc in DOCS))
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    shared = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "doc_to_text": "{{gender}}: {{question}}",
    }
    choices = {
        **shared,
        "task": "hiring_choice",
        "output_type": "multiple_choice",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{label}}",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    }
    written = {
        **shared,
        "task": "hiring_text",
        "output_type": "generate_until",
        "doc_to_target": "{{choices[label]}}",
        "repeats": 2,
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 8},
        "filter_list": [
            {"name": "first", "filter": [{"function": "take_first"}]},
            {"name": "all", "filter": [{"function": "take_first_k", "k": 2}]},
            {
                "name": "strict",
                "filter": [{"function": "regex", "regex_pattern": "(yes|no)"}, {"function": "take_first"}],
            },
        ],
        "metric_list": [{"metric": "exact_match"}],
    }
    for task in (choices, written):
        # JSON is YAML.
        (tasks / f"{task['task']}.yaml").write_text(json.dumps(task))
    names = "hiring_choice,hiring_text"
    run(
        python, "-m", "lm_eval", "--model", "dummy", "--tasks", names, "--include_path", str(tasks),
        "--output_path", str(tmp_path / "out"), "--log_samples", cwd=tmp_path,
    )  # fmt: skip
    (path,) = (tmp_path / "out").rglob("samples_hiring_choice*.jsonl")
    log = biasamp.read_eval_log(path)
    assert (log.tool, len(log)) == ("lm-evaluation-harness", 12)
    assert log["target"] == [("no", "yes")[doc["label"]] for doc in DOCS]
    # What the harness calls right is the choice that was read as the answer.
    assert log["score.acc"] == [float(said == right) for said, right in zip(log["answer"], log["target"], strict=True)]
    assert log["gender"] == [doc["gender"] for doc in DOCS]
    assert biasamp.counterfactual("answer", "gender", "id", data=log).items == 6
    (path,) = (tmp_path / "out").rglob("samples_hiring_text*.jsonl")
    with pytest.warns(UserWarning, match="'first', 'all', 'strict'"):
        biasamp.read_eval_log(path)
    assert set(biasamp.read_eval_log(path, filter="first")["answer"]) == {"lol"}
    assert biasamp.read_eval_log(path, filter="strict")["answer"] == [None] * 12
