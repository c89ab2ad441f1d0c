/** Every kind of transaction that the service builds, each with its intent, for tests of summaries. */
import { toHex, utf8 } from "#src/base/bytes.ts";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { type Output, refKey, type Utxo } from "#src/cardano/output.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import type { Built } from "#src/contract/transactions/common.ts";
import { buildEnd } from "#src/contract/transactions/end.ts";
import { buildRequest } from "#src/contract/transactions/request.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildTransfer } from "#src/contract/transactions/transfer.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { summarizeTransaction } from "#src/contract/summary/summarize.ts";
import { readTransaction } from "#src/contract/summary/readTransaction.ts";
import type { Intent, Summary } from "#src/client/summary.ts";
import { factsOf, measure, must, op, Outputs, published, requested, stated } from "../contract/contractLedger.ts";
import { coin, person } from "../wallets/person.ts";

export const alice = person("alice");
export const bob = person("bob");
export const mallory = person("mallory");

/** Text of an address out of its bytes in hexadecimal. */
export function text(hex: string): string {
  const read = readAddressHex(hex);
  if (!read.ok) throw new TypeError(read.error.message);
  return addressText(read.value);
}

/** A request's output in the form of the API. */
export const named = ({ ref }: Utxo) => `${ref.txHash}-${ref.index}`;

/** A transaction of the service, its intent, and the outputs before it. */
export interface Meant {
  readonly name: string;
  readonly transaction: Uint8Array;
  readonly built: Built;
  /** Its summary. */
  readonly summary: Summary;
  readonly intent: Intent;
  readonly known: ReadonlyMap<string, Output>;
  /** Whether the contract runs. */
  readonly runs: boolean;
}

const TOKEN = "ab".repeat(32);

/** All kinds of transactions, the owner's by alice, requests by bob, built on outputs that also hold assets. */
export function meantTransactions(): Meant[] {
  const facts = factsOf(40);
  const state = stated(TOKEN, alice.key, facts);
  const foreign = new Map([["cd".repeat(28) + "01", 7n]]);
  const requests = [
    requested(TOKEN, "new", op.insert("value"), { refund: bob.base }),
    requested(TOKEN, "key 3", op.update("value 3", "other"), { refund: bob.enterprise, fee: 0n }),
    requested(TOKEN, "key 7", op.remove("value 7"), { refund: alice.base }),
  ];
  const outputs = new Outputs(
    published,
    state,
    ...requests,
    coin(alice.base, 30_000_000n),
    coin(alice.base, 9_000_000n, foreign),
    coin(bob.base, 30_000_000n),
    coin(bob.base, 9_000_000n, foreign),
  );
  const known = new Map(outputs.all().map(({ ref, output }) => [refKey(ref), output]));
  const limits = (address: string) => ({
    address: text(address),
    maxFee: 2_000_000n,
    maxLocked: 5_000_000n,
    maxCollateral: 3_000_000n,
    validUntil: outputs.slot + 7_200,
  });
  const owners = limits(alice.base);
  const requesters = limits(bob.base);
  const [insert, update, remove] = requests as [Utxo, Utxo, Utxo];
  const ask = (key: string, operation: ReturnType<typeof op.insert>) =>
    must(buildRequest({ ...outputs.input(bob.base), token: TOKEN, key: utf8(key), operation }));
  const boot = must(buildBoot(outputs.input(alice.base), measure));
  const carried = must(buildBoot(outputs.input(alice.base, { reference: undefined }), measure));
  const apply = (...requests: Utxo[]) => applyAnd([], ...requests);
  const applyAnd = (refuse: readonly Utxo[], ...requests: Utxo[]) =>
    must(buildUpdate({ ...outputs.input(alice.base), state, requests, refuse }, facts, measure));
  const all: readonly [string, Built, Intent][] = [
    ["boot", boot, { type: "boot", token: boot.token, ...owners }],
    ["boot with the script in it", carried, { type: "boot", token: carried.token, ...owners }],
    ["insert", ask("2024", op.insert("cafe")), {
      type: "insert",
      token: TOKEN,
      key: "2024",
      newValue: "cafe",
      ...requesters,
    }],
    ["update", ask("ключ", op.update("", "ü")), {
      type: "update",
      token: TOKEN,
      key: "ключ",
      oldValue: "",
      newValue: "ü",
      ...requesters,
    }],
    ["delete", ask("", op.remove("v")), { type: "delete", token: TOKEN, key: "", oldValue: "v", ...requesters }],
    ["retract", must(buildRetract({ ...outputs.input(bob.base), request: insert }, measure)), {
      type: "retract",
      request: named(insert),
      ...requesters,
    }],
    ["apply one", apply(insert), { type: "apply", token: TOKEN, requests: [named(insert)], ...owners }],
    ["apply three", apply(insert, update, remove), {
      type: "apply",
      token: TOKEN,
      requests: requests.map(named),
      ...owners,
    }],
    ["refuse one", applyAnd([insert]), {
      type: "apply",
      token: TOKEN,
      requests: [],
      refuse: [named(insert)],
      ...owners,
    }],
    ["apply one and refuse two", applyAnd([insert, remove], update), {
      type: "apply",
      token: TOKEN,
      requests: [named(update)],
      refuse: [named(remove), named(insert)],
      ...owners,
    }],
    ["transfer", must(buildTransfer({ ...outputs.input(alice.base), state, to: bob.base }, measure)), {
      type: "transfer",
      token: TOKEN,
      to: text(bob.base),
      ...owners,
    }],
    ["end", must(buildEnd({ ...outputs.input(alice.base), state }, measure)), { type: "end", token: TOKEN, ...owners }],
  ];
  return all.map(([name, built, intent]) => {
    const address = parseAddress(intent.address);
    const summary = summarizeTransaction(readTransaction(built.transaction), known, { address: must(address).hex });
    return {
      name,
      transaction: built.transaction,
      built,
      summary,
      // no more than its value
      intent: { ...intent, maxOffered: summary.requests[0]?.offered },
      known,
      runs: summary.scripts.length > 0,
    };
  });
}

/** A transaction in hexadecimal. */
export const hexOf = ({ transaction }: Meant) => toHex(transaction);
