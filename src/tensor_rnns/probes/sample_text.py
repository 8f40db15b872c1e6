"""Text drawn from a trained net, symbol by symbol (mathews2016, section 5.2)."""

import numpy as np
import torch

from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.tasks.language import NextSymbol


def probe(
    trained: Trained, *, seed: Natural, samples: int, prompt: int, length: int, temperature: Positive
) -> Findings:
    """The array `text` [samples] of one replica trained to predict the next symbol; no table rows.

    Each of `samples` texts begins with the first `prompt` symbols of a row of the test split, read from a
    zero state; then `length` symbols are drawn one after another from the net's probabilities, the logits
    divided by `temperature`, and fed back. The draws depend on `seed`, the seed of the replica and the
    sample. ValueError for another task.
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
    symbols = np.vstack([prompts, drawn(trained, prompts, draws, float(temperature))])
    vocabulary, between = np.asarray(task.dataset.arrays["vocabulary"]), " " if task.name == "words" else ""
    return {"text": np.array([between.join(map(str, vocabulary[column])) for column in symbols.T])}, []


def drawn(trained: Trained, prompts: np.ndarray, draws: np.ndarray, temperature: float) -> np.ndarray:
    """The symbols [length, samples] after `prompts` [.., samples].

    A symbol is the first whose cumulated probability exceeds its entry of `draws`.
    """
    symbols = np.zeros(draws.shape, dtype=np.int64)
    read, state = torch.from_numpy(prompts.astype(np.int64)), None
    with torch.no_grad():
        for step in range(len(draws)):
            outputs, state = trained.model.forward(trained.cohort, read[:, None], state)
            chances = torch.softmax(outputs[-1, 0] / temperature, dim=-1).cumsum(-1).numpy()
            picked = (chances > draws[step][:, None] * chances[:, -1:]).argmax(1)
            symbols[step], read = picked, torch.from_numpy(picked)[None]
    return symbols
