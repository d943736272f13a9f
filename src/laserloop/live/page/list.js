// The list of runs: those of this session, then what the folder holds, grouped by path.

import { at } from "./plot.js";
import { speak } from "./run.js";
import { MOST, state } from "./state.js";
import { count, say } from "./units.js";

const SHOWN = 120;  // rows at first; thousands are found by the filter
let most = SHOWN, choose = () => {};

export const onChoose = listener => { choose = listener; };

function row(id, name, detail, { over = false, title = "", mark = "" } = {}) {
  const label = document.createElement("label"), box = document.createElement("input"), text = document.createElement("span"), small = document.createElement("small");
  label.className = "run"; label.title = title;
  box.type = "checkbox"; box.value = id;
  box.addEventListener("change", () => choose(id, box.checked));
  text.textContent = name; small.textContent = detail; if (over) small.className = "over";
  if (mark) { const s = document.createElement("span"); s.className = "state"; s.textContent = mark; text.append(s); }
  label.append(box, text, small);
  return label;
}

const heading = text => { const h = document.createElement("h3"); h.textContent = text; return h; };

function group(runs) {  // by task of the arena or by path, those with most runs first
  const groups = new Map();
  for (const run of runs) { const place = run.task || run.path; if (!groups.has(place)) groups.set(place, []); groups.get(place).push(run); }
  return [...groups].sort((a, b) => b[1].length - a[1].length);
}

export function propose() {  // three different controllers on one path
  const different = new Map();
  for (const run of group(state.listed)[0]?.[1] ?? []) if (!different.has(run.name)) different.set(run.name, run.id);
  return [...different.values()].slice(0, 3);
}

const describe = run => [run.name, run.model].filter(Boolean).join(" · ");

function tell(run) {
  const verdict = run.window_k === null ? count(run.ticks, "tick") : run.n_over > 0 ? count(run.n_over, "tick") + " above, by up to " + say(run.overshoot_k, 1, "K") : "never above";
  return [verdict, run.apart || run.plant].filter(Boolean).join(" · ");
}

export function fillList() {
  const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean), list = at("list");
  const focused = document.activeElement?.closest?.("#list") ? document.activeElement.value : null;
  const fits = (...texts) => { const text = texts.join(" ").toLowerCase(); return words.every(word => text.includes(word)); };
  const live = state.live.filter(run => run.state !== "refused" && fits(run.path, speak(run.controller), run.label, "live"));
  const stored = state.listed.filter(run => fits(run.file, run.task, run.path, run.name, run.model, run.plant, run.apart));
  const parts = [];
  if (live.length) parts.push(heading("This session"));
  for (const run of [...live].reverse()) parts.push(row("live:" + run.id, run.label || speak(run.controller), [run.path || "starting", ...tellOrder(run)].join(" · "), { mark: run.state }));
  let left = most;
  for (const [place, members] of group(stored)) {
    if (left <= 0) break;
    parts.push(heading(place || "open loop"));
    for (const run of members.slice(0, left)) parts.push(row(run.id, describe(run), tell(run), { over: run.n_over > 0, title: run.file }));
    left -= members.length;
  }
  if (stored.length > most) {
    const more = document.createElement("button");
    more.type = "button"; more.className = "small"; more.textContent = `Show more (${(stored.length - most).toLocaleString("en")} left)`;
    more.addEventListener("click", () => { most *= 4; fillList(); });
    parts.push(more);
  }
  if (!parts.length) { const none = document.createElement("p"); none.className = "soft"; none.textContent = words.length ? "No run matches." : "No runs yet."; parts.push(none); }
  list.replaceChildren(...parts);
  mark();
  if (focused) [...list.querySelectorAll("input")].find(box => box.value === focused)?.focus();
}

export function tellOrder(run) {  // what was asked for besides path and controller; where that is the same, length and number
  const said = tellSettings(run), alike = other => ["path", "controller", "label"].every(key => other[key] === run[key]) && tellSettings(other).join() === said.join();
  const peers = state.live.filter(other => other.state !== "refused" && alike(other)), twins = peers.filter(other => other.ticks === run.ticks);
  if (twins.length < peers.length) said.push(count(run.ticks, "tick"));
  if (twins.length > 1) said.push("no. " + (twins.findIndex(other => other.id === run.id) + 1));
  return said;
}

function tellSettings(run) {
  const o = run.order ?? {}, c = o.changes ?? {}, said = [];
  if (o.process?.file) { if (run.process) said.push("process " + run.process); }
  else if (o.process && o.process !== "paper") said.push(o.process);
  if (c.material) said.push("alloy " + c.material);
  if (c.window_k) said.push(c.window_k.join("–") + " K");
  if (c.noise_k) said.push("noise " + c.noise_k + " K");
  if (c.delay_ticks) said.push("delay " + count(c.delay_ticks, "tick"));
  if (c.speed_mm_s) said.push(c.speed_mm_s + " mm/s");
  if (c.sigma_um) said.push("beam " + c.sigma_um + " µm");
  if (o.absorptivity_error && o.absorptivity_error !== 1) said.push("absorbs " + Math.round(100 * o.absorptivity_error) + " %");
  if (o.plant === "paper") said.push("paper plant");
  return said;
}

export function mark() {  // which boxes are ticked; with four, no other can be
  for (const box of at("list").querySelectorAll("input")) {
    box.checked = state.chosen.includes(box.value);
    box.disabled = !box.checked && state.chosen.length >= MOST;
  }
}

at("filter").addEventListener("input", () => { most = SHOWN; fillList(); });
