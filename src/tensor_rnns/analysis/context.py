"""What a claim is judged on: its experiment, the runs that count, and the outcome with those behind it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tensor_rnns.analysis import claims, intervals
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import Run
from tensor_rnns.analysis.samples import Sample, sample
from tensor_rnns.analysis.selection import searches, selected
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.guests import is_guest
from tensor_rnns.experiments.selector import Selector


@dataclass
class Evidence:
    """An outcome with the runs behind it and the selectors that it needed."""

    outcome: Outcome
    samples: list[Sample]
    wheres: list[Selector] = field(default_factory=list)

    @property
    def runs(self) -> list[Run]:
        """Every run that counted."""
        return [run for sample in self.samples for run in sample.runs]

    @property
    def failed(self) -> int:
        """Failed seeds in the worst of the samples."""
        return max(len(sample.failed) for sample in self.samples)

    @property
    def missing(self) -> list[str]:
        """Which finished seeds have no number, and why, sample by sample."""
        reasons = set()
        for each in self.samples:
            seeds = ", ".join(map(str, sorted(each.missing)))
            reasons |= {f"no number of seed {seeds}: {why}" for why in each.missing.values()}
        return sorted(reasons)


@dataclass
class ClaimContext:
    """What a claim is judged against: its experiment and what that left at one scale, of at most `seeds`."""

    experiment: Experiment
    tables: Tables
    scale: str
    seeds: float = math.inf

    @property
    def runs(self) -> list[Run]:
        """Those that claims are judged on, whole searches among them: guest cells are in none."""
        if self.seeds not in self.tables.counted:
            runs = [run for run in self.tables.runs if not is_guest(run.key["variant"])]
            if self.seeds < math.inf:
                runs = [
                    replace(run, load_peers=partial(self.peers, run.load_peers))
                    for run in runs
                    if run.key["stage"] == "search" or run.key["seed"] < self.seeds
                ]
            self.tables.counted[self.seeds] = runs
        return self.tables.counted[self.seeds]

    def peers(self, every: Callable[[], Sequence[Run]]) -> list[Run]:
        """Those of the final replicas of a curve that count."""
        return [run for run in every() if run.key["seed"] < self.seeds]

    def selection(self, claim: claims.Measuring, sample: Sample) -> list[float] | None:
        """What each seed of the search would have chosen; None where nothing was searched."""
        final = [run for run in sample.runs if run.searched]
        if not final:
            return None
        return selected(self.runs, final, claim.measure, self.experiment.search["select"])

    def chosen_by_few(self, outcome: Outcome, samples: Sequence[Sample]) -> Outcome:
        """The outcome of a comparison, unclear where a search with too few runs a point chose what it
        compares: how far that choice scatters is not known."""
        final = [run for sample in samples if not sample.exact for run in sample.runs if run.searched]
        few = intervals.few_searches(min(map(len, searches(self.runs, final)), default=intervals.SEARCHES))
        unclear = not few or outcome.holds == "unclear"
        return outcome if unclear else replace(outcome, holds="unclear").because(few)

    def sample(self, claim: claims.Measuring, where: Selector | None) -> Sample:
        """The sample of the claim's measure under one selector."""
        selector = (where or Selector()).at(self.experiment.main_option(self.scale))
        return sample(self.runs, claim.measure, selector, getattr(claim, "selected_from", None))
