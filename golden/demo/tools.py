"""The demo's six tools: look-ups, sums and writes in a small SQLite database.

A database is handed about as its bytes and opened for one turn only, in memory: no two turns share a connection, and
what a session writes is in its own bytes. Amounts in results are dollars, percentages are in percent, dates are trading
days as ``YYYY-MM-DD``.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

Result = dict[str, Any]

_UNKNOWN = "unknown symbol"


@cache
def pristine() -> bytes:
    """The database as the package's data makes it."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(Path(__file__).with_name("data.sql").read_text("utf-8"))
        return database.serialize()


@contextmanager
def opened(image: bytes) -> Iterator[sqlite3.Connection]:
    """A private database in memory that starts as ``image``; ``serialize()`` gives it back with what was written."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.deserialize(image)
        database.row_factory = sqlite3.Row
        yield database


def lexicon(database: sqlite3.Connection) -> dict[str, str]:
    """Every symbol, company name and alias, in lower case, with the symbol that it means."""
    return {
        word.lower(): row["symbol"]
        for row in database.execute("SELECT * FROM instrument")
        for word in (row["symbol"], row["name"], *filter(None, row["aliases"].split("|")))
    }


def call(database: sqlite3.Connection, name: str, args: Mapping[str, Any]) -> Result:
    """What the tool ``name`` answers to ``args``; of a symbol that is not in the data, an ``error`` that says so."""
    symbol = args.get("symbol")
    if symbol is None:
        return TOOLS[name](database, **args)
    found = database.execute("SELECT symbol, name FROM instrument WHERE symbol = ?", [symbol]).fetchone()
    if found is None:
        return {"symbol": symbol, "error": _UNKNOWN}
    return dict(found) | TOOLS[name](database, **args)


def get_portfolio(database: sqlite3.Connection, symbol: str | None = None) -> Result:
    """One position at its last close, ``shares`` 0 where none is held; without a symbol all of them, and their sums."""
    if symbol is not None:
        row = database.execute("SELECT * FROM position WHERE symbol = ?", [symbol]).fetchone()
        return _position(row) | {"as_of": row["date"], "watched": bool(row["watched"])}
    rows = database.execute("SELECT * FROM position WHERE shares > 0 ORDER BY shares * close DESC").fetchall()
    value = sum(row["shares"] * row["close"] for row in rows)
    before = sum(row["shares"] * row["before"] for row in rows)
    cost = sum(row["shares"] * row["paid"] for row in rows)
    return {
        "as_of": max(row["date"] for row in rows),
        "count": len(rows),
        "value": _dollars(value),
        "cost": _dollars(cost),
        **_moves("gain", value, cost),
        **_moves("day_change", value, before),
        "holdings": [{"symbol": row["symbol"], "name": row["name"], **_position(row)} for row in rows],
        "watchlist": _watchlist(database),
    }


def get_quote(database: sqlite3.Connection, symbol: str) -> Result:
    """Today's price, its change since the last close, and the day's range."""
    row = database.execute(
        "SELECT quote.*, position.close FROM quote JOIN position USING (symbol) WHERE symbol = ?", [symbol]
    ).fetchone()
    return {
        "as_of": row["date"],
        "price": _dollars(row["price"]),
        "previous_close": _dollars(row["close"]),
        **_moves("change", row["price"], row["close"]),
        "low": _dollars(row["low"]),
        "high": _dollars(row["high"]),
    }


def get_price_history(database: sqlite3.Connection, symbol: str, days: int) -> Result:
    """The closes of the last ``days`` trading days, as far as the data goes back, with their range and change."""
    newest_first = database.execute(
        "SELECT date, price FROM close WHERE symbol = ? ORDER BY date DESC LIMIT ?", [symbol, max(days, 1)]
    ).fetchall()
    closes = newest_first[::-1]
    prices = [row["price"] for row in closes]
    return {
        "days": len(closes),
        "from": closes[0]["date"],
        "to": closes[-1]["date"],
        "first": _dollars(prices[0]),
        "last": _dollars(prices[-1]),
        **_moves("change", prices[-1], prices[0]),
        "low": _dollars(min(prices)),
        "high": _dollars(max(prices)),
        "closes": [{"date": row["date"], "close": _dollars(row["price"])} for row in closes],
    }


def get_news(database: sqlite3.Connection, symbol: str) -> Result:
    """The headlines on a company, the latest first."""
    rows = database.execute("SELECT date, source, headline FROM news WHERE symbol = ? ORDER BY date DESC", [symbol])
    return {"items": [dict(row) for row in rows]}


def add_to_watchlist(database: sqlite3.Connection, symbol: str) -> Result:
    """Put a symbol on the watchlist; ``added`` is false where it was on it already."""
    added = database.execute("INSERT OR IGNORE INTO watched VALUES (?)", [symbol]).rowcount
    return {"added": bool(added), "watchlist": _watchlist(database)}


def remove_from_watchlist(database: sqlite3.Connection, symbol: str) -> Result:
    """Take a symbol off the watchlist; ``removed`` is false where it was not on it."""
    removed = database.execute("DELETE FROM watched WHERE symbol = ?", [symbol]).rowcount
    return {"removed": bool(removed), "watchlist": _watchlist(database)}


TOOLS: Mapping[str, Callable[..., Result]] = {
    tool.__name__: tool
    for tool in (get_portfolio, get_quote, get_price_history, get_news, add_to_watchlist, remove_from_watchlist)
}


def _position(row: sqlite3.Row) -> Result:
    shares = row["shares"]
    value, cost = shares * row["close"], shares * row["paid"]
    return {
        "shares": shares,
        "close": _dollars(row["close"]),
        "value": _dollars(value),
        "cost": _dollars(cost),
        **_moves("gain", value, cost),
        **_moves("day_change", value, shares * row["before"]),
    }


def _watchlist(database: sqlite3.Connection) -> list[str]:
    return [row["symbol"] for row in database.execute("SELECT symbol FROM watched ORDER BY symbol")]


def _moves(name: str, now: int, then: int) -> Result:
    """The change from ``then`` to ``now``, in dollars and in percent of ``then``."""
    percent = round(100 * (now - then) / then, 2) if then else 0.0
    return {name: _dollars(now - then), f"{name}_percent": percent}


def _dollars(cents: int) -> float:
    return cents / 100
