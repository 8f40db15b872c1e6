"""Names that parts of an experiment file use, held against what the file, its paper and the tables define."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import reduce
from operator import getitem
from typing import Any

from tensor_rnns import datasets
from tensor_rnns.analysis import claims
from tensor_rnns.analysis.measures import EXACT, Measured, is_exact
from tensor_rnns.checking import form
from tensor_rnns.declared import Location, Problem, Reading, suggestion, unknown
from tensor_rnns.drawing.spec import Spec, listed
from tensor_rnns.experiments import guests
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import SEARCH_SEED
from tensor_rnns.experiments.resolve import EVERYWHERE, curves, layers, left_out
from tensor_rnns.experiments.selector import ALL, CURVE, MAIN, Curve, Selector

LEVELS = (*CURVE, "dataset")
"""Keys of a selector whose values are names of the file or of data sets."""
NAMING = {
    "probe": "probe", "artefact": "artefact", "claim": "claim", "claims": "claim",
    "conditions": "condition", "variants": "variant", "options": "option",
}  # fmt: skip
"""Keys of records that give one name or a list of them, and of what they are."""


@dataclass(frozen=True)
class Known:
    """What is held against: an experiment, all names of each kind, the curves of each scale and EVERYWHERE,
    and what the claims of the paper refer to."""

    experiment: Experiment
    computed: bool
    names: Mapping[str, Collection[str]]
    curves: Mapping[str, Collection[Curve]]
    referred: Mapping[str, Collection[str]]


def of_selector(location: Location, where: Selector, known: Known) -> Iterator[Problem]:
    """What the file does not define, an `all` that is a name there, a search that a probe would look at, and
    names of which no curve has all."""
    if location[0] == "probes" and where.stage != "final":
        yield (*location, "stage"), f"stage is {where.stage!r}; allowed is final"
    block = reduce(getitem, location, known.experiment.content)
    found: list[Problem] = []
    for key in vars(where).keys() - {"stage"}:
        for name in where.names(key) or ():
            found += unknown((*location, key), key, name, known.names[key])
        if block.get(key) == ALL and ALL in known.names[key]:
            told = f"{ALL!r} means each {key} and is the name of one; allowed is a list of names"
            found.append(((*location, key), told))
    main = known.experiment.main_option
    if not found and not any(where.curves(run, main(scale)) for scale, run in known.curves.items()):
        found = [(location, f"no curve is of {where}; allowed are those that some scale runs")]
    yield from found


def of_measure(location: Location, measure: Measured, known: Known) -> Iterator[Problem]:
    """A measure that a search, or this kind of experiment, does not have."""
    if location[0] == "search" and measure.measure in ("probe", "computed"):
        yield location, f"a search has no {measure.measure}; allowed are the measures of a run's own curves"
    if location[0] in ("artefacts", "claims") and known.computed != (measure.measure == "computed"):
        computed = f"a computed experiment has no measure {measure.measure!r}; allowed is computed"
        trained = "a trained experiment has no computed table; use it in one of kind compute"
        yield location, computed if known.computed else trained


def of_claim(location: Location, claim: claims.ClaimForm, known: Known) -> Iterator[Problem]:
    """Tests of another kind of experiment, claims that refer to themselves, keys that each lists alike."""
    if isinstance(claim, claims.IdentityForm) and claim.probe is None and not known.computed:
        yield location, "an identity of a trained experiment needs 'probe'; it has no computed table"
    if isinstance(claim, claims.CountForm) and claim.of is not None and not known.computed:
        yield (*location, "of"), "a trained experiment has no computed table; allowed is a measure"
    measure = getattr(claim, "measure", None)
    certain = known.computed or (measure is not None and is_exact(measure))
    if claim.erratum and not (certain and isinstance(claim, claims.MISPRINTED)):
        message = "an erratum is of a computed number or identity and no trained outcome"
        exact = f"of the measures {', '.join(sorted(EXACT))}"
        yield (*location, "erratum"), f"{message}; allowed in tests value, count, identity {exact}"
    if isinstance(claim, claims.TrendForm) and not known.computed:
        for name in claim.values:
            yield from unknown((*location, "values", name), claim.over, name, known.names[claim.over])
    if isinstance(claim, claims.Measuring):
        yield from of_each(location, claim, known)
    if isinstance(claim, claims.RefersForm) and location[1] in reached(str(location[1]), known.referred):
        yield (*location, "claims"), f"the claim {location[1]!r} refers to itself, directly or through others"


def of_each(location: Location, claim: claims.Measuring, known: Known) -> Iterator[Problem]:
    """Keys of `each` that selectors list differently, and a `where` that an order would not read."""
    if known.computed and claim.each:
        yield (*location, "each"), f"each is {list(claim.each)!r}; allowed are keys of a trained experiment"
        return
    raw = known.experiment.block("claims")[location[-1]]
    than = raw.get("than", [])
    blocks = [raw.get("where"), raw.get("less"), *(than if isinstance(than, list) else [than])]
    for key in claim.each:
        given = [block[key] for block in blocks if block and key in block]
        if any(levels != given[0] for levels in given):
            reason = f"each names {key!r}, which the selectors list differently: {', '.join(map(str, given))}"
            yield (*location, "each"), f"{reason}; allowed is one list for all"
    if isinstance(claim, claims.OrderForm):
        if claim.than_measure in (None, claim.measure) and claim.less in claims.several(claim.than):
            yield (*location, "than"), f"than is {claim.less}, and so is less; allowed are other runs"
        for key in (raw.get("where") or {}).keys() - set(claim.each):
            reason = f"a claim of test order reads {key!r} from less and than"
            yield (*location, "where", key), f"{reason}; where lists values of the keys of each alone"


def of_drawing(location: Location, spec: Spec, known: Known) -> Iterator[Problem]:
    """What an artefact names, and the kind of experiment that it draws."""
    experiment = known.experiment
    if spec.kind not in (None, experiment.kind):
        draw = experiment.block("artefacts")[location[-1]]["draw"]
        message = f"{draw} draws an experiment of kind {spec.kind}; this one is of kind {experiment.kind}"
        yield (*location, "draw"), message
        return
    if getattr(spec, "probe", "") is None and not known.computed:
        yield location, f"this drawing needs a probe; allowed are {', '.join(experiment.probes) or 'none'}"
    if spec.printed is not None:
        beside = (*location, "printed")
        yield from unknown((*beside, "of"), "artefact", spec.printed.of, known.names["artefact"])
        if (option := spec.printed.option) is not None:
            yield from unknown((*beside, "option"), "option", option, known.names["option"])
    for name in getattr(spec, "values", None) or ():
        if spec.over in known.names:
            yield from unknown((*location, "values", name), spec.over, name, known.names[spec.over])
    cut = {*getattr(spec, "keys", ()), *listed(getattr(spec, "groups", None))}
    if not known.computed and cut <= {*LEVELS}:
        levels = [name for key in LEVELS for name in known.names[key]]
        for label in spec.labels or ():
            yield from unknown((*location, "labels", label), "name", label, levels)
    if location[0] == "artefacts" and type(spec).__module__.endswith(".table"):
        yield from of_table(location, spec, known)
    if type(spec).__module__.endswith(".diagram"):
        drawn = (experiment.compute.get("arguments") or {}).get("diagrams") or {}
        for at, panel in enumerate(spec.panels):
            yield from unknown((*location, "panels", at), "diagram", panel.diagram, drawn)


def of_table(location: Location, spec: Any, known: Known) -> Iterator[Problem]:
    """Rows and columns that this kind of experiment has, and a measure where one is needed."""
    allowed = ("item", "name", "index") if known.computed else LEVELS
    rows = listed(spec.rows)
    columns = (spec.columns,) if isinstance(spec.columns, str) else ()
    for key, names in (("rows", rows), ("columns", columns)):
        for name in names:
            yield from unknown((*location, key), f"name in {key}", name, allowed)
    if known.computed and not {"item", "name"} & set(rows):
        yield (*location, "rows"), f"rows is {list(rows)!r}; a computed table needs item or name"
    if spec.measure is None and not isinstance(spec.columns, tuple) and not (known.computed and spec.columns):
        yield location, "a table without a measure needs one in each of its columns"
    if not known.computed:
        yield from pooled(location, spec, {*(listed(spec.rows) or ["variant"]), *columns}, known.experiment)


def pooled(location: Location, table: Any, cut: set[str], experiment: Experiment) -> Iterator[Problem]:
    """Columns where curves of a row differ in what neither it nor a `where` names: a mean of no curve."""
    columns = table.block.get("columns")
    for at, column in enumerate(columns if isinstance(columns, list) else [{}]):
        where = dict(table.block.get("where") or {}) | dict(column.get("where") or {})
        home = (*location, "columns", at) if column else location
        # A row of one data set has the conditions on it.
        named = cut | where.keys() | ({"condition"} if "dataset" in cut else set())
        for scale, key in itertools.product(experiment.scales, [key for key in CURVE if key not in named]):
            rows: dict[tuple, set[str]] = {}
            for curve in Selector.of(where).curves(curves(experiment, scale), experiment.main_option(scale)):
                own = dict(zip(CURVE, curve, strict=True))
                rows.setdefault(tuple(own.get(name) for name in sorted(cut)), set()).add(own[key])
            if (most := max(rows.values(), key=len, default=set())) and len(most) > 1:
                names, asked = ", ".join(sorted(most)), f"where: {{{key}: all}} asks for their mean"
                yield home, f"a row averages each {key} of {names}; name {key} in rows or columns; {asked}"
                break


def of_data(location: Location, pair: form.Data, known: Known) -> Iterator[Problem]:
    """Unknown data sets, and one that stands in for one of another kind or for itself."""
    for key in ("real", "stand_in"):
        yield from unknown((*location, key), "data set", getattr(pair, key), datasets.names())
    kinds = {datasets.entry(name).kind for name in (pair.real, pair.stand_in) if name in datasets.names()}
    if len(kinds) > 1:
        yield location, f"data of the kinds {' and '.join(sorted(kinds))} given; allowed is one kind"
    if pair.real == pair.stand_in and pair.real not in datasets.packaged():
        yield location, f"the stand-in {pair.stand_in!r} is the real data set itself"


def of_runs(location: Location, block: form.Option | form.Scale, known: Known) -> Iterator[Problem]:
    """Patterns that match nothing which an option or a scale runs, and seeds that are those of the search."""
    if isinstance(block, form.Scale) and known.experiment.search and block.seeds > SEARCH_SEED:
        told = f"seeds is {block.seeds}; allowed beside a search are at most {SEARCH_SEED}"
        yield (*location, "seeds"), f"{told}, from which on its own are numbered"
    if not known.computed:
        run = known.curves[str(location[1]) if location[0] == "scales" else EVERYWHERE]
        own = {"/".join(curve[:2]) for curve in run if location[0] == "scales" or curve[2] == location[1]}
        yield from unmatched(location, block.per, "condition/variant", own)


def of_search(location: Location, block: form.ScaleSearch, known: Known) -> Iterator[Problem]:
    """Patterns that match nothing, splits that differ, and a scale that changes what is not there."""
    search = known.experiment.search
    if not search:
        yield location, "the file has no block 'search' that this could change"
    elif isinstance(block, form.Search):
        split = block.select.split
        for name in ("measure", "ties"):
            measure = search["select"].get(name) or {}
            if measure.get("split", split) != split:
                message = f"the measure reads the split {measure['split']!r}, select.split is {split!r}"
                yield (*location, "select", name, "split"), f"{message}; give one of them"
    yield from unmatched(location, block.per, "variant", known.names["variant"])


def of_conditions(location: Location, file: form.ExperimentForm, known: Known) -> Iterator[Problem]:
    """The data set of each condition, patterns that match nothing, variants that a condition leaves out,
    those that others are to equal in parameters and those that are called like guests."""
    for name in filter(guests.is_guest, file.variants):
        yield ("variants", name), f"{name!r} given; allowed are names that do not begin with {guests.PREFIX}"
    budgets = {name: block["budget"] for name, block in file.variants.items() if "budget" in block}
    equal = [name for name, block in file.variants.items() if "cell" in block and name not in budgets]
    for name, budget in budgets.items():
        yield from unknown(("variants", name, "budget"), "variant with a width", budget, equal)
    for name, block in file.conditions.items():
        pair, home = (block or {}).get("dataset"), ("conditions", name, "dataset")
        if pair is not None:
            reading = Reading()
            made = reading.value(form.Data, pair, home)
            yield from reading.problems or of_data(home, made, known)
        for variant, why in ((block or {}).get("without") or {}).items():
            location = (*home[:2], "without", variant)
            yield from unknown(location, "variant", variant, known.names["variant"])
            if not isinstance(why, str) or not why:
                yield location, f"{why!r} given; allowed is the reason, a text"
        yield from unmatched(home[:2], (block or {}).get("per") or {}, "variant", known.names["variant"])
    yield from replaced(known.experiment) if {*budgets.values()} <= {*equal} else ()


def replaced(experiment: Experiment) -> Iterator[Problem]:
    """Keys of a condition in whose place every variant that it runs sets its own."""
    for condition in experiment.conditions if experiment.kind == "train" else ():
        run = [name for name in experiment.variants if name not in left_out(experiment, condition)]
        unused: list[set[tuple[Location, str]]] = []
        for variant in run:
            set_where = [*layers(experiment, "", condition, variant, MAIN)]
            own = {key for location, key, _ in set_where if location[0] == "variants"}
            unused.append({(at, key) for at, key, _ in set_where if at[0] == "conditions" and key in own})
        for location, key in set.intersection(*unused) if unused else ():
            message = f"{key!r} is never used: each variant that runs there sets its own"
            yield location, f"{message}, {', '.join(run)}; allowed are keys that one of them leaves open"


def unmatched(location: Location, per: Iterable[str], what: str, names: Collection[str]) -> Iterator[Problem]:
    """A problem for each pattern of a block `per` that matches none of the names."""
    for pattern in per:
        if not any(fnmatchcase(name, str(pattern)) for name in names):
            yield (*location, "per", pattern), f"{pattern!r} matches no {what}; {suggestion(pattern, names)}"


def reached(name: str, referred: Mapping[str, Collection[str]]) -> set[str]:
    """Every claim that `name` refers to, through others too."""
    seen = {*referred.get(name, ())}
    while more := {other for one in seen for other in referred.get(one, ())} - seen:
        seen |= more
    return seen


OF: dict[type, Callable[[Location, Any, Known], Iterator[Problem]]] = {
    Selector: of_selector, Measured: of_measure, claims.ClaimForm: of_claim, Spec: of_drawing,
    form.Data: of_data, form.Option: of_runs, form.Scale: of_runs, form.ScaleSearch: of_search,
    form.ExperimentForm: of_conditions,
}  # fmt: skip
"""What is held against the names, by the type of a record."""


def name_problems(
    records: list[tuple[Location, Any]], experiment: Experiment, artefacts: Collection[str],
    claim_ids: Collection[str], referred: Mapping[str, Collection[str]],
) -> Iterator[Problem]:  # fmt: skip
    """What is wrong with the names in the records of an experiment, given the ids of all artefacts and claims
    of its paper, and what the claims refer to."""
    names = {
        "condition": list(experiment.conditions) or ["only"], "variant": list(experiment.variants),
        "option": [MAIN, *experiment.options], "dataset": datasets.names(),
        "probe": experiment.probes, "artefact": artefacts, "claim": claim_ids,
    }  # fmt: skip
    run = {scale: [*curves(experiment, scale)] for scale in (*experiment.scales, EVERYWHERE)}
    known = Known(experiment, experiment.kind == "compute", names, run, referred)
    for location, record in records:
        for key, kind in NAMING.items():
            given = getattr(record, key, None)
            given = [given] if isinstance(given, str) else given
            for name in given if isinstance(given, list | tuple) else ():
                yield from unknown((*location, key), kind, name, names[kind])
        for kind, check in OF.items():
            if isinstance(record, kind):
                yield from check(location, record, known)
