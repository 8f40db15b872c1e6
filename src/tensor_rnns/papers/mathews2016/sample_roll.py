"""Music drawn from a trained net, frame by frame, as a piano roll (mathews2016, section 5.2)."""

import numpy as np
import torch

from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.tasks.polyphony import HIGHEST_MIDI, LOWEST_MIDI, Polyphony, units

NOTES = HIGHEST_MIDI - LOWEST_MIDI + 1


def probe(trained: Trained, *, steps: int, seed: Natural) -> Findings:
    """Arrays of one replica trained on the task polyphony; no table rows.

    From a zero state and the frame that ends a piece, each unit of the next frame is drawn to be on with the
    probability that the net gives it, and the frame is fed back, `steps` times. The draws depend on `seed`
    and the seed of the replica. Arrays: `sample` uint8 [steps, 88], column 0 being MIDI 21, `probability`
    [steps, 88], and `training`, the first training piece up to `steps`. Nothing sounds where the piece ended;
    where the lowest note shares the unit of the end, a frame with that unit alone is an end.
    ValueError for another task.
    """
    task = trained.task
    trained.require("sample_roll", task=Polyphony)
    frames, chances = drawn(trained, steps, rng(seed, trained.key["seed"]))
    low, high = task.limits
    unit = units(low, high, task.end)[0]
    over = frames[:, -1] == 1
    if task.end == "overlap":
        over &= frames.sum(1) == 1
    columns = np.arange(low, high + 1) - LOWEST_MIDI
    sample = np.zeros((len(frames), NOTES), dtype=np.uint8)
    sample[:, columns] = frames[:, unit] & ~over[:, None]
    probability = np.zeros((len(frames), NOTES))
    probability[:, columns] = chances[:, unit]
    pieces = task.dataset.arrays
    training = pieces["train_roll"][: min(len(frames), pieces["train_lengths"][0])]
    return {"sample": sample, "probability": probability, "training": np.array(training)}, []


def drawn(trained: Trained, steps: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(frames uint8, their probabilities), both [steps, units], drawn after the frame that ends a piece."""
    frames = np.zeros((steps, trained.task.inputs), dtype=np.uint8)
    chances = np.zeros(frames.shape)
    frame, state = np.eye(1, trained.task.inputs, trained.task.inputs - 1), None
    with torch.no_grad():
        for step in range(steps):
            outputs, state = trained.model.forward(trained.cohort, trained.tensor(frame)[None, None], state)
            chances[step] = torch.sigmoid(outputs).numpy().reshape(-1)
            frames[step] = generator.random(len(chances[step])) < chances[step]
            frame = frames[step : step + 1].astype(np.float64)
    return frames, chances
