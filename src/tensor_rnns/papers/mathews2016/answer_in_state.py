"""Does a trained net hold the answer in one unit that writes only where it must? (mathews2016, 5.1.1)"""

from tensor_rnns.probes.trained import Findings, Trained, correlation, one_step_before
from tensor_rnns.tasks.addition import Addition

SHOWN = 3


def probe(trained: Trained, *, items: int = 1000) -> Findings:
    """Arrays of one replica trained on the addition task; no table rows.

    The answer unit is the one whose last state has the largest absolute correlation with the target over
    `items` items. Arrays of the first three items [T, 3], float32: `values`, `marks`, `held`, the state of
    the answer unit, and for a cell with a gate p and a candidate z `gate` and `written` of that unit. It
    writes h_t - p h_{t-1}, which is (1 - p) z with a convex gate and z with a forget gate.
    ValueError for another task.
    """
    trained.require("answer_in_state", task=Addition)
    inputs, targets = trained.items("test", items)
    layer = next(trained.layers(inputs))
    states = layer.outputs
    unit = int(correlation(states[-1], targets).abs().argmax())
    shown = {"values": inputs[..., 0], "marks": inputs[..., 1], "held": states[..., unit]}
    if hasattr(layer.cell, "gate_and_candidate"):
        gate, held = layer.gates()[0][..., unit], shown["held"]
        shown |= {"gate": gate, "written": held - gate * one_step_before(held)}
    return {name: values[:, :SHOWN].float() for name, values in shown.items()}, []
