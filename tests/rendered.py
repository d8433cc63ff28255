"""What GitHub makes of Markdown: rendered by its own library, with nothing taken out, and read as a browser would."""

import re
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

# Of a text that is not code, what GitHub links once it is rendered: people, issues, commits, addresses.
_LINKED = re.compile(r"@\w|\w@|#\d|\bGH-\d|\b[0-9a-f]{7,40}\b|https?:|www\.|:\w+:|\$", re.IGNORECASE)

TAGS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "code", "pre", "details", "summary"}
TAGS |= {"ul", "li", "a"}
"""All that golden writes."""

_BREAKS = {**dict.fromkeys(("h3", "p", "tr", "pre", "summary", "li"), "\n"), **dict.fromkeys(("th", "td"), " | ")}


class Page(HTMLParser):
    """A rendered body.

    Attributes:
        tags: each that is opened, in order.
        links: where each leads.
        shown: the text outside of code.
        read: all text as lines, cells of tables apart.
        code: the text of each code and block.
        faults: what is not as it must be, whoever's text is in it.
    """

    def __init__(self, markdown: str, filtered: bool = False) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.shown = ""
        self.read = ""
        self.code: list[str] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(_html(markdown, filtered))
        self.close()
        self.read = "\n".join(line.strip(" |") for line in self.read.splitlines() if line.strip(" |"))
        self.faults += [f"<{tag}> is open at the end" for tag in self._open]
        self.faults += [f"<{tag}>" for tag in self.tags if tag not in TAGS]
        self.faults += [f"linked by GitHub: {hit[0]}" for hit in _LINKED.finditer(self.shown)]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        self.read += _BREAKS.get(tag, "")
        given = dict(attributes)
        self.links += [given.pop("href") or ""] if tag == "a" and "href" in given else []
        self.faults += [f"{name} of <{tag}>" for name in given]
        if tag in ("code", "pre"):
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes another")

    def handle_data(self, text: str) -> None:
        self.read += "" if text.isspace() and "\n" in text else text
        if {"code", "pre"} & {*self._open}:
            self.code[-1] += text
        else:
            self.shown += text

    def handle_comment(self, text: str) -> None:
        self.faults.append(f"a comment: {text}")


def _html(markdown: str, filtered: bool) -> str:
    if filtered:
        html: str = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    else:
        html = cmarkgfm.markdown_to_html_with_extensions(
            markdown, Options.CMARK_OPT_UNSAFE, extensions=["table", "autolink", "strikethrough", "tasklist"]
        )
    return html
