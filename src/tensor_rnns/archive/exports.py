"""What an archive says to people and registers: README.md, codecheck.yml, verdicts in FORRT's form."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from tensor_rnns import yaml_files
from tensor_rnns.analysis import verdicts
from tensor_rnns.archive import layout
from tensor_rnns.drawing.tables import printed
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import table_bytes
from tensor_rnns.report.words import interval

NUMBERS = 10
"""How many numbers a checker is asked to reproduce."""
OUTCOMES = {
    verdicts.REPRODUCED: ("Validated", "confirms"),
    verdicts.NOT_REPRODUCED: ("Contradicted", "disputes"),
    verdicts.UNDECIDED: ("Inconclusive", "discusses"),
    verdicts.ERRATUM: ("PartiallySupported", "qualifies"),
    verdicts.NOT_JUDGED: ("NotTested", "discusses"),
    verdicts.NOT_TESTABLE: ("NotTested", "discusses"),
}
"""Of each verdict the validation status of FORRT and the relation of CiTO. An erratum holds as corrected."""
CHOSEN = {"paper_roots": "roots", "papers": "papers", "guest_cells": "guests"}
"""{key of config.yaml: name among the settings of a report}, of those that choose papers and cells."""
FORRT = yaml_files.read(Path(__file__).with_name("forrt.yaml")).content
FORRT_COLUMNS = tuple(FORRT)
"""What stands in each column of forrt.csv, and their names."""


def again(settings: Mapping[str, str]) -> str:
    """The commands that make the report of the archive again, from its top folder."""
    chosen = " ".join(f"{key}={settings[name]}" for key, name in CHOSEN.items() if settings[name])
    config = f' CONFIG="{chosen}"' if chosen else ""
    made = f"make report SCALE={settings['scale']} DATA={settings['data']}{config}"
    return f"cd {layout.CODE} && mkdir -p results && cp -r ../{layout.RESULTS}/recorded results/ && {made}"


def readme(title: str, settings: Mapping[str, str]) -> bytes:
    """The content of README.md."""
    text = Path(__file__).with_name("readme.md").read_text(encoding="utf-8")
    return text.format(title=title, scale=settings["scale"], command=again(settings)).encode()


def to_check(claims: Sequence[Mapping[str, str]], board: Mapping) -> list[Mapping[str, str]]:
    """The rows of claims.csv whose number a checker should reproduce: NUMBERS at most, those behind headline
    findings first, then in the order of the claims; among both, first those with a verdict."""
    headlines = [headline for paper in board["papers"].values() for headline in paper["headlines"]]
    first = [name for headline in headlines for name in headline["claims"]]
    rank = {name: k for k, name in enumerate(dict.fromkeys(first))}
    numbered = [row for row in claims if row["ours"]]
    numbered.sort(key=lambda row: (rank.get(row["claim"], len(rank)), row["verdict"] == verdicts.NOT_JUDGED))
    return numbered[:NUMBERS]


def codecheck(
    claims: Sequence[Mapping[str, str]], board: Mapping, catalogue: Catalogue, settings: Mapping[str, str],
    members: Iterable[str],
) -> bytes:  # fmt: skip
    """The content of codecheck.yml: the files that the workflow makes and the numbers to look for in them."""
    rows, scale = to_check(claims, board), settings["scale"]
    table = f"{layout.RESULTS}/{scale}/claims.csv"
    files = {
        f"{layout.RESULTS}/{row['source']}/{file}": row["artefact"]
        for row in rows
        for file in catalogue.artefacts[row["paper"], row["artefact"]].files
    }
    manifest = [{"file": table, "comment": "every claim with our number, interval and verdict"}]
    there = files.keys() & {*members}
    manifest += [{"file": name, "comment": f"shows {files[name]}"} for name in sorted(there)]
    numbers = [
        {
            "claim": row["claim"], "statement": row["statement"], "ours": printed(row["ours"]),
            "exactly": row["ours"], "interval": f"{interval(row)} {row['interval']}".strip(),
            "n": int(row["n"]), "runs": row["source"], "command": again(settings),
            "where": f"{table}, row {row['claim']}, column ours",
        }
        for row in rows
    ]  # fmt: skip
    headers = [catalogue.papers[name] for name in dict.fromkeys(row["paper"] for row in rows)]
    papers = [{"title": paper["title"], "authors": [{"name": paper.get("authors", "")}]} for paper in headers]
    content = {
        "version": "https://codecheck.org.uk/spec/config/1.0/", "manifest": manifest,
        "paper": papers[0] if len(papers) == 1 else papers, "numbers": numbers,
    }  # fmt: skip
    return ("---\n" + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)).encode()


def forrt(claims: Iterable[Mapping[str, str]], catalogue: Catalogue, day: str) -> bytes:
    """The content of forrt.csv: a row for each claim that was tested on runs or computed here."""
    known = {claim.id: claim for claim in catalogue.claims}
    rows = []
    for row in claims:
        experiment = catalogue.experiments[row["paper"], known[row["claim"]].experiment]
        paper = catalogue.papers[row["paper"]]
        status, relation = OUTCOMES[row["verdict"]]
        ends = interval(row)
        number = f"{printed(row['ours'])}{f' {ends}' if ends else ''}" if row["ours"] else "no number"
        sentence = row["statement"].rstrip(".") + "."
        said = row | {
            "sentence": sentence, "number": number, "status": status, "relation": relation, "day": day,
            "cited": ". ".join(str(paper.get(key, "")) for key in ("authors", "year", "title", "source")),
            "page": known[row["claim"]].page, "title": experiment.title, "runs": row["source"] or "none",
            "theirs": row["paper_value"] or "none", "deviations": deviations(experiment.deviations),
        }  # fmt: skip
        rows.append({column: text.format_map(said) for column, text in FORRT.items()})
    return table_bytes(rows, FORRT_COLUMNS, layout.holds(layout.FORRT))


def deviations(block: Mapping[str, Mapping]) -> str:
    """The deviations of an experiment from its document in one text."""
    said = (f"{name}: paper: {it.get('paper', '')}, ours: {it.get('ours', '')}" for name, it in block.items())
    return "; ".join(said)
