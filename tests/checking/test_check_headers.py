"""The header of a paper is refused at the line of its mistake, without what follows elsewhere."""

import pytest

from tests.checking.conftest import WEIGHTS

HEADER = """\
title: Made
authors: A. Maker
year: 2016
source: a book
order: 3
catalogue:
  fig-1: "loss against updates"
tolerances:
  grid: the best of a grid
"""
TOLERATED = """\
id,artefact,condition,variant,option,item,measure,split,x,value,unit,tolerance,reason,runs,settings,source,page
level,,,,,,,,,0.17,,,,,,printed,
end,fig-1,T50,tgu,,,recent,,,0.1,nats,0.05,grid,,,printed,
"""


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("authors:", "author:", 2, "author: unknown key 'author'; did you mean 'authors'?"),
        ("tolerances:", "tolerence:", 8, "tolerence: unknown key 'tolerence'; did you mean 'tolerances'?"),
        ("title: Made\n", "", 1, "file: needed is the key 'title' (a text)"),
        ("title: Made", "title: 7", 1, "title: title is 7; allowed is a text"),
        ("authors: A. Maker", "authors: [A, B]", 2, "authors: authors is ['A', 'B']; allowed is a text"),
        ("authors: A. Maker", "authors: null", 2, "authors: authors is None; allowed is a text"),
        ("year: 2016", "year: in 2016", 3, "year: year is 'in 2016'; allowed is a whole"),
        ("order: 3", "order: first", 5, "order: order is 'first'; allowed is a whole"),
        ('"loss against updates"', "7", 7, "catalogue.fig-1: fig-1 is 7; allowed is a text"),
        ("fig-1: ", "fig/1: ", 7, "catalogue.fig/1: fig/1 is 'fig/1'; allowed is a name of letters"),
        ("  grid: the best", "  - the best", 8, "tolerances: tolerances is ['the best of a grid']"),
        ("title: Made", "title: [Made", 2, "not YAML: did not find expected"),
    ],
)
def test_a_mistake_in_a_header_is_one_problem(reported, whole, before, after, line, words):
    (found,) = reported(table=TOLERATED, paper=HEADER.replace(before, after), small=whole)
    assert found.startswith(f"paper.yaml:{line}: {words}"), found


def test_a_missing_header_is_the_one_problem(reported, whole):
    (found,) = reported(table=TOLERATED, small=whole, other=whole.replace("fig-1", "fig-7"))
    needed = "the title, and why tolerances of values.csv are what they are: grid"
    assert found.endswith(f"paper2000: no paper.yaml; needed are {needed}")


def test_missing_tables_are_the_one_problem(reported, whole):
    whole = whole.replace("fig-1", "fig-7")
    (found,) = reported(paper=HEADER.replace("fig-1", "fig-8"), score=WEIGHTS, small=whole)
    names = "no values.csv and no ledger.csv; other files of the paper name what stands there"
    assert found.endswith(f"paper2000: {names}")


def test_a_header_that_is_a_list_is_refused(reported, whole):
    (found,) = reported(paper="[title, Made]\n", small=whole)
    assert found.startswith("paper.yaml:1: file: it is ['title', 'Made']; allowed is a mapping of title")


def test_a_header_without_a_year_may_say_so(reported, whole):
    assert reported(table=TOLERATED, paper=HEADER.replace("2016", "null"), small=whole) == []
