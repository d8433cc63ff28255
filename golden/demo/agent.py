"""The demo agent: understand a question, plan its tool calls, act, compose the answer, stream it."""

import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from golden.demo import tools
from golden.demo.grounding import groundedness
from golden.demo.switches import SWITCHES, chosen_for
from golden.demo.understanding import Ask, Kind, understand
from golden.demo.wording import Reply, compose

Event = dict[str, str] | bytes
"""An event as its name and JSON data; bytes where the stream is cut on purpose."""

_PLANS: Mapping[Kind, Sequence[str]] = {
    "summary": ["get_portfolio"],
    "holding": ["get_portfolio"],
    "valuation": ["get_portfolio", "get_quote"],
    "what_if": ["get_portfolio", "get_quote"],
    "what_if_all": ["get_portfolio"],
    "quote": ["get_quote"],
    "history": ["get_price_history"],
    "news": ["get_news"],
    "watch": ["add_to_watchlist"],
    "unwatch": ["remove_from_watchlist"],
    "watchlist": ["get_portfolio"],
    "watched": ["get_portfolio"],
    "advice": [],
    "unclear": [],
    "help": [],
}
_MOST_SESSIONS = 256


@dataclass(slots=True)
class _Session:
    """What lasts from turn to turn: the database as its bytes, and what was asked last."""

    image: bytes = field(default_factory=tools.pristine)
    last: Ask | None = None
    lock: Lock = field(default_factory=Lock)


_Call = tuple[str, Mapping[str, Any], tools.Result]
"""A tool's name, its arguments and what it said."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A question answered, before it is streamed."""

    question: str
    calls: Sequence[_Call]
    answer: str
    groundedness: float
    broken: frozenset[str]


_sessions: OrderedDict[str, _Session] = OrderedDict()
_sessions_lock = Lock()


def run_agent_turn(question: str, *, session_id: str | None = None) -> Iterator[Event]:
    """Answer one question, as a stream of events in golden's native dialect.

    Args:
        question: in English, in free wording.
        session_id: a session to go on with, or to begin; without one the question stands alone. The 256 sessions used
            last are kept.

    Yields:
        ``tool_call`` and ``tool_result`` for each tool, ``token`` for each word, then ``message``, ``groundedness``,
        ``usage`` (in words) and ``done``.

    Raises:
        ValueError: if ``GOLDEN_DEMO_BREAK`` names an unknown switch.

    >>> [event["event"] for event in run_agent_turn("Hello!")][-4:]
    ['message', 'groundedness', 'usage', 'done']
    """
    return _stream(_answer(question, _session(session_id)))


def _session(session_id: str | None) -> _Session:
    if session_id is None:
        return _Session()
    with _sessions_lock:
        session = _sessions.setdefault(session_id, _Session())
        _sessions.move_to_end(session_id)
        if len(_sessions) > _MOST_SESSIONS:
            _sessions.popitem(last=False)
        return session


def _answer(question: str, session: _Session) -> _Turn:
    with session.lock, tools.opened(session.image) as database:
        lexicon = tools.lexicon(database)
        ask = understand(question, lexicon, session.last)
        broken = chosen_for(ask.kind)
        done = replace(ask, kind="news") if "wrong-tool" in broken else ask

        plan = _PLANS[done.kind]
        calls: list[_Call] = []
        replies: list[Reply] = []
        for subject in (done.symbols if plan else ()) or (None,):
            acted = [(name, args := _args(name, done, subject), tools.call(database, name, args)) for name in plan]
            calls += acted
            replies.append(compose(done, {name: result for name, _, result in acted}))

        if database.total_changes:
            session.image = database.serialize()
        known = tuple(symbol for symbol in ask.symbols if symbol.lower() in lexicon)
        if ask.kind not in ("help", "unclear") and (known or not ask.symbols):
            session.last = replace(ask, symbols=known)
    answer = " ".join(reply.text for reply in replies) + "".join(SWITCHES[name].says for name in broken)
    steps = [step for reply in replies for step in reply.steps]
    score = groundedness(answer, [result for _, _, result in calls], steps, given=(ask.percent,))
    return _Turn(question, calls, answer, score, broken)


def _args(tool: str, ask: Ask, symbol: str | None) -> dict[str, Any]:
    if symbol is None:
        return {}
    return {"symbol": symbol, "days": ask.days} if tool == "get_price_history" else {"symbol": symbol}


def _stream(turn: _Turn) -> Iterator[Event]:
    for number, (name, args, result) in enumerate(turn.calls, start=1):
        yield _event("tool_call", id=f"call_{number}", name=name, args=args)
        yield _event("tool_result", id=f"call_{number}", result=result)
    words = re.findall(r"\S+\s*", turn.answer)
    break_off = next((_BREAK_OFF[name] for name in turn.broken if name in _BREAK_OFF), None)
    for word in words[: len(words) // 2] if break_off else words:
        yield _event("token", text=word)
    if break_off:
        yield break_off
        return
    yield _event("message", text=turn.answer)
    yield _event("groundedness", score=turn.groundedness)
    yield _event("usage", input=len(turn.question.split()), output=len(words))
    yield _event("done")


def _event(event: str, /, **data: Any) -> Event:
    return {"event": event, "data": json.dumps(data)}


# What comes in mid-answer, and nothing after it. The first has no blank line: it is cut on every target alike.
_BREAK_OFF: Mapping[str, Event] = {
    "cut-stream": b'event: token\ndata: {"text": "',
    "error-event": _event("error", message="the price history service does not answer"),
}
