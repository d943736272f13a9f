// The thermal image around the beam, with the isotherms of the window, a scale and a bar of temperatures.

import { heat as palette } from "./colours.js";
import { at, ink, line, sheet, write } from "./plot.js";

const store = document.createElement("canvas");

export function thermal(runs) {
  const shown = runs.filter(run => run.frame && run.frame.image).slice(0, 2);
  at("heat-figure").hidden = !runs.some(run => run.sigma_mm);
  if (at("heat-figure").hidden) return;
  const [g, w, h] = sheet(at("heat"));
  if (!shown.length) { write(g, "No image of this tick", w / 2, h / 2, "center"); return; }
  const bar = 64, gap = 8, side = Math.min(h, (w - bar - gap * (shown.length - 1)) / shown.length);
  const left = Math.max(0, (w - bar - side * shown.length - gap * (shown.length - 1)) / 2);
  shown.forEach((run, i) => paint(g, run, left + i * (side + gap), (h - side) / 2, side, shown.length > 1 ? run.title : ""));
  scale(g, shown[0], left + shown.length * (side + gap), (h - side) / 2, side);
}

function paint(g, run, x, y, side, title) {
  const { image, low_k, high_k, size, k } = run.frame, data = new ImageData(size, size);
  for (let i = 0; i < image.length; i++) {
    const [r, gg, b] = palette[image[i]];
    data.data[4 * i] = r; data.data[4 * i + 1] = gg; data.data[4 * i + 2] = b; data.data[4 * i + 3] = 255;
  }
  store.width = store.height = size;
  store.getContext("2d").putImageData(data, 0, 0);
  g.save();
  g.beginPath(); g.roundRect(x, y, side, side, 6); g.clip();
  g.imageSmoothingEnabled = true; g.imageSmoothingQuality = "high";
  g.drawImage(store, x, y, side, side);
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
  if (title) write(g, title, x + 10, y + 14, "left", "middle", "#ffffff");
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

function scale(g, run, x, y, height) {
  const { low_k, high_k, k } = run.frame, c = run.column, place = t => y + height * (1 - (t - low_k) / (high_k - low_k));
  const fill = g.createLinearGradient(0, y + height, 0, y);
  for (let i = 0; i <= 16; i++) fill.addColorStop(i / 16, `rgb(${palette[Math.round(255 * i / 16)].join(" ")})`);
  g.fillStyle = fill; g.beginPath(); g.roundRect(x, y, 12, height, 4); g.fill();
  const [low, high] = [c.window_low_k[k], c.window_high_k[k]];
  for (const t of [low_k, high_k]) write(g, Math.round(t) + " K", x + 17, Math.min(y + height - 6, Math.max(y + 6, place(t))), "left");
  if (!Number.isFinite(low)) return;
  g.strokeStyle = ink("--ink"); g.lineWidth = 1.5;
  g.strokeRect(x - 2, place(high), 16, place(low) - place(high));
  write(g, Math.round(low) + "–", x + 17, place((low + high) / 2) - 1, "left", "bottom");
  write(g, Math.round(high) + " K", x + 17, place((low + high) / 2) + 1, "left", "top");
}
