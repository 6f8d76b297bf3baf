"""``biasamp try``: the page in a file, or in a browser from a file that goes when the command ends."""

from __future__ import annotations

import time
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from click.testing import CliRunner

from biasamp.cli import group
from biasamp.report.try_page import try_page


def test_the_page_is_written(tmp_path: Path) -> None:
    path = tmp_path / "try.html"
    result = CliRunner().invoke(group, ["try", "--html", str(path)])
    assert result.exit_code == 0
    assert result.output == f"Written: {path}\n"
    assert path.read_text(encoding="utf-8") == try_page()


def test_the_browser_gets_a_file_that_goes_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def browse(address: str) -> bool:
        opened.append(Path(url2pathname(urlsplit(address).path)))
        assert opened[0].read_text(encoding="utf-8") == try_page()
        return True

    def interrupted(_: float) -> None:
        assert opened[0].is_file()
        raise KeyboardInterrupt

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(time, "sleep", interrupted)
    result = CliRunner().invoke(group, ["try"])
    assert result.exit_code == 0
    assert str(opened[0]) in result.output
    assert not opened[0].parent.exists()


def test_without_a_browser_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    result = CliRunner().invoke(group, ["try"])
    assert result.exit_code == 2
    assert "no browser could be started: write the page with --html FILE" in result.output


def test_no_browser_is_started_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(webbrowser, "open", refused)
    monkeypatch.setattr(time, "sleep", interrupted)
    assert CliRunner().invoke(group, ["try", "--no-browser"]).exit_code == 0
