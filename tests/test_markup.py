import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from golden.markup import block, code, link
from golden.visible import unheeded
from tests.rendered import Page

FRAGMENTS = [
    *(
        "```",
        "\n```\n",
        "````",
        "~~~",
        "`",
        "``",
        "**",
        "__",
        "~~",
        "# ",
        "\n# ",
        "> ",
        "- ",
        "\n- [ ] ",
        "1. ",
        "\n\n",
        "\n",
    ),
    *(
        "<img src=x onerror=alert(1)>",
        "![x](https://evil.example/x.png)",
        "<script>alert(1)</script>",
        "<svg/onload=x>",
    ),
    *(
        "</pre>",
        "</code>",
        "</details>",
        "</td></tr></table>",
        "<details open>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
    ),
    *("@evil", "@org/team", "evil@example.com", "mailto:evil@example.com", "xmpp:evil@example.com", "#123", "GH-12"),
    *(
        "o/r#1",
        "https://evil.example",
        "www.evil.example",
        "http://evil.example/a_b",
        "ftp://evil.example",
        "<https://e.example>",
    ),
    *(
        "[x](https://evil.example)",
        "[x]: https://evil.example\n",
        "[^1]",
        "[^1]: note\n",
        "[",
        "](",
        ")",
        "!",
        "|",
        "\\|",
        "\\",
    ),
    *(
        "0123456789abcdef0123456789abcdef01234567",
        ":tada:",
        "$x$",
        "&lt;",
        "&#60;script&#62;",
        "&",
        "&#x",
        "%0A",
        "%25",
        "\0",
        "\x1b[31m",
    ),
    *(
        "\u202e",
        "\u2066",
        "\u200b",
        "\u2028",
        "\ud800",
        "\r",
        "\r\n",
        "\t",
        "    ",
        "\x85",
        "\ufeff",
        "\U000e0041",
        "é漢📈",
    ),
    *("::error::x", "\n::stop-commands::x\n", "##[error]x", "##vso[task.complete]x", "<!-- golden:report v1 -->\n"),
]
"""What might be markup, wherever it stands, and would do harm."""

HOSTILE = st.lists(st.sampled_from(FRAGMENTS) | st.text(st.characters(), max_size=4), max_size=12).map("".join)


@given(HOSTILE)
@example("\n" * 5000)
@example("".join(FRAGMENTS) * 20)
def test_text_in_code_and_in_a_block_is_shown_as_text_and_is_nothing_else(text: str) -> None:
    page = Page(
        f"| {code(text)} | x |\n|---|---|\n| {code(text)} | x |\n\n### {code(text)}\n\n{block(text, 2000)}\n\nend\n"
    )
    assert page.faults == []
    assert page.tags == [
        *("table", "thead", "tr", "th", "code", "th", "tbody", "tr", "td", "code", "td", "h3", "code", "pre", "p")
    ]
    assert page.shown.split() == ["x", "x", "end"]
    assert len({shown.strip("\n ") for shown in page.code[:3]}) == 1


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp", "Zs"]), max_size=80))
def test_what_is_shown_is_what_was_said(text: str) -> None:
    one, many = Page(f"x {code(text)} x\n\n{block(text, 2000)}").code
    assert one.replace("@\u200b", "@") == text
    assert many == f"\n{text}\n"


@given(HOSTILE)
def test_no_code_and_no_block_is_a_command_where_it_is_printed(text: str) -> None:
    for shown in (code(text), block(text, 2000)):
        assert unheeded(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\r\ntwo\n\nthree\n", "one\ntwo\n\nthree\n"),
        ("bell\x07, \x1b[31mred\x1b[0m, \u202ecod", "bell\\x07, \\x1b[31mred\\x1b[0m, \\u202ecod"),
        ("x" * 600, "x" * 499 + "…"),
        ("\n".join("x" * 100), "\n".join("x" * 60) + "…"),
        ("xy " * 1000, ("xy " * 1000)[:499] + "…"),
        ("<b>&amp;", "<b>&amp;"),
    ],
)
def test_a_block_keeps_its_lines_and_is_cut_where_it_is_long(text: str, shown: str) -> None:
    assert Page(block(text, 2000)).code == [f"\n{shown}\n"]


def test_a_block_of_many_characters_says_that_it_was_cut() -> None:
    (shown,) = Page(block("line\n" * 50, 100)).code
    assert shown == "\n" + ("line\n" * 50)[:99] + "…\n"


@pytest.mark.parametrize("url", ["https://github.com/o/r/actions/runs/1", "https://ghe.example:8443/a?b=c&d=%20#e"])
def test_a_link_of_goldens_own_leads_where_it_says(url: str) -> None:
    assert Page(link("Run", url)).links == [url]


@given(HOSTILE)
def test_no_url_breaks_out_of_its_link(url: str) -> None:
    page = Page(f"x {link('Run', 'https://github.com/' + url)} x")
    assert page.tags == ["p", "a"]
    assert page.shown == "x Run x\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\u003a:error::x"),
        ("a\n \t\u3000::set-output name=a::b\rc", "a\n \t\u3000\\u003a:set-output name=a::b\rc"),
        ("a\r::error::x", "a\r\\u003a:error::x"),
        ("a ::error::x, std::vector, [::1]", "a ::error::x, std::vector, [::1]"),
        ("a ##[error]x ##vso[task.complete]", "a \\u0023#[error]x \\u0023#vso[task.complete]"),
        ("###[error]x ##", "#\\u0023#[error]x ##"),
        ("", ""),
    ],
)
def test_what_a_ci_runner_would_obey_is_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert unheeded(text) == shown
    assert unheeded(shown) == shown


@given(HOSTILE)
def test_json_says_the_same_whether_or_not_it_is_obeyed(text: str) -> None:
    said = json.dumps({text: [text]})
    assert json.loads(unheeded(said)) == {text: [text]}
