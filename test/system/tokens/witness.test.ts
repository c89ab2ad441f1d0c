/**
 * Witnesses: a second instance on the same chain signs the log of the first, because it makes the same entries itself; it
 * refuses what it cannot find on its own chain.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { LOG_KEY, type NoteKey, noteSigner, parseVkey, vkeyOf } from "#src/tlog/note.ts";
import { acceptCheckpoint, parsePolicy } from "#src/tlog/policy.ts";
import { parseLogProof, verifyLogProof } from "#src/tlog/proofFile.ts";
import { leafText } from "#src/contract/logLeaf.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { http } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";
import { OwnedLog } from "../../support/tlog/ownedLog.ts";
import { LoggedTokens, TokenLogReader } from "../../support/tlog/tokenLog.ts";

const DEPTH = 2;
const ORIGIN = "first.example/log";

function keyIn(vkey: string): NoteKey {
  const key = parseVkey(vkey);
  if (!key.ok) throw new Error(key.error.message);
  return key.value;
}

/** A witness that answers nothing but errors. */
async function brokenWitness(): Promise<{ readonly url: string; readonly server: Server; requests: number }> {
  const broken = { url: "", requests: 0, server: undefined as unknown as Server };
  broken.server = createServer((_, response) => {
    broken.requests++;
    response.writeHead(500).end('{"code":"failed","error":"It is out of order."}');
  });
  await new Promise<void>((resolve) => broken.server.listen(0, "127.0.0.1", resolve));
  broken.url = `http://127.0.0.1:${(broken.server.address() as AddressInfo).port}`;
  return broken;
}

describe("a witness", () => {
  const path = socketPath();
  let infras: [Infra, Infra];
  let first: Arbor;
  let second: Arbor;
  let reader: TokenLogReader;
  let people: LoggedTokens;
  let broken: Awaited<ReturnType<typeof brokenWitness>>;
  let logKey: NoteKey;
  let witnessKey: NoteKey;
  let token: string;

  const startFirst = async (witness?: string) => {
    const witnesses = witness === undefined ? [] : [
      { url: "http://127.0.0.1:1" },
      { url: broken.url, key: witnessKey },
      { url: `${witness}/witness` },
    ];
    first = await Arbor.start({
      ...{ infra: infras[0], blockMs: 0, env: { ARBOR_SOCKET: path, ARBOR_HEALTH_PORT: "0" } },
      tokenLog: { origin: ORIGIN, depth: DEPTH, witnesses },
    });
    reader = new TokenLogReader(first.tokens);
    const before = people?.owner;
    people = new LoggedTokens(first.tokens, first.devnet);
    if (before) Object.assign(people, { owner: before });
  };
  const startSecond = async () => {
    second = await Arbor.start({
      infra: infras[1],
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: path },
      tokenLog: { depth: DEPTH, witnessFor: [logKey], witnessName: "second.example/witness" },
    });
  };
  const policy = () => {
    const read = parsePolicy(`log ${vkeyOf(logKey)}\nwitness w ${vkeyOf(witnessKey)}\nquorum w\n`);
    if (!read.ok) throw new Error(read.error.message);
    return read.value;
  };
  const signedBySecond = () =>
    until("the witness's signature", async () => {
      const { note, size } = await reader.checkpoint();
      return size === (await http(first.tokens, "GET", "/log")).body.size && acceptCheckpoint(policy(), note).ok;
    });
  const add = async (body: string) => {
    const response = await fetch(`${second.tokens}/witness/add-checkpoint`, { method: "POST", body });
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };

  beforeAll(async () => {
    infras = [await sharedInfra(), await sharedInfra()];
    broken = await brokenWitness();
    await startFirst();
    logKey = await reader.key();
    await people.fund();
    token = await people.boot();
    await people.insert(token, "a");
    await startSecond();
    witnessKey = keyIn((await http(second.tokens, "GET", "/witness")).body.vkey);
  });
  afterAll(async () => {
    await second?.end();
    await first?.end();
    broken?.server.close();
    await Promise.all((infras ?? []).map((infra) => infra.stop()));
    await rm(path, { force: true });
  });

  it("makes the same entries from its own index", async () => {
    await people.block(DEPTH);
    const leaves = await reader.until(2);
    expect(await new TokenLogReader(second.tokens).until(2)).toEqual(leaves);
    expect((await http(second.tokens, "GET", "/witness")).body).toMatchObject({
      name: "second.example/witness",
      logs: [vkeyOf(logKey)],
    });
  });

  it("has signed nothing before it is requested", async () => {
    const path = `/witness/${toHex(sha256(utf8(ORIGIN)))}/checkpoint`;
    expect(await http(second.tokens, "GET", path)).toMatchObject({ status: 404, body: { code: "no_checkpoint" } });
  });

  it("signs each checkpoint of a log that names it, beside witnesses that are away or out of order", async () => {
    await first.end();
    await startFirst(second.tokens);
    await signedBySecond();
    await people.insert(token, "b");
    await people.block(DEPTH);
    await reader.until(3);
    await signedBySecond();
    expect(broken.requests).toBeGreaterThan(0);
    const file = parseLogProof(await reader.text(`/token/${token}/state.tlog-proof`));
    if (!file.ok) throw new Error(file.error.message);
    const accepted = verifyLogProof(policy(), file.value.extra!, file.value);
    expect(accepted.ok && accepted.value.witnesses.map(({ name }) => name)).toEqual(["w"]);
    const seen = await (await fetch(`${second.tokens}/witness/${toHex(sha256(utf8(ORIGIN)))}/checkpoint`)).text();
    expect(acceptCheckpoint(policy(), seen).ok).toBe(true);
  });

  it("is shown to operators, with what each witness said last", async () => {
    const [away, disordered, good] = [
      { url: "http://127.0.0.1:1", signedAt: null, refusedAt: expect.any(String), refusal: expect.any(String) },
      {
        ...{ url: broken.url, size: 0, signedAt: null, refusedAt: expect.any(String) },
        refusal: "The witness answers 500: It is out of order.",
      },
      { url: `${second.tokens}/witness`, size: 3, signedAt: expect.any(String) },
    ];
    await until("the log as operators see it", async () => {
      const { log } = (await http(first.operator, "GET", "/log")).body;
      return log.witnesses.every(({ size, refusedAt }: Record<string, unknown>) => size === 3 || refusedAt !== null);
    });
    expect((await http(first.operator, "GET", "/log")).body).toMatchObject({
      log: { origin: ORIGIN, vkey: vkeyOf(logKey), size: 3, unlogged: 0, witnesses: [away, disordered, good] },
    });
    const linesOf = async (place: string) => (await (await fetch(`${place}/metrics`)).text()).split("\n");
    for (const lines of [await linesOf(first.operator), await linesOf(first.health)]) {
      expect(lines).toContain("arbor_log_entries 3");
      expect(lines).toContain("arbor_log_unlogged 0");
    }
    const lines = await linesOf(first.operator);
    const counted = (name: string) => lines.find((line) => line.startsWith(`${name}{`) && !line.endsWith(" 0"));
    expect(counted("arbor_log_cosignatures_total")).toContain(`witness="${second.tokens}/witness"`);
    expect(lines.some((line) => line.includes(`{witness="${broken.url}",reason="status_500"}`))).toBe(true);
    expect(lines.some((line) => line.startsWith('arbor_witness_answers_total{answer="signed"}'))).toBe(true);
  });

  it("is requested again when it is back, and the log goes on meanwhile", async () => {
    await second.end();
    await people.insert(token, "c");
    await people.block(DEPTH);
    await reader.until(4);
    expect(acceptCheckpoint(policy(), (await reader.checkpoint()).note).ok).toBe(false);
    // a proof has the newest checkpoint that it signed
    const file = parseLogProof(await reader.text("/log/proof/0"));
    expect(file.ok && acceptCheckpoint(policy(), file.value.checkpoint).ok).toBe(true);
    const port = new URL(second.tokens).port;
    second = await Arbor.start({
      infra: infras[1],
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: path, ARBOR_TOKEN_PORT: port },
      tokenLog: { depth: DEPTH, witnessFor: [logKey], witnessName: "second.example/witness" },
    });
    await signedBySecond();
  });

  describe("answers", () => {
    /** A log under the first one's name whose operator can sign what is not on the chain. */
    const forger = noteSigner("forger.example/log", LOG_KEY, new Uint8Array(32).fill(7));
    /** One whose log has not been signed. */
    const fresh = noteSigner("fresh.example/log", LOG_KEY, new Uint8Array(32).fill(8));

    const forged = (texts: readonly string[], before: number, signer = forger) =>
      new OwnedLog(signer, texts).addCheckpoint(before);

    it("404 to a log that it was not given, 403 to another key, 400 to nonsense", async () => {
      expect((await add(forged(["a"], 0))).status).toBe(404);
      const note = (await reader.checkpoint()).note;
      expect((await add(`old 0\n\n${note.replace(/\n\d+\n/, "\n1\n")}`)).status).toBe(403);
      for (const body of ["", "old", "old 0\n\n", `old 99\n\n${note}`, "\0", "old 0\n".repeat(100)]) {
        expect((await add(body)).status, JSON.stringify(body)).toBe(400);
      }
      expect((await add("x".repeat(70_000))).status).toBe(413);
      expect((await fetch(`${second.tokens}/witness/${"0".repeat(64)}/checkpoint`)).status).toBe(404);
      expect((await fetch(`${second.tokens}/witness/nonsense/checkpoint`)).status).toBe(400);
    });

    it("409 with its size to another old size", async () => {
      const { note, size } = await reader.checkpoint();
      expect(await add(`old 0\n\n${note}`)).toMatchObject({ status: 409, type: "text/x.tlog.size", text: `${size}\n` });
      expect(await add(`old ${size}\n\n${note}`)).toMatchObject({ status: 200 });
    });

    it("422 to entries that are not on its chain, 503 to entries that it has not seen yet", async () => {
      const leaves = await reader.entries();
      await second.end();
      second = await Arbor.start({
        infra: infras[1],
        env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: path },
        tokenLog: { depth: DEPTH, witnessFor: [logKey, forger, fresh], witnessName: "second.example/witness" },
      });
      const texts = leaves.map(leafText);
      const wrong = texts.with(-1, texts.at(-1)!.replace(/"root":"./, '"root":"f'));
      expect(wrong).not.toEqual(texts);
      expect(await add(forged(wrong, 0))).toMatchObject({ status: 422 });
      expect(await add(forged([...texts, "{}"], 0))).toMatchObject({ status: 503 });
      expect(await add(forged(texts, 0))).toMatchObject({ status: 200 });
      // consistent with what it signed, or the same size with another root
      expect(await add(forged(wrong, texts.length))).toMatchObject({ status: 422 });
    });

    it("200 to one alone of several first requests at the same time", async () => {
      const texts = (await reader.entries()).map(leafText);
      const answers = await Promise.all([1, 2, 3, 4].map((size) => add(forged(texts.slice(0, size), 0, fresh))));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      const size = answers.findIndex(({ status }) => status === 200) + 1;
      expect(answers.filter(({ status }) => status === 409).map(({ text }) => text)).toEqual(
        Array(3).fill(`${size}\n`),
      );
    });
  });
});
