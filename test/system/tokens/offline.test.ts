/** A fact proven without a network: written by the command line from a service, verified after the service has ended. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyOffline } from "#src/client/offlineProof.ts";
import { leafBytes, parseLeaf, type StateLeaf } from "#src/contract/logLeaf.ts";
import { parseCheckpoint, signCheckpoint } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import { cosignText, LOG_KEY, noteSigner, noteText, vkeyOf, WITNESS_KEY } from "#src/tlog/note.ts";
import { logProofText, parseLogProof } from "#src/tlog/proofFile.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { LoggedTokens, TokenLogReader } from "../../support/tlog/tokenLog.ts";

const DEPTH = 2;
const NOWHERE = "http://127.0.0.1:1";

describe("an offline proof", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "arbor-offline-"));
  const file = (name: string) => path.join(folder, name);
  let infra: Infra;
  let arbor: Arbor;
  let token: string;
  let policy: string;

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, blockMs: 0, tokenLog: { origin: "log.example/offline", depth: DEPTH } });
    const people = new LoggedTokens(arbor.tokens, arbor.devnet);
    await people.fund();
    token = await people.boot();
    await people.insert(token, "planet", "Earth");
    const prove = (...args: string[]) =>
      runCli(["token", "prove", token, ...args, "--offline"], { env: { ARBOR_TOKENS_URL: arbor.tokens } });
    expect(await prove("planet")).toMatchObject({ code: 1, stderr: expect.stringContaining("(not_logged)") });
    const waiting = prove("planet", "moon", "--wait", "60");
    // states do not enter the log while the command waits, unless blocks come
    await people.block(DEPTH);
    const written = await waiting;
    expect(written).toMatchObject({ code: 0, stderr: "" });
    writeFileSync(file("proof.json"), written.stdout);
    policy = `log ${vkeyOf(await new TokenLogReader(arbor.tokens).key())}\n`;
    writeFileSync(file("policy.txt"), `${policy}quorum none\n`);
    await arbor.end();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await infra?.stop();
  });

  const verify = (name: string, ...args: string[]) =>
    runCli(["verify", file(name), "--policy", file("policy.txt"), ...args], { env: { ARBOR_TOKENS_URL: NOWHERE } });
  const content = () => JSON.parse(readFileSync(file("proof.json"), "utf8"));

  it("verifies after the service has ended, and says what was checked and what was not", async () => {
    const { code, stdout, stderr } = await verify("proof.json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^Checked:\n- Under the key "planet" the value is "Earth": its proof leads to the root [0-9a-f]{64}\.\n/,
    );
    expect(stdout).toContain('- Under the key "moon" there is no fact');
    expect(stdout).toContain(`says that this is the root of the token ${token}`);
    expect(stdout).toMatch(/\nNot checked:\n- Whether the token has a later state now/);
    expect(stdout).toContain("no witness of the policy signed");
    expect(JSON.parse((await verify("proof.json", "--json")).stdout)).toMatchObject({
      token,
      facts: [{ key: "planet", included: true, value: "Earth" }, { key: "moon", included: false }],
      checkpoint: { origin: "log.example/offline" },
      leaf: { kind: "update", seq: 1, net: 42 },
    });
  });

  it("verifies under a policy with a quorum once witnesses have signed", async () => {
    const witness = noteSigner("w.example", WITNESS_KEY, new Uint8Array(32).fill(3));
    const strict = `${policy}witness w ${vkeyOf(witness)}\nquorum w\n`;
    const given = content();
    expect(verifyOffline(given, strict)).toMatchObject({
      ok: false,
      error: { code: "not_logged", details: { reason: "no_quorum" } },
    });
    const proof = parseLogProof(given.log);
    if (!proof.ok) throw new Error(proof.error.message);
    const checkpoint = parseCheckpoint(proof.value.checkpoint);
    if (!checkpoint.ok) throw new Error(checkpoint.error.message);
    const { note } = checkpoint.value;
    const signed = noteText({
      ...note,
      signatures: [...note.signatures, cosignText(witness, note.text, 1_795_862_400)],
    });
    const cosigned = { ...given, log: logProofText({ ...proof.value, checkpoint: signed }) };
    const verified = verifyOffline(cosigned, strict);
    expect(verified.ok && verified.value.checked.at(-1)).toBe(
      "The witness w signed that tree; it says on 2026-11-28T10:40:00.000Z.",
    );
    const forged = cosignText({ ...witness, seed: new Uint8Array(32).fill(4) }, note.text, 1);
    const checkpointForged = noteText({ ...note, signatures: [...note.signatures, forged] });
    expect(verifyOffline({ ...given, log: logProofText({ ...proof.value, checkpoint: checkpointForged }) }, strict))
      .toMatchObject({ ok: false, error: { details: { reason: "bad_signature" } } });
  });

  it("verifies with no other root, key, value, state, log or policy", () => {
    const plain = `${policy}quorum none\n`;
    const given = content();
    expect(verifyOffline(given, plain).ok).toBe(true);
    const proof = parseLogProof(given.log);
    if (!proof.ok) throw new Error(proof.error.message);
    const leaf = parseLeaf(proof.value.extra!) as StateLeaf;
    const withLeaf = (other: Partial<StateLeaf>) => ({
      ...given,
      log: logProofText({ ...proof.value, extra: leafBytes({ ...leaf, ...other }) }),
    });
    const fact = (change: object) => ({ ...given, facts: [{ ...given.facts[0], ...change }] });
    const stranger = noteSigner("log.example/offline", LOG_KEY, new Uint8Array(32).fill(9));
    const own = leafBytes({ ...leaf, root: "ab".repeat(32) });
    const ownLog = {
      ...given,
      log: logProofText({
        ...{ extra: own, index: 0, hashes: [] },
        checkpoint: signCheckpoint(stranger, { origin: stranger.name, size: 1, root: leafHash(own) }),
      }),
    };
    const wrong: readonly (readonly [unknown, string])[] = [
      ...[undefined, null, 1, "x", [], {}, { ...given, format: "x" }, { ...given, facts: [] }, {
        ...given,
        facts: [null],
      }, { ...given, log: "" }]
        .map((one) => [one, "malformed"] as const),
      [withLeaf({ root: "cd".repeat(32) }), "not_logged"],
      [withLeaf({ seq: 0, kind: "boot" }), "not_logged"],
      [withLeaf({ net: 1 }), "not_logged"],
      [withLeaf({ kind: "end" }), "other_state"],
      [ownLog, "not_logged"],
      [fact({ valueHex: "00", value: "\0" }), "proof_fails"],
      [fact({ keyHex: "00", key: "\0" }), "other_question"],
      [fact({ keyHex: undefined }), "malformed"],
      [fact({ included: false, value: undefined, valueHex: undefined }), "proof_fails"],
      [fact({ outputRefId: `${"00".repeat(32)}-0` }), "other_state"],
      [fact({ root: "00".repeat(32) }), "other_state"],
      [fact({ tokenId: "00".repeat(32) }), "other_state"],
      [fact({ stateOutput: undefined }), "other_state"],
      [fact({ proof: given.facts[1].proof }), "proof_fails"],
    ];
    for (const [one, code] of wrong) {
      expect(verifyOffline(one, plain), JSON.stringify(one)?.slice(0, 200)).toMatchObject({
        ok: false,
        error: { code },
      });
    }
    expect(verifyOffline(given, `log ${vkeyOf(stranger)}\nquorum none\n`)).toMatchObject({
      ok: false,
      error: { code: "not_logged" },
    });
    expect(verifyOffline(given, "quorum none\n")).toMatchObject({
      ok: false,
      error: { details: { reason: "unknown_log" } },
    });
    expect(verifyOffline(given, "")).toMatchObject({ ok: false, error: { code: "bad_policy" } });
  });

  it("is refused by the command line with a code", async () => {
    writeFileSync(file("nonsense.json"), "{");
    writeFileSync(file("empty.json"), "{}");
    expect(await verify("nonsense.json")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("(malformed)"),
    });
    expect(await verify("empty.json")).toMatchObject({ code: 1, stderr: expect.stringContaining("(malformed)") });
    expect(await verify("absent.json")).toMatchObject({ code: 1, stderr: expect.stringContaining("(file_not_read)") });
    const without = await runCli(["verify", file("proof.json")], { env: {} });
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining("(untrusted)") });
  });
});
