"""Mistakes in searches, their grids and the splits that they read are refused with their line."""

import pytest

SEARCHES = {
    "budget in a grid": (
        "grid: {training.batch: [4, 6]}",
        "grid: {cell.budget: [4, 6]}",
        "search.grid.cell.budget: unknown key 'cell.budget'",
    ),
    "key of a grid in a joint key": (
        '"cell.hidden,cell.rank": [[5, 2], [6, 3]]',
        '"cell.hidden,cell.rank": [[5, 2], [6, 3]], cell.rank: [2, 3]',
        "search.per.tgu.cell.rank: 'cell.rank' is searched twice; allowed is once",
    ),
    "key twice in a joint key": (
        '"cell.hidden,cell.rank"',
        '"cell.rank,cell.rank"',
        "search.per.tgu.cell.rank,cell.rank: 'cell.rank' is searched twice; allowed is once",
    ),
    "length of a joint value": (
        "[[5, 2], [6, 3]]",
        "[[5, 2], [6]]",
        "search.per.tgu.cell.hidden,cell.rank: the value [6] of the joint key 'cell.hidden,cell.rank'; "
        "allowed is a list of 2 values",
    ),
    "value of a grid": (
        "grid: {training.batch: [4, 6]}",
        "grid: {training.batch: [4, many]}",
        "batch is 'many'; allowed is a whole number from 1 to a billion",
    ),
    "a probe decides between equals": (
        "width: 10}, split: valid",
        "width: 10}, ties: {name: probe, probe: memory, item: b, value: c}, split: valid",
        "a search has no probe; allowed are the measures of a run's own curves",
    ),
    "a computed number divides": (
        "width: 10}, split: valid",
        "width: 10, per: {name: computed, item: a, value: b}}, split: valid",
        "search.select.measure.per: a search has no computed; allowed are the measures of a run's own curves",
    ),
    "as many seeds as a search counts from": (
        "paper: {seeds: 5}",
        "paper: {seeds: 2000}",
        "scales.paper.seeds: seeds is 2000; allowed beside a search are at most 1000",
    ),
    "two splits of equals": (
        "width: 10}, split: valid",
        "width: 10}, ties: {name: final, split: train}, split: valid",
        "select.split is 'valid'",
    ),
    "two splits": (
        "width: 10}, split: valid",
        "width: 10, split: train}, split: valid",
        "select.split is 'valid'",
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_an_invalid_search_is_reported_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *SEARCHES[name])


def test_a_scale_cannot_change_a_search_that_is_not_there(refused, whole):
    """`search` at a scale of a file without the block is refused."""
    start, end = whole.index("search:\n  grid"), whole.index("scales:\n")
    base = whole[:start] + whole[end:]
    refused(
        base.replace("    search: {grid", "    searched: {grid"),
        "searched: {grid",
        "search: {grid",
        "no block 'search'",
    )


EVALUATED = "  evaluate: {every: 10, splits: [valid, test]}\n  keep: best\n"


@pytest.mark.parametrize("more", ["", "every: 1001, "])
def test_a_search_on_a_split_that_is_never_evaluated_is_refused(refused, whole, more):
    """At the end alone, or with a pace that no training is long enough for."""
    base = whole.replace(EVALUATED, f"  evaluate: {{{more}splits: [valid]}}\n")
    words = (
        "select.split is 'valid', on which nothing is evaluated; allowed is train, or a pace or this split"
    )
    refused(base, "splits: [valid]", "splits: [test]", words, at="  select: ")


@pytest.mark.parametrize("evaluated", ["  evaluate: {every: 10}\n", "  evaluate: {splits: [valid]}\n"])
def test_a_search_may_read_what_is_evaluated_on_the_way_or_at_the_end(reported, whole, evaluated):
    assert reported(small=whole.replace(EVALUATED, evaluated)) == []
