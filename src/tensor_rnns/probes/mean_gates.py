"""How far open the convex gates of a net are, and what bounds its state (mathews2016, 2.4.2, 4.2.2)."""

from tensor_rnns.probes.gate_saturation import LEFT, RIGHT
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of


def probe(trained: Trained, *, items: int = 100) -> Findings:
    """Table rows of one replica with gates p and candidates z, over `items` items of the test split; of a
    task that carries states over its first batch alone, from a zero state. No arrays.

    Rows: of the item `gate` mean, left (share of p below 0.1) and right (above 0.9), over all units, steps
    and items; of `state` largest, max abs(h); of `candidate` largest, max abs(z); of `bound` error, by how
    much abs(h_t) of some unit exceeds its largest abs(z_s), s <= t, at most: 0 for a convex gate from h_0 =
    0. ValueError for a cell without a convex gate.
    """
    inputs, _ = trained.items("test", items)
    layer = next(trained.layers(inputs))
    states, (gate, candidate) = layer.outputs, layer.gates()
    excess = states.abs() - candidate.abs().cummax(0).values
    shares = {"left": (gate < LEFT).double().mean(), "right": (gate > RIGHT).double().mean()}
    numbers = {
        "gate": {"mean": gate.mean(), **shares},
        "state": {"largest": states.abs().max()},
        "candidate": {"largest": candidate.abs().max()},
        "bound": {"error": excess.max().clamp(min=0)},
    }
    return {}, rows_of(numbers)
