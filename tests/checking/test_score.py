"""A score file names what its paper has, gives each reason, and no more than ten headlines."""

import re

import pytest

from tensor_rnns import checking
from tensor_rnns.experiments import score
from tests.checking.conftest import WEIGHTS

HEADLINE = "  - {statements: [m1-1], quote: it is so and so, page: 3, artefact: fig-1, why: it is cited}\n"
LEDGER = "id,section,where,statement,untested\nm1-1,1,ch. 1,it is so,\nm1-2,1,ch. 1,it is not,\n"


@pytest.fixture
def reported(tmp_path):
    """What the check says of a score file, without the path."""

    def check(text):
        folder = tmp_path / "paper2000"
        folder.mkdir(exist_ok=True)
        (folder / "paper.yaml").write_text("title: Made\ncatalogue: {fig-1: made}\n")
        (folder / "ledger.csv").write_text(LEDGER)
        (folder / score.FILE).write_text(text)
        return [line.removeprefix("paper2000/") for line in checking.problems([tmp_path], tmp_path)]

    return check


def test_a_sound_file_is_taken(reported, tmp_path):
    assert reported(WEIGHTS + HEADLINE) == []
    found = score.read(tmp_path / "paper2000")
    assert found.weight("m1-1", "counts") == 10
    assert found.weight("m1-2", "counts") == 0.5
    assert found.weight("m1-1", "errata") == 0


MISTAKES = (
    ("[m1-1]", "[m1-11]", "score.yaml:8: headlines.0.statements: unknown statement 'm1-11'; did you mean"),
    (
        "fig-1,",
        "fig-2,",
        "score.yaml:8: headlines.0.artefact: unknown artefact 'fig-2'; did you mean 'fig-1'",
    ),
    (
        "fig-1, why",
        "fig-1, telling: m1-7, why",
        "score.yaml:8: headlines.0.telling: unknown claim 'm1-7'",
    ),
    (
        "fig-1, why",
        "fig-1, beside: 'Ours is {m1-7}.', why",
        "score.yaml:8: headlines.0.beside: unknown claim 'm1-7'",
    ),
    (
        ", why: it can fail",
        "",
        "score.yaml:3: weights.trained outcomes: trained outcomes needs the key 'why'",
    ),
    (
        ", artefact: fig-1, why: it is cited",
        ", artefact: fig-1",
        "score.yaml:8: headlines.0: headlines 1 needs",
    ),
    ("weight: 10", "weight: .inf", "weight is inf; allowed is a number of at least 0"),
    ("weight: 10", "weight: -1", "weight is -1; allowed is a number of at least 0"),
    (
        "  counts",
        "  sizes",
        "score.yaml:5: weights.sizes: unknown name 'sizes'; allowed are computed, counts",
    ),
    (
        "  counts: {weight: 0.5, why: it is a size}\n",
        "",
        "weights has no counts; needed are headline, trained",
    ),
    ("[m1-1]", "[m1-1, m1-1]", "headlines: m1-1 given twice; allowed is one headline for each"),
    ("[m1-1]", "[]", "statements is empty; allowed is a list of ids"),
    ("page: 3", "pages: 3", "unknown key 'pages'; did you mean 'page'?"),
)


@pytest.mark.parametrize(("before", "after", "words"), MISTAKES)
def test_an_invalid_key_is_reported_with_its_line(reported, before, after, words):
    whole = WEIGHTS + HEADLINE
    assert before in whole
    found = reported(whole.replace(before, after, 1))
    assert any(words in line for line in found), found


def test_at_most_ten_headlines(reported):
    ten = "".join(HEADLINE.replace("m1-1", f"m1-{k}") for k in range(11))
    assert any("11 headlines given; allowed are at most 10" in line for line in reported(WEIGHTS + ten))


def test_a_file_that_is_no_yaml_is_named_with_its_line(reported):
    (line,) = reported("weights: [")
    assert re.match(r"score.yaml:\d+: ", line)


def test_the_paper_is_not_read_with_a_broken_file(reported, tmp_path):
    reported(WEIGHTS.replace("weight: 10", "weight: .nan") + HEADLINE)
    with pytest.raises(ValueError, match=r"score.yaml:2: weight is nan; allowed is a number of at least 0"):
        score.read(tmp_path / "paper2000")
