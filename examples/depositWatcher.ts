/**
 * A deposit watcher, as an exchange runs one: it posts every deposit to a wallet's addresses once enough blocks are on
 * top of it, each output once.
 *
 *     depositWatcher.ts WALLET WEBHOOK STATEFILE
 *
 * Events of the wallet only say when to look: what is credited comes from the list of transactions, with its depth, so
 * that a deposit whose block is rolled back before that is not credited. The state file has the outputs that the webhook
 * has acknowledged. A deposit is posted until then, after a crash again with the same Idempotency-Key: the receiver drops
 * a key that it has seen, and each deposit counts once wherever either of the two is killed.
 */
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, toJson, WalletClient } from "@arbor-cardano/client";

const [wallet = "", webhook = "", stateFile = "", ...more] = process.argv.slice(2);
/** Blocks on top of a deposit before it is credited; on mainnet, more for greater amounts. */
const { CONFIRMATIONS = "10", ARBOR_WALLETS_URL = "http://127.0.0.1:8090/v2" } = process.env;
/** Milliseconds between two looks while a deposit waits for blocks. */
const LOOK_MS = 2_000;

if (!stateFile || more.length > 0 || !URL.canParse(webhook) || !/^\d{1,6}$/.test(CONFIRMATIONS)) {
  console.error("usage: depositWatcher.ts WALLET WEBHOOK STATEFILE, with a number of blocks in CONFIRMATIONS");
  process.exit(2);
}
const depth = Number(CONFIRMATIONS);
const client = new WalletClient(ARBOR_WALLETS_URL);
const credited = await readState();

/** The credited outputs. A file that cannot be read ends the program: without it all deposits would be credited again. */
async function readState(): Promise<Set<string>> {
  if (!existsSync(stateFile)) return new Set();
  try {
    const ids: unknown = JSON.parse(await readFile(stateFile, "utf8"));
    if (Array.isArray(ids) && ids.every((id) => /^[0-9a-f]{64}#\d+$/.test(id))) return new Set(ids);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  console.error(`${stateFile} is not a state file of this program: restore it.`);
  process.exit(2);
}

/** Writes the file as a whole: after a crash it has its old content or the new one. */
async function saveState(): Promise<void> {
  await writeFile(`${stateFile}.new`, JSON.stringify([...credited]), { flush: true });
  await rename(`${stateFile}.new`, stateFile);
}

/** Posts until the webhook acknowledges. */
async function post(key: string, body: unknown): Promise<void> {
  for (let wait = 1_000;; wait = Math.min(60_000, wait * 2)) {
    try {
      const headers = { "content-type": "application/json", "idempotency-key": key };
      const signal = AbortSignal.timeout(30_000);
      const response = await fetch(webhook, { method: "POST", headers, body: toJson(body), signal });
      await response.body?.cancel();
      if (response.ok) return;
      console.error(`${webhook} answers ${response.status}`);
    } catch (error) {
      console.error(String(error));
    }
    await sleep(wait);
  }
}

/** Whether a look is due, and whether it begins with the first transaction: at the start, and after a rollback. */
let [stale, fromStart] = [true, true];
/** Time of a block up to which every deposit is credited: a look begins there. */
let since: string | undefined;

/** Posts what is deep enough; gives whether a deposit still waits for blocks. */
async function look(): Promise<boolean> {
  const isWhole = fromStart;
  if (isWhole) [fromStart, since] = [false, undefined];
  const own = new Set((await client.addresses(wallet)).map(({ id }) => id));
  const lost = new Set(credited);
  let waiting = false;
  let settled = since;
  let after: string | undefined;
  do {
    const page = await client.transactionPage(wallet, { order: "ascending", start: since, limit: 500, after });
    for (const { id: hash, direction, status, depth: above, inserted_at, outputs } of page.entries) {
      if (direction !== "incoming" || status !== "in_ledger") continue;
      const confirmations = Number(above?.quantity ?? 0);
      for (const [index, { address, amount, assets }] of outputs.entries()) {
        const id = `${hash}#${index}`;
        lost.delete(id);
        if (!own.has(address) || credited.has(id)) continue;
        if (confirmations < depth) {
          waiting = true;
          continue;
        }
        await post(id, { wallet, output: id, address, lovelace: amount.quantity, assets, confirmations });
        credited.add(id);
        await saveState();
        console.log(`credited ${id}: ${amount.quantity} lovelace at ${address}`);
      }
      if (!waiting && confirmations >= depth) settled = inserted_at?.time;
    }
    after = page.after;
  } while (after !== undefined);
  since = settled;
  // a rollback of more than CONFIRMATIONS blocks: a person has to look at it
  if (isWhole) { for (const id of lost) console.error(`ALARM: ${id} was credited, and is not on the ledger now`); }
  return waiting;
}

async function follow(): Promise<void> {
  for await (const { type } of client.events(wallet)) {
    if (type === "rolled_back") fromStart = true;
    stale = true;
  }
}

async function credit(): Promise<void> {
  for (;; await sleep(LOOK_MS)) {
    if (!stale) continue;
    stale = false;
    try {
      if (await look()) stale = true;
    } catch (error) {
      stale = true;
      throw error;
    }
  }
}

/** Runs until a failure that does not pass; the service may be away, or restart. */
async function persist(run: () => Promise<void>): Promise<void> {
  for (;; await sleep(LOOK_MS)) {
    try {
      await run();
    } catch (error) {
      const passes = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
      if (!passes) throw error;
      console.error(error.message);
    }
  }
}

try {
  await Promise.all([persist(follow), persist(credit)]);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
