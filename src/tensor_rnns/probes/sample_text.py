"""Text drawn from a trained net, symbol by symbol (mathews2016, section 5.2)."""

from collections.abc import Sequence

import numpy as np
import torch

from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of
from tensor_rnns.tasks.language import NextSymbol


def probe(
    trained: Trained, *, seed: Natural, samples: int, prompt: int, length: int, temperature: Positive
) -> Findings:
    """Arrays and table rows of one replica trained to predict the next symbol.

    Each of `samples` texts begins with the first `prompt` symbols of a row of the test split, read from a
    zero state; then `length` symbols are drawn one after another from the net's probabilities, the logits
    divided by `temperature`, and fed back. The draws depend on `seed`, the seed of the replica and the
    sample. Arrays of texts [samples]: `prompt`, what was read, `sample`, what was drawn, and `text`, the one
    after the other. Rows of the item `sample`: nats, the mean of -log of the probability (at temperature 1)
    of what was drawn; repeated, the share of drawn symbols equal to the one before; known, the share of drawn
    words, split at white space, that the training split has; among characters the first and the last of a
    text are left out, which may be parts of words.
    ValueError for another task.
    """
    task = trained.task
    if not isinstance(task, NextSymbol):
        raise ValueError(f"the probe sample_text draws from tasks of text, not from {task.name}")
    first = next(iter(task.evaluation("test"))).inputs
    if not 1 <= prompt <= first.shape[0] or not 1 <= samples <= first.shape[1]:
        raise ValueError(
            f"sample_text was asked for {samples} samples after {prompt} symbols; allowed are 1 to "
            f"{first.shape[1]} after 1 to {first.shape[0]}"
        )
    prompts = first[:prompt, :samples]
    draws = np.stack([rng(seed, trained.key["seed"], k).random(length) for k in range(samples)], axis=1)
    symbols, nats = drawn(trained, prompts, draws, float(temperature))
    vocabulary, between = task.dataset.arrays["vocabulary"], " " if task.name == "words" else ""
    columns = {"prompt": prompts.T, "sample": symbols.T, "text": np.vstack([prompts, symbols]).T}
    arrays = {
        name: np.array([spelt(vocabulary, symbols, between) for symbols in parts])
        for name, parts in columns.items()
    }
    words = set(spelt(vocabulary, task.tokens("train"), between).split())
    cut = slice(None) if between else slice(1, -1)
    spoken = [word for text in arrays["sample"] for word in text.split()[cut]]
    numbers = {
        "nats": float(nats.mean()),
        "repeated": float((symbols[1:] == symbols[:-1]).mean()) if len(symbols) > 1 else 0.0,
        "known": float(np.mean([word in words for word in spoken])) if spoken else 0.0,
    }
    return arrays, rows_of({"sample": numbers})


def drawn(
    trained: Trained, prompts: np.ndarray, draws: np.ndarray, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """(symbols, -log of their probabilities), both [length, samples], after `prompts` [.., samples].

    A symbol is the first whose cumulated probability exceeds its entry of `draws`.
    """
    symbols, nats = np.zeros(draws.shape, dtype=np.int64), np.zeros(draws.shape)
    read, state = torch.from_numpy(prompts.astype(np.int64)), None
    with torch.no_grad():
        for step in range(len(draws)):
            outputs, state = trained.model.forward(trained.cohort, read[:, None], state)
            logits = outputs[-1, 0]
            chances = torch.softmax(logits / temperature, dim=-1).cumsum(-1).numpy()
            picked = (chances > draws[step][:, None] * chances[:, -1:]).argmax(1)
            nats[step] = -torch.log_softmax(logits, dim=-1).numpy()[np.arange(len(picked)), picked]
            symbols[step], read = picked, torch.from_numpy(picked)[None]
    return symbols, nats


def spelt(vocabulary: Sequence[str], symbols: np.ndarray, between: str) -> str:
    """The symbols as text."""
    return between.join(map(str, np.asarray(vocabulary)[symbols]))
