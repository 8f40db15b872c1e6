"""Numbers of ours that captions quote without a claim are those of the recorded runs and computed tables."""

from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_csv

RECORDED = Path("results/recorded")


@pytest.fixture(scope="module")
def captions() -> dict[str, str]:
    """{artefact: caption} of all papers."""
    experiments = Catalogue.load(["workflow/papers"]).experiments.values()
    return {one.id: one.spec.get("caption", "") for own in experiments for one in own.artefacts}


def values(curve: str, name: str, split: str = "test") -> list[float]:
    """What the last weights of the recorded replicas of `curve` have, by seed."""
    paths = sorted((RECORDED / "runs" / curve).glob("final-*/metrics.csv"))
    rows = [row for path in paths for row in read_csv(path)]
    return [float(row["value"]) for row in rows if (row["split"], row["name"]) == (split, name)]


def computed(table: str, item: str) -> dict[tuple[str, float], float]:
    """{(name, index): value} of one item of a computed table."""
    rows = read_csv(RECORDED / "computed" / f"{table}.csv")
    return {(r["name"], float(r["index"])): float(r["value"]) for r in rows if r["item"] == item}


def test_the_nets_of_the_pictures_have_as_much_right_as_is_said(captions) -> None:
    nets = ["tlstm_2d/m32", "tlstm_3d_cn/m32", "tlstm_3d_cn/m32-drawn-bias"]
    shares = [
        1 - values(f"he2017/memorization/{depth}/{net}", "error")[0] for net in nets for depth in ("L4", "L7")
    ]
    a, b, c, d, e, f = (f"{share:.2f}" for share in shares)
    said = f"{a} (L = 4) and {b} (L = 7) right, and 3D with channel normalisation {c} and {d} in m32"
    assert f"{said}, and {e} and {f} in m32-drawn-bias" in captions["fig-memory"]
    said = f"2D has {a} right, and 3D with channel normalisation {c} in m32 and {e} in m32-drawn-bias"
    assert said in captions["film-memory"]
    right = [f"{values(f'he2017/addition/{net}/m32', 'accuracy')[0]:.2f}"
             for net in ("L4/tlstm_2d", "L7/tlstm_2d", "L4/tlstm_3d_cn", "L7/tlstm_3d_cn")]  # fmt: skip
    said = "{} (L = 4) and {} (L = 7) right, and 3D with channel normalisation {} and {}.".format(*right)
    assert captions["fig-memory-addition"].endswith(said)


def test_nets_of_two_units_pay_as_much_as_is_said(captions) -> None:
    left, right = (
        sum(nats) / len(nats)
        for nats in (values(f"chapter10/graphical/{way}/fed2/main", "loss") for way in ("constant", "random"))
    )
    assert f"2 units pays {left:.2f} nats (left) and {right:.2f} (right)" in captions["graphical"]


def test_reservoirs_keep_as_much_as_is_said(captions) -> None:
    shares = computed("chapter10/long-memory-identities", "scale 0.01")
    left = [f"{shares[f'share {radius}', 0.0]:.2f}" for radius in ("1", "1.05", "1.1", "1.2")]
    said = "1, 1.05, 1.1 and 1.2, where {}, {}, {} and {} of the best capacity are left".format(*left)
    assert said in captions["long-memory-capacity"]
    assert all(shares[f"share {radius}", 0.0] < 0.005 for radius in ("1.5", "2"))
    edge = computed("chapter10/long-memory-identities", "capacity 0.01")
    exponents = [at for name, at in edge if name == "against exponent" and at > -0.01]
    assert sorted(f"{at:.3f}" for at in exponents if at < 0) == ["-0.006"] * 3 + ["-0.007"]
    assert "it is −0.006 to −0.007 at radius 1, 1.05, 1.1 and 1.2" in captions["long-memory-capacity"]
    assert sum(at > 0 for at in exponents) == 2


def test_matrices_of_radius_0_9_magnify_as_much_as_is_said(captions) -> None:
    excess = computed("chapter10/gradient-flow", "radius")["printed_error", 0.0]
    assert f"at least {int(100 * (1 + excess)) / 100} in our 20 draws" in captions["gradient-flow"]
