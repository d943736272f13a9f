// Two scales: heat for the thermal image, and one that turns at the window for the path.

const HEAT = [[0, 6, 4, 14], [0.16, 40, 11, 84], [0.32, 101, 21, 110], [0.48, 159, 42, 99], [0.62, 212, 72, 66], [0.76, 245, 125, 21], [0.89, 250, 193, 39], [1, 252, 255, 190]];
const PATH = [[-1, 49, 54, 149], [-0.5, 69, 117, 180], [-0.02, 116, 173, 209], [0, 38, 150, 106], [0.5, 55, 175, 118], [1, 120, 180, 80], [1.02, 253, 150, 60], [1.5, 235, 80, 40], [2, 165, 10, 45]];

function blend(stops, v) {
  let i = 1;
  while (i < stops.length - 1 && v > stops[i][0]) i++;
  const [a, b] = [stops[i - 1], stops[i]], s = Math.min(1, Math.max(0, (v - a[0]) / (b[0] - a[0])));
  return [1, 2, 3].map(j => Math.round(a[j] + s * (b[j] - a[j])));
}

export const heat = Array.from({ length: 256 }, (_, i) => blend(HEAT, i / 255));

export const STEPS = 36;  // colours of a path, from one width below the window to one above
export const path = Array.from({ length: STEPS }, (_, i) => `rgb(${blend(PATH, -1 + 3 * (i + 0.5) / STEPS).join(" ")})`);

export function step(t, low, high) {  // which of them a temperature has
  const v = (t - low) / (high - low);
  return Math.min(STEPS - 1, Math.max(0, Math.floor((v + 1) / 3 * STEPS)));
}
