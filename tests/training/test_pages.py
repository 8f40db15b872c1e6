"""Updates work in the memory of those before them: fresh pages can take a seventh of their time."""

import gc
from types import SimpleNamespace

import torch

from benchmarks.costs import updating
from tensor_rnns.engine.compiled import calls
from tensor_rnns.experiments import Catalogue


def test_an_update_takes_what_the_last_gave_back(monkeypatch):
    """With tables, a read-out, a loss and an optimiser, in sizes of which none serves for another: the most
    pieces of memory at once."""
    experiment = Catalogue.load(["workflow/papers"], ["barone2016/copy"]).experiments["barone2016", "copy"]
    replicas = [
        replica
        for replica in experiment.replicas("paper", "embedded", "final")
        if replica.curve_key[3:] == ("lrd", "main")
    ]
    gc.collect()
    monkeypatch.setattr(calls.POOL, "free", {})
    with updating(replicas, torch.device("cpu")) as (used, update):
        assert used == "compiled"
        update()
        update()

        def refuse(*_, **__):
            raise AssertionError("the third update took a piece that the second had not given back")

        monkeypatch.setattr(calls, "torch", SimpleNamespace(empty=refuse))
        update()
