// The form: a path, a process, one or two controllers and what is wrong with the plate.

import { at, ink, line, sheet } from "./plot.js";
import { extent, placing, ruler } from "./map.js";
import { count, time } from "./units.js";
import { post, unpack } from "./wire.js";

const STORED = "laserloop bench";  // where the form stays over a reload
const CHANGES = ["power_max_w", "speed_mm_s", "sigma_um", "noise_k", "delay_ticks"];
const FAMILIES = { raster: "hatch lines", island: "islands", star: "star", zigzag: "zigzag", hairpin: "hairpins", polyline: "random corners" };
let form = null, files = new Map(), own = new Map(), start = null, looked = 0, preview = null;

const option = (value, text) => { const o = document.createElement("option"); o.value = value; o.textContent = text; return o; };
export const refuse = text => { at("refusal").textContent = text; };

export async function openBench(begin) {
  start = begin;
  const answer = await fetch("/bench").catch(() => null);
  if (!answer || !answer.ok) return;
  form = await answer.json();
  if (at("path").options.length) return;  // the server is back: what was typed stays
  for (const name of form.shapes) at("path").append(option(name, name));
  for (const [family, text] of Object.entries(FAMILIES)) at("path").append(option(family + ":1", text));
  for (const name of Object.keys(form.processes)) at("process").append(option(name, name));
  for (const c of form.controllers) { at("first").append(option(c.name, c.spoken)); }
  at("second").append(option("", "nobody"), ...form.controllers.map(c => option(c.name, c.spoken)));
  at("process").value = "paper";
  fillProcess();
  recall();
  at("bench").hidden = false;
  look();
}

const fields = () => [...at("bench").querySelectorAll("input:not([type=file]), select")];
const folds = () => [...at("bench").querySelectorAll("details")];

function remember() {  // for a reload of this tab
  if (!form) return;
  const values = Object.fromEntries(fields().map(field => [field.id, field.value])), open = folds().filter(fold => fold.open).map(fold => fold.id);
  try { sessionStorage.setItem(STORED, JSON.stringify({ values, open, files: [...files], own: [...own] })); } catch { /* a browser may forbid it */ }
}

function recall() {  // what was chosen before; dropped files only if the server still has them
  let stored = null;
  try { stored = JSON.parse(sessionStorage.getItem(STORED)); } catch { /* nothing then */ }
  if (!stored) return;
  const there = ([key]) => form.files.includes(key), has = (id, value) => [...at(id).options].some(o => o.value === value);
  for (const [key, name] of stored.files.filter(there)) addPath(key, name);
  for (const [key, told] of stored.own.filter(there)) addProcess(key, told);
  const { process: chosen, ...values } = stored.values, same = has("process", chosen);
  if (same) { at("process").value = chosen; fillProcess(); }
  for (const [id, value] of Object.entries(values)) {
    const field = at(id);
    if (!field || (!same && [...CHANGES, "material", "window_low", "window_high"].includes(id))) continue;
    if (field.tagName !== "SELECT" || has(id, value)) field.value = value;
  }
  for (const fold of folds()) fold.open = stored.open.includes(fold.id);
}

function addPath(key, name) { files.set(key, name); at("path").append(option(key, name)); }

function addProcess(key, told) { own.set(key, told); at("process").append(option(key, told.file)); }

const process = () => own.get(at("process").value) ?? form.processes[at("process").value];

function fillProcess() {
  const p = process();
  at("material").replaceChildren(...[...new Set([...form.materials, p.material])].map(name => option(name, name)));
  for (const name of CHANGES) at(name).value = p[name];
  at("material").value = p.material;
  [at("window_low").value, at("window_high").value] = p.window_k;
}

export function order() {  // only what differs from the process is said
  const p = process(), chosenProcess = at("process").value, changes = {};
  const number = id => at(id).value.trim() === "" ? NaN : Number(at(id).value);
  for (const name of CHANGES) if (number(name) !== p[name]) changes[name] = need(name, number(name));
  if (at("material").value !== p.material) changes.material = at("material").value;
  const window = [need("window_low", number("window_low")), need("window_high", number("window_high"))];
  if (window.join() !== p.window_k.join()) changes.window_k = window;
  const chosen = at("path").value, told = {
    path: files.has(chosen) ? { file: chosen } : chosen,
    process: own.has(chosenProcess) ? { file: chosenProcess } : chosenProcess,
    changes,
    plant: at("plant").value,
    controllers: [at("first").value, at("second").value].filter(Boolean),
    absorptivity_error: need("error", number("error")) / 100,
  };
  if (mayScale() && at("s_max").value.trim()) told.s_max = need("s_max", number("s_max"));
  if (at("ticks").value.trim()) told.ticks = need("ticks", number("ticks"));
  return told;
}

const mayScale = () => files.has(at("path").value) && !/\.(csv|cli|txt|inp)$/i.test(files.get(at("path").value));  // G-code, or what may be

function need(id, value) {
  if (Number.isFinite(value)) return value;
  const label = document.querySelector(`label[for="${id}"]`)?.textContent ?? id;
  at(id).focus();
  throw new Error(`${label.split(",")[0]} needs a number.`);
}

async function look() {  // where the path goes, before anything is computed
  const mine = ++looked;
  at("s_max-field").hidden = !mayScale();
  refuse("");  // now, not with the answer: until then a dropped file may be refused
  try {
    const [words, arrays] = unpack(await (await post("/look", order())).arrayBuffer());
    if (mine !== looked) return;
    preview = arrays;
    if (!at("ticks").value.trim()) at("ticks").placeholder = words.ticks;
    at("preview").hidden = false;
    tellPath(`${count(words.ticks, "tick")}, ${time(words.ticks * words.tick_s)} at ${Math.round(words.speed_mm_s)} mm/s`, words.notes);
    draw();
  } catch (problem) { if (mine === looked) { preview = null; at("preview").hidden = true; tellPath("", []); refuse(problem.message); } }
}

function tellPath(line, notes) {  // what to know besides is folded, so that the buttons stay in sight
  const make = (tag, text) => { const made = document.createElement(tag); made.textContent = text; return made; };
  at("path-note").replaceChildren(line);
  if (!notes.length) return;
  const fold = document.createElement("details"), list = document.createElement("ul");
  list.append(...notes.map(note => make("li", note.replace(/\.?$/, "."))));
  fold.append(make("summary", count(notes.length, "note")), list);
  at("path-note").append(fold);
}

export function draw() {
  if (!preview || at("preview").hidden) return;
  const [g, w, h] = sheet(at("preview")), { x_mm, y_mm, lit } = preview, e = extent(x_mm, y_mm, x_mm.length), p = placing(e, w, h, 8, 34);
  for (const on of [0, 1]) {
    g.strokeStyle = on ? ink("--accent") : ink("--line"); g.lineWidth = on ? 1.6 : 1; g.beginPath();
    for (let k = 1; k < x_mm.length; k++) if (lit[k] === on) { g.moveTo(p.x(x_mm[k - 1]), p.y(y_mm[k - 1])); g.lineTo(p.x(x_mm[k]), p.y(y_mm[k])); }
    g.stroke();
  }
  ruler(g, e.size, p.scale, h);
  line(g, [[0, 0], [0, 0]], ink("--line"), 0.01);
}

async function takeAll(list) {  // dropped files; the first that cannot be used ends it
  refuse("");
  wait(true);  // or a quick click would plan the path that was chosen before
  try { for (const file of list) await take(file); } catch (problem) { refuse(problem.message); return; } finally { wait(false); }
  await look();
}

function wait(busy) { for (const id of ["run", "plan"]) at(id).disabled = busy; }

async function take(file) {
  if (file.size > 16e6) throw new Error(`A file may have 16 MB, but ${file.name} has ${(file.size / 1e6).toFixed(0)} MB: drop one layer of it.`);
  const answer = await fetch("/files?name=" + encodeURIComponent(file.name), { method: "POST", body: file });
  if (!answer.ok) throw new Error(await answer.text());
  const { file: key, name } = await answer.json();
  if (/\.ya?ml$/i.test(name)) { await takeProcess(key, name); return; }
  addPath(key, name);
  at("path").value = key;
}

async function takeProcess(key, name) {
  addProcess(key, { ...await (await post("/process", { process: { file: key } })).json(), file: name });
  at("process").value = key;
  fillProcess();
}

async function plan() {
  at("plan").disabled = true; at("plan").textContent = "Planning…"; refuse("");
  try {
    const told = await (await post("/plan", order())).json(), link = document.createElement("a");
    link.href = "/planned/" + told.file; link.download = told.name; link.click();
    tellPath(`Planned: ${told.name}, peak ${told.t_min_k.toFixed(0)} to ${told.t_max_k.toFixed(0)} K, ${count(told.commands, "command")}`, told.notes);
  } catch (problem) { refuse(problem.message); }
  at("plan").disabled = false; at("plan").textContent = "Plan the file";
}

at("process").addEventListener("change", () => { fillProcess(); look(); });
for (const id of ["path", "ticks", "speed_mm_s", "s_max"]) at(id).addEventListener("change", look);
at("file").addEventListener("change", async event => { await takeAll([...event.target.files]); event.target.value = ""; });
at("plan").addEventListener("click", plan);
at("bench").addEventListener("submit", event => {
  event.preventDefault();
  try { refuse(""); start(order()); } catch (problem) { refuse(problem.message); }
});
for (const kind of ["dragover", "dragleave", "drop"]) addEventListener(kind, event => {
  if (at("bench").hidden || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  at("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop") takeAll([...event.dataTransfer.files]);
});
addEventListener("pagehide", remember);
