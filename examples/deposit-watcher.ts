/**
 * A deposit watcher, as an exchange runs one: it posts every deposit to a wallet's addresses once enough blocks are on
 * top of it, each output once.
 *
 *     deposit-watcher.ts WALLET WEBHOOK STATEFILE
 *
 * Events of the wallet only say when to look: what is credited comes from the list of transactions, with its depth. The
 * state file has the outputs that the webhook has acknowledged; a deposit is posted again until then, with the same
 * Idempotency-Key, so that the receiver can drop what it has seen.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { toJson, WalletClient } from "@arbor-cardano/client";

const [wallet, webhook, stateFile] = process.argv.slice(2);
if (!wallet || !webhook || !stateFile) {
  console.error("usage: deposit-watcher.ts WALLET WEBHOOK STATEFILE");
  process.exit(2);
}
/** Blocks on top of a deposit before it is credited; on mainnet, more for greater amounts. */
const depth = Number(process.env.CONFIRMATIONS ?? 10);
/** Milliseconds between two looks while a deposit waits for blocks. */
const LOOK_MS = 2_000;

const client = new WalletClient(process.env.ARBOR_WALLETS_URL ?? "http://127.0.0.1:8090/v2");
const credited = new Set<string>(JSON.parse(await readFile(stateFile, "utf8").catch(() => "[]")));

async function post(key: string, body: unknown): Promise<void> {
  for (let wait = 1_000;; wait = Math.min(60_000, wait * 2)) {
    try {
      const headers = { "content-type": "application/json", "idempotency-key": key };
      const response = await fetch(webhook!, { method: "POST", headers, body: toJson(body) });
      await response.body?.cancel();
      if (response.ok) return;
      console.error(`${webhook} answers ${response.status}`);
    } catch (error) {
      console.error(String(error));
    }
    await sleep(wait);
  }
}

async function save(): Promise<void> {
  await writeFile(`${stateFile}.new`, JSON.stringify([...credited]));
  await rename(`${stateFile}.new`, stateFile!);
}

/** Posts what is deep enough; whether a deposit still waits for blocks. */
async function look(): Promise<boolean> {
  const own = new Set((await client.addresses(wallet!)).map(({ id }) => id));
  let waiting = false;
  for (const transaction of await client.transactions(wallet!, { order: "ascending" })) {
    if (transaction.direction !== "incoming" || transaction.status !== "in_ledger") continue;
    const confirmations = transaction.depth?.quantity ?? 0;
    for (const [index, output] of transaction.outputs.entries()) {
      const id = `${transaction.id}#${index}`;
      if (!own.has(output.address) || credited.has(id)) continue;
      if (confirmations < depth) {
        waiting = true;
        continue;
      }
      const { address, amount, assets } = output;
      await post(id, { wallet, output: id, address, lovelace: amount.quantity, assets, confirmations });
      credited.add(id);
      await save();
      console.log(`credited ${id}: ${amount.quantity} lovelace at ${address}`);
    }
  }
  return waiting;
}

let stale = true;
async function follow(): Promise<void> {
  for await (const _event of client.events(wallet!)) stale = true;
}
async function credit(): Promise<void> {
  for (;; await sleep(LOOK_MS)) {
    if (!stale) continue;
    stale = false;
    if (await look()) stale = true;
  }
}
await Promise.race([follow(), credit()]);
