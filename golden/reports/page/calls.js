// Two sides, a row for each thing that they have or lack: what was expected and what was called, before and now.

const NOTHING = Symbol("nothing");
const MOST_ROWS = 100;

/** JSON on one line, with whole numbers as they were written. */
function json(value) {
  if (value === NOTHING) return "–";
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${json(item)}`)
      .join(", ")}}`;
  }
  return JSON.stringify(value);
}

/** The same over several lines, where one would be long. */
function laid(value, indent = "") {
  const line = json(value);
  if (value === null || typeof value !== "object" || line.length + indent.length <= 80) return line;
  const deeper = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => laid(item, deeper))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${laid(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${items.map((item) => `${deeper}${item}`).join(",\n")}\n${indent}${close}`;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function step(path, key) {
  if (typeof key === "number") return `${path}[${key}]`;
  return /^[\p{L}\p{N}_$-]+$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function wildcard(value) {
  if (!isObject(value) || Object.keys(value).length !== 1) return null;
  if (value.$any === true) return "any value";
  return typeof value.$regex === "string" ? `matches /${value.$regex}/` : null;
}

/**
 * The rows at which two values are told apart, one for each leaf: its path, both sides, and whether it differs
 * (null: only who judged can say).
 *
 * Args:
 *   left, right: the values, or NOTHING.
 *   rules: `wild` where the left one may hold wildcards, as suites write them; `partial` where the right may have more.
 */
function differences(left, right, path, rules, rows = []) {
  const { wild, partial } = rules;
  if (wild && wildcard(left)) {
    const differs = right === NOTHING || (left.$any ? false : null);
    rows.push({ path, left: wildcard(left), right: json(right), differs });
  } else if (wild && isObject(left) && Object.keys(left).length === 1 && "$literal" in left) {
    differences(left.$literal, right, path, { wild: false, partial }, rows);
  } else if (isObject(left) && isObject(right) && Object.keys({ ...left, ...right }).length) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const [one, other] = [left, right].map((side) => (Object.hasOwn(side, key) ? side[key] : NOTHING));
      differences(one, other, step(path, key), rules, rows);
    }
  } else if (Array.isArray(left) && Array.isArray(right) && left.length + right.length) {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      const [one, other] = [left, right].map((side) => (at < side.length ? side[at] : NOTHING));
      differences(one, other, step(path, at), rules, rows);
    }
  } else {
    const differs = left === NOTHING ? !partial : json(left) !== json(right);
    rows.push({ path, left: json(left), right: json(right), differs });
  }
  return rows;
}

/**
 * A table of two sides.
 *
 * Args:
 *   groups: each with a `head` that says what it is about, `rows` of `path`, `left`, `right` (texts or nodes) and
 *     `differs`, and a `foot`.
 *   mark: the word that tells that a row differs.
 */
function sides(caption, heads, groups, mark) {
  const cell = (value, side) =>
    el("td", { role: "cell", class: side }, value instanceof Node ? value : prose(value ?? "–", { class: "value" }));
  const row = ({ path, left, right, differs }) =>
    el(
      "tr",
      { role: "row", class: differs ? "differs" : "" },
      el(
        "th",
        { scope: "row", role: "rowheader" },
        el("bdi", {}, path.slice(0, 300)),
        differs ? [" ", el("span", { class: "word" }, mark)] : null,
      ),
      cell(left, "left"),
      cell(right, "right"),
    );
  const wide = (content, tag) =>
    el(
      "tr",
      { role: "row", class: "wide" },
      el(
        tag,
        { colspan: 3, role: tag === "th" ? "rowheader" : "cell", scope: tag === "th" ? "rowgroup" : null },
        content,
      ),
    );
  const bodies = groups.map(({ head, rows, foot }) => {
    // What differs is never among what is left for later.
    const ordered = rows.length > MOST_ROWS ? [...rows].sort((a, b) => Boolean(b.differs) - Boolean(a.differs)) : rows;
    const more =
      rows.length > MOST_ROWS
        ? wide(
            el(
              "button",
              { type: "button", class: "quiet", click: () => more.replaceWith(...ordered.slice(MOST_ROWS).map(row)) },
              `Show ${count(rows.length - MOST_ROWS, "more row")}`,
            ),
            "td",
          )
        : null;
    return el(
      "tbody",
      { role: "rowgroup" },
      head ? wide(head, "th") : null,
      ordered.slice(0, MOST_ROWS).map(row),
      more,
      foot ? wide(foot, "td") : null,
    );
  });
  return el(
    "table",
    { class: `sides ${mark}`, role: "table" },
    el("caption", { class: "hidden" }, caption),
    el(
      "thead",
      { role: "rowgroup" },
      el(
        "tr",
        { role: "row" },
        heads.map((name, at) =>
          el("th", { scope: "col", role: "columnheader" }, at ? name : el("span", { class: "hidden" }, name)),
        ),
      ),
    ),
    bodies,
  );
}

function without(path) {
  return path.replace(/^\./, "");
}

/** Rows of a call beside what is expected of it; `path` is where the first difference is known to be. */
function argumentRows(alternative, call, met, path) {
  const wanted = alternative.params ?? (isObject(call?.args) ? {} : NOTHING);
  const rules = { wild: true, partial: !alternative.strict };
  const isEmpty = (text) => text === "{}" || text === json(NOTHING);
  return differences(wanted, call ? call.args : NOTHING, "params", rules)
    .filter((row) => !isEmpty(row.left) || !isEmpty(row.right))
    .map((row) => ({
      ...row,
      path: without(row.path.replace(/^params/, "")) || "arguments",
      // Who judged knows best: a match has no differences, and a pattern that is not found is named.
      differs: met === false && (row.path === path || row.differs),
    }));
}

/** Of several alternatives the one that the call is nearest to. */
function nearest(expected, call) {
  const some = expected.any_of ?? [expected];
  const rules = { wild: true, partial: true };
  const rows = (one) => differences(one.params ?? {}, call?.args ?? NOTHING, "params", rules);
  const far = (one) => (one.tool === call?.name ? 0 : 1000) + rows(one).filter((row) => row.differs).length;
  return some.reduce((best, one) => (far(one) < far(best) ? one : best));
}

function verdictOf(met) {
  return met === undefined ? null : icon(met === null ? "not_run" : met ? "passed" : "failed");
}

function toolName(name) {
  return el("b", { class: "tool" }, el("bdi", {}, (name || "(no name)").slice(0, 300)));
}

/** A call beside what is expected of it; `met` is undefined where nothing is. */
function pairOf({ met, title, wanted = {}, call = null, path = "", where = "", absent = "not called" }) {
  const tool = {
    path: "tool",
    left: wanted.tool === undefined ? "–" : toolName(wanted.tool),
    right: call ? toolName(call.name) : el("span", { class: "absent" }, absent),
    differs: met === false && call?.name !== wanted.tool,
  };
  const given = call?.result ?? null;
  const told = () => prose(typeof given === "string" ? given : laid(given), { class: "value block" });
  return {
    head: el("span", { class: "head" }, verdictOf(met), title, where ? el("span", { class: "place" }, where) : null),
    rows: [tool, ...argumentRows(wanted, call, met, path)],
    foot: given === null ? null : fold("what the tool gave back", told),
  };
}

/** What is expected of the calls, each beside the calls that golden names with it. */
function expectedPairs(result, all) {
  return result.expectations.flatMap((one) => {
    const among = one.turn === null ? all : all.filter((call) => call.turn === one.turn);
    // A call of another tool is nobody's counterpart, but for the first call.
    const isOther = one.path === "tool" && one.check !== "expect_first";
    const found = isOther ? [] : one.places.map((place) => among[place]).filter(Boolean);
    const { any_of: some, min_count: least } = one.expected;
    const counts = least > 1 ? `, ${least} calls` : "";
    const others = some?.length > 1 ? `, or ${count(some.length - 1, "other")}` : "";
    const title = `${one.check}${turnOf(result, one.turn)}${counts}${others}`;
    const absent = one.check === "expect_order" ? "not in this order" : "not called";
    return (found.length ? found : [null]).map((call) => {
      return { met: one.met, title, wanted: nearest(one.expected, call), call, path: one.path, absent };
    });
  });
}

/** The tools that are expected by name; which of them are missing is for golden to say. */
function namedPairs(result, all) {
  const checks = result.checks.filter((check) => check.name === "expected_tools");
  const missing = new Set(checks.flatMap((check) => namesIn(check, /^expected a call of (.*?);/s)));
  const isJudged = checks.some((check) => check.ok !== null);
  return result.expected_tools.map((name) => {
    const call = missing.has(name) ? null : (all.find((each) => each.name === name) ?? null);
    return { met: isJudged ? !missing.has(name) : null, title: "expected_tools", wanted: { tool: name }, call };
  });
}

/** The names that the message of a check that does not hold lists. */
function namesIn(check, pattern) {
  return check.ok === false ? (pattern.exec(check.message)?.[1].split(", ") ?? []) : [];
}

/** Calls that nothing is asked of, and those that should not be. */
function otherPairs(result, calls) {
  const forbidden = new Set(
    result.checks.flatMap((check) =>
      check.name === "forbidden_tools" ? namesIn(check, /^forbidden, but called: (.*)$/s) : [],
    ),
  );
  const none = result.checks.some((check) => check.name === "expect_no_tool_call" && check.ok === false);
  return calls.map((call) => {
    const wrong = none ? "no call was expected" : forbidden.has(call.name) ? "forbidden" : null;
    return { met: wrong ? false : undefined, title: wrong ?? "called besides", call };
  });
}

/** Each expectation beside its calls; then names that are expected, and calls that nothing is asked of. */
function calls(result) {
  const all = result.turns.flatMap((turn, at) => turn.tool_calls.map((call) => ({ ...call, turn: at })));
  const told = new Set();
  const where = (call) => (call ? `call ${all.indexOf(call) + 1}${turnOf(result, call.turn)}` : "");
  const pairs = expectedPairs(result, all);
  for (const pair of pairs) told.add(pair.call);
  for (const pair of namedPairs(result, all)) {
    if (pair.call && told.has(pair.call)) continue;
    told.add(pair.call);
    pairs.push(pair);
  }
  pairs.push(
    ...otherPairs(
      result,
      all.filter((call) => !told.has(call)),
    ),
  );
  const groups = pairs.map((pair) => pairOf({ ...pair, where: where(pair.call) }));
  return pairs.length
    ? sides("Tool calls, expected and made", ["what", "expected", "called"], groups, "differs")
    : null;
}
