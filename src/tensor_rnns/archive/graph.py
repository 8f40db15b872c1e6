"""The graph of a research crate as it grows: entities, members of the archive, values of parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from tensor_rnns.archive import layout

FORMATS = {
    ".csv": "text/csv", ".gz": "application/gzip", ".html": "text/html", ".json": "application/json",
    ".md": "text/markdown", ".mid": "audio/midi", ".npz": "application/zip", ".pdf": "application/pdf",
    ".svg": "image/svg+xml", ".tex": "application/x-tex", ".txt": "text/plain", ".yaml": "application/yaml",
    ".yml": "application/yaml",
}  # fmt: skip


def ref(name: str) -> dict[str, str]:
    """A reference to the entity `name`."""
    return {"@id": name}


@dataclass
class Facts:
    """What a crate says beside the jobs: bytes of the `members`, settings of the report, version of code and
    commit, run `records` by path, and the file of each of Snakemake's `rules`."""

    scale: str
    members: Mapping[str, int]
    settings: Mapping[str, str]
    version: str
    snakemake: str
    day: str
    title: str
    author: str
    records: Mapping[str, Mapping[str, Any]]
    rules: Mapping[str, str]


@dataclass
class Crate:
    """The graph as it grows."""

    facts: Facts
    graph: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, kind: str | Sequence[str], /, **properties: Any) -> dict[str, str]:
        """Add the entity `name`, or what is not yet said of it; lists of one become their only value."""
        entity = {"@id": name, "@type": kind}
        for key, value in properties.items():
            if value not in ("", [], None):
                entity[key] = value[0] if isinstance(value, list) and len(value) == 1 else value
        self.graph[name] = entity | self.graph.get(name, {})
        return ref(name)

    def file(self, name: str, /, **properties: Any) -> dict[str, str]:
        """Add a member of the archive; of what is left out, such as weights and data, that there is one."""
        if name not in self.facts.members:
            said = f"not in the archive; for data see {layout.DATA_TABLE}"
            return self.add(f"#{name}", "CreativeWork", name=name, description=said)
        kind = FORMATS.get(PurePosixPath(name).suffix, "text/plain")
        return self.add(name, "File", name=name, encodingFormat=kind, **self.sized(name), **properties)

    def sized(self, name: str) -> dict[str, str]:
        """The size and date of a member, which whoever serves it from an address should say."""
        return {"contentSize": str(self.facts.members[name]), "sdDatePublished": self.facts.day}

    def parameter(self, tool: str, name: str, kind: str = "Text") -> dict[str, str]:
        """Add a parameter of a tool."""
        return self.add(f"#parameter-{tool}-{name}", "FormalParameter", name=name, additionalType=kind)

    def value(self, tool: str, name: str, value: str) -> dict[str, str]:
        """Add the value of one parameter of a tool."""
        parameter = f"#parameter-{tool}-{name}"
        return self.add(f"#value-{tool}-{name}-{value}", "PropertyValue", name=name, value=value or "all",
                        exampleOfWork=ref(parameter))  # fmt: skip
