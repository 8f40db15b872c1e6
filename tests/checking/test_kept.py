"""What was found well is not built again: an edit of one paper, of a caption too, checks that paper alone."""

import shutil
from pathlib import Path

import pytest

from tensor_rnns import checking
from tensor_rnns.checking import whole

HOME = Path(__file__).parents[2] / "workflow" / "papers"
PAPERS = ["he2017", "kelley2016"]


@pytest.fixture
def roots(tmp_path):
    """A folder with copies of two papers."""
    for name in PAPERS:
        shutil.copytree(HOME / name, tmp_path / "papers" / name)
    return [tmp_path / "papers"]


@pytest.fixture
def checked(roots, monkeypatch):
    """The problems of the two papers, and the names of those that were looked at for it."""
    check_papers = whole.check_papers

    def again():
        looked_at = []

        def noted(folders, shown):
            looked_at.extend(folder.name for folder in folders)
            return check_papers(folders, shown)

        monkeypatch.setattr(whole, "check_papers", noted)
        return checking.problems(roots, roots[0], roots[0].parent / "kept"), looked_at

    return again


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_each_paper_is_checked_once(checked):
    assert checked() == ([], PAPERS)
    assert checked() == ([], [])


def test_a_copy_of_the_papers_elsewhere_is_not_checked_again(roots, checked):
    checked()
    (moved := roots[0].parent / "elsewhere").mkdir()
    shutil.move(roots[0], moved)
    roots[0] = moved / "papers"
    shutil.move(moved.parent / "kept", moved / "kept")
    assert checked() == ([], [])
    shutil.move(roots[0] / "kelley2016", roots[0] / "kelley2017")
    assert checked()[1] == ["kelley2017"]


def test_an_edited_paper_is_checked_alone_and_again_until_it_is_well(roots, checked):
    checked()
    edit(roots[0] / "kelley2016" / "wikipedia.yaml", "kind: train", "kind: trian")
    for _ in range(2):
        (wrong,), looked_at = checked()
        assert wrong.startswith("kelley2016/wikipedia.yaml:")
        assert looked_at == ["kelley2016"]
    edit(roots[0] / "kelley2016" / "wikipedia.yaml", "kind: trian", "kind: train")
    assert checked() == ([], [])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("fig-1.md", "{no-such-claim}\n", "unknown claim 'no-such-claim'"),
        ("fig-1.txt", "", "the caption of no artefact"),
    ],
)
def test_a_caption_is_checked_too(roots, checked, name, text, said):
    checked()
    caption = roots[0] / "kelley2016" / "captions" / name
    caption.parent.mkdir()
    caption.write_text(text)
    (wrong,), looked_at = checked()
    assert said in wrong
    assert looked_at == ["kelley2016"]


def test_other_code_checks_every_paper(checked, monkeypatch, tmp_path):
    checked()
    (tmp_path / "package").mkdir()
    monkeypatch.setattr(checking, "PACKAGE", tmp_path / "package")
    assert checked()[1] == PAPERS


def test_the_code_of_one_paper_checks_every_paper(roots, checked):
    """Any of them may name its functions."""
    checked()
    (roots[0] / "kelley2016" / "more.py").write_text("NUMBER = 1\n")
    assert checked()[1] == PAPERS


def test_marks_that_another_process_prunes_meanwhile_stop_no_check(roots, checked, monkeypatch):
    kept = roots[0].parent / "kept"
    kept.mkdir()
    left = [kept / f"left-{number}" for number in range(checking.KEPT + 7)]
    for path in left:
        path.touch()
    stat = Path.stat

    def removed(path, **options):
        if path == left[3]:
            path.unlink(missing_ok=True)
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", removed)
    assert checked() == ([], PAPERS)
    assert not left[3].exists()
    monkeypatch.undo()
    assert len(list(kept.iterdir())) == checking.KEPT
