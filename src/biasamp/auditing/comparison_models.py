"""The models of a comparison: one audit each, or one for each training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.data.plain_arguments import listed, same_file, shown

from .as_audit import as_audit, is_audit
from .audit_result import Audit


@dataclass(frozen=True, eq=False)
class Model:
    """A model and the audits of its runs; ``seeds`` are the names of the runs, where they have any."""

    name: str
    audits: tuple[Audit, ...]
    seeds: tuple[str, ...] | None = None

    def in_order(self, seeds: Sequence[str]) -> Model:
        """The model with its runs in the order of some seeds."""
        assert self.seeds is not None
        return Model(self.name, tuple(self.audits[self.seeds.index(seed)] for seed in seeds), tuple(seeds))


def read_models(audits: Mapping[str, Any], seed: Any = None) -> list[Model]:
    """The models that a caller gave, each with the audits of its runs."""
    called = [str(name) for name in audits]
    twice = next((name for place, name in enumerate(called) if name in called[:place]), None)
    if twice is not None:
        raise ValueError(f"audits has two models that are called {twice!r}: give each a name of its own")
    given = {} if seed is None else _seeds_by_model(seed, called)
    out = []
    for key, value in audits.items():
        name = str(key)
        names: Sequence[str] | None = None
        if isinstance(value, Mapping) and not is_audit(value):
            runs, names = list(value.values()), [str(run) for run in value]
        elif is_audit(value) or not isinstance(value, (list, tuple)):
            runs = [value]
        else:
            runs = list(value)
        if not runs:
            raise ValueError(f"audits[{name!r}] holds no run; give at least one audit")
        refuse_same_run(runs, f"audits[{name!r}]")
        if name in given:
            names = given[name]
            if len(names) != len(runs):
                raise ValueError(
                    f"seed has {len(names)} seeds for {len(runs)} runs of {name!r}; one for each is needed"
                )
        if names is not None and len(set(names)) < len(names):
            raise ValueError(f"two runs of {name!r} have the same seed or name")
        single = len(runs) == 1 and runs[0] is value
        titles = [f"audits[{name!r}]" + ("" if single else f"[{place}]") for place in range(len(runs))]
        read = tuple(as_audit(run, title) for run, title in zip(runs, titles, strict=True))
        out.append(Model(name, read, None if names is None else tuple(names)))
    return _same_order(out)


def refuse_same_run(runs: Sequence[Any], argument: str) -> None:
    """Refuse one object, or one file, that is given as two runs; numbers may be equal."""
    for place, run in enumerate(runs):
        if isinstance(run, (int, float, np.number)):
            continue
        before = next((i for i in range(place) if run is runs[i] or same_file(run, runs[i])), None)
        if before is not None:
            raise ValueError(
                f"{argument} holds the same audit as run {before} and run {place}: one for each training run is needed"
            )


def _seeds_by_model(seed: Any, models: list[str]) -> dict[str, list[str]]:
    """The seeds of every model: a list holds for all of them."""
    if isinstance(seed, Mapping):
        strange = [str(name) for name in seed if str(name) not in models]
        if strange:
            raise ValueError(f"seed names {strange[0]!r}, which is no model; there are {', '.join(models)}")
        return {str(name): _seeds(held) for name, held in seed.items()}
    return dict.fromkeys(models, _seeds(seed))


def _seeds(seeds: Any) -> list[str]:
    held = listed(seeds, "seed", "seeds")
    strange = [one for one in held if isinstance(one, (list, tuple, Mapping))]
    if strange:
        raise TypeError(f"seed holds {shown(strange[0])}; the seed of each run is needed")
    return [str(one) for one in held]


def _same_order(models: list[Model]) -> list[Model]:
    """The models with the runs of the first one's seeds in the same order, where they have the same seeds."""
    seeds = models[0].seeds
    if seeds is None:
        return models
    same = [model.seeds is not None and set(model.seeds) == set(seeds) for model in models]
    return [model.in_order(seeds) if alike else model for model, alike in zip(models, same, strict=True)]


def same_seeds(one: Model, two: Model) -> bool:
    """Whether runs of two models go together by their seeds."""
    return one.seeds is not None and one.seeds == two.seeds and len(one.audits) > 1
