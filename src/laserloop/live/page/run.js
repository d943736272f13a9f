// A run as the page has it: stored or live, columns of numbers, one for each tick so far.

const NUMBERS = ["t_k", "predicted_k", "margin_above_k", "margin_below_k", "power_w", "tick_ms", "window_low_k", "window_high_k", "status", "measured_k", "absorbed"];
const SPOKEN = { twin: "physics twin", realtime: "real-time MPC", ipopt: "IPOPT MPC", pi: "PI", constant: "constant power", feedforward: "feed-forward", oracle: "the oracle" };

const NO_FILM = "No thermal image: they are stored only with runs that were kept on this page";

export class Run {
  constructor(id, ticks) {
    this.id = id;
    this.ticks = ticks;  // in all
    this.count = 0;  // so far
    this.live = id.startsWith("live:");
    this.state = this.live ? "starting" : "stored";
    this.name = this.task = this.path = this.model = this.ending = this.plant = this.label = "";
    this.notes = []; this.statuses = []; this.troubles = {};
    this.tuned = {}; this.held = false; this.answer = "";  // while it computes: how far a tuning is, is a pause asked for, what was refused
    this.fan = null; this.frame = null;  // prediction and thermal image of the newest tick
    this.column = Object.fromEntries(NUMBERS.map(name => [name, new Float32Array(ticks).fill(NaN)]));
    for (const name of ["x_mm", "y_mm"]) this.column[name] = new Float32Array(ticks);
    for (const name of ["lit", "above", "below"]) this.column[name] = new Uint8Array(ticks).fill(1);
    this.column.t_s = new Float64Array(ticks);
    this.scores = { above: 0, over: 0, overshoot: 0, below: 0, short: 0, power: 0, low: Infinity, high: -Infinity, powerHigh: 0, slowest: 0, predicted: false };
    this.version = 0;
  }

  get computing() { return ["starting", "tuning", "running", "paused"].includes(this.state); }
  get windowed() { return this.count > 0 && Number.isFinite(this.column.window_low_k[0]); }
  get title() { return this.label || this.name; }
  get place() { return this.task || this.path || "open loop"; }
  get duration() { return this.ticks ? this.column.t_s[this.ticks - 1] : 0; }

  grow(to) {  // scores of the ticks that came
    const c = this.column, s = this.scores;
    for (let k = this.count; k < to; k++) {
      const t = c.t_k[k], over = t - c.window_high_k[k];
      s.predicted ||= Number.isFinite(c.predicted_k[k]);
      s.powerHigh = Math.max(s.powerHigh, c.power_w[k] || 0);
      s.slowest = Math.max(s.slowest, c.tick_ms[k] || 0);
      if (!Number.isFinite(t)) continue;
      if (c.above[k]) {  // counts above the window
        s.above += 1; s.power += c.power_w[k] || 0; s.high = Math.max(s.high, t);
        if (over > 0) { s.over += 1; s.overshoot = Math.max(s.overshoot, over); }
      }
      if (c.below[k]) {  // and below it: once full power could have reached it
        s.below += 1; s.low = Math.min(s.low, t);
        if (t < c.window_low_k[k]) s.short += 1;
      }
    }
    this.count = to;
    this.version += 1;
  }

  status(k) {  // in words
    const words = this.statuses[this.column.status[k]];
    return words ?? "";
  }

  judge(k) {  // -1 below the window, 0 inside, 1 above, null where nothing is wanted
    const c = this.column, t = c.t_k[k];
    if (!Number.isFinite(t) || !Number.isFinite(c.window_low_k[k])) return null;
    const side = t > c.window_high_k[k] ? 1 : t < c.window_low_k[k] ? -1 : 0;
    return (side === 1 ? c.above[k] : side === -1 ? c.below[k] : c.above[k] || c.below[k]) ? side : null;
  }
}

export function readStored(told) {  // what GET /runs/ID answers
  const run = new Run(told.id, told.ticks), s = told.series;
  const put = (name, values) => values && values.forEach((value, k) => { run.column[name][k] = value === null ? NaN : value; });
  for (const [name, from] of [["t_k", "t_k"], ["predicted_k", "predicted_k"], ["power_w", "power_w"], ["tick_ms", "tick_ms"], ["measured_k", "measured_k"], ["x_mm", "x_mm"], ["y_mm", "y_mm"], ["t_s", "t_s"], ["lit", "lit"], ["above", "above"], ["below", "below"]]) put(name, s[from]);
  const [low, high] = told.window_k ?? [NaN, NaN], [above, below] = told.margins_k ?? [0, 0];
  const fill = (name, value) => s[name] ? put(name, s[name]) : run.column[name].fill(value);
  fill("window_low_k", low); fill("window_high_k", high);
  fill("margin_above_k", above); fill("margin_below_k", below);
  put("absorbed", s.absorbed);
  Object.assign(run, { name: told.name, model: told.model, task: told.task, path: told.path, plant: told.plant, process: told.process, ending: told.ending ?? "", troubles: told.troubles ?? {}, stamp: told.stamp, film: told.film, sigma_mm: told.sigma_mm, notes: [...(told.notes ?? []), ...(told.film ? [] : [NO_FILM])], tick_s: told.series.t_s.length > 1 ? told.series.t_s[1] - told.series.t_s[0] : told.series.t_s[0] });
  run.grow(told.ticks);
  return run;
}

export function openLive(words, arrays) {  // the message that opens a live run
  const run = new Run("live:" + words.run, words.ticks);
  for (const name of ["x_mm", "y_mm", "lit", "above"]) run.column[name].set(arrays[name]);
  for (let k = 0; k < words.ticks; k++) run.column.t_s[k] = (k + 1) * words.tick_s;
  Object.assign(run, { path: words.path, plant: words.plant, statuses: words.statuses, columns: words.columns, tick_s: words.tick_s, sigma_mm: words.sigma_mm, ambient_k: words.ambient_k, window0: words.window_k, process: words.process });
  return run;
}

export function extend(run, first, rows, width) {
  const n = rows.length / width;
  run.columns.forEach((name, j) => {
    const column = run.column[name];
    if (column) for (let i = 0; i < n; i++) column[first + i] = rows[i * width + j];
  });
  run.grow(first + n);
}

export const speak = controller => SPOKEN[controller] ?? controller;
