"""From what the tools said to the sentences of an answer; every figure in them is a result's or a ``Step``'s."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from golden.demo.grounding import Step
from golden.demo.understanding import Ask, Kind

Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said, and how the figures in it that no result holds were worked out."""

    text: str
    steps: tuple[Step, ...] = ()


def compose(ask: Ask, facts: Facts) -> Reply:
    """The answer to ``ask`` for one subject; ``facts`` is what each tool that was called for it said."""
    for result in facts.values():
        if "error" in result:
            return Reply(f'I don\'t know "{result["symbol"]}": it is no symbol or company in my data.')
    return _SENTENCES[ask.kind](ask, facts)


def _summary(_: Ask, facts: Facts) -> Reply:
    whole = facts["get_portfolio"]
    parts = _listed([f"{part['symbol']} {_money(part['value'])}" for part in whole["holdings"]])
    return Reply(
        f"Your portfolio holds {whole['count']} positions worth {_money(whole['value'])} at the close of "
        f"{whole['as_of']}: {parts}. It is {_moved(whole, 'day_change')} on the day and {_moved(whole, 'gain')} "
        "against what you paid."
    )


def _holding(_: Ask, facts: Facts) -> Reply:
    part = facts["get_portfolio"]
    if not part["shares"]:
        return Reply(f"You hold no {_named(part)} shares.")
    return Reply(
        f"You own {part['shares']} {_named(part)} shares, worth {_money(part['value'])} at the close of "
        f"{part['as_of']}, which was {_money(part['close'])} a share. They are {_moved(part, 'gain')} against what you "
        "paid."
    )


def _valuation(ask: Ask, facts: Facts) -> Reply:
    part, quote = facts["get_portfolio"], facts["get_quote"]
    if not part["shares"]:
        return _holding(ask, facts)
    worth = Step(_exact(part["shares"]), "times", _exact(quote["price"]))
    return Reply(
        f"Your {part['shares']} {_named(part)} shares are worth {_money(worth.figure)} at today's price "
        f"of {_money(quote['price'])}, which is {_moved(quote, 'change')} on the day.",
        (worth,),
    )


def _what_if(ask: Ask, facts: Facts) -> Reply:
    part, quote = facts["get_portfolio"], facts["get_quote"]
    price = Step(_exact(quote["price"]), "changed by", ask.percent)
    worth = Step(_exact(part["shares"]), "times", price.figure)
    yours = f"your {part['shares']} shares would be worth {_money(worth.figure)}" if part["shares"] else "you hold none"
    return Reply(
        f"{_change(ask)} from today's {_money(quote['price'])}, {_named(part)} would trade at "
        f"{_money(price.figure)} and {yours}.",
        (price, worth),
    )


def _what_if_all(ask: Ask, facts: Facts) -> Reply:
    whole = facts["get_portfolio"]
    worth = Step(_exact(whole["value"]), "changed by", ask.percent)
    return Reply(
        f"{_change(ask)} from its {_money(whole['value'])} at the close of {whole['as_of']}, your portfolio would be "
        f"worth {_money(worth.figure)}.",
        (worth,),
    )


def _quote(_: Ask, facts: Facts) -> Reply:
    quote = facts["get_quote"]
    return Reply(
        f"{_named(quote)} trades at {_money(quote['price'])}, {_moved(quote, 'change')} on the day. "
        f"Today's range is {_money(quote['low'])} to {_money(quote['high'])}."
    )


def _history(_: Ask, facts: Facts) -> Reply:
    history = facts["get_price_history"]
    return Reply(
        f"Over the last {history['days']} trading days, {history['from']} to {history['to']}, {_named(history)} closed "
        f"between {_money(history['low'])} and {_money(history['high'])}. It went from {_money(history['first'])} to "
        f"{_money(history['last'])}, {_moved(history, 'change')}."
    )


def _news(_: Ask, facts: Facts) -> Reply:
    news = facts["get_news"]
    name = _named(news)
    items = [f'"{item["headline"]}" ({item["source"]}, {item["date"]})' for item in news["items"]]
    return Reply(f"The latest on {name}: {'; '.join(items)}." if items else f"I have no news on {name}.")


def _watch(_: Ask, facts: Facts) -> Reply:
    done = facts["add_to_watchlist"]
    how = "I've added" if done["added"] else "There was nothing to add:"
    state = "to your watchlist" if done["added"] else "is on your watchlist already"
    return Reply(f"{how} {_named(done)} {state}. {_watching('It', done)}")


def _unwatch(_: Ask, facts: Facts) -> Reply:
    done = facts["remove_from_watchlist"]
    how = "I've removed" if done["removed"] else "There was nothing to remove:"
    state = "from your watchlist" if done["removed"] else "is not on your watchlist"
    return Reply(f"{how} {_named(done)} {state}. {_watching('It', done)}")


def _watched(_: Ask, facts: Facts) -> Reply:
    part = facts["get_portfolio"]
    return Reply(f"{_named(part)} is {'' if part['watched'] else 'not '}on your watchlist.")


def _said(text: str) -> Callable[[Ask, Facts], Reply]:
    return lambda _ask, _facts: Reply(text)


_SENTENCES: Mapping[Kind, Callable[[Ask, Facts], Reply]] = {
    "summary": _summary,
    "holding": _holding,
    "valuation": _valuation,
    "what_if": _what_if,
    "what_if_all": _what_if_all,
    "quote": _quote,
    "history": _history,
    "news": _news,
    "watch": _watch,
    "unwatch": _unwatch,
    "watchlist": lambda _, facts: Reply(_watching("Your watchlist", facts["get_portfolio"])),
    "watched": _watched,
    "advice": _said(
        "I don't give advice on buying or selling, and I can't trade: that decision is yours. What I can do is show "
        "you a quote, the price history, the news, or what your position is worth."
    ),
    "unclear": _said("Which company do you mean? Tell me its name or its symbol."),
    "help": _said(
        "I'm a demo portfolio assistant. I can sum up your portfolio, say what a holding is worth, look up quotes, "
        "price history and news, and change your watchlist; with other things I can't help."
    ),
}


def _watching(subject: str, result: Mapping[str, Any]) -> str:
    return f"{subject} {'holds ' + _listed(result['watchlist']) if result['watchlist'] else 'is empty'} now."


def _named(result: Mapping[str, Any]) -> str:
    return f"{result['symbol']} ({result['name']})"


def _change(ask: Ask) -> str:
    return f"{abs(ask.percent)}% {'down' if ask.percent < 0 else 'up'}"


def _moved(result: Mapping[str, Any], what: str) -> str:
    """How a result's figure ``what`` moved, in words: "up $1.20 (0.52%)"."""
    if not result[what]:
        return "unchanged"
    return f"{'up' if result[what] > 0 else 'down'} {_money(abs(result[what]))} ({abs(result[f'{what}_percent']):.2f}%)"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _exact(figure: float) -> Decimal:
    return Decimal(str(figure))


def _money(figure: float | Decimal) -> str:
    return f"${figure:,.2f}"
