// Small pictures: how times are spread, how grounded an answer is, how a stream went. Each is told in words beside it.

function quantile(sorted, share) {
  return sorted.length ? sorted[Math.ceil(sorted.length * share) - 1] : null;
}

function ascending(values) {
  return values.filter((value) => value !== null && value !== undefined).sort((a, b) => a - b);
}

/** A length of time that reads well: 1, 2 or 5 of a power of ten, no less than what is given. */
function roundly(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

const BINS = 32;

/** Bars of how often a time was met, those of a baseline below the line. What is far beyond most is in the last bar. */
function spread(name, now, before) {
  const of = quantile(now, 0.95);
  const longest = Math.max(now.at(-1), before.at(-1) ?? 0);
  const step = roundly(Math.max(Math.min(longest, Math.max(of, quantile(before, 0.95) ?? 0) * 1.6), 0.001) / BINS);
  const bins = Math.min(BINS, Math.floor(longest / step) + 1);
  const counted = (values) => {
    const bars = new Array(bins).fill(0);
    for (const value of values) bars[Math.min(bins - 1, Math.floor(value / step))] += 1;
    return bars;
  };
  const [above, below] = [counted(now), counted(before)];
  const highest = Math.max(...above, ...below);
  const height = before.length ? 88 : 56;
  const base = 52;
  const bar = (size, at, down) => {
    const tall = size && Math.max(1.5, (size / highest) * (down ? height - base - 2 : base - 2));
    return size
      ? svg("rect", {
          class: down ? "before" : "now",
          x: at * 10 + 1,
          width: 8,
          y: down ? base + 1 : base - tall,
          height: tall,
        })
      : null;
  };
  const line = (value, kind) =>
    value !== null && value < bins * step
      ? svg("line", { class: kind, x1: (value / step) * 10, x2: (value / step) * 10, y1: 0, y2: base })
      : null;
  const told = (values) =>
    [
      ["median", 0.5],
      ["95th percentile", 0.95],
      ["longest", 1],
    ]
      .map(([name, share]) => `${name} ${seconds(quantile(values, share))}`)
      .join(", ");
  const label = `${name}: ${told(now)}${before.length ? `; in the baseline ${told(before)}` : ""}`;
  const figure = (word, share) =>
    el(
      "span",
      {},
      el("i", { class: word }),
      `${word} `,
      el("b", {}, seconds(quantile(now, share))),
      before.length ? ` (was ${seconds(quantile(before, share))})` : null,
    );
  return el(
    "figure",
    { class: "spread" },
    el(
      "figcaption",
      {},
      el("span", { class: "name" }, name),
      el("span", { class: "told" }, figure("median", 0.5), figure("p95", 0.95), figure("longest", 1)),
    ),
    svg(
      "svg",
      { role: "img", "aria-label": label, viewBox: `0 0 ${bins * 10} ${height}`, preserveAspectRatio: "none" },
      above.map((size, at) => bar(size, at, false)),
      below.map((size, at) => bar(size, at, true)),
      svg("line", { class: "axis", x1: 0, x2: bins * 10, y1: base + 0.5, y2: base + 0.5 }),
      line(quantile(now, 0.5), "median"),
      line(of, "p95"),
    ),
    el(
      "div",
      { class: "scale", "aria-hidden": "true" },
      el("span", {}, "0"),
      before.length
        ? el("span", { class: "key" }, el("i", { class: "now" }), "now", el("i", { class: "before" }), "baseline")
        : null,
      el(
        "span",
        {},
        `${longest >= bins * step ? "≥ " : ""}${seconds((longest >= bins * step ? bins - 1 : bins) * step)}`,
      ),
    ),
  );
}

/** A score on its scale from 0 to 1, with the threshold it is held to. */
function meter(score, threshold) {
  const met = threshold === null ? null : score !== null && score >= threshold;
  const held =
    met === null
      ? ""
      : met
        ? `, the threshold of ${fixed(threshold)} is met`
        : `, below the threshold of ${fixed(threshold)}`;
  const words =
    score !== null
      ? `${fixed(score)}${held}`
      : `no score came${met === null ? "" : `, ${fixed(threshold)} is asked for`}`;
  return el(
    "div",
    { class: "meter" },
    el(
      "div",
      {
        class: `track ${met === null ? "" : met ? "good" : "bad"}`,
        role: "img",
        "aria-label": `groundedness: ${words}`,
      },
      el("span", { class: "fill", css: { width: `${(score ?? 0) * 100}%` } }),
      met === null ? null : el("span", { class: "mark", css: { left: `${threshold * 100}%` } }),
    ),
    el("p", {}, words),
  );
}

// Signals that are shown in the lanes of a time line; what is none of them is in the last.
const LANES = [
  ["text", /^(?:text|whole|message|refusal)\b/],
  ["tools", /\b(?:call|callpart|calldone|result)\b/],
  ["other", /^/],
];

/** The longest silences between events, in order: those that a person would notice. */
function silences(events, total) {
  const gaps = [];
  events
    .slice(1)
    .forEach(([at, name], index) => gaps.push({ from: events[index][0], to: at, before: name || "(unnamed)" }));
  const noticed = gaps.filter((gap) => gap.to - gap.from >= Math.max(0.25, total * 0.15));
  return noticed
    .sort((a, b) => b.to - b.from - (a.to - a.from))
    .slice(0, 2)
    .sort((a, b) => a.from - b.from);
}

/** How a turn's stream went: a lane for text, for tools and for the rest, and what is worth knowing in words below. */
function timeline(turn) {
  const { events, events_total: total, timing, error } = turn;
  const last = Math.max(timing.total_s, events.at(-1)?.[0] ?? 0, 0.001);
  const share = (at) => `${Math.min(100, (Math.max(0, at) / last) * 100).toFixed(3)}%`;
  const left = total - events.length;
  // Where events were left out, silence is not known.
  const known = left > 0 ? [events.slice(0, events.length / 2), events.slice(events.length / 2)] : [events];
  const heard = error ? [...known.slice(0, -1), [...known.at(-1), [timing.total_s, "it stopped", ""]]] : known;
  const gaps = heard.flatMap((part) => silences(part, last));
  const missing = left > 0 && known[0].length ? { from: known[0].at(-1)[0], to: known[1][0][0] } : null;
  const lanes = LANES.map(([name]) => ({ name, at: [] }));
  for (const [at, , signal] of events) lanes[LANES.findIndex(([, pattern]) => pattern.test(signal))].at.push(at);
  const ticks = (at) => at.map((each) => `M${((each / last) * 1000).toFixed(1)} 0v10`).join("");
  const tools = events.filter(([, , signal]) => /\b(?:call|callpart)\b/.test(signal));
  const marks = [
    ["first-event", "first event", timing.first_event_s],
    ["first-token", "first token", timing.first_token_s],
    ["end", error ? "stopped" : "end", timing.total_s],
  ];
  const facts = [
    ...marks.slice(0, 2).map(([key, name, at]) => (at === null ? [key, `no ${name}`, ""] : [key, name, seconds(at)])),
    ...gaps.map((gap) => [
      "gap",
      `silent for ${seconds(gap.to - gap.from)}`,
      `from ${seconds(gap.from)}, until ${gap.before}`,
    ]),
    ...(tools.length ? [["tools", count(turn.tool_calls.length, "tool call"), `from ${seconds(tools[0][0])}`]] : []),
    ...(missing
      ? [["gap", `${count(left, "event")} not kept`, `between ${seconds(missing.from)} and ${seconds(missing.to)}`]]
      : []),
    [error ? "stopped" : "end", error ? `stopped: ${error.kind}` : "end", seconds(timing.total_s)],
  ];
  const band = (className, { from, to }) =>
    el("span", { class: className, css: { left: share(from), width: share(to - from) } });
  return el(
    "div",
    { class: "timeline" },
    el(
      "div",
      { class: "lanes", "aria-hidden": "true" },
      lanes
        .filter((lane) => lane.at.length || lane.name !== "other")
        .map((lane) =>
          el(
            "div",
            { class: `lane ${lane.name}` },
            el("span", { class: "name" }, lane.name),
            svg("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none" }, svg("path", { d: ticks(lane.at) })),
          ),
        ),
      el(
        "div",
        { class: "over" },
        gaps.map((gap) => band("gap", gap)),
        missing && band("missing", missing),
        marks.map(([key, , at]) =>
          at === null ? null : el("span", { class: `at ${key} ${error ? "stopped" : ""}`, css: { left: share(at) } }),
        ),
      ),
    ),
    el(
      "div",
      { class: "scale", "aria-hidden": "true" },
      el("span", {}, "0"),
      el("span", {}, seconds(last / 2)),
      el("span", {}, seconds(last)),
    ),
    el(
      "ul",
      { class: "facts" },
      facts.map(([key, name, value]) =>
        el("li", {}, el("i", { class: key, "aria-hidden": "true" }), el("b", {}, name), ` ${value}`),
      ),
    ),
  );
}

const ROWS = 200;

/** The events of a turn as a table, some at a time. */
function eventTable(turn) {
  const body = el("tbody");
  const box = el(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": "Events" },
    el(
      "table",
      { class: "events" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["at", "event", "means"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      body,
    ),
  );
  const more = el("button", { type: "button", class: "quiet", click: () => add() });
  const add = () => {
    const from = body.childElementCount;
    body.append(
      ...turn.events
        .slice(from, from + ROWS)
        .map(([at, name, signal]) =>
          el(
            "tr",
            {},
            el("td", { class: "number" }, at.toFixed(3)),
            el("td", {}, el("bdi", {}, name.slice(0, 200) || "(unnamed)")),
            el("td", {}, signal || "–"),
          ),
        ),
    );
    const left = turn.events.length - body.childElementCount;
    more.textContent = `Show ${count(Math.min(left, ROWS), "more event")}`;
    more.hidden = left <= 0;
  };
  add();
  return el("div", {}, box, more);
}
