/** A token of Alice's with any facts, for tests of builds; updates are applied to its ledger and its model, and checked. */
import { expect } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { decodeDatum, type Operation } from "#src/contract/datum.ts";
import type { BuildInput } from "#src/contract/transactions/common.ts";
import type { BuiltUpdate } from "#src/contract/transactions/update.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { ModelToken, Outputs, requested, stated } from "./contractLedger.ts";
import { coin, person } from "../wallets/person.ts";

export const alice = person("alice");
export const bob = person("bob");

/** The token's name. */
export const NAME = "5a".repeat(32);

/** A request for the token, as if Bob had made it. */
export function asked(key: string, operation: Operation, more?: Parameters<typeof requested>[3]): Utxo {
  return requested(NAME, key, operation, more);
}

/** `count` requests for the token, each inserts `v` at a new key. */
export const askedNew = (count: number, more?: Parameters<typeof requested>[3]): Utxo[] =>
  Array.from({ length: count }, (_, i) => asked(`new ${i}`, { type: "insert", value: Uint8Array.of(0x76) }, more));

/** The token in a model and in a ledger of its own. */
export class OwnedToken extends ModelToken {
  readonly outputs: Outputs;

  /** Beside its state, the ledger has `others`, and `coins`: Alice's 50 ada unless given. */
  constructor(facts = new Forestry(), others: readonly Utxo[] = [], coins = [coin(alice.base, 50_000_000n)]) {
    super(NAME, stated(NAME, alice.key, facts), facts);
    this.outputs = new Outputs(...coins, this.state, ...others);
  }

  /** The inputs of an update. */
  input(requests: readonly Utxo[], more: Partial<BuildInput> = {}, address = alice.base) {
    return { ...this.outputs.input(address, more), state: this.state, requests };
  }

  /** Applies an update that Alice signs, as {@link applyUpdate} does. */
  apply(built: BuiltUpdate, apply: readonly Utxo[], refuse: readonly Utxo[] = []) {
    return applyUpdate(this.outputs, this, built, apply, refuse);
  }
}

/**
 * Applies an update that applies and refuses these requests to the ledger and to the token's model, and checks its root
 * and each refund.
 */
export function applyUpdate(
  outputs: Outputs,
  token: ModelToken,
  update: BuiltUpdate,
  apply: readonly Utxo[],
  refuse: readonly Utxo[] = [],
): ReturnType<Outputs["apply"]> {
  const ordered = [...new Set([...apply, ...refuse])].sort((a, b) => compareRefs(a.ref, b.ref));
  const isApplied = new Set(apply);
  const namesOf = (is: boolean) => ordered.filter((one) => isApplied.has(one) === is).map(({ ref }) => refKey(ref));
  expect(update.applied).toEqual(namesOf(true));
  expect(update.refused).toEqual(namesOf(false));
  const applied = outputs.apply(update, alice);
  const [state, ...refunds] = applied.created;
  token.follow(state!, ordered.filter((one) => isApplied.has(one)));
  expect(toHex(token.facts.root)).toBe(update.root);
  for (const [i, request] of ordered.entries()) {
    const datum = decodeDatum(request.output.datum!);
    if (datum?.type !== "request") throw new TypeError("no request");
    const { fee, refund } = datum.request;
    const { value } = request.output;
    const { output } = refunds[i]!;
    expect(output.value).toEqual(isApplied.has(request) ? lovelace(value.lovelace - fee) : value);
    expect(output.address.slice(2, 58)).toBe(refund.payment);
  }
  return applied;
}
