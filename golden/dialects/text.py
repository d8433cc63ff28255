"""Plain text: all of it is answer. The AI SDK's text stream is one, and so is what many small servers send."""

from collections.abc import Sequence

from golden.dialects import PLAIN, Dialect, Options
from golden.fields import named_messages
from golden.signals import Signal, Text
from golden.sse import Event
from golden.wire import Head, Post, Request


def claims(head: Head, event: Event) -> str | None:
    """Nothing in a text shows that it is one: the content type does."""
    essence = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    return f"the content type `{PLAIN}`" if essence == PLAIN else None


def request(request: Request, options: Options) -> Post:
    """As the AI SDK posts, older and newer versions at once."""
    told = [{**message, "parts": [{"type": "text", "text": message["content"]}]} for message in named_messages(request)]
    model = {} if request.model is None else {"model": request.model}
    return Post("/api/chat", {"id": request.session_id, "trigger": "submit-message", "messages": told, **model})


def read(event: Event) -> Sequence[Signal]:
    return () if event.data is None else (Text(event.data),)


DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, framings=("text",), accepts=(PLAIN,))
