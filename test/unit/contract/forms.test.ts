/**
 * One datum has many encodings. A reader of the ledger must read each encoding that the contract applies in the same
 * way as the contract, otherwise a change could be made that the reader does not see.
 */
import { describe, expect, it } from "vitest";
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { encode, head } from "#src/cardano/cbor.ts";
import { Constr, type Data, decodeData, encodeData, isData } from "#src/cardano/data.ts";
import { lovelace } from "#src/cardano/value.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { datumData, decodeDatum, EMPTY_ROOT, type Request, type State } from "#src/contract/datum.ts";
import { op, slots } from "../../support/contract/contractLedger.ts";
import { complete } from "../../support/contract/judgedTransaction.ts";
import { utxo } from "../../support/wallets/person.ts";
import {
  accepted,
  alice,
  bob,
  cage,
  owner,
  policy,
  requestFields,
  stateOf,
  updating,
  type Whole,
} from "../../support/contract/wholeTransaction.ts";

const TOKEN = "5a".repeat(32);
const BREAK = Uint8Array.of(0xff);

/** The encoding of each kind of data; kinds that are not given have the usual one. */
interface Style {
  readonly int?: (value: bigint) => Uint8Array;
  readonly bytes?: (value: Uint8Array) => Uint8Array;
  readonly constr?: (tag: number, fields: readonly Uint8Array[]) => Uint8Array;
}

const definite = (fields: readonly Uint8Array[]) => concat(head(4, fields.length), ...fields);
const indefinite = (fields: readonly Uint8Array[]) => concat(Uint8Array.of(0x9f), ...fields, BREAK);
/** A head whose argument takes eight bytes, however small it is. */
function long(major: number, argument: bigint): Uint8Array {
  const out = new Uint8Array(9);
  out[0] = (major << 5) | 27;
  new DataView(out.buffer).setBigUint64(1, argument);
  return out;
}
const pieces = (value: Uint8Array, size: number) => {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < value.length; at += size) parts.push(encode(value.slice(at, at + size)));
  return parts;
};
const chunked = (...parts: readonly Uint8Array[]) => concat(Uint8Array.of(0x5f), ...parts, BREAK);
function big(value: bigint, zeros: number): Uint8Array {
  const hex = value.toString(16);
  return concat(
    head(6, 2),
    encode(
      concat(
        new Uint8Array(zeros),
        value === 0n ? new Uint8Array() : fromHex(hex.padStart(hex.length + hex.length % 2, "0")),
      ),
    ),
  );
}

const STYLES: Readonly<Record<string, Style>> = {
  "as ever": {},
  "lists of known length": { constr: (tag, fields) => concat(head(6, 121 + tag), definite(fields)) },
  "lists of unknown length": { constr: (tag, fields) => concat(head(6, 121 + tag), indefinite(fields)) },
  "constructors by number": {
    constr: (tag, fields) => concat(head(6, 102), definite([encode(tag), definite(fields)])),
  },
  "great integers": { int: (value) => big(value, 0) },
  "great integers with zeros before them": { int: (value) => big(value, 3) },
  "long heads of integers": { int: (value) => long(0, value) },
  "long heads of bytes": { bytes: (value) => concat(long(2, BigInt(value.length)), value) },
  "long heads of lists": {
    constr: (tag, fields) => concat(head(6, 121 + tag), long(4, BigInt(fields.length)), ...fields),
  },
  "long heads of tags": { constr: (tag, fields) => concat(long(6, BigInt(121 + tag)), definite(fields)) },
  "bytes in one piece": { bytes: (value) => chunked(encode(value)) },
  "bytes one by one": { bytes: (value) => chunked(...pieces(value, 1)) },
  "bytes with empty pieces": {
    bytes: (value) => chunked(encode(new Uint8Array()), encode(value), encode(new Uint8Array())),
  },
};

/** Data.hs of Plutus decodes it (`decodeConstrExtended`), neither of the machines here does. */
const UNREAD: Style = {
  constr: (tag, fields) => concat(head(6, 102), indefinite([encode(tag), indefinite(fields)])),
};

function written(data: Data, style: Style): Uint8Array {
  if (typeof data === "bigint") return style.int ? style.int(data) : encode(data);
  if (data instanceof Uint8Array) return style.bytes ? style.bytes(data) : encode(data);
  if (!(data instanceof Constr)) throw new TypeError("datums of the contract have no lists and no maps");
  const fields = data.fields.map((field) => written(field, style));
  return style.constr
    ? style.constr(Number(data.tag), fields)
    : concat(head(6, 121 + Number(data.tag)), indefinite(fields));
}

describe.each(Object.entries(STYLES))("a datum in %s", (_, style) => {
  const requests = [
    requestFields(TOKEN, "", op.insert(""), { refund: { payment: alice.key } }),
    requestFields(TOKEN, "a", op.insert("1"), { refund: { payment: bob.key, stake: { kind: "key", hash: bob.key } } }),
  ];

  it("of a request is read if it is applied", () => {
    const odd = requests.map((one) => {
      const datum = decodeDatum(one.utxo.output.datum!)!;
      const cbor = written(datumData(datum), style);
      expect(decodeDatum(cbor), toHex(cbor)).toEqual(datum);
      expect(isData(cbor)).toBe(true);
      return { ...one, utxo: utxo({ address: cage, value: lovelace(2_000_000n), datum: cbor }, one.utxo.ref) };
    });
    expect(accepted(updating(TOKEN, odd).whole)).toBe(true);
  });

  it("of a state is read if the token continues", () => {
    const plan = updating(TOKEN, requests);
    const state: State = { owner: owner.key, root: toHex(plan.after) };
    const datum = written(datumData({ type: "state", state }), style);
    expect(decodeDatum(datum)).toEqual({ type: "state", state });
    const next = { ...stateOf(TOKEN, plan.after), datum };
    expect(accepted({ ...plan.whole, outputs: [next, ...plan.whole.outputs.slice(1)] })).toBe(true);
    const other = written(datumData({ type: "state", state: { ...state, root: EMPTY_ROOT } }), style);
    expect(accepted({ ...plan.whole, outputs: [{ ...next, datum: other }, ...plan.whole.outputs.slice(1)] })).toBe(
      false,
    );
  });
});

describe("a request in a form that the machine does not decode", () => {
  const one = requestFields(TOKEN, "a", op.insert("1"));
  const datum = decodeDatum(one.utxo.output.datum!)!;
  const cbor = written(datumData(datum), UNREAD);
  const plan = updating(TOKEN, [{ ...one, utxo: utxo({ ...one.utxo.output, datum: cbor }, one.utxo.ref) }]);
  const evaluated = (whole: Whole) => {
    const { transaction, utxos } = complete(whole);
    return evaluateScripts({ transaction, utxos, parameters, slots }).ok;
  };

  it("does not block updates", () => {
    expect(decodeDatum(cbor)).toEqual(datum);
    expect(isData(cbor)).toBe(true);
    expect(evaluated(plan.whole)).toBe(true);
    expect(evaluated({ ...plan.whole, signers: [alice.key] })).toBe(false);
  });
});

it("no constructor with a large number is confused with another", () => {
  for (
    const [cbor, tag] of [
      ["d866821b002000000000000180", 2n ** 53n + 1n],
      ["d8669f1bffffffffffffffff80ff", 2n ** 64n - 1n],
    ] as const
  ) {
    expect(isData(fromHex(cbor))).toBe(true);
    expect(decodeData(fromHex(cbor))).toEqual(new Constr(tag, []));
  }
});

describe("keys and values of every length", () => {
  it.each([0, 1, 31, 32, 33, 63, 64, 65, 128, 129, 1_000])("%i bytes", (length) => {
    const key = "k".repeat(length);
    const one = requestFields(TOKEN, key, op.insert("v".repeat(length)));
    const plan = updating(TOKEN, [one]);
    expect(accepted(plan.whole)).toBe(true);
    const datum = decodeDatum(one.utxo.output.datum!);
    const request: Request | undefined = datum?.type === "request" ? datum.request : undefined;
    expect(request?.key).toEqual(utf8(key));
    expect(request?.policy).toBe(policy);
    // the same proof for another key or value
    for (
      const other of [
        requestFields(TOKEN, key + "k", one.operation),
        requestFields(TOKEN, key, op.insert("v".repeat(length + 1))),
      ]
    ) {
      const spends = plan.whole.spends.map((spend) => spend.utxo === one.utxo ? { ...spend, utxo: other.utxo } : spend);
      expect(accepted({ ...plan.whole, spends })).toBe(false);
    }
    expect(encodeData(datumData(datum!))).toEqual(one.utxo.output.datum);
  });
});
