/** The builder threads of this product: their entry file, and how jobs reach it. */
import process from "node:process";
import { Worker } from "node:worker_threads";
import { type Builders, type BuildersOptions, createBuilders } from "#src/threads/builders.ts";
import { encodeJobInput } from "#src/wallets/builds/jobCodec.ts";
import type {} from "#src/plutus/jobs.ts";
import type {} from "#src/tokens/builds/jobs.ts";

/** Whether the platform loads `.ts` modules: Deno, and Node since 22.18. */
const loadsTypeScript = "Deno" in globalThis ||
  ("typescript" in process.features && Boolean(process.features.typescript));

/** A new thread. */
function startThread(): Worker {
  return new Worker(new URL(loadsTypeScript ? "./thread.ts" : "./threadNode.js", import.meta.url), { execArgv: [] });
}

/** Starts the threads; tests replace `start`. Jobs that stretch a passphrase are heavy. */
export function startBuilders(
  { start = startThread, ...options }:
    & Omit<BuildersOptions, "start" | "encode" | "heavy">
    & Partial<Pick<BuildersOptions, "start">>,
): Builders {
  const heavy = new Set(["openRoot", "signMessages", "reseal", "publicKeys"] as const);
  return createBuilders({ ...options, start, encode: encodeJobInput, heavy });
}
