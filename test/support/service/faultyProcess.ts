/**
 * The service with an injected fault: ARBOR_FAULT=`<worker|follower>:<step>:<kind>:<n>` makes the process kill itself
 * (SIGKILL) at the n-th such step; for a worker only steps of entities of that kind count.
 */
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { startApp } from "#src/app/application.ts";
import { readOptions } from "#src/app/options.ts";

const [part, at, kind, count] = (process.env.ARBOR_FAULT ?? "").split(":");
let left = Number(count);

function step(): void {
  if (--left === 0) process.kill(process.pid, "SIGKILL");
}

const options = readOptions([]);
if (!options.ok || options.value === "help") throw new Error("bad options");
const app = await startApp(options.value, createLog("warn"), () => {}, {
  ...(part === "worker" ? { worker: (one) => one.at === at && one.entity.kind === kind ? step() : undefined } : {}),
  ...(part === "follower" ? { follower: (one) => one === at ? step() : undefined } : {}),
});
for (const { name, at } of app.listening) console.log(`${name}  ${at}`);
console.log("Ready after all");
process.on("SIGTERM", () => void app.stop().then(() => process.exit(0)));
