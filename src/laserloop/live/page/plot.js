// What is asked of a canvas: clean sheets, lines that stay quick however long they are, scales and marks.

const styles = new Map();
export const ink = name => {  // a colour of the style sheet
  if (!styles.has(name)) styles.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return styles.get(name);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => styles.clear());

export const at = id => document.getElementById(id);

const onScreen = canvas => [canvas.clientWidth, canvas.clientHeight, Math.min(window.devicePixelRatio || 1, 2)];
export let measure = onScreen;  // width, height, and pixels to each of theirs

export function print(other, draw) {  // draw in other measures
  measure = other;
  try { draw(); } finally { measure = onScreen; }
}

export function sheet(canvas) {  // a clean canvas in CSS pixels
  const [w, h, ratio] = measure(canvas);
  const [across, down] = [Math.round(w * ratio), Math.round(h * ratio)];
  if (canvas.width !== across || canvas.height !== down) { canvas.width = across; canvas.height = down; }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  g.font = "12px system-ui, sans-serif"; g.lineJoin = g.lineCap = "round";
  return [g, w, h];
}

export function line(g, points, colour, width, dash = []) {
  g.strokeStyle = colour; g.lineWidth = width; g.setLineDash(dash);
  g.beginPath();
  points.forEach((p, i) => i ? g.lineTo(p[0], p[1]) : g.moveTo(p[0], p[1]));
  g.stroke(); g.setLineDash([]);
}

export function dot(g, x, y, radius, colour) { g.fillStyle = colour; g.beginPath(); g.arc(x, y, radius, 0, 7); g.fill(); }

export function write(g, text, x, y, align = "left", base = "middle", colour = ink("--soft")) {
  g.textAlign = align; g.textBaseline = base; g.fillStyle = colour; g.fillText(text, x, y);
}

export function clip(g, text, width) {  // with … where there is no room for all of it
  if (g.measureText(text).width <= width) return text;
  let n = text.length - 1;
  while (n > 0 && g.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n).trimEnd() + "…";
}

export function* marks(low, high, count) {  // round numbers
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return;
  const power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * 0.999);
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) yield +v.toPrecision(10);
}

// The curve v over the ticks from..to. Where several ticks share a pixel column it keeps first, least, most and last of
// them, so that no peak is lost and no more is drawn than can be seen.
export function curve(g, from, to, x, y, v) {
  g.beginPath();
  let down = false, pixel = NaN, low = 0, high = 0, last = 0;
  const dense = to - from > 1.5 * Math.abs(x(to - 1) - x(from));
  const close = () => { if (down && dense) { g.lineTo(pixel, low); g.lineTo(pixel, high); g.lineTo(pixel, last); } };
  for (let k = from; k < to; k++) {
    const value = v[k];
    if (!(value === value)) { close(); down = false; pixel = NaN; continue; }
    const py = y(value);
    if (!dense) { const px = x(k); down ? g.lineTo(px, py) : g.moveTo(px, py); down = true; continue; }
    const px = Math.round(x(k));
    if (px === pixel) { if (py < low) low = py; if (py > high) high = py; last = py; continue; }
    close();
    down ? g.lineTo(px, py) : g.moveTo(px, py);
    down = true; pixel = px; low = high = last = py;
  }
  close();
  g.stroke();
}

// The area between two curves, with the same care.
export function ribbon(g, from, to, x, y, upper, lower) {
  const tops = [], feet = [];
  let pixel = NaN, top = 0, foot = 0;
  const flush = () => { if (pixel === pixel) { tops.push(pixel, top); feet.push(pixel, foot); } };
  const paint = () => {
    flush(); pixel = NaN;
    if (tops.length > 2) {
      g.beginPath(); g.moveTo(tops[0], tops[1]);
      for (let i = 2; i < tops.length; i += 2) g.lineTo(tops[i], tops[i + 1]);
      for (let i = feet.length - 2; i >= 0; i -= 2) g.lineTo(feet[i], feet[i + 1]);
      g.fill();
    }
    tops.length = feet.length = 0;
  };
  const dense = to - from > 1.5 * Math.abs(x(to - 1) - x(from));
  for (let k = from; k < to; k++) {
    const a = upper(k), b = lower(k);
    if (!(a === a) || !(b === b)) { paint(); continue; }
    const px = dense ? Math.round(x(k)) : x(k), ya = y(a), yb = y(b);
    if (px === pixel) { if (ya < top) top = ya; if (yb > foot) foot = yb; continue; }
    flush(); pixel = px; top = ya; foot = yb;
  }
  paint();
}
