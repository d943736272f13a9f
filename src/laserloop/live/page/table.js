// The numbers of the chosen runs at the tick that is looked at, and what can be done with each run.

import { at } from "./plot.js";
import { chosenRuns, state } from "./state.js";
import { percent, say, time } from "./units.js";
import { post } from "./wire.js";

const SOLVED = "solved", UNSOLVED = { pi: "feedback", constant: "given", feedforward: "given" };  // who has nothing to solve
let told = () => {}, rows = new Map();
export const onTold = listener => { told = listener; };

const heard = run => run.live ? state.live.find(other => "live:" + other.id === run.id) : state.listed.find(other => other.id === run.id);

function tellStatus(run, k, trouble) {
  const words = run.status(k) || trouble || (run.windowed ? SOLVED : "–");
  return words === SOLVED ? UNSOLVED[heard(run)?.controller] ?? words : words;
}

function tellFile(file) {  // a stored run is a file already: which
  const words = document.createElement("span");
  words.className = "soft"; words.textContent = file.split("/").at(-1); words.title = `Already saved: ${file} in the folder of the stored runs`;
  return words;
}

function button(text, label, act) {
  const b = document.createElement("button");
  b.type = "button"; b.className = "small"; b.textContent = text; b.setAttribute("aria-label", label);
  b.addEventListener("click", act);
  return b;
}

function makeRow(run, i) {
  const row = document.createElement("tr"), name = document.createElement("th"), swatch = document.createElement("span");
  name.scope = "row"; swatch.className = "swatch c" + i;
  const who = document.createElement("div"), words = document.createElement("span");
  who.className = "who"; words.className = "name"; words.textContent = words.title = [run.title, run.model].filter(Boolean).join(" · ");
  who.append(swatch, words); name.append(who);
  const cells = Array.from({ length: 10 }, () => document.createElement("td"));
  const heads = [...at("rows").parentElement.querySelectorAll("thead th")];
  cells.slice(0, 9).forEach((cell, j) => { cell.dataset.head = heads[j + 1].textContent; });  // where the page is too narrow for a head
  cells[4].className = "text";
  row.append(name, ...cells);
  if (run.live) cells[9].append(button("Keep", "Keep " + run.title, () => askName(run)), " ", button("Save", "Download " + run.title, () => download(run)));
  else cells[9].append(tellFile(heard(run)?.file ?? ""));
  return { row, cells, buttons: cells[9].querySelectorAll("button") };
}

export function fillTable() {
  const runs = chosenRuns(), keys = runs.map((run, i) => run.id + run.title + run.model + i);
  if (keys.join() !== [...rows.keys()].join()) {  // rows stay while their runs do, so that focus does
    rows = new Map(runs.map((run, i) => [keys[i], makeRow(run, i)]));
    at("rows").replaceChildren(...[...rows.values()].map(row => row.row));
  }
  runs.forEach((run, i) => {
    const c = run.column, s = run.scores, k = Math.min(state.tick, run.count - 1), { cells, buttons } = rows.get(keys[i]);
    const trouble = Object.entries(run.troubles).map(([status, n]) => n + " × " + status).join("; ");
    const texts = [
      say(c.t_k[k], 1, "K"), say(c.predicted_k[k], 1, "K"), say(c.power_w[k], 2, "W"), time(c.tick_ms[k] / 1e3),
      tellStatus(run, k, trouble),
      run.windowed ? String(s.over) : "–", run.windowed ? say(s.overshoot, 1, "K") : "–",
      run.windowed && s.below ? percent(s.short / s.below) : "–", s.above ? say(s.power / s.above, 1, "W") : "–",
    ];
    texts.forEach((text, j) => { if (cells[j].textContent !== text) cells[j].textContent = text; });
    cells[0].classList.toggle("out", run.judge(k) === 1);
    for (const b of buttons) b.disabled = run.computing;
  });
}

function download(run) {
  const link = document.createElement("a");
  link.href = "/live/" + run.id.slice(5) + "/record.json"; link.download = ""; link.click();
}

function askName(run) {
  const dialog = at("keep-dialog");
  at("keep-name").value = run.label || `${run.name} on ${run.path}`;
  dialog.returnValue = "";
  dialog.onclose = async () => {
    if (dialog.returnValue !== "keep") return;
    try {
      const { file } = await (await post("/keep", { run: run.id.slice(5), label: at("keep-name").value })).json();
      told("Kept as " + file);
    } catch (problem) { told(problem.message); }
  };
  dialog.showModal();
  at("keep-name").select();
}
