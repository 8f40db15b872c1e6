"""The form of an experiment file: violations of the schema."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from tensor_rnns.experiments.check_words import Problem, suggestion


def described(schema: Mapping[str, Any]) -> str:
    """What a small schema allows, in words."""
    if "oneOf" in schema:
        return " or ".join(described(choice) for choice in schema["oneOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(map(str, schema.get("enum", [schema.get("const")])))
    kinds = schema.get("type", "anything")
    text = " or ".join(kinds) if isinstance(kinds, list) else kinds
    if "minimum" in schema:
        text += f" of at least {schema['minimum']}"
    if "properties" in schema:
        text += f" with {', '.join(schema['properties'])}"
    return text


def schema_problems(content: Any, schema: Mapping[str, Any]) -> Iterator[Problem]:
    """Every violation of the schema."""
    for error in sorted(
        Draft202012Validator(schema).iter_errors(content), key=lambda e: [str(p) for p in e.absolute_path]
    ):
        place = tuple(error.absolute_path)
        if error.validator == "additionalProperties" and isinstance(error.schema.get("properties"), dict):
            allowed = error.schema["properties"]
            for key in sorted(set(error.instance) - set(allowed), key=str):
                yield (*place, key), f"unknown key {key!r}; {suggestion(key, allowed)}"
        elif (
            error.validator == "oneOf"
            and error.validator_value[0].get("required")
            and isinstance(error.instance, Mapping)
        ):
            choices = [
                " and ".join(choice["required"]) for choice in error.validator_value if "required" in choice
            ]
            given = sorted(set(error.instance) & {key for choice in error.validator_value for key in
                                                  choice.get("required", ())})  # fmt: skip
            told = " and ".join(given) or "none"
            yield place, f"exactly one of {' or '.join(choices)} must be given; given are {told}"
        elif error.validator == "oneOf" and "required" not in error.validator_value[0]:
            yield place, f"{error.instance!r} is not allowed here; allowed is {described(error.schema)}"
        elif error.validator == "enum":
            near = difflib.get_close_matches(str(error.instance), map(str, error.validator_value), n=1)
            yield place, error.message + (f"; did you mean {near[0]!r}?" if near else "")
        else:
            yield place, error.message
