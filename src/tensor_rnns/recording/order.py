"""Which curves come next: those that bring the most judged statements for a core-hour."""

from collections.abc import Collection, Mapping, Sequence, Set

from tensor_rnns.analysis.claims import form_of, selectors_of
from tensor_rnns.analysis.comparable import needed
from tensor_rnns.analysis.verdicts import split_by_each
from tensor_rnns.experiments import Catalogue, ledger
from tensor_rnns.recording import store
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.record import Settings
from tensor_rnns.recording.units import Unit, chosen, estimate, units
from tensor_rnns.training import record as environment

Need = tuple[frozenset[str], float]
"""The curves that a claim needs, and the part of a statement that it is."""
LEAST_HOURS = 1e-4


def needs(catalogue: Catalogue) -> dict[str, Need]:
    """{claim: what it needs} of all claims that are judged on trained runs; a statement of several claims is
    shared among them, and claims on other claims are none."""
    weights: dict[str, float] = {}
    for paper, home in catalogue.folders.items():
        own = [claim.id for claim in catalogue.claims if claim.paper == paper]
        for statement in ledger.read(home):
            judged_by = statement.judged_by(own)
            weights |= dict.fromkeys(judged_by, 1 / max(len(judged_by), 1))
    result = {}
    for claim in catalogue.claims:
        experiment = catalogue.experiment_of(claim)
        if experiment.kind == "train" and claim.test != "refers":
            parts = split_by_each(form_of(claim), experiment)
            curves = [curve for part in parts for curve in needed(selectors_of(part), experiment)]
            names = frozenset("/".join((experiment.paper, experiment.name, *curve)) for curve in curves)
            result[claim.id] = names, weights.get(claim.id, 1.0)
    return result


def ordered(claim_needs: Collection[Need], hours: Mapping[str, float], done: Collection[str]) -> list[str]:
    """The curves of `hours` that are not done: again and again those that some claim lacks, where they give
    the most statements per hour; at the end those that no claim needs, the cheap ones first."""
    cut: dict[str, dict[str, float]] = {}
    for name, cost in hours.items():
        cut.setdefault("/".join(name.split("/")[:2]), {})[name] = cost
    queues = [steps(claim_needs, own, set(done)) for own in cut.values()]
    result: list[str] = []
    while queues := [queue for queue in queues if queue]:
        result += max(queues, key=lambda queue: queue[0][0]).pop(0)[1]
    rest = hours.keys() - set(result) - set(done)
    return result + sorted(rest, key=lambda name: (hours[name], name))


def steps(
    claim_needs: Collection[Need], hours: Mapping[str, float], done: Set[str]
) -> list[tuple[float, Sequence[str]]]:
    """(statements per hour, curves) of one experiment, each the best after those before it."""
    lacking = [(need - done, weight) for need, weight in claim_needs]
    lacking = [(need, weight) for need, weight in lacking if need and need <= hours.keys()]
    result = []
    while lacking:
        # In the order of names, so that equals do not change order from run to run.
        candidates = sorted({need for need, _ in lacking}, key=sorted)
        rates = [
            sum(weight for need, weight in lacking if need <= chosen)
            / max(sum(hours[name] for name in chosen), LEAST_HOURS)
            for chosen in candidates
        ]
        best = candidates[rates.index(max(rates))]
        result.append((max(rates), sorted(best, key=lambda name: (hours[name], name))))
        lacking = [(need - best, weight) for need, weight in lacking if not need <= best]
    return result


def next_units(
    catalogue: Catalogue, settings: Settings, costs: Costs, dearest: bool, protocol: Sequence[str],
    curves: Sequence[str],
) -> list[Unit]:  # fmt: skip
    """What is not recorded as it is set today, in the order of `ordered`, or with `dearest` those first that
    cost most; with `curves`, of those alone. `protocol`: another scale and data. Costs: a core's."""
    known = list(units(catalogue.experiments.values(), settings.cohort_size, *protocol))
    asked = {unit.name for unit in chosen(known, curves)}
    by_name = {unit.name: unit for unit in known}
    done = {name for name, unit in by_name.items() if store.is_recorded(unit, settings.results)}
    hours = {name: estimate(unit, costs).hours for name, unit in by_name.items()}
    if dearest:
        names = sorted(hours.keys() - done, key=lambda name: (-hours[name], name))
    else:
        names = ordered(needs(catalogue).values(), hours, done)
    return [by_name[name] for name in names if name in asked]


def check_checkout() -> None:
    """ValueError where the code that would train differs from its commit."""
    changes = environment.git(*environment.CHANGES)
    if changes is None or changes:
        what = f"with changes ({changes.split()[1]})" if changes else "outside a git checkout"
        allowed = "allowed are clean checkouts, as of `git worktree add ../record`, or --dirty"
        raise ValueError(f"recording asked for {what}; {allowed}")
