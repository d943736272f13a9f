// Time charts: peak temperature with its window and the prediction as a fan, power, decision time with status.

import { at, curve, dot, ink, line, marks, ribbon, sheet, write } from "./plot.js";
import { time, timeUnit } from "./units.js";

const LEFT = 52, RIGHT = 12;
const SOLVED = "solved", DARK = "the path has the laser off here";

export function visible(runs, now, span) {  // the ticks that are shown, of the longest run
  const run = longest(runs);
  if (!span || span >= run.ticks) return [0, run.ticks];
  const last = Math.min(run.ticks, Math.max(span, Math.round(now + 0.2 * span)));
  return [last - span, last];
}

export const longest = runs => runs.reduce((a, b) => a.ticks >= b.ticks ? a : b);

function frame(id, runs, shown, [low, high], unitOf) {  // axes; how ticks and values lie
  const [g, w, h] = sheet(at(id)), right = w - RIGHT, top = 6, foot = h - 20;
  const main = longest(runs), t0 = shown[0] ? main.column.t_s[shown[0] - 1] : 0, t1 = main.column.t_s[shown[1] - 1];
  const x = t => LEFT + (right - LEFT) * (t - t0) / (t1 - t0 || 1), y = v => foot - (foot - top) * (v - low) / (high - low);
  const [scale, unit] = timeUnit(t1);
  for (const v of marks(low, high, Math.max(2, h / 48))) {
    line(g, [[LEFT, y(v)], [right, y(v)]], ink("--line"), 1);
    write(g, unitOf(v), LEFT - 6, y(v), "right");
  }
  const ends = [...marks(t0 / scale, t1 / scale, Math.max(2, w / 110))];
  ends.forEach((v, i) => write(g, i === ends.length - 1 ? v + " " + unit : v, x(v * scale), foot + 5, i === ends.length - 1 ? "right" : "center", "top"));
  return { g, x, y, right, top, foot, t0, t1 };
}

function inside(f, draw) { f.g.save(); f.g.beginPath(); f.g.rect(LEFT, f.top, f.right - LEFT, f.foot - f.top); f.g.clip(); draw(f.g); f.g.restore(); }

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
    if (s.counted) { low = Math.min(low, s.low); high = Math.max(high, s.high); }
    else if (last >= 0) high = Math.max(high, c.t_k[last]);
    for (const k of [0, last]) if (k >= 0 && Number.isFinite(c.window_low_k[k])) { low = Math.min(low, c.window_low_k[k]); high = Math.max(high, c.window_high_k[k]); }
    if (run.window0) { low = Math.min(low, run.window0[0]); high = Math.max(high, run.window0[1]); }
  }
  if (!(low < high)) { const middle = Number.isFinite(high) ? high : 300; return [middle - 20, middle + 20]; }
  const pad = 0.14 * (high - low);
  return [low - pad, high + pad];
}

function paintWindow(f, run, colour, alpha) {
  const c = run.column, [from, to] = range(run, f);
  if (!run.windowed) return;
  f.g.fillStyle = colour;
  let start = from;
  for (let k = from + 1; k <= to; k++) {  // one box for each stretch without a change
    if (k < to && c.window_low_k[k] === c.window_low_k[start] && c.window_high_k[k] === c.window_high_k[start]) continue;
    const end = k >= run.count ? f.right : f.x(c.t_s[k - 1]), begin = start ? f.x(c.t_s[start - 1]) : f.x(0);
    const [a, b] = [f.y(c.window_high_k[start]), f.y(c.window_low_k[start])];
    f.g.globalAlpha = alpha; f.g.fillRect(begin, a, end - begin, b - a); f.g.globalAlpha = 1;
    for (const edge of [a, b]) line(f.g, [[begin, edge], [end, edge]], ink("--band-edge"), 1);
    start = k;
  }
}

function paintFan(f, run, now, colour) {  // what is expected of the coming ticks, and how far off that may be
  const fan = run.frame && run.frame.k === now ? run.frame.fan : null, c = run.column;
  if (!fan || !fan.length || !Number.isFinite(fan[0])) return;
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

export function temperature(runs, now, shown) {
  const f = frame("temp", runs, shown, limits(runs), v => v + " K");
  const same = new Set(runs.filter(r => r.windowed).map(r => [r.column.window_low_k[r.count - 1], r.column.window_high_k[r.count - 1]].join())).size < 2;
  inside(f, g => {
    runs.forEach((run, i) => (same ? i === 0 || !runs[0].windowed : true) && paintWindow(f, run, same ? ink("--band") : ink("--run-" + i), same ? 1 : 0.16));
    runs.forEach((run, i) => {
      const c = run.column, colour = ink("--run-" + i), [from, to] = range(run, f), x = k => f.x(c.t_s[k]);
      if (runs.length === 1) {
        g.globalAlpha = 0.2; g.fillStyle = colour;
        ribbon(g, from, to, x, f.y, k => c.predicted_k[k] + c.margin_above_k[k], k => c.predicted_k[k] - c.margin_below_k[k]);
        g.globalAlpha = 0.8; g.strokeStyle = ink("--fan"); g.lineWidth = 1; g.setLineDash([3, 3]);
        if (to - from < 2000) curve(g, from, to, x, f.y, c.predicted_k);
        g.setLineDash([]); g.globalAlpha = 1;
      }
      g.strokeStyle = colour; g.lineWidth = 1.7;
      curve(g, from, to, x, f.y, c.t_k);
      const k = Math.min(now, run.count - 1);
      if (k >= 0) { paintFan(f, run, k, ink("--fan")); dot(g, x(k), f.y(c.t_k[k]), 4, colour); }
    });
    cursor(f, runs, now);
  });
  return f;
}

export function power(runs, now, shown) {
  const most = Math.max(1e-3, ...runs.map(run => run.scores.powerHigh));
  const f = frame("power", runs, shown, [0, 1.1 * most], v => v + " W");
  inside(f, g => {
    runs.forEach((run, i) => {
      const c = run.column, [from, to] = range(run, f), k = Math.min(now, run.count - 1);
      g.strokeStyle = ink("--run-" + i); g.lineWidth = 1.6;
      curve(g, from, to, j => f.x(c.t_s[j]), f.y, c.power_w);
      if (k >= 0) dot(g, f.x(c.t_s[k]), f.y(c.power_w[k]), 3.5, ink("--run-" + i));
    });
    cursor(f, runs, now);
  });
  return f;
}

const LOWEST = 1e-6;  // s
export function decisions(runs, now, shown) {  // on a scale of powers of ten: microseconds beside milliseconds
  const tick = longest(runs).tick_s, most = Math.max(2 * tick, ...runs.map(run => 2e-3 * run.scores.slowest));
  const [low, high] = [Math.log10(LOWEST), Math.log10(Math.max(most, 10 * LOWEST))];
  const [g0, w, h] = sheet(at("time")), right = w - RIGHT, top = 4, strip = 5, foot = h - 20 - 2 * strip;
  const main = longest(runs), t0 = shown[0] ? main.column.t_s[shown[0] - 1] : 0, t1 = main.column.t_s[shown[1] - 1];
  const f = { g: g0, right, top, foot: h - 20, t0, t1, x: t => LEFT + (right - LEFT) * (t - t0) / (t1 - t0 || 1), y: v => foot - (foot - top) * (v - low) / (high - low) };
  for (let p = Math.ceil(low); p <= high; p++) {
    line(g0, [[LEFT, f.y(p)], [right, f.y(p)]], ink("--line"), 1);
    if (p % 2 === 0 || high - low < 3) write(g0, time(10 ** p).replace(".00", "").replace(".0", ""), LEFT - 6, f.y(p), "right");
  }
  inside(f, g => {
    line(g, [[LEFT, f.y(Math.log10(tick))], [right, f.y(Math.log10(tick))]], ink("--above"), 1, [5, 4]);
    runs.forEach((run, i) => {
      const c = run.column, [from, to] = range(run, f);
      g.strokeStyle = ink("--run-" + i); g.lineWidth = 1.2;
      if (run.scores.slowest > 0) curve(g, from, to, k => f.x(c.t_s[k]), v => f.y(Math.log10(Math.max(LOWEST, 1e-3 * v))), c.tick_ms);
      for (let k = from; k < to; k++) {  // what was not simply solved, below
        const words = run.status(k);
        if (!words || words === SOLVED) continue;
        g.fillStyle = words === DARK ? ink("--edge") : ink("--above");
        g.fillRect(f.x(k ? c.t_s[k - 1] : 0), foot + 3 + strip * (i % 2), Math.max(1, f.x(c.t_s[k]) - f.x(k ? c.t_s[k - 1] : 0)), strip - 1);
      }
    });
    cursor(f, runs, now);
  });
  write(g0, "tick", right, f.y(Math.log10(tick)) - 3, "right", "bottom", ink("--above"));
  return f;
}
