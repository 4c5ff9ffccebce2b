"use strict";
// Draws the report from the data block. Texts of the trace come escaped, and are only ever set as text.

const data = JSON.parse(document.getElementById("data").textContent);
const { slices, groups, incidents } = data;
const $ = (id) => document.getElementById(id);

// ---- Elements

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "mark") element.style.setProperty("--mark", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS($("namespace").namespaceURI, tag), attributes, children);

// ---- Amounts, as the program writes them

function threeDigits(number) {
  const text = number.toFixed(number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
function duration(us) {
  if (us === null || us === undefined) return "–";
  const ns = us * 1000;
  if (ns === 0) return "0";
  if (ns >= 999.5e9) {
    const seconds = Math.round(ns / 1e9), minutes = Math.floor(seconds / 60);
    return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${grouped(Math.floor(minutes / 60))} h ${minutes % 60} min`;
  }
  const units = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
  const [unit, scale] = units.find(([, scale]) => ns < 999.5 * scale) ?? units[3];
  return `${threeDigits(ns / scale)} ${unit}`;
}
const grouped = (number) => number.toLocaleString("en-US");
function scaled(number) {
  if (number === null || number === undefined) return "–";
  const scales = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9]];
  const [suffix, scale] = scales.find(([, scale]) => number < 999.5 * scale) ?? scales[3];
  return threeDigits(number / scale) + suffix;
}
const percent = (part) =>
  part === null ? "–" : part > 0 && part < 5e-5 ? "<0.01%" : `${threeDigits(part * 100)}%`;
const count = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;

/** The time of day of a number of nanoseconds after the first slice begins. */
function time(at, digits = 6) {
  const local = BigInt(data.clock.begin_ns) + BigInt(Math.round(at)) + BigInt(data.clock.offset_s) * 1000000000n;
  const day = 86400n * 1000000000n;
  const ofDay = ((local % day) + day) % day;
  const seconds = Number(ofDay / 1000000000n), fraction = String(ofDay % 1000000000n).padStart(9, "0");
  const two = (number) => String(number).padStart(2, "0");
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  return digits ? `${clock}.${fraction.slice(0, digits)}` : clock;
}
const nanoseconds = (at) => String(BigInt(data.clock.begin_ns) + BigInt(at));

// ---- State, which the fragment of the address holds

const columns = {
  total_us: ["Total", duration], wall_share: ["Of time", percent], count: ["Count", grouped],
  rate_per_s: ["Per second", scaled], mean_us: ["Mean", duration], p50_us: ["p50", duration], p90_us: ["p90", duration],
  p99_us: ["p99", duration], p999_us: ["p99.9", duration], max_us: ["Longest", duration],
};
// The range in whole slices, which figures are of, and what the picture shows if that is less: two times in nanoseconds.
const state = { from: 0, to: slices.count, part: null, group: null, sort: "", up: false, find: "", incident: null };

function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  const whole = (name, least, most, otherwise) => {
    const number = Number.parseInt(given.get(name) ?? "", 10);
    return number >= least && number <= most ? number : otherwise;
  };
  state.from = whole("from", 0, slices.count - 1, 0);
  state.to = whole("to", state.from + 1, slices.count, slices.count);
  const at = whole("at", begin(), end() - 1, null), till = whole("till", (at ?? 0) + 1, end(), null);
  state.part = at === null || till === null ? null : [at, till];
  state.group = whole("group", 0, groups.length - 1, null);
  state.incident = whole("incident", 0, incidents.marks.length - 1, null);
  state.sort = given.get("sort") in columns || given.get("sort") === "name" ? given.get("sort") : "";
  state.up = given.get("up") === "1";
  state.find = given.get("find") ?? "";
}
function writeFragment() {
  const parts = new URLSearchParams();
  if (isNarrowed()) parts.set("from", state.from), parts.set("to", state.to);
  if (state.part) parts.set("at", state.part[0]), parts.set("till", state.part[1]);
  if (state.group !== null) parts.set("group", state.group);
  if (state.incident !== null) parts.set("incident", state.incident);
  if (state.sort) parts.set("sort", state.sort);
  if (state.up) parts.set("up", "1");
  if (state.find) parts.set("find", state.find);
  history.replaceState(null, "", `#${parts}`);
}
const isNarrowed = () => state.from > 0 || state.to < slices.count;
const begin = () => state.from * slices.width_ns;
const end = () => state.to * slices.width_ns;
/** What the picture shows. */
const view = () => state.part ?? [begin(), end()];
/** Whether something from one time up to another lies in the chosen range. */
const isIn = (from, to) => !isNarrowed() || (to >= begin() && from < end());

// ---- Figures of a part of the time

/** The shortest duration of a bucket, in ticks. */
const low = (bucket) =>
  bucket < 2 * slices.per_octave
    ? bucket
    : ((bucket % slices.per_octave) + slices.per_octave) * 2 ** (Math.floor(bucket / slices.per_octave) - 1);

/** The buckets of a slice with their counts. */
function* bucketsOf(figures) {
  for (let at = 5, bucket = 0; at < figures.length; at += 2) {
    bucket += figures[at];
    yield [bucket, figures[at + 1]];
  }
}
/** All slices of a group in the range, added up; buckets as a sorted list of [bucket, count]. */
function merged(sliced, from = state.from, to = state.to) {
  const sum = { count: 0, implausible: 0, total: 0, min: Infinity, max: 0, buckets: new Map() };
  for (const [slice, figures] of sliced.slices) {
    if (slice < from || slice >= to) continue;
    sum.count += figures[0];
    sum.implausible += figures[1];
    if (figures.length <= 5) continue;
    sum.total += figures[2];
    sum.min = Math.min(sum.min, figures[3]);
    sum.max = Math.max(sum.max, figures[4]);
    for (const [bucket, count] of bucketsOf(figures)) sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + count);
  }
  sum.buckets = [...sum.buckets].sort(([one], [other]) => one - other);
  sum.timed = sum.buckets.reduce((sum, [, count]) => sum + count, 0);
  return sum;
}
/** The nearest-rank percentile in ticks: the middle of its bucket. */
function percentile(sum, part, of) {
  const rank = Math.max(Math.ceil((sum.timed * part) / of), 1);
  if (rank === 1) return sum.min;
  if (rank === sum.timed) return sum.max;
  let below = 0;
  for (const [bucket, count] of sum.buckets) {
    below += count;
    if (below >= rank) {
      const from = low(bucket), to = low(bucket + 1) - 1;
      return Math.min(Math.max(from + Math.ceil((to - from) / 2), sum.min), sum.max);
    }
  }
  return sum.max;
}
/** The time from the first to the last event in the range, in nanoseconds. */
function lengthOfRange() {
  const events = slices.events.slice(state.from, state.to).filter((of) => of !== 0);
  return events.length ? events[events.length - 1][2] - events[0][1] : 0;
}
/** The figures of a group in the range: those of the program for all of the time, and otherwise from slices. */
function figuresOf(place, length) {
  const whole = data.top.groups[place], sliced = slices.groups[place];
  if (!isNarrowed()) return whole;
  if (!sliced) return null;
  const sum = merged(sliced);
  const figures = {
    count: sum.count, implausible: sum.implausible,
    rate_per_s: length > 0 ? (sum.count * 1e9) / length : null,
  };
  const us = (ticks) => (ticks * sliced.unit_ns) / 1000;
  if (sum.timed === 0) {
    for (const name in columns) figures[name] ??= null;
    return figures;
  }
  return Object.assign(figures, {
    total_us: us(sum.total), wall_share: length > 0 ? (sum.total * sliced.unit_ns) / length : null,
    mean_us: us(sum.total / sum.timed), min_us: us(sum.min), max_us: us(sum.max),
    p50_us: us(percentile(sum, 50, 100)), p90_us: us(percentile(sum, 90, 100)),
    p99_us: us(percentile(sum, 99, 100)), p999_us: us(percentile(sum, 999, 1000)),
  });
}

// ---- Tables

/** A table: columns are [title, isNumber], rows are lists of cells, which are texts or elements. */
function table(caption, titles, rows) {
  const cell = (content, place) => {
    const [, isNumber, name] = titles[place];
    return el("td", { class: isNumber ? "number" : name ?? "name" }, content ?? "–");
  };
  const head = titles.map(([title, isNumber]) => el("th", { scope: "col", class: isNumber ? "number" : undefined }, title));
  return el("table", {}, caption ? el("caption", {}, caption) : "",
    el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell)))));
}
/** The table of a picture, made when it is opened. */
function figuresTable(id, make) {
  const details = $(`${id}-figures`);
  const draw = () => {
    details.querySelector(".scroll")?.remove();
    if (!details.open) return;
    details.append(el("div", { class: "scroll tall", role: "region", tabindex: 0, "aria-label": "Figures of the picture" }, make()));
    fitRows();
  };
  details.ontoggle = draw;
  draw();
}
const replace = (id, ...children) => $(id).replaceChildren(...children);

// ---- Pictures

/** Round numbers that divide a length into at most so many parts. */
function step(length, most) {
  const least = length / Math.max(most, 1), scale = 10 ** Math.floor(Math.log10(least || 1));
  return [1, 2, 5, 10].map((factor) => factor * scale).find((step) => step >= least);
}
/** A round length of time, in nanoseconds: seconds, minutes and hours are not counted in tens. */
function roundTime(length, most) {
  const minutes = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].map((seconds) => seconds * 1e9);
  const by = step(length, most);
  return Math.max(Math.round(by <= 2e10 ? by : minutes.find((known) => known >= length / most) ?? by), 1);
}
const text = (x, y, anchor, content, name) => svg("text", { x, y, "text-anchor": anchor, class: name }, content);
/** As much of a bold text as fits. */
const fitted = (content, width) => (content.length * 7.5 > width ? `${content.slice(0, Math.floor(width / 7.5) - 1)}…` : content);
const rectangle = (x, y, width, height) => `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
const colourOf = (cause) => `var(--cause-${cause === undefined ? 7 : Math.min(cause, 7)})`;
// The cause that explains most of an incident.
const mainCause = ([, , charges]) => {
  let main = 0;
  for (let place = 2; place < charges.length; place += 2) if (charges[place + 1] > charges[main + 1]) main = place;
  return charges[main];
};

const LEAST_COLUMN = 5, LEFT = 58, RIGHT = 12, GAP = 30, RATE = { top: 18 }, HELD = {}, HEAT = {};
let BOTTOM = 0;
/** On a wide screen, pictures are taller. */
function layOut(width) {
  const tall = Math.min(Math.max(width / 1400, 1), 2);
  RATE.height = 78 * tall;
  HELD.top = RATE.top + RATE.height + GAP;
  HELD.height = 66 * tall;
  HEAT.top = HELD.top + HELD.height + GAP;
  HEAT.height = 208 * tall;
  BOTTOM = HEAT.top + HEAT.height;
}

/** The row of a duration in nanoseconds: 1, 2, 5, 10, … begin one each. */
function rowOf(ns) {
  const decade = Math.floor(Math.log10(ns) + 1e-9), first = ns / 10 ** decade;
  return 3 * decade + (first >= 4.999 ? 2 : first >= 1.999 ? 1 : 0);
}
/** Where a row begins, in microseconds. */
const rowBegin = (row) => ([1, 2, 5][row % 3] * 10 ** Math.floor(row / 3)) / 1000;

/** The number of durations for each column of slices, by its first, and row; a recorded 0 is -1, a row of its own. */
function heatCells(per) {
  const chosen = state.group === null ? [...slices.groups, ...slices.others] : [slices.groups[state.group]];
  const cells = new Map();
  const rates = new Array(slices.count).fill(0);
  for (const sliced of chosen.filter(Boolean)) {
    for (const [slice, figures] of sliced.slices) {
      if (slice < state.from || slice >= state.to) continue;
      const first = columnOf(slice, per);
      rates[first] += figures[0];
      for (const [bucket, count] of bucketsOf(figures)) {
        const ns = low(bucket) * sliced.unit_ns;
        const row = ns === 0 ? -1 : rowOf(ns);
        const key = first * 100 + row + 1;
        cells.set(key, (cells.get(key) ?? 0) + count);
      }
    }
  }
  return { rates, cells: [...cells].map(([key, count]) => [Math.floor(key / 100), (key % 100) - 1, count]) };
}

const columnOf = (slice, per) => slice - ((slice - state.from) % per);

// The width of pictures on paper, whatever that of the window is.
let paper = null;

function drawTimeline() {
  const holder = $("timeline-picture"), width = Math.max(paper ?? holder.clientWidth, 300), inner = width - LEFT - RIGHT;
  layOut(width);
  const whole = slices.count * slices.width_ns, [first, last] = view(), length = last - first;
  const x = (at) => LEFT + (inner * (at - first)) / length;
  // Slices that are narrower than one sees are drawn together.
  const wide = (inner * slices.width_ns) / length, per = Math.max(Math.ceil(LEAST_COLUMN / wide), 1), column = wide * per;
  const { rates, cells } = heatCells(per), columnNs = slices.width_ns * per;
  const perSecond = 1e9 / columnNs, most = Math.max(...rates, 1) * perSecond;
  // What lies in the plots is cut off at their sides.
  const parts = [], plotted = [];
  for (const period of data.periods) {
    for (const [from, to] of period.spans) {
      const left = x(Math.max(from, 0)), right = x(Math.min(to, whole));
      if (to < first || from > last) continue;
      plotted.push(svg("rect", { class: "shade", x: left, y: RATE.top, width: Math.max(right - left, 2), height: BOTTOM - RATE.top },
        svg("title", {}, period.text)));
    }
  }
  // Throughput.
  parts.push(text(LEFT, RATE.top - 6, "start", fitted(state.group === null ? "Events per second" : `Events per second of ${groups[state.group].label}`, inner), "name"));
  for (let rate = 0, by = step(most, 3); rate <= most; rate += by) {
    const y = RATE.top + RATE.height * (1 - rate / most);
    parts.push(svg("path", { class: "grid", d: `M${LEFT} ${y}h${inner}` }), text(LEFT - 6, y + 4, "end", scaled(rate)));
  }
  const top = (rate) => RATE.top + RATE.height * (1 - (rate * perSecond) / most);
  const outline = rates.map((rate, slice) => slice < state.from || slice >= state.to || slice !== columnOf(slice, per) ? "" : `L${x(slice * slices.width_ns).toFixed(1)} ${top(rate).toFixed(1)}h${column.toFixed(2)}`);
  plotted.push(svg("path", { class: "area", d: `M${x(begin()).toFixed(1)} ${RATE.top + RATE.height}${outline.join("")}V${RATE.top + RATE.height}z` }));
  // Incidents, on a logarithmic scale of their length.
  parts.push(text(LEFT, HELD.top - 6, "start", `Incidents of ${duration(incidents.threshold_us)} or longer`, "name"));
  const shortest = Math.max(incidents.threshold_us, 0.001), longest = Math.max(...incidents.marks.map((mark) => mark[1]), shortest * 10);
  const tall = (held) => 6 + (HELD.height - 6) * Math.max(Math.log(held / shortest) / Math.log(longest / shortest), 0);
  for (let held = 10 ** Math.ceil(Math.log10(shortest)); held <= longest; held *= 10) {
    const y = HELD.top + HELD.height - tall(held);
    parts.push(svg("path", { class: "grid", d: `M${LEFT} ${y}h${inner}` }), text(LEFT - 6, y + 4, "end", duration(held)));
  }
  incidents.marks.forEach((mark, place) => {
    const [at, held] = mark, height = tall(held);
    if (at + held * 1000 < first || at > last) return;
    const from = x(Math.max(at, first)), to = x(Math.min(at + held * 1000, last));
    const bar = svg("rect", { class: "mark", x: Math.min(from - 0.5, width - RIGHT - 2), y: HELD.top + HELD.height - height, width: Math.max(to - from, 2), height, onclick: () => openIncident(place) },
      svg("title", {}, `${time(at, 3)} ${duration(held)} ${incidents.causes[mainCause(mark)]?.label ?? ""}`));
    bar.style.fill = colourOf(mainCause(mark));
    parts.push(bar);
  });
  parts.push(svg("path", { class: "grid", d: `M${LEFT} ${HELD.top + HELD.height}h${inner}` }));
  // Heat map.
  const rows = cells.map(([, row]) => row).filter((row) => row >= 0), hasZero = cells.some(([, row]) => row < 0);
  const least = rows.length ? Math.min(...rows) : 9, lowest = hasZero ? least - 1 : least, highest = Math.max(...rows, lowest + 3);
  const high = HEAT.height / (highest - lowest + 1), densest = Math.max(...cells.map(([, , count]) => count), 1);
  const levels = Array.from({ length: 8 }, () => []);
  for (const [slice, row, count] of cells) {
    const level = Math.min(Math.floor((8 * Math.log1p(count)) / Math.log1p(densest)), 7);
    levels[level].push(rectangle(x(slice * slices.width_ns), HEAT.top + (highest - Math.max(row, lowest)) * high, column + 0.3, high));
  }
  parts.push(text(LEFT, HEAT.top - 6, "start", fitted(state.group === null ? "Durations of all groups" : `Durations of ${groups[state.group].label}`, inner), "name"));
  levels.forEach((paths, level) => {
    const path = svg("path", { d: paths.join("") });
    path.style.fill = `var(--heat-${level + 1})`;
    plotted.push(path);
  });
  // Single events, where a slice is wide enough to tell them apart.
  for (const { at, duration_us, label } of wide > 12 ? data.slow : []) {
    if (at < first || at - duration_us * 1000 > last || (state.group !== null && label !== groups[state.group].label)) continue;
    const from = x(at - duration_us * 1000), middle = HEAT.top + (highest - Math.max(rowOf(Math.max(duration_us * 1000, 1)), lowest) + 0.5) * high;
    plotted.push(svg("rect", { class: "single", x: from, y: middle - 3, width: Math.max(x(at) - from, 3), height: 6 },
      svg("title", {}, `${time(at)} ${duration(duration_us)} ${label}`)));
  }
  const every = Math.max(Math.ceil(16 / high), 1);
  for (let row = highest; row >= lowest; row -= every) {
    const y = HEAT.top + (highest - row + 0.5) * high + 4;
    parts.push(text(LEFT - 6, y, "end", hasZero && row === lowest ? "0" : duration(rowBegin(row))));
  }
  // Time at round numbers, and what is not chosen.
  const near = roundTime(length, inner / 85), by = near < 1e8 ? roundTime(length, inner / 120) : near, digits = by >= 1e9 ? 0 : by >= 1e8 ? 1 : by >= 1e6 ? 3 : 6;
  const local = BigInt(data.clock.begin_ns) + BigInt(data.clock.offset_s) * 1000000000n;
  for (let at = first + Number(BigInt(by) - 1n - ((local + BigInt(Math.round(first)) + BigInt(by) - 1n) % BigInt(by))); at <= last; at += by) {
    parts.push(svg("path", { class: "grid", d: `M${x(at)} ${BOTTOM}v5` }));
    if (x(at) < width - 30) parts.push(text(x(at), BOTTOM + 19, "middle", time(at, digits)));
  }
  // Where in all of the time this is.
  if (isNarrowed()) {
    const [from, to] = view().map((at) => LEFT + (inner * at) / whole);
    parts.push(svg("rect", { class: "whole", x: LEFT, y: BOTTOM + 26, width: inner, height: 6 }),
      svg("rect", { class: "part", x: from, y: BOTTOM + 25, width: Math.max(to - from, 3), height: 8 }));
  }
  const label = `Events per second, ${count(incidents.marks.length, "incident")} and durations over ${duration(Math.round(length) / 1000)}; the table after it has the figures.`;
  const picture = svg("svg", { id: "timeline", viewBox: `0 0 ${width} ${BOTTOM + 36}`, role: "img", "aria-label": label },
    svg("svg", { x: LEFT, y: 0, width: inner, height: BOTTOM, viewBox: `${LEFT} 0 ${inner} ${BOTTOM}` }, ...plotted), ...parts);
  holder.replaceChildren(picture);
  const atHeat = (y) => ({ row: highest - Math.floor((y - HEAT.top) / high), isZero: hasZero && highest - Math.floor((y - HEAT.top) / high) === lowest });
  brush(picture, width, inner, (at, y) => readout(at, y, { rates, cells, per, atHeat }));
  figuresTable("timeline", () => timelineTable(rates, cells, per));
}
function timelineTable(rates, cells, per) {
  const columnNs = slices.width_ns * per;
  const longest = new Map(), held = new Array(slices.count).fill(0);
  for (const [slice, row] of cells) longest.set(slice, Math.max(longest.get(slice) ?? -1, row));
  for (const [at] of incidents.marks) {
    const slice = Math.min(Math.max(Math.floor(at / slices.width_ns), 0), slices.count - 1);
    if (slice >= state.from && slice < state.to) held[columnOf(slice, per)] += 1;
  }
  const rows = rates.flatMap((rate, slice) => rate === 0 && held[slice] === 0 ? [] : [[
    time(slice * slices.width_ns), scaled((rate * 1e9) / columnNs), grouped(rate), grouped(held[slice]),
    longest.has(slice) ? (longest.get(slice) < 0 ? "0" : `under ${duration(rowBegin(longest.get(slice) + 1))}`) : "–",
  ]]);
  return table(`Columns of ${duration(columnNs / 1000)}; those without events are left out`,
    [["From", false, "time"], ["Per second", true], ["Events", true], ["Incidents began", true], ["Longest", true]], rows);
}
/** What is under the pointer: the time, the rate, and on the heat map the number of durations. */
function readout(at, y, { rates, cells, per, atHeat }) {
  const slice = columnOf(Math.min(Math.max(Math.floor(at / slices.width_ns), state.from), state.to - 1), per), columnNs = slices.width_ns * per, digits = view()[1] - view()[0] < 1e9 ? 6 : 3;
  const parts = [time(at, digits), `${scaled((rates[slice] * 1e9) / columnNs)} events per second`];
  if (y >= HEAT.top && y < BOTTOM) {
    const { row, isZero } = atHeat(y), found = cells.find(([of, at]) => of === slice && (isZero ? at < 0 : at === row));
    parts.push(`${isZero ? "0" : `${duration(rowBegin(row))} to ${duration(rowBegin(row + 1))}`}: ${count(found?.[2] ?? 0, "event")} in ${duration(columnNs / 1000)}`);
  }
  const under = incidents.marks.filter(([from, held]) => at >= from && at <= from + held * 1000);
  if (under.length) parts.push(`${duration(under[0][1])} ${incidents.causes[mainCause(under[0])]?.label ?? ""}${under.length > 1 ? ` and ${count(under.length - 1, "other incident")}` : ""}`);
  $("readout").textContent = parts.join(" · ");
}
/** Dragging over a picture shows a range, and chooses it when it ends; moving over it says what is there. */
function brush(picture, width, inner, point) {
  const [first, last] = view();
  const place = (event) => {
    const box = picture.getBoundingClientRect(), scale = width / box.width;
    const x = Math.min(Math.max((event.clientX - box.left) * scale, LEFT), LEFT + inner);
    return { x, y: (event.clientY - box.top) * scale, at: first + ((x - LEFT) / inner) * (last - first) };
  };
  picture.addEventListener("pointermove", (move) => { if (!move.buttons) point(place(move).at, place(move).y); });
  picture.addEventListener("pointerleave", () => { $("readout").textContent = HINT; });
  picture.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    const start = place(down), shown = svg("rect", { class: "brush", y: RATE.top, height: BOTTOM - RATE.top });
    picture.append(shown);
    const drag = (move) => {
      const now = place(move), [from, to] = [start, now].sort((one, other) => one.x - other.x);
      shown.setAttribute("x", from.x);
      shown.setAttribute("width", to.x - from.x);
      $("readout").textContent = `${time(from.at)} to ${time(to.at)} (${duration((to.at - from.at) / 1000)})`;
    };
    const end = (up) => {
      for (const [name, listener] of [["pointermove", drag], ["pointerup", end], ["pointercancel", end]]) window.removeEventListener(name, listener);
      shown.remove();
      const [from, to] = [start.at, place(up).at].sort((one, other) => one - other);
      if (up.type === "pointerup" && Math.abs(up.clientX - down.clientX) > 4) zoom(from, to);
    };
    for (const [name, listener] of [["pointermove", drag], ["pointerup", end], ["pointercancel", end]]) window.addEventListener(name, listener);
  });
}
const HINT = "Point at the picture to read it; drag over it to zoom in.";
/** Shows a part of the time, down to microseconds; figures are of the slices around it. */
function zoom(from, to) {
  const whole = slices.count * slices.width_ns, length = Math.min(Math.max(to - from, 1000), whole);
  const at = Math.round(Math.min(Math.max(from, 0), whole - length)), till = Math.round(at + length);
  // What is nearly as wide as its slices is shown as these.
  const isFine = length < 4 * slices.width_ns;
  const outer = [Math.floor(at / slices.width_ns), Math.ceil(till / slices.width_ns)];
  choose(...outer, isFine ? [at, till] : null);
}

/** A histogram and the complementary distribution of a group. */
function drawPlots() {
  const holder = $("plots"), place = state.group;
  if (place === null) return holder.replaceChildren();
  const { label, limits_us, modes, unit_is_guess } = groups[place], sliced = slices.groups[place];
  const heading = el("h3", { tabindex: -1, id: "plots-of" }, `Durations of ${label}`);
  const close = el("button", { type: "button", onclick: () => chooseGroup(null) }, "Close");
  if (!sliced || sliced.unit_ns === null) {
    const why = sliced ? "Its events have no duration." : "Only the groups with the longest total are followed over time, and have plots.";
    return holder.replaceChildren(heading, el("p", {}, why), close);
  }
  const sum = merged(sliced);
  if (sum.timed === 0) return holder.replaceChildren(heading, el("p", {}, "No event of it in this range."), close);
  const us = (ticks) => (ticks * sliced.unit_ns) / 1000;
  // Four buckets together are wide enough to see; single ticks stay apart. A recorded 0 is less than one tick.
  const bars = new Map();
  for (const [bucket, count] of sum.buckets) {
    const first = bucket < 2 * slices.per_octave ? bucket : bucket - (bucket % 4);
    bars.set(first, (bars.get(first) ?? 0) + count);
  }
  const edge = (bucket) => us(bucket === 0 ? 0.5 : low(bucket));
  const list = [...bars].map(([bucket, count]) => ({ from: edge(bucket), to: edge(bucket < 2 * slices.per_octave ? bucket + 1 : bucket + 4), count, isZero: bucket === 0 }));
  const least = list[0].from, most = Math.max(list[list.length - 1].to, ...limits_us.map((limit) => limit * 1.2).filter((limit) => limit < us(sum.max) * 20));
  const room = paper ?? holder.clientWidth;
  const width = Math.max(Math.min(room, room > 880 ? (room - 32) / 2 : 9999), 290);
  const height = 250, base = height - 26, left = 54, right = 14, top = 26;
  const x = (value) => left + ((width - left - right) * Math.log(value / least)) / Math.log(most / least || 2);
  const axis = () => {
    const parts = [], decades = Math.log10(most / least), factors = decades > 3 || width < 420 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power += 1) {
      for (const factor of factors) {
        const value = factor * 10 ** power;
        if (value < least || value > most) continue;
        parts.push(svg("path", { class: "grid", d: `M${x(value)} ${top}V${base}` }));
        if (x(value) < width - 24) parts.push(text(x(value), base + 16, "middle", duration(value)));
      }
    }
    if (list[0].isZero) parts.push(text(x(least * 1.4), base + 16, "middle", "0"));
    for (const mode of modes) {
      const [from, to] = mode.range_us, at = x(Math.max(from, least)), end = x(Math.min(to * 1.03, most));
      parts.push(svg("rect", { class: "shade", x: at, y: top, width: Math.max(end - at, 4), height: base - top }, svg("title", {}, mode.reason)),
        text(Math.min(at, width - right - 62), top - 4, "start", "slow mode"));
    }
    for (const limit of limits_us.slice(0, 3).filter((limit) => limit >= least && limit <= most)) {
      const isRight = x(limit) > width - 110;
      parts.push(svg("path", { class: "limit", d: `M${x(limit)} ${top}V${base}` }, svg("title", {}, `longer than ${duration(limit)} is slow`)),
        text(x(limit) + (isRight ? -4 : 4), top + 11, isRight ? "end" : "start", `limit ${duration(limit)}`, "limit-name"));
    }
    return parts;
  };
  const tallest = Math.max(...list.map((bar) => bar.count), 10);
  const y = (count) => base - (base - top) * (Math.log10(count) + 0.3) / (Math.log10(tallest) + 0.3);
  const scale = [];
  for (let number = 1; number <= tallest; number *= 10) scale.push(svg("path", { class: "grid", d: `M${left} ${y(number)}H${width - right}` }), text(left - 6, y(number) + 4, "end", scaled(number)));
  const picture = (name, parts) => svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name} of ${label}; the table after it has the figures.` }, ...parts);
  const histogram = picture("Histogram", [...axis(), ...scale,
    svg("path", { class: "area", d: list.map((bar) => rectangle(x(bar.from), y(bar.count), Math.max(x(bar.to) - x(bar.from) - 1, 1.5), base - y(bar.count))).join("") })]);
  // The share that takes longer, from all down to one.
  const least_share = 1 / sum.timed / 1.5, tail = (share) => top + (base - top) * Math.log(share) / Math.log(least_share);
  let above = sum.timed, path = `M${x(least)} ${tail(1)}`;
  const steps = sum.buckets.map(([bucket, count]) => {
    above -= count;
    const to = Math.min(Math.max(x(edge(bucket + 1)), left), width - right);
    path += `H${to.toFixed(1)}` + (above > 0 ? `V${tail(above / sum.timed).toFixed(1)}` : `V${base}`);
    return { to: edge(bucket + 1), above };
  });
  const shares = [];
  for (let share = 1, label = 0; share >= least_share; share /= 10, label += 1) shares.push(svg("path", { class: "grid", d: `M${left} ${tail(share)}H${width - right}` }), text(left - 6, tail(share) + 4, "end", share >= 0.01 ? `${share * 100 >= 1 ? Math.round(share * 100) : share * 100}%` : `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[label]}`));
  const ccdf = picture("Share of events that take longer", [...axis(), ...shares, svg("path", { class: "line", d: path })]);
  const figures = figuresOf(place, lengthOfRange());
  const said = `${count(sum.timed, "duration")}${isNarrowed() ? " in the chosen range" : ""}: half take ${duration(figures.p50_us)} or less, 99 % ${duration(figures.p99_us)}, the longest took ${duration(figures.max_us)}.`
    + (unit_is_guess ? " The unit is a guess." : "");
  const as_table = (id, titles, rows) => {
    const details = el("details", { class: "figures", id: `${id}-figures` }, el("summary", {}, "The same as a table"));
    return [details, () => figuresTable(id, () => table("", titles, rows()))];
  };
  const [bar_figures, bar_table] = as_table("histogram", [["From", true], ["To", true], ["Events", true]],
    () => list.map((bar) => [bar.isZero ? "0" : duration(bar.from), duration(bar.to), grouped(bar.count)]));
  const [tail_figures, tail_table] = as_table("tail", [["Longer than or equal to", true], ["Events", true], ["Share", true]],
    () => steps.map(({ to, above }) => [duration(to), grouped(above), percent(above / sum.timed)]));
  holder.replaceChildren(heading, el("p", {}, said), el("div", { class: "plots" },
    el("figure", {}, histogram, el("figcaption", {}, "How many events took how long; both axes are logarithmic."), bar_figures),
    el("figure", {}, ccdf, el("figcaption", {}, "What share took longer (log-log): a straight line is a heavy tail."), tail_figures)),
    el("div", { class: "row" }, close));
  bar_table(), tail_table();
}

// ---- Incidents

const FIRST = 12, FIRST_CAUSES = 6;
let shownIncidents = FIRST;

function drawCauses() {
  const totals = new Map();
  for (const [at, held, charges] of incidents.marks.filter(([at, held]) => isIn(at, at + held * 1000))) {
    for (let place = 0; place < charges.length; place += 2) {
      const sum = totals.get(charges[place]) ?? { total: 0, count: 0 };
      const takesPart = place === 0 || charges[place + 1] * 10 >= held;
      totals.set(charges[place], { total: sum.total + charges[place + 1], count: sum.count + takesPart });
    }
  }
  const isWhole = !isNarrowed();
  const rows = incidents.causes.map((cause, place) => ({ cause, place, ...(isWhole ? { total: cause.total_us, count: cause.count } : totals.get(place)) }))
    .filter(({ total }) => total > 0).sort((one, other) => other.total - one.total);
  const most = rows[0]?.total ?? 1, advised = new Set();
  const items = rows.map(({ cause, place, total, count: number }) => {
    const isNew = cause.advice !== null && !advised.has(cause.advice);
    advised.add(cause.advice);
    return el("li", { mark: colourOf(place) },
      el("div", { class: "line-of" }, el("span", {}, cause.label),
        el("span", { class: "faint" }, `${duration(total)} in ${count(number, "incident")}${isWhole ? `, the longest ${duration(cause.longest_us)}` : ""}`)),
      el("progress", { max: most, value: total, "aria-label": `${cause.label}: ${duration(total)}` }),
      isNew ? el("p", { class: "advice" }, incidents.advice[cause.advice]) : "");
  });
  const smaller = items.slice(FIRST_CAUSES);
  replace("causes", ...items.slice(0, FIRST_CAUSES), smaller.length ? el("li", {}, el("details", {}, el("summary", {}, `${count(smaller.length, "smaller cause")}`), el("ul", { class: "bars" }, ...smaller))) : "");
  if (!rows.length) replace("causes", el("li", { class: "faint" }, !incidents.intervals ? "No event has a duration." : isWhole ? "Nothing was held up that long." : "Nothing was held up that long in this range."));
  if (!isWhole && incidents.hidden > 0) $("causes").append(el("li", { class: "faint" }, `Of the ${count(incidents.marks.length, "longest incident")} only: the file does not hold the others.`));
}
function incidentDetails(incident) {
  const link = ({ label, us, own_us, number, client, is_cause }) => el("li", { class: is_cause ? "cause" : undefined },
    `${number > 1 ? `${grouped(number)} × ` : ""}${label}: ${duration(us)}${own_us !== us ? `, ${duration(own_us)} of it itself` : ""}${client ? `, for ${client}` : ""}`);
  const chain = incident.chain.map(link);
  chain.forEach((item, depth) => { item.style.marginLeft = `${Math.min(depth, 8)}rem`; });
  const { clients, of, longest_us, least_us, most_us } = incident.waited ?? {};
  const longest = most_us - least_us <= Math.max(2000, most_us * 0.2) ? duration(longest_us) : `${duration(least_us)} to ${duration(most_us)}`;
  return el("div", {},
    chain.length ? el("p", {}, "From the outermost interval to what took most of it:") : "",
    chain.length ? el("ul", { class: "chain" }, ...chain) : "",
    el("p", {}, incident.unexplained_us > 0 ? `No event explains ${duration(incident.unexplained_us)} of it.` : "Events explain all of it.",
      ` ${clients > 0 ? `${grouped(clients)} of ${count(of, "active client")} waited, the longest ${longest}.` : incident.waited ? "No client is known to have waited." : "Who waited cannot be told."}`,
      incident.not_served > 0 ? ` About ${count(incident.not_served, "request")} not served.` : ""),
    ...incident.notes.map((note) => el("p", { class: "faint" }, note)),
    incident.advice !== null ? el("p", { class: "advice" }, incidents.advice[incident.advice]) : "");
}
function drawIncidents() {
  const chosen = incidents.shown.filter(({ mark }) => {
    const [at, held] = incidents.marks[mark];
    return isIn(at, at + held * 1000);
  });
  // The longest first; an incident that the address names is always there.
  const list = chosen.slice(0, shownIncidents);
  const named = chosen.find(({ mark }) => mark === state.incident);
  if (named && !list.includes(named)) list.push(named);
  const items = list.map((incident) => {
    const [at, held] = incidents.marks[incident.mark];
    const details = el("details", { class: "incident", id: `incident-${incident.mark}`, open: state.incident === incident.mark, mark: colourOf(mainCause(incidents.marks[incident.mark])) },
      el("summary", {}, el("span", { class: "held" }, duration(held)), el("span", { class: "why" }, incident.cause), el("span", { class: "when" }, `${time(at)} ${incident.process}`)),
      incidentDetails(incident));
    details.addEventListener("toggle", () => {
      if (details.open === (state.incident === incident.mark)) return;
      state.incident = details.open ? incident.mark : null;
      writeFragment();
    });
    return details;
  });
  const inRange = incidents.marks.filter(([at, held]) => isIn(at, at + held * 1000)).length;
  if (!items.length) items.push(el("p", { class: "faint" }, inRange ? `${count(inRange, "incident")} in this range; the file has details of the longest only.` : isNarrowed() ? "None in this range." : "None."));
  else items.push(el("p", { class: "faint" }, `The ${grouped(Math.min(chosen.length, shownIncidents))} longest of ${count(isNarrowed() ? inRange : inRange + incidents.hidden, "incident")}${isNarrowed() ? " in this range" : ""}.`));
  replace("incidents", ...items);
  $("more-incidents").hidden = chosen.length <= shownIncidents;
}
function openIncident(place) {
  state.incident = place;
  if (!incidents.shown.some(({ mark }) => mark === place)) return;
  writeFragment();
  drawIncidents();
  const details = $(`incident-${place}`);
  details.scrollIntoView({ block: "center" });
  details.querySelector("summary").focus({ preventScroll: true });
}

// ---- Groups

function drawGroups() {
  const length = isNarrowed() ? lengthOfRange() : 0, wanted = state.find.trim().toLowerCase();
  const all = groups.map((group, place) => ({ group, place, figures: figuresOf(place, length) }));
  const rows = all.filter(({ group, figures }) => figures && (!isNarrowed() || figures.count > 0) && group.label.toLowerCase().includes(wanted));
  if (state.sort === "name") rows.sort((one, other) => one.group.label.localeCompare(other.group.label));
  else if (state.sort || isNarrowed()) {
    const by = state.sort || "total_us";
    rows.sort((one, other) => (other.figures[by] ?? -1) - (one.figures[by] ?? -1));
  }
  if (state.up) rows.reverse();
  const given = [data.top.sorted_by, `${String(data.top.sorted_by).replace(".", "")}_us`].find((name) => name in columns) ?? "";
  const sortedBy = state.sort || (isNarrowed() ? "total_us" : given);
  const header = (name, title, isNumber) => {
    const isSorted = sortedBy === name, isUp = name === "name" ? !state.up : state.up;
    return el("th", { scope: "col", class: isNumber ? "number" : undefined, "aria-sort": isSorted ? (isUp ? "ascending" : "descending") : "none" },
      el("button", { type: "button", "data-sort": name, onclick: () => sortBy(name) }, title));
  };
  const body = rows.map(({ group, place, figures }) => el("tr", { class: place === state.group ? "chosen" : undefined, "data-group": place },
    el("td", { class: "name" }, el("button", { type: "button", "aria-pressed": String(place === state.group), onclick: () => chooseGroup(place === state.group ? null : place) }, group.label)),
    ...Object.entries(columns).map(([name, [, form]]) => {
      const value = figures[name];
      const shown = value === null || value === undefined ? "–" : form(value) + (group.unit_is_guess && form !== grouped && form !== scaled ? "?" : "");
      return el("td", { class: "number", "data-figure": name, "data-value": value ?? "" }, shown);
    })));
  const focused = document.activeElement?.dataset?.sort;
  replace("groups", el("table", {}, el("thead", {}, el("tr", {}, header("name", "Group", false), ...Object.entries(columns).map(([name, [title]]) => header(name, title, true)))), el("tbody", {}, ...body)));
  if (focused) $("groups").querySelector(`[data-sort="${focused}"]`).focus();
  fitRows();
  $("found").textContent = `${grouped(rows.length)} of ${count(groups.length, "group")}`;
}
function sortBy(name) {
  const current = state.sort || "total_us";
  state.up = current === name ? !state.up : false;
  state.sort = name;
  writeFragment();
  drawGroups();
}
function chooseGroup(place) {
  state.group = place;
  writeFragment();
  drawGroups();
  drawPlots();
  drawTimeline();
  $("shown").value = place ?? "";
  if (place !== null) $("plots-of").scrollIntoView({ block: "nearest" });
  // The button that was pressed was drawn again.
  $("groups").querySelector(`[data-group="${place}"] button`)?.focus({ preventScroll: true });
}

// ---- Other tables

/** Makes a table that scrolls as tall as its rows, so that none is cut in half. */
function fitRows() {
  for (const box of document.querySelectorAll(".scroll.tall")) {
    box.style.maxHeight = "";
    const limit = box.clientHeight + box.getBoundingClientRect().top + box.clientTop;
    const bottoms = Array.from(box.querySelectorAll("tbody tr"), (row) => row.getBoundingClientRect().bottom + box.scrollTop);
    if (!bottoms.length || bottoms[bottoms.length - 1] <= limit + 1) continue;
    const whole = bottoms.filter((bottom) => bottom <= limit + 1).pop();
    const bar = box.offsetHeight - box.clientHeight;
    if (whole) box.style.maxHeight = `${whole - box.getBoundingClientRect().top - box.clientTop + bar}px`;
  }
}

function drawSlow() {
  const inRange = data.slow.filter(({ at }) => !isNarrowed() || (at >= begin() && at < end()));
  // Of each slice the slowest few are held: the list is complete down to the last one held of any full slice.
  let floor = 0;
  if (isNarrowed()) {
    const bySlice = new Map();
    for (const { at, duration_us } of data.slow) {
      const slice = Math.floor(at / slices.kept_width_ns);
      bySlice.set(slice, [...(bySlice.get(slice) ?? []), duration_us]);
    }
    for (const [slice, durations] of bySlice) {
      const isChosen = (slice + 1) * slices.kept_width_ns > begin() && slice * slices.kept_width_ns < end();
      if (isChosen && durations.length >= slices.slowest[1]) floor = Math.max(floor, Math.min(...durations));
    }
    floor = Math.min(floor, data.slow[Math.min(slices.slowest[0], data.slow.length) - 1]?.duration_us ?? 0);
  }
  const rows = inRange.filter(({ duration_us }) => duration_us >= floor).slice(0, 20);
  const titles = [["Duration", true], ["Ended", false, "time"], ["Event", false], ["Client", false, "time"], ["Process", false, "time"], ["Because of", false], ["Fields", false]];
  replace("slow", table("", titles, rows.map((event) => [duration(event.duration_us) + (event.unit_is_guess ? "?" : ""), time(event.at), event.label, event.client, event.process, event.because || "–", event.fields || "–"])));
  $("slow-note").textContent = rows.length ? `The ${grouped(rows.length)} slowest${isNarrowed() ? " in this range: more cannot be told from what the file holds" : ""}.` : "No events with a duration.";
}
function drawStatic() {
  const found = data.outliers.sort((one, other) => other.lost_us - one.lost_us).map((finding) => [finding.what, duration(finding.lost_us), grouped(finding.events), finding.at === null ? "–" : time(finding.at), finding.label, finding.reason]);
  replace("outliers", table("", [["What", false, "time"], ["Took or lost", true], ["Events", true], ["When", false, "time"], ["Group", false], ["Why", false]], found));
  if (!found.length) replace("outliers", el("p", { class: "faint" }, "Nothing."));
  const titles = [["Client", false], ["Event", false], ["Total", true], ["Count", true], ["p50", true], ["p99", true], ["Longest", true]];
  replace("clients", table("", titles, data.clients.map((client) => [client.label, client.event, duration(client.total_us), grouped(client.count), duration(client.p50_us), duration(client.p99_us), duration(client.max_us)])));
  replace("processes", table("", [["Process", false], ["Host", false], ["Events", true]], data.processes.map((process) => [process.label, process.host, grouped(process.events)])));
  for (const id of ["outliers", "clients", "processes"]) {
    const isEmpty = !$(id).querySelector("tbody tr");
    if (isEmpty) $(id).replaceChildren(), $(id).hidden = true;
  }
  const key = Array.from({ length: 8 }, (_, level) => el("i"));
  key.forEach((cell, level) => { cell.style.background = `var(--heat-${level + 1})`; });
  replace("heat-key", ...key);
  const causes = incidents.causes.slice(0, 8).map((cause, place) => {
    const dot = el("span", { class: "dot", "aria-hidden": "true" });
    dot.style.background = colourOf(place);
    return el("li", {}, dot, place === 7 && incidents.causes.length > 8 ? "other causes" : cause.label);
  });
  const slow = data.periods.length ? [el("li", {}, el("span", { class: "dot shade", "aria-hidden": "true" }), "slower than usual for a while")] : [];
  const single = el("li", {}, el("span", { class: "dot single", "aria-hidden": "true" }), "one of the slowest events, where zoomed in");
  replace("legend", ...causes, ...slow, ...(data.slow.length ? [single] : []));
  $("shown").append(el("option", { value: "" }, "all groups"), ...groups.flatMap(({ label }, place) => slices.groups[place]?.unit_ns ? [el("option", { value: place }, label)] : []));
}

// ---- The range, and everything that depends on it

function drawRange() {
  $("from").max = slices.count - 1;
  $("to").max = slices.count;
  $("from").value = state.from;
  $("to").value = state.to;
  $("from").setAttribute("aria-valuetext", time(begin(), 3));
  $("to").setAttribute("aria-valuetext", time(end(), 3));
  const length = duration((end() - begin()) / 1000);
  const part = state.part ? `${time(state.part[0])} to ${time(state.part[1])} (${duration((state.part[1] - state.part[0]) / 1000)}); figures of ` : "";
  $("span").textContent = isNarrowed() ? `${part}${time(begin(), 3)} to ${time(end(), 3)} (${length})` : `All of the time (${duration((data.top.trace.length_ns ?? 0) / 1000)})`;
  $("all").disabled = $("out").disabled = !isNarrowed();
  $("range").dataset.since = nanoseconds(begin());
  $("range").dataset.until = nanoseconds(end() - 1);
}
function choose(from, to, part = null) {
  state.part = part;
  state.from = Math.min(Math.max(from, 0), slices.count - 1);
  state.to = Math.min(Math.max(to, state.from + 1), slices.count);
  shownIncidents = FIRST;
  writeFragment();
  draw();
}
function draw() {
  drawRange();
  drawTimeline();
  drawCauses();
  drawIncidents();
  drawGroups();
  drawPlots();
  drawSlow();
  fitRows();
}
function restore() {
  readFragment();
  $("find").value = state.find;
  $("shown").value = state.group ?? "";
  draw();
  if (state.incident !== null) $(`incident-${state.incident}`)?.scrollIntoView({ block: "center" });
}

drawStatic();
restore();
$("from").addEventListener("input", () => choose(Number($("from").value), Math.max(state.to, Number($("from").value) + 1)));
$("to").addEventListener("input", () => choose(Math.min(state.from, Math.max(Number($("to").value) - 1, 0)), Number($("to").value)));
$("all").addEventListener("click", () => choose(0, slices.count));
$("out").addEventListener("click", () => { const [from, to] = view(), more = to - from; zoom(from - more, to + more); });
$("range").addEventListener("submit", (event) => event.preventDefault());
$("find").addEventListener("input", () => { state.find = $("find").value; writeFragment(); drawGroups(); });
$("shown").addEventListener("change", () => chooseGroup($("shown").value === "" ? null : Number($("shown").value)));
$("more-incidents").addEventListener("click", () => { shownIncidents += 50; drawIncidents(); });
window.addEventListener("hashchange", restore);
let width = window.innerWidth;
const drawPictures = () => { drawTimeline(); drawPlots(); fitRows(); };
$("readout").textContent = HINT;
window.addEventListener("resize", () => { if (width !== window.innerWidth) { width = window.innerWidth; drawPictures(); } });
window.addEventListener("beforeprint", () => {
  paper = 900;
  drawPictures();
  for (const details of document.querySelectorAll(".incident, .bars details")) details.open = true;
});
window.addEventListener("afterprint", () => { paper = null; drawPictures(); });
