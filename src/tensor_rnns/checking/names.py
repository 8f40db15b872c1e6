"""Names that parts of an experiment file use, held against what the file, its paper and the tables define."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from tensor_rnns import datasets
from tensor_rnns.analysis import claims
from tensor_rnns.analysis.measures import Measured
from tensor_rnns.checking import form
from tensor_rnns.declared import Place, Problem, Reading, suggestion
from tensor_rnns.drawing.spec import Spec
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.selector import CURVE, MAIN, Selector


@dataclass(frozen=True)
class Known:
    """An experiment, and what all files of its paper hold: ids of artefacts and claims, and references."""

    experiment: Experiment
    artefacts: Collection[str]
    claims: Collection[str]
    referred: Mapping[str, Collection[str]]

    @property
    def computed(self) -> bool:
        """Whether the experiment is computed, not trained."""
        return self.experiment.kind == "compute"

    @cached_property
    def names(self) -> dict[str, Collection[str]]:
        """The values that each key of a selector may have."""
        return {
            "condition": list(self.experiment.conditions) or ["only"],
            "variant": list(self.experiment.variants),
            "option": [MAIN, *self.experiment.options],
            "stage": ("search", "final"),
            "dataset": datasets.names(),
        }


def unknown(place: Place, what: str, name: Any, allowed: Collection[Any]) -> Iterator[Problem]:
    """A problem where `name` is not among the allowed."""
    if name not in allowed:
        yield place, f"unknown {what} {name!r}; {suggestion(name, allowed)}"


def of_selector(place: Place, where: Selector, known: Known) -> Iterator[Problem]:
    """Keys that select nothing, or what the file does not define."""
    probed = place[0] == "probes"
    for key, value in vars(where).items():
        if key == "stage" and (isinstance(value, tuple) or (probed and value != "final")):
            yield (*place, key), f"stage is {value!r}; allowed is {'' if probed else 'one of search, '}final"
            continue
        if value == ():
            told = f"{key} is an empty list, which selects nothing"
            yield (*place, key), f"{told}; {suggestion('', known.names[key])}"
        for name in value if isinstance(value, tuple) else (value,):
            if name not in (None, "all"):
                yield from unknown((*place, key), key, name, known.names[key])


def of_measure(place: Place, measure: Measured, known: Known) -> Iterator[Problem]:
    """A probe that the file does not have, and a measure that its kind of experiment does not have."""
    if measure.measure == "probe":
        yield from unknown((*place, "probe"), "probe", measure.probe, known.experiment.probes)
    if place[0] != "claims" or known.computed == (measure.measure == "computed"):
        return
    if known.computed:
        yield place, f"a computed experiment has no measure {measure.measure!r}; allowed is computed"
    else:
        yield place, "a trained experiment has no computed table; use it in one of kind compute"


def of_claim(place: Place, claim: claims.ClaimForm, known: Known) -> Iterator[Problem]:
    """What every claim names: its artefact, other claims, and keys that each lists alike."""
    yield from unknown((*place, "artefact"), "artefact", claim.artefact, known.artefacts)
    probe = getattr(claim, "probe", None)
    if probe is not None:
        yield from unknown((*place, "probe"), "probe", probe, known.experiment.probes)
    elif isinstance(claim, claims.IdentityForm) and not known.computed:
        yield place, "an identity of a trained experiment needs 'probe'; it has no computed table"
    if isinstance(claim, claims.CountForm) and claim.of is not None and not known.computed:
        yield (*place, "of"), "a trained experiment has no computed table; allowed is a measure"
    if isinstance(claim, claims.TrendForm) and not known.computed:
        for name in claim.values:
            yield from unknown((*place, "values", name), claim.over, name, known.names[claim.over])
    if isinstance(claim, claims.Measuring):
        yield from of_each(place, claim, known)
    if isinstance(claim, claims.RefersForm):
        place = (*place, "claims")
        for other in claim.claims:
            yield from unknown(place, "claim", other, known.claims)
        if place[1] in reached(str(place[1]), known.referred):
            yield place, f"the claim {place[1]!r} refers to itself, directly or through others"


def of_each(place: Place, claim: claims.Measuring, known: Known) -> Iterator[Problem]:
    """Keys of `each` that selectors list differently, and a `where` that an order would not read."""
    if known.computed and claim.each:
        allowed = "allowed is a list of keys of a trained experiment"
        yield (*place, "each"), f"each is {list(claim.each)!r}; {allowed}"
        return
    raw = known.experiment.block("claims")[place[-1]]
    than = raw.get("than", [])
    blocks = [raw.get("where"), raw.get("less"), *(than if isinstance(than, list) else [than])]
    for key in claim.each:
        given = [block[key] for block in blocks if block and key in block]
        if any(one != given[0] for one in given):
            told = f"each names {key!r}, which the selectors list differently: {', '.join(map(str, given))}"
            yield (*place, "each"), f"{told}; allowed is one list for all"
    if isinstance(claim, claims.OrderForm):
        for key in (raw.get("where") or {}).keys() - set(claim.each):
            told = f"a claim of test order reads {key!r} from less and than"
            yield (*place, "where", key), f"{told}; where lists values of the keys of each alone"


def of_drawing(place: Place, spec: Spec, known: Known) -> Iterator[Problem]:
    """What an artefact names, and the kind of experiment that it draws."""
    experiment = known.experiment
    if spec.kind not in (None, experiment.kind):
        draw = experiment.block("artefacts")[place[-1]]["draw"]
        told = f"{draw} draws an experiment of kind {spec.kind}; this one is of kind {experiment.kind}"
        yield (*place, "draw"), told
        return
    probe = getattr(spec, "probe", None)
    if probe is not None:
        yield from unknown((*place, "probe"), "probe", probe, experiment.probes)
    elif hasattr(spec, "probe") and not known.computed:
        yield place, f"this drawing needs a probe; allowed are {', '.join(experiment.probes) or 'none'}"
    if spec.printed is not None:
        beside = (*place, "printed")
        yield from unknown((*beside, "of"), "artefact", spec.printed.of, known.artefacts)
        if (option := spec.printed.option) is not None:
            yield from unknown((*beside, "option"), "option", option, known.names["option"])
    for name in getattr(spec, "values", None) or ():
        if spec.over in known.names:
            yield from unknown((*place, "values", name), spec.over, name, known.names[spec.over])
    if place[0] == "artefacts" and type(spec).__module__.endswith(".table"):
        yield from of_table(place, spec, known)
    if type(spec).__module__.endswith(".diagram"):
        drawn = (experiment.compute.get("arguments") or {}).get("diagrams") or {}
        for at, panel in enumerate(spec.panels):
            yield from unknown((*place, "panels", at), "diagram", panel.diagram, drawn)


def of_table(place: Place, spec: Any, known: Known) -> Iterator[Problem]:
    """Rows and columns that this kind of experiment has, and a measure where one is needed."""
    allowed = ("item", "name", "index") if known.computed else (*CURVE, "dataset")
    rows = spec.rows if isinstance(spec.rows, tuple) else (spec.rows,)
    columns = (spec.columns,) if isinstance(spec.columns, str) else ()
    for key, names in (("rows", rows), ("columns", columns)):
        for name in names:
            if name not in allowed:
                yield (*place, key), f"{key} names {name!r}; {suggestion(name, allowed)}"
    if known.computed and not {"item", "name"} & set(rows):
        yield (*place, "rows"), f"rows is {list(rows)!r}; a computed table needs item or name"
    if spec.measure is None and not isinstance(spec.columns, tuple) and not (known.computed and spec.columns):
        yield place, "a table without a measure needs one in each of its columns"


def of_data(place: Place, pair: form.Data, known: Known) -> Iterator[Problem]:
    """Unknown data sets, and one that stands in for itself."""
    for key in ("real", "stand_in"):
        yield from unknown((*place, key), "data set", getattr(pair, key), datasets.names())
    if pair.real == pair.stand_in and pair.real not in datasets.packaged():
        yield place, f"the stand-in {pair.stand_in!r} is the real data set itself"


def of_file(place: Place, file: form.ExperimentForm, known: Known) -> Iterator[Problem]:
    """Names of conditions, variants and options, patterns that match nothing, and claims of deviations."""
    variants = known.names["variant"]
    curves = [f"{condition}/{variant}" for condition in known.names["condition"] for variant in variants]
    for home, blocks in (("options", file.options), ("scales", file.scales)):
        for name, block in blocks.items():
            for kind in CURVE:
                for one in getattr(block, f"{kind}s", None) or ():
                    yield from unknown((home, name, f"{kind}s"), kind, one, known.names[kind])
            if file.kind == "train":
                yield from unmatched((home, name), block.per, "condition/variant", curves)
            search = getattr(block, "search", None)
            if isinstance(search, form.ScaleSearch):
                if file.search is None:
                    yield (home, name, "search"), "the file has no block 'search' that this could change"
                yield from unmatched((home, name, "search"), search.per, "variant", variants)
    if file.search is not None:
        split, measure = file.search.select.split, known.experiment.search["select"]["measure"]
        if measure.get("split", split) != split:
            told = f"the measure reads the split {measure['split']!r}, select.split is {split!r}"
            yield ("search", "select", "measure", "split"), f"{told}; give one of them"
        yield from unmatched(("search",), file.search.per, "variant", variants)
    for name, block in file.conditions.items():
        pair, home = (block or {}).get("dataset"), ("conditions", name, "dataset")
        if pair is not None:
            reading = Reading()
            made = reading.value(form.Data, pair, home)
            yield from reading.problems or of_data(home, made, known)
        yield from unmatched(("conditions", name), (block or {}).get("per") or {}, "variant", variants)
    for name, deviation in file.deviations.items():
        if isinstance(deviation.effect, form.Effect):
            yield from unknown(("deviations", name, "effect"), "claim", deviation.effect.claim, known.claims)


def unmatched(place: Place, per: Iterable[str], what: str, names: Collection[str]) -> Iterator[Problem]:
    """A problem for each pattern of a block `per` that matches none of the names."""
    for pattern in per:
        if not any(fnmatchcase(name, str(pattern)) for name in names):
            yield (*place, "per", pattern), f"{pattern!r} matches no {what}; {suggestion(pattern, names)}"


def reached(name: str, referred: Mapping[str, Collection[str]]) -> set[str]:
    """Every claim that `name` refers to, through others too."""
    found: set[str] = set()
    waiting = list(referred.get(name, ()))
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += referred.get(other, ())
    return found


OF: dict[type, Callable[[Place, Any, Known], Iterator[Problem]]] = {
    Selector: of_selector, Measured: of_measure, claims.ClaimForm: of_claim, Spec: of_drawing,
    form.Data: of_data, form.ExperimentForm: of_file,
}  # fmt: skip
"""What is held against the names, by the type of a record."""


def name_problems(records: list[tuple[Place, Any]], known: Known) -> Iterator[Problem]:
    """What is wrong with the names in records."""
    for place, record in records:
        for kind, check in OF.items():
            if isinstance(record, kind):
                yield from check(place, record, known)
