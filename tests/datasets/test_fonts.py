"""Proves that letters are drawn as promised: whole, on a base line, distinct, in the order of their names."""

import hashlib

import numpy as np
import pytest

from tensor_rnns.datasets import fonts, load, packaged, prepare


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ready")
    prepare("fonts", None, folder)
    return load(folder, "fonts")


def test_ten_styles_of_fifty_two_letters(drawn):
    images = drawn.arrays["images"]
    assert (images.shape, images.dtype) == ((10, 52, 32, 32), np.uint8)
    assert drawn.arrays["style_names"][[0, 3, 9]].tolist() == [
        "DejaVu Sans regular",
        "DejaVu Serif italic",
        "Lato italic",
    ]
    assert "".join(drawn.arrays["letter_names"]) == fonts.LETTERS
    assert (drawn.facts["stand_in"], drawn.facts["stands_in_for"]) == (False, None)
    assert "fonts" in packaged()


def test_every_letter_is_whole_and_none_is_like_another(drawn):
    images = drawn.arrays["images"]
    assert images.reshape(520, -1).any(axis=1).all()
    assert not images[:, :, [0, -1]].any()
    assert not images[:, :, :, [0, -1]].any()
    assert len({image.tobytes() for image in images.reshape(520, 32, 32)}) == 520


def test_letters_stand_on_the_base_line_and_hang_below_it(drawn):
    letters = fonts.LETTERS
    for style in drawn.arrays["images"]:
        lowest = {
            letter: int(style[letters.index(letter)].any(axis=1).nonzero()[0].max()) for letter in "HEgp"
        }
        assert lowest["H"] == lowest["E"] == fonts.BASELINE - 1
        assert min(lowest["g"], lowest["p"]) > fonts.BASELINE


def test_an_upright_stem_and_a_slanted_one(drawn):
    images, place = drawn.arrays["images"], fonts.LETTERS.index("l")

    def lean(image):
        rows = np.flatnonzero(image.any(axis=1))
        centre = [np.average(np.arange(32), weights=image[row].astype(float)) for row in (rows[3], rows[-6])]
        return centre[0] - centre[1]

    for family in range(5):
        assert lean(images[2 * family + 1, place]) > lean(images[2 * family, place]) + 1


def test_the_bytes_are_those_of_the_locked_packages(drawn):
    digest = hashlib.sha256(drawn.arrays["images"].tobytes()).hexdigest()
    assert digest == "60d3e373c73d76ba1606a07dc2f9c8608e6c14a04c10b089f5d736cfaa4fe33c"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda images: images[1, 2].fill(0), "DejaVu Sans italic: the letter C is blank"),
        (lambda images: images[2, 51, 0].fill(9), "DejaVu Serif regular: the letter z touches the border"),
        (
            lambda images: images[4].__setitem__(5, images[4, 6]),
            "Sans Mono regular: two letters look the same",
        ),
        (
            lambda images: images[9].__setitem__(5, images[8, 5]),
            "Lato italic: a letter looks as in Lato regular",
        ),
    ],
)
def test_a_font_that_lacks_letters_is_refused(change, reason, drawn):
    images = drawn.arrays["images"].copy()
    change(images)
    with pytest.raises(ValueError, match=reason):
        fonts.check(images, drawn.arrays["style_names"].tolist())
