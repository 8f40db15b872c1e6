"""What an explicit tensor with one-hot labels learns of pairs that it never saw: mathews2016 3.4.5."""

import torch
from torch import Tensor

from tensor_rnns.models.style_content import StyleContent
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row


def probe(trained: Trained) -> Findings:
    """Rows of one replica of the model style_content with a full tensor and without embeddings.

    A pair (s, c) selects the fibre W[s, :, c]. Rows of the item `unseen`: gradient, the largest entry of the
    gradient of the loss over all training pairs, at the initial values, in the fibres of unseen pairs; moved,
    how far any of their numbers is from its initial value in float32; error_change, the error on unseen pairs
    minus that of the untrained model. Of the item `seen`: gradient and moved, the smallest over fibres of
    what is largest within each. ValueError for another model.
    """
    model, task = trained.model, trained.task
    if not isinstance(model, StyleContent) or model.form != "full" or model.embedding:
        problem = f"looks at {StyleContent.name} with a full tensor without embeddings, not at {model.name}"
        raise ValueError(f"the probe stored_fibres {problem}")
    name = next(iter(model.shapes()))
    initial = trained.initial[name].float().double()[None].requires_grad_()
    batches = {
        split: next(iter(task.evaluation_of(trained.data_seed, split))) for split in ("train", "valid")
    }

    def outputs(tensor: Tensor, split: str) -> tuple[Tensor, Tensor]:
        pairs, targets = torch.from_numpy(batches[split].inputs), trained.tensor(batches[split].targets)
        return model.forward({name: tensor}, pairs[:, None])[0], targets[None]

    (gradient,) = torch.autograd.grad(task.loss(*outputs(initial, "train")).sum(), initial)
    with torch.no_grad():
        before, after = (
            float(task.metrics(*outputs(tensor, "valid"))["error"])
            for tensor in (initial, trained.parameters[name][None])
        )
    change = trained.parameters[name] - initial[0].detach()
    largest = {"gradient": gradient[0].abs().amax(1), "moved": change.abs().amax(1)}
    places = {split: tuple(torch.from_numpy(batch.inputs)) for split, batch in batches.items()}
    rows = [row("unseen", "error_change", after - before)]
    for label, fibres in largest.items():
        rows.append(row("unseen", label, fibres[places["valid"]].max()))
        rows.append(row("seen", label, fibres[places["train"]].min()))
    return {}, rows
