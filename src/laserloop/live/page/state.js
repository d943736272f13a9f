// What the page knows: runs, which of them are chosen, and the tick that is looked at.

export const MOST = 4;  // runs at once

export const state = {
  known: new Map(),  // id -> Run
  listed: [],  // stored runs, without series
  live: [],  // runs of this server, in a few words
  chosen: [],  // ids, in the order of their colours
  tick: 0,
  follow: true,  // does the tick follow the newest of a live run?
  playing: false,
  span: 0,  // ticks that charts show; 0: all
  linked: false,
};

const listeners = new Set();
export const onChange = listener => listeners.add(listener);
export const changed = what => listeners.forEach(listener => listener(what));

export const chosenRuns = () => state.chosen.map(id => state.known.get(id)).filter(run => run && run.count);
export const empty = () => state.chosen.map(id => state.known.get(id)).filter(run => run && !run.count);  // chosen, but without a tick
export const front = () => chosenRuns()[0] ?? null;
export const computing = () => state.chosen.map(id => state.known.get(id)).filter(run => run && run.computing);
export const lastTick = () => Math.max(0, ...chosenRuns().map(run => run.count - 1));
