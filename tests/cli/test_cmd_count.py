"""``biasamp count`` and ``biasamp merge``: only counts travel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROLES = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p", "--record", "id")


@pytest.fixture
def sites(tmp_path: Path) -> list[Path]:
    """Two sites' records, and all of them."""
    rng = np.random.default_rng(1)
    n = 600
    g, t = rng.choice(["a", "<b>"], n), rng.integers(0, 2, n)
    table = pa.table({"id": np.arange(n), "g": g.tolist(), "t": t, "p": np.where(rng.random(n) < 0.2, 1 - t, t)})
    paths = [tmp_path / f"{name}.parquet" for name in ("one", "two", "all")]
    for path, part in zip(paths, (table.slice(0, 250), table.slice(250), table), strict=True):
        pq.write_table(part, path)
    return paths


def test_counts_of_sites_are_merged_and_audited(run: Any, sites: list[Path], tmp_path: Path) -> None:
    saved = [tmp_path / f"counts-{i}.parquet" for i in range(3)]
    for data, target in zip(sites, saved, strict=True):
        ran = run("count", data, *ROLES, "--save", target)
        assert ran.code == 0, ran.err
        assert f"written to {target}" in ran.out.replace("\n", "")
    merged = tmp_path / "merged.parquet"
    ran = run("merge", saved[0], saved[1], "--save", merged, "--json", "-")
    assert ran.code == 0, ran.err
    said = json.loads(ran.out)
    assert (said["kind"], said["records"]) == ("audit", 600)
    assert [(s["name"], s["records"]) for s in said["sources"]] == [("one.parquet", 250), ("two.parquet", 350)]
    options = ("--resamples", "50", "--metrics", "directional,parity", "--json", "-")
    from_sites = json.loads(run("audit", merged, *options).out)
    from_all = json.loads(run("audit", saved[2], *options).out)
    from_records = json.loads(run("audit", sites[2], *ROLES, *options, "--engine", "local", "--threads", "2").out)
    for document in (from_sites, from_all, from_records):
        del document["provenance"], document["checksum"]
    assert from_sites == from_all == from_records


def test_what_does_not_add_up(run: Any, sites: list[Path], tmp_path: Path) -> None:
    one, other, out = (tmp_path / f"{name}.counts.parquet" for name in ("one", "other", "out"))
    assert run("count", sites[0], *ROLES, "--save", one).code == 0
    twice = run("merge", one, one, "--save", out)
    assert twice.code == 2
    assert "'one.parquet' and 'one.parquet' hold the same 250 records" in twice.err
    few = tmp_path / "few.parquet"
    table = pq.read_table(sites[1])
    pq.write_table(table.filter(pa.compute.equal(table["g"], "a")), few)
    assert run("count", few, *ROLES, "--save", other).code == 0
    differ = run("merge", one, other, "--save", out)
    assert differ.code == 2
    assert "only the first have g=<b>" in differ.err
    assert not out.exists()
    assert run("count", few, *ROLES, "--labels", one, "--save", other).code == 0
    assert run("merge", one, other, "--save", out).code == 0


def test_labels_with_identities(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    record = np.repeat(np.arange(400), 3)
    label = np.array(["man", "woman", "bike", "hat", "dog"])[rng.integers(0, 5, 1200)]
    table = pa.table({"record": record, "label": label.tolist()})
    table = table.group_by(["record", "label"]).aggregate([]).sort_by("record")
    cut = int(np.searchsorted(table["record"].to_numpy(), 150))
    for name, part in (("all", table), ("one", table.slice(0, cut)), ("two", table.slice(cut))):
        pq.write_table(part, tmp_path / f"{name}.parquet")
        ran = run("count", tmp_path / f"{name}.parquet", "-i", "man,woman", "--save", tmp_path / f"{name}.counts")
        assert ran.code == 0, ran.err
        assert "biasamp associate" in ran.out.replace("\n", " ")
    merged = tmp_path / "merged"
    ran = run("merge", tmp_path / "one.counts", tmp_path / "two.counts", "--save", merged)
    assert ran.code == 0, ran.err
    mine = json.loads(run("associate", merged, "--json", "-").out)
    whole = json.loads(run("associate", tmp_path / "all.parquet", "-i", "man,woman", "--json", "-").out)
    assert mine["labels"] == whole["labels"]
    twice = run("merge", tmp_path / "one.counts", tmp_path / "one.counts", "--save", merged)
    assert twice.code == 2
    assert "hold the same counts" in twice.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("count", "x.parquet", "--save", "y"), "Missing option '--attributes'"),
        (("count", "x.parquet", *ROLES), "Missing option '--save'"),
        (
            ("count", "x.parquet", "-i", "a,b", "--tasks", "t", "--save", "y"),
            "--tasks has no meaning beside --identities",
        ),
        (("count", "x.parquet", *ROLES, "--label", "l", "--save", "y"), "--label belongs to --identities"),
        (("count", "x.parquet", *ROLES, "--threads", "0", "--save", "y"), "threads is 0"),
        (("count", "x.parquet", *ROLES, "--memory", "much", "--save", "y"), "memory"),
        (("merge", "--save", "y"), "Missing argument"),
        (("merge", "x.parquet", "--save", "y"), "x.parquet is a Parquet file, but not one of counts"),
        (("audit", "x.parquet"), "Missing option '--attributes'"),
        (("associate", "x.parquet"), "Missing option '--identities'"),
    ],
)
def test_mistakes_are_named(
    run: Any, arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"id": [1, 2], "g": ["a", "b"], "t": [0, 1], "p": [0, 1]}), "x.parquet")
    ran = run(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "y").exists()


def test_what_is_read_is_not_overwritten(run: Any, sites: list[Path], tmp_path: Path) -> None:
    before = sites[0].read_bytes()
    ran = run("count", sites[0], *ROLES, "--save", sites[0])
    assert ran.code == 2
    assert "is what is read" in ran.err
    assert sites[0].read_bytes() == before
    folder = tmp_path / "folder"
    folder.mkdir()
    sites[1].rename(folder / "two.parquet")
    assert "in the folder that is read" in run("count", folder, *ROLES, "--save", folder / "counts.parquet").err
    saved = tmp_path / "counts.parquet"
    assert run("count", sites[0], *ROLES, "--save", saved).code == 0
    assert "is what is read" in run("merge", saved, "--save", saved).err
    assert "holds counts, not records" in run("count", saved, *ROLES, "--save", tmp_path / "again.parquet").err
    assert "holds counts, which know their columns: leave out --attributes" in run("audit", saved, *ROLES).err
    policy = tmp_path / "policy.toml"
    assert run("check", saved, "--init", "--policy", policy).code == 0
    assert run("check", saved, "--policy", policy).code in (0, 1, 3)


def test_counts_for_others_have_no_small_ones(run: Any, tmp_path: Path) -> None:
    """Counted with --suppress, or withheld of saved counts: the same file, which biasamp audit takes."""
    rows = [("a", i % 2, (i // 2) % 2) for i in range(400)] + [("b", i % 2, (i // 3) % 2) for i in range(400)]
    rows += [("c", i % 2, (i // 2) % 2) for i in range(400)] + [("d", 1, 0)] * 3
    (tmp_path / "d.csv").write_text("g,t,p\n" + "".join(f"{g},{t},{p}\n" for g, t, p in rows))
    roles = ["--attributes", "g", "--tasks", "t", "--task-predictions", "p"]
    one = run("count", tmp_path / "d.csv", *roles, "--suppress", "5", "--save", tmp_path / "one.parquet")
    assert one.code == 0, one.err
    assert "withheld: g=a, g=d (counts below 5)" in one.out or "g=d (counts below 5)" in one.out
    assert run("count", tmp_path / "d.csv", *roles, "--save", tmp_path / "all.parquet").code == 0
    two = run("count", tmp_path / "all.parquet", "--suppress", "5", "--save", tmp_path / "two.parquet")
    assert two.code == 0, two.err
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    audited = run("audit", tmp_path / "one.parquet", "--metrics", "directional", "--resamples", "20")
    assert audited.code == 0, audited.err
    assert "Withheld, and in no figure:" in audited.out
    named = run("count", tmp_path / "all.parquet", *roles, "--suppress", "5", "--save", tmp_path / "x.parquet")
    assert named.code == 2
    assert "leave out --attributes" in named.err
