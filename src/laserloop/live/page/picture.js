// The picture: what is on the screen as one PNG file that speaks for itself, of the same size from every screen.

import { captions, decisions, power, temperature, visible } from "./charts.js";
import { thermal } from "./heat.js";
import { map } from "./map.js";
import { callRuns, tellWindow } from "./names.js";
import { at, clip, ink, print } from "./plot.js";
import { state } from "./state.js";

const RATIO = 2, WIDTH = 1200, PAD = 24, HALF = (WIDTH - 3 * PAD) / 2, WHOLE = WIDTH - 2 * PAD, CAPTION = 22;
const SIZES = { heat: [HALF, 360], map: [HALF, 360], temp: [WHOLE, 280], power: [WHOLE, 130], time: [WHOLE, 110] };
const FONT = "system-ui, sans-serif";

function redraw(runs) {
  const shown = visible(runs, state.tick, state.span);
  for (const draw of [temperature, power, decisions]) draw(runs, state.tick, shown);
  thermal(runs);
  map(runs[0], state.tick);
}

export function tellSetting(runs) {  // process, plant, window and time, in a line
  const shared = of => [...new Set(runs.map(of).filter(Boolean))].join(" / ");
  const [process, plant, window] = [shared(run => run.process?.name ?? run.process), shared(run => run.plant), shared(tellWindow)];
  return [process && "process " + process, plant && plant + " plant", window && "window " + window, at("clock").textContent].filter(Boolean).join(" · ");
}

export function nameFile(runs) {  // path and controllers
  const words = [...new Set(runs.map(run => run.place)), ...callRuns(runs)].join(" ").normalize("NFKD").toLowerCase();
  return (words.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 100) || "laserloop") + ".png";
}

export function savePicture(runs) {
  const names = callRuns(runs), rows = [["heat", "map"].filter(id => !at(id).closest("figure").hidden), ["temp"], ["power"], ["time"]];
  const size = id => rows[0].length === 1 && id === "map" ? [WHOLE, SIZES.map[1]] : SIZES[id], key = 24 * runs.length;
  const sheet = document.createElement("canvas"), g = sheet.getContext("2d");
  sheet.width = RATIO * WIDTH;
  sheet.height = RATIO * (76 + key + rows.reduce((sum, row) => sum + CAPTION + size(row[0])[1] + 10, 0) + PAD);
  g.scale(RATIO, RATIO);
  g.fillStyle = ink("--card"); g.fillRect(0, 0, WIDTH, sheet.height);
  const say = (text, x, y, font, colour, width) => { g.font = font + " " + FONT; g.fillStyle = ink(colour); g.fillText(clip(g, text, width), x, y); };
  say(at("title").textContent, PAD, 38, "600 20px", "--ink", WHOLE);
  say(tellSetting(runs), PAD, 60, "14px", "--soft", WHOLE);
  runs.forEach((run, i) => {
    g.fillStyle = ink("--run-" + i); g.beginPath(); g.roundRect(PAD, 73 + 24 * i, 14, 14, 3); g.fill();
    const more = run.model && names[i] === run.title ? names[i] + " · " + run.model : names[i];
    say(more, PAD + 22, 85 + 24 * i, "14px", "--ink", WHOLE - 22);
  });
  let y = 76 + key;
  print(canvas => [...size(canvas.id), RATIO], () => {
    redraw(runs);
    for (const row of rows) {
      row.forEach((id, j) => {
        const [w, h] = size(id), x = PAD + j * (w + PAD);
        say(captions(runs)[id], x, y + 14, "13px", "--soft", w);
        g.drawImage(at(id), x, y + CAPTION, w, h);
      });
      y += CAPTION + size(row[0])[1] + 10;
    }
  });
  redraw(runs);  // as the screen has it, before it is shown
  sheet.toBlob(blob => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob); link.download = nameFile(runs); link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
}
