"""Packs hold what fits together: no circle of packs, no pack that waits for a stranger, no job twice."""

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.recording import packing
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.packing import COMMAND, MOST, PACK, PROCESSES, START, Job, packed, seconds_of


@pytest.fixture(scope="module", params=[("smoke", "embedded"), ("paper", "real")], ids=lambda pair: pair[0])
def jobs(request):
    """Every job of every paper at a scale."""
    catalogue = Catalogue.load("workflow/papers")
    return list(packing.jobs_of(catalogue, *request.param, 5, "auto", Costs.read()))


def train(name, number, seconds, stage="final", after=(), data=("jsb",)):
    """A train job of a curve of a made-up experiment."""
    return Job(("train", "p", name, "c", "v", "o", stage, str(number)), seconds, 100.0, after, data)


def test_a_long_computed_table_asks_for_the_time_that_its_file_says():
    catalogue = Catalogue.load("workflow/papers", ["mathews2016/product-floors", "mathews2016/sizes"])
    asked = {
        (job.key[2], scale): (job.seconds, job.minutes(1))
        for scale in ("laptop", "paper")
        for job in packing.jobs_of(catalogue, scale, "embedded", 5, "auto", Costs.read())
        if job.key[0] == "compute"
    }
    assert asked.pop(("product-floors", "paper")) == (900, 45)
    assert set(asked.values()) == {(COMMAND["compute"], 2)}
    assert len(asked) == 3


def test_every_job_is_in_one_pack_and_every_wait_is_for_a_job_before(jobs):
    packs = packed(jobs)
    assert sorted(job.key for pack in packs for job in pack) == sorted({job.key for job in jobs})
    seen = set()
    for job in jobs:
        assert seen.issuperset(job.after)
        seen.add(job.key)


def test_packs_wait_in_no_circle_and_their_members_for_the_same(jobs):
    packs = packed(jobs)
    home = {job.key: number for number, pack in enumerate(packs) for job in pack}
    finished = set()
    for number, pack in enumerate(packs):
        outside = {home[name] for job in pack for name in job.after} - {number}
        assert finished.issuperset(outside)
        finished.add(number)
        own = {job.key for job in pack}
        if len({job.key[1:6] for job in pack if job.key[0] == "train"}) > 1 and outside:
            # Curves that wait for something outside share a pack only where they wait for the same.
            assert len({frozenset(set(job.after) - own) for job in pack if set(job.after) - own}) == 1


def test_a_start_is_at_most_a_hundredth_of_a_full_pack_and_of_the_papers_scale(jobs):
    packs = packed(jobs)
    assert all(len(pack) == 1 or seconds_of(pack) <= PACK or "select" in pack[0].key for pack in packs)
    assert START / PACK <= 0.01
    if seconds_of(jobs) > 1e6:
        assert START * len(packs) <= 0.01 * seconds_of(jobs)
    else:
        assert len(packs) < len(jobs) / 10


def test_a_long_curve_is_cut_where_its_search_ends():
    search = [train("e", number, PACK / 2, "search") for number in range(3)]
    chosen = Job(("select", "p", "e", "c", "v", "o"), 1.0, after=[job.key for job in search])
    final = train("e", 0, PACK * 4, after=[chosen.key])
    table = Job(("collect", "p", "e"), 1.0, after=[final.key])
    found = [[job.key for job in pack] for pack in packed([*search, chosen, final, table])]
    assert found == [
        [search[0].key, search[1].key],
        [search[2].key],
        [chosen.key, final.key],
        [table.key],
    ]


def test_experiments_on_other_data_go_apart():
    one, two, three = (
        train(name, 0, 5.0, data=data) for name, data in (("a", ["jsb"]), ("b", ["muse"]), ("c", ["jsb"]))
    )
    assert packed([one, two, three]) == [[one, three], [two]]


def test_what_is_asked_for_grows_with_the_prediction_and_with_each_try():
    short, long = train("e", 0, 5.0), train("e", 0, 7200.0)
    assert (short.minutes(1), long.minutes(1), long.minutes(3)) == (2, 360, 1080)
    assert short.memory(1) == PROCESSES + 150 >= 400
    assert short.memory(2) == 2 * short.memory(1)
    assert set(COMMAND) >= set(packing.DRAWN.values())


def test_a_pack_holds_no_more_names_than_a_command_line():
    packs = packed([train(f"e{number}", 0, 0.1) for number in range(2 * MOST + 1)])
    assert [len(pack) for pack in packs] == [MOST, MOST, 1]


def test_a_job_asks_for_the_time_and_memory_of_all_its_replicas():
    """Five in lock-step take longer than one, and hold more."""
    catalogue, costs = Catalogue.load("workflow/papers", ["mathews2016/addition"]), Costs.read()
    asked = {
        size: {job.key: job for job in packing.jobs_of(catalogue, "paper", "real", size, "compiled", costs)}
        for size in (1, 5)
    }
    key = ("train", "mathews2016", "addition", "T750", "tgu", "main", "final", "0")
    one, five = (asked[size][key] for size in (1, 5))
    assert five.seconds - COMMAND["train"] > 2 * (one.seconds - COMMAND["train"])
    assert five.megabytes > one.megabytes
