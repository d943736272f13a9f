// The wire to the server: a WebSocket that comes back by itself, and messages with arrays in them.

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const words = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  let at = 4 + length;
  for (const [name, [kind, shape]] of Object.entries(words.arrays)) {
    const size = shape.reduce((a, b) => a * b, 1), Type = { f4: Float32Array, u1: Uint8Array }[kind];
    arrays[name] = new Type(buffer, at, size);
    arrays[name].shape = shape;
    at += Math.ceil(arrays[name].byteLength / 8) * 8;
  }
  return [words, arrays];
}

export class Wire {
  constructor(onMessage, onLink) {
    this.onMessage = onMessage;
    this.onLink = onLink;
    this.wait = 300;  // ms, until the next try
    this.connect();
  }

  connect() {
    this.socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/socket");
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => { this.wait = 300; this.onLink(true); };
    this.socket.onmessage = event => {
      if (typeof event.data === "string") this.onMessage(JSON.parse(event.data), {});
      else this.onMessage(...unpack(event.data));
    };
    this.socket.onclose = () => {
      this.onLink(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(5000, 1.6 * this.wait);
    };
  }

  get open() { return this.socket.readyState === WebSocket.OPEN; }

  send(words) {
    if (this.open) this.socket.send(JSON.stringify(words));
    return this.open;
  }
}

export async function post(place, words) {  // JSON there, whatever comes back
  const answer = await fetch(place, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(words) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}
