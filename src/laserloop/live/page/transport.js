// Hands on the run: play, pause, step, stop, scrub; and in a run that computes, another window or absorptivity.

import { at } from "./plot.js";
import { changed, computing, front, lastTick, state } from "./state.js";

let command = () => {}, last = 0, owed = 0;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const onCommand = listener => { command = listener; };

export function move(to, { follow = false } = {}) {
  state.tick = Math.max(0, Math.min(to, lastTick()));
  state.follow = follow;
  changed("tick");
}

function each(words) { for (const run of computing()) command({ ...words, run: run.id.slice(5) }); }

const paused = () => computing().length > 0 && computing().every(run => run.held || run.state === "paused");  // a run that starts or is tuned takes a pause late

function play() {
  if (computing().length) { each({ do: paused() ? "resume" : "pause" }); state.follow = true; return; }
  if (!front()) return;
  state.playing = !state.playing;
  if (state.playing) { if (state.tick >= lastTick()) move(0); last = performance.now(); owed = 0; requestAnimationFrame(advance); }
  changed("play");
}

function advance(now) {
  if (!state.playing) return;
  owed += (now - last) / 1e3 * at("speed").value; last = now;
  const whole = Math.floor(owed);
  if (whole && (!still.matches || whole >= at("speed").value / 4)) { owed -= whole; move(state.tick + whole); }
  if (state.tick >= lastTick()) halt(); else requestAnimationFrame(advance);
}

function halt() { if (state.playing) { state.playing = false; changed("play"); } }

function step(ticks) {
  halt();
  if (ticks > 0 && paused() && state.tick >= lastTick()) { each({ do: "step", ticks }); state.follow = true; }
  else move(state.tick + ticks);
}

export const answer = text => { at("answer").textContent = text; };

export function fillTransport() {
  const at_work = computing().length > 0, wait = paused();
  at("play").textContent = at_work ? (wait ? "Resume" : "Pause") : state.playing ? "Pause" : "Play";
  at("stop").hidden = !at_work;
  at("follow").hidden = !at_work;
  at("follow").setAttribute("aria-pressed", String(state.follow));
  at("steer").hidden = !at_work;
  at("tick").max = Math.max(0, lastTick());
  at("tick").value = state.tick;
}

export function fillSteer(run) {  // where a run begins, or is when the page comes
  [at("aim_low").value, at("aim_high").value] = run.count ? [run.column.window_low_k[run.count - 1], run.column.window_high_k[run.count - 1]] : run.window0;
  const share = run.count ? Math.round(100 * run.column.absorbed[run.count - 1]) : 100;
  at("absorbed").value = share; at("absorbed-now").textContent = share + " %";
}

at("play").addEventListener("click", play);
at("step").addEventListener("click", () => step(1));
at("stop").addEventListener("click", () => each({ do: "stop" }));
at("follow").addEventListener("click", () => { move(lastTick(), { follow: !state.follow }); });
at("tick").addEventListener("input", () => { halt(); move(+at("tick").value); });
at("span").addEventListener("change", () => { state.span = +at("span").value; changed("span"); });
at("steer").addEventListener("submit", event => {
  event.preventDefault();
  answer("");
  each({ do: "change", window_k: [Number(at("aim_low").value), Number(at("aim_high").value)] });
});
at("absorbed").addEventListener("input", () => { at("absorbed-now").textContent = at("absorbed").value + " %"; });
at("absorbed").addEventListener("change", () => each({ do: "change", absorbed: at("absorbed").value / 100 }));

function zoom(way) {
  const options = [...at("span").options], i = Math.min(options.length - 1, Math.max(0, at("span").selectedIndex + way));
  at("span").selectedIndex = i; state.span = +options[i].value; changed("span");
}

addEventListener("keydown", event => {
  const on = event.target, kind = on.tagName === "INPUT" ? on.type : on.tagName;
  if (event.altKey || event.ctrlKey || event.metaKey || at("keep-dialog").open) return;
  const typing = ["search", "number", "text", "SELECT"].includes(kind);
  if (typing) return;
  if (event.key === " " && !["checkbox", "BUTTON", "SUMMARY", "file"].includes(kind)) { event.preventDefault(); play(); }
  if (kind === "range" && on.id !== "tick") return;
  const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (way && kind !== "radio") { event.preventDefault(); step(way * (event.shiftKey ? 10 : 1)); }
  if (event.key === "Home") { event.preventDefault(); halt(); move(0); }
  if (event.key === "End") { event.preventDefault(); halt(); move(lastTick(), { follow: true }); }
  if (event.key === "+") zoom(1);
  if (event.key === "-") zoom(-1);
});
