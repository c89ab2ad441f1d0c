/** Large wallets: many unspent outputs, many transactions and used addresses, a large gap. */
import { lovelace } from "#src/cardano/value.ts";
import { GREAT_GAP, HISTORY, RESTORE, UTXOS } from "./wallet-published.ts";
import type { Contribution } from "./wallet-bank.ts";
import { addressesOf, Owner, PASSPHRASE } from "./wallet-owner.ts";
import type { Site } from "./wallet-site.ts";

const GREAT_GAP_SIZE = 100_000;
const CREATED = 10;
/** Lovelace of each payment of the history. */
const PAID = 3_000_000n;
/** One in this many transactions of the history spends an output of the wallet. */
const SPENDS = 10;

const payment = (site: Site, count = 1) => ({
  payments: Array.from({ length: count }, () => ({
    address: site.bank.address,
    amount: { quantity: 1_500_000, unit: "lovelace" },
  })),
});

/** Calls on one wallet. */
async function calls(
  site: Site,
  at: string,
  id: string,
  size: number,
  history: readonly [what: string, query: string][],
) {
  const published = UTXOS.get(size) ?? {};
  const call = (what: string, path: string, name: string) => site.time(at, what, ["GET", path], published[name]);
  await call("`GET /wallets`", "/wallets", "listWallets");
  await call("`GET /wallets/{id}`", `/wallets/${id}`, "getWallet");
  await call("`…/statistics/utxos`", `/wallets/${id}/statistics/utxos`, "utxoStats");
  await call("`…/utxo`", `/wallets/${id}/utxo`, "utxo");
  await call("`…/addresses`", `/wallets/${id}/addresses`, "listAddresses");
  await call("`…/addresses?limit=50`", `/wallets/${id}/addresses?limit=50`, "");
  // a URL of its own each time, of the same meaning: the history begins later
  let asked = 0;
  const begin = () => new Date(asked++ * 1_000).toISOString();
  await site.time(
    at,
    "`…/transactions?limit=50`, not cached",
    () => ["GET", `/wallets/${id}/transactions?limit=50&start=${begin()}`],
  );
  for (const [what, query] of history) {
    await call(what, `/wallets/${id}/transactions${query}`, query === "" ? "listTransactions" : "");
  }
  await site.time(
    at,
    "`…/payment-fees`",
    ["POST", `/wallets/${id}/payment-fees`, payment(site)],
    published.postTransactionFee,
  );
  await site.time(
    at,
    "`…/transactions-construct`",
    ["POST", `/wallets/${id}/transactions-construct`, payment(site)],
  );
  await site.time(
    at,
    "`POST …/transactions`",
    ["POST", `/wallets/${id}/transactions`, { ...payment(site), passphrase: PASSPHRASE }],
    published.postTransaction,
    10,
  );
}

/** Wallets with an increasing number of unspent outputs, each output at an address of its own. */
export async function manyUtxos(site: Site, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) {
    const owner = new Owner();
    const { id } = await site.create(owner.body(`${size} outputs`));
    await site.fund(await addressesOf(owner.xpub, size), 3);
    await site.caughtUp(id);
    const at = `${size.toLocaleString("en")} UTxOs`;
    await calls(site, at, id, size, [["`…/transactions`", ""]]);
    await site.ask("DELETE", `/wallets/${id}`);
  }
}

/** One wallet with this many used addresses and transactions; then restored from the beginning. */
export async function longHistory(site: Site, parts: ReadonlySet<string>, size: number): Promise<void> {
  const owner = new Owner();
  const { id } = await site.create(owner.body("history"));
  const addresses = await addressesOf(owner.xpub, size);
  const made: Contribution["ref"][] = [];
  for (const [i, address] of addresses.entries()) {
    const oldest = Math.floor(i / SPENDS);
    const contribution = i > 0 && i % SPENDS === 0
      ? [{ ref: made[oldest]!, amount: PAID, sign: owner.signer(oldest) }]
      : [];
    made.push({ txHash: await site.bank.pay([{ address, value: lovelace(PAID) }], contribution), index: 0 });
  }
  await site.bank.block();
  await site.caughtUp(id);
  const thousands = size.toLocaleString("en");
  const at = `${thousands} transactions and addresses`;
  if (parts.has("history")) {
    await calls(site, at, id, size, [["`…/transactions?limit=50`", "?limit=50"]]);
    await site.time(at, "`…/transactions`, all", ["GET", `/wallets/${id}/transactions`], HISTORY);
    const { arbor, postgres } = site.running.memory();
    site.add({ at, what: "memory of Arbor", unit: "MB", value: arbor, samples: 1 });
    site.add({ at, what: "memory with PostgreSQL", unit: "MB", value: arbor + postgres, samples: 1 });
  }
  if (!parts.has("restore")) return;
  await restored(site, owner, id, at, size);
}

async function restored(site: Site, owner: Owner, id: string, at: string, size: number): Promise<void> {
  await site.ask("DELETE", `/wallets/${id}`);
  const begun = performance.now();
  await site.create(owner.body("again"));
  await site.caughtUp(id);
  site.add({
    at,
    what: "restore from the beginning",
    unit: "s",
    value: (performance.now() - begun) / 1_000,
    samples: 1,
    published: size >= 1_000 ? RESTORE.light : RESTORE.one,
  });
}

/** New wallets with the default gap and the largest one. */
export async function created(site: Site): Promise<void> {
  const answers: number[] = [];
  const ready: number[] = [];
  for (let i = 0; i < CREATED; i++) {
    const owner = new Owner();
    const begun = performance.now();
    const { id, ms } = await site.create(owner.body(`wallet ${i}`));
    await site.caughtUp(id);
    answers.push(ms);
    ready.push(performance.now() - begun);
  }
  for (const [what, times] of [["create: answered", answers], ["create: ready", ready]] as const) {
    const sorted = [...times].sort((a, b) => a - b);
    site.add({
      at: "gap 20",
      what,
      unit: "ms",
      value: sorted[Math.floor(sorted.length / 2)]!,
      p95: sorted.at(-1)!,
      samples: CREATED,
    });
  }
  const at = "gap 100,000";
  const begun = performance.now();
  const { id, ms } = await site.create(new Owner().body("great gap", GREAT_GAP_SIZE));
  site.add({ at, what: "create: answered", unit: "s", value: ms / 1_000, samples: 1 });
  await site.caughtUp(id);
  site.add({
    at,
    what: "create: ready",
    unit: "s",
    value: (performance.now() - begun) / 1_000,
    samples: 1,
    published: GREAT_GAP.create,
  });
  await site.time(at, "`GET /wallets/{id}`", ["GET", `/wallets/${id}`], GREAT_GAP.get);
  await site.time(at, "`…/addresses`", ["GET", `/wallets/${id}/addresses`], GREAT_GAP.list);
}
