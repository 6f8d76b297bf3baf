"""Everything in the package that writes a file, by the module that does it: each writes what it makes of a number.

Run as a script (``writers.py NAME PATH NUMBER``), it writes the file but stops, for as long as it lives, before the file
is in place: the moment at which the tests kill it.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import biasamp
from biasamp_reproductions.keeping import Kept


def _records(number: int) -> dict[str, list[Any]]:
    return {"g": ["a", "b"] * 20, "t": [0, 1, 1, 1] * 10, "p": [number % 2, 1] * 20}


def _audit(number: int) -> biasamp.Audit:
    return biasamp.audit(
        _records(number), attributes="g", tasks="t", task_predictions="p", metrics=["directional"], seed=number
    )


def _impact(number: int) -> Any:
    return biasamp.impact([1, 0, 1, 1], ["a", "a", "b", "b"], counts=[number, 1, 1, 1])


def _association(number: int) -> Any:
    return biasamp.associate([["woman", f"label {number}"], ["man", "car"], ["man"]] * 20, ["woman", "man"])


def _command(*words: object) -> None:
    """Run a command line in this process, quietly."""
    from biasamp.cli import group

    with mock.patch.object(sys, "stdout", io.TextIOWrapper(io.BytesIO())):
        group.main([str(word) for word in words], prog_name="biasamp", standalone_mode=False)


def _counts(path: Path, number: int) -> None:
    biasamp.count(_records(number), attributes="g", tasks="t", task_predictions="p").save(path)


def _association_counts(path: Path, number: int) -> None:
    records = [["woman", f"label {number}"], ["man", "car"], ["man"]] * 20
    biasamp.count({"labels": records}, identities=["woman", "man"], label="labels").save(path)


def _figures(path: Path, number: int) -> None:
    from matplotlib.figure import Figure

    from biasamp.report.figures import write_figures

    figure = Figure()
    figure.text(0.5, 0.5, str(number))
    write_figures({path.stem: figure}, path.parent)


def _events(path: Path, number: int) -> None:
    from biasamp.integrations.tensorboard import write_npmi_events

    write_npmi_events(_association(number), path.parent.parent, run=path.parent.name, wall_time=0.0)


def _verdict(number: int) -> Any:
    from biasamp.policy import Policy

    limit = {"metric": "directional", "direction": "A->T", "max": number / 10}
    return Policy(limits=[limit], min_group=0).check(_audit(number))


def _explore(path: Path, number: int) -> None:
    saved = path.parent / f"saved-{number}.json"
    _audit(number).to_json(saved)
    _command("explore", saved, "--html", path)


def _try(path: Path, number: int) -> None:
    """The page that is the same for everybody: what is there before is another file."""
    if number == 1:
        path.write_text("an older page")
    else:
        _command("try", "--html", path)


def _new_policy(path: Path, number: int) -> None:
    """The one writer that refuses a file that is there."""
    saved = path.parent / f"saved-{number}.json"
    _audit(number).to_json(saved)
    _command("check", saved, "--init", "--policy", path)


def _sweep(number: int) -> Any:

    return biasamp.sweep([0.9, 0.8, 0.6, 0.4] * number, ["f", "f", "m", "m"] * number, [1, 0, 1, 0] * number)


def _csv(path: Path, number: int) -> None:
    data = path.parent / f"labels-{number}.jsonl"
    data.write_text('{"x": ["woman", "label 1"]}\n' * number + '{"x": ["man", "car"]}\n')
    _command("associate", data, "--label", "x", "-i", "woman", "-i", "man", "--csv", path)


def _why(path: Path, number: int) -> None:
    data = path.parent / f"scores-{number}.csv"
    data.write_text("g,t,p\n" + "f,1,0.9\nf,0,0.6\nm,1,0.4\nm,0,0.2\n" * (number + 1))
    _command("why", data, "--scores", "p", "--attributes", "g", "--tasks", "t", "--csv", path)


def _reproduction(path: Path, number: int) -> None:
    _command("reproduce", "worked-examples", "--folder", path.parent, "--seed", number)


def _labels_of_texts(path: Path, number: int) -> None:
    biasamp.read_text(["a woman", "a man"] * number, "lic").write(path)


def _comparison(path: Path, number: int) -> None:
    biasamp.compare({"old": _audit(number), "new": _audit(number + 1)}).to_html(path)


def _trajectory(path: Path, number: int) -> None:
    biasamp.trajectory({"1": _audit(number), "2": _audit(number + 1)}).to_html(path)


def _part(path: Path, number: int) -> None:
    class Named(Kept):
        def _path(self, job: Any) -> Path:
            return path

    Named(path.parent, str, lambda part: part, lambda part: part).save(number, list(range(1000 * number)))


# name: (module that saves, name of the file, writer)
WRITERS: dict[str, tuple[str, str, Callable[[Path, int], None]]] = {
    "audit": ("biasamp.auditing.audit_result", "a.json", lambda path, number: _audit(number).save(path)),
    "gzipped audit": ("biasamp.auditing.audit_result", "a.json.gz", lambda path, number: _audit(number).save(path)),
    "JSON": ("biasamp.results.table", "b.json", lambda path, number: _audit(number).to_json(path)),
    "association JSON": ("biasamp.results.table", "f.json", lambda path, number: _association(number).to_json(path)),
    "Markdown": ("biasamp.results.table", "a.md", lambda path, number: _audit(number).to_markdown(path)),
    "JUnit": ("biasamp.results.table", "a.xml", lambda path, number: _verdict(number).to_junit(path)),
    "report": ("biasamp.report.audit_page", "a.html", lambda path, number: _audit(number).to_html(path)),
    "sweep page": ("biasamp.report.sweep_page", "s.html", lambda path, number: _sweep(number).to_html(path)),
    "impact page": ("biasamp.report.impact_page", "i.html", lambda path, number: _impact(number).to_html(path)),
    "comparison page": ("biasamp.report.comparison_page", "k.html", _comparison),
    "trajectory page": ("biasamp.report.trajectory_page", "t.html", _trajectory),
    "verdict page": ("biasamp.report.verdict_page", "v.html", lambda path, number: _verdict(number).to_html(path)),
    "explorer": ("biasamp.report.explorer_document", "b.html", lambda path, n: _association(n).to_html(path)),
    "counts": ("biasamp.counts.storage", "c.parquet", _counts),
    "association counts": ("biasamp.counts.storage", "d.parquet", _association_counts),
    "figures": ("biasamp.report.figures", "figure.png", _figures),
    "event file": ("biasamp.integrations.tensorboard", "events.out.tfevents.0.biasamp", _events),
    "labels of texts": ("biasamp.text.read_text", "t.parquet", _labels_of_texts),
    "CSV": ("biasamp.cli.output", "e.csv", _csv),
    "CSV of parts": ("biasamp.cli.output", "w.csv", _why),
    "page of explore": ("biasamp.cli.cmd_explore", "c.html", _explore),
    "page of try": ("biasamp.cli.cmd_try", "y.html", _try),
    "new policy": ("biasamp.cli.cmd_check", "policy.toml", _new_policy),
    "part of a reproduction": ("biasamp_reproductions.keeping", "part.json", _part),
    "reproduction": ("biasamp_reproductions.command", "worked-examples.html", _reproduction),
}


def _stop_before_in_place(target: Path) -> None:
    """Say that all of the target's bytes are written, and wait."""
    flush = os.fsync

    def stopped(descriptor: int) -> None:
        flush(descriptor)
        if Path(os.readlink(f"/proc/self/fd/{descriptor}")).parent == target.resolve().parent:
            _seen.append(descriptor)
            if len(_seen) > int(sys.argv[4]):
                print("written", flush=True, file=sys.__stdout__)
                time.sleep(60)

    os.fsync = stopped


_seen: list[int] = []

if __name__ == "__main__":
    _stop_before_in_place(Path(sys.argv[2]))
    WRITERS[sys.argv[1]][2](Path(sys.argv[2]), int(sys.argv[3]))
