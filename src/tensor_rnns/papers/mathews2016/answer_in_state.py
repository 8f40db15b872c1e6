"""Does a trained net hold the answer in one unit that writes only where it must? (mathews2016, 5.1.1)"""

from torch import Tensor

from tensor_rnns.declared import Positive
from tensor_rnns.probes.trained import Findings, Trained, one_step_before
from tensor_rnns.rows import rows_of
from tensor_rnns.tasks.addition import Addition

SHOWN = 3


def probe(trained: Trained, *, items: int = 1000, quiet: Positive = 0.001) -> Findings:
    """Arrays and table rows of one replica trained on the addition task.

    The answer unit is the one whose last state has the largest absolute correlation with the target over
    `items` items. Rows of the item `answer_unit`: correlation (absolute), unit, and for a cell with a gate p
    and a candidate z quiet_share, the share of unmarked steps on which it writes less than `quiet`, and
    marked_share, the share of marked steps on which it writes at least `quiet`. It writes h_t - p
    h_{t-1}, which is (1 - p) z with a convex gate and z with a forget gate; its absolute value counts.
    Arrays: `correlations` [H], signed; of the first three items [T, 3], float32, `values`, `marks`, `held`,
    the state of the answer unit, and with a gate `gate` and `written` of that unit.
    ValueError for another task.
    """
    trained.require("answer_in_state", task=Addition)
    inputs, targets = trained.items("test", items)
    layer = next(trained.layers(inputs))
    states = layer.outputs
    correlations = correlation(states[-1], targets)
    unit = int(correlations.abs().nan_to_num().argmax())
    numbers: dict[str, float] = {"correlation": float(correlations.abs().nan_to_num()[unit]), "unit": unit}
    shown = {"values": inputs[..., 0], "marks": inputs[..., 1], "held": states[..., unit]}
    if hasattr(layer.cell, "gate_and_candidate"):
        gate, held = layer.gates()[0][..., unit], shown["held"]
        written = held - gate * one_step_before(held)
        at_mark = inputs[..., 1] > 0.5
        numbers["quiet_share"] = float((written[~at_mark].abs() < quiet).double().mean())
        numbers["marked_share"] = float((written[at_mark].abs() >= quiet).double().mean())
        shown |= {"gate": gate, "written": written}
    few = {name: values[:, :SHOWN].float() for name, values in shown.items()}
    return {"correlations": correlations} | few, rows_of({"answer_unit": numbers})


def correlation(states: Tensor, targets: Tensor) -> Tensor:
    """Pearson correlation of each column of `states` [N, H] with `targets` [N, 1]; NaN where constant."""
    s, y = states - states.mean(0), targets - targets.mean(0)
    return (s * y).sum(0) / (s.square().sum(0).sqrt() * y.square().sum(0).sqrt())
