"""The JSON Schema of a line of a recording, for other tools that write or read them."""

from collections.abc import Mapping
from types import MappingProxyType

from golden.assertions import KINDS
from golden.jsonl import ENDS, LONGEST_S, MOST, ROLES
from golden.recording import Ledger

_Schema = dict[str, object]

_TEXT: _Schema = {"type": "string"}
_TEXT_OR_NULL: _Schema = {"type": ["string", "null"]}
_ONE_LINE: _Schema = {"type": ["string", "null"], "pattern": r"^[^\n\r\u0000]*$"}
_INDEX: _Schema = {"type": "integer", "minimum": 0}
_SECONDS: _Schema = {"type": "number", "minimum": 0, "maximum": LONGEST_S}
_COUNT: _Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": MOST}

_NONE: Mapping[str, _Schema] = MappingProxyType({})

# What an assertion's fields hold, by what `assertions` asks of them.
_FIELDS: dict[type, _Schema] = {str: _TEXT, int: _INDEX}


def recording_schema() -> _Schema:
    """Returns the JSON Schema (draft 2020-12) of a line of a recording. Any line may have other keys.

    What lines say of one another (`meta` first, `assertions` last, no gap in `turnIndex`) is left to the reader.
    """
    ledger = _object({}, dict.fromkeys(Ledger._fields, _COUNT))
    status: _Schema = {"type": "integer", "minimum": 0, "maximum": 999}
    headers: _Schema = {"type": "object", "additionalProperties": _TEXT}
    data64: _Schema = {"type": "string", "contentEncoding": "base64"}
    finding = _object({"kind": _TEXT, "message": _TEXT})
    event = _line(
        "event",
        {"turnIndex": _INDEX, "at": _SECONDS},
        {"event": _ONE_LINE, "id": _ONE_LINE, "data": _TEXT_OR_NULL, "data64": data64},
    )
    says = [{"required": [name], "properties": {name: _TEXT}} for name in ("event", "data", "data64")]
    twice = {"required": ["data", "data64"], "properties": {"data": _TEXT}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a recording",
        "oneOf": [
            _line("meta", {}),
            *(_turn(role) for role in ROLES if role != "assistant"),
            _turn("assistant", {"tokenLedger": ledger}),
            _line("head", {"turnIndex": _INDEX, "status": status, "headers": headers}),
            {**event, "anyOf": says, "not": twice},
            _line("end", {"turnIndex": _INDEX, "at": _SECONDS, "by": {"enum": [*ENDS]}}, {"findings": _list(finding)}),
            _line("assertions", {"assertions": _list({"oneOf": [_assertion(name) for name in KINDS]})}),
        ],
    }


def _turn(role: str, more: Mapping[str, _Schema] = _NONE) -> _Schema:
    text = _object({"type": _is("text"), "text": _TEXT})
    call = _object({"type": _is("toolCall"), "name": _TEXT}, {"id": _TEXT_OR_NULL})
    other = _object({}, {"type": {"not": {"enum": ["text", "toolCall"]}}})
    content = _list({"oneOf": [text, call, other]})
    return _line(
        "turn", {"turnIndex": _INDEX, "role": _is(role), "content": content, **more}, {"toolUseId": _TEXT_OR_NULL}
    )


def _assertion(name: str) -> _Schema:
    kind = KINDS[name]
    needed = {field: _FIELDS[held] for field, held in kind.fields.items() if field in kind.needed}
    others: dict[str, _Schema] = {
        field: {"anyOf": [_FIELDS[held], {"type": "null"}]}
        for field, held in kind.fields.items()
        if field not in kind.needed
    }
    return _object({"kind": _is(name), **needed}, others)


def _line(kind: str, required: Mapping[str, _Schema], optional: Mapping[str, _Schema] = _NONE) -> _Schema:
    return _object({"type": _is(kind), **required}, optional)


def _object(required: Mapping[str, _Schema], optional: Mapping[str, _Schema] = _NONE) -> _Schema:
    return {"type": "object", "required": [*required], "properties": {**required, **optional}}


def _list(items: _Schema) -> _Schema:
    return {"type": "array", "items": items}


def _is(value: str) -> _Schema:
    return {"const": value}
