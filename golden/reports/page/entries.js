// The cases as they are filtered and sorted, and the address, which keeps how.

function entryOf(result, place) {
  const total = result.turns.reduce((sum, turn) => sum + turn.timing.total_s, 0);
  return {
    id: result.case_id,
    place,
    status: result.status,
    kinds: [result.status, result.flaky && "flaky", result.xfailed && "xfailed"].filter(Boolean),
    tags: [...new Set(result.tags)],
    change: CHANGES[extras.labels[place]] ?? null,
    asked: result.question,
    total: result.turns.length ? total : null,
    order: place,
  };
}

function goneEntry(id, index) {
  return {
    id,
    place: null,
    status: "gone",
    kinds: ["gone"],
    tags: [],
    change: CHANGES.GONE,
    asked: "",
    total: null,
    order: results.length + index,
  };
}

const entries = [...results.map(entryOf), ...(comparison?.gone ?? []).map(goneEntry)];
const byCase = new Map(entries.map((entry) => [entry.id, entry]));

function haystack(entry) {
  const result = entry.place === null ? null : results[entry.place];
  const turns = result ? result.turns.flatMap((turn) => [turn.question, turn.answer]) : [];
  entry.text ??= [entry.id, entry.asked, ...entry.tags, ...(result ? result.actual_tools : []), ...turns]
    .join("\n")
    .toLowerCase();
  return entry.text;
}

// What cases are filtered by: of one filter any value may hold, of all filters each.
const FACETS = {
  status: {
    name: "Status",
    of: (entry) => entry.kinds,
    order: [...Object.keys(STATUSES), "flaky", "xfailed"],
    label: (key) => WORDS[key] ?? key,
  },
  change: {
    name: "Since the baseline",
    of: (entry) => (entry.change ? [entry.change.key] : []),
    order: Object.values(CHANGES).map((change) => change.key),
    label: (key) => Object.values(CHANGES).find((change) => change.key === key).name,
  },
  tag: { name: "Tags", of: (entry) => entry.tags, order: null, label: (key) => key },
};

const CHANGE_RANK = new Map([...MATTERS].map((change, at) => [change.key, at]));
const STATUS_RANK = new Map(["failed", "error", "not_run"].map((status, at) => [status, 10 + at]));
const rank = (entry) =>
  CHANGE_RANK.get(entry.change?.key) ?? STATUS_RANK.get(entry.status) ?? (entry.kinds.includes("flaky") ? 20 : 30);
const SORTS = {
  worst: ["Problems first", (a, b) => rank(a) - rank(b)],
  suite: ["Suite order", () => 0],
  slow: ["Slowest first", (a, b) => (b.total ?? -1) - (a.total ?? -1)],
};

const state = { q: "", sort: "worst", status: new Set(), change: new Set(), tag: new Set(), open: "" };

/** Lets every case through again. */
function letAll() {
  Object.assign(state, { q: "", status: new Set(), change: new Set(), tag: new Set() });
}

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
    for (const [key, values] of missed.length ? missed : of)
      for (const value of values) counts[key].set(value, (counts[key].get(value) ?? 0) + 1);
    return !missed.length;
  });
  return { left, counts };
}
