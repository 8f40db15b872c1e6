"""Ten styles of fifty-two letters, rendered with Pillow from fonts that installed packages carry.

Five families with a regular and an italic face each, as in mathews2016 3.4.5. The thesis' own families (Free
Sans, Georgia, Times, Courier, Vera Mono) are in part not free; DejaVu Sans Mono is Vera Mono's successor.
"""

import string
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tensor_rnns.datasets.parsers import Parsed, folder

SIDE, SIZE, BASELINE = 32, 24, 24
"""Pixels of a side, size of the type, and the row of the base line."""
LETTERS = string.ascii_uppercase + string.ascii_lowercase
MOST_BYTES = 1 << 24
"""Size of a font file that is read at all."""
FACES = {
    "DejaVu Sans": ("DejaVuSans.ttf", "DejaVuSans-Oblique.ttf"),
    "DejaVu Serif": ("DejaVuSerif.ttf", "DejaVuSerif-Italic.ttf"),
    "DejaVu Sans Mono": ("DejaVuSansMono.ttf", "DejaVuSansMono-Oblique.ttf"),
    "STIX General": ("STIXGeneral.ttf", "STIXGeneralItalic.ttf"),
    "Lato": ("Lato-Regular.ttf", "Lato-Italic.ttf"),
}
SLANTS = ("regular", "italic")


def files() -> list[Path]:
    """The font files that are read, in the order of the styles."""
    matplotlib = folder("matplotlib", "matplotlib") / "mpl-data" / "fonts" / "ttf"
    lato = folder("font_lato", "font-lato") / "files"
    return [
        (lato if family == "Lato" else matplotlib) / name for family, pair in FACES.items() for name in pair
    ]


def read() -> Parsed:
    """Arrays images uint8 [10, 52, 32, 32] (0 = ground, 255 = ink), style_names, letter_names, and facts.

    ValueError if a letter is blank, touches the border, or looks like another of its style or of its family.
    """
    styles = [f"{family} {slant}" for family in FACES for slant in SLANTS]
    images = np.stack([letters(path) for path in files()])
    check(images, styles)
    arrays = {
        "images": images,
        "style_names": np.array(styles),
        "letter_names": np.array(list(LETTERS)),
    }
    facts = {
        "styles": len(styles),
        "letters": len(LETTERS),
        "rows": SIDE,
        "columns": SIDE,
        "maximum": int(images.max()),
        "ink": round(float(images.mean() / 255), 4),
    }
    return arrays, facts


def letters(path: Path) -> np.ndarray:
    """The letters of one font file, uint8 [52, 32, 32], centred on a common base line.

    ValueError for a file that is no font, or larger than MOST_BYTES.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path}: {path.stat().st_size:,} bytes; fonts of at most {MOST_BYTES:,} are read")
    drawn = np.zeros((len(LETTERS), SIDE, SIDE), dtype=np.uint8)
    try:
        font = ImageFont.truetype(str(path), SIZE, layout_engine=ImageFont.Layout.BASIC)
        for row, letter in enumerate(LETTERS):
            image = Image.new("L", (SIDE, SIDE))
            ImageDraw.Draw(image).text((SIDE // 2, BASELINE), letter, fill=255, font=font, anchor="ms")
            drawn[row] = np.asarray(image)
    except OSError as error:
        raise ValueError(f"{path}: not a font ({error})") from error
    return drawn


def check(images: np.ndarray, styles: list[str]) -> None:
    """ValueError unless every image has ink, none on the border, and no two of a style are equal, nor a
    letter's two slants.
    """
    border = images.copy()
    border[:, :, 1:-1, 1:-1] = 0
    for style, name in enumerate(styles):
        for row, letter in enumerate(LETTERS):
            if not images[style, row].any():
                raise ValueError(f"{name}: the letter {letter} is blank")
            if border[style, row].any():
                raise ValueError(f"{name}: the letter {letter} touches the border")
        if len({image.tobytes() for image in images[style]}) < len(LETTERS):
            raise ValueError(f"{name}: two letters look the same; the font lacks some")
        if style % 2 and any((images[style] == images[style - 1]).all(axis=(1, 2))):
            raise ValueError(f"{name}: a letter looks as in {styles[style - 1]}")
