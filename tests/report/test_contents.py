"""Proves that experiments are told in the order of their document, and that a tally counts claims once."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tensor_rnns.analysis.intervals import TOLERANCE
from tensor_rnns.report.content import PaperPart, Part, Piece
from tensor_rnns.report.gather import reading_order
from tensor_rnns.report.templates import in_words, tally, with_effect
from tensor_rnns.report.words import because, filled, interval, outcome, source

SOURCES = [
    ({"section": "2 to 4 and A", "page": "3 to 47, 69"}, "theory"),
    ({"section": 2.2, "page": 7}, "flow"),
    ({"section": "3.4.2", "page": 28}, "random"),
    ({"section": "3.4.10", "page": 27}, "later"),
    ({"section": "5.1.1", "page": 49}, "addition"),
    ({"section": "5.1.1", "page": "51"}, "addition-long"),
    ({"section": "5.1.1", "page": "51"}, "b"),
    ({"section": "A"}, "proof"),
    ({"section": "B.1", "page": 71}, "generators"),
    ({"section": "B.2", "page": 3}, "others"),
    ({"page": 1}, "nowhere"),
    (None, "unknown"),
]


@pytest.mark.parametrize("turn", [1, 5, 7])
def test_sections_before_pages_before_names_and_chapters_before_appendices(turn):
    mixed = [SOURCES[(place * turn) % len(SOURCES)] for place in range(len(SOURCES))]
    assert sorted(mixed, key=lambda one: reading_order(*one)) == [
        *SOURCES[:-2], *sorted(SOURCES[-2:], key=lambda one: (one[0] or {}).get("page", 0)),
    ]  # fmt: skip


def claim(holds, verdict, source="laptop"):
    return {"holds": holds, "verdict": verdict, "source": source}


CLAIMS = [
    claim("yes", "reproduced"),
    claim("yes", "reproduced"),
    claim("no", "not reproduced"),
    claim("unclear", "undecided"),
    claim("unclear", "not judged"),
    claim("yes", "not judged"),
]


def test_a_tally_counts_what_holds_and_what_was_judged():
    assert tally(CLAIMS) == {
        "claims": 6, "yes": 3, "no": 1, "unclear": 2,
        "reproduced": 2, "not reproduced": 1, "undecided": 1, "not judged": 2,
    }  # fmt: skip
    assert tally([]) == {}


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (CLAIMS, "6 claims: 3 hold, 1 does not, 2 are unclear; 2 reproduced, 1 not reproduced, 1 undecided, "
         "2 not judged"),
        (CLAIMS[-1:], "1 claim, which holds"),
        (CLAIMS[:1], "1 claim, which holds; reproduced"),
        ([claim("no", "not judged")] * 2, "2 claims: 2 do not hold; 2 not judged"),
        ([claim("no", "not judged"), claim("unclear", "not judged")],
         "2 claims: 1 does not hold, 1 is unclear; 2 not judged"),
        ([claim("unclear", "not judged", "")] * 74, "74 claims, none run yet"),
        ([claim("unclear", "not judged", "")], "1 claim, which was not run"),
        ([*CLAIMS[:4], *[claim("unclear", "not judged", "")] * 3],
         "7 claims: 2 hold, 1 does not, 1 is unclear, 3 were not run; 2 reproduced, 1 not reproduced, "
         "1 undecided, 3 not judged"),
    ],
)  # fmt: skip
def test_the_tally_in_words_adds_up(claims, said):
    assert in_words(claims) == said


def test_a_field_of_a_caption_is_our_number_of_a_claim():
    rows = [{"claim": "m1-2.a", "ours": "0.33333333"}, {"claim": "m1-3", "ours": ""}]
    assert filled("a third ({m1-2.a}), {m1-3} and {m1-4}", rows) == (
        "a third (0.3333), (no number of m1-3 yet) and (no number of m1-4 yet)"
    )


CHANGE = " The answer would change if"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"section": "2.4", "note": "No experiment: sizes are ours."},
         "Section 2.4 of the document. No experiment: sizes are ours."),
        ({"section": 4, "page": 3, "runs": 1},
         "Section 4, page 3 of the document. Each curve of the document is one run."),
        ({"section": "2, 11", "page": "7 to 38", "runs": 5, "note": "and appendix B"},
         "Sections 2, 11, pages 7 to 38 of the document; and appendix B. "
         "Each curve of the document is of 5 runs."),
        ({"note": "in no document"}, "In no document."),
    ],
)  # fmt: skip
def test_where_an_experiment_is_in_its_document(reference, said):
    assert source(reference) == said


@pytest.mark.parametrize(
    ("test", "margin", "said"),
    [
        ("value", "17.4523", f"{CHANGE} our number moved by 17 half-widths of its interval."),
        ("solves", "1", f"{CHANGE} 1 run came out differently."),
        ("solves", "5", f"{CHANGE} 5 runs came out differently."),
        ("solves", "123", f"{CHANGE} 123 runs came out differently."),
        ("value", "", ""),
    ],
)
def test_how_far_a_verdict_is_from_another(test, margin, said):
    assert because({"reason": "six", "holm_p": "", "test": test, "margin": margin}) == f"Six.{said}"


def test_reasons_are_sentences_and_names_keep_their_letters():
    row = {"holm_p": "0.01", "test": "value", "margin": ""}
    assert because(row | {"reason": "as printed it fails; Printed is A x.; b_r is meant."}) == (
        "As printed it fails. Printed is A x. b_r is meant. Holm p = 0.01."
    )
    assert because(row | {"reason": "k1-4: yes"}) == "k1-4: yes. Holm p = 0.01."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "does not hold: ours 0.6; paper's 2"),
        ({"test": "solves"}, "does not hold: in 6 of 10 runs; paper's 2"),
        ({"test": "identity", "holds": "unclear"}, "is unclear: largest error 0.6; paper's 2"),
        ({"ours": "", "paper_value": ""}, "does not hold"),
    ],
)
def test_what_is_no_quantity_of_the_claim_is_named_beside_the_number_of_the_document(row, said):
    made = {"test": "value", "holds": "no", "ours": "0.6", "paper_value": "2", "n": "10"}
    assert outcome(made | row) == said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"test": "value"}, "[0.3, 0.85]"),
        ({"test": "solves"}, "share [0.3, 0.85]"),
        ({"test": "identity", "low": "", "high": "1e-10", "interval": TOLERANCE}, "allowed 1e−10"),
        ({"test": "solves", "low": "", "high": ""}, ""),
        ({"test": "order", "low": ""}, "[−∞, 0.85]"),
    ],
)
def test_an_interval_says_what_it_is_of(row, said):
    assert interval({"low": "0.3", "high": "0.85", "interval": "of the mean"} | row) == said


def part_of(*ids, tables=(), verdict="reproduced", deviations=None):
    """A part of these artefacts with one claim on the first."""
    claims = [[claim("yes", verdict)], *([] for _ in ids[1:])]
    pieces = [
        Piece(
            SimpleNamespace(id=name),
            (Path(name),),
            object() if name in tables else None,
            own,
            "",
            "",
            "paper",
        )
        for name, own in zip(ids, claims, strict=True)
    ]
    return Part(SimpleNamespace(deviations=deviations or {}), pieces, [], None, [])


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        (("flow", "sizes"), [["fig-2a", "table-1"], ["flow"], [], []]),
        ((), [["fig-2a", "table-1"], ["flow", "cost"], ["leak"], ["way"]]),
    ],
)
def test_the_article_shows_the_documents_own_and_the_figures_of_headlines(named, shown):
    parts = [
        part_of("fig-2a", "table-1", tables={"table-1"}),
        part_of("flow", "cost", "sizes", tables={"sizes"}),
        part_of("leak"),
        part_of("way", verdict="erratum"),
    ]
    findings = [SimpleNamespace(piece=SimpleNamespace(artefact=SimpleNamespace(id=name))) for name in named]
    paper = PaperPart(
        "made2000", {}, parts, [], [], {}, [*findings, *[SimpleNamespace(piece=None)][: len(named)]]
    )
    assert [[piece.artefact.id for piece in paper.shown(part)] for part in parts] == shown
    assert paper.brief == ([parts[2]] if named else [])


@pytest.mark.parametrize(
    ("effect", "known"),
    [
        ({"claim": "m1-1"}, True),
        ({"claim": "m1-2"}, False),
        ({"claim": "m1-3"}, False),
        ("one step in T/2", True),
        ("nonessential runs end earlier", True),
        ("none", False),
        ("none on the claims", False),
        ("not measured; shorter first steps", False),
        ("which threshold the search takes; not measured", False),
        ("not known before both are recorded", False),
        (None, False),
    ],
)
def test_the_article_has_the_deviations_of_which_an_effect_is_known(effect, known):
    judged = {("made", "m1-1"): {"source": "recorded"}, ("made", "m1-2"): {"source": ""}}
    deviation = {"paper": "0.1", "ours": "0.2"} | ({"effect": effect} if effect else {})
    assert with_effect({"rate": deviation}, "made", judged) == ({"rate": deviation} if known else {})
