"""Updates work in the memory of those before them: fresh pages would take a quarter of their time."""

import resource
from types import SimpleNamespace

import torch

from benchmarks.costs import updating
from tensor_rnns.engine.compiled import calls
from tensor_rnns.experiments import Catalogue


def replicas_of(variant: str, option: str) -> list:
    """The final replicas of a curve of copy memory at the paper's scale: a kernel looks its symbols up."""
    experiment = Catalogue.load(["workflow/papers"], ["barone2016/copy"]).experiments["barone2016", "copy"]
    found = experiment.replicas("paper", "embedded", "final")
    return [replica for replica in found if replica.curve_key[3:] == (variant, option)]


def test_an_update_takes_what_the_last_gave_back(monkeypatch):
    """With tables, a read-out, a loss and an optimiser: the most pieces of memory at once."""
    with updating(replicas_of("lrd", "main"), torch.device("cpu")) as (used, update):
        assert used == "compiled"
        update()
        update()

        def refuse(*_, **__):
            raise AssertionError("the third update took a piece that the second had not given back")

        monkeypatch.setattr(calls, "torch", SimpleNamespace(empty=refuse))
        update()


def test_large_outputs_take_no_fresh_pages():
    """Outputs of 50 MB, more than glibc takes from its heap by itself."""
    with updating(replicas_of("urnn_128", "first-2000"), torch.device("cpu")) as (used, update):
        assert used == "compiled"
        for _ in range(3):
            update()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        update()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000
