"""Evaluation logs in their documented forms, and logs that are hostile."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.text.eval_log import is_eval_log


def inspect_sample(item: int, group: str, epoch: int = 1, value: Any = "C", answer: Any = "yes") -> dict[str, Any]:
    return {
        "id": f"{item}-{group}",
        "epoch": epoch,
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"{group} {item}?"}],
        "target": "yes",
        "output": {
            "model": "m",
            "choices": [{"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}],
        },
        "scores": {"grader": {"value": value, "answer": "yes"}},
        "metadata": {"gender": group, "prompt": item, "score": 3, "nested": {"a": [1]}},
        "events": [],
    }


HEADER = {"version": 2, "status": "success", "eval": {"task": "loans", "model": "mock/model"}}


def write_archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return path


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


class TestInspect:
    def test_archive_and_document_are_one_table(self, tmp_path: Path) -> None:
        samples = [
            inspect_sample(1, "woman", value="I", answer=[{"type": "text", "text": "no"}]),
            inspect_sample(1, "man", value="P"),
            inspect_sample(2, "man", value={"tone": 2, "facts": True}),
        ]
        samples.append(
            {**inspect_sample(2, "woman"), "output": {"choices": []}, "error": {"message": "timeout"}, "scores": None}
        )
        one = biasamp.read_eval_log(write_json(tmp_path / "log.json", {**HEADER, "samples": samples}))
        members = {f"samples/{s['id']}_epoch_1.json": json.dumps(s).encode() for s in samples}
        held = {
            "_journal/start.json": b"{}",
            **members,
            "header.json": json.dumps(HEADER).encode(),
            "summaries.json": b"[]",
        }
        two = biasamp.read_eval_log(write_archive(tmp_path / "log.eval", held))
        assert one.table.equals(two.table)
        assert one["score"] == [0.0, 0.5, 2.0, None]
        assert one["score.grader.facts"] == [None, None, 1.0, None]
        assert one["answer"] == ["no", "yes", "yes", None]
        assert one["input"][0] == "woman 1?"
        assert one["metadata.score"] == [3] * 4
        assert one["nested"][0] == '{"a": [1]}'
        assert one["error"][3] == "timeout"
        assert biasamp.read_eval_log(tmp_path / "log.eval")["model"] == ["mock/model"] * 4


def promptfoo_document() -> dict[str, Any]:
    results = []
    for repeat in range(2):
        for place, group in enumerate(("woman", "man")):
            results.append(
                {
                    "promptIdx": 0,
                    "testIdx": 2 * repeat + place,
                    "vars": {"gender": group, "prompt": 7},
                    "testCase": {
                        "vars": {"gender": group},
                        "assert": [{"type": "equals", "value": "yes"}],
                        "metadata": {"topic": "loans"},
                    },
                    "provider": {"id": "openai:x", "label": "x"},
                    "prompt": {"raw": f"{group}?", "label": "ask"},
                    "response": {"output": "yes" if group == "man" else "no"},
                    "success": group == "man",
                    "score": float(group == "man"),
                    "namedScores": {"tone": 0.25},
                    "gradingResult": {"pass": True, "score": 1},
                }
            )
    return {"evalId": "e", "results": {"version": 3, "prompts": [], "results": results, "stats": {}}, "config": {}}


class TestPromptfoo:
    def test_repeats_are_epochs(self, tmp_path: Path) -> None:
        log = biasamp.read_eval_log(write_json(tmp_path / "results.json", promptfoo_document()))
        assert log.tool == "promptfoo"
        assert log["item"] == [0, 1, 0, 1]
        assert log["epoch"] == [1, 1, 2, 2]
        assert (log["target"], log["score.tone"]) == (["yes"] * 4, [0.25] * 4)
        assert log["gender"] == ["woman", "man"] * 2
        assert log["topic"] == ["loans"] * 4
        row = next(biasamp.counterfactual("score", "gender", "prompt", data=log).table.rows())
        assert (row["difference"], row["items"], row["answers"]) == (-1.0, 1, 4)

    def test_lines_are_read_as_the_document_is(self, tmp_path: Path) -> None:
        document = promptfoo_document()
        lines = tmp_path / "results.jsonl"
        lines.write_text("".join(json.dumps(one) + "\n" for one in document["results"]["results"]))
        assert is_eval_log(lines)
        assert biasamp.read_eval_log(lines).table.equals(
            biasamp.read_eval_log(write_json(tmp_path / "results.json", document)).table
        )
        with lines.open("a") as stream:
            stream.write("[]\n")
        with pytest.raises(ValueError, match=r"line 5 of results\.jsonl is no result of promptfoo"):
            biasamp.read_eval_log(lines)

    def test_a_failed_assertion_is_no_error_of_the_answer(self, tmp_path: Path) -> None:
        document = promptfoo_document()
        wrong, broken, *_ = document["results"]["results"]
        wrong |= {
            "error": "Expected output to equal yes",
            "failureReason": 1,
            "metadata": {"_promptfooFileMetadata": {}},
        }
        broken |= {"error": "429 too many requests", "failureReason": 2, "response": None}
        log = biasamp.read_eval_log(write_json(tmp_path / "results.json", document))
        assert log["error"] == [None, "429 too many requests", None, None]
        assert log["answer"] == ["no", None, "no", "yes"]
        assert not any(name.startswith("_") for name in log.table.column_names)


def helm_state(item: str, text: str, **more: Any) -> dict[str, Any]:
    references = [{"output": {"text": "Paris"}, "tags": ["correct"]}, {"output": {"text": "Rome"}, "tags": []}]
    instance = {"id": item, "input": {"text": "Where?"}, "references": references, "split": "test"}
    result = {"success": True, "completions": [{"text": text, "logprob": -1.0}]}
    return {"instance": instance, "train_trial_index": 0, "request": {"model": "org/m"}, "result": result, **more}


class TestHelm:
    def test_run_folder(self, tmp_path: Path) -> None:
        run = tmp_path / "bbq:model=m"
        run.mkdir()
        separate = [helm_state("id3", "", reference_index=i) for i in range(2)]
        separate[0]["result"]["completions"][0]["logprob"] = -9.0
        states = [
            helm_state("id1", " A", output_mapping={"A": "Paris", "B": "Rome"}),
            helm_state("id2", "Rome"),
            *separate,
        ]
        write_json(run / "scenario_state.json", {"adapter_spec": {"model": "org/m"}, "request_states": states})
        stats = [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0, "mean": 1.0}]
        write_json(run / "per_instance_stats.json", [{"instance_id": "id1", "train_trial_index": 0, "stats": stats}])
        log = biasamp.read_eval_log(run)
        assert log["item"] == ["id1", "id2", "id3"]
        assert log["answer"] == ["Paris", "Rome", "Rome"]
        assert log["target"] == ["Paris"] * 3
        assert log["score"] == [1.0, None, None]
        assert log["task"] == ["bbq:model=m"] * 3


def lm_eval_line(**more: Any) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": {"gender": "woman", "answer": 1},
        "target": "1",
        "arguments": [["she is", " a nurse"], ["she is", " a pilot"], ["", " a nurse"], ["", " a pilot"]],
        "resps": [],
        "filtered_resps": [[-5.0, False], [-2.0, True], [-1.0, False], [-0.5, False]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
        **more,
    }


class TestLmEval:
    def test_choices_of_older_versions(self, tmp_path: Path) -> None:
        log = biasamp.read_eval_log(write_json(tmp_path / "samples_jobs_2026-01-01T10-00-00.1.jsonl", lm_eval_line()))
        assert (log["answer"], log["target"]) == (["a pilot"], ["a pilot"])
        assert (log["task"], log["metadata.answer"]) == (["jobs"], [1])

    def test_one_continuation_is_an_answer_where_it_is_the_likeliest(self, tmp_path: Path) -> None:
        lines = [
            lm_eval_line(doc_id=i, arguments=[["x", " y"]], filtered_resps=[[-1.0, said]])
            for i, said in enumerate([True, False])
        ]
        path = tmp_path / "samples.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        assert biasamp.read_eval_log(path)["answer"] == ["y", None]

    def test_repeats_that_a_filter_keeps(self, tmp_path: Path) -> None:
        path = write_json(tmp_path / "samples.jsonl", lm_eval_line(filtered_resps=[["a", "b", "[invalid]"]]))
        log = biasamp.read_eval_log(path)
        assert (log["answer"], log["epoch"]) == (["a", "b", None], [1, 2, 3])


def _bomb(path: Path) -> Path:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        for i in range(4):
            archive.writestr(f"samples/{i}.json", b" " * (1 << 22) + b"{}")
    (path / "bomb.eval").write_bytes(raw.getvalue())
    return path / "bomb.eval"


def _raw(name: str, content: bytes) -> Any:
    def make(path: Path) -> Path:
        (path / name).write_bytes(content)
        return path / name

    return make


class TestHostile:
    def test_zip_bomb(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "8MB")
        with pytest.raises(ValueError, match="more than it may unzipped"):
            biasamp.read_eval_log(_bomb(tmp_path))

    def test_sizes_that_an_archive_claims_are_not_believed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("biasamp.text.log_files.MOST_OF_A_SAMPLE", 1000)
        with pytest.raises(ValueError, match="beyond"):
            biasamp.read_eval_log(_bomb(tmp_path))

    def test_paths_go_nowhere(self, tmp_path: Path) -> None:
        sample = json.dumps(inspect_sample(1, "woman")).encode()
        names = ["../../evil.json", "/etc/evil.json", "samples/../../evil.json", "samples\\..\\evil.json"]
        path = write_archive(
            tmp_path / "x.eval", {"header.json": json.dumps(HEADER).encode(), **dict.fromkeys(names, sample)}
        )
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(ValueError, match="no samples"):
            biasamp.read_eval_log(path)
        assert sorted(tmp_path.rglob("*")) == before

    @pytest.mark.parametrize(
        "make, message",
        [
            (_raw("deep.json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "deep"),
            (_raw("deep.json", b'{"version": 2, "eval": {}, "samples": ' + b"[" * 100 + b"]" * 100 + b"}"), "deep"),
            (_raw("deep.jsonl", b"[" * 300_000), "deep|no JSON"),
            (_raw("x.eval", b"PK\x03\x04 and no more"), "cannot be read as an Inspect log"),
            (_raw("x.json", b"\xff\xfe\x00"), "not UTF-8"),
            (_raw("x.json", b"{"), "no JSON"),
            (_raw("x.json", b"[1, 2]"), "none of the logs"),
            (_raw("x.json", b'{"results": 3}'), "none of the logs"),
            (_raw("x.jsonl", b'{"a": 1}\n'), "no sample of lm-evaluation-harness"),
            (_raw("x.json", b""), "empty"),
            (_raw("x.json", b'{"version": 2, "eval": {}, "samples": [1, null, {}]}'), None),
            (
                _raw(
                    "x.json",
                    json.dumps({"request_states": [1, {"instance": {}}, {"instance": {"references": [2]}}]}).encode(),
                ),
                None,
            ),
            (_raw("x.json", b'{"results": {"results": []}}'), "no samples"),
            (_raw("x.json", b'{"version": 2, "eval": {}, "samples": [{"id": ' + b"9" * 5000 + b"}]}"), "no JSON"),
        ],
    )
    def test_what_is_no_log(self, make: Any, message: str | None, tmp_path: Path) -> None:
        path = make(tmp_path)
        if message is None:
            assert len(biasamp.read_eval_log(path)) >= 1
            return
        with pytest.raises(ValueError, match=message):
            biasamp.read_eval_log(path)

    def test_members_that_are_no_objects(self, tmp_path: Path) -> None:
        path = write_archive(tmp_path / "x.eval", {"samples/1.json": b"[1]"})
        with pytest.raises(ValueError, match="no object"):
            biasamp.read_eval_log(path)

    def test_missing_files_and_filters(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            biasamp.read_eval_log(tmp_path / "none.eval")
        with pytest.raises(ValueError, match="filter is 'x'"):
            biasamp.read_eval_log(write_json(tmp_path / "samples.jsonl", lm_eval_line()), filter="x")
        with pytest.raises(ValueError, match="several tools"):
            biasamp.read_eval_log([tmp_path / "samples.jsonl", write_json(tmp_path / "r.json", promptfoo_document())])
        (tmp_path / "empty").mkdir()
        with pytest.raises(ValueError, match="holds no evaluation log"):
            biasamp.read_eval_log(tmp_path / "empty")

    def test_hostile_text_stays_text(self, tmp_path: Path) -> None:
        sample = inspect_sample(1, "<script>alert(1)</script>", answer="=1+1")
        log = biasamp.read_eval_log(write_json(tmp_path / "x.json", {**HEADER, "samples": [sample]}))
        assert "<script>" not in log._repr_html_()


def test_logs_are_known_by_name_and_lines_by_what_they_hold(tmp_path: Path) -> None:
    for name, known in {"a.eval": True, "samples_x.jsonl": False, "a.csv": False, "r.json": True}.items():
        (tmp_path / name).write_text("{}")
        assert is_eval_log(tmp_path / name) is known
    assert is_eval_log(write_json(tmp_path / "any.jsonl", lm_eval_line()))
    assert not is_eval_log(tmp_path / "none.eval")


def test_audit_and_read_text_take_a_log(tmp_path: Path) -> None:
    samples = [
        inspect_sample(i, "woman" if i % 2 else "man", answer="She is a nurse" if i % 3 else "He is a pilot")
        for i in range(60)
    ]
    log = biasamp.read_eval_log(write_json(tmp_path / "x.json", {**HEADER, "samples": samples}))
    assert biasamp.read_text(log, "helm", ["nurse", "pilot"]).found["texts"].tolist() == [40, 20, 0, 0]
    truth = ["She is a nurse" if i % 4 else "He is a pilot" for i in range(60)]
    samples = [{**sample, "target": right} for sample, right in zip(samples, truth, strict=True)]
    log = biasamp.read_eval_log(write_json(tmp_path / "y.json", {**HEADER, "samples": samples}))
    roles = {
        "attributes": "gender",
        "tasks": "target",
        "task_predictions": "answer",
        "metrics": ["directional"],
        "resamples": 20,
    }
    assert (
        biasamp.audit(log, **roles).metrics["value"].tolist()
        == biasamp.audit(log.table, **roles).metrics["value"].tolist()
    )
