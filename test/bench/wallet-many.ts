/**
 * Many wallets at once: the cost of each call with 2, 10, 100 and 1,000 of them, and how soon all are available after a
 * kill.
 */
import { toHex, utf8 } from "#src/base/bytes.ts";
import { lovelace } from "#src/cardano/value.ts";
import { LATENCY, LIST_OF, MEMORY, RESTORE } from "./wallet-published.ts";
import { addressesOf, Owner, PASSPHRASE, strangeAccount } from "./wallet-owner.ts";
import { Client } from "./wallet-http.ts";
import type { Site } from "./wallet-site.ts";

/** Payments to the two wallets of the smallest case: this many of 1,000 ada. */
const PAYMENTS = 10;
/** Outputs of each other wallet, 5 ada each. */
const EACH = 2;
/** Wallets that are created at a time. */
const AT_ONCE = 16;
const RESTARTS = 3;

/** `parts` selects calls, restarts, or both. */
export async function manyWallets(site: Site, parts: ReadonlySet<string>, most: number): Promise<void> {
  const calls = parts.has("wallets");
  if (calls) memory(site, "at its start", true);
  const [first, second] = [await fixture(site, "first"), await fixture(site, "second")];
  let count = 2;
  if (calls) await smallest(site, first.id);
  for (const goal of [10, 100, 1_000].filter((some) => some <= most)) {
    const begun = performance.now();
    await grow(site, goal - count);
    await site.allReady(goal);
    if (calls && goal === most) {
      site.add({
        at: `${goal - count} more, ${AT_ONCE} clients`,
        what: "create, pay and have ready",
        unit: "s",
        value: (performance.now() - begun) / 1_000,
        samples: 1,
        ...(goal === 100 ? { published: RESTORE.hundred } : {}),
      });
    }
    count = goal;
    if (calls) await among(site, first.id, goal);
  }
  if (calls) memory(site, `with ${most.toLocaleString("en")} wallets`, false);
  if (parts.has("restart")) await restarts(site, count);
  void second;
}

/** A wallet with a passphrase that was paid ten times. */
async function fixture(site: Site, name: string): Promise<{ readonly id: string }> {
  const owner = new Owner();
  const { id } = await site.create(owner.body(name));
  const addresses = await addressesOf(owner.xpub, PAYMENTS);
  const assets = new Map(["gold", "iron", "tin"].map((asset) => [site.bank.policy + toHex(utf8(asset)), 1_000_000n]));
  for (const [i, address] of addresses.entries()) {
    const minted = i === 0 ? assets : new Map();
    await site.bank.pay([{ address, value: { lovelace: 1_000_000_000n, assets: minted } }], [], minted);
  }
  await site.bank.block();
  await site.caughtUp(id);
  return { id };
}

const payments = (site: Site, count = 1, assets: readonly object[] = []) =>
  Array.from({ length: count }, () => ({
    address: site.bank.address,
    amount: { quantity: 2_000_000, unit: "lovelace" },
    ...(assets.length > 0 ? { assets } : {}),
  }));

/** Calls on a wallet that are the same in every case. */
async function reads(site: Site, at: string, id: string, published: Partial<typeof LATENCY>): Promise<void> {
  await site.time(at, "`GET /network/information`", ["GET", "/network/information"], published.getNetworkInfo);
  await site.time(at, "`GET /wallets/{id}`", ["GET", `/wallets/${id}`], published.getWallet);
  await site.time(at, "`…/statistics/utxos`", ["GET", `/wallets/${id}/statistics/utxos`], published.utxoStats);
  await site.time(at, "`…/addresses`", ["GET", `/wallets/${id}/addresses`], published.listAddresses);
  await site.time(at, "`…/transactions`", ["GET", `/wallets/${id}/transactions`], published.listTransactions);
  await site.time(at, "`…/assets`", ["GET", `/wallets/${id}/assets`], published.listMultiAssets);
  await site.time(
    at,
    "`…/payment-fees`",
    ["POST", `/wallets/${id}/payment-fees`, { payments: payments(site) }],
    published.postTransactionFee,
  );
}

/** A text with some characters percent-encoded: those at the places of the one bits of `n`. */
function respelled(text: string, n: number): string {
  return [...text].map((char, i) => (n >> i) % 2 === 1 && i < 20 ? `%${char.charCodeAt(0).toString(16)}` : char).join(
    "",
  );
}

async function smallest(site: Site, id: string): Promise<void> {
  const at = "2 wallets";
  await site.time(at, "`GET /wallets`", ["GET", "/wallets"], LATENCY.listWallets);
  await reads(site, at, id, LATENCY);
  // a spelling of the id that is new each time bypasses the response cache
  let requestCount = 0;
  for (const path of ["", "/statistics/utxos", "/addresses", "/transactions"]) {
    await site.time(at, `\`…${path || "/wallets/{id}"}\`, nothing kept`, () => [
      "GET",
      `/wallets/${respelled(id, requestCount++)}${path}`,
    ]);
  }
  await site.time(
    at,
    "`GET /stake-pools`",
    ["GET", "/stake-pools?stake=1000000000"],
    LATENCY.listStakePools,
  );
  await site.time(
    at,
    "`…/transactions-construct`",
    ["POST", `/wallets/${id}/transactions-construct`, { payments: payments(site) }],
  );
  const send = (count: number, assets?: readonly object[]) => (): [string, string, object] => [
    "POST",
    `/wallets/${id}/transactions`,
    { payments: payments(site, count, assets), passphrase: PASSPHRASE },
  ];
  await site.time(at, "`POST …/transactions`", send(1), LATENCY.postTransaction, 20);
  await site.time(at, "`POST …/transactions`, 5 addresses", send(5), LATENCY.postTransactionTo5, 10);
  const gold = [{ policy_id: site.bank.policy, asset_name: toHex(utf8("gold")), quantity: 5 }];
  await site.time(at, "`POST …/transactions`, an asset", send(1, gold), LATENCY.postTransactionAssets, 10);
}

async function among(site: Site, id: string, count: number): Promise<void> {
  const at = `${count.toLocaleString("en")} wallets`;
  await site.time(at, "`GET /wallets`", ["GET", "/wallets"], LIST_OF.get(count));
  if (count < 1_000) return;
  await site.time(at, "`GET /wallets?limit=50`", ["GET", "/wallets?limit=50"]);
  await reads(site, at, id, {});
  await site.time(
    at,
    "`POST …/transactions`",
    ["POST", `/wallets/${id}/transactions`, { payments: payments(site), passphrase: PASSPHRASE }],
    undefined,
    10,
  );
}

/** More watch-only wallets, each paid. */
async function grow(site: Site, count: number): Promise<void> {
  const accounts = Array.from({ length: count }, strangeAccount);
  const waiting = accounts.entries();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    const client = await Client.open(site.running.wallets);
    for (const [i, account] of waiting) {
      const answer = await client.call("POST", "/wallets", { name: `watched ${i}`, account_public_key: account });
      if (answer.status !== 201) throw new Error(`create: ${answer.status} ${JSON.stringify(answer.json())}`);
    }
    client.close();
  }));
  const addresses = await Promise.all(accounts.map((account) => addressesOf(account, EACH)));
  await site.bank.payAll(addresses.flat().map((address) => ({ address, value: lovelace(5_000_000n) })));
}

function memory(site: Site, at: string, beginning: boolean): void {
  const { arbor, postgres } = site.running.memory();
  site.add({
    at,
    what: "memory of Arbor",
    unit: "MB",
    value: arbor,
    samples: 1,
    ...(beginning ? { published: MEMORY.start } : {}),
  });
  site.add({
    at,
    what: "memory with PostgreSQL",
    unit: "MB",
    value: arbor + postgres,
    samples: 1,
    ...(beginning ? {} : { published: MEMORY.node }),
  });
}

async function restarts(site: Site, count: number): Promise<void> {
  const answered: number[] = [];
  const ready: number[] = [];
  for (let i = 0; i < RESTARTS; i++) {
    const { since } = await site.restart();
    await site.ask("GET", "/wallets");
    answered.push(performance.now() - since);
    await site.allReady(count);
    ready.push(performance.now() - since);
  }
  const at = `${count.toLocaleString("en")} wallets`;
  for (
    const [what, times] of [["kill -9, start: first list", answered], ["kill -9, start: all ready", ready]] as const
  ) {
    const [, median, worst] = [...times].sort((a, b) => a - b);
    site.add({ at, what, unit: "s", value: median! / 1_000, p95: worst! / 1_000, samples: RESTARTS });
  }
}
