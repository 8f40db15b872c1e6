"""The first items of the test split, as probes look at them."""

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Trained


def first_items(trained: Trained, items: int) -> tuple[Tensor, Tensor]:
    """(inputs [T, items, I], targets [items, ..]) of the first `items` test items of a task with one target
    an item.

    Numbers take the precision of the parameters, classes stay whole. ValueError where there are fewer items.
    """
    inputs, targets, have = [], [], 0
    for batch in trained.task.evaluation("test"):
        inputs.append(trained.tensor(batch.inputs))
        whole = torch.from_numpy(batch.targets)
        targets.append(whole.double() if whole.is_floating_point() else whole)
        have += inputs[-1].shape[1]
        if have >= items:
            return torch.cat(inputs, dim=1)[:, :items], torch.cat(targets)[:items]
    raise ValueError(f"{items} items asked for; the test split has {have}")
