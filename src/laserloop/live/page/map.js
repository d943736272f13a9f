// The path coloured by peak temperature. What is drawn stays on a sheet of its own; a tick more is a line more.

import { path as palette, STEPS, step } from "./colours.js";
import { at, dot, ink, line, measure, sheet, write } from "./plot.js";

const PAD = 14, FOOT = 54, LONG = 4000;  // ticks, from which on all that is done is shown at once
const kept = { canvas: document.createElement("canvas"), run: null, key: "", done: 0 };

export function extent(xs, ys, n) {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (let k = 0; k < n; k++) { x0 = Math.min(x0, xs[k]); x1 = Math.max(x1, xs[k]); y0 = Math.min(y0, ys[k]); y1 = Math.max(y1, ys[k]); }
  return { x0, x1, y0, y1, size: Math.max(x1 - x0, y1 - y0) || 1 };
}

export function placing(e, w, h, pad = PAD, foot = FOOT) {
  const scale = Math.min((w - 2 * pad) / Math.max(e.x1 - e.x0, 1e-3 * e.size), (h - pad - foot) / Math.max(e.y1 - e.y0, 1e-3 * e.size));
  const cx = w / 2, cy = pad + (h - pad - foot) / 2;
  return { scale, x: mm => cx + (mm - (e.x0 + e.x1) / 2) * scale, y: mm => cy - (mm - (e.y0 + e.y1) / 2) * scale };
}

export function map(run, now) {
  const [g, w, h] = sheet(at("map"));
  if (!run) return;
  const c = run.column, e = run.extent ??= extent(c.x_mm, c.y_mm, run.ticks), p = placing(e, w, h);
  const [, , ratio] = measure(at("map")), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const key = [w, h, ratio, dark].join();
  const own = kept.canvas.getContext("2d"), until = run.ticks > LONG ? run.count : Math.min(now + 1, run.count);
  if (kept.run !== run || kept.key !== key || kept.done > until) {
    kept.canvas.width = Math.round(w * ratio); kept.canvas.height = Math.round(h * ratio);
    Object.assign(kept, { run, key, done: 0 });
    own.setTransform(ratio, 0, 0, ratio, 0, 0); own.lineJoin = own.lineCap = "round";
    ghost(own, run, p);
  }
  paint(own, run, p, kept.done, until);
  kept.done = until;
  g.drawImage(kept.canvas, 0, 0, w, h);
  const k = Math.max(0, Math.min(now, run.count - 1));
  dot(g, p.x(c.x_mm[k]), p.y(c.y_mm[k]), 9, "rgb(255 140 40 / 35%)");
  dot(g, p.x(c.x_mm[k]), p.y(c.y_mm[k]), 4.5, ink("--accent"));
  ruler(g, e.size, p.scale, h);
  if (run.windowed) legend(g, w, h, run, k);
}

function ghost(g, run, p) {  // where it will go
  const c = run.column;
  g.strokeStyle = ink("--line"); g.lineWidth = 1.5; g.beginPath();
  for (let k = 0; k < run.ticks; k++) k && c.lit[k] ? g.lineTo(p.x(c.x_mm[k]), p.y(c.y_mm[k])) : g.moveTo(p.x(c.x_mm[k]), p.y(c.y_mm[k]));
  g.stroke();
}

function paint(g, run, p, from, until) {  // one stroke for each colour, however many ticks have it
  const c = run.column, lines = Array.from({ length: STEPS + 1 }, () => []);
  for (let k = Math.max(1, from); k < until; k++) {
    const wanted = Number.isFinite(c.window_low_k[k]) && Number.isFinite(c.t_k[k]);
    lines[!c.lit[k] || !wanted ? STEPS : step(c.t_k[k], c.window_low_k[k], c.window_high_k[k])].push(k);
  }
  lines.forEach((ticks, i) => {
    if (!ticks.length) return;
    g.strokeStyle = i === STEPS ? ink("--edge") : palette[i]; g.lineWidth = i === STEPS ? 1.2 : 4;
    g.beginPath();
    let last = -1;
    for (const k of ticks) {
      if (k !== last + 1) g.moveTo(p.x(c.x_mm[k - 1]), p.y(c.y_mm[k - 1]));
      g.lineTo(p.x(c.x_mm[k]), p.y(c.y_mm[k]));
      last = k;
    }
    g.stroke();
  });
}

export function ruler(g, size, scale, h) {
  const power = 10 ** Math.floor(Math.log10(size / 3)), length = +([5, 2, 1].find(m => m * power <= size / 3) * power).toPrecision(3);
  line(g, [[12, h - 12], [12 + length * scale, h - 12]], ink("--soft"), 2);
  write(g, length < 1 ? +(length * 1e3).toPrecision(3) + " µm" : length + " mm", 12, h - 17, "left", "bottom");
}

function legend(g, w, h, run, k) {
  const width = Math.min(220, w / 2), x = w - width - 14, y = h - 16, low = run.column.window_low_k[k], high = run.column.window_high_k[k];
  for (let i = 0; i < STEPS; i++) { g.fillStyle = palette[i]; g.fillRect(x + width * i / STEPS, y - 8, width / STEPS + 0.6, 8); }
  const place = t => x + width * ((t - low) / (high - low) + 1) / 3;
  for (const t of [low, high]) { line(g, [[place(t), y - 10], [place(t), y + 2]], ink("--ink"), 1); write(g, Math.round(t) + " K", place(t), y - 12, "center", "bottom"); }
}
