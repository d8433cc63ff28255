// What a case opens to.

const HINT = "\nhint: ";

function part(title, ...children) {
  const filled = children.flat().filter(Boolean);
  return filled.length ? el("section", {}, el("h4", {}, title), filled) : null;
}

function message(text) {
  const [told, ...hints] = text.split(HINT);
  return [prose(told), hints.map((hint) => prose(`hint: ${hint}`, { class: "hint" }))];
}

/** An answer with the forbidden phrases in it marked; places count characters, as golden does. */
function marked(spots) {
  if (!spots?.length) return (text) => [text];
  return (text) => {
    const characters = [...text];
    const pieces = [];
    let at = 0;
    for (const [from, to] of spots.filter(([start]) => start < characters.length)) {
      if (from < at) continue;
      pieces.push(characters.slice(at, from).join(""), el("mark", {}, characters.slice(from, to).join("")));
      at = to;
    }
    return [...pieces, characters.slice(at).join("")];
  };
}

function why(result) {
  const failed = result.checks.filter((check) => check.ok === false);
  const title = result.status === "passed" ? "Expected to fail" : "Why";
  return part(
    title,
    result.error
      ? el("div", { class: `reason ${result.status}` }, el("b", {}, result.error.kind), message(result.error.message))
      : null,
    (result.status !== "passed" || result.xfailed ? failed : []).map((check) =>
      el(
        "div",
        { class: "reason failed" },
        el("b", {}, check.name, turnOf(result, check.turn)),
        message(check.message),
      ),
    ),
  );
}

function turnOf(result, turn) {
  return turn === null || result.turns.length < 2 ? "" : `, turn ${turn + 1}`;
}

function conversation(result, hits) {
  return result.turns.map((turn, at) => {
    const cut = turn.answer_chars > [...turn.answer].length;
    return part(
      result.turns.length > 1 ? `Turn ${at + 1}` : "Conversation",
      el("div", { class: "said asked" }, el("span", { class: "who" }, "Question"), prose(turn.question)),
      el(
        "div",
        { class: "said" },
        el("span", { class: "who" }, "Answer"),
        turn.answer ? prose(turn.answer, {}, marked(hits[at])) : el("p", { class: "none" }, "nothing was answered"),
        cut
          ? el("p", { class: "note" }, `the first part of ${turn.answer_chars.toLocaleString("en")} characters`)
          : null,
      ),
      turn.error && result.turns.length > 1
        ? el("div", { class: "reason error" }, el("b", {}, turn.error.kind), message(turn.error.message))
        : null,
    );
  });
}

function grounded(result) {
  const scores = result.turns.filter((turn) => turn.groundedness !== null);
  if (!scores.length && result.groundedness_threshold === null) return null;
  // Where turns ask for different ones, the message of each check begins with its own.
  const threshold = (at) => {
    const check = result.checks.find((each) => each.name === "groundedness_threshold" && each.turn === at);
    const own = Number.parseFloat(check?.message);
    return Number.isFinite(own) ? own : result.groundedness_threshold;
  };
  return part(
    "Groundedness",
    result.turns.map((turn, at) =>
      el(
        "div",
        { class: "graded" },
        result.turns.length > 1 ? el("span", { class: "who" }, `Turn ${at + 1}`) : null,
        meter(turn.groundedness, threshold(at)),
      ),
    ),
  );
}

function stream(result) {
  return part(
    "Stream",
    result.turns
      .filter((turn) => turn.events.length || turn.findings.length)
      .map((turn) =>
        el(
          "div",
          {},
          result.turns.length > 1 ? el("span", { class: "who" }, `Turn ${result.turns.indexOf(turn) + 1}`) : null,
          turn.events.length ? timeline(turn) : null,
          turn.findings.length
            ? el(
                "ul",
                { class: "findings" },
                turn.findings.map((finding) => el("li", {}, el("b", {}, finding.kind), prose(finding.message))),
              )
            : null,
          turn.events.length ? fold(`All ${count(turn.events_total, "event")}`, () => eventTable(turn)) : null,
        ),
      ),
  );
}

function checks(result) {
  const names = { true: "holds", false: "does not hold", null: "undecided" };
  const icons = { true: "passed", false: "failed", null: "not_run" };
  const ordered = [false, null, true].flatMap((ok) => result.checks.filter((check) => check.ok === ok));
  return part(
    "Checks",
    ordered.length
      ? el(
          "ul",
          { class: "checks" },
          ordered.map((check) =>
            el(
              "li",
              {},
              icon(icons[check.ok]),
              el(
                "div",
                {},
                el("b", {}, check.name, turnOf(result, check.turn)),
                el("span", { class: "hush" }, `: ${names[check.ok]}`),
                check.ok === true ? prose(check.message, { class: "hush" }) : null,
              ),
            ),
          ),
        )
      : null,
  );
}

function attempts(result) {
  if (result.attempts.length < 2) return null;
  const { trials } = result;
  const told = trials
    ? `${trials.passed} of ${trials.run} trials passed`
    : `${result.attempts.length} tries${result.flaky ? ": flaky, it passed on a retry only" : ""}`;
  return part(
    "Attempts",
    el("p", {}, told),
    el(
      "ol",
      { class: "attempts" },
      result.attempts.map((attempt) =>
        el(
          "li",
          {},
          icon(attempt.status),
          el(
            "div",
            {},
            el(
              "b",
              {},
              trials ? `trial ${attempt.trial}` : `try ${attempt.try}`,
              trials && attempt.try > 1 ? `, try ${attempt.try}` : "",
            ),
            el("span", { class: "hush" }, `: ${WORDS[attempt.status]}`),
            attempt.error ? message(`${attempt.error.kind}: ${attempt.error.message}`) : null,
            attempt.checks
              .filter((check) => check.ok === false)
              .map((check) => prose(`${check.name}: ${check.message}`)),
          ),
        ),
      ),
    ),
  );
}

// What is measured of a case, how it is told, and whether it is worth a mark where it changed: times never are.
const FIGURES = [
  ["status", (side) => WORDS[side.status] ?? side.status, true],
  ["trials", (side) => side.trials && `${side.trials.passed} of ${side.trials.run} passed`, true],
  ["error", (side) => side.error, true],
  ["groundedness", (side) => (side.groundedness === null ? null : fixed(side.groundedness)), true],
  ["first token", (side) => (side.first_token_s === null ? null : seconds(side.first_token_s))],
  ["total", (side) => (side.total_s === null ? null : seconds(side.total_s))],
  ["tokens", (side) => side.usage && tokens(side.usage)],
  ["model", (side) => side.model, true],
];

function tokens(usage) {
  const figure = (value) => (value === null ? "?" : value.toLocaleString("en"));
  return `${figure(usage.input)} in, ${figure(usage.output)} out`;
}

/** What a case was in the baseline, and what it is. */
function beforeAndNow(change, result) {
  if (!change?.before) return null;
  const { before, after } = change;
  const figures = FIGURES.map(([path, of, matters]) => ({
    path,
    left: of(before),
    right: after ? of(after) : null,
    matters,
  }))
    .filter((row) => row.left || row.right)
    .map((row) => ({ ...row, differs: row.matters && after !== null && row.left !== row.right }));
  const judged = change.checks.map((check) => ({
    path: `${check.name}${result ? turnOf(result, check.turn) : ""}`,
    left: check.before,
    right: check.after,
    differs: true,
  }));
  const answers = change.answers.map((answer, at) => ({
    path: change.answers.length > 1 ? `answer, turn ${at + 1}` : "answer",
    left: prose(answer || "–"),
    right: prose(result?.turns[at]?.answer || "–"),
    differs: after !== null,
  }));
  const notes = [
    change.case_changed ? "The case itself changed: the same answers may get another verdict." : null,
    change.p !== null && change.p < 1
      ? `p ${change.p.toFixed(3)} (Fisher's exact test, one-sided): so often chance alone does as much.`
      : null,
    change.likely_noise ? "Likely noise: it still passes more than half of its trials." : null,
  ];
  return part(
    "Before and now",
    notes.filter(Boolean).map((note) => el("p", { class: "note" }, note)),
    sides(
      "Before and now",
      ["what", "before", "now"],
      [{ rows: [...figures, ...judged, ...answers] }, ...change.calls.map(callSides)],
      "changed",
    ),
  );
}

function callSides(call) {
  const [was, now] = [call.change !== "came", call.change !== "went"];
  const named = (there) => (there ? toolName(call.name) : el("span", { class: "hush" }, "not called"));
  const rows = differences(was ? call.before : NOTHING, now ? call.after : NOTHING, "", {}).map((row) => ({
    ...row,
    path: without(row.path) || "arguments",
    differs: was && now && row.differs,
  }));
  const titles = { came: "called now", went: "called no more", changed: "called otherwise" };
  return {
    head: titles[call.change],
    rows: [{ path: "tool", left: named(was), right: named(now), differs: !was || !now }, ...rows],
  };
}

function facts(result) {
  const used = result.turns.map((turn) => turn.usage).filter(Boolean);
  const sum = (name) =>
    used.some((usage) => usage[name] !== null) ? used.reduce((total, usage) => total + (usage[name] ?? 0), 0) : null;
  const rows = [
    ["suite", result.suite && `${result.suite}${result.line ? `:${result.line}` : ""}`],
    ["model", result.model],
    ["tags", result.tags.join(", ")],
    ["tokens", used.length ? tokens({ input: sum("input"), output: sum("output") }) : null],
    [
      "finish",
      [...new Set(result.turns.map((turn) => turn.finish).filter((finish) => finish && finish !== "finished"))].join(
        ", ",
      ),
    ],
    ["metadata", Object.keys(result.metadata).length ? laid(result.metadata) : null],
  ].filter(([, value]) => value);
  return part(
    "About",
    rows.length
      ? el(
          "dl",
          { class: "facts-of" },
          rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, prose(value)))),
        )
      : null,
  );
}

/** The body of a case, made when it is first opened. */
function body(entry) {
  const change = exactChange(entry.id);
  if (entry.place === null) {
    return [
      el(
        "p",
        {},
        "This case of the baseline is in no suite of this run. It counts as regressed: what is not asked cannot hold.",
      ),
      beforeAndNow(change, null),
    ];
  }
  const result = exactly(entry.place);
  return [
    why(result),
    el(
      "div",
      { class: "halves" },
      el(
        "div",
        {},
        result.turns.length ? conversation(result, extras.hits[entry.place]) : part("Question", prose(result.question)),
        part("Tool calls", calls(result)),
      ),
      el("div", { class: "aside" }, grounded(result), checks(result), attempts(result), facts(result)),
    ),
    beforeAndNow(change, result),
    stream(result),
  ].filter(Boolean);
}
