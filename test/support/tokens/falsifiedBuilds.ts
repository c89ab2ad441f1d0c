/**
 * What a dishonest token service answers to a build: another transaction, with the summary of the true one, the true summary
 * of the other one, or one that lies about what its inputs hold.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { encodeOutput, type NewOutput } from "#src/cardano/transaction.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { noAssets } from "#src/cardano/value.ts";
import { readTransaction } from "#src/contract/summary/readTransaction.ts";
import { bound, type Editable, elements, taken } from "../ledger/editableTransactions.ts";

/** The attacker's address, and another one that she could name. */
export interface Attacker {
  readonly address: string;
}

/** A change of a transaction; undefined where it does not apply. */
type Edit = (edited: Editable, outputs: NewOutput[], attacker: string) => void | false;

const ADA = 1_000_000n;
const body = (field: bigint, value: Encodable): Edit => ({ body }) => void body.set(field, value);
const one = (byte: number, length: number) => new Uint8Array(length).fill(byte);
const certificate = (...parts: readonly Encodable[]): Edit => ({ body }) => void elements(body, 4n).push(parts);
/** Changes the output at an index from the end. */
const last = (change: (output: NewOutput, attacker: string) => Partial<NewOutput>): Edit => (_, outputs, attacker) => {
  const output = outputs.at(-1);
  if (!output) return false;
  outputs[outputs.length - 1] = { ...output, ...change(output, attacker) };
};
const first =
  (change: (output: NewOutput, attacker: string) => Partial<NewOutput> | false): Edit => (_, outputs, attacker) => {
    const [output] = outputs;
    const changed = output && change(output, attacker);
    if (!output || !changed) return false;
    outputs[0] = { ...output, ...changed };
  };
const fee = (by: bigint): Edit => ({ body }) => void body.set(2n, (body.get(2n) as bigint) + by);
/** Changes a byte of the first output's datum, counted from its end; not in what a request offers, which has a limit. */
const datumByte = (at: number): Edit =>
  first(({ datum }) => {
    if (!datum || datum.length < at) return false;
    const changed = new Uint8Array(datum);
    changed[changed.length - at]! ^= 1;
    return { datum: changed };
  });

/** What the transaction itself may be changed to. */
const EDITS: Readonly<Record<string, Edit>> = {
  "pays everything to another": (_, outputs, attacker) => {
    outputs.splice(0, outputs.length, { address: attacker, value: outputs.at(-1)!.value });
  },
  "gives the change to another": last((_, address) => ({ address })),
  "pays another out of the change": (_, outputs, attacker) => {
    const change = outputs.at(-1)!;
    if (change.value.lovelace < 10n * ADA) return false;
    outputs[outputs.length - 1] = { ...change, value: { ...change.value, lovelace: change.value.lovelace - 5n * ADA } };
    outputs.push({ address: attacker, value: { lovelace: 5n * ADA, assets: noAssets } });
  },
  "sends the first output to another": first((_, address) => ({ address })),
  "drops the first output": (_, outputs) => void outputs.shift(),
  "drops the change": (_, outputs) => void outputs.pop(),
  "raises the fee by 100 ada": fee(100n * ADA),
  "raises the fee out of the change": (edited, outputs) => {
    const change = outputs.at(-1)!;
    outputs[outputs.length - 1] = {
      ...change,
      value: { ...change.value, lovelace: change.value.lovelace - 20n * ADA },
    };
    edited.body.set(2n, (edited.body.get(2n) as bigint) + 20n * ADA);
  },
  "has no fee": body(2n, 0n),
  "locks the change in the first output": (_, outputs) => {
    const [state, change] = [outputs[0]!, outputs.at(-1)!];
    if (state === change) return false;
    outputs[0] = {
      ...state,
      value: { ...state.value, lovelace: state.value.lovelace + change.value.lovelace - 2n * ADA },
    };
    outputs[outputs.length - 1] = { ...change, value: { ...change.value, lovelace: 2n * ADA } };
  },
  "adds a datum to the change": last(() => ({ datum: encode(42n) })),
  "withdraws rewards": body(5n, new Map([[new Uint8Array([0xe0, ...one(7, 28)]), 5n * ADA]])),
  "registers a stake key": certificate(0n, [0n, one(7, 28)]),
  "delegates stake": certificate(2n, [0n, one(7, 28)], one(8, 28)),
  "delegates votes": certificate(9n, [0n, one(7, 28)], [2n]),
  "mints": ({ body }) => void body.set(9n, new Map([[one(7, 28), new Map([[one(1, 3), 5n]])]])),
  "is valid for ever": ({ body }) => void body.delete(3n),
  "is valid only later": body(8n, 1n),
  "needs another's signature": ({ body }) => void elements(body, 14n).push(one(7, 28)),
  "spends another output": ({ body }) => void elements(body, 0n).push([one(9, 32), 0n]),
  "puts up more collateral": ({ body }) => body.has(13n) ? void elements(body, 13n).push([one(9, 32), 0n]) : false,
  "returns collateral to another": ({ body }, _, attacker) => {
    if (!body.has(16n)) return false;
    body.set(16n, new Encoded(encodeOutput({ address: attacker, value: { lovelace: 2n * ADA, assets: noAssets } })));
  },
  "keeps the collateral": ({ body }) => body.delete(16n) ? undefined : false,
  "risks 100 ada": ({ body }) => body.has(17n) ? void body.set(17n, 100n * ADA) : false,
  "names no total of collateral": ({ body }) => body.delete(17n) ? undefined : false,
  "reads another output": ({ body }) => void elements(body, 18n).push([one(9, 32), 0n]),
  "states a network": body(15n, 1n),
  "donates": body(22n, 5n * ADA),
  "votes": body(19n, new Map([[[2n, one(7, 28)], new Map([[[one(1, 32), 0n], [1n, null]]])]])),
  "carries metadata": (edited) => {
    edited.auxiliary = new Map([[674n, "text"]]);
    edited.body.set(7n, one(1, 32));
  },
  "has a script fail": (edited) => void (edited.valid = false),
  "has a field that is not known": body(77n, 1n),
  "changes the first datum at its end": datumByte(2),
  "changes the first datum in the middle": datumByte(40),
  "drops the first datum": first(({ datum }) => datum ? { datum: undefined } : false),
};

/** The names of all changes. */
export const EDITED: readonly string[] = Object.keys(EDITS);

/** The transaction (hexadecimal) after a change; undefined where that does not apply. */
export function edited(transaction: string, name: string, attacker: string): string | undefined {
  const bytes = fromHex(transaction);
  const parts = taken(bytes);
  const address = parseAddress(attacker);
  const edit = EDITS[name];
  if (!address.ok || !edit) throw new TypeError(`no change ${name} for ${attacker}`);
  const outputs = readTransaction(bytes).outputs.map(({ address, value, datum, script }): NewOutput => ({
    address,
    value,
    datum,
    script,
  }));
  if (edit(parts, outputs, address.value.hex) === false) return undefined;
  parts.body.set(1n, outputs.map((output) => new Encoded(encodeOutput(output))));
  const changed = toHex(bound(parts));
  return changed === toHex(bound(taken(bytes))) ? undefined : changed;
}

/** How the summary of a changed transaction lies. */
export const LIES = ["none", "the summary of the true one", "inputs that balance", "inputs of the requester"] as const;

type Lie = typeof LIES[number];

/** A false summary. `actual` is that of the changed transaction, `before` that of the true one. */
// deno-lint-ignore no-explicit-any
export function lying(lie: Lie, actual: any, before: any): unknown {
  const changed = structuredClone(actual);
  switch (lie) {
    case "none":
      return changed;
    case "the summary of the true one":
      return before;
    case "inputs that balance": {
      // the first coin holds whatever is missing
      const sum = (list: { amount: { lovelace: number } }[]) =>
        list.reduce((all, { amount }) => all + amount.lovelace, 0);
      const known = changed.spends.flatMap(({ output }: { output: unknown }) => output ? [output] : []);
      const [coin] = known.filter(({ holds }: { holds: unknown }) => holds === null);
      if (coin) {
        coin.amount.lovelace += sum(changed.pays) + Number(changed.fee) - sum(known);
        coin.cbor = null;
        claim(coin);
      }
      changed.balanced = true;
      changed.unknown = [];
      return changed;
    }
    case "inputs of the requester":
      for (const { output } of [...changed.spends, ...changed.collateral?.inputs ?? []]) {
        if (output && output.holds === null) Object.assign(output, { address: before.address, whose: "requester" });
        if (output) claim(output);
      }
      changed.unknown = [];
      return changed;
  }
}

/** The CBOR of a claimed output without a datum, so that it is read as claimed. */
function claim(output: { address: string; amount: { lovelace: number }; holds: unknown; cbor: string | null }): void {
  const address = parseAddress(output.address);
  if (!address.ok || output.holds !== null || output.amount.lovelace <= 0) return;
  const value = { lovelace: BigInt(output.amount.lovelace), assets: noAssets };
  output.cbor = toHex(encodeOutput({ address: address.value.hex, value }));
}
