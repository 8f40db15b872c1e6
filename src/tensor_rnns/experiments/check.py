"""Everything that is wrong with the experiment files, found before any job: all errors at once, with file and
line."""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tensor_rnns.experiments.catalogue import (
    PAPER_FILE,
    Roots,
    paper_folders,
    read_experiment,
    read_yaml,
    tables_of,
)
from tensor_rnns.experiments.check_artefacts import artefact_problems, probe_problems
from tensor_rnns.experiments.check_claims import claim_problems
from tensor_rnns.experiments.check_form import schema_problems
from tensor_rnns.experiments.check_overrides import (
    computed_data_problems,
    computed_problems,
    search_problems,
)
from tensor_rnns.experiments.check_settings import settings_problems
from tensor_rnns.experiments.check_words import Names, Place, Problem, suggestion
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.selector import MAIN
from tensor_rnns.yaml_files import read

__all__ = ["Names", "check"]
SHARED = ("artefacts", "claims")
"""Blocks whose ids are known to all files of a paper."""


def reference_problems(experiment: Experiment) -> Iterator[Problem]:
    """Names of conditions, variants and options that the file uses and does not define."""
    known = {
        "conditions": list(experiment.conditions) or ["only"],
        "variants": list(experiment.variants),
        "options": [MAIN, *experiment.options],
    }
    for scale, block in experiment.scales.items():
        for kind, allowed in known.items():
            for name in (block or {}).get(kind, []):
                if name not in allowed:
                    yield (
                        ("scales", scale, kind),
                        f"unknown {kind[:-1]} {name!r}; {suggestion(name, allowed)}",
                    )
    for option, block in experiment.options.items():
        for kind in ("conditions", "variants"):
            for name in block.get(kind, []):
                if name not in known[kind]:
                    yield (
                        ("options", option, kind),
                        f"unknown {kind[:-1]} {name!r}; {suggestion(name, known[kind])}",
                    )
    places = [f"{c}/{v}" for c in known["conditions"] for v in known["variants"]]
    for kind in ("options", "scales"):
        for name, block in experiment.block(kind).items():
            for pattern in (block or {}).get("per") or {}:
                if not any(fnmatchcase(place, pattern) for place in places):
                    yield (
                        (kind, name, "per", pattern),
                        f"{pattern!r} matches no condition/variant; {suggestion(pattern, places)}",
                    )


def data_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Data sets given as their own stand-in, but for those that packages carry for both modes."""
    blocks: dict[Place, Mapping[str, Any]] = {("dataset",): experiment.dataset}
    for condition, block in experiment.conditions.items():
        blocks["conditions", condition, "dataset"] = (block or {}).get("dataset") or {}
    for place, block in blocks.items():
        name = block.get("stand_in")
        if name is not None and block.get("real") == name and name not in names.packaged:
            yield place, f"the stand-in {name!r} is the real data set itself"


def experiment_problems(
    experiment: Experiment, names: Names, training: Mapping[str, Any]
) -> Iterator[Problem]:
    """Everything that is wrong with one file of valid form; `training` is the schema of its block."""
    yield from data_problems(experiment, names)
    if experiment.kind == "train":
        missing = [
            block
            for block in ("task", "model", "training", "variants", "scales")
            if not experiment.block(block)
        ]
        if missing:
            yield (), f"an experiment of kind train needs the blocks {', '.join(missing)}"
            return
        yield from reference_problems(experiment)
        yield from search_problems(experiment, names)
        yield from settings_problems(experiment, names, training)
    else:
        function = experiment.compute.get("function")
        if function not in names.computed:
            yield (
                ("compute", "function"),
                f"unknown function {function!r}; {suggestion(str(function), names.computed)}",
            )
        else:
            yield from computed_data_problems(experiment, str(function), names)
        yield from computed_problems(experiment)
    yield from artefact_problems(experiment, names)
    yield from probe_problems(experiment, names)
    yield from claim_problems(experiment, names)


def link_problems(
    experiment: Experiment, ids: Mapping[str, Collection[str]], referred: Mapping[str, Collection[str]]
) -> Iterator[Problem]:
    """Ids of artefacts and claims that no file of the paper has, and claims that refer to one another in a
    circle.

    `ids` are those of the paper by block, `referred` the claims that each of its claims refers to.
    """
    for name, spec in experiment.block("claims").items():
        if spec["artefact"] not in ids["artefacts"]:
            yield (
                ("claims", name, "artefact"),
                f"unknown artefact {spec['artefact']!r}; {suggestion(spec['artefact'], ids['artefacts'])}",
            )
        for other in referred.get(name, ()):
            if other not in ids["claims"]:
                yield (
                    ("claims", name, "claims"),
                    f"unknown claim {other!r}; {suggestion(other, ids['claims'])}",
                )
        if name in reached(name, referred):
            yield (
                ("claims", name, "claims"),
                f"the claim {name!r} refers to itself, directly or through others",
            )


def effect_problems(experiment: Experiment, claims: Collection[str]) -> Iterator[Problem]:
    """Claims that the effect of a deviation names and no file of the paper has."""
    for name, spec in experiment.deviations.items():
        effect = spec.get("effect")
        if isinstance(effect, Mapping) and effect.get("claim") not in claims:
            yield (
                ("deviations", name, "effect"),
                f"unknown claim {effect.get('claim')!r}; {suggestion(effect.get('claim'), claims)}",
            )


def reached(name: str, referred: Mapping[str, Collection[str]]) -> set[str]:
    """Every claim that `name` refers to, through others too."""
    found: set[str] = set()
    waiting = list(referred.get(name, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += referred.get(one, ())
    return found


def references(content: Any) -> dict[str, list[str]]:
    """{claim: the claims it refers to} of the content of one file."""
    claims = content.get("claims") if isinstance(content, Mapping) else None
    return {
        name: [one for one in spec["claims"] if isinstance(one, str)]
        for name, spec in (claims.items() if isinstance(claims, Mapping) else ())
        if isinstance(spec, Mapping) and isinstance(spec.get("claims"), list)
    }


def read_all(roots: Roots) -> Iterator[tuple[Path, Any]]:
    """Every experiment file below `roots` with its content, written out with the tables beside it, or with
    the ValueError that says what is not YAML or does not fit in them."""
    for path in (path for folder in paper_folders(roots).values() for path in sorted(folder.glob("*.yaml"))):
        if path.name != PAPER_FILE:
            try:
                yield path, tables_of(path.parent).complete(read_yaml(path))[0]
            except ValueError as error:
                yield path, error


def check(roots: Roots, schema: Path, names: Names, shown: Path | None = None) -> list[str]:
    """Every problem of the files below `roots`, one line each: file:line: key: what is wrong; [] when all is
    well.

    Paths are printed relative to `shown` where they lie below it. Ids are looked up among all files of a
    paper, once all of them can be read.
    """
    found: list[str] = []
    rules = read_yaml(schema)
    contents = dict(read_all(roots))
    owner: dict[tuple[str, str, str], Path] = {}
    referred: dict[str, dict[str, list[str]]] = {}
    for path, content in contents.items():
        for kind in SHARED:
            block = content.get(kind) if isinstance(content, Mapping) else None
            for name in block if isinstance(block, Mapping) else ():
                owner.setdefault((path.parent.name, kind, name), path)
        referred.setdefault(path.parent.name, {}).update(references(content))
    unread = {path.parent.name for path, content in contents.items() if isinstance(content, ValueError)}
    for path, content in contents.items():
        short = path.relative_to(shown) if shown and path.is_relative_to(shown) else path
        if isinstance(content, ValueError):
            found += str(content).replace(f"{path.parent}/", f"{short.parent}/").splitlines()
            continue
        paper = path.parent.name
        problems = list(schema_problems(content, rules))
        if not problems:
            experiment = read_experiment(path)
            problems = list(experiment_problems(experiment, names, rules["properties"]["training"]))
            for kind in SHARED:
                for name in experiment.block(kind):
                    other = owner[paper, kind, name]
                    if other != path:
                        problems.append(
                            ((kind, name), f"{name!r} stands in {other.name} already; an id has one home")
                        )
            if paper not in unread:
                ids = {
                    kind: [i for home, block, i in owner if (home, block) == (paper, kind)] for kind in SHARED
                }
                problems += link_problems(experiment, ids, referred[paper])
                problems += effect_problems(experiment, ids["claims"])
        found += [
            f"{short}:{read(path).line_of(place)}: {'.'.join(map(str, place)) or 'file'}: {message}"
            for place, message in problems
        ]
    folders = {path.parent.name: path.parent for path in contents}
    for paper in referred.keys() - unread:
        names = [name for home, block, name in owner if (home, block) == (paper, "artefacts")]
        found += tables_of(folders[paper]).homeless(names)
    return list(dict.fromkeys(found))
