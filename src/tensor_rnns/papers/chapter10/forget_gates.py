"""When an LSTM clears its memory, chapter10 section 10."""

from tensor_rnns.probes.gate_saturation import gates_of
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of
from tensor_rnns.tasks.time_scales import ResetCount


def probe(trained: Trained, *, items: int = 200) -> Findings:
    """Arrays and table rows of one LSTM that counts to a reset, over `items` test items.

    f is its forget gate [T, B, H]. Rows of the item `forget`: at_resets and elsewhere, its mean over units,
    over steps with a reset and over the others; best_opened, elsewhere minus at_resets of the unit where that
    is largest; varied, the largest over units of the coefficient of variation over time of the time scale
    1 / (1 - f), within a sequence, mean over items. Arrays of the first item: `count` and `answer` [T, 1],
    `forget` [T, H], `resets` [T]. ValueError for another task, and for resets that are not in the inputs.
    """
    trained.require("forget_gates", task=ResetCount)
    if trained.task.every is not None:
        resets = f"resets every {trained.task.every} steps"
        raise ValueError(f"the probe forget_gates: {resets} given; allowed: resets with a marker")
    inputs, targets = trained.items("test", items)
    layer = next(trained.layers(inputs))
    forget, reset = gates_of(layer)["forget"], inputs[..., 1] > 0
    at, other = forget[reset].mean(0), forget[~reset].mean(0)
    scale = 1 / (1 - forget)
    numbers = {
        "at_resets": at.mean(),
        "elsewhere": other.mean(),
        "best_opened": (other - at).max(),
        "varied": (scale.std(0) / scale.mean(0)).mean(0).max(),
    }
    arrays = {"count": targets, "answer": trained.outputs(layer.outputs), "forget": forget}
    first = {name: values[:, 0].float() for name, values in arrays.items()}
    return first | {"resets": reset[:, 0].int()}, rows_of({"forget": numbers})
