"""What an experiment file takes from the tables beside it, `values.csv` and `ledger.csv`, written out.

- A value with a `tolerance` is a claim of its id. It is one more, `id.option`, for each artefact of the file
  with `printed: {of: its artefact, option: option}` that draws its measure. What the file says under such an
  id is added; `open` holds for the options too.
- A name in place of a measure is one of the file's `measures`; the id of a value in place of a number, or in
  braces within a statement, is that number.
- A claim without `statement` or `section` has those of its row in the ledger, or of its parent's, the id
  before a dot. A claim without `test` refers to its parts, the claims of the file with one more dot.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensor_rnns.declared import suggestion, unknown
from tensor_rnns.experiments import ledger, values
from tensor_rnns.experiments.records import KINDS, SPLITS
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.experiments.titles import FIELD, cell_title
from tensor_rnns.experiments.values import Value

MEASURES = ("measure", "than_measure", "by", "per")
"""Keys whose value may be the name of a measure."""
NUMBERS = (
    "paper", "value", "within", "above", "equals", "at_least", "at_most", "ratio", "tie", "tie_ratio",
    "threshold", "update",
)  # fmt: skip
"""Keys of a claim or of a line of an artefact whose value may be the id of a number of the paper."""
Entry = dict[str, Any]


class PaperTables:
    """The values and statements of the paper in `folder`, and the reasons that its tolerances name.

    ValueError with every mistake of form in the tables.
    """

    def __init__(self, folder: Path, reasons: Mapping[str, str]) -> None:
        self.path, self.reasons = folder / values.FILE, reasons
        self.values = values.read(folder)
        self.statements = {statement.id: statement for statement in ledger.read(folder)}
        self.single = {value.id: value for value in self.values if value.x is None}
        self.texts = {f"{{{name}}}": value.text for name, value in self.single.items()}

    def homeless(self, artefacts: Collection[str]) -> list[str]:
        """Values whose artefact is none of those of the paper, one line each."""
        rows = [row for row in self.values if row.artefact]
        wrong = ((row, m) for row in rows for _, m in unknown((), "artefact", row.artefact, artefacts))
        return [f"{self.path}:{row.line}: artefact: {message}" for row, message in wrong]

    def complete(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[Entry]]]:
        """(`content` with its measures and claims written out, {artefact: the paper's numbers beside it}).

        ValueError with every row of the values that does not fit this file.
        """
        given = block_of(content, "measures")
        measures = {name: self.numbers(measure) for name, measure in given.items()}
        content = {
            name: named(block, measures) if name in ("artefacts", "claims", "search")
            else measures if block is given else block
            for name, block in content.items()
        }  # fmt: skip
        artefacts = parts_of(block_of(content, "artefacts"))
        self.check([row for row in self.values if row.artefact in artefacts], content)
        claims: dict[str, Any] = {}
        printed: dict[str, list[Entry]] = {}
        for name, spec in artefacts.items():
            if isinstance(spec.get("lines"), list):
                spec["lines"] = [self.numbers(line) for line in spec["lines"]]
            beside = mapping(spec.get("printed"))
            home, option = beside.get("of", name), str(beside.get("option", ""))
            rows = [row for row in self.values if row.artefact == home]
            drawn = [row for row in rows if is_drawn(row, spec, content)]
            if drawn:
                printed[name] = entries(drawn, option, content)
            for row in rows if home == name else drawn if option else ():
                if row.tolerance is not None and not (option and row.option):
                    key = f"{row.id}.{option}" if option else row.id
                    claims[key] = self.claim(row, name, option, content)
        if "claims" in content and not isinstance(content["claims"], Mapping):
            return content, printed
        self.check_tests(claims, block_of(content, "claims"))
        for name, spec in block_of(content, "claims").items():
            claims[name] = claims.get(name, {}) | spec if isinstance(spec, Mapping) else spec
        for name, spec in parts_of(claims).items():
            claims[name] = self.filled(name, spec, claims)
        return content | ({"claims": claims} if claims else {}), printed

    def check(self, rows: Iterable[Value], content: Mapping[str, Any]) -> None:
        """ValueError with every name in `rows` that the experiment or the paper does not define. One of an
        unknown kind is refused itself."""
        if content.get("kind") not in KINDS:
            return
        known = {key: [*block_of(content, f"{key}s")] for key in CURVE}
        known |= {"split": [*SPLITS], "reason": [*self.reasons], "option": ["main", *known["option"]]}
        if content.get("kind") == "train":
            known["measure"] = [*block_of(content, "measures")]
        if wrong := [
            f"{self.path}:{row.line}: {message}"
            for row in rows
            for message in (*strangers(row, known), *pooled(row, known, content))
        ]:
            raise ValueError("\n".join(wrong))

    def check_tests(self, claims: Mapping[str, Entry], more: Mapping[Any, Any]) -> None:
        """ValueError where what a file adds to the claim of a value asks for another test."""
        wrong = []
        for name in claims.keys() & more.keys():
            own, asked = claims[name]["test"], mapping(more[name]).get("test", claims[name]["test"])
            if asked != own:
                row = self.single.get(name) or self.single[name.rpartition(".")[0]]
                why = f"{self.path}:{row.line}: tolerance: with it {name!r} is a claim of test {own}, and the"
                wrong.append(f"{why} file asks for test {asked}; leave it empty, or give one another id")
        if wrong:
            raise ValueError("\n".join(sorted(wrong)))

    def claim(self, row: Value, artefact: str, option: str, content: Mapping[str, Any]) -> Entry:
        """The claim that a value with a tolerance is: a count where it is computed or exact, else a value."""
        spec: Entry = {"statement": sentence(row, artefact, option, content), "artefact": artefact}
        spec |= {"page": row.page} if row.page else {}
        spec |= {"open": why} if (why := block_of(block_of(content, "claims"), row.id).get("open")) else {}
        if row.item:
            spec["of"] = {"item": row.item, "name": row.measure}
        else:
            where = {"condition": row.condition, "variant": row.variant, "option": option or row.option}
            spec["where"] = {key: name for key, name in where.items() if name}
            spec["measure"] = measure(row, content)
        if row.item or not row.tolerance:
            spec |= {"test": "count", "equals": row.value, "paper": row.value}
            return spec | ({"tolerance": row.tolerance} if row.tolerance else {})
        return spec | {"test": "value", "paper": row.id}

    def filled(self, name: str, spec: Mapping[str, Any], claims: Mapping[str, Any]) -> Entry:
        """A claim with what it leaves to the ledger and to the values."""
        spec = dict(spec)
        if "test" not in spec:
            parts = [claim for claim in claims if str(claim).rpartition(".")[0] == name]
            if not spec.get("ours"):  # on a question of ours rests no statement of the document
                parts = [claim for claim in parts if not block_of(claims, claim).get("ours")]
            spec |= {"test": "refers", "claims": spec.get("claims", parts)}
        home = name
        while home not in self.statements and "." in home:
            home = home.rpartition(".")[0]
        if statement := self.statements.get(home):
            spec = ({"statement": statement.statement} if home == name else {}) | spec
            spec |= {} if "section" in spec or "page" in spec else {"section": statement.section}
        row = self.single.get(spec["paper"]) if isinstance(spec.get("paper"), str) else None
        if spec["test"] == "value" and row and row.tolerance:
            spec = {"tol": row.tolerance, "why": self.reasons.get(row.reason, ""), "runs": row.runs} | spec
        if isinstance(spec.get("equals"), str):
            spec = {"paper": spec["equals"]} | spec
        return self.numbers(spec)

    def numbers(self, block: Any) -> Any:
        """A mapping with the paper's number in place of its id, and of {id} in a text; all else as it is."""
        if not isinstance(block, Mapping):
            return block
        return {key: self.number(key, part) if isinstance(part, str) else part for key, part in block.items()}

    def number(self, key: Any, text: str) -> Any:
        """What a text under a key stands for."""
        if key in NUMBERS and text in self.single:
            return self.single[text].value
        if key not in ("statement", "label"):
            return text
        return FIELD.sub(lambda field: self.texts.get(field[0], field[0]), text)


def mapping(block: Any) -> Mapping[Any, Any]:
    """`block`, or {} where it is no mapping."""
    return block if isinstance(block, Mapping) else {}


def block_of(content: Any, name: str) -> Mapping[Any, Any]:
    """A block of a file of whatever form; empty where it is no mapping."""
    return mapping(mapping(content).get(name))


def parts_of(block: Mapping[Any, Any]) -> dict[str, Any]:
    """The named parts of a block that are mappings; the checks name the others."""
    return {name: part for name, part in block.items() if isinstance(part, Mapping) and isinstance(name, str)}


def named(block: Any, measures: Mapping[str, Any]) -> Any:
    """`block` with the measure itself wherever the name of one stands."""
    if isinstance(block, list):
        return [named(item, measures) for item in block]
    if not isinstance(block, Mapping):
        return block
    return {
        key: measures.get(part, {"name": part})
        if key in MEASURES and isinstance(part, str)
        else named(part, measures)
        for key, part in block.items()
    }


def measure(row: Value, content: Mapping[str, Any]) -> Entry:
    """The measure that a value of a trained experiment is of."""
    block = block_of(block_of(content, "measures"), row.measure)
    return dict(block) | ({"split": row.split} if row.split else {})


def strangers(row: Value, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Names of a row that its experiment or its paper does not define."""
    for key, names in known.items():
        if given := getattr(row, key):
            yield from (f"{key}: {message}" for _, message in unknown((), key, given, names))
    if row.item and "measure" in known:
        yield f"item: {row.item!r} given; a trained experiment has none"
    if not row.item and "measure" not in known:
        yield "item: '' given; a number of a computed experiment is that of an item"
    if not row.measure:
        yield f"measure: '' given; {suggestion('', known.get('measure', ()))}"


def pooled(row: Value, known: Mapping[str, Sequence[str]], content: Mapping[str, Any]) -> Iterator[str]:
    """Keys that a row of a trained experiment leaves out, so that it would be held against the mean over all
    of their names: allowed where its artefact asks for that mean. A number beside curves may be of them all.
    And an `x` or settings, which no table has.
    """
    spec = mapping(block_of(content, "artefacts").get(row.artefact))
    table = spec.get("draw") == "table"
    if table and (row.x is not None or row.settings):
        key, given = ("settings", ", ".join(row.settings)) if row.x is None else ("x", f"{row.x:g}")
        why = f"{row.artefact} is a table, and points and settings are those of curves"
        yield f"{key}: {given} given; {why}; leave it empty"
    if content["kind"] != "train" or (row.tolerance is None and not table):
        return
    rows, columns = spec.get("rows", ["variant"]), spec.get("columns")
    cut = [*(rows if isinstance(rows, list) else [rows]), columns]
    blocks = [spec, *(columns if isinstance(columns, list) else [])]
    for key in ("condition", "variant"):
        mean = table and key not in cut and any(block_of(it, "where").get(key) == "all" for it in blocks)
        if not getattr(row, key) and len(known[key]) > 1 and not mean:
            asked = f"a table without {key} in its rows asks for their mean by where: {{{key}: all}}"
            yield f"{key}: '' given where there are several; {suggestion('', known[key])}; {asked}"


def is_drawn(row: Value, spec: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether an artefact draws what the value is of: its places, and its measure or that of a column."""
    where = mapping(spec.get("where"))
    for key in ("condition", "variant"):
        asked = where.get(key, "all")
        if asked != "all" and getattr(row, key) not in (asked if isinstance(asked, list) else [asked]):
            return False
    columns = spec.get("columns") if isinstance(spec.get("columns"), list) else [spec]
    drawn = [mapping(column).get("measure") or spec.get("measure") for column in columns]
    return bool(row.item) or measure(row, content) in drawn


def sentence(row: Value, artefact: str, option: str, content: Mapping[str, Any]) -> str:
    """What the paper says with a value: model, place and split, then the number and its unit."""
    labels = mapping(content["artefacts"][artefact].get("labels"))
    block = block_of(block_of(content, "variants"), row.variant)
    model = block.get("label") or cell_title(row.variant) if row.variant else row.item
    parts = [model, row.condition, option or row.option, row.split]
    return f"{', '.join(str(labels.get(name, name)) for name in parts if name)}: {row.text} {row.unit}"


def entries(rows: Iterable[Value], option: str, content: Mapping[str, Any]) -> list[Entry]:
    """What a drawing takes of the values, beside `option` if they name none; a series under `points`."""
    by_id: dict[str, Entry] = {}
    for row in rows:
        keys = {"condition": row.condition, "variant": row.variant, "item": row.item}
        keys["option"] = row.option or option
        entry: Entry = {key: name for key, name in keys.items() if name} | dict(row.settings)
        entry |= {"name": row.measure} if row.item else {"measure": measure(row, content)}
        origin = values.SOURCES[row.source] + (f", page {row.page}" if row.page else "")
        entry = by_id.setdefault(row.id, entry | {"source": row.source, "from": origin})
        if row.x is None:
            entry["value"] = row.value
        else:
            entry.setdefault("points", {})[row.x] = row.value
    return list(by_id.values())
