"""Which replica is shown follows from the rule in the file alone, and the figure says which it was."""

import pytest

from tensor_rnns.drawing.replica import Choice, worded
from tensor_rnns.drawing.replica import chosen as choose
from tensor_rnns.drawing.spec import ProbeSpec

NLL = {"name": "metric", "of": "nll", "split": "valid"}


def chosen(data, artefact) -> Choice:
    return choose(data, ProbeSpec.of(artefact))


@pytest.fixture
def rated(probed):
    """The same with a validation loss for seeds 0 to 3 of 3, 1, 1, 2, whatever the condition."""
    for run in probed.records:
        if run.key["stage"] == "final":
            run.metrics["valid", "nll"] = [3.0, 1.0, 1.0, 2.0][run.key["seed"]]
    return probed


def seeds(data, artefact, **spec) -> list[int]:
    choice = chosen(data, artefact("strips", probe="inside", **spec))
    return [one.key["seed"] for one in choice.shown]


def test_one_replica_for_each_place_in_the_order_of_the_file(probed, artefact):
    choice = chosen(probed, artefact("strips", probe="inside"))
    assert [one.title for one in choice.shown] == [
        "T = 250, TGU", "T = 250, TGU, rank 9", "T = 500, TGU", "T = 500, TGU, rank 9",
    ]  # fmt: skip
    assert choice.rule == "Shown: seed 0 of 4 (the first from seed 0 on)."
    assert choice.shown[2].arrays["images"].shape == (4, 3, 5)


def test_a_seed_that_nobody_has_gives_the_lowest_and_says_so(probed, artefact):
    choice = chosen(probed, artefact("strips", probe="inside", replica={"seed": 7}))
    assert {one.key["seed"] for one in choice.shown} == {0}
    assert choice.rule == "Shown: seed 0 of 4 (the first from seed 7 on, or else the lowest)."


@pytest.mark.parametrize(
    ("where", "title"),
    [
        ({"variant": ["tgu", "wide"], "condition": ["T250", "T500"]}, "T = 250, TGU"),
        ({"variant": "tgu", "condition": ["T250", "T500"]}, "T = 250"),
        ({"variant": "tgu", "condition": "T250", "option": ["main", "clipped"]}, "main"),
        ({"variant": "tgu", "condition": "T250", "option": "main"}, ""),
        ({"variant": "tgu"}, ""),
    ],
)
def test_one_of_several_that_the_file_asks_for_is_named_where_it_alone_was_run(
    probed, artefact, where, title
):
    probed.records[:] = [
        r for r in probed.records if (r.key["condition"], r.key["variant"]) == ("T250", "tgu")
    ]
    (one,) = chosen(probed, artefact("strips", probe="inside", where=where)).shown
    assert one.title == title


@pytest.mark.parametrize(
    ("rule", "seed"),
    [
        ({"seed": 2}, 2),
        ({"seed": 9}, 0),
        ({"best": "lowest", "measure": NLL}, 1),
        ({"best": "highest", "measure": NLL}, 0),
        ({"best": "median", "measure": NLL}, 2),
    ],
)
def test_the_rule_chooses(rated, artefact, rule, seed):
    assert seeds(rated, artefact, replica=rule) == [seed] * 4


def test_of_equals_the_lower_seed_is_highest_too(rated, artefact):
    for run in rated.records:
        if run.key["stage"] == "final":
            run.metrics["valid", "nll"] = [1.0, 2.0, 2.0, 0.5][run.key["seed"]]
    assert seeds(rated, artefact, replica={"best": "highest", "measure": NLL}) == [1] * 4


def test_a_failed_replica_is_never_the_best(rated, artefact):
    for run in rated.records:
        run.status = "failed" if run.key["seed"] == 1 else "done"
    assert seeds(rated, artefact, replica={"best": "lowest", "measure": NLL}) == [2] * 4


def test_what_differs_is_said_of_each(rated, artefact):
    for run in rated.records:
        if run.key["condition"] == "T500" and run.key["stage"] == "final":
            run.metrics["valid", "nll"] = float(-run.key["seed"])
    spec = {"probe": "inside", "where": {"variant": "tgu"}, "replica": {"best": "lowest", "measure": NLL}}
    choice = chosen(rated, artefact("strips", **spec))
    assert choice.rule == "Shown (the lowest nll on valid): seed 1 of 4 at T = 250; seed 3 of 4 at T = 500."


def test_one_seed_of_different_numbers_of_replicas_is_said_once(probed, artefact):
    probed.records[:] = [r for r in probed.records if r.key["condition"] == "T250" or r.key["seed"] < 2]
    choice = chosen(probed, artefact("strips", probe="inside", where={"variant": "tgu"}))
    assert choice.rule == "Shown: seed 0 of 2 or 4 (the first from seed 0 on)."


def test_what_the_probe_does_not_look_at_is_not_missed(probed, artefact):
    where = {"variant": ["tgu", "wide"], "condition": ["T250", "T500"]}
    probed.experiment.content["probes"] = {"inside": {"where": where}}
    assert chosen(probed, artefact("strips", probe="inside")).absent == []


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ({"name": "running", "width": 2, "at": 9}, "running mean of loss over 2 updates"),
        ({"name": "final", "split": "train"}, "last value of loss on train"),
        ({"name": "minimum", "of": "loss"}, "minimum of loss"),
    ],
)
def test_a_measure_is_put_in_words(measure, words):
    assert worded(measure) == words


def test_rows_of_the_chosen_replica_alone(probed, artefact):
    (one,) = chosen(
        probed,
        artefact(
            "scatter", probe="inside", where={"variant": "tgu", "condition": "T250"}, replica={"seed": 3}
        ),
    ).shown
    assert sorted(set(one.rows["value"])) == [0, 0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"probe": "outside"}, "allowed are inside"),
        ({"probe": "inside", "where": {"variant": "lstm"}}, "has no replica chosen by"),
        (
            {"probe": "inside", "replica": {"best": "nicest", "measure": NLL}},
            "allowed are highest, lowest, median",
        ),
        (
            {"probe": "inside", "replica": {"best": "lowest", "measure": NLL | {"of": "bits"}}},
            "no replica has",
        ),
    ],
)
def test_errors_name_what_is_allowed(rated, artefact, spec, message):
    with pytest.raises(ValueError, match=message):
        chosen(rated, artefact("strips", **spec))


def test_an_absent_array_is_named(probed, artefact):
    (one, *_) = chosen(probed, artefact("strips", probe="inside")).shown
    with pytest.raises(ValueError, match=r"no array 'gates' of T = 250, TGU; .*allowed are batch"):
        one.array("gates", "f", (1,), "numbers [N]")
