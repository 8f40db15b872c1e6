"""Check an archive from its bytes to its verdicts, and say what was checked and what could not be."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import tensor_rnns
from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.archive import compare, exports, layout, make, reading
from tensor_rnns.archive.contents import data_table, used_data
from tensor_rnns.archive.crate import SNAKEMAKE, metadata
from tensor_rnns.archive.provenance import JOBS_COLUMNS
from tensor_rnns.archive.recompute import GIVEN, MADE, Scale
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED, SCALES
from tensor_rnns.files import MALFORMED, read_csv, read_json
from tensor_rnns.report.provenance import SHORT, Commit, commit_of

PACKAGE = Path(tensor_rnns.__file__).resolve().parent
TEMPLATES = Path("report") / "templates"
AS_GIVEN = {
    "files of code, environment and provenance": (
        f"{layout.CODE}/*", layout.INSTALLED, f"{layout.ENVIRONMENT}/*.lock", layout.CONFIG,
        layout.JOBS_TABLE,
    ),
    "facts of prepared data sets": (f"{layout.RESULTS}/data/ready/*.json",),
}  # fmt: skip
"""Which members, beside those of a scale, nothing here can make."""
Say = Callable[[str], None]


@dataclass
class Outcome:
    """`differences`, each with the file, what was given and what comes out; `checked`, counts by name;
    `unchecked`, what was taken as given and why; `notes`."""

    differences: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    """Those of codecheck.yml as they come out: claim and number."""
    other_rules: list[str] = field(default_factory=list)
    """Files of code and claims of the archive that are not those installed."""

    def lines(self) -> Iterator[str]:
        """What differs, then one table of what was checked and what was not, then numbers and notes."""
        yield from (f"DIFFERS  {line}" for line in self.differences)
        for heading, counts in (("checked", self.checked), ("taken as given", self.unchecked)):
            for name, count in counts.items():
                yield f"{heading:<15} {count:>12,}  {name}"
        yield from (f"{'number':<15} {line}" for line in self.numbers)
        yield from (f"{'note':<15} {line}" for line in self.notes)
        plural = "s" * (len(self.differences) > 1)
        yield f"{len(self.differences)} difference{plural}" if self.differences else "all equal"


def verify(path: Path, say: Say) -> Outcome:
    """Check the archive `path`, with progress to `say`.

    NotAnArchive, before anything is unpacked, where it is none or a hostile one. Where a sum differs nothing
    is recomputed.
    """
    outcome = Outcome()
    templates = templates_of(Path.cwd())
    with TemporaryDirectory() as aside:
        # Messages name what lies in the folder, wherever that is.
        top = Path(aside).resolve() / "given"
        say(f"{path}: the sum of every member")
        members, outcome.differences = reading.unpacked(path, top)
        outcome.checked["members, by their sums"] = len(members)
        if outcome.differences:
            outcome.notes.append("nothing was recomputed, as members are not what the manifest says")
            return outcome
        outcome.differences += reading.unsound(top, members)
        rules(top, templates, outcome)
        with chdir(top / layout.CODE):
            recompute(top, templates, outcome, say)
    return outcome


def templates_of(folder: Path) -> Path:
    """The templates of the installed code: beside its source, or in the working folder, a checkout.

    A template is a program, so those of the archive are not run. ValueError where there are none.
    """
    folders = [top / TEMPLATES for top in (PACKAGE.parents[1], folder.resolve())]
    templates = next((path for path in folders if path.is_dir()), None)
    if templates is None:
        allowed = "run this in a checkout of the project, whose rules you trust"
        raise ValueError(f"no {TEMPLATES} in {folder}; {allowed}")
    return templates


def rules(top: Path, templates: Path, outcome: Outcome) -> None:
    """Note where the code, templates, workflow and claims that are installed are not those of the archive."""
    top_here = templates.parents[1]
    pairs = {f"src/{PACKAGE.name}": PACKAGE, str(TEMPLATES): templates, "workflow": top_here / "workflow"}
    differ, count = outcome.other_rules, 0
    for name, home in pairs.items():
        ours, theirs = (
            {at: file.read_bytes() for at, file in files(folder).items() if "__pycache__" not in at.parts}
            for folder in (home, top / layout.CODE / name)
        )
        count += len(ours)
        differ += [f"{name}/{at}" for at in sorted({at for at, _ in ours.items() ^ theirs.items()})]
    note = f"the installed rules are those of the archive: {count} files of code and claims are equal"
    if differ:
        more = f" and {len(differ) - 5} others" if len(differ) > 5 else ""
        note = f"the installed rules are not those of the archive: {', '.join(differ[:5])}{more} differ"
    outcome.notes.append(note)


def recompute(top: Path, templates: Path, outcome: Outcome, say: Say) -> None:
    """Make all again that can be, and compare; the recorded runs first, on which the verdicts rest too."""
    config = read_json(top / layout.CONFIG, layout.holds(layout.CONFIG))
    if not all(isinstance(config.get(name), str) for name in layout.SETTINGS):
        raise reading.NotAnArchive(f"{layout.CONFIG}: expected are texts for {', '.join(layout.SETTINGS)}")
    reported = [top / layout.report(config["scale"]), top / layout.RESULTS / config["scale"] / "claims.csv"]
    if config["scale"] not in (RECORDED, *SCALES) or not all(path.is_file() for path in reported):
        allowed = f"allowed is one of {', '.join((RECORDED, *SCALES))} that has a report and claims.csv here"
        raise reading.NotAnArchive(f"{layout.CONFIG}: scale is {config['scale']!r}; {allowed}")
    given, again = top / layout.RESULTS, top.parent / "again" / layout.RESULTS
    again.mkdir(parents=True)
    (again / "data").symlink_to(given / "data")
    roots = layout.listed(config, "roots") or ["workflow/papers"]
    chosen = layout.listed(config, "papers") or None, layout.listed(config, "guests")
    for scale in (RECORDED, *SCALES):
        if not (given / scale).is_dir():
            continue
        own, data = (chosen, config["data"]) if scale == config["scale"] else ((None, []), "real")
        try:
            made = Scale(Catalogue.load(roots, *own), scale, data, given, again, templates)
            make_again(made, outcome, say)
            compare_all(made, outcome)
            if scale == config["scale"]:
                exported(made, top, config, outcome)
                if (here := commit_of(templates)).name[:SHORT] != made.commit.name:
                    told = f"the report is of commit {made.commit.text}, the rules here of {here.text}"
                    outcome.notes.append(told)
                elif not here.dirty:
                    told = f"not that of commit {here.text}, which the report names and which is here"
                    outcome.differences += [f"{layout.CODE}/{name}: {told}" for name in outcome.other_rules]
        except (*MALFORMED, OSError) as error:
            message = f"cannot be made again ({type(error).__name__}: {error})"
            outcome.differences.append(f"{layout.RESULTS}/{scale}: {message}".replace(f"{top.parent}/", ""))


def exported(made: Scale, top: Path, config: Mapping[str, str], outcome: Outcome) -> None:
    """Make again what the archive says to people and registers, and compare. Of the crate its versions and
    day are taken as given, of the table of FORRT the day."""
    claims = list(read_csv(made.again / "claims.csv", CLAIMS, made.scale))
    board = read_json(made.again / "board.json", made.scale)
    members = {path.as_posix(): file for path, file in files(top).items()}
    del members[layout.CRATE], members[layout.MANIFEST]
    day = next((row["outcome.date"] for row in read_csv(top / layout.FORRT, exports.FORRT_COLUMNS)), "")
    entities = {entity["@id"]: entity for entity in json.loads((top / layout.CRATE).read_bytes())["@graph"]}
    root, snakemake = entities["./"], entities[SNAKEMAKE]["softwareVersion"]
    facts = make.facts_of(members, config, made.scale, Commit("", False, 0))
    facts = replace(facts, version=root["version"], day=root["datePublished"], snakemake=snakemake)
    contents = {
        layout.README: exports.readme(facts.title, config),
        layout.CODECHECK: exports.codecheck(claims, board, made.catalogue, config, members),
        layout.FORRT: exports.forrt(claims, made.catalogue, day),
        layout.DATA_TABLE: data_table(used_data(members)),
        layout.CRATE: metadata(facts, list(read_csv(top / layout.JOBS_TABLE, JOBS_COLUMNS))),
    }
    for name, content in contents.items():
        again = top.parent / "again" / name
        again.parent.mkdir(exist_ok=True)
        again.write_bytes(content)
        compared(name, top / name, again, outcome)
    outcome.numbers = [f"{row['claim']} {row['ours']}" for row in exports.to_check(claims, board)]
    scales = tuple(f"{layout.RESULTS}/{scale}/" for scale in (RECORDED, *SCALES))
    rest = [name for name in sorted(members.keys() - contents.keys()) if not name.startswith(scales)]
    for what, patterns in AS_GIVEN.items():
        taken = [name for name in rest if any(fnmatchcase(name, pattern) for pattern in patterns)]
        outcome.unchecked[what] += len(taken)
        rest = [name for name in rest if name not in taken]
    outcome.differences += [f"{name}: in the archive, though nothing there gives it" for name in rest]


def compared(name: str, given: Path, again: Path, outcome: Outcome) -> None:
    """Compare one file, which the messages call `name`."""
    outcome.differences += [f"{name}: {line}" for line in compare.differences(given, again)]
    outcome.checked["files, made again and compared"] += 1
    outcome.checked["numbers in them"] += compare.numbers(given)


def make_again(made: Scale, outcome: Outcome, say: Say) -> None:
    """Recompute one scale step by step."""
    for step in made.tables():
        say(f"{made.scale}: joined {step}")
        outcome.checked["experiments, whose runs were joined again"] += 1
    for step in made.drawings():
        say(f"{made.scale}: drew {step}")
        outcome.checked["figures and tables, drawn again"] += 1
    say(f"{made.scale}: verdicts and report")
    outcome.checked["claims, judged again"] += made.verdicts()
    made.report()


def compare_all(made: Scale, outcome: Outcome) -> None:
    """Compare every file of a scale with what came out, and name what was taken as given."""
    ours, theirs = map(files, (made.given, made.again))
    for path in sorted(ours.keys() | theirs.keys()):
        name, kind = f"{layout.RESULTS}/{made.scale}/{path}", path.parts[0]
        if kind not in MADE and (kind, made.scale) != ("probes", RECORDED):
            outcome.unchecked[reason(path)] += 1
        elif kind == "report" and path.suffix == ".pdf":
            outcome.unchecked["PDF of the report, which LaTeX made of the source that was compared"] += 1
        elif path not in ours:
            if is_due(path, made.scale, ours):
                outcome.differences.append(f"{name}: not in the archive, though its runs give it")
        elif path not in theirs:
            outcome.differences.append(f"{name}: in the archive, though nothing there gives it")
        else:
            runs = f", of {layout.RESULTS}/{made.scale}/runs/{'/'.join(path.parts[1:3])}"
            compared(f"{name}{runs if kind == 'collected' else ''}", ours[path], theirs[path], outcome)


def is_due(path: Path, scale: str, given: Iterable[Path]) -> bool:
    """Whether a file must be among the `given` ones. Of the recorded runs all tables are made, on which its
    list of verdicts rests, and an archive of some papers has those of its own. A board is made beside a list
    of verdicts alone."""
    part = 3 if path.parts[0] in ("collected", "probes") else 1
    parent = ("collected", *path.parts[1:part]) if part > 1 else path.parts[:1]
    made = any(entry.parts[:part] == parent for entry in given)
    return made or scale != RECORDED or path.name == "board.json"


def files(folder: Path) -> dict[Path, Path]:
    """{path below `folder`: file} of each plain file; what links lead to is not looked at."""
    return {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}


def reason(path: Path) -> str:
    """Why a file is taken as given."""
    if path.name == layout.WEIGHTS:
        return "weights"
    if path.parts[0] == GIVEN[0]:
        return "files of runs, which training made"
    return f"{path.parts[0]}, which needs torch, weights or data" if path.parts[0] in GIVEN else f"{path}"
