"""One process of a distributed run: counts its shard and writes what the metric says of all of them."""

from __future__ import annotations

import json
import sys

import torch
import torch.distributed as dist

from biasamp.integrations.torch import BiasAmplification


def main(rank: int, world: int, place: str, data: str, out: str) -> None:
    """Every process has the whole data, counts the records of its own shard and meets the others at a file."""
    dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=world)
    held = torch.load(data, weights_only=True)
    found = {}
    for name, threshold in (("hard", 0.5), ("soft", None)):
        metric = BiasAmplification(task="multilabel", num_groups=3, num_labels=4, direction="both", threshold=threshold)
        mine = torch.nonzero(held["shard"] == rank).ravel()
        for batch in mine.split(7):
            metric.update(*(held[key][batch] for key in ("preds", "target", "groups", "group_preds")))
        found[name] = {key: value.item().hex() for key, value in metric.compute().items()}
    if rank == 0:
        with open(out, "w") as file:
            json.dump(found, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
