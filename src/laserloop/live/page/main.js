// The page: brings what the server says to the charts, and what hands do to the server.

import { draw as drawPreview, openBench, refuse } from "./bench.js";
import { decisions, fillCaptions, power, temperature, visible } from "./charts.js";
import { thermal } from "./heat.js";
import { fillList, mark, onChoose, propose, tellOrder } from "./list.js";
import { map } from "./map.js";
import { callRuns } from "./names.js";
import { savePicture } from "./picture.js";
import { at } from "./plot.js";
import { extend, openLive, readStored, Run, speak } from "./run.js";
import { changed, chosenRuns, empty, front, lastTick, MOST, onChange, state } from "./state.js";
import { fillTable, onTold } from "./table.js";
import { answer, fillSteer, fillTransport, move, onCommand } from "./transport.js";
import { count, time } from "./units.js";
import { unpack, Wire } from "./wire.js";

const EVERY = 3000, CALM = 250;  // ms between two looks at the folder, and between two drawings for who wants no motion
const still = matchMedia("(prefers-reduced-motion: reduce)"), narrow = matchMedia("(max-width: 64rem)");  // as in style.css
let wire = null, tag = "", fresh = true, due = false, drawn = 0, frames = 0, said = "", before = [];  // before: what was on show when the newest runs were started

addEventListener("error", event => tell("This page failed: " + event.message));
addEventListener("unhandledrejection", event => tell("This page failed: " + (event.reason?.message ?? event.reason)));
const tell = text => { said = text; at("about").textContent = text; };

// ---- what the server says

function link(on) {
  const back = on && state.known.size > 0 && !state.linked;
  state.linked = on;
  at("link").textContent = on ? "live" : "no server";
  at("link").className = "badge " + (on ? "on" : "off");
  if (!on) {
    for (const run of state.known.values()) if (run.computing) { run.state = "lost"; run.ending = "the server has gone"; }
    changed("runs");
  } else { watch(); if (back) look(); openBench(start); }
}

function hear(words, arrays) {
  if (words.kind === "runs") {
    state.live = words.runs;
    for (const told of words.runs) update(told);
    const gone = state.chosen.filter(id => id.startsWith("live:") && !state.live.some(run => "live:" + run.id === id));
    for (const id of gone) { const run = state.known.get(id); if (run && run.state === "lost") run.ending = "the server has restarted and no longer knows this run"; else if (!run) state.chosen = state.chosen.filter(other => other !== id); }
    fillList(); changed("runs");
  } else if (words.kind === "started") {
    before = state.chosen;
    state.chosen = [...words.runs.map(id => "live:" + id), ...state.chosen.filter(id => !id.startsWith("live:"))].slice(0, words.runs.length);
    state.follow = true; state.playing = false; tell(""); answer(""); at("kept").textContent = "";
    for (const told of state.live) update(told);
    remember(); mark(); changed("runs");
    at("app").classList.remove("idle");  // room for the charts, before the page goes there
    bring();
  } else if (words.kind === "refused") { if (words.do === "start") turnDown(words.text); else answer(words.text); }
  else if (words.kind === "began") {
    const run = openLive(words, arrays);
    state.known.set(run.id, run);
    const told = state.live.find(other => "live:" + other.id === run.id);
    if (told) update(told);
    fillSteer(run); changed("runs");
    if (state.chosen[0] === run.id && Math.abs(at("stage").getBoundingClientRect().top) < innerHeight / 2) bring();  // the list has grown
  } else if (words.kind === "ticks") {
    const run = state.known.get("live:" + words.run);
    if (run) { const opening = run.count === 0; extend(run, words.first, arrays.rows, arrays.rows.shape[1]); if (opening && run.computing) fillSteer(run); if (state.follow) state.tick = lastTick(); changed("ticks"); }
  } else if (words.kind === "frame") show(state.known.get("live:" + words.run), words, arrays, true);
}

function bring() {  // the stage to where it is seen: on a narrow page the form comes first
  if (narrow.matches) at("stage").scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
}

function update(told) {  // what is known of a live run in a few words
  const id = "live:" + told.id, chosen = state.chosen.includes(id);
  if (told.state === "refused" && chosen && !state.known.get(id)?.count) { withdraw(id); turnDown(told.ending); return; }
  if (chosen && !state.known.has(id)) state.known.set(id, new Run(id, 0));  // until it begins
  const run = state.known.get(id);
  if (!run) return;
  if (chosen && told.answer !== run.answer) answer(told.answer && `${speak(told.controller)}: ${told.answer}`);
  Object.assign(run, { state: told.state, ending: told.ending, notes: told.notes, label: told.label, order: told.order, tuned: told.tuned, held: told.held, answer: told.answer });
  run.path ||= told.path; run.name = speak(told.controller); run.model = tellOrder(told).join(", ");
}

function withdraw(id) {  // a run that was refused; what was on show before comes back
  state.known.delete(id);
  state.chosen = state.chosen.filter(other => other !== id);
  if (!state.chosen.length) { state.chosen = before.filter(other => state.known.has(other)); watch(); }
  remember(); mark(); changed("runs");
}

function turnDown(text) {  // an order; hands go back to where they can change it
  refuse(text);
  if (document.activeElement === at("stage")) at("run").focus();
}

function show(run, words, arrays, newest) {  // a thermal image
  if (!run) return;
  const frame = { k: words.k, low_k: words.low_k, high_k: words.high_k, image: arrays.image, size: arrays.image.shape[0], reach: words.reach, fan: arrays.fan };
  if (newest) run.newest = frame;
  if (!newest || state.follow) run.frame = frame;
  if (newest && state.follow) run.wanted = null;
  changed("frame");
}

let asking = false;
const shownTick = run => Math.min(state.tick, run.count - 1);
const lacks = run => (run.live ? state.linked && !state.follow : run.film) && run.wanted !== shownTick(run);

async function fetchFrames() {  // of the tick that is looked at, of all runs at once: while it moves none stays behind
  if (asking) return;
  asking = true;
  for (let runs; (runs = chosenRuns().filter(lacks)).length;) await Promise.all(runs.map(fetchFrame));
  asking = false;
}

async function fetchFrame(run) {  // where the run is stored or not followed
  const k = run.wanted = shownTick(run);
  if (run.newest && k >= run.newest.k) { run.frame = run.newest; changed("frame"); return; }
  const answer = await fetch(`/${run.live ? "live/" + run.id.slice(5) : "runs/" + run.id}/frames/${k}`).catch(() => null);
  if (answer?.ok) show(run, ...unpack(await answer.arrayBuffer()), false);
}

function watch() { wire?.send({ do: "watch", runs: state.chosen.filter(id => id.startsWith("live:")).map(id => id.slice(5)) }); }

function start(order) {
  if (!wire.send({ do: "start", order })) { refuse("The server does not answer; start laserloop view again."); return; }
  at("stage").focus({ preventScroll: true });  // so that Space pauses, and does not press Run again
}

// ---- stored runs

async function look() {
  const answer = await fetch("/runs", { headers: tag ? { "If-None-Match": tag } : {} }).catch(() => null);
  if (!answer || (!answer.ok && answer.status !== 304)) { at("folder").textContent = "The server has stopped; start laserloop view again."; tag = ""; return; }
  if (answer.status === 304) return;
  tag = answer.headers.get("ETag");
  const found = await answer.json();
  at("folder").textContent = count(found.runs.length, "stored run") + " in " + found.folder.split(/[\\/]/).at(-1) + tellLeftOut(found);
  at("folder").title = found.folder;
  state.listed = found.runs;
  wire ??= new Wire(hear, link);
  if (fresh) { fresh = false; state.chosen = hashed(); if (!state.chosen.length) state.chosen = propose(); }
  state.chosen = state.chosen.filter(id => id.startsWith("live:") || state.listed.some(run => run.id === id));
  fillList();
  await load();
}

function tellLeftOut({ left_out: beyond, damaged }) {  // so that nobody looks for them
  const more = damaged.count > damaged.files.length ? ` and ${damaged.count - damaged.files.length} more` : "";
  return (beyond ? `; ${count(beyond, "file")} beyond the limit left out` : "") + (damaged.count ? `; left out as damaged: ${damaged.files.join(", ")}${more}` : "");
}

const hashed = () => [...new Set(location.hash.slice(1).split(",").map(find))].filter(Boolean).slice(0, MOST);

function find(word) {  // a run by its id or, as leaderboards do, by the end of its file's place
  if (word.startsWith("live:") || state.listed.some(run => run.id === word)) return word;
  return word.includes("/") ? state.listed.find(run => ("/" + run.file).endsWith("/" + word))?.id : undefined;
}

function remember() { if (location.hash.slice(1) !== state.chosen.join(",")) history.replaceState(null, "", location.pathname + "#" + state.chosen.join(",")); }

async function load() {
  const none = !chosenRuns().length;
  remember();
  const stamps = new Map(state.listed.map(run => [run.id, run.stamp]));
  await Promise.all(state.chosen.filter(id => !id.startsWith("live:") && state.known.get(id)?.stamp !== stamps.get(id)).map(async id => {
    const answer = await fetch("/runs/" + id).catch(() => null);
    if (answer?.ok) {
      const run = readStored(await answer.json()), listed = state.listed.find(other => other.id === id);
      run.model = [run.model, listed?.apart].filter(Boolean).join(", ");
      state.known.set(id, run);
    } else { tell("That file is no run that can be shown."); state.chosen = state.chosen.filter(other => other !== id); }
  }));
  if (!state.chosen.some(id => state.known.get(id)?.computing)) state.tick = none ? lastTick() : Math.min(state.tick, lastTick());
  changed("runs");
}

onChoose(async (id, on) => {
  const none = !chosenRuns().length;
  state.chosen = on ? [...state.chosen, id].slice(0, MOST) : state.chosen.filter(other => other !== id);
  said = ""; at("kept").textContent = ""; mark(); watch(); await load();
  if (none || state.tick > lastTick()) move(lastTick(), { follow: true });
});

// ---- drawing, once per frame of the screen at most

onChange(() => { if (!due) { due = true; requestAnimationFrame(draw); } });

function draw(now) {
  if (still.matches && now - drawn < CALM) { requestAnimationFrame(draw); return; }
  due = false; drawn = now;
  const runs = chosenRuns();
  headline(runs);
  if (runs.length) {
    const shown = visible(runs, state.tick, state.span);
    for (const f of [temperature(runs, state.tick, shown), power(runs, state.tick, shown), decisions(runs, state.tick, shown)]) scrub(f);
    fetchFrames();
  } else for (const id of ["temp", "power", "time", "map"]) { const c = at(id); c.getContext("2d").clearRect(0, 0, c.width, c.height); }
  thermal(runs); map(front(), state.tick);
  fillTransport(); fillTable();
  frames += 1;
}

function headline(runs) {
  const first = runs[0], paths = [...new Set(runs.map(run => run.place))].join(", ");
  const idle = empty(), waits = idle.filter(run => run.computing);
  at("title").textContent = first ? paths : waits.some(run => run.tuned.try) ? "Tuning…" : waits.length || idle.length < state.chosen.length ? "Starting…" : idle[0]?.path || "Drop a path, press Run";
  document.title = first ? paths + " · laserloop" : "laserloop";
  const every = [...runs, ...idle], names = callRuns(every), trouble = every.map((run, i) => run.ending && run.ending !== "path completed" ? `${names[i]}: ${run.ending}` : "").filter(Boolean);
  const hint = runs.length ? "Space plays or pauses, arrows step, + and − change the span. Tick up to four runs to compare them." : "";
  const about = said || [...trouble, ...waits.map(tellWait).filter(Boolean)].join(". ") || hint;
  if (at("about").textContent !== about) at("about").textContent = about;
  at("picture").disabled = !first;
  at("app").classList.toggle("idle", !every.length);  // a narrow page has no room for empty charts
  at("notes").textContent = [...new Set(every.flatMap(run => run.notes))].map(note => note.replace(/\.?$/, ".")).join(" ");
  if (!first) { at("clock").textContent = waits.map(run => run.tuned.try ? `${run.name}: try ${run.tuned.try} of at most ${run.tuned.most}` : "").filter(Boolean).join(", "); return; }
  const main = runs.find(run => run.count > state.tick) ?? first, kk = Math.min(state.tick, main.count - 1);
  at("clock").textContent = time(main.column.t_s[kk]) + ", tick " + (kk + 1).toLocaleString("en") + " of " + main.ticks.toLocaleString("en") + (main.computing ? "" : tellAbsorbed(main.column.absorbed[kk]));
  at("tick").setAttribute("aria-valuetext", at("clock").textContent);
  fillCaptions(runs);
}

function tellWait(run) {  // why a run has no tick yet
  if (!run.tuned.try) return chosenRuns().length ? `${run.name} is starting` : "";
  const minutes = Math.ceil(run.tuned.left_s / 60), left = minutes > 0 ? `about ${count(minutes, "minute")} left` : "this takes minutes";
  return `${run.state === "paused" ? "Paused while tuning" : "Tuning"} ${run.name} for this process, ${left}; Stop ends it`;
}

const tellAbsorbed = share => Math.abs(share - 1) > 1e-3 ? `, plate absorbs ${Math.round(100 * share)} % of the start` : "";

function scrub(f) {  // a click into a chart goes there
  f.g.canvas.onpointerdown = f.g.canvas.onpointermove = event => {
    if (event.type === "pointermove" && !event.buttons) return;
    const t = f.t0 + (event.offsetX - f.x(f.t0)) / (f.x(f.t1) - f.x(f.t0)) * (f.t1 - f.t0), run = chosenRuns()[0];
    state.playing = false;
    if (run) move(Math.round(t / run.tick_s) - 1);
  };
}

// ---- the rest

onCommand(words => wire?.send(words));
onTold(text => { at("kept").textContent = text; look(); });
at("picture").addEventListener("click", () => savePicture(chosenRuns()));
new ResizeObserver(() => { drawPreview(); changed("size"); }).observe(at("stage"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawPreview(); changed("colours"); });
addEventListener("hashchange", async () => { state.chosen = hashed(); mark(); watch(); await load(); });
globalThis.bench = { state, get frames() { return frames; } };  // for the console
async function forever() { await look(); setTimeout(forever, EVERY); }
history.replaceState(null, "", location.pathname + location.hash);  // a token has done its work
forever();
