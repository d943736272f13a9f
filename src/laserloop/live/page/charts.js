// Time charts: peak temperature with its window and the prediction as a fan, power, decision time with status.

import { callRuns } from "./names.js";
import { at, curve, dot, ink, line, marks, ribbon, sheet, write } from "./plot.js";
import { time, timeUnit } from "./units.js";

const LEFT = 52, RIGHT = 12;
const PEAK = "Peak temperature", SOLVED = "solved", DARK = "the path has the laser off here";

export function visible(runs, now, span) {  // the ticks that are shown, of the longest run
  const run = longest(runs);
  if (!span || span >= run.ticks) return [0, run.ticks];
  const last = Math.min(run.ticks, Math.max(span, Math.round(now + 0.2 * span)));
  return [last - span, last];
}

export const longest = runs => runs.reduce((a, b) => a.ticks >= b.ticks ? a : b);

// What does not change with the tick that is looked at, curves and axes, is painted once and kept; a cursor and a few dots
// are all that a step or a scrub costs.
const kept = new Map();  // id of a chart -> { key, canvas }

function layer(id, runs, shown, limits, paint, g, w, h) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const key = [w, h, g.canvas.width, dark, shown, limits, ...runs.map(run => run.id + run.version)].join();
  const old = kept.get(id) ?? { canvas: document.createElement("canvas") };
  if (old.key !== key) {
    old.key = key; kept.set(id, old);
    old.canvas.width = g.canvas.width; old.canvas.height = g.canvas.height;
    const own = old.canvas.getContext("2d");
    own.setTransform(g.getTransform()); own.font = g.font; own.lineJoin = own.lineCap = "round";
    paint(own);
  }
  g.drawImage(old.canvas, 0, 0, w, h);
}

function frame(id, runs, shown, [low, high], foot = 20) {  // how ticks and values lie
  const [g, w, h] = sheet(at(id)), right = w - RIGHT, top = 6, bottom = h - foot;
  const main = longest(runs), t0 = shown[0] ? main.column.t_s[shown[0] - 1] : 0, t1 = main.column.t_s[shown[1] - 1];
  const x = t => LEFT + (right - LEFT) * (t - t0) / (t1 - t0 || 1), y = v => bottom - (bottom - top) * (v - low) / (high - low);
  return { g, w, h, x, y, right, top, foot: h - 20, t0, t1, low, high };
}

function axes(f, g, unitOf) {
  const [scale, unit] = timeUnit(f.t1), { x, y, right } = f;
  for (const v of marks(f.low, f.high, Math.max(2, f.h / 48))) {
    line(g, [[LEFT, y(v)], [right, y(v)]], ink("--line"), 1);
    write(g, unitOf(v), LEFT - 6, y(v), "right");
  }
  const ends = [...marks(f.t0 / scale, f.t1 / scale, Math.max(2, f.w / 110))];
  ends.forEach((v, i) => write(g, i === ends.length - 1 ? v + " " + unit : v, x(v * scale), f.foot + 5, i === ends.length - 1 ? "right" : "center", "top"));
}

function inside(f, g, draw) { g.save(); g.beginPath(); g.rect(LEFT, f.top, f.right - LEFT, f.foot - f.top); g.clip(); draw(); g.restore(); }

function range(run, f) {  // its ticks between the ends of the frame
  const first = Math.max(0, Math.floor(f.t0 / run.tick_s) - 1), last = Math.min(run.count, Math.ceil(f.t1 / run.tick_s) + 1);
  return [first, Math.max(first, last)];
}

function cursor(f, runs, now) {
  const main = longest(runs), t = main.column.t_s[Math.min(now, main.ticks - 1)];
  line(f.g, [[f.x(t), f.top], [f.x(t), f.foot]], ink("--soft"), 1);
}

function limits(runs) {  // what counts, and the windows; heating up would flatten the rest
  let low = Infinity, high = -Infinity;
  for (const run of runs) {
    const s = run.scores, c = run.column, last = run.count - 1;
    low = Math.min(low, s.low);
    if (s.above) high = Math.max(high, s.high);
    else if (last >= 0) high = Math.max(high, c.t_k[last]);
    for (const k of [0, last]) if (k >= 0 && Number.isFinite(c.window_low_k[k])) { low = Math.min(low, c.window_low_k[k]); high = Math.max(high, c.window_high_k[k]); }
    if (run.window0) { low = Math.min(low, run.window0[0]); high = Math.max(high, run.window0[1]); }
  }
  if (!(low < high)) { const middle = Number.isFinite(high) ? high : 300; return [middle - 20, middle + 20]; }
  const pad = 0.14 * (high - low);
  return [low - pad, high + pad];
}

function paintWindow(f, g, run, colour, alpha) {
  const c = run.column, [from, to] = range(run, f);
  if (!run.windowed) return;
  g.fillStyle = colour;
  let start = from;
  for (let k = from + 1; k <= to; k++) {  // one box for each stretch without a change
    if (k < to && c.window_low_k[k] === c.window_low_k[start] && c.window_high_k[k] === c.window_high_k[start]) continue;
    const end = k >= run.count ? f.right : f.x(c.t_s[k - 1]), begin = start ? f.x(c.t_s[start - 1]) : f.x(0);
    const [a, b] = [f.y(c.window_high_k[start]), f.y(c.window_low_k[start])];
    g.globalAlpha = alpha; g.fillRect(begin, a, end - begin, b - a); g.globalAlpha = 1;
    for (const edge of [a, b]) line(g, [[begin, edge], [end, edge]], ink("--band-edge"), 1);
    start = k;
  }
}

function paintFan(f, run, now, colour) {  // what is expected of the coming ticks, and how far off that may be
  const fan = planned(run, now), c = run.column;
  if (!fan) return;
  const above = c.margin_above_k[now] || 0, below = c.margin_below_k[now] || 0, t = j => c.t_s[now] + j * run.tick_s;
  const start = [f.x(c.t_s[now]), f.y(c.t_k[now])], tops = [], feet = [], way = [start];
  for (let j = 1; j < fan.length; j++) {  // the first is of the tick that is over
    tops.push([f.x(t(j)), f.y(fan[j] + above)]); feet.push([f.x(t(j)), f.y(fan[j] - below)]); way.push([f.x(t(j)), f.y(fan[j])]);
  }
  f.g.globalAlpha = 0.28; f.g.fillStyle = colour; f.g.beginPath(); f.g.moveTo(...start);
  for (const p of tops) f.g.lineTo(...p);
  for (const p of feet.reverse()) f.g.lineTo(...p);
  f.g.closePath(); f.g.fill(); f.g.globalAlpha = 1;
  line(f.g, way, colour, 1.5, [3, 3]);
}

const sameWindow = runs => new Set(runs.filter(r => r.windowed).map(r => [r.column.window_low_k[r.count - 1], r.column.window_high_k[r.count - 1]].join())).size < 2;
const planned = (run, now) => run.frame && run.frame.k === now && Number.isFinite(run.frame.fan?.[0]) ? run.frame.fan : null;

export function captions(runs) {  // what each picture shows, in words
  const names = callRuns(runs), several = runs.length > 1;
  const bare = runs.map((run, i) => run.frame?.image ? "" : names[i]).filter(Boolean);
  const window = runs.some(run => run.windowed) ? several && !sameWindow(runs) ? "shaded in its colour: the window of each" : "shaded: the window" : "";
  const ahead = runs.some(run => run.frame && planned(run, run.frame.k)) ? "ahead of the cursor: the plan" : "";
  const past = !runs.some(run => run.scores.predicted) ? "" : several ? "choose one run to see its predictions and margins" : "dashed: predicted a tick before, with its margin";
  return {
    heat: "Surface around the beam" + (several && bare.length && bare.length < runs.length ? "; no image of " + bare.join(", ") : ""),
    map: "Path, coloured by peak temperature" + (several ? " under " + names[0] : ""),
    temp: [PEAK, window, past, ahead].filter(Boolean).join("; "),
    power: "Power",
    time: "Decision time; dashed: one tick, " + time(longest(runs).tick_s) + (runs.some(run => run.statuses.length) ? "; marks below: ticks that were not simply solved (grey: laser off)" : ""),
  };
}

export function fillCaptions(runs) {
  for (const [id, text] of Object.entries(captions(runs))) {
    const caption = at(id + "-caption"), names = id === "temp" && runs.length > 1 ? callRuns(runs) : [];
    const whole = names.length ? `${PEAK} of ${names.join(", ")}${text.slice(PEAK.length)}` : text;
    if (caption.textContent !== whole) caption.replaceChildren(...(names.length ? [PEAK + " of ", ...keys(names), text.slice(PEAK.length)] : [text]));
  }
}

function* keys(names) {  // which colour is whose
  for (const [i, name] of names.entries()) {
    const swatch = document.createElement("span"), word = document.createElement("span");
    swatch.className = "swatch c" + i; word.className = "key"; word.append(swatch, name);
    if (i) yield ", ";
    yield word;
  }
}

export function temperature(runs, now, shown) {
  const bounds = limits(runs), f = frame("temp", runs, shown, bounds), { g } = f, same = sameWindow(runs);
  layer("temp", runs, shown, bounds, own => {
    axes(f, own, v => v + " K");
    inside(f, own, () => {
      runs.forEach((run, i) => (same ? i === 0 || !runs[0].windowed : true) && paintWindow(f, own, run, same ? ink("--band") : ink("--run-" + i), same ? 1 : 0.16));
      runs.forEach((run, i) => paintRun(f, own, run, ink("--run-" + i), runs.length === 1));
    });
  }, g, f.w, f.h);
  inside(f, g, () => {
    runs.forEach((run, i) => {
      const k = Math.min(now, run.count - 1);
      if (k >= 0) { paintFan(f, run, k, runs.length > 1 ? ink("--run-" + i) : ink("--fan")); dot(g, f.x(run.column.t_s[k]), f.y(run.column.t_k[k]), 4, ink("--run-" + i)); }
    });
    cursor(f, runs, now);
  });
  return f;
}

function paintRun(f, g, run, colour, alone) {  // the peak and, of a single run, what was predicted and how far off that may be
  const c = run.column, [from, to] = range(run, f), x = k => f.x(c.t_s[k]);
  if (alone) {
    g.globalAlpha = 0.2; g.fillStyle = colour;
    ribbon(g, from, to, x, f.y, k => c.predicted_k[k] + c.margin_above_k[k], k => c.predicted_k[k] - c.margin_below_k[k]);
    g.globalAlpha = 0.8; g.strokeStyle = ink("--fan"); g.lineWidth = 1; g.setLineDash([3, 3]);
    if (to - from < 2000) curve(g, from, to, x, f.y, c.predicted_k);
    g.setLineDash([]); g.globalAlpha = 1;
  }
  g.strokeStyle = colour; g.lineWidth = 1.7;
  curve(g, from, to, x, f.y, c.t_k);
}

export function power(runs, now, shown) {
  const bounds = [0, 1.1 * Math.max(1e-3, ...runs.map(run => run.scores.powerHigh))], f = frame("power", runs, shown, bounds), { g } = f;
  layer("power", runs, shown, bounds, own => {
    axes(f, own, v => v + " W");
    inside(f, own, () => runs.forEach((run, i) => {
      const c = run.column, [from, to] = range(run, f);
      own.strokeStyle = ink("--run-" + i); own.lineWidth = 1.6;
      curve(own, from, to, j => f.x(c.t_s[j]), f.y, c.power_w);
    }));
  }, g, f.w, f.h);
  inside(f, g, () => {
    runs.forEach((run, i) => {
      const c = run.column, k = Math.min(now, run.count - 1);
      if (k >= 0) dot(g, f.x(c.t_s[k]), f.y(c.power_w[k]), 3.5, ink("--run-" + i));
    });
    cursor(f, runs, now);
  });
  return f;
}

const LOWEST = 1e-6, STRIP = 5;  // s; pixels of a row of marks
export function decisions(runs, now, shown) {  // on a scale of powers of ten: microseconds beside milliseconds
  const tick = longest(runs).tick_s, most = Math.max(2 * tick, ...runs.map(run => 2e-3 * run.scores.slowest));
  const bounds = [Math.log10(LOWEST), Math.log10(Math.max(most, 10 * LOWEST))], f = frame("time", runs, shown, bounds, 20 + STRIP * Math.max(2, runs.length)), { g } = f;
  layer("time", runs, shown, bounds, own => {
    for (let p = Math.ceil(f.low); p <= f.high; p++) {
      line(own, [[LEFT, f.y(p)], [f.right, f.y(p)]], ink("--line"), 1);
      if (p % 2 === 0 || f.high - f.low < 3) write(own, time(10 ** p).replace(".00", "").replace(".0", ""), LEFT - 6, f.y(p), "right");
    }
    inside(f, own, () => {
      line(own, [[LEFT, f.y(Math.log10(tick))], [f.right, f.y(Math.log10(tick))]], ink("--above"), 1, [5, 4]);
      runs.forEach((run, i) => paintDecisions(f, own, run, i, runs.length));
    });
  }, g, f.w, f.h);
  inside(f, g, () => cursor(f, runs, now));
  return f;
}

function paintDecisions(f, g, run, i, rows) {
  const c = run.column, [from, to] = range(run, f), start = k => f.x(k ? c.t_s[k - 1] : 0);
  g.strokeStyle = ink("--run-" + i); g.lineWidth = 1.2;
  if (run.scores.slowest > 0) curve(g, from, to, k => f.x(c.t_s[k]), v => f.y(Math.log10(Math.max(LOWEST, 1e-3 * v))), c.tick_ms);
  if (!run.statuses.length) return;
  for (let k = from; k < to;) {  // what was not simply solved, a mark for each stretch of it
    const words = run.status(k);
    let end = k + 1;
    while (end < to && c.status[end] === c.status[k]) end++;
    if (words && words !== SOLVED) {
      g.fillStyle = words === DARK ? ink("--edge") : ink("--above");
      g.fillRect(start(k), f.foot - rows * STRIP + 2 + STRIP * i, Math.max(1, start(end) - start(k)), STRIP - 1);
    }
    k = end;
  }
}
