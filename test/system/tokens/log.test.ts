/** The log of tokens: what becomes final enters it, nothing leaves it, and each part of it can be verified by a reader. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromUtf8 } from "#src/base/bytes.ts";
import { openStore } from "#src/store/store.ts";
import { acceptCheckpoint, parsePolicy } from "#src/tlog/policy.ts";
import { parseLogProof, verifyLogProof } from "#src/tlog/proofFile.ts";
import { vkeyOf } from "#src/tlog/note.ts";
import { parseLeaf, type StateLeaf } from "#src/contract/logLeaf.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";
import { LoggedTokens, TokenLogReader } from "../../support/tlog/tokenLog.ts";

const DEPTH = 3;
const ORIGIN = "log.example/devnet";

describe("the log of tokens", () => {
  let infra: Infra;
  let arbor: Arbor;
  let reader: TokenLogReader;
  let people: LoggedTokens;
  let token: string;

  const start = async () => {
    arbor = await Arbor.start({ infra, blockMs: 0, tokenLog: { origin: ORIGIN, depth: DEPTH } });
    reader = new TokenLogReader(arbor.tokens);
    const before = people?.owner;
    people = new LoggedTokens(arbor.tokens, arbor.devnet);
    if (before) Object.assign(people, { owner: before });
  };
  const policy = async () => {
    const read = parsePolicy(`log ${vkeyOf(await reader.key())}\nquorum none\n`);
    if (!read.ok) throw new Error(read.error.message);
    return read.value;
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    await start();
    await people.fund();
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("begins with a signed checkpoint of no entries", async () => {
    expect(await reader.checkpoint()).toMatchObject({ origin: ORIGIN, size: 0 });
    expect((await http(arbor.tokens, "GET", "/log")).body).toMatchObject({ origin: ORIGIN, size: 0, depth: DEPTH });
    expect(await http(arbor.tokens, "GET", "/log/proof/0")).toMatchObject({
      status: 404,
      body: { code: "not_logged" },
    });
    expect(await http(arbor.tokens, "GET", "/log/tile/0/000.p/1")).toMatchObject({ status: 404 });
  });

  it("has a state once its block has enough blocks above it", async () => {
    token = await people.boot();
    const state = (await http(arbor.tokens, "GET", `/token/${token}`)).body;
    await people.block(DEPTH - 1);
    const early = await http(arbor.tokens, "GET", `/token/${token}/state.tlog-proof`);
    expect(early).toMatchObject({ status: 404, body: { code: "not_logged" } });
    await people.block();
    const [leaf, ...more] = await reader.until(1);
    expect(more).toEqual([]);
    expect(leaf).toEqual({
      ...{ v: 1, net: 42, kind: "boot", token, seq: 0, root: state.root, ref: state.outputRefId.replace("-", "#") },
      policy: expect.any(String),
      slot: expect.any(Number),
    });
  });

  it("has updates and the end, each provable by its output", async () => {
    const updates = [await people.insert(token, "a"), await people.insert(token, "b")];
    const other = await people.boot();
    await people.end(token);
    await people.block(DEPTH);
    const leaves = await reader.until(5) as readonly StateLeaf[];
    expect(leaves.map(({ kind, seq, token }) => [kind, seq, token])).toEqual([
      ["boot", 0, token],
      ["update", 1, token],
      ["update", 2, token],
      ["boot", 0, other],
      ["end", 3, token],
    ]);
    expect(leaves.map(({ ref }) => ref.slice(0, 64)).slice(1, 3)).toEqual(updates);
    expect(leaves[4]).toMatchObject({ ref: leaves[2]!.ref, root: leaves[2]!.root });
    for (const [index, leaf] of leaves.entries()) {
      const path = leaf.kind === "end"
        ? `/token/${leaf.token}/state.tlog-proof`
        : `/token/${leaf.token}/state.tlog-proof?outputRefId=${leaf.ref.replace("#", "-")}`;
      const file = await reader.text(path);
      expect(file).toBe(await reader.text(`/log/proof/${index}`));
      const proof = parseLogProof(file);
      if (!proof.ok) throw new Error(proof.error.message);
      expect(parseLeaf(proof.value.extra!)).toEqual(leaf);
      expect(verifyLogProof(await policy(), proof.value.extra!, proof.value).ok).toBe(true);
    }
    expect(acceptCheckpoint(await policy(), (await reader.checkpoint()).note).ok).toBe(true);
    expect(
      (await http(
        arbor.tokens,
        "GET",
        `/token/${other}/state.tlog-proof?outputRefId=${leaves[0]!.ref.replace("#", "-")}`,
      )).status,
    ).toBe(404);
  });

  it("is served so that caches may keep all but the checkpoint", async () => {
    const headers = async (path: string) => (await fetch(arbor.tokens + path)).headers;
    expect((await headers("/log/tile/0/000.p/5")).get("cache-control")).toContain("immutable");
    expect((await headers("/log/tile/entries/000.p/2")).get("cache-control")).toContain("immutable");
    const checkpoint = await headers("/log/checkpoint");
    expect([checkpoint.get("content-type"), checkpoint.get("cache-control")]).toEqual([
      "text/plain; charset=UTF-8",
      "public, max-age=1",
    ]);
    expect(fromUtf8(await reader.bytes("/log/tile/entries/000.p/1"))).toContain('"kind":"boot"');
  });

  it.each([
    ...["/log/tile/0/000", "/log/tile/0/0", "/log/tile/1/000.p/1", "/log/tile/entries/001.p/1", "/log/tile/8/000.p/1"],
    ...["/log/tile/0/..%2f..%2fcheckpoint", "/log/proof/5", "/log/proof/9007199254740991"],
  ])("answers 404 for %s", async (path) => expect((await http(arbor.tokens, "GET", path)).status).toBe(404));

  it.each([
    "/log/proof/-1",
    "/log/proof/01",
    "/log/proof/1e1",
    "/log/proof/99999999999999999",
    "/log/checkpoint?size=3",
  ])(
    "answers 400 for %s",
    async (path) => expect((await http(arbor.tokens, "GET", path)).status).toBe(400),
  );

  it("keeps its key and its entries over a restart", async () => {
    const [key, checkpoint] = [await reader.key(), await reader.checkpoint()];
    await arbor.end();
    await start();
    expect(await reader.key()).toEqual(key);
    expect(await reader.checkpoint()).toEqual(checkpoint);
    expect(arbor.printed).not.toContain(checkpoint.note.slice(-20));
  });

  it("is made again from the index alone, with the same entries and checkpoint", async () => {
    const [entries, { note }] = [await reader.entries(), await reader.checkpoint()];
    await arbor.end();
    const store = openStore(infra.databaseUrl, { max: 1, application: "test" });
    await store.sql`delete from log_checkpoint`;
    await store.sql`delete from log_entry`;
    await store.sql`delete from log_tile`;
    await store.sql`update log_head set slot = -1, size = 0`;
    // as in a database of an earlier release, where states that ended no request have no position
    await store.sql`update token_state set position = null where ref in (
      select ref from token_state s where root = ${"0".repeat(64)})`;
    await store.close();
    await start();
    expect(await reader.until(entries.length)).toEqual(entries);
    expect((await reader.checkpoint()).note).toBe(note);
  });

  it("has a state that a rollback moved before it was final only where it is final", async () => {
    const before = await reader.entries();
    const moved = await people.boot();
    expect((await http(arbor.devnet, "POST", "/rollback", { blocks: 1, drop: true })).status).toBe(200);
    const after = await grown(before.length + 1);
    expect(after.slice(0, before.length)).toEqual(before);
    // the service submits it again
    expect(after.slice(before.length)).toMatchObject([{ kind: "boot", token: moved, seq: 0 }]);
  });

  it("says in an entry what a rollback took away that was final, and rewrites nothing", async () => {
    const before = await reader.entries();
    const withdrawn = before.at(-1) as StateLeaf;
    const key = await reader.key();
    expect((await http(arbor.devnet, "POST", "/rollback", { slot: withdrawn.slot - 1, drop: true })).status).toBe(200);
    const after = await grown(before.length + 2);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length)).toMatchObject([
      { kind: "rollback", token: withdrawn.token, first: 0, seq: 1, slot: expect.any(Number) },
      { kind: "boot", token: withdrawn.token, ref: withdrawn.ref, seq: 2 },
    ]);
    expect((after.at(-1) as StateLeaf).slot).toBeGreaterThan(withdrawn.slot);
    expect(await reader.key()).toEqual(key);
    const proof = parseLogProof(await reader.text(`/token/${withdrawn.token}/state.tlog-proof`));
    expect(proof.ok && proof.value.index).toBe(before.length + 1);
  });

  /** The entries, once blocks have made them that many. */
  async function grown(size: number) {
    await until(`${size} entries`, async () => {
      await people.block();
      return (await reader.checkpoint()).size >= size;
    });
    return await reader.entries();
  }
});
