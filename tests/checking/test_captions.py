"""A caption is that of an artefact, and its fields name claims of its paper."""

import shutil
from pathlib import Path

from tensor_rnns.checking import problems

MADE_UP = Path(__file__).parents[1] / "papers" / "made_up"


def reported(folder: Path) -> list[str]:
    """What the check says of captions; the code of the paper is not at hand here."""
    return [line for line in problems([folder / "made_up"], folder) if "/captions/" in line]


def test_a_field_that_is_no_claim_is_reported_with_file_line_and_the_nearest(tmp_path):
    home = shutil.copytree(MADE_UP, tmp_path / "made_up") / "made2024"
    caption = home / "captions" / "fig-2.md"
    caption.write_text("A number of ours:\n{x1-1} and {x1-99}.\n", encoding="utf-8")
    (problem,) = reported(tmp_path)
    assert problem.startswith("made_up/made2024/captions/fig-2.md:2: unknown claim 'x1-99' in a caption; ")
    caption.write_text("A number of ours: {x1-1}.\n", encoding="utf-8")
    assert reported(tmp_path) == []


def test_a_caption_that_is_not_utf_8_is_reported_with_its_line(tmp_path):
    home = shutil.copytree(MADE_UP, tmp_path / "made_up") / "made2024"
    (home / "captions" / "fig-2.md").write_bytes("One line.\nA caf\xe9.\n".encode("latin-1"))
    said = "not UTF-8: invalid continuation byte: byte 0xe9"
    assert reported(tmp_path) == [f"made_up/made2024/captions/fig-2.md:2: {said}"]


def test_a_caption_that_no_artefact_shows_is_reported(tmp_path):
    home = shutil.copytree(MADE_UP, tmp_path / "made_up") / "made2024" / "captions"
    for name in ("fig-3.md", "table-1.txt", ".fig-2.md.swp", "fig-2.md~"):
        (home / name).write_text("Shown nowhere: {x1-99}.\n", encoding="utf-8")
    allowed = "allowed are fig-1.md, fig-2.md, table-1.md"
    assert reported(tmp_path) == [
        f"made_up/made2024/captions/fig-3.md: the caption of no artefact; did you mean 'fig-2.md'? {allowed}",
        "made_up/made2024/captions/table-1.txt: the caption of no artefact; did you mean 'table-1.md'? "
        f"{allowed}",
    ]
