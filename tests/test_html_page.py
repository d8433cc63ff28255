"""The page as a person meets it: opened from the disk in a real browser."""

from itertools import pairwise

from golden.transcript import Failure, Seen, Timing
from golden.verdict import Try, verdict
from tests.browser import Open, Page
from tests.pages import BETTER, MIXED, WORSE, case, quote
from tests.test_reports import left_out
from tests.values import judged, turn


def ids(page: Page) -> list[str]:
    return page.texts("#list .id")


# What stands at the top


def test_the_verdict_stands_first_and_then_what_changed_each_with_a_way_to_its_case(opened: Open) -> None:
    before = (case("well"), case("ill", tags=["smoke"]), case("legacy"))
    page = opened(*MIXED, before=before)
    assert page.texts("h1") == ["1 of 5 cases failed"]
    assert page.texts(".counts li") == ["1 failed", "1 could not be judged", "1 not run", "1 passed", "1 skipped"]
    assert page.texts("#changes .lead") == ["2 cases regressed"]
    assert page.texts("#changes h3") == ["gone 1", "regressed, case changed 1", "new 3"]
    assert page.texts("#changes a") == ["legacy", "ill", "cut", "later", "late"]
    page.click("#changes a[href*=ill]")
    assert page.texts(".case.opened .id") == ["ill"]
    assert page.run("document.activeElement.closest('li').className") == "case opened"
    assert page.run("location.hash") == "#case=ill"
    page.run("scrollTo(0, 0)")
    page.run("location.hash = 'change=new'")
    page.settle()
    assert page.run("scrollY") > 100
    page.click("#changes a[href*=legacy]")
    assert "is in no suite of this run" in page.texts("#case-5")[0]


def test_without_a_baseline_nothing_is_said_of_changes_and_without_times_nothing_of_them(opened: Open) -> None:
    page = opened(left_out())
    assert page.texts("h1") == ["The one case skipped"]
    assert page.texts("#changes, #times") == []
    assert opened().texts("h1, #filters [role=status]") == ["No cases", "All 0 cases"]


def test_how_times_are_spread_is_a_picture_that_is_told_in_words(opened: Open) -> None:
    slow = [case(f"c{at}", timing=Timing(0.1, 0.1 + at / 10, 1.0 + at)) for at in range(20)]
    page = opened(*slow, case("cut", error=Failure("cut", "x"), timing=Timing(0.1, 0.2, 60)), before=slow[:3])
    names = page.run("[...document.querySelectorAll('.spread > svg')].map((one) => one.getAttribute('aria-label'))")
    assert names == [
        "First token: median 1.00 s, 95th percentile 1.90 s, longest 2.00 s; "
        "in the baseline median 200 ms, 95th percentile 300 ms, longest 300 ms",
        "Whole answer: median 10.0 s, 95th percentile 19.0 s, longest 20.0 s; "
        "in the baseline median 2.00 s, 95th percentile 3.00 s, longest 3.00 s",
    ]
    assert page.run("document.querySelectorAll('.spread rect.now').length") > 10


# Filters


def test_filters_leave_what_they_say_with_counts_and_are_kept_in_the_address(opened: Open) -> None:
    page = opened(*MIXED)
    assert ids(page) == ["ill", "cut", "late", "well", "later"]
    assert page.texts(".chip") == ["failed 1", "error 1", "not run 1", "passed 1", "skipped 1", "smoke 2", "slow 1"]
    page.click(".facet[aria-label=Tags] .chip")
    assert ids(page) == ["ill", "well"]
    assert page.texts("[role=status]") == ["2 of 5 cases"]
    assert page.texts(".facet[aria-label=Status] .chip") == [
        "failed 1",
        "error 0",
        "not run 0",
        "passed 1",
        "skipped 0",
    ]
    page.run("document.getElementById('find').focus()")
    page.press(*"LISBON")
    assert ids(page) == ["ill"]
    address = page.run("location.hash")
    assert address == "#q=LISBON&tag=smoke"
    again = opened(*MIXED, address=address)
    assert ids(again) == ["ill"]
    assert again.run("document.getElementById('find').value") == "LISBON"
    assert again.run("document.querySelectorAll('[aria-pressed=true]').length") == 1
    again.click(".told button")
    assert ids(again) == ["ill", "cut", "late", "well", "later"]
    again.run("location.hash = 'status=passed&status=failed&sort=suite'")
    again.settle()
    assert ids(again) == ["well", "ill"]
    again.run("history.back()")
    again.until("location.hash.length < 2")


def test_a_text_is_found_in_answers_and_tools_too_and_what_changed_is_a_filter(opened: Open) -> None:
    before = (BETTER, case("well"))
    page = opened(WORSE, case("well"), before=before, address="#q=exec_ui")
    assert ids(page) == ["quote"]
    assert ids(opened(WORSE, case("well"), before=before, address="#q=placed%20again")) == ["quote"]
    page = opened(WORSE, case("well"), before=before, address="#change=regressed&sort=nonsense&tag=none")
    assert ids(page) == []
    page = opened(WORSE, case("well"), before=before)
    page.click(".facet[aria-label='Since the baseline'] .chip")
    assert ids(page) == ["quote"]
    assert page.run("location.hash") == "#change=regressed"


# A case


def test_a_case_opens_to_all_that_is_known_of_it(opened: Open) -> None:
    page = opened(WORSE, address="#case=quote")
    assert page.texts(".reason b") == ["expect", "groundedness_threshold", "forbidden_phrases", "expected_tools"]
    assert page.texts(".said .prose") == ["Open the chart, please.", "Order placed, and order placed again."]
    assert page.texts("mark") == ["Order placed", "order placed"]
    assert page.texts(".sides tbody tr") == [
        "expect call 1",
        "tool exec_ui exec_ui",
        'kind differs "openPanel" "openFile"',
        "id any value 12345678901234567890",
        "extra – [1, 2]",
        "what the tool gave back",
        "expected_tools",
        "tool differs get_quote not called",
        "called besides call 2",
        "tool – get_news",
        'symbol – "MSFT"',
    ]
    page.click(".sides summary")
    assert page.texts(".block") == ['{"ok": true}']
    meter = page.run("document.querySelector('.track').getAttribute('aria-label')")
    assert meter == "groundedness: 0.25, below the threshold of 0.80"
    assert page.texts(".timeline .facts li") == [
        "first event 250 ms",
        "first token 1.00 s",
        "silent for 650 ms from 250 ms, until tool_result",
        "2 tool calls from 250 ms",
        "end 1.10 s",
    ]
    assert page.texts(".findings li") == ["scores several"]
    page.click("section > div > details > summary")
    assert page.texts(".events tbody tr")[0] == "0.250 tool_call call"
    assert len(page.texts(".events tbody tr")) == 5
    assert "1,200 in, 30 out" in page.texts(".facts-of dd")


def test_before_and_now_stand_side_by_side(opened: Open) -> None:
    page = opened(WORSE, before=[BETTER], address="#case=quote")
    assert page.texts(".sides.changed tbody tr") == [
        "status changed passed failed",
        "groundedness changed 0.90 0.25",
        "first token 1.00 s 1.00 s",
        "total 1.10 s 1.10 s",
        "tokens 1,200 in, 30 out 1,200 in, 30 out",
        "model m-1 m-1",
        "expect changed holds fails",
        "groundedness_threshold changed holds fails",
        "forbidden_phrases changed holds fails",
        "expected_tools changed holds fails",
        "answer changed Here it is. Order placed, and order placed again.",
        "called otherwise",
        "tool exec_ui exec_ui",
        'kind changed "openPanel" "openFile"',
        "id 12345678901234567890 12345678901234567890",
        "extra[0] 1 1",
        "extra[1] 2 2",
        "called no more",
        "tool changed get_quote not called",
        'arguments {"symbol": "MSFT"} –',
        "called now",
        "tool changed not called get_news",
        'arguments – {"symbol": "MSFT"}',
    ]


def test_turns_tries_and_trials_are_told_apart(opened: Open) -> None:
    turns = [
        {"question": "One?", "groundedness_threshold": 0.5},
        {"question": "Two?", "groundedness_threshold": 0.9, "expected_tools": ["look"]},
    ]
    asked = {"id": "two", "question": None, "turns": turns}
    two = judged(asked, turn("1", question="One?", scores=(0.6,)), turn("2", question="Two?", scores=(0.6,)))
    tries = [Try(1, 1, case("flaky", "Ill.")), Try(1, 2, case("flaky"))]
    trials = [Try(at + 1, 1, case("trials", "All is well." if at else "Ill.")) for at in range(3)]
    page = opened(two, verdict(tries, 1, "pass"), verdict(trials, 3, "pass"), address="#case=two")
    assert page.texts(".opened .reason b") == ["groundedness_threshold, turn 2", "expected_tools, turn 2"]
    assert page.texts(".opened h4")[1:3] == ["Turn 1", "Turn 2"]
    meters = page.texts(".opened .meter")
    assert meters == ["0.60, the threshold of 0.50 is met", "0.60, below the threshold of 0.90"]
    page.run("location.hash = 'case=flaky'")
    page.settle()
    first, last = page.texts("#case-1 .attempts li")
    assert first == 'try 1: failed required_phrases: not in the answer: "well"'
    assert last == "try 2: passed"
    assert "flaky" in page.texts(".badge")
    page.run("location.hash = 'case=trials'")
    page.settle()
    assert page.texts("#case-2 .attempts li b") == ["trial 1", "trial 2", "trial 3"]
    assert "2 of 3 trials passed" in page.texts("#case-2 section p")


def test_a_stream_that_stopped_and_one_of_which_a_part_was_kept_say_so(opened: Open) -> None:
    events = tuple(Seen(at / 100, "token", "text") for at in range(1000))
    late = tuple(Seen(50 + at / 100, "token", "text") for at in range(1000))
    failure = Failure("timeout", "no end within 60 s\nhint: --timeout raises it")
    page = opened(
        case("long", events=events + late, events_total=5000, timing=Timing(0.0, 0.0, 61), error=failure, finish=None),
        address="#case=long",
    )
    assert page.texts(".opened .facts li")[-2:] == [
        "3,000 events not kept between 9.99 s and 50.0 s",
        "stopped: timeout 61.0 s",
    ]
    assert page.texts(".opened .reason .hint") == ["hint: --timeout raises it"]
    page.click("section > div > details > summary")
    assert len(page.texts(".events tbody tr")) == 200
    page.click(".scroll + button")
    assert len(page.texts(".events tbody tr")) == 400


# Keyboards, screen readers, small windows


def focused(page: Page) -> str:
    """What has the focus: the id of a case or of a control, else its text."""
    one = "document.activeElement"
    told = page.run(f"{one}.querySelector('.id')?.innerText || {one}.id || {one}.innerText")
    return " ".join(str(told).split())


def test_the_whole_page_is_used_with_keys_alone(opened: Open) -> None:
    page = opened(*MIXED)
    page.press("Tab")
    assert focused(page) == "Skip to the cases"
    page.press("Enter", "Tab")
    assert focused(page) == "find"
    assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press("Tab", "Tab")
    assert focused(page) == "failed 1"
    page.press(" ")
    assert ids(page) == ["ill"]
    assert page.run("document.activeElement.ariaPressed") == "true"
    page.press(" ", *["Tab"] * 7)
    assert focused(page) == "ill"
    page.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert focused(page) == "cut"
    page.press("End", "ArrowDown")
    assert focused(page) == "later"
    page.press("Enter")
    assert page.texts(".case.opened .id") == ["later"]
    assert page.run("document.activeElement.ariaExpanded") == "true"
    page.press("Enter")
    assert page.texts(".case.opened .id") == []
    assert page.run("location.hash") == ""


def test_each_control_has_a_name_and_each_part_its_landmark_and_heading(opened: Open) -> None:
    page = opened(WORSE, *MIXED, before=[BETTER], address="#case=quote")
    page.send("Accessibility.enable")
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    page.send("Accessibility.disable")
    told = [
        (node["role"]["value"], node.get("name", {}).get("value", ""), node) for node in nodes if not node["ignored"]
    ]
    controls = {
        "button",
        "link",
        "textbox",
        "searchbox",
        "combobox",
        "checkbox",
        "DisclosureTriangle",
        "image",
        "table",
    }
    assert [role for role, name, _ in told if role in controls and not name.strip()] == []
    roles = {role for role, *_ in told}
    assert {"banner", "main", "search", "contentinfo", "status", "table", "rowheader", "columnheader"} <= roles
    levels = [
        next(one["value"]["value"] for one in node["properties"] if one["name"] == "level")
        for role, _, node in told
        if role == "heading"
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = [name for role, name, _ in told if role == "button"]
    (opened_case,) = [name for name in names if name.startswith("failed: quote ")]
    assert opened_case.startswith("failed: quote Open the chart, please. expect: expected exec_ui(")
    assert opened_case.endswith(" regressed 1.10 s")


def test_nothing_is_wider_than_a_phone(opened: Open) -> None:
    wide = quote("x" * 500, "z" * 200, "y" * 3000, 0.2).model_copy(update={"case_id": "i" * 120, "question": "q" * 300})
    page = opened(
        wide, *MIXED, before=[quote("openPanel", "t", "y" * 2000, 0.9)], address=f"#case={'i' * 120}", width=320
    )
    assert page.texts(".case.opened .id") == ["i" * 120]
    assert page.run("document.scrollingElement.scrollWidth") <= 320


def test_what_moves_stands_still_for_who_prefers_it(opened: Open) -> None:
    page = opened(*MIXED)
    moved = "getComputedStyle(document.querySelector('.case .icon.open')).transitionDuration"
    assert page.run(moved) == "0s"
    page.look(1280, 900, still=False)
    assert page.run(moved) != "0s"


def test_the_colours_follow_what_is_preferred(opened: Open) -> None:
    page = opened(*MIXED)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.look(1280, 900, dark=True)
    assert page.run(ground) != light


# Many cases


def test_of_a_thousand_cases_a_few_are_made_at_a_time_and_each_can_be_reached(opened: Open) -> None:
    page = opened(*(case(f"case-{at:04}", status="failed" if at == 700 else "passed") for at in range(1000)))
    assert len(ids(page)) < 150
    assert ids(page)[:2] == ["case-0700", "case-0000"]
    page.run("document.getElementById('more').scrollIntoView()")
    page.until("document.querySelectorAll('#list li').length > 100")
    assert len(ids(page)) < 300
    page.run("document.querySelector('#list li:last-child button').focus()")
    last = focused(page)
    page.press("ArrowDown")
    assert focused(page) == ids(page)[ids(page).index(last) + 1]
    page.run("location.hash = 'case=case-0999&q=nothing'")
    page.settle()
    assert page.texts(".case.opened .id") == ["case-0999"]
    assert page.texts("[role=status]") == ["All 1,000 cases"]
    page.run("location.hash = 'q=case-099'")
    page.settle()
    assert len(ids(page)) == 10
