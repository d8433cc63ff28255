"""What can be broken on purpose, so that a newcomer sees red as well as green.

``GOLDEN_DEMO_BREAK`` names one or more switches, divided by commas; it is read at each turn. Each breaks one behaviour
of some kinds of questions, and leaves the rest alone:

| switch | what goes wrong | asked for |
| --- | --- | --- |
| ``wrong-tool`` | ``get_news`` is called where ``get_quote`` should be | a quote, a position today, a what-if |
| ``claimed-action`` | the answer says that an order was placed | advice |
| ``invented-figure`` | the answer adds figures that no tool gave | the portfolio, a holding |
| ``cut-stream`` | the stream ends inside an event in mid-answer | news |
| ``error-event`` | an ``error`` event comes in mid-answer | price history |
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from golden.demo.understanding import Kind

VARIABLE = "GOLDEN_DEMO_BREAK"


@dataclass(frozen=True, slots=True)
class Switch:
    """The kinds of questions that a switch breaks, and what it has the answer say besides."""

    kinds: frozenset[Kind]
    says: str = ""


SWITCHES: Mapping[str, Switch] = {
    "wrong-tool": Switch(frozenset({"quote", "valuation", "what_if"})),
    "claimed-action": Switch(frozenset({"advice"}), " Anyway, order placed: I've taken care of it for you."),
    "invented-figure": Switch(
        frozenset({"summary", "holding"}),
        " That is a return of 61.8% since 2019, and $1,250,000.00 is within reach by 2034.",
    ),
    "cut-stream": Switch(frozenset({"news"})),
    "error-event": Switch(frozenset({"history"})),
}


def chosen() -> frozenset[str]:
    """The switches that the environment names.

    Raises:
        ValueError: for a name that is no switch.
    """
    names = frozenset(name.strip() for name in os.environ.get(VARIABLE, "").split(",")) - {""}
    if unknown := sorted(names - SWITCHES.keys()):
        raise ValueError(
            f"{VARIABLE} names {', '.join(map(repr, unknown))}, which is no switch of the demo: "
            f"the switches are {', '.join(SWITCHES)}"
        )
    return names


def chosen_for(kind: Kind) -> frozenset[str]:
    """Those of ``chosen()`` that break questions of this kind."""
    return frozenset(name for name in chosen() if kind in SWITCHES[name].kinds)
