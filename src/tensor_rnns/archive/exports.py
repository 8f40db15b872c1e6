"""What an archive says to people and registers: README.md, codecheck.yml, verdicts in FORRT's form."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from tensor_rnns.analysis import verdicts
from tensor_rnns.archive import layout
from tensor_rnns.drawing.tables import printed
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import table_bytes
from tensor_rnns.report.words import interval

NUMBERS = 10
"""How many numbers a checker is asked to reproduce."""
TERMS, CITO = "https://w3id.org/sciencelive/o/terms/", "http://purl.org/spar/cito/"
OUTCOMES = {
    verdicts.REPRODUCED: ("Validated", "confirms"),
    verdicts.NOT_REPRODUCED: ("Contradicted", "disputes"),
    verdicts.UNDECIDED: ("Inconclusive", "discusses"),
    verdicts.ERRATUM: ("PartiallySupported", "qualifies"),
    verdicts.NOT_JUDGED: ("NotTested", "discusses"),
    verdicts.NOT_TESTABLE: ("NotTested", "discusses"),
}
"""Of each verdict the validation status of FORRT and the relation of CiTO. An erratum holds as corrected."""
FORRT_COLUMNS = (
    "claim.claim", "claim.label", "claim.aida", "claim.source", "study.study", "study.label", "study.type",
    "study.scope", "study.methodology", "study.deviation", "outcome.outcome", "outcome.label",
    "outcome.date", "outcome.validationStatus", "outcome.conclusion", "outcome.evidence",
    "outcome.limitations", "citation.cites", "citation.cited",
)  # fmt: skip
"""<step>.<field> of FORRT's templates for claim, study, outcome and citation. What a person decides or is
known at publication only, such as the type of a claim, confidence and the repository, is left to them."""


def again(settings: Mapping[str, str]) -> str:
    """The commands that make the report of the archive again, from its top folder."""
    chosen = f' CONFIG="papers={settings["papers"]}"' if settings["papers"] else ""
    made = f"make report SCALE={settings['scale']} DATA={settings['data']}{chosen}"
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
        cited = ". ".join(str(paper.get(key, "")) for key in ("authors", "year", "title", "source"))
        rows.append(dict(zip(FORRT_COLUMNS, (
            row["claim"], row["claim"], sentence, cited, f"{row['claim']}-study",
            f"Replication of {row['claim']}", f"{TERMS}Replication-Study",
            f"{row['artefact']}, {known[row['claim']].page}: {sentence}",
            f"{experiment.title}; test {row['test']}; runs: {row['source'] or 'none'}",
            deviations(experiment.deviations), f"{row['claim']}-outcome",
            f"{row['claim']}: {row['verdict']}", day,
            f"{TERMS}{status}", f"{row['verdict']}; holds: {row['holds']}",
            f"ours {number}, the paper's {row['paper_value'] or 'none'}, n = {row['n']}",
            row["reason"], f"{CITO}{relation}", cited,
        ), strict=True)))  # fmt: skip
    return table_bytes(rows, FORRT_COLUMNS, layout.holds(layout.FORRT))


def deviations(block: Mapping[str, Mapping]) -> str:
    """The deviations of an experiment from its document in one text."""
    return "; ".join(
        f"{name}: paper: {deviation.get('paper', '')}, ours: {deviation.get('ours', '')}"
        for name, deviation in block.items()
    )
