"""Proves the passthrough cells against the equations of barone2016, one row and one unit after another, their
initial values, and that every map of theirs runs in the engine."""

import itertools

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.cells.low_rank import Map

INPUTS, HIDDEN, RANK, BATCH = 3, 7, 2, 5
MAPS = {
    "full": {"map": "full"},
    "low_rank": {"map": "low_rank", "rank": RANK},
    "diagonal": {"map": "low_rank_diagonal", "rank": RANK},
    "tied": {"map": "low_rank_diagonal", "rank": RANK, "tied": True},
    "tied_low_rank": {"map": "low_rank", "rank": RANK, "tied": True},
}
FORMS = [("lr_gru", {"reset": "before"}), ("lr_gru", {"reset": "after"})]
FORMS += [("lr_lstm", {}), ("lr_lstm", {"peepholes": True})]
CASES = [
    (n, o | m | {"weight_norm": w}) for (n, o), m, w in itertools.product(FORMS, MAPS.values(), (False, True))
]


def logistic(a):
    return 1 / (1 + np.exp(-a))


def rows_normalised(matrix, gain=None):
    """g v / |v| of each row v of a matrix in the paper's orientation, units by what they read."""
    out = np.zeros_like(matrix)
    for i, v in enumerate(matrix):
        out[i] = v / np.sqrt(np.sum(v * v)) * (1 if gain is None else gain[i])
    return out


def paper(p, name):
    """A matrix in the paper's orientation, which multiplies a column from the left."""
    if name not in p:
        return None
    if "normed" not in p:
        return p[name].T
    gain = p.get(f"g_{name}")
    return rows_normalised(p[name].T, None if gain is None else gain[0])


def whole(p, gate):
    """W of a gate: as it is, L R, or L R + diag(D)."""
    if f"W_{gate}" in p:
        return paper(p, f"W_{gate}")
    w = paper(p, f"L_{gate}") @ paper(p, "R" if "R" in p else f"R_{gate}")
    return w + np.diag(p[f"D_{gate}"][0]) if f"D_{gate}" in p else w


def gru(p, u, x, options):
    """Equations 6 and 7; u the input, x the state."""

    def part(gate, reset=lambda w, x: w @ x):
        return paper(p, f"U_{gate}") @ u + reset(whole(p, gate), x) + p[f"b_{gate}"][0]

    omega, gamma = logistic(part("r")), logistic(part("z"))
    before = options["reset"] == "before"
    pi = np.tanh(part("c", lambda w, x: w @ (x * omega) if before else (w @ x) * omega))
    return (pi * (1 - gamma) + x * gamma,)


def lstm(p, u, h, c, options):
    """Equations 8 and 9, with the peepholes of Gers et al. 2002 if asked for."""
    q = {g: paper(p, f"U_{g}") @ u + whole(p, g) @ h + p[f"b_{g}"][0] for g in "ofig"}
    peep = {g: p[f"p_{g}"][0] if options.get("peepholes") else 0.0 for g in "ifo"}
    f, i = logistic(q["f"] + peep["f"] * c), logistic(q["i"] + peep["i"] * c)
    c = f * c + i * np.tanh(q["g"])
    return logistic(q["o"] + peep["o"] * c) * np.tanh(c), c


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_cell_is_its_equations(name, options):
    rng = np.random.default_rng(5)
    cell = cells.build({"name": name, "hidden": HIDDEN, **options}, INPUTS)
    p = {key: rng.standard_normal(shape) for key, shape in cell.shapes().items()}
    u, state = rng.standard_normal((BATCH, INPUTS)), rng.standard_normal((len(cell.states), BATCH, HIDDEN))
    given = {key: torch.tensor(value) for key, value in p.items()}
    ours = cell.step(given, torch.tensor(u), tuple(map(torch.tensor, state)))
    p |= {"normed": True} if options["weight_norm"] else {}
    step = gru if name == "lr_gru" else lstm
    for row in range(BATCH):
        wanted = step(p, u[row], *state[:, row], options)
        for found, value in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(found[row].numpy(), value, rtol=0, atol=1e-13)


def test_the_gru_is_the_gru_of_the_other_papers():
    """Equation 6 with full matrices equals `gru`, whose f is z and whose W and U have changed places."""
    ours = cells.build({"name": "lr_gru", "hidden": HIDDEN}, INPUTS)
    theirs = cells.build({"name": "gru", "hidden": HIDDEN}, INPUTS)
    rng = np.random.default_rng(2)
    p = {key: torch.tensor(rng.standard_normal(shape)) for key, shape in ours.shapes().items()}
    names = {"U": "W", "W": "U", "b": "b"}, {"r": "r", "z": "f", "c": "z"}
    renamed = {f"{names[0][key[0]]}_{names[1][key[2]]}": value for key, value in p.items()}
    x, h = (torch.tensor(rng.standard_normal((BATCH, size))) for size in (INPUTS, HIDDEN))
    torch.testing.assert_close(ours.step(p, x, (h,))[0], theirs.step(renamed, x, (h,))[0], rtol=0, atol=1e-14)


def test_initial_values_are_the_authors():
    """Glorot for each factor's own shape, U(-0.01, 0.01) for D, a bias of z alone, a start of zero."""
    sizes = {"hidden": 60, "rank": 40, "map": "low_rank_diagonal"}
    cell = cells.build({"name": "lr_gru", **sizes, "gate_bias": 4.0, "trained_start": True}, 30)
    p = cell.initialise(np.random.default_rng(1))
    for gate in "rzc":
        for name, limit in ((f"U_{gate}", 90), (f"R_{gate}", 100), (f"L_{gate}", 100)):
            assert 0.98 < np.abs(p[name]).max() / np.sqrt(6 / limit) <= 1
            assert abs(np.abs(p[name]).mean() / np.sqrt(6 / limit) - 0.5) < 0.03
        assert 0.009 < np.abs(p[f"D_{gate}"]).max() <= 0.01
    assert [p[f"b_{gate}"].mean() for gate in "rzc"] == [0.0, 4.0, 0.0]
    assert p["h_0"].shape == (1, 60)
    assert not p["h_0"].any()


def test_gains_begin_at_the_norms_so_that_nothing_changes_but_the_projections():
    """A factor R has no gain and so unit columns; all else is at first what was drawn."""
    plain, normed = (
        cells.build({"name": "lr_gru", "hidden": HIDDEN, **MAPS["diagonal"], "weight_norm": w}, INPUTS)
        for w in (False, True)
    )
    p = normed.initialise(np.random.default_rng(4))
    assert {key for key in p if key.startswith("g_")} == {f"g_{m}_{g}" for m in "UL" for g in "rzc"}
    q = {key: value for key, value in p.items() if not key.startswith("g_")}
    for gate in "rzc":
        q[f"R_{gate}"] = q[f"R_{gate}"] / np.linalg.norm(q[f"R_{gate}"], axis=0)
    x, h = (np.random.default_rng(6).standard_normal((BATCH, size)) for size in (INPUTS, HIDDEN))
    found = [
        cell.step({k: torch.tensor(v) for k, v in values.items()}, torch.tensor(x), (torch.tensor(h),))[0]
        for cell, values in ((plain, q), (normed, p))
    ]
    torch.testing.assert_close(*found, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "rank", "tied", "told"),
    [
        ("full", 3, False, "rank is 3; allowed is a number for low rank, none for full"),
        ("low_rank", None, False, "rank is None; allowed"),
        ("full", None, True, "tied is True; allowed for low rank"),
    ],
)
def test_a_map_that_cannot_be_is_refused(kind, rank, tied, told):
    with pytest.raises(ValueError, match=told):
        Map(kind, HIDDEN, rank, tied, ("a",))
    block = {"name": "lr_lstm", "hidden": HIDDEN, "map": kind, "tied": tied} | (
        {"rank": rank} if rank else {}
    )
    with pytest.raises(ValueError, match=told):
        cells.build(block, INPUTS)


ZERO = {"trained_start": False}
COUNTS = [
    ("lr_gru", 128, {"map": "low_rank_diagonal", "rank": 50}, 10, 10, 44_426),
    ("lr_gru", 128, {}, 10, 10, 54_794),
    ("lr_gru", 128, {"map": "low_rank", "rank": 24}, 2, 1, 19_841),
    ("lr_gru", 128, {"map": "low_rank", "rank": 24}, 1, 10, 20_618),
    ("lr_gru", 512, {"map": "low_rank", "rank": 4}, 1, 10, 21_002),
    ("lr_gru", 256, {"map": "low_rank_diagonal", "rank": 24}, 1, 10, 41_994),
    ("lr_gru", 6985, {"map": "low_rank_diagonal", "rank": 64, "tied": True} | ZERO, 51, 51, 3_255_061),
    ("lr_lstm", 1740, {"map": "low_rank_diagonal", "rank": 300} | ZERO, 49, 49, 4_616_269),
    ("urnn", 721, {}, 10, 10, 36_781),
]  # fmt: skip


@pytest.mark.parametrize(("name", "hidden", "options", "inputs", "outputs", "count"), COUNTS)
def test_true_counts(name, hidden, options, inputs, outputs, count):
    """Of the cell with a read-out, as the claims count the networks of tables 1 and 2 and of figure 2."""
    block = {"name": name, "hidden": hidden, "trained_start": True, **options}
    cell = cells.build(block, inputs)
    width = sum(shape[0] for shape in cell.state_shapes().values()) // len(cell.states)
    assert cell.parameter_count() + width * outputs + outputs == count


@pytest.mark.parametrize(
    "options", [MAPS["tied"], MAPS["diagonal"] | {"weight_norm": True}], ids=["tied", "normed"]
)
@pytest.mark.parametrize("name", ["lr_gru", "lr_lstm"])
def test_the_engine_runs_the_maps_with_the_gradients_of_the_loop(name, options):
    """float64, 1e-12 of the largest value; three replicas, a batch of both kinds of block, five steps."""
    cell = cells.build({"name": name, "hidden": HIDDEN, **options}, INPUTS)
    rng = np.random.default_rng(8)
    found = []
    for kind in ("compiled", "eager"):
        rng = np.random.default_rng(8)
        p = {
            k: torch.tensor(rng.standard_normal((3, *s)), requires_grad=True)
            for k, s in cell.shapes().items()
        }
        x = torch.tensor(rng.standard_normal((5, 3, 11, INPUTS)), requires_grad=True)
        state = tuple(torch.tensor(rng.standard_normal((3, 11, HIDDEN))) for _ in cell.states)
        outputs, _ = engine.find(kind).run(cell, p, x, state)
        found.append([outputs, *torch.autograd.grad(outputs.square().sum(), [*p.values(), x])])
    for ours, theirs in zip(*found, strict=True):
        assert (ours - theirs).abs().max() <= 1e-12 * theirs.abs().max()
