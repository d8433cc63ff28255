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
 *   wanted, came: the values; wanted may hold wildcards, as suites write them, where `partial`.
 *   partial: what came may have more than was wanted.
 */
function differences(wanted, came, path, partial, rows = [], literal = false) {
  const [left, right] = [wanted, came];
  if (partial && !literal && isObject(left)) {
    if (wildcard(left)) {
      rows.push({
        path,
        left: wildcard(left),
        right: json(right),
        differs: right === NOTHING ? true : left.$any ? false : null,
      });
      return rows;
    }
    if (Object.keys(left).length === 1 && "$literal" in left)
      return differences(left.$literal, right, path, partial, rows, true);
  }
  const size = (value) => Object.keys(value).length;
  if (isObject(left) && isObject(right) && size(left) + size(right)) {
    for (const key of Object.keys(left))
      differences(left[key], Object.hasOwn(right, key) ? right[key] : NOTHING, step(path, key), partial, rows, literal);
    for (const key of Object.keys(right))
      if (!Object.hasOwn(left, key)) differences(NOTHING, right[key], step(path, key), partial, rows, literal);
  } else if (Array.isArray(left) && Array.isArray(right) && left.length + right.length) {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      differences(
        at < left.length ? left[at] : NOTHING,
        at < right.length ? right[at] : NOTHING,
        step(path, at),
        partial,
        rows,
        literal,
      );
    }
  } else {
    rows.push({
      path,
      left: json(left),
      right: json(right),
      differs: left === NOTHING ? !partial : right === NOTHING || json(left) !== json(right),
    });
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
  const rows = differences(wanted, call ? call.args : NOTHING, "params", !alternative.strict);
  const isEmpty = (text) => text === "{}" || text === json(NOTHING);
  return rows
    .filter((row) => !isEmpty(row.left) || !isEmpty(row.right))
    .map((row) => ({
      ...row,
      path: without(row.path.replace(/^params/, "")) || "arguments",
      // Who judged knows best: a match has no differences, and a pattern that is not found is named.
      differs: met ? false : row.path === path ? true : row.differs,
    }));
}

/** Of several alternatives the one that the call is nearest to. */
function nearest(expected, call) {
  const some = expected.any_of ?? [expected];
  const far = (one) =>
    (call && one.tool === call.name ? 0 : 1000) +
    differences(one.params ?? {}, call?.args ?? NOTHING, "params", true).filter((row) => row.differs).length;
  return some.reduce((best, one) => (far(one) < far(best) ? one : best));
}

function verdictOf(met) {
  return met === undefined ? null : icon(met === null ? "not_run" : met ? "passed" : "failed");
}

function toolName(name) {
  return el("b", { class: "tool" }, el("bdi", {}, (name || "(no name)").slice(0, 300)));
}

/** A call beside what is expected of it; `met` is undefined where nothing is. */
function pairOf(met, title, expected, call, rows, place) {
  const tool = {
    path: "tool",
    left: expected === null ? "–" : toolName(expected),
    right: call ? toolName(call.name) : el("span", { class: "absent" }, "not called"),
    differs: met === false && (!call || call.name !== expected),
  };
  return {
    head: el("span", { class: "head" }, verdictOf(met), title, place ? el("span", { class: "place" }, place) : null),
    rows: [tool, ...rows],
    foot:
      call && call.result !== null && call.result !== undefined
        ? fold("what the tool gave back", () =>
            prose(typeof call.result === "string" ? call.result : laid(call.result), { class: "value block" }),
          )
        : null,
  };
}

/** Each expectation beside its calls; then names that are expected, and calls that nothing is asked of. */
function calls(result) {
  const several = result.turns.length > 1;
  const all = result.turns.flatMap((turn, at) => turn.tool_calls.map((call) => ({ ...call, turn: at })));
  const where = (call) => `call ${all.indexOf(call) + 1}${several ? `, turn ${call.turn + 1}` : ""}`;
  const told = new Set();
  const pairs = [];
  for (const one of result.expectations) {
    const among = one.turn === null ? all : all.filter((call) => call.turn === one.turn);
    const places = one.path === "tool" ? [] : one.places;
    const of = `${one.check}${several && one.turn !== null ? `, turn ${one.turn + 1}` : ""}`;
    for (const place of places.length ? places : [null]) {
      const call = place === null ? null : (among[place] ?? null);
      const alternative = nearest(one.expected, call);
      if (call) told.add(call);
      const others = (one.expected.any_of?.length ?? 1) - 1;
      const counts = one.expected.min_count > 1 ? `, ${one.expected.min_count} calls` : "";
      pairs.push(
        pairOf(
          one.met,
          `${of}${counts}${others ? `, or ${count(others, "other")}` : ""}`,
          alternative.tool,
          call,
          argumentRows(alternative, call, one.met === true, one.path),
          call ? where(call) : undefined,
        ),
      );
    }
  }
  for (const name of result.expected_tools) {
    const call = all.find((each) => each.name === name);
    if (call && told.has(call)) continue;
    if (call) told.add(call);
    const judged = result.checks.some((check) => check.name === "expected_tools" && check.ok !== null);
    pairs.push(
      pairOf(
        judged ? Boolean(call) : null,
        "expected_tools",
        name,
        call ?? null,
        call ? argumentRows({}, call, true, "") : [],
        call ? where(call) : undefined,
      ),
    );
  }
  const failed = (name) => result.checks.find((check) => check.name === name && check.ok === false);
  const forbidden =
    failed("forbidden_tools")
      ?.message.replace(/^.*?called: /s, "")
      .split(", ") ?? [];
  for (const call of all.filter((each) => !told.has(each))) {
    const wrong = failed("expect_no_tool_call")
      ? "no call was expected"
      : forbidden.includes(call.name)
        ? "forbidden"
        : null;
    pairs.push(
      pairOf(
        wrong ? false : undefined,
        wrong ?? "called besides",
        null,
        call,
        argumentRows({}, call, true, ""),
        where(call),
      ),
    );
  }
  return pairs.length ? sides("Tool calls, expected and made", ["what", "expected", "called"], pairs, "differs") : null;
}
