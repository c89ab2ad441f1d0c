/**
 * `deno task bench wallet [--part wallets|utxos|history|restore|create|restart]… [--quick] [--markdown]`: the wallet
 * service as seen by its users, over HTTP on loopback, on services started as users start them, compared with
 * cardano-wallet's published figures.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { type Figure, fullTable, readmeTable, WARM_UP } from "./wallet-figures.ts";
import { created, longHistory, manyUtxos } from "./wallet-great.ts";
import { manyWallets } from "./wallet-many.ts";
import { Site } from "./wallet-site.ts";

const PARTS = ["wallets", "restart", "utxos", "history", "restore", "create"] as const;

/** Prints the results. */
export async function benchWallet(print: (line: string) => void = console.log): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    strict: false,
    options: { part: { type: "string", multiple: true }, quick: { type: "boolean" }, markdown: { type: "boolean" } },
  });
  const chosen = (values.part ?? PARTS) as readonly string[];
  const unknown = chosen.filter((part) => !(PARTS as readonly string[]).includes(part));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(", ")}; there are ${PARTS.join(", ")}.`);
  const parts = new Set(chosen);
  const wanted = (...some: readonly string[]) => some.some((part) => parts.has(part));
  const quick = values.quick === true;
  const figures: Figure[] = [];
  const begun = performance.now();
  const site = async (work: (site: Site) => Promise<void>) => {
    figures.push(...await Site.during((line) => void process.stderr.write(`  ${line}\n`), work));
  };
  if (wanted("wallets", "restart")) await site((one) => manyWallets(one, parts, quick ? 100 : 1_000));
  if (wanted("utxos")) await site((one) => manyUtxos(one, quick ? [100, 1_000] : [100, 1_000, 10_000, 20_000]));
  if (wanted("history", "restore")) await site((one) => longHistory(one, parts, quick ? 1_500 : 15_000));
  if (wanted("create")) await site(created);
  for (const line of values.markdown === true ? readmeTable(figures) : fullTable(figures)) print(line);
  print("");
  print(
    `One client, one call after the other, after ${WARM_UP} that do not count (a second of them where they only read); from the first byte sent to the last received; p95 of fewer ` +
      `than 20 samples is the greatest. Block every second, fsync on. All of it took ${
        ((performance.now() - begun) / 60_000).toFixed(1)
      } min.`,
  );
}
