// The filters, and how many cases each would leave.

const FEW = 12;
const chips = [];

function chip(key, value, label) {
  const number = el("span", { class: "number" });
  const button = el(
    "button",
    {
      type: "button",
      class: "chip",
      "aria-pressed": "false",
      click: () => {
        if (!state[key].delete(value)) state[key].add(value);
        filter();
      },
    },
    key === "status" && STATUSES[value] ? icon(value) : null,
    el("bdi", {}, label),
    " ",
    number,
  );
  chips.push({ key, value, button, number });
  return button;
}

function facetOf(key) {
  const facet = FACETS[key];
  const counted = new Map();
  for (const entry of entries) for (const value of facet.of(entry)) counted.set(value, (counted.get(value) ?? 0) + 1);
  const values = facet.order
    ? facet.order.filter((value) => counted.has(value))
    : [...counted.keys()].sort((a, b) => counted.get(b) - counted.get(a));
  if (!values.length) return null;
  const all = values.map((value) => chip(key, value, facet.label(value)));
  const group = el("div", { class: "chips" }, all.slice(0, FEW));
  if (all.length > FEW) {
    group.append(
      el(
        "button",
        {
          type: "button",
          class: "quiet",
          click: (event) => {
            event.target.replaceWith(...all.slice(FEW));
            all[FEW].focus();
          },
        },
        `${all.length - FEW} more`,
      ),
    );
  }
  return el(
    "div",
    { class: "facet", role: "group", "aria-label": facet.name },
    el("span", { class: "name", "aria-hidden": "true" }, facet.name),
    group,
  );
}

let find;
let sort;
let told;
let clear;

function filters() {
  find = el("input", {
    type: "search",
    id: "find",
    placeholder: "id, question, answer, tool, tag",
    autocomplete: "off",
    spellcheck: "false",
    input: () => {
      state.q = find.value;
      filter();
    },
  });
  sort = el(
    "select",
    {
      id: "sort",
      change: () => {
        state.sort = sort.value;
        filter();
      },
    },
    Object.entries(SORTS).map(([key, [name]]) => el("option", { value: key }, name)),
  );
  told = el("p", { role: "status" });
  clear = el(
    "button",
    {
      type: "button",
      class: "quiet",
      click: () => {
        letAll();
        filter();
        show();
        find.focus();
      },
    },
    "Clear filters",
  );
  byId("filters").append(
    el(
      "div",
      { class: "bar" },
      el("label", { for: "find" }, "Find"),
      find,
      el("label", { for: "sort" }, "Order"),
      sort,
    ),
    ...Object.keys(FACETS).map(facetOf).filter(Boolean),
    el("div", { class: "told" }, told, clear),
  );
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
  told.textContent =
    shown.length === entries.length
      ? `All ${count(entries.length, "case")}`
      : `${shown.length.toLocaleString("en")} of ${count(entries.length, "case")}`;
  clear.hidden = !(state.q || Object.keys(FACETS).some((key) => state[key].size));
  writeAddress();
}
