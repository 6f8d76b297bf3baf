"""What each tool writes of a sample, as rows with the same names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
# What all logs have; metadata keep their own names where they are none of these.
CORE = ("task", "model", "item", "epoch", "filter", "input", "target", "answer", "score", "error")
# What a regular expression of lm-evaluation-harness gives where it matches nothing.
_UNMATCHED = "[invalid]"
# promptfoo's reason of a test that failed by its assertions: the answer is there, and its "error" says what was expected.
_ASSERTED = 1
# What promptfoo notes of its own files among the metadata of a test.
_OWN_NOTES = "_promptfooFileMetadata"
# Inspect writes grades as letters: correct, incorrect, partial, no answer.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def flat(value: Any) -> Any:
    """A value that a column can hold: text, a number, true or false; JSON text for lists and objects."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def text_of(value: Any) -> str | None:
    """An input, a target or an answer as text: messages as the text of the last one, lists by lines."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        if value and all(isinstance(one, str) for one in value):
            return "\n".join(value)
        texts = [text for one in value if isinstance(one, Mapping) and (text := _message(one)) is not None]
        return texts[-1] if texts else json.dumps(value, ensure_ascii=False)
    return str(flat(value))


def _message(message: Mapping[str, Any]) -> str | None:
    content = message.get("content", message.get("text"))
    if isinstance(content, list):
        parts = [one.get("text") for one in content if isinstance(one, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def number(value: Any) -> float | None:
    """A score as a number: grades, true and false, and numbers in text too; None for all else."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        if value in _GRADES:
            return _GRADES[value]
        lower = value.strip().lower()
        if lower in ("yes", "true", "pass", "passed"):
            return 1.0
        if lower in ("no", "false", "fail", "failed"):
            return 0.0
        try:
            found = float(lower)
        except (ValueError, OverflowError):
            return None
        return found if math.isfinite(found) else None
    return None


def with_metadata(row: Row, *metadata: Any) -> Row:
    """A row with metadata under their own names, or ``metadata.name`` where a name is taken."""
    out = dict(row)
    for held in metadata:
        if isinstance(held, Mapping):
            for name, value in held.items():
                out.setdefault(
                    f"metadata.{name}" if name in CORE or name.startswith("score.") else str(name), flat(value)
                )
    return out


def _scored(row: Row, scores: Mapping[str, Any]) -> Row:
    """A row with every score by its name, and the first of them as the score."""
    named = {f"score.{name}": found for name, value in scores.items() if (found := number(value)) is not None}
    return {**row, "score": next(iter(named.values()), None), **named}


# --- lm-evaluation-harness -------------------------------------------------------------------------------------


def is_lm_eval(value: Any) -> bool:
    """Whether an object is a line of ``samples_*.jsonl``."""
    return isinstance(value, Mapping) and {"doc_id", "filtered_resps"} <= set(value) and "doc" in value


def lm_eval_rows(value: Mapping[str, Any], task: str, model: str | None) -> Iterator[Row]:
    """The rows of one line: one for each answer, as a filter may keep several repeats."""
    doc = value.get("doc")
    row: Row = {"task": task, "model": model, "item": flat(value.get("doc_id")), "filter": flat(value.get("filter"))}
    metrics = value.get("metrics")
    names = [name for name in metrics if isinstance(name, str)] if isinstance(metrics, list) else []
    row = _scored(row, {name: value.get(name) for name in names})
    requests = _requests(value.get("arguments"))
    answers = value["filtered_resps"] if isinstance(value["filtered_resps"], list) else [value["filtered_resps"]]
    target: Any = value.get("target")
    row["input"] = text_of(requests[0][0]) if requests else None
    likelihoods = [_likelihood(one) for one in answers]
    if answers and all(one is not None for one in likelihoods):
        # Without the requests for the choice alone, which mutual information asks for too.
        shown = [place for place, request in enumerate(requests) if request[0]] or list(range(len(requests)))
        kept = [place for place in shown if place < len(likelihoods)] or list(range(len(likelihoods)))
        choices = [str(requests[place][1]).strip() if place < len(requests) else str(place) for place in kept]
        values = [likelihoods[place] or (-math.inf, False) for place in kept]
        best = max(range(len(values)), key=lambda place: values[place][0])
        if len(values) == 1:
            said = choices[0] if values[0][1] else None
        else:
            said = choices[best]
        yield with_metadata({**row, "epoch": 1, "target": _choice(target, choices), "answer": said}, doc)
        return
    said_all = answers[0] if len(answers) == 1 and isinstance(answers[0], list) else answers
    for epoch, said in enumerate(said_all, start=1):
        answer = None if said == _UNMATCHED else text_of(said)
        yield with_metadata({**row, "epoch": epoch, "target": text_of(target), "answer": answer}, doc)


def _requests(arguments: Any) -> list[tuple[Any, Any]]:
    """Context and continuation of each request, which newer versions write by name and older ones as lists."""
    if isinstance(arguments, Mapping):
        held = [one for one in arguments.values() if isinstance(one, Mapping)]
        return [(one.get("arg_0"), one.get("arg_1")) for one in held]
    if isinstance(arguments, list):
        return [(one[0], one[1] if len(one) > 1 else None) for one in arguments if isinstance(one, list) and one]
    return []


def _likelihood(answer: Any) -> tuple[float, bool] | None:
    """Log-likelihood and whether it is what the model would have said; None where an answer is something else."""
    if not isinstance(answer, list) or len(answer) != 2 or isinstance(answer[0], bool):
        return None
    if str(answer[1]) not in ("True", "False"):
        return None
    value = number(answer[0])
    return (-math.inf if value is None else value, str(answer[1]) == "True")


def _choice(target: Any, choices: Sequence[str]) -> Any:
    """The text of the right choice, which tasks give by its place or as text."""
    if isinstance(target, str) and target.strip() in choices:
        return target.strip()
    place = number(target)
    if place is not None and place == int(place) and 0 <= int(place) < len(choices) and len(choices) > 1:
        return choices[int(place)]
    return text_of(target)


# --- Inspect ---------------------------------------------------------------------------------------------------


def is_inspect(value: Any) -> bool:
    """Whether a document is an Inspect log."""
    return isinstance(value, Mapping) and isinstance(value.get("eval"), Mapping) and "version" in value


def inspect_row(sample: Mapping[str, Any], header: Mapping[str, Any]) -> Row:
    """The row of one sample in one epoch."""
    about = header.get("eval")
    about = about if isinstance(about, Mapping) else {}
    scores = sample.get("scores")
    held: dict[str, Any] = {}
    answer: Any = None
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        found = score.get("value") if isinstance(score, Mapping) else score
        if isinstance(found, Mapping):
            held.update({f"{name}.{part}": one for part, one in found.items()})
        else:
            held[name] = found
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
    if (
        isinstance(choices, list)
        and choices
        and isinstance(choices[0], Mapping)
        and isinstance(choices[0].get("message"), Mapping)
    ):
        answer = _message(choices[0]["message"])
    error = sample.get("error")
    row: Row = {
        "task": flat(about.get("task")),
        "model": flat(about.get("model")),
        "item": flat(sample.get("id")),
        "epoch": flat(sample.get("epoch")),
        "input": text_of(sample.get("input")),
        "target": text_of(sample.get("target")),
        "answer": answer,
        "error": flat(error.get("message")) if isinstance(error, Mapping) else flat(error),
    }
    return with_metadata(_scored(row, held), sample.get("metadata"))


# --- promptfoo -------------------------------------------------------------------------------------------------


def promptfoo_results(value: Any) -> list[Any] | None:
    """The results of a promptfoo output; None for other documents."""
    inner = value.get("results") if isinstance(value, Mapping) else None
    held = inner.get("results") if isinstance(inner, Mapping) else inner
    return held if isinstance(held, list) and all(map(is_promptfoo, held)) else None


def is_promptfoo(value: Any) -> bool:
    """Whether an object is one result of promptfoo, as a line of its ``.jsonl`` output is."""
    return isinstance(value, Mapping) and ("vars" in value or "testCase" in value)


def promptfoo_rows(results: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """A row for each test, prompt and provider; repeats of the same variables are epochs."""
    times: dict[str, int] = {}
    first: dict[str, Any] = {}
    for place, one in enumerate(results):
        case = one.get("testCase") if isinstance(one.get("testCase"), Mapping) else {}
        variables = one.get("vars") if isinstance(one.get("vars"), Mapping) else (case or {}).get("vars")
        provider = one.get("provider")
        model = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider
        prompt = one.get("prompt")
        raw = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
        key = json.dumps(
            [variables, one.get("promptIdx"), raw if one.get("promptIdx") is None else None], sort_keys=True
        )
        item = first.setdefault(key, one.get("testIdx", place))
        asked = json.dumps([key, model])
        times[asked] = times.get(asked, 0) + 1
        response = one.get("response")
        said = response.get("output") if isinstance(response, Mapping) else None
        grading = one.get("gradingResult")
        grade = grading.get("score") if isinstance(grading, Mapping) else None
        score = one.get("score") if one.get("score") is not None else grade
        named = one.get("namedScores")
        scores = {
            "score": score if score is not None else one.get("success"),
            **(named if isinstance(named, Mapping) else {}),
        }
        label = prompt.get("label") if isinstance(prompt, Mapping) else None
        row: Row = {
            "task": flat(label),
            "model": flat(model),
            "item": flat(item),
            "epoch": times[asked],
            "input": text_of(raw),
            "target": _expected(case),
            "answer": text_of(said),
            "error": None if one.get("failureReason") == _ASSERTED else flat(one.get("error")),
        }
        metadata = [(case or {}).get("metadata"), one.get("metadata")]
        own = [{k: v for k, v in held.items() if k != _OWN_NOTES} for held in metadata if isinstance(held, Mapping)]
        yield with_metadata(_scored(row, scores), variables, *own)


def _expected(case: Any) -> str | None:
    """What a test expects, where it compares with one value."""
    asserts = case.get("assert") if isinstance(case, Mapping) else None
    for one in asserts if isinstance(asserts, list) else ():
        if (
            isinstance(one, Mapping)
            and one.get("type") in ("equals", "contains", "icontains")
            and one.get("value") is not None
        ):
            return text_of(one["value"])
    return None


# --- HELM ------------------------------------------------------------------------------------------------------


def is_helm(value: Any) -> bool:
    """Whether a document is the ``scenario_state.json`` of a HELM run."""
    return isinstance(value, Mapping) and isinstance(value.get("request_states"), list)


def helm_rows(value: Mapping[str, Any], stats: Any, task: str) -> Iterator[Row]:
    """A row for each instance, trial and completion; ``stats`` is what ``per_instance_stats.json`` holds."""
    spec = value.get("adapter_spec")
    spec = spec if isinstance(spec, Mapping) else {}
    scores = _helm_scores(stats)
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for state in value["request_states"]:
        if (
            isinstance(state, Mapping)
            and isinstance(state.get("instance"), Mapping)
            and state.get("request_mode") != "calibration"
        ):
            asked.setdefault(_helm_key(state["instance"], state), []).append(state)
    for key, states in asked.items():
        instance = states[0]["instance"]
        references = [one for one in instance.get("references") or [] if isinstance(one, Mapping)]
        right = [
            text
            for one in references
            if "correct" in (one.get("tags") or []) and (text := _helm_text(one.get("output")))
        ]
        request = states[0].get("request")
        row: Row = {
            "task": task,
            "model": flat(request.get("model") if isinstance(request, Mapping) else None) or flat(spec.get("model")),
            "item": flat(instance.get("id")),
            "input": _helm_text(instance.get("input")),
            "target": right[0] if right else None,
        }
        row = _scored(row, scores.get(key, {}))
        more = {name: one for name, one in instance.items() if name in ("split", "sub_split")}
        perturbation = instance.get("perturbation")
        more |= (
            {f"perturbation.{name}": one for name, one in perturbation.items()}
            if isinstance(perturbation, Mapping)
            else {}
        )
        extra = instance.get("extra_data")
        trial = states[0].get("train_trial_index")
        trial = trial if isinstance(trial, int) else 0
        said = _helm_answers(states, references)
        for place, answer in enumerate(said):
            yield with_metadata({**row, "epoch": trial * len(said) + place + 1, "answer": answer}, more, extra)


def _helm_key(instance: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    return json.dumps(
        [instance.get("id"), instance.get("perturbation"), state.get("train_trial_index", 0)], sort_keys=True
    )


def _helm_text(value: Any) -> str | None:
    return text_of(value.get("text") if isinstance(value, Mapping) else value)


def _helm_answers(states: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """The completions of an instance, or the likeliest of its references where each was asked for by itself."""

    def completions(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        result = state.get("result")
        held = result.get("completions") if isinstance(result, Mapping) else None
        return [one for one in held if isinstance(one, Mapping)] if isinstance(held, list) else []

    separate = [state for state in states if isinstance(state.get("reference_index"), int)]
    if len(separate) > 1:
        best = max(separate, key=lambda state: number((completions(state) or [{}])[0].get("logprob")) or -math.inf)
        place = best["reference_index"]
        return [_helm_text(references[place].get("output")) if 0 <= place < len(references) else None]
    out: list[str | None] = []
    for state in states:
        mapping = state.get("output_mapping")
        for one in completions(state) or [{}]:
            said = one.get("text")
            said = said.strip() if isinstance(said, str) else None
            out.append(text_of(mapping.get(said, said)) if isinstance(mapping, Mapping) and said is not None else said)
    return out


def _helm_scores(stats: Any) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    for one in stats if isinstance(stats, list) else ():
        if not isinstance(one, Mapping):
            continue
        key = json.dumps(
            [one.get("instance_id"), one.get("perturbation"), one.get("train_trial_index", 0)], sort_keys=True
        )
        for stat in one.get("stats") or []:
            name = stat.get("name") if isinstance(stat, Mapping) else None
            if isinstance(name, Mapping) and isinstance(name.get("name"), str):
                out.setdefault(key, {}).setdefault(name["name"], stat.get("mean"))
    return out
