"""``associate``: what a model has learned to associate with identities, from its predictions alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from biasamp import __version__
from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.label_counter import UNPAIRED, Pairing
from biasamp.counts.storage import is_counts, load_counts
from biasamp.data import canonical
from biasamp.data.label_source import LabelSource, label_source
from biasamp.data.plain_arguments import number, one_of, shown, text_or_none, yes_or_no
from biasamp.data.spelling import in_utf8
from biasamp.engines import engine_for
from biasamp.engines.memory_budget import check_limits
from biasamp.engines.progress import RowsBar
from biasamp.resampling.significance import METHODS

from .association_result import Association
from .conditional import ConditionalGaps, some_identities, strata_of, with_crossings
from .contrasts import CONTRASTS, chosen_contrasts
from .label_counting import Reading, count_source, identity_members
from .metrics import metric_names
from .values import AssociationValues

# Jeffreys' prior of a rate: the usual choice where none is asked for.
_ALPHA = 0.5


@in_utf8
def associate(
    data: Any,
    identities: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    label: str | Sequence[str] | None = None,
    record: str | None = None,
    score: str | None = None,
    threshold: float | Mapping[str, float] | None = None,
    metrics: str | Iterable[str] = "all",
    zero: str | tuple[str, float] = "limit",
    min_count: int = 1,
    min_expected: float = 5,
    paper_literal: bool = False,
    correction: str = "bh",
    pairable: bool = False,
    strata: Sequence[Any] | Mapping[str, Any] | None = None,
    crossings: bool = False,
    contrasts: str = "auto",
    reference: str | None = None,
    engine: Any = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
) -> Association:
    r"""Measure how labels lean to identities, without ground truth.

    Each record is a set of labels, such as a model's predictions for an image. For every label y and identity x
    the ten metrics of Aka et al. say how strongly they go together, and the gap

    .. math:: G(y|x_1, x_2) = A(x_1, y) - A(x_2, y)

    says to which of two identities the label leans: a positive gap leans to the first.

    Parameters
    ----------
    data : path, frame, matrix or list of lists
        A long table of (record, label[, score]) rows, a table with a list column, a wide 0/1 table, a
        scipy.sparse or numpy matrix, a list of lists of labels, or the path of files or of a folder (Parquet,
        CSV, Excel, Arrow, JSON lines); also what :func:`biasamp.read_open_images` and :func:`biasamp.read_text` give, and what
        :func:`biasamp.count` gave for identities, or the file it was saved to.
    identities : list of labels, or mapping of a name to one label or several
        Counts know theirs, as do texts that were read with ``identities``; otherwise they are needed.
        ``{"man": ["Man", "Male", "Boy"], "woman": ["Woman", "Female", "Girl"]}`` unites labels under a name:
        a record has the identity when it has one of them. Identities may overlap.
    label, record, score : str, optional
        Columns of a long table; a row without a label is a record that has none there. A wide table takes in
        ``label`` the columns that are labels, a matrix the names of its columns.
    threshold : float or mapping, optional
        Labels with a lower score are left out. A mapping gives each label its own; labels it does not name
        keep all their rows.
    metrics : "all", str or iterable of str
        ``dp``, ``pmi``, ``npmi_y``, ``npmi_xy``, ``pmi2``, ``sdc``, ``ji``, ``llr``, ``tau_b``, ``t_test``; ``biasamp
        metrics npmi_xy`` says what one is. ``"all"`` has those too that were registered later.
    zero : {"limit", "drop", "smooth"} or ("smooth", alpha)
        What to do where a label never meets an identity: ``"limit"`` takes the limit (nPMI_xy is -1, PMI-type
        metrics are minus infinity), ``"drop"`` leaves the label out of the rankings, ``"smooth"`` adds alpha
        (0.5) to every cell of each two-by-two table.
    min_count : int
        Labels of fewer records are not ranked.
    min_expected : float
        Labels whose expected co-occurrence with some identity under independence, C(x) C(y) / n, is lower are
        not ranked: their gaps are noise. They keep their values. The paper's lists are ``zero="drop",
        min_expected=0``.
    paper_literal : bool
        The metrics as printed, where the print differs from the definition.
    correction : {"bh", "by"}
        Benjamini-Hochberg or, for any dependence between labels, Benjamini-Yekutieli q-values.
    pairable : bool
        Whether to keep the counts by bag of the records' ids (``record`` names them) too, by which
        :func:`biasamp.association_change` pairs two runs on the same records. It costs a second look at each row and
        some 16 bytes per label, identity and bag (256 at most); :func:`biasamp.count` keeps them in its file.
    strata : list of labels, or mapping of a name to one label or several, optional
        Labels to hold fixed, such as ``["outdoors"]``, of which a record has one at most; records without any are one more
        stratum. ``.conditional`` then has the gaps among records of the same stratum: for ``dp`` the risk difference of
        Mantel and Haenszel with Sato's variance, for other metrics the mean of the gaps within strata with the same weights.
        Strata are counted as identities are: counts of ``identities`` and strata together have them too.
    crossings : bool
        Whether to compare what records have of two identities at once, such as 'woman & young', instead of the
        identities themselves, which must be of two kinds (a record has one of each kind at most).
    contrasts : {"auto", "pairs", "reference", "rest"}
        Which gaps tables and documents have: ``"pairs"`` of every two identities and of each against the rest, of each
        against one ``"reference"``, of each against the mean of the others (``"rest"``). ``"auto"``: pairs of up to four
        identities, since pairs grow with their square; of more, each against the reference and against the rest.
        ``.top(toward=, against=)`` has any two in any case. q-values are among the tests of the gaps that are chosen.
    reference : str, optional
        The identity that others are held against; by default the first.
    engine : {"auto", "local", "dask", "spark"}, distributed.Client, SparkSession or Engine
        Where the counting runs: on the threads of this machine, or on a cluster. ``"auto"`` counts Dask and Spark
        dataframes where they are, and everything else here. Counts are the same to the last digit.
    memory : int or str, optional
        Memory budget of a process, in bytes or as ``"512MB"``; by default a quarter of the machine's memory.
    threads : int, optional
        Threads of this machine, or processes of a Dask cluster that is started here; by default all processors.

    Returns
    -------
    Association
        ``.table`` has one row per label, ``.top(metric, k, toward=)`` the labels that lean most to an identity,
        ``.excluded`` the labels that are not ranked and why.

    Notes
    -----
    One test of ``P(y|x1) = P(y|x2)`` per label and pair of identities serves all metrics: Fisher's exact test
    where no record carries both identities, else a test that knows how they overlap. For ``pmi2``, ``sdc``,
    ``ji`` and ``llr`` a gap of 0 is not what independence gives when the identities differ in size; the value
    under independence stands with the gap.

    References
    ----------
    O. Aka, K. Burke, A. Bäuerle, C. Greer, M. Mitchell, "Measuring Model Biases in the Absence of Ground
    Truth", AIES 2021.

    Examples
    --------
    >>> images = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
    >>> result = associate(images, ["man", "woman"])
    >>> row = next(result.top("dp", 1, toward="man").rows())
    >>> row["label"], round(row["gap"], 3), round(row["q"], 5)
    ('bike', 0.2, 0.00065)
    """
    for name, flag in (("paper_literal", paper_literal), ("pairable", pairable)):
        yes_or_no(flag, name)
    one_of(correction, "correction", METHODS)
    one_of(contrasts, "contrasts", CONTRASTS)
    check_limits(memory, threads)
    names = metric_names(metrics)
    alpha, zero_name = _zero_policy(zero)
    for name, value in (("min_count", min_count), ("min_expected", min_expected)):
        if not _is_number(value) or value < 0:
            raise ValueError(f"{name} is {shown(value)}; a number of 0 or more is needed")
    threshold = _checked_threshold(threshold)
    if isinstance(data, (str, Path)) and is_counts(data):
        data = load_counts(data)
    if isinstance(data, LabelSource):
        identities = source_identities(data, identities)
    audits = sys.modules.get("biasamp.counts.audit_counts")  # data are of its kind only where it was loaded
    if audits is not None and isinstance(data, audits.AuditCounts):
        raise TypeError("data are the counts of an audit: measure them with audit(), or count labels with identities=")
    reading: Reading | None = None
    yes_or_no(crossings, "crossings")
    layers = _named(strata, "strata") if strata is not None else {}
    if strata is not None and crossings:
        raise ValueError("strata and crossings=True do not go together: hold labels fixed, or cross identities")
    if isinstance(data, AssociationCounts):
        asked = identities if identities is None or not layers else _together(identities, layers)
        counts = data if asked is None else _of_identities(data, asked)
        if pairable and counts.bags is None:
            raise ValueError(
                "pairable=True: these counts were made without it; count the data again with pairable=True"
            )
    else:
        counts, reading = count_labels(
            data,
            identities if identities is None or not layers else _together(identities, layers),
            label,
            record,
            score,
            threshold,
            engine,
            memory,
            threads,
            pairing=Pairing(pairable, pairable),
        )
    settings = {"zero": zero_name, "alpha": alpha or None, "min_count": min_count, "min_expected": min_expected}
    settings |= {"paper_literal": paper_literal, "correction": correction}
    chosen = {"contrasts": contrasts, "reference": text_or_none(reference, "reference")}
    settings |= {name: value for name, value in chosen.items() if value not in (None, "auto")}
    if crossings:
        counts = with_crossings(counts)
    if not layers:
        return _result(counts, reading, names, settings)
    return _conditional(counts, reading, names, settings, tuple(layers))


def _named(labels: Any, argument: str) -> dict[str, Any]:
    """Labels, or labels that are united, by the names that they are counted under."""
    if isinstance(labels, (str, bytes)):
        labels = [labels]
    if not isinstance(labels, (Mapping, Sequence)):
        raise TypeError(f"{argument} is {shown(labels)}; a list of labels, or a mapping of names to labels, is needed")
    parts = list(labels.values()) if isinstance(labels, Mapping) else [labels]
    members = [one for part in parts for one in ([part] if isinstance(part, (str, int)) else _some(part, argument))]
    strange = [one for one in members if not isinstance(one, (str, int, np.integer)) or isinstance(one, bool)]
    if strange:
        raise TypeError(f"{argument} holds {shown(strange[0])}; labels are text or whole numbers")
    held = dict(labels) if isinstance(labels, Mapping) else {canonical(one): [one] for one in labels}
    if not held:
        raise ValueError(f"{argument} is empty: name at least one label")
    return {str(name): [part] if isinstance(part, (str, int)) else list(part) for name, part in held.items()}


def _some(part: Any, argument: str) -> Sequence[Any]:
    if not isinstance(part, Sequence):
        raise TypeError(f"{argument} holds {shown(part)}; labels are text or whole numbers")
    return part


def _together(identities: Any, strata: Mapping[str, Any]) -> dict[str, Any]:
    """Identities and strata, which are counted alike."""
    held = _named(identities, "identities")
    both = [name for name in strata if name in held]
    if both:
        raise ValueError(f"identities and strata both name {both[0]!r}: an identity cannot be held fixed and compared")
    return {**held, **strata}


def _conditional(
    counts: AssociationCounts,
    reading: Reading | None,
    metrics: tuple[str, ...],
    settings: dict[str, Any],
    strata: tuple[str, ...],
) -> Association:
    """The result of the identities alone, with their gaps inside strata."""
    lacking = [name for name in strata if name not in counts.identities]
    if lacking:
        raise ValueError(
            f"the counts were made without the stratum {lacking[0]!r}: count the data again with it as one more identity"
        )
    layers = [counts.identities.index(name) for name in strata]
    compared = [place for place in range(len(counts.identities)) if place not in layers]
    result = _result(some_identities(counts, compared), reading, metrics, settings)
    fixed = {label for place in layers for label in counts.members[place]}
    held = ConditionalGaps(
        counts.labels,
        counts.names,
        result.identities,
        metrics,
        strata_of(counts, compared, layers),
        ~result.is_identity & np.array([label not in fixed for label in counts.labels], dtype=bool),
        settings,
    )
    return replace(result, conditional=held, counted=counts)


def source_identities(source: LabelSource, identities: Any) -> Any:
    """The identities that a source knows by itself: all where none are asked for, else those that are listed by name."""
    if not source.identities:
        return identities
    if identities is None:
        return source.identities
    if isinstance(identities, Sequence) and all(name in source.identities for name in identities):
        return {name: source.identities[name] for name in identities}
    return identities


def count_labels(
    data: Any,
    identities: Any,
    label: Any = None,
    record: str | None = None,
    score: str | None = None,
    threshold: Any = None,
    engine: Any = "auto",
    memory: int | str | None = None,
    threads: int | None = None,
    absent: bool = False,
    pairing: Pairing = UNPAIRED,
) -> tuple[AssociationCounts, Reading]:
    """Count labels with identities, and say what was met while reading."""
    if isinstance(data, LabelSource):
        identities = source_identities(data, identities)
    if identities is None:
        raise TypeError("identities is None: name the labels of at least one identity; only counts know theirs")
    with RowsBar() as bar, engine_for(engine, data, memory=memory, threads=threads, progress=bar) as chosen:
        source = label_source(data, label=label, record=record, score=score)
        counts, reading = count_source(
            source, identities, threshold=_checked_threshold(threshold), engine=chosen, absent=absent, pairing=pairing
        )
    return counts.named(source.origin), reading


def _result(
    counts: AssociationCounts, reading: Reading | None, metrics: tuple[str, ...], settings: dict[str, Any]
) -> Association:
    members = {label for group in counts.members for label in group}
    is_identity = np.array([label in members for label in counts.labels], dtype=bool)
    contrasts = chosen_contrasts(counts.identities, settings.get("contrasts", "auto"), settings.get("reference"))
    values = AssociationValues(counts, settings, ~is_identity, contrasts)
    read = {} if reading is None else asdict(reading)
    same = ("labels", "names", "identities", "members", "n", "count", "identity_count", "overlap")
    return Association(
        **{name: getattr(counts, name) for name in same},
        metrics=metrics,
        joint=counts.identity_joint,
        expected=counts.count[:, None] * (counts.identity_count / counts.n),
        is_identity=is_identity,
        contrasts=contrasts,
        settings=settings,
        notes=(*read.pop("notes", ()), *_unknown_overlap(counts)),
        reading=read,
        version=__version__,
        values=values,
    )


def _unknown_overlap(counts: AssociationCounts) -> tuple[str, ...]:
    """What cannot be known of counts of several sources without ids."""
    if len(counts.sources) < 2 or counts.known is not None:
        return ()
    return (
        f"these counts were added up from {len(counts.sources)} sources whose records have no ids: whether some records stand in "
        "more than one cannot be known, and they would weigh twice; count with record= to have that noticed",
    )


def _zero_policy(zero: Any) -> tuple[float, str]:
    if isinstance(zero, tuple) and len(zero) == 2 and zero[0] == "smooth":
        alpha = number(zero[1], "zero")
        if not 0 < alpha < float("inf"):
            raise ValueError(f"zero=('smooth', {zero[1]!r}): alpha must be a number above 0")
        return alpha, "smooth"
    if not isinstance(zero, str) or zero not in ("limit", "drop", "smooth"):
        raise ValueError(f"zero is {shown(zero)}; 'limit', 'drop', 'smooth' or ('smooth', alpha) are accepted")
    return (_ALPHA if zero == "smooth" else 0.0), str(zero)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and value == value


def _checked_threshold(threshold: Any) -> Any:
    if threshold is None:
        return None
    for limit in threshold.values() if isinstance(threshold, Mapping) else [threshold]:
        if not _is_number(limit) or abs(limit.item() if isinstance(limit, np.generic) else limit) > sys.float_info.max:
            raise TypeError(f"threshold holds {shown(limit)}; a number, or a mapping of labels to numbers, is needed")
    if isinstance(threshold, Mapping):
        return {canonical(label): float(limit) for label, limit in threshold.items()}
    return float(threshold)


def _of_identities(counts: AssociationCounts, identities: Any) -> AssociationCounts:
    """Counts made before, if they are of the identities asked for."""
    names, members = identity_members(identities, dict(zip(counts.labels, counts.names, strict=True)))
    asked = list(zip(names, members, strict=True))
    have = list(zip(counts.identities, counts.members, strict=True))
    if asked != have:
        raise ValueError(
            f"identities asks for {dict(asked)}, but the counts were made for {dict(have)}; count the data again"
        )
    return counts
