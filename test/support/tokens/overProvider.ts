/** The tests of the token service, over another provider than the devnet in its process. */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, describe } from "vitest";
import type { Provider } from "../service/provider.ts";

const FOLDER = new URL("../../system/tokens/", import.meta.url);
/** What starts the service of a test over the provider of the run; other files need no network, or have a chain of their own. */
const STARTS = /\b(startService|Scenario\.start|tokenFuzz|pendingProperty)\(/;

/** Files of the suite that read a network. */
export function tokenFiles(): string[] {
  return readdirSync(FOLDER).filter((name) => name.endsWith(".test.ts"))
    .filter((name) => STARTS.test(readFileSync(new URL(name, FOLDER), "utf8"))).sort();
}

/** Runs them. The file that calls this has modules of its own: the provider of a run is read once. */
export function tokensOver(provider: Exclude<Provider, "devnet">): void {
  const before = process.env.ARBOR_SCENARIO_PROVIDER;
  process.env.ARBOR_SCENARIO_PROVIDER = provider;
  afterAll(() => {
    if (before === undefined) delete process.env.ARBOR_SCENARIO_PROVIDER;
    else process.env.ARBOR_SCENARIO_PROVIDER = before;
  });
  for (const name of tokenFiles()) {
    describe(name, async () => {
      await import(/* @vite-ignore */ fileURLToPath(new URL(name, FOLDER)));
    });
  }
}
