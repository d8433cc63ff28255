// The page put together.

/** Follows the address: its filters, and the case that it names. A link to filters alone leads to the list. */
function follow(event) {
  if (location.hash && !location.hash.includes("=")) return;
  readAddress();
  show();
  const entry = byCase.get(state.open);
  filter();
  if (!entry) {
    if (event) byId("cases").scrollIntoView();
    return;
  }
  if (!shown.includes(entry)) {
    letAll();
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
new IntersectionObserver(
  (seen) => {
    if (seen.some((each) => each.isIntersecting)) addRows();
  },
  { rootMargin: "800px" },
).observe(byId("more"));
