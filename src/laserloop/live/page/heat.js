// The thermal image around the beam, with the isotherms of the window, a scale and a bar of temperatures.

import { heat as palette } from "./colours.js";
import { callRuns } from "./names.js";
import { at, clip, ink, line, sheet, write } from "./plot.js";

const GAP = 8, BAR = 92, LINE = 14;  // between images, for the scale, from one of its labels to the next
const stores = [];  // the image of each run as it was painted last, and of what

export function thermal(runs) {
  at("heat-figure").hidden = !runs.some(run => run.sigma_mm);
  if (at("heat-figure").hidden) return;
  const [g, w, h] = sheet(at("heat"));
  const names = callRuns(runs), shown = runs.map((run, i) => ({ run, i, name: names[i] })).filter(({ run }) => run.frame && run.frame.image);
  if (!shown.length) { write(g, "No image of this tick", w / 2, h / 2, "center"); return; }
  const [columns, rows, side] = arrange(shown.length, w - BAR, h), range = [Math.min(...shown.map(({ run }) => run.frame.low_k)), Math.max(...shown.map(({ run }) => run.frame.high_k))];
  const wide = columns * (side + GAP), high = rows * (side + GAP) - GAP, left = Math.max(0, (w - BAR - wide) / 2), top = (h - high) / 2;
  shown.forEach(({ run, i, name }, n) => {
    const [x, y] = [left + n % columns * (side + GAP), top + Math.floor(n / columns) * (side + GAP)];
    paint(g, run, i, range, x, y, side);
    if (runs.length > 1) label(g, name, ink("--run-" + i), x, y, side);
  });
  scale(g, shown.map(({ run }) => run), range, left + wide, top, high);
}

function arrange(count, w, h) {  // columns, rows and the side of the largest squares that fit
  let best = [1, count, 0];
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns), side = Math.min((w - GAP * columns) / columns, (h - GAP * (rows - 1)) / rows);
    if (side > best[2]) best = [columns, rows, side];
  }
  return best;
}

function label(g, name, colour, x, y, side) {
  g.fillStyle = colour; g.strokeStyle = "#ffffff"; g.lineWidth = 1;
  g.beginPath(); g.rect(x + 8, y + 8, 9, 9); g.fill(); g.stroke();
  write(g, clip(g, name, side - 30), x + 23, y + 13, "left", "middle", "#ffffff");
}

function colour(i, { image, low_k, high_k, size }, [low, high]) {  // the image of run i in the colours of one scale for all
  const store = stores[i] ??= { canvas: document.createElement("canvas") };
  if (store.image === image && store.low === low && store.high === high) return store.canvas;
  Object.assign(store, { image, low, high });
  const data = new ImageData(size, size), table = palette.map((_, v) => palette[Math.round(255 * (low_k + v / 255 * (high_k - low_k) - low) / (high - low))]);
  for (let n = 0; n < image.length; n++) {
    const [r, gg, b] = table[image[n]];
    data.data[4 * n] = r; data.data[4 * n + 1] = gg; data.data[4 * n + 2] = b; data.data[4 * n + 3] = 255;
  }
  store.canvas.width = store.canvas.height = size;
  store.canvas.getContext("2d").putImageData(data, 0, 0);
  return store.canvas;
}

function paint(g, run, i, range, x, y, side) {
  const { image, low_k, high_k, size, k } = run.frame;
  g.save();
  g.beginPath(); g.roundRect(x, y, side, side, 6); g.clip();
  g.imageSmoothingEnabled = true; g.imageSmoothingQuality = "high";
  g.drawImage(colour(i, run.frame, range), x, y, side, side);
  const c = run.column, cell = side / (size - 1), level = t => 255 * (t - low_k) / (high_k - low_k);
  for (const [t, dash] of [[c.window_low_k[k], [4, 3]], [c.window_high_k[k], []]]) {
    if (Number.isFinite(t)) isotherm(g, image, size, level(t), x, y, cell, dash);
  }
  const reach = run.frame.reach * run.sigma_mm, pixel = side / reach, middle = [x + side / 2, y + side / 2];
  g.strokeStyle = "#ffffffb0"; g.lineWidth = 1;
  g.beginPath(); g.arc(...middle, 2 * run.sigma_mm * pixel, 0, 7); g.stroke();
  const length = [0.05, 0.1, 0.2, 0.5, 1, 2, 5].findLast(l => l <= reach / 3) ?? 0.05;
  line(g, [[x + 10, y + side - 12], [x + 10 + length * pixel, y + side - 12]], "#ffffff", 2);
  write(g, length < 1 ? length * 1e3 + " µm" : length + " mm", x + 10, y + side - 17, "left", "bottom", "#ffffff");
  g.restore();
}

function isotherm(g, image, size, level, x, y, cell, dash) {  // marching squares
  if (!(level > 0 && level < 255)) return;
  g.strokeStyle = "#ffffff"; g.lineWidth = 1.3; g.setLineDash(dash); g.beginPath();
  const cross = (a, b) => (level - a) / (b - a);
  for (let r = 0; r < size - 1; r++) for (let q = 0; q < size - 1; q++) {
    const n = r * size + q, a = image[n], b = image[n + 1], c = image[n + size + 1], d = image[n + size];
    const kind = (a > level) + 2 * (b > level) + 4 * (c > level) + 8 * (d > level);
    if (kind === 0 || kind === 15) continue;
    const px = x + q * cell, py = y + r * cell, ends = [];
    if ((a > level) !== (b > level)) ends.push([px + cross(a, b) * cell, py]);
    if ((b > level) !== (c > level)) ends.push([px + cell, py + cross(b, c) * cell]);
    if ((d > level) !== (c > level)) ends.push([px + cross(d, c) * cell, py + cell]);
    if ((a > level) !== (d > level)) ends.push([px, py + cross(a, d) * cell]);
    for (let i = 0; i + 1 < ends.length; i += 2) { g.moveTo(...ends[i]); g.lineTo(...ends[i + 1]); }
  }
  g.stroke(); g.setLineDash([]);
}

function scale(g, runs, [low_k, high_k], x, y, height) {
  const place = t => y + height * (1 - (t - low_k) / (high_k - low_k)), fill = g.createLinearGradient(0, y + height, 0, y);
  for (let i = 0; i <= 16; i++) fill.addColorStop(i / 16, `rgb(${palette[Math.round(255 * i / 16)].join(" ")})`);
  g.fillStyle = fill; g.beginPath(); g.roundRect(x, y, 12, height, 4); g.fill();
  const labels = [[Math.round(low_k) + " K", y + height - 6], [Math.round(high_k) + " K", y + 6]], seen = new Set();
  for (const { column: c, frame: { k } } of runs) {
    const [low, high] = [c.window_low_k[k], c.window_high_k[k]], text = Math.round(low) + "–" + Math.round(high) + " K";
    if (!Number.isFinite(low) || seen.has(text)) continue;
    seen.add(text);
    g.strokeStyle = ink("--ink"); g.lineWidth = 1.5; g.strokeRect(x - 2, place(high), 16, place(low) - place(high));
    labels.push([text, place((low + high) / 2)]);
  }
  for (const [text, at] of apart(labels, y + height - 6)) write(g, text, x + 18, at, "left");
}

function apart(labels, foot) {  // none over another, the last at the foot at most
  labels.sort((a, b) => a[1] - b[1]);
  for (let i = 1; i < labels.length; i++) labels[i][1] = Math.max(labels[i][1], labels[i - 1][1] + LINE);
  return labels.map(([text, y], i) => [text, Math.min(y, foot - LINE * (labels.length - 1 - i))]);
}
