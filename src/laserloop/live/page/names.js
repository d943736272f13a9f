// What runs are called where several are shown: by their title and, where that is shared, by what differs.

export function callRuns(runs) {
  const facts = run => [run.place, ...(run.model ? run.model.split(", ") : [])];
  const names = runs.map(run => {
    const peers = runs.filter(other => other.title === run.title);
    return [run.title, ...facts(run).filter(fact => !peers.every(other => facts(other).includes(fact)))].join(", ");
  });
  return names.map((name, i) => {  // what cannot be told apart is counted
    const which = names.slice(0, i).filter(other => other === name).length;
    return which || names.indexOf(name, i + 1) > 0 ? `${name} (${which + 1})` : name;
  });
}

export function tellWindow(run) {  // with every change of it
  const c = run.column, told = [];
  for (let k = 0; k < run.count; k++) {
    const text = Math.round(c.window_low_k[k]) + "–" + Math.round(c.window_high_k[k]) + " K";
    if (Number.isFinite(c.window_low_k[k]) && told.at(-1) !== text) told.push(text);
  }
  return told.length > 3 ? `${told[0]} … ${told.at(-1)}` : told.join(", then ");
}
