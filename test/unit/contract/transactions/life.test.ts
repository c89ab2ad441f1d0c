/** A token's whole life in built transactions, signed by another library and evaluated by the real script machine. */
import { afterEach, describe, expect, test } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { EMPTY_ROOT, type Operation } from "#src/contract/datum.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { buildEnd } from "#src/contract/transactions/end.ts";
import { buildRequest, type BuiltRequest } from "#src/contract/transactions/request.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { judgeApplied, measure, ModelToken, must, op, Outputs } from "../../../support/contract/contractLedger.ts";
import { alice, applyUpdate, bob } from "../../../support/contract/ownedToken.ts";
import { coin, type Person } from "../../../support/wallets/person.ts";

afterEach(judgeApplied);

function boot(outputs: Outputs, who: Person, address: string): ModelToken {
  const built = must(buildBoot(outputs.input(address), measure));
  const { created, fee, least } = outputs.apply(built, who);
  expect(fee).toBe(least);
  return new ModelToken(built.token, created[0]!);
}

function request(
  outputs: Outputs,
  who: Person,
  address: string,
  token: string,
  key: string,
  operation: Operation,
): Utxo {
  const built: BuiltRequest = must(buildRequest({ ...outputs.input(address), token, key: utf8(key), operation }));
  const { created, fee, least } = outputs.apply(built, who);
  expect(fee).toBe(least);
  expect(created[0]!.output.value.lovelace).toBe(built.locked);
  return created[0]!;
}

describe.each([["base", alice.base, bob.base], ["enterprise", alice.enterprise, bob.enterprise]] as const)(
  "a life at %s addresses",
  (_kind, owners, requesters) => {
    test("each with a single output: boot, insert, update, delete, retract, end", () => {
      const outputs = new Outputs(coin(owners, 20_000_000n), coin(requesters, 20_000_000n));
      const token = boot(outputs, alice, owners);
      expect(outputs.at(owners)).toHaveLength(1);
      const change = (key: string, operation: Operation) => {
        const made = request(outputs, bob, requesters, token.token, key, operation);
        const input = { ...outputs.input(owners), state: token.state, requests: [made] };
        applyUpdate(outputs, token, must(buildUpdate(input, token.facts, measure)), [made]);
      };
      change("a", op.insert("1"));
      change("2024", op.insert(""));
      change("a", op.update("1", "ü"));
      change("a", op.remove("ü"));
      change("2024", op.remove(""));
      expect(toHex(token.facts.root)).toBe(EMPTY_ROOT);
      const open = request(outputs, bob, requesters, token.token, "b", op.insert("2"));
      const back = must(buildRetract({ ...outputs.input(requesters), request: open }, measure));
      expect(outputs.apply(back, bob)).toMatchObject({ fee: back.fee, least: back.fee });
      const late = request(outputs, bob, requesters, token.token, "c", op.insert("3"));
      const end = must(buildEnd({ ...outputs.input(owners), state: token.state }, measure));
      expect(outputs.apply(end, alice)).toMatchObject({ fee: end.fee, least: end.fee });
      const afterEnd = must(buildRetract({ ...outputs.input(requesters), request: late }, measure));
      outputs.apply(afterEnd, bob);
      expect(outputs.all().filter(({ output }) => output.datum)).toEqual([]);
    });
  },
);

describe("without a reference script", () => {
  test("the transaction carries the script", () => {
    const outputs = new Outputs(coin(alice.base, 20_000_000n));
    const carried = { reference: undefined };
    const built = must(buildBoot(outputs.input(alice.base, carried), measure));
    const token = new ModelToken(built.token, outputs.apply(built, alice).created[0]!);
    const made = request(outputs, alice, alice.base, token.token, "k", op.insert("v"));
    const updated = must(
      buildUpdate(
        { ...outputs.input(alice.base, carried), state: token.state, requests: [made] },
        token.facts,
        measure,
      ),
    );
    outputs.apply(updated, alice);
    expect(updated.size).toBeGreaterThan(4000);
  });
});
