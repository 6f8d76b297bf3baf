"""DPA paper, Fig. 3 and Table 5: does normalising make the figure less sensitive to the attacker?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

import biasamp

from .chart import Chart
from .experiment import Experiment, Setting
from .outcome import DEFINED, Outcome
from .papers import DPA
from .rows import Row, claimed, measured, placed

# Table 5 prints alpha_1 = 1 and alpha_2 = 2, but the text needs alpha_2 < alpha_1: T_hat is to tell more of A.
ALPHA_1, ALPHA_2, DEGREE = 2.0, 1.0, 2
ACTIVATIONS = ("tanh", "relu")
PEOPLE, STEPS = 400, 60
# How long attackers train decides how much normalising gains, and the paper does not tell it.
EPOCHS = (60, 200, 600)


@dataclass(frozen=True)
class Scale:
    """How much is run: draws of data for the small attackers, for those of the whole range and for the sweep over epochs, and its longest."""

    seeds: int = 8
    whole: int = 2
    sweep: int = 4
    longest: int = EPOCHS[-1]


QUICK = Scale(2, 0, 2, STEPS)


@dataclass(frozen=True)
class Attackers:
    """Networks of every width, depth and activation, trained on so many draws of data and seeds."""

    name: str
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    draws: int

    def __len__(self) -> int:
        return len(self.widths) * len(self.depths) * len(ACTIVATIONS)


# Table 5: widths 20 to 500 and depths 2 to 6. One of the widest and deepest takes as long as a hundred small ones.
SMALL = Attackers("small attackers", (20, 50, 120), (2, 3), 8)
WHOLE = Attackers("attackers over Table 5's whole range", (20, 120, 500), (2, 4, 6), 2)


def figures(attacker: Any, seed: int) -> tuple[float, float]:
    """The difference of qualities, plain and over their sum, for one draw of the data and one attacker."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng([seed, 5])
    a = rng.normal(3.0, 2.0, PEOPLE)
    # poly(x, p): any polynomial of that degree; here x squared, scaled so that attackers of any width can learn.
    t, t_hat = ((a + alpha * rng.normal(size=PEOPLE)) ** DEGREE / 10.0 for alpha in (ALPHA_1, ALPHA_2))
    # Networks this small gain nothing from several threads, which wait for each other on a busy machine.
    with threadpool_limits(1), warnings.catch_warnings():
        # Attackers are stopped early on purpose: how well they have learnt is what varies.
        warnings.simplefilter("ignore")
        found = biasamp.leakage(
            a,
            t,
            t_hat,
            attacker=attacker,
            quality="inverse_rmse",
            equalize=None,
            evaluation="in_sample",
            trials=1,
            seed=seed,
        )
    return found.value, (found.model - found.dataset) / (found.model + found.dataset)


Found = dict[tuple[int, int, str], tuple[float, float]]


def measure(attackers: Attackers, setting: Setting, before: int, total: int, epochs: int = STEPS) -> list[Found]:
    """Both figures of every attacker in every draw; ``before`` of ``total`` attackers are done already."""
    from sklearn.neural_network import MLPRegressor

    out: list[Found] = []
    done = before
    for draw in range(attackers.draws):
        out.append({})
        for kind in product(attackers.widths, attackers.depths, ACTIVATIONS):
            width, depth, activation = kind
            network = MLPRegressor(hidden_layer_sizes=(width,) * depth, activation=activation, max_iter=epochs)
            out[-1][kind] = figures(network, 1000 * setting.seed + draw)
            done += 1
            setting.progress(done, total, f"{depth} layers of {width}, draw {draw + 1}")
    return out


def spread(found: Found) -> tuple[float, float]:
    """Relative spread, sd over mean, over the attackers of one draw: of the plain figure, and of the normalised."""
    values = np.array(list(found.values()))
    plain, normalised = (values.std(axis=0, ddof=1) / np.abs(values.mean(axis=0))).tolist()
    return plain, normalised


def _small(draws: list[Found]) -> Iterator[Row]:
    found = [spread(draw) for draw in draws]
    for place, name in enumerate(("plain", "normalised")):
        runs = biasamp.over_runs([pair[place] for pair in found])
        yield measured(
            f"relative spread (sd over mean) of the {name} figure over {len(SMALL)} {SMALL.name}",
            runs.value,
            interval=tuple(runs.confidence_interval()),
            note=f"mean over {len(draws)} draws of data and seeds",
        )
    change = biasamp.over_runs([normalised - plain for plain, normalised in found])
    low, high = change.confidence_interval()
    yield claimed(
        "Fig. 3, normalising lowers the relative spread over attackers",
        "yes",
        change.value,
        high < 0,
        test="the interval of the difference lies below 0",
        interval=(float(low), float(high)),
        note=f"paired over draws; sd over mean, since the plain difference has another scale; {STEPS} epochs",
        claim="normalising lowers the spread",
    )


def _epochs(draws: dict[int, list[Found]]) -> Iterator[Row]:
    """The same gain with attackers that train longer."""
    for epochs, found in draws.items():
        gains = [normalised - plain for plain, normalised in map(spread, found)]
        runs = biasamp.over_runs(gains)
        yield measured(
            f"relative spread, normalised less plain, attackers trained for {epochs} epochs",
            runs.value,
            interval=tuple(runs.confidence_interval()),
            note=f"mean over {len(found)} draws",
        )


def _whole(draws: list[Found]) -> Iterator[Row]:
    found = [spread(draw) for draw in draws]
    for number, pair in enumerate(found):
        for name, value in zip(("plain", "normalised"), pair, strict=True):
            note = f"draw {number + 1} of {len(draws)}: too few for an interval"
            yield measured(f"relative spread of the {name} figure over {len(WHOLE)} {WHOLE.name}", value, note=note)


def _chart(draws: list[Found]) -> Chart:
    """Fig. 3: the figures by width, with their whole range over depths, activations and draws."""
    lines: dict[str, list[tuple[float, float]]] = {"plain": [], "normalised": []}
    ranges: dict[str, list[tuple[float, float]]] = {"plain": [], "normalised": []}
    for width in WHOLE.widths:
        held = [pair for draw in draws for kind, pair in draw.items() if kind[0] == width]
        for place, name in enumerate(lines):
            values = [pair[place] for pair in held]
            lines[name].append((float(width), float(np.mean(values))))
            ranges[name].append((min(values), max(values)))
    return Chart("Fig. 3: figures by the attacker's width; bars are their whole range", "width", "value", lines, ranges)


def run(setting: Setting) -> Outcome:
    """Run it."""
    scale = setting.sized(Scale(), QUICK)
    small, whole = replace(SMALL, draws=scale.seeds), replace(WHOLE, draws=scale.whole)
    sweep = replace(SMALL, draws=scale.sweep)
    longer = [epochs for epochs in EPOCHS[1:] if epochs <= scale.longest]
    sizes = [len(small) * small.draws, len(sweep) * sweep.draws * len(longer), len(whole) * whole.draws]
    first = measure(small, setting, 0, sum(sizes))
    swept = {STEPS: first[: scale.sweep]}
    for number, epochs in enumerate(longer):
        swept[epochs] = measure(sweep, setting, sizes[0] + number * len(sweep) * sweep.draws, sum(sizes), epochs)
    rest = measure(whole, setting, sizes[0] + sizes[1], sum(sizes))
    gains = list(_epochs(swept))
    rows = tuple(placed((*_small(first), *gains, *_whole(rest)), "Fig. 3"))
    source = (
        f"a simulation after Appendix B, {PEOPLE} people, alpha_1 = {ALPHA_1:g} and alpha_2 = {ALPHA_2:g} (Table 5 prints "
        f"them the other way round, against the text); attackers of scikit-learn, widths {', '.join(map(str, SMALL.widths))} and "
        f"depths {', '.join(map(str, SMALL.depths))}, and widths {', '.join(map(str, WHOLE.widths))} and depths "
        f"{', '.join(map(str, WHOLE.depths))}"
    )
    told = ", ".join(f"{float(row.ours):+.4f} after {epochs} epochs" for epochs, row in zip(swept, gains, strict=True))
    says = (
        f"Normalising changes the relative spread over attackers by {told}.",
        "The paper does not tell how long its attackers train.",
        "Data are drawn as the paper defines them; there is no real file behind this figure.",
    )
    choices = (
        f"Epochs of the attackers: {STEPS} in the row with a verdict; {', '.join(map(str, swept))} were tried.",
        f"alpha_1 = {ALPHA_1:g} and alpha_2 = {ALPHA_2:g}, as the text needs them; Table 5 prints them the other way round.",
        "The polynomial of the data is the square, scaled; any of that degree fits the paper's words.",
    )
    line = [(float(epochs), float(row.ours)) for epochs, row in zip(swept, gains, strict=True)]
    held = [row.interval or (float("nan"), float("nan")) for row in gains]
    by_epochs = Chart(
        "What normalising changes in the relative spread, by epochs of the attackers",
        "epochs",
        "normalised less plain",
        {"difference": line},
        {"difference": held},
    )
    charts = (by_epochs, _chart(rest)) if rest else (by_epochs,)
    return Outcome(DEFINED, source, rows, charts, says=says, choices=choices)


EXPERIMENT = Experiment(
    "dpa-robustness",
    "Whether normalising makes DPA less sensitive to the attacker",
    "Tokas et al., Fig. 3, Table 5, Appendix B",
    run,
    sizes=("seeds", "whole", "sweep", "longest"),
    paper=DPA,
)
