"""What a reader should believe follows from the verdict and the numbers."""

import pytest

from tensor_rnns.report.findings import believe, findings

ROW = {
    "claim": "c1", "statement": "The TGU ends below the GRU.", "ours": "-1.25", "low": "-1.5", "high": "-1",
    "interval": "95 % t interval of a difference", "n": "6", "holds": "yes", "verdict": "reproduced",
    "reason": "", "paper_value": "", "test": "order", "source": "recorded",
}  # fmt: skip
OTHER = ROW | {"claim": "c2", "statement": "The TGU solves it.", "holds": "no", "verdict": "not reproduced"}
OPEN = ROW | {"claim": "c3", "holds": "unclear", "verdict": "not judged", "ours": ""}
SHARE = ROW | {
    "test": "solves", "ours": "0.6", "low": "0.3", "high": "0.85", "n": "10", "interval": "bounds",
}  # fmt: skip
ERROR = ROW | {
    "test": "identity", "ours": "2.2e-16", "low": "", "high": "1e-10", "n": "1",
    "interval": "largest error allowed",
}  # fmt: skip
HEADLINE = {
    "quote": "It is so.", "page": 3, "artefact": "fig-1", "why": "it is cited", "verdict": "reproduced",
    "holds": "yes", "source": "recorded", "claims": ["c1"], "alternatives": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "rows", "sentence"),
    [
        (
            {}, [ROW],
            "It holds in our runs: the claim holds: The TGU ends below the GRU (ours: −1.25 "
            "[−1.5, −1], 95 % t interval of a difference, n = 6).",
        ),
        (
            {"verdict": "not reproduced", "holds": "no", "source": "recorded, laptop"}, [OTHER, ROW, OPEN],
            "It does not hold in our runs: 1 of 3 claims holds, 1 does not and 1 is unclear, "
            "for example: The TGU solves it (ours: −1.25 [−1.5, −1], 95 % t interval of a "
            "difference, n = 6).",
        ),
        (
            {"verdict": "not judged", "holds": "unclear", "source": ""}, [OPEN | {"source": ""}],
            "Not yet run at the document's scale.",
        ),
        (
            {"verdict": "not judged", "holds": "yes", "source": "laptop"}, [ROW],
            "Not yet run at the document's scale; in the laptop runs so far the claim holds.",
        ),
        (
            {"verdict": "not judged", "holds": "unclear"}, [ROW, OPEN, OPEN | {"source": ""}],
            "Not yet run in full at the document's scale; in the recorded runs so far 1 of 3 claims holds, "
            "1 is unclear and 1 was not run.",
        ),
        (
            {"verdict": "undecided", "holds": "unclear"}, [OTHER, ROW, ROW],
            "Our runs do not decide it: 2 of 3 claims hold and 1 does not. What does not hold: The TGU "
            "solves it (ours: −1.25 [−1.5, −1], 95 % t interval of a difference, n = 6).",
        ),
        (
            {"verdict": "undecided", "holds": "unclear"}, [OPEN, OPEN],
            "Our runs do not decide it: both claims are unclear.",
        ),
        (
            {"verdict": "not reproduced", "holds": "no"}, [OTHER | {"ours": ""}, OTHER, OPEN],
            "It does not hold in our runs: 0 of 3 claims hold, 2 do not and 1 is unclear.",
        ),
        ({"verdict": "erratum", "holds": "no"}, [OTHER | {"reason": "six is meant."}],
         "Read it as corrected. Six is meant."),
        ({}, [SHARE], "It holds in our runs: the claim holds: The TGU ends below the GRU "
         "(ours: in 6 of 10 runs)."),
        ({}, [ERROR], "It holds in our runs: the claim holds: The TGU ends below the GRU "
         "(ours: largest error 2.2e−16)."),
        ({"alternatives": [(1, ["c1", "c3"])]}, [ROW | {"ours": ""}, OPEN],
         "It holds in our runs: 1 of 2 claims holds and 1 is unclear (one of them suffices)."),
        ({"alternatives": [(1, ["c1", "c3"]), (2, ["a", "b", "c"]), (1, [*"abcd"])]}, [ROW | {"ours": ""}],
         "It holds in our runs: the claim holds (one of c1 and c3 suffices, 2 of a, b and c suffice, "
         "one of a group of 4 suffices)."),
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


def test_of_what_is_undecided_a_claim_that_does_not_hold_comes_before_one_that_does():
    headline = HEADLINE | {"verdict": "undecided", "holds": "unclear", "claims": ["c1", "c2", "c3"]}
    (found,) = findings([headline], [ROW, OTHER, OPEN | {"claim": "c4"}], lambda name: None)
    assert [row["claim"] for row in found.rows] == ["c2", "c1"]
    assert "What does not hold: The TGU solves it" in found.believe


def test_the_claim_that_the_score_file_names_as_telling_is_the_example():
    many = [ROW | {"claim": f"d{k}", "statement": f"It is {k}."} for k in range(9)]
    headline = HEADLINE | {"claims": [row["claim"] for row in many], "telling": "d7"}
    (found,) = findings([headline], many, lambda name: None)
    assert [row["claim"] for row in found.rows] == ["d7", "d0", "d1", "d2", "d3", "d4"]
    assert "all 9 claims hold, for example: It is 7 (ours" in found.believe


def test_what_a_reader_has_to_know_with_it_stands_beside_with_our_numbers():
    control = ROW | {"claim": "k4-8", "ours": "0.47358"}
    headline = HEADLINE | {"claims": ["c1"], "beside": "Shrunk, it is {k4-8} bits behind."}
    (found,) = findings([headline], [ROW | {"claim": "c1"}, control], lambda name: None)
    assert [row["claim"] for row in found.rows] == ["c1"]
    assert found.believe.endswith("). Shrunk, it is 0.4736 bits behind.")
