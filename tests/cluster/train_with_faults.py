"""`tensor-rnns` as the jobs of the fault scenarios run it, with the faults that come from inside a job.

FAULTS names a folder. A training whose condition has a file in FAULTS/hold is slowed, so that a fault meets
it half-way; each of its updates is noted in FAULTS/updates/CONDITION as Slurm job, process, update and
monotonic seconds. The condition says what else happens while it is held: `memory` takes MEMORY bytes at
update 30, `clock` sees the wall clock jump to and fro by a year; `disk` keeps its state in FAULTS/disk.
"""

import os
import sys
import time
from pathlib import Path

from tensor_rnns.cli import commands

MEMORY = 2_000_000_000
YEAR = 365 * 86400.0


def condition_of(argv: list[str]) -> str:
    """The condition that a train command is about, or ""."""
    return argv[argv.index("--condition") + 1] if "train" in argv else ""


def pause(update: int) -> float:
    """Seconds after an update of a held training: soon half-way, and then slowly on."""
    return 0.1 if update <= 30 else 0.4 if update <= 90 else 3.0


def disturb(condition: str, folder: Path) -> None:
    """Replace the trainer's step by one that notes updates and is slow while the condition is held."""
    from tensor_rnns.training import loop

    step, now, taken = loop.step, time.time, []
    job = os.environ["SLURM_JOB_ID"]
    held = folder / "hold" / condition
    notes = folder / "updates" / condition

    def noted(learner, optimiser, limits, state):
        loss = step(learner, optimiser, limits, state)
        with open(notes, "a", encoding="utf-8") as stream:
            stream.write(f"{job} {os.getpid()} {state.update} {time.monotonic()}\n")
        if held.exists():
            time.sleep(pause(state.update))
            if condition == "memory" and state.update == 30:
                taken.append(b"x" * MEMORY)
            if condition == "clock":
                offset = YEAR * (-1) ** (state.update // 10)
                time.time = lambda: now() + offset
        return loss

    loop.step = noted


if __name__ == "__main__":
    home = Path(os.environ["FAULTS"])
    condition = condition_of(sys.argv)
    if condition:
        disturb(condition, home)
    if condition == "disk":
        sys.argv[sys.argv.index("--state") + 1] = str(home / "disk" / "state")
    commands.main(prog_name="tensor-rnns")
