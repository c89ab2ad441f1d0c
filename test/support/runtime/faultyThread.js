// A thread that misbehaves as its orders say, for tests of the pool.
import process from "node:process";
import { parentPort, threadId, workerData } from "node:worker_threads";

const began = [];

parentPort.on("message", ({ id, job, input }) => {
  began.push(input);
  if (workerData?.dies) process.exit(3);
  if (job === "root" && input === "hang") { for (;;); }
  if (job === "root" && input === "die") process.exit(3);
  if (job === "root" && input === "throw") throw new Error("on purpose");
  if (job === "root" && input === "break") return parentPort.postMessage({ id, broke: "on purpose" });
  if (input === "held") Atomics.wait(workerData.gate, 0, 0);
  const value = input === "began" ? began : `${input} in ${threadId}`;
  const answer = () => parentPort.postMessage({ id, result: { ok: true, value } });
  if (typeof input === "number") setTimeout(answer, input);
  else answer();
});
