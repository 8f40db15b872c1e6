"""What a reader should believe follows from the verdict and the numbers."""

import pytest

from tensor_rnns.report.findings import believe, findings

ROW = {
    "claim": "c1", "statement": "The TGU ends below the GRU.", "ours": "-1.25", "low": "-1.5", "high": "-1",
    "interval": "95 % t interval of a difference", "n": "6", "holds": "yes", "verdict": "reproduced",
    "reason": "", "paper_value": "",
}  # fmt: skip
OTHER = ROW | {"claim": "c2", "statement": "The TGU solves it.", "holds": "no", "verdict": "not reproduced"}
OPEN = ROW | {"claim": "c3", "holds": "unclear", "verdict": "not judged", "ours": ""}
HEADLINE = {
    "quote": "It is so.", "page": 3, "artefact": "fig-1", "why": "it is cited", "verdict": "reproduced",
    "holds": "yes", "source": "recorded", "claims": ["c1"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "rows", "sentence"),
    [
        (
            {}, [ROW],
            "It stands: the claim holds by recorded runs: The TGU ends below the GRU (ours −1.25 "
            "[−1.5, −1], 95 % t interval of a difference, n = 6).",
        ),
        (
            {"verdict": "not reproduced", "holds": "no", "source": "recorded, laptop"}, [OTHER, ROW, OPEN],
            "It does not hold in our runs: 1 of 3 claims holds, 1 does not and 1 is unclear by recorded runs "
            "and laptop runs, for example: The TGU solves it (ours −1.25 [−1.5, −1], 95 % t interval of a "
            "difference, n = 6).",
        ),
        (
            {"verdict": "not judged", "holds": "unclear", "source": ""}, [OPEN],
            "Not judged: what would settle it was not run as the document's scale asks.",
        ),
        (
            {"verdict": "not judged", "holds": "yes", "source": "laptop"}, [ROW],
            "Not judged: what would settle it was not run as the document's scale asks; in what ran "
            "so far (laptop runs) the claim holds.",
        ),
        (
            {"verdict": "undecided", "holds": "unclear"}, [OPEN, OPEN],
            "Undecided by recorded runs: both claims are unclear.",
        ),
        (
            {"verdict": "not reproduced", "holds": "no"}, [OTHER | {"ours": ""}, OTHER, OPEN],
            "It does not hold in our runs: 0 of 3 claims hold, 2 do not and 1 is unclear by recorded runs.",
        ),
        ({"verdict": "erratum", "holds": "no"}, [OTHER | {"reason": "six is meant"}],
         "Read it as corrected: six is meant."),
    ],
)  # fmt: skip
def test_the_sentence_follows_from_the_verdict(change, rows, sentence):
    assert believe(HEADLINE | change, rows) == sentence


def test_the_claims_that_answer_as_the_finding_does_come_first():
    many = [ROW | {"claim": f"d{k}"} for k in range(7)]
    headline = HEADLINE | {"claims": ["c2", "c3", "gone", *(row["claim"] for row in many)]}
    (found,) = findings([headline], [OTHER, OPEN, *many], lambda name: f"drawn {name}")
    assert [row["claim"] for row in found.rows] == ["d0", "d1", "d2", "d3", "d4", "d5"]
    assert (found.others, found.piece) == (3, "drawn fig-1")
