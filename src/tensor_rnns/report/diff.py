"""What differs between two results folders of one scale: verdicts, numbers, settings, artefacts, makers."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from tensor_rnns.drawing.tables import printed
from tensor_rnns.experiments.records import DRAWN, SCALES, trained_at
from tensor_rnns.experiments.run_folders import RECORD, read_record, replica_key
from tensor_rnns.files import read_csv, read_json
from tensor_rnns.report.content import flattened
from tensor_rnns.report.words import interval

Row = Mapping[str, str]
Found = dict[str, list[str]]
"""Lines by the heading under which they stand."""
MADE_BY = "made by"
"""The heading of what may differ between equal results: commits, versions, hosts, engines."""
MAKERS = ("commit", "dirty", "host", "processor", "instruction_set", "gpu", "device", "engine", "threads")
ARRAYS = "curves and probes"
NAMED = 3
"""How many curves with one change are named."""


class Side:
    """What a results folder holds: its claims by id, its scales, how each replica of a curve ended, settings
    by curve, numbers and sums of curves and probes by experiment, rows of artefacts, and who made it."""

    def __init__(self, home: Path, claims: Mapping[str, Row]):
        self.home, self.claims, self.scales = home, claims, set()
        self.replicas: dict[str, dict[tuple, str]] = defaultdict(dict)
        self.settings: dict[str, dict[str, set[str]]] = defaultdict(dict)
        self.numbers: dict[str, dict[tuple, str]] = defaultdict(dict)
        self.sums: dict[str, dict[str, str]] = defaultdict(dict)
        self.drawn: dict[str, Counter[tuple]] = defaultdict(Counter)
        self.makers: dict[str, set[str]] = defaultdict(set)

    @property
    def size(self) -> str:
        """How much there is, in words."""
        inside = (self.replicas, self.numbers, self.sums)
        replicas, numbers, sums = (sum(map(len, it.values())) for it in inside)
        parts = f"{replicas} replicas, {numbers} numbers, {sums} {ARRAYS}"
        return f"{len(self.claims)} claims, {parts}, {len(self.drawn)} artefacts"

    def add_run(self, folder: Path) -> None:
        """Take what one run folder holds."""
        record = read_record(folder)
        for replica in record["replicas"]:
            known = record | replica
            paper, experiment, scale, *names, point, seed, _ = replica_key(replica)
            curve = "/".join((paper, experiment, *names))
            self.scales.add(scale)
            self.replicas[curve][point, seed] = replica["status"]
            for name, value in flattened(replica["settings"]):
                self.settings[curve].setdefault(name, set()).add(str(value))
            versions = {f"version of {name}": value for name, value in (known.get("versions") or {}).items()}
            for name, value in ({name: known.get(name) for name in MAKERS} | versions).items():
                self.makers[name].add(str(value))
        self.numbers[f"{paper}/{experiment}"] |= numbers_of(folder / "metrics.csv")


def read(home: Path) -> Side:
    """A results folder; ValueError where it is none, or a file in it is damaged."""
    claims, board = home / "claims.csv", home / "board.json"
    records = sorted(home.glob(f"runs/**/{RECORD}"))
    if not records and not claims.exists():
        raise ValueError(f"{home} given; allowed are folders with runs or claims, as results/laptop")
    if records and trained_at(home.resolve().name) not in SCALES:
        raise ValueError(f"{home} given; allowed are folders named after their scale, as {home}/smoke")
    side = Side(home, {row["claim"]: row for row in read_csv(claims)} if claims.exists() else {})
    for record in records:
        side.add_run(record.parent)
    if not side.scales and board.exists():
        side.scales.add(str(read_json(board).get("scale")))
    for path in sorted(home.glob("computed/*/*.csv")):
        side.numbers[f"{path.parent.name}/{path.stem}"] = numbers_of(path)
    arrays = ("runs/**/curves.csv.gz", "runs/**/*.npz", "probes/**/*.npz")
    for path in sorted(path for pattern in arrays for path in home.glob(pattern)):
        _, paper, experiment, *_ = path.relative_to(home).parts
        name, content = path.relative_to(home).as_posix(), path.read_bytes()
        side.sums[f"{paper}/{experiment}"][name] = hashlib.sha256(content).hexdigest()
    for path in sorted(path for kind in DRAWN for path in home.glob(f"{kind}/*/*.*")):
        rows = read_csv(path) if path.suffix == ".csv" else ()
        side.drawn[f"{path.parent.name}/{path.stem}"].update(tuple(row.values()) for row in rows)
    return side


def numbers_of(table: Path) -> dict[tuple, str]:
    """The numbers of a table, which are its last column, by what stands before them."""
    return {tuple(key): value for *key, value in (row.values() for row in read_csv(table))}


def differences(before: Side, after: Side, tolerances: Mapping[str, float]) -> Found:
    """What differs, by heading; ValueError for results of two scales. `tolerances` are those of claims."""
    if before.scales != after.scales:
        sides = [f"{side.home} of {', '.join(sorted(side.scales)) or 'no scale'}" for side in (before, after)]
        raise ValueError(f"{sides[0]} and {sides[1]} given; allowed are results of one scale")
    changes = of_claims(before.claims, after.claims, tolerances)
    changes["replicas"] = list(of_replicas(before.replicas, after.replicas))
    changes["settings"] = of_settings(before.settings, after.settings)
    changes["numbers"] = list(of_numbers(before.numbers, after.numbers))
    changes[ARRAYS] = list(of_sums(before.sums, after.sums))
    changes["artefacts"] = list(of_artefacts(before.drawn, after.drawn))
    changes[MADE_BY] = [
        f"{name}: {words(before.makers.get(name))} -> {words(after.makers.get(name))}"
        for name in dict.fromkeys([*before.makers, *after.makers])
        if before.makers.get(name) != after.makers.get(name)
    ]
    return {heading: lines for heading, lines in changes.items() if lines}


def of_claims(before: Mapping[str, Row], after: Mapping[str, Row], tolerances: Mapping[str, float]) -> Found:
    """Claims whose verdict, answer or numbers changed, and those that only one side has."""
    changes: Found = {"verdicts": [], "answers (holds)": [], "numbers of claims": []}
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        for heading, key in (("verdicts", "verdict"), ("answers (holds)", "holds")):
            if old[key] != new[key]:
                numbers = f"{in_words(old)} -> {in_words(new)}"
                changes[heading].append(f"{name}: {old[key]} -> {new[key]}; {numbers}; {new['reason']}")
                break
        else:
            if any(old[key] != new[key] for key in ("ours", "low", "high", "n", "failed")):
                far = apart(old, new, tolerances.get(name))
                changes["numbers of claims"].append(f"{name}: {in_words(old)} -> {in_words(new)}{far}")
    changes["claims"] = only(before, after)
    return {heading: sorted(lines) for heading, lines in changes.items()}


def in_words(row: Row) -> str:
    """The numbers of a claim."""
    return " ".join(filter(None, (printed(row["ours"]) or "no number", interval(row), f"n = {row['n']}")))


def apart(old: Row, new: Row, tolerance: float | None) -> str:
    """How far our numbers are apart, in tolerances and in halves of the first interval."""
    if not old["ours"] or not new["ours"]:
        return ""
    distance = abs(float(new["ours"]) - float(old["ours"]))
    ends = [float(old[end]) for end in ("low", "high") if old[end]]
    scales = {"tolerances": tolerance, "half widths": (ends[1] - ends[0]) / 2 if len(ends) == 2 else None}
    said = [f"{distance / scale:.2g} {unit}" for unit, scale in scales.items() if scale]
    return f"; {', '.join(said)} apart" if said else ""


def of_replicas(before: Mapping[str, Mapping], after: Mapping[str, Mapping]) -> Iterator[str]:
    """Curves, seeds and points that only one side has, and replicas that ended otherwise."""
    yield from only(before, after)
    for curve in sorted(before.keys() & after.keys()):
        old, new = before[curve], after[curve]
        for sign, keys in (("gone", old.keys() - new.keys()), ("new", new.keys() - old.keys())):
            if keys:
                named = ", ".join(f"point {point} seed {seed}" for point, seed in sorted(keys)[:NAMED])
                yield f"{curve}: {len(keys)} {sign} ({named}{', ...' if len(keys) > NAMED else ''})"
        ended = Counter((old[key], new[key]) for key in sorted(old.keys() & new.keys()))
        for (was, now), count in ended.items():
            if was != now:
                yield f"{curve}: {count} {was} -> {now}"


def of_settings(before: Mapping[str, Mapping], after: Mapping[str, Mapping]) -> list[str]:
    """Settings of curves of both sides that changed; curves with the same change share a line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for curve in sorted(before.keys() & after.keys()):
        paper, experiment, rest = curve.split("/", 2)
        for name in sorted(before[curve].keys() | after[curve].keys()):
            old, new = (side[curve].get(name) for side in (before, after))
            if old != new:
                change = f"{name}: {words(old)} -> {words(new)}"
                alike.setdefault((f"{paper}/{experiment}", change), []).append(rest)
    return [
        f"{experiment}: {change} in {len(places)} curve{'s' * (len(places) > 1)} "
        f"({', '.join(places[:NAMED])}{', ...' if len(places) > NAMED else ''})"
        for (experiment, change), places in alike.items()
    ]


def of_numbers(before: Mapping[str, Mapping], after: Mapping[str, Mapping]) -> Iterator[str]:
    """Experiments whose metrics or computed values differ: how many only one side has, how many are others,
    and by how much at most."""
    yield from only(before, after)
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        yield from one_sided(name, old.keys(), new.keys())
        changed = [(old[key], new[key]) for key in old.keys() & new.keys() if old[key] != new[key]]
        if changed:
            largest = max(relative(*pair) for pair in changed)
            yield f"{name}: {len(changed)} of {len(old.keys() & new.keys())}, by {largest:.2g} at most"


def of_sums(before: Mapping[str, Mapping], after: Mapping[str, Mapping]) -> Iterator[str]:
    """Experiments whose curves or arrays of probes differ."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        yield from one_sided(name, old.keys(), new.keys())
        both = sorted(old.keys() & new.keys())
        if others := [path for path in both if old[path] != new[path]]:
            more = ", ..." if len(others) > NAMED else ""
            yield f"{name}: {len(others)} of {len(both)} ({', '.join(others[:NAMED])}{more})"


def one_sided(name: str, before: Set, after: Set) -> Iterator[str]:
    """How many of an experiment's or a table's keys only one side has."""
    for sign, keys in (("gone", before - after), ("new", after - before)):
        if keys:
            yield f"{name}: {len(keys)} {sign}"


def relative(old: str, new: str) -> float:
    """The difference of two numbers over the larger one; infinity where one of them is none."""
    try:
        a, b = float(old), float(new)
    except ValueError:
        return math.inf
    ratio = abs(a - b) / max(abs(a), abs(b), 1e-300)
    return ratio if math.isfinite(ratio) else math.inf


def of_artefacts(before: Mapping[str, Counter], after: Mapping[str, Counter]) -> Iterator[str]:
    """Artefacts that only one side has drawn, and tables with other rows."""
    yield from only(before, after)
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if count := max((new - old).total(), (old - new).total()):
            yield f"{name}: {count} of {max(new.total(), old.total())} rows are others"


def only(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A line for each name that only one side has."""
    return [f"{name}: {'gone' if name in before else 'new'}" for name in sorted(before.keys() ^ after.keys())]


def words(values: Iterable[str] | None) -> str:
    """Several values of one name; a dash for none."""
    return ", ".join(sorted(values)) if values else "-"
