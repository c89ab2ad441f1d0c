/** Starts a thread's module on Deno and on Node. */
import process from "node:process";
import { Worker } from "node:worker_threads";

/** Whether the platform loads `.ts` modules: Deno, and Node since 22.18. */
const typescript = "Deno" in globalThis || Boolean((process.features as { typescript?: unknown }).typescript);

/** A new thread. */
export function startThread(): Worker {
  return new Worker(new URL(typescript ? "./thread.ts" : "./thread_node.js", import.meta.url), { execArgv: [] });
}
