/** A client of an Ogmios server in a process of its own: synchronises so many blocks from the origin, and prints how long it took. */
import process from "node:process";
import { WebSocket } from "ws";

const [url = "", count = "0", ahead = "100"] = process.argv.slice(2);
const socket = new WebSocket(url, { perMessageDeflate: false });
const request = JSON.stringify({ jsonrpc: "2.0", method: "nextBlock", id: { requestId: "a" } });
let blocks = -1;
let bytes = 0;
let begun = 0;
socket.on("open", () => {
  begun = performance.now();
  for (let i = 0; i < Number(ahead); i++) socket.send(request);
});
socket.on("message", (data: Buffer) => {
  bytes += data.length;
  if (++blocks < Number(count)) return socket.send(request);
  if (blocks > Number(count)) return;
  console.log(JSON.stringify({ seconds: (performance.now() - begun) / 1_000, bytes }));
  process.exit(0);
});
