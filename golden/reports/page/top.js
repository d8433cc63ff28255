// What stands above the cases: the verdict in figures, what changed, how long answers took.

function top() {
  const { target, git, suites } = run;
  const facts = [
    target && `${target.kind} ${target.name}`,
    target && `dialect ${target.dialect}`,
    git && `commit ${git.sha.slice(0, 12)}${git.branch ? ` on ${git.branch}` : ""}`,
    suites.length === 1 ? suites[0].path : suites.length ? count(suites.length, "suite") : null,
  ].filter(Boolean);
  byId("run").append(
    ...facts.flatMap((fact) => [el("span", {}, el("bdi", {}, fact)), " "]),
    el(
      "time",
      { datetime: run.started_at },
      run.started_at.replace("T", " ").replace(/(?:\.\d+)?(?:\+00:00|Z)$/, " UTC"),
    ),
  );
  const counts = Object.entries({
    failed: summary.failed,
    error: summary.errors,
    not_run: summary.not_run,
    passed: summary.passed,
    skipped: summary.skipped,
  }).filter(([, size]) => size);
  byId("counts").append(
    el(
      "div",
      { class: "share", "aria-hidden": "true" },
      counts.map(([status, size]) => el("span", { class: status, css: { "flex-grow": String(size) } })),
    ),
    el(
      "ul",
      { class: "counts" },
      counts.map(([status, size]) =>
        el("li", {}, icon(status), el("b", {}, size.toLocaleString("en")), ` ${STATUSES[status]}`),
      ),
      summary.flaky
        ? el("li", {}, el("b", {}, summary.flaky.toLocaleString("en")), " passed on a retry only (flaky)")
        : null,
    ),
  );
  const figures = [
    [
      "pass rate",
      summary.pass_rate === null
        ? null
        : `${(Math.floor(summary.pass_rate * 1000) / 10).toFixed(1).replace(/\.0$/, "")} %`,
    ],
    ["whole run", seconds(run.duration_s)],
    ["tokens", summary.usage && tokens(summary.usage)],
  ].filter(([, value]) => value);
  byId("figures").append(...figures.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  make(byId("made"), {}, [
    `golden ${run.golden_version}. This page holds the whole results file and asks the network for nothing.`,
  ]);
}

// How many cases of a kind are named at the top: in lines that say why, and by name alone.
const [MOST_TOLD, MOST_NAMED] = [8, 12];

function caseLink(entry) {
  return el("a", { href: `#${new URLSearchParams({ case: entry.id })}` }, el("bdi", {}, entry.id));
}

/** The cases that one thing became of: those that matter with why, the others by name. */
function changedCases(change, matters) {
  const cases = entries.filter((entry) => entry.change === change);
  if (!cases.length) return null;
  const most = matters ? MOST_TOLD : MOST_NAMED;
  const size = cases.length.toLocaleString("en");
  const all =
    cases.length > most ? el("a", { href: `#${new URLSearchParams({ change: change.key })}` }, `all ${size}`) : null;
  const head = el("h3", {}, badge(change.name, change.tone), ` ${size}`);
  const named = cases.slice(0, most);
  if (!matters)
    return el(
      "div",
      { class: "named" },
      head,
      named.map((entry) => [caseLink(entry), " "]),
      all,
    );
  const told = (entry) =>
    el("li", {}, el("div", {}, caseLink(entry), " ", el("bdi", { class: "hush" }, reason(entry))));
  return [head, el("ul", { class: "with-why" }, named.map(told)), all ? el("p", {}, all) : null];
}

/** What changed: the cases that matter by name, the rest by number. */
function changes() {
  if (!comparison) return;
  const { baseline, counts, notes, left_out: leftOut } = comparison;
  const parts = [
    ["regressed", counts.regressed],
    ["fixed", counts.fixed],
    ["still failing", counts.still_failing],
    ["new", counts.new],
    ["unchanged", counts.unchanged],
    ["left out", leftOut.length],
  ].filter(([, size]) => size);
  const lead = counts.regressed
    ? `${count(counts.regressed, "case")} regressed`
    : counts.fixed
      ? `Nothing regressed, ${counts.fixed.toLocaleString("en")} fixed`
      : "Nothing regressed, nothing fixed";
  const commit = baseline.sha
    ? `, commit ${baseline.sha.slice(0, 12)}${baseline.branch ? ` on ${baseline.branch}` : ""}`
    : "";
  const section = byId("changes");
  section.hidden = false;
  make(section, {}, [
    el("p", { class: "lead" }, icon(counts.regressed ? "failed" : "passed"), lead),
    el(
      "p",
      { class: "hush" },
      `${parts.map(([name, size]) => `${size.toLocaleString("en")} ${name}`).join(", ")}. `,
      `Baseline of ${baseline.started_at.slice(0, 16).replace("T", " ")}${commit}.`,
    ),
    notes.length
      ? el(
          "ul",
          { class: "notes" },
          notes.map((note) => el("li", {}, note)),
        )
      : null,
    Object.values(CHANGES)
      .filter((change) => change.tone !== "quiet")
      .map((change) => changedCases(change, MATTERS.has(change))),
  ]);
}

/** The times of cases whose answers came whole: of a case with several turns as a comparison has them. */
function times() {
  const now = results.filter((result) => result.turns.length && result.turns.every((turn) => turn.error === null));
  const before = (comparison?.cases ?? []).map((change) => change.before).filter(Boolean);
  const several = now.some((result) => result.turns.length > 1);
  const plots = [
    [
      `First token${several ? ", of the slowest turn" : ""}`,
      now.map(({ turns }) => Math.max(...turns.map((turn) => turn.timing.first_token_s ?? -1))),
      before.map((side) => side.first_token_s),
    ],
    [
      `Whole answer${several ? ", all turns" : ""}`,
      now.map(({ turns }) => turns.reduce((sum, turn) => sum + turn.timing.total_s, 0)),
      before.map((side) => side.total_s),
    ],
  ]
    .map(([name, all, was]) => [name, ascending(all.filter((time) => time >= 0)), ascending(was)])
    .filter(([, all]) => all.length > 1);
  if (!plots.length) return;
  byId("times").hidden = false;
  byId("times").append(
    el(
      "div",
      { class: "plots" },
      plots.map((plot) => spread(...plot)),
    ),
  );
}
