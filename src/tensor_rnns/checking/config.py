"""What config.yaml and --config hold, held against the schema of the configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, validators

from tensor_rnns import yaml_files
from tensor_rnns.messages import shortened, suggestion

CONFIG = Path("config.yaml")
SCHEMA = Path("workflow/schemas/config.schema.yaml")
WHOLE = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
Validator = validators.extend(Draft202012Validator, type_checker=WHOLE)
"""JSON Schema takes 5.0 for a whole number, and the commands do not."""


def config_problems(config: Mapping[str, Any], root: Path) -> list[str]:
    """What is wrong with the keys of the configuration of the workflow in the folder `root`."""
    schema = yaml_files.read(root / SCHEMA).content
    known = schema["properties"]
    wrong = misread(root / CONFIG)
    wrong += [f"config: unknown key {key!r}; {suggestion(key, known)}" for key in config if key not in known]
    wrong += [f"config: needed is the key {key!r}" for key in schema["required"] if key not in config]
    errors = Validator(schema).iter_errors(config)
    for key in dict.fromkeys(error.absolute_path[0] for error in errors if error.absolute_path):
        own = known[key]
        own = schema["$defs"][own["$ref"].rpartition("/")[2]] if "$ref" in own else own
        said = suggestion(config[key], own["enum"]) if "enum" in own else f"allowed are {own['description']}"
        wrong.append(f"config: {key} is {config[key]!r}; {said}")
    state, results = (root / str(config.get("state"))).resolve(), (root / "results").resolve()
    cleaned = [results / f"{scale}{end}" for scale in known["scale"]["enum"] for end in ("", "-partial")]
    if {results / "logs", *cleaned} & {state, *state.parents}:
        wrong.append(f"config: state is {config['state']!r}; allowed are folders that `make clean` leaves")
    return wrong


def misread(path: Path) -> list[str]:
    """What the configuration file cannot hold, since Snakemake, which reads YAML 1.1, would take other values
    than stand there, as for 12:00 or 010, or one of two values of a key."""
    try:
        ours = yaml_files.read(path).content
        theirs = yaml.safe_load(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return [str(error)]
    except yaml.YAMLError as error:  # as of a tab, which the one parser takes and the other does not
        return [f"{path.name}: not what Snakemake can read: {shortened(' '.join(str(error).split()), 400)}"]
    if not isinstance(ours, Mapping) or not isinstance(theirs, Mapping):
        return [f"{path.name}: {shortened(repr(ours), 100)} given; allowed is `key: value`, one in a line"]
    pairs = {key: [repr(of.get(key)) for of in (ours, theirs)] for key in ours.keys() | theirs.keys()}
    return [
        f"{path.name}: {key} is {written}, which Snakemake reads as {read}; allowed is what both read alike"
        for key, (written, read) in sorted(pairs.items())
        if written != read
    ]
