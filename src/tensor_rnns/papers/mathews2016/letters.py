"""What a model of style and content makes of pairs that it was not trained on: mathews2016 section 3.4.5."""

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.models.style_content import StyleContent
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import Rows, row

STYLES, PER_STYLE = 3, 3
"""Styles that the examples of unseen pairs come from, and letters of each."""
FLAT = 1e-9
"""A pixel whose slope stays below this along a strip is taken to stand still."""


def probe(
    trained: Trained, *, letter: str = "a", ends: tuple[str, str] = ("T", "m"), frames: int = 9
) -> Findings:
    """What one replica of the model style_content draws; `letter` is the hard one, the strip over contents
    goes from one of the letters `ends` to the other, each strip in as many `frames`.

    Arrays of images [N, height, width], float32 in the units of the task, with texts [N] as their titles:

    - `content`, `style`, titles `frames`: from the first style that was trained in both letters, the content
      vector goes to the other letter, then the style vector to that of the last style trained in it; the
      image of the data at either end.
    - `actual`, `generated`, `additive`, `nearest`, titles `pairs`: up to three unseen pairs of each of the
      three styles with the most of them: the data, the model, the additive model, and the image of the data
      that is nearest to the model's.
    - `letter_actual`, `letter_generated`, titles `letter_styles`: `letter` in every style.

    Rows: of the items content and style, `turns`, the share of pixels that both rise and fall along the
    strip, and `bend`, the largest distance of a pixel from a straight line, both before the output function;
    of `additive`, `train` and `valid`, the error of `additive_images`; of `nearest`, the share of unseen
    pairs whose nearest image has the right `letter`, `style` and `slant`; of each unseen letter, `error`, the
    model's mean over its unseen pairs, and of all letters `variance`, that of the data between styles in the
    mean over pixels; of `quartile`, the upper quartile of both over the letters. ValueError for another
    model, letters that the data lack, and where no style was trained in both ends.
    """
    trained.require("letters", model=StyleContent)
    task, names = trained.task, [str(name) for name in trained.task.dataset.arrays["letter_names"]]
    if missing := {letter, *ends} - set(names):
        problem = f"letters was asked for {letter} and {ends}; the data have no {', '.join(sorted(missing))}"
        raise ValueError(f"{problem}; they have {' '.join(names)}")
    shape = task.dataset.arrays["images"].shape[2:]
    actual = task.images.astype(float)
    every = np.indices(actual.shape[:2]).reshape(2, -1)
    generated = shown(trained, linear(trained, *vectors(trained, every))).reshape(actual.shape)
    seen, unseen = (task.pairs(trained.data_seed, split) for split in ("train", "valid"))
    additive = additive_images(actual, seen)
    close = nearest(actual, generated[*unseen.T])
    strips, rows = interpolated(trained, {end: names.index(end) for end in ends}, frames, actual, seen)
    for split, pairs in (("train", seen), ("valid", unseen)):
        rows.append(row("additive", split, np.square(additive[*pairs.T] - actual[*pairs.T]).mean()))
    rows += agreement(close, unseen) + hardness(actual, generated, unseen, names)
    some = examples(unseen)
    styles, letters = unseen[some].T
    hard = names.index(letter)
    arrays = strips | {
        "actual": actual[styles, letters],
        "generated": generated[styles, letters],
        "additive": additive[styles, letters],
        "nearest": actual[*close[some].T],
        "letter_actual": actual[:, hard],
        "letter_generated": generated[:, hard],
    }
    held = set(unseen[unseen[:, 1] == hard, 0].tolist())
    texts = {
        "pairs": [f"{names[content]} {style + 1}" for style, content in unseen[some]],
        "letter_styles": [f"{s + 1} unseen" if s in held else f"{s + 1}" for s in range(len(actual))],
        "frames": ["data", *[f"{part:.2g}" for part in np.linspace(0, 1, frames)], "data"],
    }
    # To be looked at: half the bytes of what the rows were counted in.
    images = {name: array.reshape(-1, *shape).astype(np.float32) for name, array in arrays.items()}
    return images | {name: np.array(text) for name, text in texts.items()}, rows


def vectors(trained: Trained, pairs: np.ndarray) -> tuple[Tensor, Tensor]:
    """The style and content vectors [1, B, E] of pairs [2, B]."""
    symbols = torch.from_numpy(np.ascontiguousarray(pairs))[:, None]
    return trained.model.vectors(trained.cohort, symbols)


def linear(trained: Trained, style: Tensor, content: Tensor) -> np.ndarray:
    """The pixels [B, pixels] of vectors [1, B, E] before the output function."""
    with torch.no_grad():
        return trained.model.image(trained.cohort, style, content)[0].numpy()


def shown(trained: Trained, pixels: np.ndarray) -> np.ndarray:
    """The pixels [B, pixels] after the output function."""
    return trained.model.shown(torch.from_numpy(pixels)).numpy()


def interpolated(
    trained: Trained, ends: dict[str, int], frames: int, actual: np.ndarray, seen: np.ndarray
) -> tuple[dict[str, np.ndarray], Rows]:
    """The strips content and style with the data at their ends, and their rows turns and bend.

    ValueError where no style was trained in both letters.
    """
    first, last = ends.values()
    in_first, in_last = (set(seen[seen[:, 1] == letter][:, 0].tolist()) for letter in ends.values())
    if not in_first & in_last:
        raise ValueError(f"no style was trained in both {' and '.join(ends)}")
    start, end = min(in_first & in_last), max(in_last)
    corners = [(start, first), (start, last), (end, last)]
    styles, contents = vectors(trained, np.array(corners).T)
    way = torch.from_numpy(np.linspace(0, 1, frames))[:, None]
    arrays, rows = {}, []
    for name, place in (("content", 0), ("style", 1)):
        style = styles[:, place] + way * (styles[:, place + 1] - styles[:, place])
        content = contents[:, place] + way * (contents[:, place + 1] - contents[:, place])
        pixels = linear(trained, style[None], content[None])
        before, after = (actual[corners[at]][None] for at in (place, place + 1))
        arrays[name] = np.concatenate([before, shown(trained, pixels), after])
        rows += [row(name, "turns", turns(pixels)), row(name, "bend", bend(pixels))]
    return arrays, rows


def turns(strip: np.ndarray) -> float:
    """The share of pixels of a strip [N, pixels] that both rise and fall along it."""
    slopes = np.diff(strip, axis=0)
    return float(((slopes > FLAT).any(0) & (slopes < -FLAT).any(0)).mean())


def bend(strip: np.ndarray) -> float:
    """The largest distance of a pixel of a strip [N, pixels] from the straight line between its ends."""
    way = np.linspace(0, 1, len(strip))[:, None]
    return float(np.abs(strip - (1 - way) * strip[0] - way * strip[-1]).max())


def additive_images(actual: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Mean + style + letter, pixel by pixel, for every pair: [styles, letters, pixels].

    Least squares over the seen pairs [P, 2], clipped to what their pixels span. It is the best model without
    any product of style and content.
    """
    styles, letters, _ = actual.shape
    design = np.zeros((styles, letters, 1 + styles + letters))
    design[..., 0] = 1
    design[np.arange(styles), :, 1 + np.arange(styles)] = 1
    design[:, np.arange(letters), 1 + styles + np.arange(letters)] = 1
    data = actual[*seen.T]
    weights = np.linalg.lstsq(design[*seen.T], data, rcond=None)[0]
    return np.clip(design @ weights, data.min(), data.max())


def nearest(actual: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The pair (style, letter) of the image of the data nearest to each of images [B, pixels]."""
    known = actual.reshape(-1, actual.shape[-1])
    distance = np.square(known).sum(1) - 2 * images @ known.T
    return np.stack(np.unravel_index(distance.argmin(1), actual.shape[:2]), axis=1)


def agreement(close: np.ndarray, unseen: np.ndarray) -> Rows:
    """Rows of the item `nearest`; even styles are upright and odd ones slanted."""
    right = {
        "letter": close[:, 1] == unseen[:, 1],
        "style": close[:, 0] == unseen[:, 0],
        "slant": close[:, 0] % 2 == unseen[:, 0] % 2,
    }
    return [row("nearest", name, hits.mean()) for name, hits in right.items()]


def hardness(actual: np.ndarray, generated: np.ndarray, unseen: np.ndarray, names: list[str]) -> Rows:
    """The rows error and variance of the letters, and their quartiles."""
    errors = np.square(generated - actual).mean(-1)
    measures = {
        "error": {
            int(letter): float(errors[unseen[unseen[:, 1] == letter][:, 0], letter].mean())
            for letter in np.unique(unseen[:, 1])
        },
        "variance": dict(enumerate(actual.var(0).mean(-1).tolist())),
    }
    rows = []
    for name, values in measures.items():
        rows += [row(names[letter], name, value) for letter, value in values.items()]
        rows.append(row("quartile", name, np.quantile(list(values.values()), 0.75)))
    return rows


def examples(unseen: np.ndarray) -> np.ndarray:
    """Places of the pairs to show: of the styles with the most unseen pairs, evenly spaced letters."""
    counts = np.bincount(unseen[:, 0])
    styles = sorted(np.argsort(-counts, kind="stable")[:STYLES])
    chosen = []
    for style in styles:
        places = np.flatnonzero(unseen[:, 0] == style)
        spaced = np.linspace(0, len(places) - 1, PER_STYLE).round().astype(int)
        chosen += places[np.unique(spaced)].tolist()
    return np.array(chosen)
