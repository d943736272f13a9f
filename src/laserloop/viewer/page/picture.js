// The picture: what is on the screen as one PNG file.

import { at, ink } from "./plot.js";

export function savePicture(title, name) {
  const ratio = 2, pad = 24, width = 1200, ids = ["heat", "map"].filter(id => !at(id).closest("figure").hidden);
  const rows = [ids, ["temp"], ["power"], ["time"]];
  const heights = rows.map(row => Math.max(...row.map(id => (width - 2 * pad) / row.length * at(id).clientHeight / at(id).clientWidth)));
  const sheet = document.createElement("canvas");
  sheet.width = ratio * width; sheet.height = ratio * (60 + heights.reduce((a, b) => a + b + 14, 0) + pad);
  const g = sheet.getContext("2d");
  g.scale(ratio, ratio);
  g.fillStyle = ink("--card"); g.fillRect(0, 0, sheet.width, sheet.height);
  g.fillStyle = ink("--ink"); g.font = "600 18px system-ui, sans-serif"; g.fillText(title, pad, 38);
  let y = 60;
  rows.forEach((row, i) => {
    const each = (width - 2 * pad) / row.length;
    row.forEach((id, j) => g.drawImage(at(id), pad + j * each, y, each, each * at(id).clientHeight / at(id).clientWidth));
    y += heights[i] + 14;
  });
  sheet.toBlob(blob => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob); link.download = name; link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
}
