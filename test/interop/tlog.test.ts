/**
 * The log of tokens with readers and a witness of others (Go): torchwood verifies checkpoints, tiles, entries and proofs, and
 * requests signatures of our witness; transparency-dev's witness signs our log.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type {} from "./build.ts";
import { leafText } from "#src/contract/logLeaf.ts";
import { LOG_KEY, noteSigner, parseVkey, vkeyOf } from "#src/tlog/note.ts";
import { readLogKey, readWitness } from "#src/tokens/log/settings.ts";
import { socketPath } from "../support/chain/nodeChain.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { Arbor } from "../support/service/arbor.ts";
import { until } from "../support/base/until.ts";
import { http } from "../support/service/user.ts";
import { LoggedTokens, TokenLogReader } from "../support/tlog/tokenLog.ts";

const peer = inject("tlogPeer");
const run = promisify(execFile);
const DEPTH = 2;
const ORIGIN = "log.example/interop";

/** The witness of transparency-dev for a log; it ends with its input. */
async function foreignWitness(vkey: string) {
  const child = spawn(peer, ["witness", vkey, "foreign.example/witness"], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line") as [string];
  const [key = "", url = ""] = line.split(" ");
  const end = async () => {
    const ended = once(child, "exit");
    child.stdin.end();
    await ended;
  };
  return { key, url, end };
}

describe.skipIf(peer === "")("the log of tokens, read and signed by others", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-tlog-"));
  const socket = socketPath();
  const file = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  let infras: readonly [Infra, Infra];
  let arbor: Arbor;
  let other: Arbor;
  let people: LoggedTokens;
  let reader: TokenLogReader;
  let vkey: string;
  let token: string;
  let foreign: Awaited<ReturnType<typeof foreignWitness>>;

  const start = async (witness?: string) => {
    const address = witness === undefined ? undefined : readWitness(witness);
    if (address?.ok === false) throw new Error(address.error.message);
    arbor = await Arbor.start({
      ...{ infra: infras[0], blockMs: 0, env: { ARBOR_SOCKET: socket } },
      tokenLog: { origin: ORIGIN, depth: DEPTH, witnesses: address ? [address.value] : [] },
    });
    reader = new TokenLogReader(arbor.tokens);
    const owner = people?.owner;
    people = new LoggedTokens(arbor.tokens, arbor.devnet);
    if (owner) Object.assign(people, { owner });
  };

  beforeAll(async () => {
    infras = [await sharedInfra(), await sharedInfra()];
    await start();
    vkey = vkeyOf(await reader.key());
    await people.fund();
    token = await people.boot();
    await people.insert(token, "a");
    await people.block(DEPTH);
    await reader.until(2);
    const key = readLogKey(vkey);
    if (!key.ok) throw new Error(key.error.message);
    other = await Arbor.start({
      infra: infras[1],
      env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: socket },
      tokenLog: { depth: DEPTH, witnessFor: [key.value] },
    });
    await new TokenLogReader(other.tokens).until(2);
    foreign = await foreignWitness(vkey);
  });
  afterAll(async () => {
    await foreign?.end();
    await other?.end();
    await arbor?.end();
    await Promise.all((infras ?? []).map((infra) => infra.stop()));
    await rm(socket, { force: true });
    rmSync(folder, { recursive: true, force: true });
  });

  it("has checkpoints, tiles and entries that torchwood verifies", async () => {
    const { stdout } = await run(peer, ["read", `${arbor.tokens}/log`, file("policy", `log ${vkey}\nquorum none\n`)]);
    const leaves = await reader.entries();
    expect(JSON.parse(stdout)).toEqual({
      ...{ origin: ORIGIN, size: leaves.length, signers: [ORIGIN] },
      entries: leaves.map(leafText),
    });
  });

  it("has no checkpoints for torchwood under another key", async () => {
    const stranger = vkeyOf(noteSigner(ORIGIN, LOG_KEY, new Uint8Array(32).fill(1)));
    const reading = run(peer, ["read", `${arbor.tokens}/log`, file("stranger", `log ${stranger}\nquorum none\n`)]);
    await expect(reading).rejects.toThrow(/no verifiable signatures/);
  });

  it("has a witness that signs what torchwood requests, from each old size", async () => {
    const { body: { vkey: witnessKey } } = await http(other.tokens, "GET", "/witness");
    const submit = async (old: number) =>
      (await run(peer, ["submit", `${arbor.tokens}/log`, vkey, `${other.tokens}/witness`, witnessKey, String(old)]))
        .stdout;
    expect(await submit(1)).toBe("409 text/x.tlog.size 0\n");
    const cosigned = await submit(0);
    expect(cosigned.slice(0, 4)).toBe("200 ");
    expect(cosigned.slice(4)).toContain(parseVkey(witnessKey).ok ? `\n\u2014 ${witnessKey.split("+")[0]} ` : "");
    expect((await submit(2)).slice(0, 4)).toBe("200 ");
    await people.insert(token, "b");
    await people.block(DEPTH);
    await reader.until(3);
    await new TokenLogReader(other.tokens).until(3);
    expect((await submit(2)).slice(0, 4)).toBe("200 ");
    expect(await submit(2)).toBe("409 text/x.tlog.size 3\n");
  });

  it("is signed by transparency-dev's witness, and torchwood accepts the signature and the proofs", async () => {
    await arbor.end();
    await start(`${foreign.key} ${foreign.url}`);
    const policy = file("cosigned", `log ${vkey}\nwitness w ${foreign.key}\nquorum w\n`);
    const read = () =>
      run(peer, ["read", `${arbor.tokens}/log`, policy]).then(({ stdout }) => JSON.parse(stdout), () => undefined);
    await until("the witness's signature", async () => (await read())?.size === 3);
    await people.insert(token, "c");
    await people.block(DEPTH);
    await until("the witness's next signature", async () => (await read())?.size === 4);
    expect((await read()).signers).toEqual([ORIGIN, "foreign.example/witness"]);
    for (const [index, leaf] of (await reader.entries()).entries()) {
      const proof = file("entry.tlog-proof", await reader.text(`/log/proof/${index}`));
      expect((await run(peer, ["proof", policy, proof])).stdout).toBe(`${leafText(leaf)}\n`);
    }
    const state = file("state.tlog-proof", await reader.text(`/token/${token}/state.tlog-proof`));
    expect((await run(peer, ["proof", policy, state])).stdout).toContain('"seq":3');
  });
});
