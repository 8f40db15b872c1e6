"""Proves that the clock between the parts of a model changes nothing, misses nothing, and is read in time."""

import time

import pytest
import torch

from benchmarks import outside
from tensor_rnns.models import encoder_decoder

ALL = {"optimiser", outside.LAST}
PARTS = {
    "attention": ALL | {"encoder", "context", "attention", "decoder"},
    "no attention": ALL | {"encoder", "context", "decoder"},
    "no attention, compiled": ALL | {"encoder", "context", "decoder"},
    "key-value memory, soft": ALL | {"address"},
    "key-value memory, sampled": ALL | {"address"},
}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """A few updates."""
    monkeypatch.setattr(outside, "LEAST_SECONDS", 0)


def test_every_network_is_proved():
    assert set(PARTS) == set(outside.NETWORKS)


@pytest.mark.parametrize("name", PARTS)
def test_shares_add_up_and_no_part_is_missing(name):
    threads = torch.get_num_threads()
    found = outside.shares(outside.measured(name, 1))
    assert set(found) == PARTS[name]
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert min(found.values()) > 0
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("name", PARTS)
def test_marks_leave_the_gradient_as_it_is(name):
    learned = outside.NETWORKS[name].learner()
    batch, draws = learned.batch(0)
    flat = learned.initial()
    parts = outside.Parts(torch.device("cpu"))
    marked = outside.with_marks(learned, parts)
    for ours, theirs in zip(
        learned.gradient(flat, batch, (), draws)[:2], marked.gradient(flat, batch, (), draws)[:2], strict=True
    ):
        assert torch.equal(ours, theirs)
    assert parts.order
    assert batch.inputs.shape[2] == 64, "as speed.outside says"


class Slow(torch.autograd.Function):
    """The identity, which takes its time on one of the ways."""

    @staticmethod
    def forward(ctx, x, back):
        ctx.back = back
        time.sleep(0 if back else 0.02)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.02 if ctx.back else 0)
        return gradient, None


@pytest.mark.parametrize("back", [False, True])
def test_time_is_counted_where_it_is_spent(back, monkeypatch):
    """Nine steps of attention that sleep for a fiftieth of a second each."""
    plain = encoder_decoder.attended
    monkeypatch.setattr(encoder_decoder, "attended", lambda *given: Slow.apply(plain(*given), back))
    monkeypatch.setattr(outside, "WARM", 1)
    found = outside.measured("attention", 1)
    assert found["attention"] > 9 * 20
    assert found["attention"] > 0.5 * sum(found.values())
