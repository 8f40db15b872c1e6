"""A simulated cluster takes the time that can be worked out by hand, and is never faster than its work."""

import pytest

from tensor_rnns.recording.packing import PACK, START, Job, packed, seconds_of
from tensor_rnns.recording.simulate import cluster, draw, poll_wait, sentence, table

LONG = 2 * PACK


def train(number, seconds=LONG, after=(), name="e"):
    """A train job that is too long for a pack."""
    return Job(("train", "p", name, f"c{number}", "v", "o", "final", "0"), seconds, 100.0, after)


def test_free_jobs_take_their_longest_share():
    jobs = [train(number) for number in range(6)]
    each = LONG + START
    for workers, rounds in ((1, 6), (2, 3), (4, 2), (8, 1)):
        found = cluster(jobs, workers)
        assert found.finish == pytest.approx((rounds * each + poll_wait(each)) / 3600)
        assert found.utilisation == pytest.approx(6 * each / (workers * 3600 * found.finish))
    assert (found.jobs, found.starts, found.work) == (
        6,
        pytest.approx(6 * START / 3600),
        pytest.approx(6 * LONG / 3600),
    )
    assert found.overhead == pytest.approx(START / each)


def test_a_chain_takes_its_length_and_its_polls_however_many_workers_there_are():
    first = train(0)
    second = train(1, after=[first.key])
    third = train(2, after=[second.key])
    each = LONG + START
    assert cluster([first, second, third], 100).finish == pytest.approx(3 * (each + poll_wait(each)) / 3600)


def test_the_end_of_a_job_is_seen_within_a_twentieth_of_its_time_or_the_first_poll():
    assert [poll_wait(seconds) for seconds in (1, 100, 1000, 1e6)] == [2.5, 5, 50, 90]


def test_a_cluster_is_never_faster_than_its_longest_chain_or_its_work():
    jobs = [train(number, LONG * (1 + number % 7), name=f"e{number % 5}") for number in range(60)]
    before = float("inf")
    for workers in (1, 2, 4, 8, 100):
        found = cluster(jobs, workers)
        lengths = [START + seconds_of(pack) for pack in packed(jobs)]
        assert max(lengths) <= 3600 * found.finish <= before
        assert sum(lengths) <= workers * 3600 * found.finish
        before = 3600 * found.finish + 1e-6


def test_table_and_figure_say_every_cluster(tmp_path):
    found = {(workers, size): cluster([train(0), train(1)], workers) for workers in (1, 2) for size in (1, 5)}
    assert [line.split()[:2] for line in table(found)][1:] == [["1", "1"], ["1", "5"], ["2", "1"], ["2", "5"]]
    assert sentence(found[1, 1], 2).startswith("packs: 2 jobs of a cluster for 2 of the workflow;")
    draw(found, tmp_path / "plan.svg")
    text = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    assert text.count("<svg") == 1
