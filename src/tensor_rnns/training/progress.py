"""Live progress with the time left: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from typing import TextIO

from torch import Tensor
from tqdm import tqdm

LINE_SECONDS = 10.0
Reads = tuple[int, str]
"""What a replica reads at an update: how many of what."""


def duration(seconds: float) -> str:
    """`seconds` as a person says it: 42 s, 3 min 20 s, 5 h 10 min."""
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"


class Progress:
    """Progress of one cohort, from update `start` to `total`; what each replica `reads` at an update, such as
    (100, "bytes"), is counted per second."""

    def __init__(
        self, title: str, total: int, start: int = 0, stream: TextIO | None = None, reads: Reads | None = None
    ) -> None:
        self.stream, self.reads = stream or sys.stderr, reads
        self.title, self.total, self.start, self.update = title, total, start, start
        self.began = self.last = time.monotonic()
        self.bar = None
        if self.stream.isatty():
            self.bar = tqdm(total=total, initial=start, desc=title, file=self.stream, unit="update")
        elif start:
            self.line(f"resumed at update {start} of {total}")

    def line(self, text: str) -> None:
        """One plain line under the title of the cohort."""
        print(f"{self.title}: {text}", file=self.stream, flush=True)

    def advance(self, update: int, losses: Tensor, running: Tensor) -> None:
        """Say that `update` updates are done, with the mean of the `losses` [S] of the replicas that are
        `running` [S]; words are made only where they are shown."""
        now = time.monotonic()
        self.update = update
        if self.bar is None and now - self.last < LINE_SECONDS:
            return
        count, loss = int(running.sum()), float(losses[running].mean())
        taken = (now - self.began) / max(update - self.start, 1)
        said = ", ".join([*self.pace(taken), f"loss {loss:.4g}", f"{count} of {len(running)}"])
        if self.bar is not None:
            self.bar.set_postfix_str(f"{said} running", refresh=False)
            self.bar.update(update - self.bar.n)
            return
        self.last = now
        left = taken * (self.total - update)
        share = 100 * update // self.total
        self.line(
            f"update {update} of {self.total} ({share} %), {duration(left)} left, {said} replicas running"
        )

    def pace(self, seconds: float) -> list[str]:
        """What a replica reads by the second where an update takes `seconds`; [] if unknown."""
        return [f"{self.reads[0] / seconds:,.0f} {self.reads[1]}/s"] if self.reads and seconds else []

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self.bar is not None:
            self.bar.close()
        else:
            taken, done = time.monotonic() - self.began, self.update - self.start
            pace = self.pace(taken / done) if done else []
            self.line(", ".join([f"{self.update} updates in {duration(taken)}", *pace]))
