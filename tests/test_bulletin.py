from typing import Any

import pytest

from golden.bulletin import KINDS, Bulletin, bulletin
from golden.compare import compare
from golden.result import CaseResult, CheckResult, ErrorResult, Status
from tests.test_compare import AFTER, STATUSES, case
from tests.values import run_of

LOCKED = "the server refused the question with 401\nhint: the preview looks protected: give its bypass header"


def told(now: list[CaseResult], before: list[CaseResult] | None = None) -> Bulletin:
    run = run_of(*now)
    return bulletin(run, None if before is None else compare(run_of(*before), run))


def failed(case_id: str = "a", *names: str, **more: Any) -> CaseResult:
    """A result in which these checks do not hold."""
    rows = [CheckResult(name=name, ok=False, message=f"not {name}", turn=None) for name in names or ("x",)]
    fine = CheckResult(name="fine", ok=True, message="", turn=None)
    return case(case_id, "failed", checks=(fine, *rows), **more)


def unjudged(case_id: str = "a", kind: str = "timeout", message: str = "no end within 60 s", **more: Any) -> CaseResult:
    status: Status = kind if kind in ("skipped", "not_run") else "error"  # type: ignore[assignment]  # both are
    return case(case_id, status, error=ErrorResult(kind=kind, message=message), **more)


PASSED = [case(f"p{at}") for at in range(5)]
HOLD = tuple(CheckResult(name=name, ok=True, message="", turn=None) for name in "xy")

# before → passed, failed, error, skipped, not_run, absent; beside enough cases that pass for no error to be an outage
BECAME = {
    "passed": "-, regressed, regressed, skipped now, -, gone",
    "failed": "fixed, already failing, already failing, skipped now, -, gone",
    "error": "fixed, already failing, already failing, skipped now, -, gone",
    "skipped": "-, no baseline, no baseline, -, -, gone",
    "not_run": "-, no baseline, no baseline, -, -, gone",
    "absent": "-, no baseline, no baseline, -, -, -",
    "": "-, failed, no verdict, -, -, -",
}


@pytest.mark.parametrize("before", BECAME)
def test_a_case_is_told_by_what_became_of_it(before: Any) -> None:
    after: Any
    for after, kind in zip(AFTER, BECAME[before].split(", "), strict=True):
        was = [*PASSED, *([] if before not in STATUSES else [case("a", before)])] if before else None
        now = [*PASSED, *([] if after == "absent" else [case("a", after)])]
        assert [item.kind for item in told(now, was).items] == ([] if kind == "-" else [kind]), after


def test_a_case_whose_text_changed_is_never_told_as_if_the_agent_had() -> None:
    became = {
        ("passed", "failed"): "case changed",
        ("failed", "passed"): "case changed",
        ("failed", "failed"): "already failing",
        ("skipped", "failed"): "no baseline",
        ("passed", "passed"): "",
        ("skipped", "passed"): "",
    }
    for (before, after), kind in became.items():
        items = told([case("a", after, case_sha256="1")], [case("a", before, case_sha256="2")]).items  # type: ignore[arg-type]  # statuses
        assert [(item.kind, item.why.startswith("the case itself changed")) for item in items] == [(kind, True)] * bool(
            kind
        )


def test_items_stand_the_worst_first_and_each_kind_in_suite_order() -> None:
    before = [
        *(failed("f1", trials=(0, 3)), failed("k"), case("r1"), case("n", trials=(3, 3)), case("r2"), case("g")),
        *(case("c", case_sha256="1"), case("s"), failed("f2")),
    ]
    now = [
        *(
            case("f1", trials=(3, 3)),
            failed("k"),
            failed("new"),
            failed("r1"),
            failed("n", trials=(2, 3)),
            failed("r2"),
        ),
        *(failed("c", case_sha256="2"), unjudged("s", "skipped"), case("f2")),
    ]
    items = told(now, before).items
    assert [item.case_id for item in items] == ["r1", "r2", "g", "c", "n", "s", "f1", "f2", "new", "k"]
    assert [*dict.fromkeys(item.kind for item in items)] == [
        kind for kind in KINDS if kind not in ("failed", "no verdict")
    ]


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        (case("a", trials=(3, 3)), failed("a", trials=(0, 3)), ("3/3", "0/3")),
        (case("a"), failed(), ("1/1", "0/1")),
        (case("a", flaky=True), failed(), ("on a retry", "0/1")),
        (case("a"), unjudged(), ("1/1", "error")),
        (unjudged(), case("a"), ("error", "1/1")),
        (unjudged("a", "not_run"), failed(), ("not run", "0/1")),
        (case("a"), unjudged("a", "skipped"), ("1/1", "skipped")),
    ],
)
def test_an_item_says_how_many_of_its_tries_passed_before_and_now(
    before: CaseResult, now: CaseResult, shown: tuple[str, str]
) -> None:
    (item,) = told([*PASSED, now], [*PASSED, before]).items
    assert (item.before, item.now) == shown


@pytest.mark.parametrize(("statuses", "now"), [(["failed", "passed"], "1/2"), (["error", "failed", "failed"], "0/3")])
def test_of_retries_those_that_passed_are_counted(statuses: list[str], now: str) -> None:
    result = failed()
    tries = tuple(result.attempts[0].model_copy(update={"status": status}) for status in statuses)
    (item,) = told([result.model_copy(update={"attempts": tries})]).items
    assert (item.before, item.now) == ("", now)


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        (case("a"), failed("a", "x"), "x: not x"),
        (case("a"), failed("a", "x", "y", "z"), "x: not x (and 2 more)"),
        (case("a"), case("a", "failed"), ""),
        (case("a"), unjudged(message="no end\nhint: --timeout raises it"), "timeout: no end"),
        (failed("a", "x", "y"), case("a", checks=HOLD), "x holds (and 1 more)"),
        (unjudged(message="no end\nhint: raise it"), case("a"), "was an error: timeout: no end"),
        (case("a"), unjudged("a", "skipped", "NAME not set"), "skipped: NAME not set"),
        (case("a", case_sha256="1"), failed("a", "x", case_sha256="2"), "the case itself changed; x: not x"),
    ],
)
def test_an_item_says_why(before: CaseResult, now: CaseResult, why: str) -> None:
    (item,) = told([*PASSED, now], [*PASSED, before]).items
    assert item.why == why


ALL_WELL = "all 5 passed"
SENTENCES: list[tuple[list[CaseResult], list[CaseResult] | None, str]] = [
    ([], None, "no questions"),
    (PASSED, None, ALL_WELL),
    (PASSED, PASSED, f"no regression, {ALL_WELL}"),
    ([*PASSED, unjudged("s", "skipped")], None, f"{ALL_WELL}, 1 skipped"),
    ([*PASSED, failed("a"), unjudged("b")], None, "1 failed, 1 could not be judged, 5 of 7 passed"),
    ([*PASSED, failed("p9")], [*PASSED, case("p9")], "1 regression, 5 of 6 passed"),
    ([*PASSED, failed("a"), failed("b")], [*PASSED, case("a"), case("b")], "2 regressions, 5 of 7 passed"),
    (PASSED, [*PASSED, case("z")], f"1 regression, {ALL_WELL}"),
    ([*PASSED, failed("a")], PASSED, "1 failing without a baseline, 5 of 6 passed"),
    ([*PASSED, failed("a")], [*PASSED, failed("a")], "no regression, 5 of 6 passed, 1 already failing"),
    (PASSED, [*PASSED[1:], failed("p0")], f"no regression, {ALL_WELL}, 1 fixed"),
    ([*PASSED, failed("a", trials=(2, 3))], [*PASSED, case("a", trials=(3, 3))], "1 likely noise, 5 of 6 passed"),
    (
        [*PASSED, failed("a", case_sha256="1")],
        [*PASSED, case("a", case_sha256="2")],
        "1 with the case changed, 5 of 6 passed",
    ),
    ([*PASSED, unjudged("a", "skipped")], [*PASSED, case("a")], f"1 skipped that had a verdict, {ALL_WELL}"),
    ([unjudged("a", "skipped")], [case("a")], "1 skipped that had a verdict"),
    ([*PASSED, unjudged("a", "not_run")], PASSED, "no regression, 1 not run, 5 of 6 passed"),
]


@pytest.mark.parametrize(("now", "before", "sentence"), SENTENCES)
def test_the_verdict_is_one_sentence_and_names_the_worst_first(
    now: list[CaseResult], before: list[CaseResult] | None, sentence: str
) -> None:
    assert told(now, before).sentence == sentence


LATE = [unjudged(f"e{at}") for at in range(4)]


@pytest.mark.parametrize(
    ("now", "sentence", "cause"),
    [
        (
            [
                unjudged("a", "skipped", "skipping evals: NAME not set"),
                unjudged("b", "skipped", "skipping evals: NAME not set"),
            ],
            "skipped, nothing was asked",
            ("The reason", "skipping evals: NAME not set"),
        ),
        (
            [unjudged("a", "refused", LOCKED), *(unjudged(name, "not_run", "5 in a row") for name in "bc")],
            "the preview is protected, 1 could not be judged, 2 not run, 0 of 3 passed",
            ("Most often", LOCKED.replace("\nhint: ", "; ")),
        ),
        (
            [unjudged("a", "refused", "with 403")],
            "the agent refuses the questions, 1 could not be judged, 0 of 1 passed",
            ("Most often", "with 403"),
        ),
        (
            [unjudged("a", "unreachable", "no connection"), unjudged("b", "unreachable", "no connection"), case("c")],
            "the agent cannot be reached, 2 could not be judged, 1 of 3 passed",
            ("Most often", "no connection"),
        ),
        (
            [*LATE, failed("f"), case("p")],
            "most questions could not be judged, 1 failed, 4 could not be judged, 1 of 6 passed",
            ("Most often", "no end within 60 s"),
        ),
        (
            [*PASSED, unjudged("a", "not_run", "the suite time-out of 1 s was reached")],
            "1 not run, 5 of 6 passed",
            ("Stopped early", "the suite time-out of 1 s was reached"),
        ),
        (LATE[:1], "1 could not be judged, 0 of 1 passed", None),
        ([case("a", "not_run", error=None)], "1 not run, 0 of 1 passed", None),
    ],
)
def test_what_most_cases_without_a_verdict_have_in_common_is_told_once(
    now: list[CaseResult], sentence: str, cause: tuple[str, str] | None
) -> None:
    of = told(now)
    assert (of.sentence, of.cause) == (sentence, cause)
    is_outage = cause is not None and cause[0] == "Most often"
    bad = {result.case_id for result in now if result.status in ("failed", "error")}
    errors = {result.case_id for result in now if result.status == "error"}
    assert {item.case_id for item in of.items} == (bad - errors if is_outage else bad)


def test_of_an_outage_no_case_is_told_as_a_regression() -> None:
    names = [f"e{at}" for at in range(44)]
    of = told(
        [unjudged(name, "unreachable", "no connection") for name in names], [case(name) for name in [*names, "g"]]
    )
    assert of.sentence == "the agent cannot be reached, 1 regression, 44 could not be judged, 0 of 44 passed"
    assert [item.kind for item in of.items] == ["gone"]
