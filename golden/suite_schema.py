"""The JSON Schema of suite files, for editors and for other tools."""

from itertools import combinations
from typing import Any

from golden.expectation import Alternative, ToolExpectation
from golden.part import Part
from golden.suite import Case, Checks, Defaults, Question, Suite

# Of these fields exactly one is given.
_ONE_OF: dict[type[Part], tuple[str, ...]] = {Case: ("question", "turns"), ToolExpectation: ("tool", "any_of")}

# What these may not say beside `any_of`.
_IN_EACH: dict[str, object] = {"params": {"type": "object"}, "strict": {"const": True}}


def suite_schema() -> dict[str, object]:
    """Returns the JSON Schema (draft 2020-12) of a suite, in both spellings of its fields.

    What a schema cannot say (ids that differ, patterns that compile, a case that checks nothing) is left to the loader.
    """
    schema = Suite.model_json_schema()
    models = {model.__name__: model for model in (Alternative, Case, Defaults, Question, ToolExpectation)}
    for name, model in models.items():
        if issubclass(model, Checks):
            _shape_expectations(schema["$defs"][name]["properties"])
        _spell_out(model, schema["$defs"][name])
    _spell_out(Suite, schema)
    del schema["$defs"]["Case"]["properties"]["id"]["default"]  # it is made from the question
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _shape_expectations(properties: dict[str, Any]) -> None:
    """Lets `expect` be one expectation or a list, and keeps the counts out of those that are about one call."""
    expect, first, order = (properties[name] for name in ("expect", "expect_first", "expect_order"))
    expect["anyOf"] = [expect["items"], {"type": "array", "items": expect.pop("items")}]
    del expect["type"]
    counts = [key for key, name in ToolExpectation.spellings().items() if name in ToolExpectation.counts]
    one_call = {"allOf": [order["items"], {"not": {"anyOf": [{"required": [key]} for key in counts]}}]}
    first["anyOf"][0] = order["items"] = one_call


def _spell_out(model: type[Part], schema: dict[str, Any]) -> None:
    """Adds the other keys of each field: one of them at most may stand, and one must where the field is required."""
    properties, required = schema["properties"], schema.pop("required", [])
    rules: list[object] = []
    for name in list(properties):
        keys = [key for key, meant in model.spellings().items() if meant == name]
        properties |= dict.fromkeys(keys, properties[name])
        if name in required:
            rules.append(_one_of(keys))
        else:
            rules += [{"not": {"required": [*pair]}} for pair in combinations(keys, 2)]
    if model in _ONE_OF:
        rules.append(_one_of([key for key, name in model.spellings().items() if name in _ONE_OF[model]]))
    for key in (key for key, name in model.spellings().items() if name == "any_of"):
        rules += [{"not": {"required": [key, name], "properties": {name: said}}} for name, said in _IN_EACH.items()]
    if "timeoutMs" in properties:
        properties["timeoutMs"] = {**properties["timeoutMs"], "description": "The same in milliseconds."}
    schema["allOf"] = rules


def _one_of(keys: list[str]) -> dict[str, object]:
    return {"oneOf": [{"required": [key]} for key in keys]}
