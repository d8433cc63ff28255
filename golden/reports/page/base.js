// What the page is made of. No markup is ever parsed: what an agent or a suite says becomes text, and nothing else.

const SVG = "http://www.w3.org/2000/svg";

// The same that golden escapes for a terminal: what would hide, or steer the text around it. Lines, tabs and the
// joiners that scripts and emoji need stay.
const UNSEEN = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb]" +
    "|[\\u{e0000}-\\u{e0fff}]",
  "gu",
);

/** A text as it is shown: characters that cannot be seen as escapes. */
function visible(text) {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0);
    if (code === 0x0d) return "\\r";
    const digits = code.toString(16);
    return code < 0x100
      ? `\\x${digits.padStart(2, "0")}`
      : `\\u${code < 0x10000 ? digits.padStart(4, "0") : `{${digits}}`}`;
  });
}

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "css") for (const [property, set] of Object.entries(value)) node.style.setProperty(property, set);
    else node.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  node.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : visible(String(child)))),
  );
  return node;
}

/** An element. Attributes that are functions listen, `css` sets properties, and children that are no nodes are text. */
function el(tag, attributes = {}, ...children) {
  return make(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return make(document.createElementNS(SVG, tag), attributes, children);
}

function icon(name) {
  return svg("svg", { class: `icon ${name}`, "aria-hidden": "true" }, svg("use", { href: `#i-${name}` }));
}

function byId(id) {
  return document.getElementById(id);
}

function count(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  if (value < 0.9995) return `${value < 0.00995 ? (value * 1000).toFixed(1) : Math.round(value * 1000)} ms`;
  if (value >= 119.5)
    return `${Math.floor(Math.round(value) / 60).toLocaleString("en")} min ${Math.round(value) % 60} s`;
  return `${value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : Math.round(value)} s`;
}

function fixed(value) {
  return value === null || value === undefined ? "–" : value.toFixed(2);
}

const LONG = 20_000;

/** A text of others, in a box that keeps its direction to itself; the rest of a long one comes on demand. */
function prose(text, attributes = {}, paint = (part) => [part]) {
  const box = el("div", { dir: "auto", ...attributes, class: `prose ${attributes.class ?? ""}` });
  if (text.length <= LONG) return make(box, {}, paint(text));
  const show = () => {
    box.replaceChildren();
    make(box, { tabindex: -1 }, [paint(text)]).focus();
  };
  const name = `Show all ${text.length.toLocaleString("en")} characters`;
  const button = el("button", { type: "button", class: "quiet", click: show }, name);
  return make(box, {}, [paint(text.slice(0, LONG)), "… ", button]);
}

/** A part of a page that is made when it is first opened. */
function fold(summary, fill, attributes = {}) {
  const box = el("details", attributes, el("summary", {}, summary));
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1) box.append(fill());
  });
  return box;
}

// A number that JavaScript would round is kept as it was written, where the browser tells how that was.
function whole(key, value, context) {
  if (typeof value !== "number" || Number.isSafeInteger(value) || !/^-?\d+$/.test(context?.source ?? "")) return value;
  return BigInt(context.source);
}

const written = byId("results").textContent;
const lines = written.split("\n");
const { run, summary, comparison, results } = JSON.parse(written);
const extras = JSON.parse(byId("extras").textContent);

/** The result at that place, its numbers whole. A case is a line of the file, behind the first. */
function exactly(place) {
  return JSON.parse(lines[place + 1].replace(/,$/, ""), whole);
}

let exactChanges = null;

/** What became of a case, its numbers whole. */
function exactChange(id) {
  exactChanges ??= new Map(
    (comparison ? JSON.parse(`${lines[0]}]}`, whole).comparison.cases : []).map((each) => [each.case_id, each]),
  );
  return exactChanges.get(id) ?? null;
}

const STATUSES = {
  failed: "failed",
  error: "could not be judged",
  not_run: "not run",
  passed: "passed",
  skipped: "skipped",
  gone: "gone",
};
const WORDS = { ...STATUSES, error: "error" };

// How golden calls what became of a case: its key in the address, its name, its colour; the worst first.
const CHANGES = {
  REGRESSED: { key: "regressed", name: "regressed", tone: "bad" },
  GONE: { key: "gone", name: "gone", tone: "bad" },
  "CASE CHANGED": { key: "regressed-case-changed", name: "regressed, case changed", tone: "warn" },
  "LIKELY NOISE": { key: "likely-noise", name: "likely noise", tone: "warn" },
  "NO VERDICT": { key: "no-verdict", name: "no verdict now", tone: "warn" },
  fixed: { key: "fixed", name: "fixed", tone: "good" },
  "case changed": { key: "case-changed", name: "case changed", tone: "warn" },
  new: { key: "new", name: "new", tone: "info" },
  "still failing": { key: "still-failing", name: "still failing", tone: "warn" },
  "flaky now": { key: "flaky-now", name: "flaky now", tone: "warn" },
  "same verdict": { key: "same-verdict", name: "same verdict, other details", tone: "quiet" },
};
// Those that are told with why.
const MATTERS = new Set(
  ["REGRESSED", "GONE", "CASE CHANGED", "LIKELY NOISE", "NO VERDICT"].map((label) => CHANGES[label]),
);
