/** The builder threads of this product: their entry file, and how jobs reach it. */
import process from "node:process";
import { Worker } from "node:worker_threads";
import type { Log } from "#src/base/log.ts";
import { type Builders, createBuilders } from "#src/threads/builders.ts";
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

interface BuildersOptions {
  /** Threads; cores − 1 by default, at least 1. */
  readonly threads?: number;
  /** Jobs that may wait; further ones fail as `overloaded`. 256 by default. */
  readonly queueLimit?: number;
  /** Milliseconds that a job may exceed its deadline before its thread is replaced; 2,000 by default. */
  readonly graceMs?: number;
  readonly log: Log;
  /** Starts a thread; tests replace it. */
  readonly start?: () => Worker;
}

/** Starts the threads. Jobs that stretch a passphrase are heavy. */
export function startBuilders({ start = startThread, ...options }: BuildersOptions): Builders {
  const heavy = new Set(["openRoot", "signMessages", "reseal", "publicKeys"] as const);
  return createBuilders({ ...options, start, encode: encodeJobInput, heavy });
}
