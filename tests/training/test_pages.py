"""Updates work in the memory of those before them: fresh pages can take a seventh of their time."""

import gc
from types import SimpleNamespace

import pytest
import torch

from benchmarks.costs import updating
from tensor_rnns.engine.compiled import calls
from tensor_rnns.experiments import Catalogue


@pytest.mark.parametrize("variant", ["lrd", "urnn_128"])
def test_an_update_takes_what_the_last_gave_back(monkeypatch, variant):
    """With tables, a read-out, a loss and an optimiser, in sizes of which none serves for another: the most
    pieces of memory at once; with outputs and gradients that the C library gives back to the system."""
    experiment = Catalogue.load(["workflow/papers"], ["barone2016/copy"]).experiments["barone2016", "copy"]
    replicas = [
        replica
        for replica in experiment.replicas("paper", "embedded", "final")
        if replica.curve_key[3:] == (variant, "main")
    ]
    gc.collect()
    monkeypatch.setattr(calls.POOL, "free", {})
    with updating(replicas, torch.device("cpu")) as (used, update):
        assert used == "compiled"
        update()
        update()

        def refuse(*_, **__):
            raise AssertionError("the third update took a piece that the second had not given back")

        monkeypatch.setattr(calls, "torch", SimpleNamespace(empty=refuse, from_numpy=torch.from_numpy))
        update()


def test_a_large_output_is_lent_as_long_as_a_view_of_it_lives(monkeypatch):
    monkeypatch.setattr(calls, "LARGE", 1 << 12)
    monkeypatch.setattr(calls, "POOL", pool := calls.Pool())
    like = torch.ones(1, dtype=torch.float64)
    small, large = calls.empty((2, 3), like), calls.empty((7, 11, 13), like)
    assert (small.shape, large.shape, large.dtype) == ((2, 3), (7, 11, 13), torch.float64)
    address, part = large.data_ptr(), large[3:5].detach()
    del small, large
    assert not pool.free
    part.fill_(0.5)
    del part
    assert [piece.data_ptr() for _, _, piece in pool.free.values()] == [address]
    assert calls.empty((7, 11, 13), like).data_ptr() == address
