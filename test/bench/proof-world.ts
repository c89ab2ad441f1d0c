/**
 * A database with many unspent outputs and facts, and the routes that prove from it: outputs of other addresses, states and
 * requests of the contract, a token whose facts have changed, and one with as many facts as one answer proves. The rows are
 * those that a devnet and the follower write.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { OpenAPIHono } from "@hono/zod-openapi";
import { startBuilders } from "#src/app/threads/builders.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import { utxoRootRoutes } from "#src/chain/utxoRoot/routes.ts";
import { changeOf, encodeRequest, encodeState } from "#src/contract/datum.ts";
import { cageScript } from "#src/contract/script.ts";
import { devnetUtxoRoot } from "#src/devnet/utxoRoot.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { bucketOf, cutOf } from "#src/forestry/cut.ts";
import { migrate } from "#src/store/migrations.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { LOG_KEY, type NoteSigner } from "#src/tlog/note.ts";
import { factRoutes } from "#src/tokens/http/factRoutes.ts";
import { historyRoutes } from "#src/tokens/http/history.ts";
import { logRoutes } from "#src/tokens/http/log.ts";
import { openRequestRoutes } from "#src/tokens/http/openRequests.ts";
import { proofRoutes } from "#src/tokens/http/proofs.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { tokenRoutes } from "#src/tokens/http/tokens.ts";
import { CUT_ABOVE } from "#src/tokens/index/trie.ts";
import { logSigner, witnessSigner } from "#src/tokens/log/keys.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";
import { migrationsOf } from "../support/infra/migrationsOf.ts";
import { TokenWithFacts } from "../support/tokens/factAnswers.ts";
import { storeToken } from "../support/tokens/tokenRows.ts";
import { digest, fill, outputsOf, plant } from "./utxo-root.ts";

const MAGIC = 42;
const OWNER = "cd".repeat(28);

/** States and requests among the outputs. */
const STATES = 1_000;
const REQUESTS = 1_000;

/** States of the token whose facts change, after its first one: a fact changes in each. */
export const CHANGES = 100;

/** The key that every tenth of them changes. */
export const CHANGED_KEY = "key 0";

/** Facts of the token that one answer proves at most. */
const MOST_FACTS = 50_000;

/** Tokens whose states fill the log, and states of them in a block. */
const LOGGED_TOKENS = 1_000;
const STATES_OF_BLOCK = 50;

const address = scriptAddress(0, cageScript.hash).hex;

function stateOutput(txHash: string, token: string, root: string): Utxo {
  const value = { lovelace: 2_000_000n, assets: new Map([[cageScript.hash + token, 1n]]) };
  return {
    ref: { txHash, index: 0 },
    output: madeOutput({ address, value, datum: encodeState({ owner: OWNER, root }) }),
  };
}

function requestOutput(n: number, name: string): Utxo {
  const datum = encodeRequest({
    ...{ policy: cageScript.hash, name, refund: { payment: OWNER }, fee: 300_000n },
    ...{ key: utf8(`new key ${n}`), operation: { type: "insert", value: utf8(`value ${n}`) } },
  });
  const value = { lovelace: 1_500_000n, assets: new Map<string, bigint>() };
  return { ref: { txHash: digest(`request ${n}`), index: 0 }, output: madeOutput({ address, value, datum }) };
}

/** How many outputs, and facts of the token whose facts change. */
export interface ProofWorldSize {
  readonly outputs: number;
  readonly facts: number;
}

export interface ProofWorld {
  readonly store: Store;
  readonly app: OpenAPIHono;
  /** The token whose facts change, with its newest state. */
  readonly token: { readonly id: string; readonly root: string; readonly output: Utxo };
  /** The token whose facts one answer proves. */
  readonly listed: TokenWithFacts;
  readonly log: NoteSigner;
  readonly witness: NoteSigner;
  readonly settings: LogSettings;
  readonly magic: number;
  stop(): Promise<void>;
}

/** Makes the database; the log has no entry yet. */
export async function openProofWorld({ outputs, facts }: ProofWorldSize): Promise<ProofWorld> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const store = openStore(postgres.url);
  const builders = startBuilders({ log: silentLog });
  const stop = async () => {
    await builders.stop();
    await store.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const tables = ["runtime", "devnet", "chain/index", "tokens/index", "tokens/log"];
    await migrate(store, migrationsOf(...tables));
    await builders.warm();
    const made = (size: number) => new Map(Array.from({ length: size }, (_, n) => [`key ${n}`, `value ${n}`] as const));
    const changing = new TokenWithFacts(made(facts), OWNER, digest("the token whose facts change"));
    const listed = new TokenWithFacts(made(Math.min(facts, MOST_FACTS)), OWNER, digest("the token that is listed"));
    for (const one of [changing, listed]) await storeToken(store, one, 0, one.facts.size > CUT_ABOVE);
    const output = await changeFacts(store, changing);
    await fill(store, contractAnd(outputs, [output, listed.state], changing.token));
    await store.sql`insert into devnet_block (height, slot, hash, issuer, major, minor, transactions)
      values (0, 1, ${digest("block")}, '', 10, 0, 0)`;
    await plant(store.sql, outputs);
    await store.sql`analyze`;
    const [log, witness] = [await logSigner(store.sql, MAGIC, {}), await witnessSigner(store.sql, MAGIC, {})];
    const settings: LogSettings = { depth: 0, witnesses: [], witnessFor: [{ ...log, type: LOG_KEY }] };
    const app = new OpenAPIHono();
    const reads = devnetUtxoRoot(store);
    const service = {
      ...{ store, builders, networkId: 0, networkMagic: MAGIC, tokenLog: settings, utxoRoot: reads },
      limited: (_: unknown, make: () => Promise<unknown>) => make(),
    } as unknown as TokenService;
    utxoRootRoutes(app, { reads, network: 0 });
    for (const add of [tokenRoutes, factRoutes, openRequestRoutes, historyRoutes, proofRoutes]) add(app, service);
    logRoutes(app, service);
    const token = { id: changing.token, root: toHex(changing.trie.root), output };
    return { store, app, token, listed, log, witness, settings, magic: MAGIC, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Outputs of the contract, and as many others as are missing. */
function* contractAnd(size: number, states: readonly Utxo[], token: string): Iterable<Utxo> {
  yield* states;
  for (let n = states.length; n < STATES; n++) {
    yield stateOutput(digest(`state ${n}`), digest(`token ${n}`), digest(`root ${n}`));
  }
  for (let n = 0; n < REQUESTS; n++) yield requestOutput(n, token);
  yield* outputsOf(size - STATES - REQUESTS);
}

/** Slot of a state of the token whose facts change: after the first measured blocks, among the states that fill the log. */
const slotOf = (state: number) => 1_000 + 10 * state;

/** Changes a fact in each of some states, in the token's trie and in the rows; gives the newest state. */
async function changeFacts({ sql }: Store, { token, trie, facts, state }: TokenWithFacts): Promise<Utxo> {
  const cut = facts.size > CUT_ABOVE;
  const values = new Map(facts);
  let before = state;
  for (let i = 1; i <= CHANGES; i++) {
    const [slot, key] = [slotOf(i), i % 10 === 0 ? CHANGED_KEY : `key ${i}`];
    const [keyBytes, old, value] = [key, values.get(key)!, `value of the state ${i}`].map(utf8) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const change = changeOf(keyBytes, { type: "update", old, value });
    const done = trie.change(change);
    if (!done.ok || change.type !== "update") throw new Error("the fact does not change");
    values.set(key, `value of the state ${i}`);
    const after = stateOutput(digest(`change ${i}`), token, toHex(trie.root));
    const [ref, request, place] = [refKey(after.ref), `${digest(`ended request ${i}`)}#0`, toHex(change.path)];
    const [entry, number] = [`${token}:${place}`, bucketOf(change.path)];
    const { output } = requestOutput(i, token);
    await sql.begin(async (sql) => {
      await sql`update token_state set to_slot = ${slot} where ref = ${refKey(before.ref)}`;
      await sql`insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, position) values (
        ${ref}, ${token}, ${OWNER}, ${toHex(trie.root)}, ${after.output.raw}, ${facts.size}, ${cut}, ${slot}, 65536)`;
      await sql`update fact set to_slot = ${slot} where entry = ${entry} and to_slot is null`;
      await sql`insert into fact (entry, token, bucket, path, key, value, digest, from_slot) values (${entry}, ${token},
        ${entry.slice(0, token.length + 4)}, ${place}, ${keyBytes}, ${value}, ${change.value}, ${slot})`;
      await sql`insert into token_request (ref, token, owner, refund_address, fee, type, path, key, old_value, new_value,
        lovelace, output, from_slot, to_slot, position) values (${request}, ${token}, ${OWNER}, '', 300000, 'update',
        ${place}, ${keyBytes}, ${old}, ${value}, 1500000, ${output.raw}, ${slot - 1}, ${slot}, 65536)`;
      await sql`insert into token_request_end (ref, token, entry, status, tx, position, from_slot) values (
        ${request}, ${token}, ${entry}, 'applied', ${after.ref.txHash}, 65536, ${slot})`;
      if (!cut) return;
      const hash = cutOf(trie).slice(32 * number, 32 * number + 32);
      await sql`update token_bucket set to_slot = ${slot} where token = ${token} and bucket = ${number} and to_slot is null`;
      await sql`insert into token_bucket (token, bucket, hash, from_slot) values (${token}, ${number}, ${hash}, ${slot})`;
    });
    before = after;
  }
  return before;
}

/**
 * Writes blocks with states of many tokens, as the follower does: `count` states from number `from` on, all in one block, or
 * in as many as it takes to have the newest state of the token whose facts change among them. Gives the newest slot.
 */
export async function addStates({ sql }: Store, from: number, count: number, oneBlock: boolean): Promise<number> {
  const { output } = stateOutput(digest("output"), digest("token"), digest("root"));
  return await sql.begin(async (sql) => {
    const { slot: tip, height } = await onlyRow(sql<{ slot: bigint; height: bigint }[]>`
      select slot, height from chain_cursor`);
    const first = Math.max(Number(tip), 0) + 1;
    const blocks = oneBlock ? 1 : Math.max(Math.ceil(count / STATES_OF_BLOCK), slotOf(CHANGES) + 1);
    const each = Math.max(1, Math.ceil(count / blocks));
    await sql`
      insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, position)
      select encode(sha256(convert_to('logged ' || n, 'UTF8')), 'hex') || '#0',
        encode(sha256(convert_to('logged token ' || n % ${LOGGED_TOKENS}::int, 'UTF8')), 'hex'), ${OWNER},
        encode(sha256(convert_to('logged root ' || n, 'UTF8')), 'hex'), ${output.raw}, 0, false,
        ${first}::int + (n - ${from}::int) / ${each}::int, 65536 * (n % ${each}::int)
      from generate_series(${from}::int, ${from + count - 1}::int) n`;
    await sql`
      update token_state s set to_slot = t.from_slot
      from generate_series(${from}::int, ${from + count - 1}::int) n
      join token_state t on t.ref = encode(sha256(convert_to('logged ' || n, 'UTF8')), 'hex') || '#0'
      where s.ref = encode(sha256(convert_to('logged ' || n - ${LOGGED_TOKENS}::int, 'UTF8')), 'hex') || '#0'`;
    const [slot, hash, top] = [first + blocks - 1, digest(`chain ${from}`), Number(height) + blocks];
    await sql`insert into chain_block (slot, hash, height) values (${slot}, ${hash}, ${top})`;
    await sql`update chain_cursor set slot = ${slot}, hash = ${hash}, height = ${top}, tip_slot = ${slot}, tip_height = ${top}`;
    return slot;
  });
}
