"""The JSON Schema of suite files, for editors and for other tools."""

from itertools import combinations
from typing import Any

from golden.suite import Case, Defaults, Part, Suite


def suite_schema() -> dict[str, object]:
    """Returns the JSON Schema (draft 2020-12) of a suite, in both spellings of its fields.

    What a schema cannot say (ids that differ, patterns that compile, a case that checks nothing) is left to the loader.
    """
    schema = Suite.model_json_schema()
    _spell_out(Suite, schema)
    for model in (Case, Defaults):
        _spell_out(model, schema["$defs"][model.__name__])
    del schema["$defs"]["Case"]["properties"]["id"]["default"]  # it is made from the question
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _spell_out(model: type[Part], schema: dict[str, Any]) -> None:
    """Adds the other keys of each field: one of them at most may stand, and one must where the field is required."""
    properties, required = schema["properties"], schema.pop("required", [])
    rules: list[object] = []
    for name in list(properties):
        keys = [key for key, meant in model.spellings().items() if meant == name]
        properties |= dict.fromkeys(keys, properties[name])
        if name in required:
            rules.append({"oneOf": [{"required": [key]} for key in keys]})
        else:
            rules += [{"not": {"required": [*pair]}} for pair in combinations(keys, 2)]
    if "timeoutMs" in properties:
        properties["timeoutMs"] = {**properties["timeoutMs"], "description": "The same in milliseconds."}
    schema["allOf"] = rules
