/** Roots of the unspent outputs in the log of tokens: a reader verifies a list of tokens with the log alone, a witness recomputes them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { verifyTokenList } from "#src/client/ledgerAnswers.ts";
import { pointOf } from "#src/client/ledgerRoot.ts";
import { loggedRoot } from "#src/client/loggedRoot.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { leafBytes, type LogLeaf } from "#src/contract/logLeaf.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { signCheckpoint } from "#src/tlog/checkpoint.ts";
import { LOG_KEY, noteSigner, vkeyOf, WITNESS_KEY } from "#src/tlog/note.ts";
import { addCheckpointText } from "#src/tlog/witness.ts";
import { witness } from "#src/tokens/log/witness.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { http } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";
import { plainRoot } from "../../support/tlog/plainTree.ts";
import { LoggedTokens, TokenLogReader } from "../../support/tlog/tokenLog.ts";

const DEPTH = 2;
const EVERY = 2;
const tokenLog = { depth: DEPTH, snapshots: EVERY };

function valueOf<T>(result: Result<T, Failure>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

describe("snapshots in the log of tokens", () => {
  let infra: Infra;
  let arbor: Arbor;
  let store: Store;
  let people: LoggedTokens;
  let reader: TokenLogReader;
  let policy: string;
  let token: string;
  let folder: string;
  const socket = socketPath();

  beforeAll(async () => {
    infra = await sharedInfra();
    folder = mkdtempSync(path.join(tmpdir(), "arbor-snapshots-"));
    const env = { ARBOR_FOLDER: folder, ARBOR_SOCKET: socket };
    arbor = await Arbor.start({ infra, blockMs: 0, tokenLog, env });
    store = openStore(infra.databaseUrl, { max: 2, application: "test" });
    reader = new TokenLogReader(arbor.tokens);
    policy = `log ${vkeyOf(await reader.key())}\nquorum none\n`;
    people = new LoggedTokens(arbor.tokens, arbor.devnet);
    await people.fund();
    token = await people.boot();
  });
  afterAll(async () => {
    await store?.close();
    await arbor?.end();
    await infra?.stop();
    rmSync(folder, { recursive: true });
  });

  const snapshotOf = (block: string) => fetch(`${arbor.tokens}/log/snapshot.tlog-proof?block=${block}`);
  const snapshots = async () => (await reader.entries()).flatMap((leaf) => leaf.kind === "snapshot" ? [leaf] : []);

  it("are the roots that the instance serves, after every second block", async () => {
    await people.block(6);
    await until("snapshots", async () => (await snapshots()).length >= 3);
    const roots = (await http(arbor.devnet, "GET", "/utxo-csmt/merkle-roots")).body as {
      slotNo: number;
      blockHash: string;
      merkleRoot: string;
    }[];
    const oldestFirst = roots.toReversed();
    const logged = await snapshots();
    expect(logged.map(({ seq }) => seq)).toEqual(logged.map((_, i) => i));
    const places = logged.map(({ block, slot, utxo_root }) => {
      const place = oldestFirst.findIndex(({ blockHash }) => blockHash === block);
      expect(oldestFirst[place]).toEqual({ slotNo: slot, blockHash: block, merkleRoot: utxo_root });
      return place;
    });
    expect(places).toEqual(places.map((_, i) => places[0]! + i * EVERY));
    const entries = await reader.entries();
    expect(entries.map(({ slot }) => slot)).toEqual(entries.map(({ slot }) => slot).toSorted((a, b) => a - b));
    expect((await http(arbor.tokens, "GET", "/log")).body).toMatchObject({ snapshots: EVERY });
  });

  it("take the place of other instances where an answer of their block is verified", async () => {
    const client = new TokenClient(arbor.tokens);
    const answers = [await client.provedTokens()];
    await people.block();
    answers.push(await client.provedTokens());
    await people.block(DEPTH);
    const proofs = await until("one of two blocks in the log", async () => {
      const found = await Promise.all(answers.map((answer) => snapshotOf(pointOf(answer)!.hash)));
      return found.some(({ ok }) => ok) && found;
    });
    const which = proofs.findIndex(({ ok }) => ok);
    expect(proofs[1 - which]?.status).toBe(404);
    const text = await proofs[which]!.text();
    const trusted = valueOf(loggedRoot(text, policy));
    expect(trusted.from).toEqual([expect.stringMatching(/^the log arbor\/42\//)]);
    const verified = valueOf(verifyTokenList(answers[which], { trusted }));
    expect(verified.tokens.map(({ tokenId }) => tokenId)).toEqual([token]);
    expect(verifyTokenList(answers[1 - which], { trusted }).ok).toBe(false);
    const stranger = `log ${vkeyOf(noteSigner("log.example/x", LOG_KEY, new Uint8Array(32).fill(3)))}\nquorum none\n`;
    expect(loggedRoot(text, stranger)).toMatchObject({ error: { code: "not_logged" } });
    expect(loggedRoot(await reader.text("/log/proof/0"), policy).ok).toBe(
      (await reader.entries())[0]?.kind === "snapshot",
    );
  });

  it("are recomputed by a witness, which signs no others", async () => {
    const log = noteSigner("other.example/log", LOG_KEY, new Uint8Array(32).fill(7));
    const signer = noteSigner("w.example", WITNESS_KEY, new Uint8Array(32).fill(8));
    const request = (leaves: readonly LogLeaf[]) => {
      const checkpoint = { origin: log.name, size: leaves.length, root: plainRoot(leaves.map(leafBytes)) };
      return addCheckpointText({ before: 0, proof: [], checkpoint: signCheckpoint(log, checkpoint) });
    };
    const entries = await reader.entries();
    const lie = entries.map((leaf, i) =>
      leaf.kind === "snapshot" && i > 0 ? { ...leaf, utxo_root: toHex(new Uint8Array(32)) } : leaf
    );
    const settings = { witnessFor: [log], snapshots: EVERY };
    expect(await witness(store, signer, settings, request(lie))).toMatchObject({
      status: 422,
      text: expect.stringContaining("with a root of the unspent outputs every 2 blocks"),
    });
    expect(await witness(store, signer, { witnessFor: [log] }, request(lie))).toMatchObject({
      status: 422,
      text: expect.stringContaining("it signs no log with snapshots"),
    });
    expect(await witness(store, signer, settings, request(entries))).toMatchObject({ type: "signed" });
  });

  it("are the same in an instance behind a node, which keeps a root of its own and signs as a witness", async () => {
    const own = await sharedInfra();
    const follower = await Arbor.start({
      infra: own,
      tokenLog,
      env: {
        ARBOR_PROVIDER: "node",
        ARBOR_NODE_SOCKET: socket,
        ARBOR_UTXO_ROOT: path.join(folder, "devnet", "config.json"),
      },
    });
    const ownStore = openStore(own.databaseUrl, { max: 2, application: "test" });
    try {
      await people.block(EVERY);
      const entries = await reader.entries();
      const theirs = await until("as many entries", async () => {
        const found = await new TokenLogReader(follower.tokens).entries();
        return found.length >= entries.length && found;
      }, 60_000);
      expect(theirs.slice(0, entries.length)).toEqual(entries);
      expect(entries.filter(({ kind }) => kind === "snapshot").length).toBeGreaterThan(3);
      const signer = noteSigner("w.example", WITNESS_KEY, new Uint8Array(32).fill(8));
      const settings = { witnessFor: [await reader.key()], snapshots: EVERY };
      const request = addCheckpointText({ before: 0, proof: [], checkpoint: await reader.text("/log/checkpoint") });
      await until("the signature", async () => (await witness(ownStore, signer, settings, request)).type === "signed");
    } finally {
      await ownStore.close();
      await follower.end();
      await own.stop();
    }
  });

  it("are withdrawn by a rollback below the log", async () => {
    const before = await snapshots();
    const gone = before.at(-1)!;
    expect((await http(arbor.devnet, "POST", "/rollback", { slot: gone.slot - 1 })).status).toBe(200);
    await until("a snapshot after the rollback", async () => {
      await people.block();
      return (await snapshots()).length > before.length;
    });
    const after = (await reader.entries()).filter(({ token }) => token === undefined);
    const place = after.findIndex(({ kind }) => kind === "rollback");
    expect(after[place]).toEqual({
      ...{ v: 1, net: 42, kind: "rollback", seq: gone.seq + 1, first: gone.seq, slot: expect.any(Number) },
    });
    expect(after[place + 1]).toMatchObject({ kind: "snapshot", seq: gone.seq + 2 });
    expect((await snapshotOf(gone.block)).status).toBe(404);
  });
});
