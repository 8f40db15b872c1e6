"""Updates of an epoch, or of a second, of each replica: what other axes of time divide by."""

import pandas as pd

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.experiments.records import KEY


def epoch_lengths(data: ArtefactData, rows: pd.DataFrame) -> dict[tuple, float] | None:
    """Updates of an epoch of each replica of `rows`; None where one ran less than an epoch.

    With `evaluate.every: epoch` the first validation ends the first epoch; else the updates done are divided
    by the epochs granted, which a failed run has not had.
    """
    valid = data.curves[data.curves["split"] == "valid"]
    first = {tuple(key): updates[0] for *key, updates in valid[[*KEY, "update"]].itertuples(False, None)}
    lengths = {}
    for key in rows[list(KEY)].drop_duplicates().itertuples(index=False, name=None):
        run = data.runs[key]
        training = run.settings.get("training") or {}
        if (training.get("evaluate") or {}).get("every") == "epoch" and key in first:
            lengths[key] = float(first[key])
        elif training.get("epochs") and run.status == "done":
            lengths[key] = run.updates / training["epochs"]
        else:
            return None
    return lengths


def second_lengths(data: ArtefactData, rows: pd.DataFrame) -> dict[tuple, float] | None:
    """Updates of a second of each replica, the median of its line; None where one was not timed."""
    replicas = rows[list(KEY)].drop_duplicates()
    keys = list(replicas.itertuples(index=False, name=None))
    seconds = [data.runs[key].seconds_per_update for key in keys]
    if not all(seconds):
        return None
    lines_of = replicas.assign(seconds=seconds).groupby([name for name in KEY if name != "seed"])
    return dict(zip(keys, 1 / lines_of["seconds"].transform("median"), strict=True))


UNITS = {"epoch": epoch_lengths, "second": second_lengths}
