"""Plain text: what is posted, and that all of it is answer."""

from golden.dialects import Options
from golden.dialects.text import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import Text
from golden.sse import Event
from golden.wire import Ends, Head, Request

PLAIN = {"content-type": "Text/Plain; charset=utf-8"}


def test_a_question_is_posted_in_both_shapes_of_messages() -> None:
    post = request(Request("why?", "s", 3, (("a", "b"), ("c", "")), "m", "be kind"), Options())
    said = [(0, "system", "be kind"), (1, "user", "a"), (2, "assistant", "b"), (3, "user", "c"), (4, "user", "why?")]
    messages = [
        {"id": f"s-{number}", "role": role, "content": text, "parts": [{"type": "text", "text": text}]}
        for number, role, text in said
    ]
    assert post.path == "/api/chat"
    assert post.body == {"id": "s", "trigger": "submit-message", "model": "m", "messages": messages}
    assert request(Request("why?", "s"), Options()).body == {
        "id": "s",
        "trigger": "submit-message",
        "messages": [{"id": "s-0", "role": "user", "content": "why?", "parts": [{"type": "text", "text": "why?"}]}],
    }


def test_all_of_it_is_answer_and_the_content_type_shows_it() -> None:
    assert read(Event("", "a")) == (Text("a"),)
    assert read(Event("", None)) == ()
    assert claims(Head(200, PLAIN, "chunked"), Event("", "a"))
    assert claims(Head(200, {}, "chunked"), Event("", "a")) is None


def test_it_has_no_end_marker_and_the_transport_alone_shows_a_cut() -> None:
    for ends, error in (("chunked", None), ("close", "cut")):
        known: Ends = "chunked" if ends == "chunked" else "close"
        reader = Reader("why?", "auto", Bounds(), Lexicon())
        reader.open(Head(200, PLAIN, known))
        for piece in (b"a\xe2", b"\x82\xac", b"\n"):
            reader.feed(piece, 0.5)
        turn = reader.close(1.0)
        assert turn.answer == "a€\n"
        assert (turn.error.kind if turn.error else None) == error
