"""What an experiment file takes from the tables beside it, `values.csv` and `ledger.csv`, written out.

- A value with a `tolerance` is a claim of its id. It is one more, `id.option`, for each artefact of the file
  with `printed: {of: its artefact, option: option}` that draws its measure. What the file says under such an
  id is added.
- A name in place of a measure is one of the file's `measures`; the id of a value in place of a number is that
  number.
- A claim without `statement` or `section` has those of its row in the ledger, or of its parent's, the id
  before a dot. A claim without `test` refers to its parts, the claims of the file with one more dot.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensor_rnns.experiments import ledger, values
from tensor_rnns.experiments.check_words import SPLITS, suggestion
from tensor_rnns.experiments.titles import cell_title
from tensor_rnns.experiments.values import PLACES, Value

MEASURES = ("measure", "than_measure", "by", "per")
"""Keys whose value may be the name of a measure."""
NUMBERS = ("paper", "value", "within", "above", "equals", "at_least", "at_most", "ratio", "tie", "tie_ratio")
"""Keys of a claim or of a line of an artefact whose value may be the id of a number of the paper."""
Entry = dict[str, Any]


class PaperTables:
    """The values and statements of the paper in `folder`, and the reasons that its tolerances name.

    ValueError with every mistake of form in the tables.
    """

    def __init__(self, folder: Path, reasons: Mapping[str, str]) -> None:
        self.path, self.reasons = folder / values.FILE, reasons
        self.values = values.read(folder)
        self.statements = {one.id: one for one in ledger.read(folder)}
        self.single = {one.id: one for one in self.values if one.x is None}

    def homeless(self, artefacts: Collection[str]) -> list[str]:
        """Values whose artefact is none of those of the paper, one line each."""
        rows = [row for row in self.values if row.artefact and row.artefact not in artefacts]
        unknown = "artefact: unknown artefact"
        return [
            f"{self.path}:{row.line}: {unknown} {row.artefact!r}; {suggestion(row.artefact, artefacts)}"
            for row in rows
        ]

    def complete(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[Entry]]]:
        """(`content` with its measures and claims written out, {artefact: the paper's numbers beside it}).

        ValueError with every row of the values that does not fit this file.
        """
        measures = content.get("measures") or {}
        content = {
            name: named(block, measures) if name in ("artefacts", "claims", "search") else block
            for name, block in content.items()
        }
        for _, spec in mappings(content.get("artefacts")):
            if isinstance(spec.get("lines"), list):
                spec["lines"] = [
                    self.numbers(one) if isinstance(one, Mapping) else one for one in spec["lines"]
                ]
        rows = {name: self.shown(name, spec, content) for name, spec in mappings(content.get("artefacts"))}
        claims: dict[str, Any] = {}
        for name, spec in mappings(content.get("artefacts")):
            option = mapping(spec.get("printed")).get("option", "")
            for row in rows[name]:
                if row.tolerance is not None and (row.artefact == name or (option and not row.option)):
                    key = row.id if row.artefact == name else f"{row.id}.{option}"
                    claims[key] = self.claim(row, name, option, content)
        for name, spec in (content.get("claims") or {}).items():
            claims[name] = claims.get(name, {}) | spec if isinstance(spec, Mapping) else spec
        for name, spec in mappings(claims):
            claims[name] = self.filled(name, spec, claims)
        content |= {"claims": claims} if claims else {}
        drawn = {
            name: [row for row in rows[name] if is_drawn(row, spec, content)]
            for name, spec in mappings(content.get("artefacts"))
        }
        return content, {name: printed(found, content) for name, found in drawn.items() if found}

    def shown(self, name: str, spec: Mapping[str, Any], content: Mapping[str, Any]) -> list[Value]:
        """The values that an artefact shows: those of its own, or of another, that it draws."""
        home = mapping(spec.get("printed")).get("of", name)
        rows = [row for row in self.values if row.artefact == home]
        known = {key: [*(content.get(f"{key}s") or {})] for key in PLACES} | {"split": SPLITS}
        known["option"].insert(0, "main")
        known |= {"measure": [*(content.get("measures") or {})]} if content.get("kind") == "train" else {}
        known["reason"] = [*self.reasons]
        if wrong := [f"{self.path}:{row.line}: {told}" for row in rows for told in unknown(row, known)]:
            raise ValueError("\n".join(wrong))
        return rows if home == name else [row for row in rows if is_drawn(row, spec, content)]

    def claim(self, row: Value, artefact: str, option: str, content: Mapping[str, Any]) -> Entry:
        """The claim that a value with a tolerance is: a count where it is computed or exact, else a value."""
        spec: Entry = {"statement": sentence(row, artefact, option, content), "artefact": artefact}
        spec |= {"page": row.page} if row.page else {}
        if row.item:
            spec |= {"of": {"item": row.item, "name": row.measure}}
        else:
            where = {"condition": row.condition, "variant": row.variant, "option": option or row.option}
            spec |= {
                "where": {key: name for key, name in where.items() if name},
                "measure": measure(row, content),
            }
        if row.item or not row.tolerance:
            spec |= {"test": "count", "equals": row.value, "paper": row.value}
            return spec | ({"tolerance": row.tolerance} if row.tolerance else {})
        return spec | {"test": "value", "paper": row.id}

    def filled(self, name: str, spec: Mapping[str, Any], claims: Mapping[str, Any]) -> Entry:
        """A claim with what it leaves to the ledger and to the values."""
        spec = dict(spec)
        if "test" not in spec:
            parts = [one for one in claims if one.startswith(f"{name}.") and "." not in one[len(name) + 1 :]]
            spec |= {"test": "refers", "claims": spec.get("claims", parts)}
        home = name
        while home not in self.statements and "." in home:
            home = home.rpartition(".")[0]
        if found := self.statements.get(home):
            spec = ({"statement": found.statement} if home == name else {}) | spec
            spec |= {} if "section" in spec or "page" in spec else {"section": found.section}
        row = self.single.get(spec["paper"]) if isinstance(spec.get("paper"), str) else None
        if spec["test"] == "value" and row and row.tolerance:
            spec = {"tol": row.tolerance, "why": self.reasons[row.reason], "runs": row.runs} | spec
        if isinstance(spec.get("equals"), str):
            spec = {"paper": spec["equals"]} | spec
        return self.numbers(spec)

    def numbers(self, block: Mapping[str, Any]) -> Entry:
        """`block` with the number of the paper in place of its id."""
        return {
            key: self.single[value].value
            if key in NUMBERS and isinstance(value, str) and value in self.single
            else value
            for key, value in block.items()
        }


def mappings(block: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """The parts of a block that are mappings, by name; the checks name the others."""
    return (
        [(name, one) for name, one in block.items() if isinstance(one, Mapping)]
        if isinstance(block, Mapping)
        else []
    )


def mapping(block: Any) -> Mapping[str, Any]:
    """`block`, or {} where it is no mapping."""
    return block if isinstance(block, Mapping) else {}


def named(block: Any, measures: Mapping[str, Any]) -> Any:
    """`block` with the measure itself wherever the name of one stands."""
    if isinstance(block, list):
        return [named(one, measures) for one in block]
    if not isinstance(block, Mapping):
        return block
    return {
        key: named(measures.get(value, {"name": value}), measures)
        if key in MEASURES and isinstance(value, str)
        else named(value, measures)
        for key, value in block.items()
    }


def measure(row: Value, content: Mapping[str, Any]) -> Entry:
    """The measure that a value of a trained experiment is of."""
    found = named({"measure": row.measure}, content.get("measures") or {})["measure"]
    return found | ({"split": row.split} if row.split else {})


def unknown(row: Value, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Names of a row that its experiment or its paper does not define."""
    for key, names in known.items():
        given = getattr(row, key)
        if given and given not in names:
            yield f"{key}: unknown {key} {given!r}; {suggestion(given, names)}"
    if row.item and "measure" in known:
        yield f"item: {row.item!r} given; a trained experiment has none"
    if not row.item and "measure" not in known:
        yield "item: '' given; a number of a computed experiment is that of an item"
    if not row.measure:
        yield f"measure: '' given; {suggestion('', known.get('measure', ()))}"


def is_drawn(row: Value, spec: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether an artefact draws what the value is of: its places, and its measure or that of a column."""
    where = spec.get("where") or {}
    for key in ("condition", "variant"):
        asked = where.get(key, "all")
        if asked != "all" and getattr(row, key) not in (asked if isinstance(asked, list) else [asked]):
            return False
    columns = spec.get("columns") if isinstance(spec.get("columns"), list) else [spec]
    drawn = [
        column.get("measure") or spec.get("measure") for column in columns if isinstance(column, Mapping)
    ]
    return bool(row.item) or measure(row, content) in drawn


def sentence(row: Value, artefact: str, option: str, content: Mapping[str, Any]) -> str:
    """What the paper says with a value: model, place and split, then the number and its unit."""
    labels = content["artefacts"][artefact].get("labels") or {}
    block = (content.get("variants") or {}).get(row.variant) or {}
    model = block.get("label") or cell_title(row.variant) if row.variant else row.item
    parts = [model, row.condition, option or row.option, row.split]
    return f"{', '.join(str(labels.get(one, one)) for one in parts if one)}: {row.text} {row.unit}"


def printed(rows: Iterable[Value], content: Mapping[str, Any]) -> list[Entry]:
    """The values of an artefact as its drawing takes them; those of one series together, under `points`."""
    found: dict[str, Entry] = {}
    for row in rows:
        keys = {"condition": row.condition, "variant": row.variant, "option": row.option, "item": row.item}
        one: Entry = {key: name for key, name in keys.items() if name} | dict(row.settings)
        one |= {"name": row.measure} if row.item else {"measure": measure(row, content)}
        one = found.setdefault(row.id, one | {"source": row.source})
        if row.x is None:
            one["value"] = row.value
        else:
            one.setdefault("points", {})[row.x] = row.value
    return list(found.values())
