"""An audit in the browser: a file is dropped, columns are chosen, and the page shows what Python's own report of the same audit shows."""

from __future__ import annotations

import base64
import csv
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.cli.role_options import split_roles
from biasamp.data.ways_out import PAGE, speaking_to
from biasamp.datasets import berkeley
from biasamp.report.audit_page import report_document
from biasamp.report.try_page import try_page, try_policy
from browser import Watched, lacking, violations
from extras import data_folder, needs
from hostile_labels import LABELS

needs("playwright.sync_api")

# What the page measures; everything else is beyond it.
METRICS = ["directional", "parity"]
ROLES: dict[str, Any] = {"attributes": ["gender", "age"], "tasks": "hired", "task_predictions": "said"}
# Parts of a report that do not say how it was made.
SAME = (
    "answer",
    "matrix",
    "group-rates",
    "beware",
    "verdicts",
    "findings",
    "metrics",
    "pairs",
    "rates",
    "groups",
    "cautions",
)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("try") / "try.html"
    path.write_text(try_page(), encoding="utf-8")
    return path


def applicants(records: int = 4000, seed: int = 1) -> dict[str, Any]:
    """Columns in which the model leans more than the truth does."""
    rng = np.random.default_rng(seed)
    gender = rng.choice(["woman", "man"], records, p=[0.4, 0.6])
    lean = np.where(gender == "man", 0.12, -0.12)
    hired = rng.random(records) < 0.45 + lean
    said = np.where(rng.random(records) < 0.7, hired, rng.random(records) < 0.45 + 2 * lean)
    age = rng.choice(["under 40", "40 and over", "not said"], records, p=[0.6, 0.395, 0.005])
    return {
        "id": np.arange(records),
        "gender": gender,
        "age": age,
        "hired": hired.astype(int),
        "said": said.astype(int),
        "score": rng.random(records).round(3),
    }


def write_csv(path: Path, columns: dict[str, Any]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(list(column) for column in columns.values()), strict=True))
    return path


def drop(page: Any, path: Path, name: str | None = None) -> None:
    """Drop a file on the page, as a browser does it."""
    held = page.evaluate_handle(
        """([name, data]) => {
          const out = new DataTransfer();
          out.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
          return out;
        }""",
        [name or path.name, base64.b64encode(path.read_bytes()).decode()],
    )
    page.dispatch_event("main", "drop", {"dataTransfer": held})
    page.wait_for_selector("html[data-step=choose], .refusal")


def pick(page: Any, path: Path) -> None:
    """Choose a file with the system's dialog."""
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Choose a file").click()
    asked.value.set_files(path)
    page.wait_for_selector("html[data-step=choose], .refusal")


def choose(page: Any, attributes: list[str], tasks: str, task_predictions: str) -> None:
    """Say which columns are what, whatever was guessed."""
    page.get_by_label("Truth", exact=True).select_option(label=tasks)
    page.get_by_label("Prediction", exact=True).select_option(label=task_predictions)
    if page.locator(".boxes button").count():
        page.locator(".boxes button").click()
    for box in page.locator(".boxes input").all():
        box.set_checked(False)
    for name in attributes:
        page.locator(".boxes label", has=page.locator(f'bdi.label:text-is("{name}")')).locator("input").check()


def audited(page: Any) -> None:
    page.get_by_role("button", name="Audit", exact=True).click()
    page.wait_for_selector("html[data-step=report], .refusal")


def measured(path: Path, **roles: Any) -> Any:
    """The same audit in Python."""
    found = biasamp.audit(path, **roles, metrics=METRICS, intervals="closed_form")
    return found.named(path.name)


def parts_of(page: Any) -> dict[str, str]:
    """The words of the sections, folds opened."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return {name: page.inner_text(f"#{name}") for name in SAME if page.locator(f"#{name}").count()}


def places_of(page: Any) -> dict[str, str]:
    """Every number that is shown, by its place in the document."""
    return dict(
        page.eval_on_selector_all(
            "data[data-place]", "all => all.map((one) => [one.getAttribute('data-place'), one.value])"
        )
    )


def at(document: Any, place: str) -> Any:
    for step in place.split("/")[1:]:
        document = document[int(step) if isinstance(document, list) else step]
    return document


def assert_same_numbers(page: Any, document: Any) -> None:
    shown = places_of(page)
    assert len(shown) > 20
    for place, value in shown.items():
        expected = at(document, place)
        if expected is None:
            assert value == "", place
        elif isinstance(expected, float):
            assert float(value) == pytest.approx(expected, rel=1e-10, abs=1e-14), place
        else:
            assert value == str(expected), place


def assert_same_report(watched: Watched, audit: Any, tmp_path: Path) -> None:
    """The page of the browser's audit says what Python's report says, word for word and number for number."""
    assert_same_numbers(watched.page, report_document(audit))
    own = parts_of(watched.page)
    audit.to_html(tmp_path / "python.html")
    theirs = parts_of(watched.open(tmp_path / "python.html"))
    assert own.keys() == theirs.keys() >= {"answer", "matrix", "group-rates", "verdicts", "pairs"}
    for name in own:
        assert own[name] == theirs[name], name


def test_a_dropped_file_is_audited_as_in_python(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "applicants.csv", applicants())
    page = watched.open(page_file)
    drop(page, path)
    assert page.get_by_label("Prediction", exact=True).evaluate("(one) => one.selectedOptions[0].text") == "said"
    choose(page, **ROLES)
    audited(page)
    command = page.inner_text("#beyond code")
    assert command == (
        'biasamp audit applicants.csv --attributes "gender,age" --tasks hired --task-predictions said --html report.html'
    )
    assert_same_report(watched, measured(path, **ROLES), tmp_path)


def test_parquet(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "applicants.parquet"
    pq.write_table(pa.table(applicants(seed=2)), path)
    page = watched.open(page_file)
    pick(page, path)
    choose(page, **ROLES)
    audited(page)
    assert_same_report(watched, measured(path, **ROLES), tmp_path)


def test_several_yes_no_columns(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    held = applicants(seed=3)
    rng = np.random.default_rng(3)
    held |= {"knife": rng.integers(0, 2, 4000), "knife_said": rng.integers(0, 2, 4000)}
    path = write_csv(tmp_path / "objects.csv", held)
    page = watched.open(page_file)
    drop(page, path)
    choose(page, ["gender"], "hired", "said")
    page.get_by_role("button", name="Add a pair").click()
    audited_button = page.get_by_role("button", name="Audit", exact=True)
    audited_button.click()
    assert "the truth of pair 2" in page.inner_text(".lacking")
    page.get_by_label("Truth 2").select_option(label="knife")
    page.get_by_label("Prediction 2").select_option(label="knife_said")
    audited(page)
    roles = {"attributes": ["gender"], "tasks": ["hired", "knife"], "task_predictions": ["said", "knife_said"]}
    assert_same_report(watched, measured(path, **roles), tmp_path)


def test_the_value_and_the_level_that_are_chosen(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    held = applicants(seed=4)
    held |= {name: np.where(held[name] == 1, "granted", "denied") for name in ("hired", "said")}
    path = write_csv(tmp_path / "rulings.csv", held)
    page = watched.open(page_file)
    drop(page, path)
    choose(page, **ROLES)
    page.get_by_label("Rates are of the value").select_option(label="denied")
    page.get_by_text("Further choices").click()
    page.get_by_label("Level of intervals").select_option(label="90%")
    page.get_by_label("Small groups have fewer than").fill("50")
    page.get_by_label("Small groups have fewer than").blur()
    audited(page)
    more = {"positive": "denied", "confidence": 0.9, "min_group": 50}
    assert "--positive denied --confidence 0.9 --min-group 50" in page.inner_text("#beyond code")
    assert_same_report(watched, measured(path, **ROLES, **more), tmp_path)


def test_compas(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    folder = data_folder()
    if folder is None:
        pytest.skip("BIASAMP_DATA names no folder")
    import pandas as pd

    frame = pd.read_csv(folder / "compas_two_years.csv")
    frame["said"] = (frame["decile_score"] >= 5).astype(int)
    path = tmp_path / "compas.csv"
    frame.to_csv(path, index=False)
    page = watched.open(page_file)
    pick(page, path)
    roles: dict[str, Any] = {"attributes": ["race", "sex"], "tasks": "two_year_recid", "task_predictions": "said"}
    choose(page, **roles)
    audited(page)
    assert_same_report(watched, measured(path, **roles), tmp_path)


def test_the_example_is_berkeley(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    page = watched.open(page_file)
    page.get_by_role("button", name="Try an example").click()
    page.wait_for_selector("html[data-step=choose]")
    audited(page)
    names = ("department", "gender", "admitted", "admitted_pred")
    held = berkeley.with_predictions()
    path = write_csv(tmp_path / "berkeley.csv", {name: held[name] for name in names})
    roles = {"attributes": ["gender"], "tasks": "admitted", "task_predictions": "admitted_pred"}
    assert_same_report(watched, measured(path, **roles), tmp_path)


def test_a_refused_choice_has_its_reason_and_the_way_back(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    held = applicants(400)
    held["said"] = np.where(held["said"] == 1, "Y", "N")
    path = write_csv(tmp_path / "spelled.csv", held)
    page = watched.open(page_file)
    drop(page, path)
    choose(page, **ROLES)
    audited(page)
    with pytest.raises(ValueError, match="said") as refused, speaking_to(PAGE):
        biasamp.audit(path, **ROLES)
    # The page calls columns by its own headings, and begins a sentence with them.
    words = (
        str(refused.value)
        .replace("task_predictions column", "prediction column")
        .replace("tasks column", "truth column")
    )
    assert page.inner_text(".refusal p >> nth=0") == words[0].upper() + words[1:]
    assert page.evaluate("document.activeElement.getAttribute('role')") == "alert"
    assert violations(page) == []
    # What was chosen is still chosen.
    assert page.get_by_label("Truth", exact=True).evaluate("(one) => one.selectedOptions[0].text") == "hired"


def test_records_with_gaps_are_left_out_where_that_is_chosen(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    held = {name: [str(value) for value in values] for name, values in applicants(400).items()}
    for place, name in enumerate((*ROLES["attributes"], ROLES["tasks"], ROLES["task_predictions"])):
        for record in range(place, 400, 57 + place):
            held[name][record] = ""
    chosen = (*ROLES["attributes"], ROLES["tasks"], ROLES["task_predictions"])
    kept = [i for i in range(400) if all(held[name][i] for name in chosen)]
    page = watched.open(page_file)
    drop(page, write_csv(tmp_path / "gaps.csv", held))
    choose(page, **ROLES)
    audited(page)
    assert "Tick 'Leave out records with missing values'" in page.inner_text(".refusal")
    page.get_by_label("Leave out records with missing values").check()
    audited(page)
    assert f"{400 - len(kept)} of 400 records are left out" in page.inner_text(".try-bar")
    assert "--missing drop" in page.inner_text("#beyond code")
    whole = tmp_path / "whole"
    whole.mkdir()
    path = write_csv(whole / "gaps.csv", {name: [values[i] for i in kept] for name, values in held.items()})
    assert_same_report(watched, measured(path, **ROLES), tmp_path)


def test_a_file_that_cannot_be_read_has_its_reason(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("")
    page = watched.open(page_file)
    drop(page, path)
    with pytest.raises(ValueError, match="empty") as refused:
        biasamp.audit(path, **ROLES)
    assert page.inner_text(".refusal p >> nth=0") == str(refused.value)
    # Another file can be tried at once.
    drop(page, write_csv(tmp_path / "good.csv", applicants(200)))
    assert page.locator("html[data-step=choose]").count() == 1


def test_what_the_full_audit_measures_has_its_command(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "scores.csv", applicants(400))
    page = watched.open(page_file)
    drop(page, path)
    choose(page, ["gender"], "hired", "score")
    audited(page)
    assert "--task-predictions score" in page.inner_text(".refusal code")


def test_policy_forbids_every_connection(page_file: Path, watched: Watched) -> None:
    assert "default-src 'none'" in try_policy()
    assert "connect-src 'none'" in try_policy()
    assert "unsafe" not in try_policy()
    page = watched.open(page_file)
    asked: list[str] = []
    page.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    page.get_by_role("button", name="Try an example").click()
    page.wait_for_selector("html[data-step=choose]")
    audited(page)
    assert [one for one in asked if not one.startswith("blob:")] == []
    # A script of the page that tried would be stopped by the browser itself.
    tried = page.evaluate("() => fetch('https://evil.example/').then(() => 'sent', () => 'stopped')")
    assert tried == "stopped"
    assert asked == [one for one in asked if one.startswith("blob:")]
    assert all("Content Security Policy" in one or "violates" in one for one in watched.complaints)
    assert watched.complaints
    watched.complaints.clear()
    watched.requests[:] = [one for one in watched.requests if "evil.example" not in one]


def words_of(line: str) -> list[str]:
    """The words that a shell makes of a command line."""
    shell = shutil.which("bash")
    if shell is None:
        lacking("there is no bash on this machine")
    done = subprocess.run(
        [shell, "--norc", "-c", f"printf '%s\\0' {line}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    return done.stdout.decode().split("\0")[:-1]


def hostile_names() -> Iterator[list[str]]:
    """Names in threes: an attribute, a task and its prediction."""
    names = [name for name in LABELS if "\0" not in name]
    for start in range(0, len(names) - 2, 3):
        yield names[start : start + 3]


def test_hostile_names_and_values_stay_text(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    """All labels as columns and as groups; what a shell makes of the command is the columns that were chosen."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = applicants(len(LABELS) * 40)
    columns: dict[str, Any] = {}
    for attribute, task, said in hostile_names():
        columns |= {attribute: held["gender"], task: held["hired"], said: held["said"]}
    columns["values"] = np.resize(
        np.array([name for name in LABELS if "\0" not in name], dtype=object), len(LABELS) * 40
    )
    path = tmp_path / "hostile.parquet"
    pq.write_table(pa.table(columns), path)
    page = watched.open(page_file)
    drop(page, path, "<img src=x onerror=alert(1)>';$(id).parquet")
    for attribute, task, said in [*hostile_names()][::5]:
        order = list(columns)
        page.get_by_label("Truth", exact=True).select_option(value=str(order.index(task)))
        page.get_by_label("Prediction", exact=True).select_option(value=str(order.index(said)))
        page.evaluate("document.querySelectorAll('.boxes input:checked').forEach((one) => one.click())")
        if page.locator(".boxes button").count():
            page.locator(".boxes button").click()
        free = [name for name in order if name not in (task, said)]
        page.evaluate("(place) => document.querySelectorAll('.boxes input')[place].click()", free.index(attribute))
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        words = words_of(page.inner_text(".beyond code"))
        assert words[:3] == ["biasamp", "audit", "<img src=x onerror=alert(1)>';$(id).parquet"]
        given = dict(zip(*[iter(_apart(words[3:]))] * 2, strict=True))
        options = {name: given[f"--{name.replace('_', '-')}"] for name in ("attributes", "tasks", "task_predictions")}
        assert split_roles(options) == {"attributes": attribute, "tasks": task, "task_predictions": said}
    audited(page)
    assert page.evaluate("window.pwned") is None
    assert page.locator("#page img, #page script, #page iframe").count() == 0


def _apart(words: list[str]) -> Iterator[str]:
    """Options and values, also of those that are tied together."""
    for word in words:
        yield from word.split("=", 1) if word.startswith("--") and "=" in word else [word]


def test_the_keyboard_is_enough(page_file: Path, watched: Watched) -> None:
    page = watched.open(page_file)

    def focused() -> str:
        return page.evaluate("document.activeElement.textContent.trim().slice(0, 40)")

    def reach(words: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if focused().startswith(words):
                return
        raise AssertionError(f"{words} cannot be reached")

    reach("Try an example")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-step=choose]")
    page.locator(".boxes input").first.focus()
    page.keyboard.press("Space")
    # Choosing does not lose the place.
    assert page.evaluate("document.activeElement.type") == "checkbox"
    reach("Audit")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-step=report]")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.get_by_role("button", name="Change the columns").press("Enter")
    assert page.locator("html[data-step=choose]").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_step_is_accessible_and_fits(page_file: Path, watched: Watched, scheme: Any, width: int) -> None:
    page = watched.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    watched.open(page_file)

    def check() -> None:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    check()
    page.get_by_role("button", name="Try an example").click()
    page.wait_for_selector("html[data-step=choose]")
    check()
    audited(page)
    check()


def test_work_can_be_stopped_and_begun_again(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "many.csv", applicants(300_000))
    page = watched.open(page_file)
    pick(page, path)
    choose(page, **ROLES)
    page.evaluate(
        """() => {
          // The button is there from the first moment of the work.
          [...document.querySelectorAll('button')].find((one) => one.textContent === 'Audit').click();
          [...document.querySelectorAll('button')].find((one) => one.textContent === 'Cancel').click();
        }"""
    )
    assert page.locator("html[data-step=choose]").count() == 1
    audited(page)
    assert page.locator("html[data-step=report]").count() == 1
    assert page.inner_text(".lead").startswith("300,000 records")


def test_the_page_answers_while_it_works(page_file: Path, watched: Watched, tmp_path: Path) -> None:
    """Nothing of the work is done where clicks are answered: the longest wait there is a small part of the whole."""
    path = write_csv(tmp_path / "many.csv", applicants(400_000))
    page = watched.open(page_file)
    pick(page, path)
    choose(page, **ROLES)
    longest, whole = page.evaluate(
        """() => new Promise((resolve) => {
          const begun = performance.now();
          let last = begun, longest = 0;
          const beat = () => {
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
            // The report is drawn at once, after the work.
            if (document.documentElement.getAttribute('data-step') === 'report') resolve([longest, now - begun]);
            else setTimeout(beat);
          };
          [...document.querySelectorAll('button')].find((one) => one.textContent === 'Audit').click();
          setTimeout(beat);
        })"""
    )
    assert longest < 0.5 * whole


def test_paper_has_the_report_and_the_command(page_file: Path, watched: Watched) -> None:
    page = watched.open(page_file)
    page.get_by_role("button", name="Try an example").click()
    page.wait_for_selector("html[data-step=choose]")
    audited(page)
    page.emulate_media(media="print")
    assert page.locator("#answer").is_visible()
    assert page.locator("#beyond code").is_visible()
    assert not page.get_by_role("button", name="Change the columns").is_visible()
