"""A finished result belongs to the data that it was trained on."""

from dataclasses import replace

from tensor_rnns import datasets
from tensor_rnns.datasets import ready
from tensor_rnns.training import job


def test_other_data_are_trained_anew(make_replica, tmp_path):
    """A data set read in another way gives other metrics, those of an empty state folder; the old data find
    their result again."""
    base = make_replica(0, batch=16, updates=3, evaluate={"every": 3, "splits": ["valid"]})
    replica = replace(
        base, settings=base.settings | {"task": {"name": "pixels", "order": "scan"}, "dataset": "digits"}
    )
    old, new = tmp_path / "old", tmp_path / "new"
    datasets.prepare("digits", None, old)
    digits = datasets.load(old, "digits")
    arrays = dict(digits.arrays)
    arrays["train_labels"] = arrays["train_labels"][::-1].copy()
    ready.write(new, "digits", arrays, digits.facts)

    def go(folder, state):
        job.run([replica], tmp_path / "out", tmp_path / state, folder, "eager", "cpu")
        return (tmp_path / "out" / "metrics.csv").read_bytes()

    first = go(old, "state")
    second = go(new, "state")
    assert second != first
    assert second == go(new, "empty")
    assert go(old, "state") == first
