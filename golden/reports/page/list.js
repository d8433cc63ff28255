// The list of cases: rows are made a few at a time, and what is in them when they are opened.

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
    const button = el(
      "button",
      {
        type: "button",
        "aria-expanded": "false",
        "aria-controls": inside.id,
        click: () => turn(entry, inside.hidden),
        keydown: walk,
      },
      icon(entry.status),
      el("span", { class: "hidden" }, `${WORDS[entry.status]}: `),
      el("bdi", { class: "id" }, entry.id),
      " ",
      el(
        "span",
        { class: "about" },
        el("bdi", {}, entry.asked.slice(0, 300)),
        " ",
        entry.status === "passed" ? null : el("bdi", { class: "why" }, reason(entry)),
      ),
      " ",
      el(
        "span",
        { class: "badges" },
        entry.change && entry.change.tone !== "quiet" ? [badge(entry.change.name, entry.change.tone), " "] : null,
        entry.kinds
          .slice(1)
          .filter((kind) => entry.change?.key !== `${kind}-now`)
          .map((kind) => [badge(kind === "xfailed" ? "expected to fail" : kind, "warn"), " "]),
      ),
      el("span", { class: "took" }, entry.total === null ? WORDS[entry.status] : seconds(entry.total)),
      icon("open"),
    );
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
