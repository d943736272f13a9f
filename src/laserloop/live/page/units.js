// Numbers for people: units that fit, and nothing where nothing is known.

const known = value => value !== null && value !== undefined && Number.isFinite(value);

export const say = (value, digits, unit) => known(value) ? value.toFixed(digits) + "\u202f" + unit : "–";

export function time(seconds) {  // 36 ms, not 35871 µs
  if (!known(seconds)) return "–";
  for (const [size, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) {
    if (Math.abs(seconds) >= 0.9995 * size || unit === "µs") {
      const value = seconds / size;
      return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + "\u202f" + unit;
    }
  }
}

export const percent = share => known(share) ? (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + "\u202f%" : "–";

export const count = (n, noun) => n.toLocaleString("en") + " " + noun + (n === 1 ? "" : "s");

export function timeUnit(seconds) {  // for an axis
  return seconds >= 2 ? [1, "s"] : seconds >= 2e-3 ? [1e-3, "ms"] : [1e-6, "µs"];
}
