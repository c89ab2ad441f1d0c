/** Starts the module of a thread on Deno and on Node. */
import process from "node:process";
import { Worker } from "node:worker_threads";

/** Whether `.ts` modules load by themselves: on Deno, and on Node from 22.18 on. */
const typescript = "Deno" in globalThis || Boolean((process.features as { typescript?: unknown }).typescript);

/** A new thread that waits for orders. */
export function startThread(): Worker {
  return new Worker(new URL(typescript ? "./thread.ts" : "./thread_node.js", import.meta.url), { execArgv: [] });
}
