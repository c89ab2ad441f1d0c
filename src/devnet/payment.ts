/** Transactions of the faucet: plain payments signed by one key, the change back to where the inputs came from. */
import { fromHex } from "#src/base/bytes.ts";
import { ledgerSize, minFee } from "#src/balance/fee.ts";
import { minUtxo } from "#src/balance/minUtxo.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys.ts";
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { encodeValue, lovelace, subtractValues, sumValues, type Value } from "#src/cardano/value.ts";

/** An output to be made; `script` is the CBOR of a reference script, as in `Output.script`. */
export interface Target {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
  readonly script?: Uint8Array;
}

/** What pays: outputs of one key, where the change goes, and the parameters that the fee follows. */
export interface Payer {
  readonly key: SigningKey;
  /** Bytes of the address in hexadecimal. */
  readonly change: string;
  readonly parameters: Parameters;
}

function encodeTarget(address: string, value: Value, script?: Uint8Array): Uint8Array {
  const fields: [number, Encodable][] = [[0, fromHex(address)], [1, encodeValue(value)]];
  if (script) fields.push([3, new Tagged(24, script)]);
  return encode(new Map(fields));
}

/** The least lovelace that an output can hold. */
export function leastOf(parameters: Parameters, target: Omit<Target, "lovelace">): bigint {
  // 5 bytes of lovelace are the widest that a least amount takes.
  const output = encodeTarget(target.address, lovelace(1n << 31n), target.script);
  return minUtxo(parameters, output.length);
}

/** Outputs that one payment gathers at the most. */
const MAX_INPUTS = 40;

/** A payment out of the first output that suffices, else out of the largest ones together; undefined when those do not suffice either. */
export function payOutOf(payer: Payer, unspent: readonly Utxo[], targets: readonly Target[]): Uint8Array | undefined {
  for (const utxo of unspent) {
    const one = payment(payer, [utxo], targets);
    if (one) return one;
  }
  const amount = ({ output }: Utxo) => output.value.lovelace;
  const largest = [...unspent].sort((a, b) => amount(b) > amount(a) ? 1 : amount(b) < amount(a) ? -1 : 0);
  return payment(payer, largest.slice(0, MAX_INPUTS), targets);
}

/** The CBOR of a signed payment out of some outputs, or undefined when they do not suffice for targets, fee and change. */
export function payment(payer: Payer, inputs: readonly Utxo[], targets: readonly Target[]): Uint8Array | undefined {
  const paid = sumValues(targets.map((target) => lovelace(target.lovelace)));
  const rest = subtractValues(sumValues(inputs.map(({ output }) => output.value)), paid);
  const build = (fee: bigint) => {
    const change = encodeTarget(payer.change, { ...rest, lovelace: rest.lovelace - fee });
    const outputs = [
      ...targets.map((each) => encodeTarget(each.address, lovelace(each.lovelace), each.script)),
      change,
    ];
    return { body: encodeBody(inputs, outputs, fee), change };
  };
  if (rest.lovelace <= 0n) return undefined;
  // A fee between 2^16 and 2^32 takes as many bytes as this one, and change after it no more than before.
  const size = withWitness(build(100_000n).body, publicKey(payer.key), new Uint8Array(64)).length;
  const fee = minFee(payer.parameters, { size: ledgerSize(size) });
  if (rest.lovelace <= fee) return undefined;
  const { body, change } = build(fee);
  if (rest.lovelace - fee < minUtxo(payer.parameters, change.length)) return undefined;
  return withWitness(body, publicKey(payer.key), sign(payer.key, blake2b256(body)));
}

function encodeBody(inputs: readonly Utxo[], outputs: readonly Uint8Array[], fee: bigint): Uint8Array {
  const refs = inputs.map(({ ref }) => ref).sort(compareRefs);
  return encode(
    new Map<number, Encodable>([
      [0, new Tagged(258, refs.map(({ txHash, index }) => [fromHex(txHash), index]))],
      [1, outputs.map((output) => new Encoded(output))],
      [2, fee],
    ]),
  );
}

function withWitness(body: Uint8Array, verification: Uint8Array, signature: Uint8Array): Uint8Array {
  const witnesses = new Map([[0, new Tagged(258, [[verification, signature]])]]);
  return encode([new Encoded(body), witnesses, true, null]);
}
