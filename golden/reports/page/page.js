// The page: the run at its top, filters with their state in the address, and the cases, a few at a time.

function entryOf(result, place) {
  const total = result.turns.reduce((sum, turn) => sum + turn.timing.total_s, 0);
  return {
    id: result.case_id,
    place,
    status: result.status,
    kinds: [result.status, result.flaky && "flaky", result.xfailed && "xfailed"].filter(Boolean),
    tags: result.tags,
    change: CHANGES[extras.labels[place]] ?? null,
    asked: result.question,
    grounded: result.groundedness,
    total: result.turns.length ? total : null,
    order: place,
  };
}

function goneEntry(id, index) {
  return { id, place: null, status: "gone", kinds: ["gone"], tags: [], change: CHANGES.GONE, asked: "", grounded: null, total: null, order: results.length + index };
}

const entries = [...results.map(entryOf), ...(comparison?.gone ?? []).map(goneEntry)];
const byCase = new Map(entries.map((entry) => [entry.id, entry]));

function haystack(entry) {
  const result = entry.place === null ? null : results[entry.place];
  const turns = result ? result.turns.flatMap((turn) => [turn.question, turn.answer]) : [];
  entry.text ??= [entry.id, entry.asked, ...entry.tags, ...(result ? result.actual_tools : []), ...turns].join("\n").toLowerCase();
  return entry.text;
}

// What cases are filtered by: of one filter any value may hold, of all filters each.
const FACETS = {
  status: { name: "Status", of: (entry) => entry.kinds, order: [...Object.keys(STATUSES), "flaky", "xfailed"], label: (key) => WORDS[key] ?? key },
  change: { name: "Since the baseline", of: (entry) => entry.change ? [entry.change.key] : [], order: Object.values(CHANGES).map((change) => change.key), label: (key) => Object.values(CHANGES).find((change) => change.key === key).name },
  tag: { name: "Tags", of: (entry) => entry.tags, order: null, label: (key) => key },
};

const CHANGE_RANK = new Map(Object.values(CHANGES).slice(0, 5).map((change, at) => [change.key, at]));
const STATUS_RANK = new Map(["failed", "error", "not_run"].map((status, at) => [status, 10 + at]));
const rank = (entry) => CHANGE_RANK.get(entry.change?.key) ?? STATUS_RANK.get(entry.status) ?? (entry.kinds.includes("flaky") ? 20 : 30);
const SORTS = {
  worst: ["Problems first", (a, b) => rank(a) - rank(b)],
  suite: ["Suite order", () => 0],
  slow: ["Slowest first", (a, b) => (b.total ?? -1) - (a.total ?? -1)],
};

const state = { q: "", sort: "worst", status: new Set(), change: new Set(), tag: new Set(), open: "" };

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  state.q = said.get("q") ?? "";
  state.sort = Object.hasOwn(SORTS, said.get("sort") ?? "") ? said.get("sort") : "worst";
  for (const key of Object.keys(FACETS)) state[key] = new Set(said.getAll(key));
  state.open = said.get("case") ?? "";
}

function address() {
  const said = new URLSearchParams();
  if (state.q) said.set("q", state.q);
  if (state.sort !== "worst") said.set("sort", state.sort);
  for (const key of Object.keys(FACETS)) for (const value of state[key]) said.append(key, value);
  if (state.open) said.set("case", state.open);
  return `#${said}`;
}

function writeAddress() {
  try {
    history.replaceState(null, "", address());
  } catch {
    // Some viewers of artifacts have pages without a history of their own.
  }
}

/** The cases that are left, and how many there would be of each value if it were chosen in its filter. */
function sifted() {
  const needle = state.q.toLowerCase();
  const counts = Object.fromEntries(Object.keys(FACETS).map((key) => [key, new Map()]));
  const left = entries.filter((entry) => {
    if (needle && !haystack(entry).includes(needle)) return false;
    const of = Object.entries(FACETS).map(([key, facet]) => [key, facet.of(entry)]);
    const missed = of.filter(([key, values]) => state[key].size && !values.some((value) => state[key].has(value)));
    if (missed.length > 1) return false;
    for (const [key, values] of missed.length ? missed : of) for (const value of values) counts[key].set(value, (counts[key].get(value) ?? 0) + 1);
    return !missed.length;
  });
  return { left, counts };
}

// --- The cases -------------------------------------------------------------------------------------------------------

function reason(entry) {
  const result = entry.place === null ? null : results[entry.place];
  if (!result) return "in no suite of this run";
  const check = result.checks.find((each) => each.ok === false);
  const text = result.error ? result.error.message.split(HINT)[0] : check ? `${check.name}: ${check.message}` : "";
  return text.length > 240 ? `${text.slice(0, 239)}…` : text;
}

const PIECE = 60;
const rows = new Map();
let shown = [];
let made = 0;

function badge(text, tone) {
  return el("span", { class: `badge ${tone}` }, text);
}

function rowOf(entry) {
  if (!rows.has(entry)) {
    const inside = el("div", { class: "inside", id: `case-${entry.order}`, hidden: true });
    const button = el("button", { type: "button", "aria-expanded": "false", "aria-controls": inside.id, click: () => turn(entry, inside.hidden), keydown: walk },
      icon(entry.status), el("span", { class: "hidden" }, `${WORDS[entry.status]}: `),
      el("bdi", { class: "id" }, entry.id), " ",
      el("span", { class: "about" }, el("bdi", {}, entry.asked.slice(0, 300)), " ",
        entry.status === "passed" ? null : el("bdi", { class: "why" }, reason(entry))), " ",
      el("span", { class: "badges" },
        entry.change && entry.change.tone !== "quiet" ? [badge(entry.change.name, entry.change.tone), " "] : null,
        entry.kinds.slice(1).filter((kind) => entry.change?.key !== `${kind}-now`).map((kind) => [badge(kind === "xfailed" ? "expected to fail" : kind, "warn"), " "])),
      el("span", { class: "took" }, entry.total === null ? (WORDS[entry.status]) : seconds(entry.total)),
      icon("open"));
    rows.set(entry, el("li", { class: "case" }, el("h3", {}, button), inside));
  }
  return rows.get(entry);
}

function turn(entry, opens) {
  const row = rowOf(entry);
  const inside = row.querySelector(".inside");
  if (opens && !inside.childElementCount) inside.append(...body(entry));
  inside.hidden = !opens;
  row.classList.toggle("opened", opens);
  row.querySelector("button").setAttribute("aria-expanded", String(opens));
  state.open = opens ? entry.id : state.open === entry.id ? "" : state.open;
  writeAddress();
}

/** Up and down go from case to case. */
function walk(event) {
  const buttons = [...byId("list").querySelectorAll("h3 button")];
  const at = buttons.indexOf(event.currentTarget);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (to === buttons.length && made < shown.length) addRows();
  byId("list").querySelectorAll("h3 button")[Math.max(0, to)]?.focus();
}

function addRows(upTo = made + PIECE) {
  const pieces = shown.slice(made, upTo);
  byId("list").append(...pieces.map(rowOf));
  made += pieces.length;
  byId("more").hidden = made >= shown.length;
  byId("more").textContent = `Show more of ${count(shown.length, "case")}`;
}

function list(left) {
  shown = left.sort(SORTS[state.sort][1]);
  byId("list").replaceChildren();
  made = 0;
  addRows();
}

// --- Filters ---------------------------------------------------------------------------------------------------------

const FEW = 12;
const chips = [];

function chip(key, value, label) {
  const number = el("span", { class: "number" });
  const button = el("button", { type: "button", class: "chip", "aria-pressed": "false", click: () => {
    if (!state[key].delete(value)) state[key].add(value);
    filter();
  } }, key === "status" && STATUSES[value] ? icon(value) : null, el("bdi", {}, label), " ", number);
  chips.push({ key, value, button, number });
  return button;
}

function facetOf(key) {
  const facet = FACETS[key];
  const counted = new Map();
  for (const entry of entries) for (const value of facet.of(entry)) counted.set(value, (counted.get(value) ?? 0) + 1);
  const values = facet.order ? facet.order.filter((value) => counted.has(value)) : [...counted.keys()].sort((a, b) => counted.get(b) - counted.get(a));
  if (!values.length) return null;
  const all = values.map((value) => chip(key, value, facet.label(value)));
  const group = el("div", { class: "chips" }, all.slice(0, FEW));
  if (all.length > FEW) {
    group.append(el("button", { type: "button", class: "quiet", click: (event) => { event.target.replaceWith(...all.slice(FEW)); all[FEW].focus(); } }, `${all.length - FEW} more`));
  }
  return el("div", { class: "facet", role: "group", "aria-label": facet.name }, el("span", { class: "name", "aria-hidden": "true" }, facet.name), group);
}

let find;
let sort;
let told;
let clear;

function filters() {
  find = el("input", { type: "search", id: "find", placeholder: "id, question, answer, tool, tag", autocomplete: "off", spellcheck: "false", input: () => { state.q = find.value; filter(); } });
  sort = el("select", { id: "sort", change: () => { state.sort = sort.value; filter(); } }, Object.entries(SORTS).map(([key, [name]]) => el("option", { value: key }, name)));
  told = el("p", { role: "status" });
  clear = el("button", { type: "button", class: "quiet", click: () => { Object.assign(state, { q: "", status: new Set(), change: new Set(), tag: new Set() }); filter(); show(); find.focus(); } }, "Clear filters");
  byId("filters").append(
    el("div", { class: "bar" }, el("label", { for: "find" }, "Find"), find, el("label", { for: "sort" }, "Order"), sort),
    ...Object.keys(FACETS).map(facetOf).filter(Boolean),
    el("div", { class: "told" }, told, clear));
}

/** Puts the state into the controls. */
function show() {
  find.value = state.q;
  sort.value = state.sort;
}

function filter() {
  const { left, counts } = sifted();
  for (const { key, value, button, number } of chips) {
    const size = counts[key].get(value) ?? 0;
    button.setAttribute("aria-pressed", String(state[key].has(value)));
    button.classList.toggle("none", !size);
    number.textContent = size.toLocaleString("en");
  }
  list(left);
  told.textContent = shown.length === entries.length ? `All ${count(entries.length, "case")}` : `${shown.length.toLocaleString("en")} of ${count(entries.length, "case")}`;
  clear.hidden = !(state.q || Object.keys(FACETS).some((key) => state[key].size));
  writeAddress();
}

// --- The top ---------------------------------------------------------------------------------------------------------

function top() {
  const { target, git, suites } = run;
  const facts = [
    target && `${target.kind} ${target.name}`,
    target && `dialect ${target.dialect}`,
    git && `commit ${git.sha.slice(0, 12)}${git.branch ? ` on ${git.branch}` : ""}`,
    suites.length === 1 ? suites[0].path : suites.length ? count(suites.length, "suite") : null,
  ].filter(Boolean);
  byId("run").append(...facts.flatMap((fact) => [el("span", {}, el("bdi", {}, fact)), " "]), el("time", { datetime: run.started_at }, run.started_at.replace("T", " ").replace(/(?:\.\d+)?(?:\+00:00|Z)$/, " UTC")));
  const counts = Object.entries({ failed: summary.failed, error: summary.errors, not_run: summary.not_run, passed: summary.passed, skipped: summary.skipped }).filter(([, size]) => size);
  byId("counts").append(
    el("div", { class: "share", "aria-hidden": "true" }, counts.map(([status, size]) => el("span", { class: status, css: { "flex-grow": String(size) } }))),
    el("ul", { class: "counts" }, counts.map(([status, size]) => el("li", {}, icon(status), el("b", {}, size.toLocaleString("en")), ` ${STATUSES[status]}`)),
      summary.flaky ? el("li", {}, el("b", {}, summary.flaky.toLocaleString("en")), " passed on a retry only (flaky)") : null));
  const figures = [
    ["pass rate", summary.pass_rate === null ? null : `${(Math.floor(summary.pass_rate * 1000) / 10).toFixed(1).replace(/\.0$/, "")} %`],
    ["first token, median", summary.first_token_s.p50 === null ? null : seconds(summary.first_token_s.p50)],
    ["whole run", seconds(run.duration_s)],
    ["tokens", summary.usage && tokens(summary.usage)],
  ].filter(([, value]) => value);
  byId("figures").append(...figures.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  byId("made").append(`golden ${run.golden_version}. This page holds the whole results file and asks the network for nothing.`);
}

const MOST = 8;

/** What changed: the cases that matter by name, the rest by number. */
function changes() {
  if (!comparison) return;
  const { baseline, counts, notes, left_out: leftOut } = comparison;
  const parts = [["regressed", counts.regressed], ["fixed", counts.fixed], ["still failing", counts.still_failing], ["new", counts.new], ["unchanged", counts.unchanged], ["left out", leftOut.length]].filter(([, size]) => size);
  const lead = counts.regressed ? `${count(counts.regressed, "case")} regressed` : counts.fixed ? `Nothing regressed, ${counts.fixed.toLocaleString("en")} fixed` : "Nothing regressed, nothing fixed";
  const commit = baseline.sha ? `, commit ${baseline.sha.slice(0, 12)}${baseline.branch ? ` on ${baseline.branch}` : ""}` : "";
  const section = byId("changes");
  section.hidden = false;
  section.append(
    el("p", { class: `lead ${counts.regressed ? "bad" : "good"}` }, icon(counts.regressed ? "failed" : "passed"), lead),
    el("p", { class: "hush" }, `${parts.map(([name, size]) => `${size.toLocaleString("en")} ${name}`).join(", ")}. Baseline of ${baseline.started_at.slice(0, 16).replace("T", " ")}${commit}.`),
    notes.length ? el("ul", { class: "notes" }, notes.map((note) => el("li", {}, note))) : "");
  for (const change of Object.values(CHANGES).slice(0, 5)) {
    const cases = entries.filter((entry) => entry.change === change);
    if (!cases.length) continue;
    section.append(el("h3", {}, badge(change.name, change.tone), ` ${cases.length.toLocaleString("en")}`),
      el("ul", { class: "changed" }, cases.slice(0, MOST).map((entry) => el("li", {}, el("div", {},
        el("a", { href: `#${new URLSearchParams({ case: entry.id })}` }, el("bdi", {}, entry.id)), " ", el("bdi", { class: "hush" }, reason(entry)))))),
      cases.length > MOST ? el("p", {}, el("a", { href: `#${new URLSearchParams({ change: change.key })}` }, `all ${cases.length.toLocaleString("en")}`)) : "");
  }
}

/** The times of cases whose answers came whole: of a case with several turns as a comparison has them. */
function times() {
  const now = results.filter((result) => result.turns.length && result.turns.every((turn) => turn.error === null));
  const before = (comparison?.cases ?? []).map((change) => change.before).filter(Boolean);
  const several = now.some((result) => result.turns.length > 1);
  const plots = [
    [`First token${several ? ", of the slowest turn" : ""}`, now.map(({ turns }) => Math.max(...turns.map((turn) => turn.timing.first_token_s ?? -1))), before.map((side) => side.first_token_s)],
    [`Whole answer${several ? ", all turns" : ""}`, now.map(({ turns }) => turns.reduce((sum, turn) => sum + turn.timing.total_s, 0)), before.map((side) => side.total_s)],
  ].map(([name, all, was]) => [name, ascending(all.filter((time) => time >= 0)), ascending(was)]).filter(([, all]) => all.length > 1);
  if (!plots.length) return;
  byId("times").hidden = false;
  byId("times").append(el("div", { class: "plots" }, plots.map((plot) => spread(...plot))));
}

/** Follows the address: its filters, and the case that it names. */
function follow() {
  if (location.hash && !location.hash.includes("=")) return;
  readAddress();
  show();
  const entry = byCase.get(state.open);
  filter();
  if (!entry) return;
  if (!shown.includes(entry)) {
    Object.assign(state, { q: "", status: new Set(), change: new Set(), tag: new Set() });
    show();
    filter();
  }
  addRows(Math.max(PIECE, shown.indexOf(entry) + 1));
  turn(entry, true);
  rowOf(entry).scrollIntoView();
  rowOf(entry).querySelector("button").focus({ preventScroll: true });
}

top();
changes();
times();
filters();
follow();
addEventListener("hashchange", follow);
byId("more").addEventListener("click", () => addRows());
new IntersectionObserver((seen) => { if (seen.some((each) => each.isIntersecting)) addRows(); }, { rootMargin: "800px" }).observe(byId("more"));
