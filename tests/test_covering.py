import base64
import json
from collections.abc import Sequence
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.covering import covered
from golden.redaction import Secrets
from golden.sse import Event
from tests.values import covering

SECRET = 'top/secret "code"'


def tokens(*texts: str, name: str = "token") -> list[Event]:
    return [Event(name, json.dumps({"text": text})) for text in texts]


def texts(events: Sequence[Event]) -> list[str]:
    return [json.loads(event.data or "")["text"] for event in events]


@pytest.mark.parametrize(
    "echo", [SECRET, quote(SECRET), base64.b64encode(f"user:{SECRET}".encode()).decode(), json.dumps(SECRET)]
)
@given(data=st.data())
def test_a_secret_goes_in_each_form_however_it_is_cut_into_deltas(echo: str, data: st.DataObject) -> None:
    told = f"it is {echo}!"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(told)), max_size=5)))
    pieces = [told[start:end] for start, end in zip([0, *cuts], [*cuts, len(told)], strict=True)]
    secrets = covering(SECRET)
    shown = texts(covered(tokens(*pieces), secrets))
    assert "".join(shown) == secrets.cover(told)
    assert "█" in "".join(shown)
    assert [*map(len, shown)] == [*map(len, pieces)]


def test_what_holds_no_secret_is_unchanged_to_the_byte() -> None:
    events = (
        *tokens("a", "b"),
        Event("token", '{ "text" :  "c\\u0020" }', "7", 0.5),
        Event("ping", None),
        Event("", "[DONE]"),
        Event("odd", '{"text": "\ufffd"}', raw=b'{"text": "\xff"}'),
    )
    assert covered(events, covering(SECRET)) == events
    assert covered(events, Secrets()) == events


def test_other_events_between_the_deltas_hide_no_secret() -> None:
    events = [tokens("top/se")[0], Event("ping", '{"text": "other"}'), *tokens('cret "code"')]
    assert texts(covered(events, covering(SECRET))) == ["█" * 6, "other", "█" * 11]


def test_deltas_of_events_by_several_names_are_one_text_too() -> None:
    events = [*tokens("top/se", name="first"), *tokens('cret "code"', name="next")]
    assert texts(covered(events, covering(SECRET))) == ["█" * 6, "█" * 11]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"pin": 12345678, "n": 1}', '{"pin":"████████","n":1}'),
        ('{"12345678": [true, null, "12345678"]}', '{"████████":[true,null,"████████"]}'),
        ('"12345678"', '"████████"'),
        ("pin 12345678", "pin ████████"),
        ("12345678", "████████"),
    ],
)
def test_numbers_keys_and_data_that_is_no_object_are_covered_too(data: str, expected: str) -> None:
    (event,) = covered([Event("e", data)], covering("12345678"))
    assert (json.loads(event.data or "") if expected[0] in '{"' else event.data) == (
        json.loads(expected) if expected[0] in '{"' else expected
    )


def test_plain_text_that_is_cut_into_events_is_one_text() -> None:
    first, second = covered([Event("", "it is 1234"), Event("", "5678!")], covering("12345678"))
    assert (first.data, second.data) == ("it is ████", "████!")


def test_names_ids_and_bytes_that_are_not_utf_8_are_covered() -> None:
    raw = b'{"text": "\xff 12345678"}'
    event = Event("12345678", raw.decode(errors="replace"), "id-12345678", 0.5, raw)
    (shown,) = covered([event], covering("12345678"))
    assert (shown.name, shown.id, shown.at) == ("████████", "id-████████", 0.5)
    assert "12345678" not in repr(shown)
    text = b"\xff 12345678 \xfe"
    (shown,) = covered([Event("", text.decode(errors="replace"), raw=text)], covering("12345678"))
    assert b"12345678" not in (shown.raw or b"")
    assert "12345678" not in (shown.data or "")
