/** Builds that are refused, and the reasons. */
import { afterEach, describe, expect, test } from "vitest";
import { utf8 } from "#src/base/bytes.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { buildEnd } from "#src/contract/transactions/end.ts";
import { offeredFee } from "#src/contract/transactions/fee.ts";
import { buildRequest } from "#src/contract/transactions/request.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import type { UnappliedRequest } from "#src/contract/transactions/updateRequests.ts";
import { cageScript } from "#src/contract/script.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import {
  factsOf,
  judgeApplied,
  measure,
  must,
  op,
  Outputs,
  requested,
} from "../../../support/contract/contractLedger.ts";
import { alice, asked, bob, NAME, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { assetId, coin } from "../../../support/wallets/person.ts";

afterEach(judgeApplied);

const { outputs: rich, facts, state } = new OwnedToken(
  factsOf(3),
  [],
  [coin(alice.base, 100_000_000n), coin(bob.base, 100_000_000n)],
);

describe("the requester of a build", () => {
  const script = scriptAddress(0, "ab".repeat(28)).hex;
  const main = "61" + alice.enterprise.slice(2);
  test.each([["a script", script, "kind"], ["mainnet", main, "network"], ["no address", "00", "kind"]])(
    "%s",
    (_, address, reason) => {
      const refused = { ok: false, error: { code: "bad_address", details: { reason } } };
      const input = rich.input(address);
      expect(buildBoot(input, measure)).toMatchObject(refused);
      expect(buildRequest({ ...input, token: NAME, key: utf8("k"), operation: op.insert("v") })).toMatchObject(refused);
      expect(buildUpdate({ ...input, state, requests: [] }, facts, measure)).toMatchObject(refused);
      expect(buildEnd({ ...input, state }, measure)).toMatchObject(refused);
      expect(buildRetract({ ...input, request: state }, measure)).toMatchObject(refused);
    },
  );

  test("only the owner updates and ends, only the requester retracts", () => {
    const refused = { ok: false, error: { code: "not_owner" } };
    const input = rich.input(bob.base);
    const request = asked("k", op.insert("v"), { refund: alice.base });
    expect(buildUpdate({ ...input, state, requests: [request] }, facts, measure)).toMatchObject(refused);
    expect(buildEnd({ ...input, state }, measure)).toMatchObject(refused);
    expect(buildRetract({ ...input, request }, measure)).toMatchObject(refused);
    expect(buildRetract({ ...input, request: state }, measure)).toMatchObject(refused);
  });
});

describe("named requests are all applied or none", () => {
  const update = (...requests: ReturnType<typeof asked>[]) =>
    buildUpdate({ ...rich.input(alice.base), state, requests }, facts, measure);

  test("each that blocks the update has its reason", () => {
    const reasons = [
      ["fact_exists", asked("key 0", op.insert("v"))],
      ["fact_missing", asked("none", op.update("a", "b"))],
      ["fact_missing", asked("none", op.remove("a"))],
      ["fact_differs", asked("key 1", op.update("other", "b"))],
      ["fact_differs", asked("key 1", op.remove("other"))],
      ["other_token", requested("00".repeat(32), "k", op.insert("v"))],
      ["other_token", state],
      ["not_applicable", asked("k", op.insert("v"), { assets: new Map([[assetId(1, 1), 1n]]) })],
      ["not_applicable", asked("k", op.insert("v"), { script: new Uint8Array([0x82, 0x03, 0x41, 0x00]) })],
      ["not_applicable", asked("k", op.insert("v"), { fee: 2_500_000n })],
      ["not_applicable", asked("k", op.insert("v"), { fee: 4_000_000n })],
    ] as const;
    for (const [code, request] of reasons) {
      expect(update(request)).toMatchObject({
        error: { code: "requests_fail", details: { requests: [{ request: refKey(request.ref), code }] } },
      });
    }
    const good = asked("fresh", op.insert("v"));
    const all = update(...reasons.map(([, request]) => request), good);
    if (all.ok) throw new Error("built");
    const { requests } = all.error.details as { requests: readonly UnappliedRequest[] };
    expect(requests).toHaveLength(reasons.length);
    expect(requests.map(({ request }) => request)).not.toContain(refKey(good.ref));
    expect(update(good).ok).toBe(true);
  });

  test("facts that do not match the state", () => {
    const request = asked("k", op.insert("v"));
    expect(buildUpdate({ ...rich.input(alice.base), state, requests: [request] }, new Forestry(), measure))
      .toMatchObject({ error: { code: "state_differs" } });
  });

  test("a proof that the script does not accept gives no transaction", () => {
    const request = asked("k", op.insert("v"));
    const foreign = { ...rich.input(alice.base), state, requests: [request] };
    const refusing = buildUpdate(
      foreign,
      facts,
      () => ({ ok: false, kind: "refused", message: "Error evaluated", logs: ["modify: no"] }),
    );
    expect(refusing).toMatchObject({ error: { code: "script_refused", details: { logs: ["modify: no"] } } });
  });
});

describe("money", () => {
  test("with the shortfall added every build succeeds", () => {
    const request = asked("fresh", op.insert("v"), { fee: 0n, refund: alice.base });
    const builds = {
      boot: (outputs: Outputs) => buildBoot(outputs.input(alice.base), measure),
      request: (outputs: Outputs) =>
        buildRequest({ ...outputs.input(alice.base), token: NAME, key: utf8("k"), operation: op.insert("v") }),
      update: (outputs: Outputs) =>
        buildUpdate({ ...outputs.input(alice.base), state, requests: [request] }, facts, measure),
      end: (outputs: Outputs) => buildEnd({ ...outputs.input(alice.base), state }, measure),
      retract: (outputs: Outputs) => buildRetract({ ...outputs.input(alice.base), request }, measure),
    };
    for (const [what, build] of Object.entries(builds)) {
      for (const held of [0n, 100_000n]) {
        const have = held > 0n ? [coin(alice.base, held)] : [];
        const refused = build(new Outputs(...have, state, request));
        if (refused.ok) throw new Error(`${what} was built with ${held} lovelace`);
        expect(refused.error, what).toMatchObject({ code: "not_enough_money" });
        const { shortfall } = refused.error.details as { shortfall: bigint };
        expect(shortfall).toBeGreaterThan(0n);
        const outputs = new Outputs(coin(alice.base, held + shortfall), state, request);
        outputs.apply(must<Parameters<Outputs["apply"]>[0]>(build(outputs)), alice);
      }
    }
  });
});

describe("facts too large for a transaction", () => {
  const build = (length: number, address = alice.base) =>
    buildRequest({ ...rich.input(address), token: NAME, key: utf8("k"), operation: op.insert("v".repeat(length)) });

  test("the reported limit works, and little more does not", () => {
    const refused = build(30_000);
    if (refused.ok) throw new Error("built");
    expect(refused.error).toMatchObject({ code: "too_large", details: { what: "fact", size: 30_001 } });
    const { limit } = refused.error.details as { limit: number };
    expect(limit).toBeGreaterThan(15_000);
    expect(build(limit - 1).ok).toBe(true);
    expect(build(limit + 70)).toMatchObject({ ok: false });
  });

  test("an update of a large value by another one names the way by two requests", () => {
    const update = (old: number, value: number) =>
      buildRequest({
        ...rich.input(alice.base),
        token: NAME,
        key: utf8("k"),
        operation: op.update("o".repeat(old), "v".repeat(value)),
      });
    const hint = /by two requests/;
    expect(update(15_000, 15_000)).toMatchObject({
      error: { code: "too_large", message: expect.stringMatching(hint) },
    });
    expect(update(100, 16_000)).toMatchObject({
      error: { code: "too_large", message: expect.not.stringMatching(hint) },
    });
  });

  test("the largest fact can be applied, retracted, and removed", () => {
    const refused = build(30_000);
    const { limit } = (refused.ok ? undefined : refused.error.details) as { limit: number };
    const value = "v".repeat(limit - 1);
    const token = new OwnedToken(factsOf(3), [], [coin(alice.base, 200_000_000n)]);
    const { outputs } = token;
    for (const operation of [op.insert(value), op.remove(value)]) {
      const requested = must(buildRequest({ ...outputs.input(alice.base), token: NAME, key: utf8("k"), operation }));
      const request = outputs.apply(requested, alice).created[0]!;
      expect(requested.locked).toBeGreaterThan(65_000_000n);
      must(buildRetract({ ...outputs.input(alice.base), request }, measure));
      token.apply(must(buildUpdate(token.input([request]), token.facts, measure)), [request]);
    }
  });
});

describe("settings", () => {
  const ask = (settings: Parameters<typeof buildRequest>[0]["settings"], horizon?: number) =>
    must(
      buildRequest({
        ...rich.input(alice.base, { settings }),
        horizon,
        token: NAME,
        key: utf8("k"),
        operation: op.insert("v"),
      }),
    );

  test("a transaction is valid for two hours, or as configured, and never beyond the node's horizon", () => {
    expect(ask(undefined).validTo).toBe(1000 + 7200);
    expect(ask({ validForMs: 60_000 }).validTo).toBe(1060);
    expect(ask({ validForMs: 1 }).validTo).toBe(1001);
    expect(ask({ validForMs: 1e12 }).validTo).toBe(1000 + 36 * 3600);
    expect([1600, 9000, 900].map((horizon) => ask(undefined, horizon).validTo)).toEqual([1599, 8200, 1001]);
    expect(scanTransaction(ask(undefined).transaction)).toMatchObject({ validTo: 8200 });
    expect(scanTransaction(ask(undefined).transaction).validFrom).toBeUndefined();
  });

  test("the deposit covers the refund and the offered fee", () => {
    expect(ask({ offeredFee: 0n })).toMatchObject({ offered: 0n });
    const dear = ask({ offeredFee: 50_000_000n });
    expect(dear.locked - dear.offered).toBe(969_750n);
    const usual = ask(undefined);
    expect(usual.offered).toBe(offeredFee(parameters, cageScript.compiledCode, false));
    expect(usual.locked).toBeGreaterThanOrEqual(usual.offered + 969_750n);
  });

  test("the default fee pays for an update of its own at 10,000 facts", () => {
    const large = new OwnedToken(factsOf(10_000));
    const fees: bigint[] = [];
    for (let i = 0; i < 60; i++) {
      const operation = [op.insert("new"), op.update(`value ${i}`, "newer"), op.remove(`value ${i}`)][i % 3]!;
      const request = asked(i % 3 === 0 ? `fresh ${i}` : `key ${i}`, operation);
      fees.push(must(buildUpdate(large.input([request]), large.facts, measure)).fee);
    }
    const offered = offeredFee(parameters, cageScript.compiledCode, false);
    const mean = fees.reduce((sum, fee) => sum + fee, 0n) / 60n;
    expect(fees.filter((fee) => fee > offered)).toEqual([]);
    expect(offered).toBeLessThan((mean * 110n) / 100n);
  });
});
