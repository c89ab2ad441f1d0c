/**
 * Transactions as decoded by a library that the product does not use (Emurgo's serialization library), in plain values.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { toHex } from "#src/base/bytes.ts";
import { type Json, parseJson } from "#src/base/json.ts";

export interface CslOutput {
  /** Bech32. */
  readonly address: string;
  readonly lovelace: bigint;
  /** Quantity by policy and name in hexadecimal, concatenated. */
  readonly assets: Readonly<Record<string, bigint>>;
  readonly datum: boolean;
}

export interface CslTransaction {
  readonly id: string;
  /** Size of the transaction in bytes. */
  readonly size: number;
  /** `hash#index`, sorted. */
  readonly inputs: readonly string[];
  readonly outputs: readonly CslOutput[];
  readonly fee: bigint;
  /** The first slot in which it is no longer valid. */
  readonly ttl: bigint | undefined;
  readonly start: bigint | undefined;
  /** In the library's JSON form. */
  readonly certificates: readonly Json[];
  /** Lovelace by stake address. */
  readonly withdrawals: Readonly<Record<string, bigint>>;
  /** Quantity by policy and name; negative if burned. */
  readonly mint: Readonly<Record<string, bigint>>;
  /** By label, in the tagged form. */
  readonly metadata: Readonly<Record<string, Json>>;
  readonly collateral: readonly string[];
  /** Hashes of the keys that signed, sorted; every signature is valid. */
  readonly signedBy: readonly string[];
  readonly nativeScripts: number;
  readonly bootstrap: number;
}

const hexOf = (text: string) =>
  /^([0-9a-f]{2})+$/i.test(text) ? text : csl.Transaction.from_bytes(bytesOf(text)).to_hex();
const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const list = <T>(from: { len(): number; get(index: number): T } | undefined): T[] =>
  Array.from({ length: from?.len() ?? 0 }, (_, i) => from!.get(i));

/** Decodes a transaction in base 16 or 64. */
export function readByCsl(text: string): CslTransaction {
  const hex = hexOf(text);
  const transaction = csl.FixedTransaction.from_hex(hex);
  const body = transaction.body();
  const witnesses = transaction.witness_set();
  const id = transaction.transaction_hash();
  const signers = list(witnesses.vkeys()).map((witness) => {
    const key = witness.vkey().public_key();
    if (!key.verify(id.to_bytes(), witness.signature())) throw new Error(`a signature of ${id.to_hex()} is invalid`);
    return key.hash().to_hex();
  });
  const withdrawals = body.withdrawals();
  return {
    id: id.to_hex(),
    size: hex.length / 2,
    inputs: refs(body.inputs()),
    outputs: list(body.outputs()).map((output) => ({
      address: output.address().to_bech32(),
      lovelace: BigInt(output.amount().coin().to_str()),
      assets: assetsOf(output.amount().multiasset()),
      datum: output.has_plutus_data() || output.has_data_hash(),
    })),
    fee: BigInt(body.fee().to_str()),
    ttl: big(body.ttl_bignum()),
    start: big(body.validity_start_interval_bignum()),
    certificates: list(body.certs()).map((certificate) => parseJson(certificate.to_json())),
    withdrawals: Object.fromEntries(
      list(withdrawals?.keys()).map((key) => [key.to_address().to_bech32(), BigInt(withdrawals!.get(key)!.to_str())]),
    ),
    mint: mintOf(body.mint()),
    metadata: metadataOf(transaction.auxiliary_data()?.metadata()),
    collateral: refs(body.collateral()),
    signedBy: signers.sort(),
    nativeScripts: witnesses.native_scripts()?.len() ?? 0,
    bootstrap: witnesses.bootstraps()?.len() ?? 0,
  };
}

/**
 * The minimum fee of a signed transaction without scripts by the library's rule, without the byte that it counts and
 * the ledger does not: the script validity flag, which did not exist when the fee rule was made.
 */
export function leastFee(text: string, perByte = 44n, constant = 155_381n): bigint {
  const rule = csl.LinearFee.new(csl.BigNum.from_str(String(perByte)), csl.BigNum.from_str(String(constant)));
  return BigInt(csl.min_fee(csl.Transaction.from_hex(hexOf(text)), rule).to_str()) - perByte;
}

/** The minimum lovelace of an output of a transaction. */
export function leastLovelace(text: string, index: number, perByte = 4_310n): bigint {
  const output = csl.Transaction.from_hex(hexOf(text)).body().outputs().get(index);
  const cost = csl.DataCost.new_coins_per_byte(csl.BigNum.from_str(String(perByte)));
  return BigInt(csl.min_ada_for_output(output, cost).to_str());
}

/** Hash of the payment key of an address, none if it has no key. */
export function paymentKey(address: string): string | undefined {
  const read = csl.Address.from_bech32(address);
  const credential = csl.BaseAddress.from_address(read)?.payment_cred() ??
    csl.EnterpriseAddress.from_address(read)?.payment_cred();
  return credential?.to_keyhash()?.to_hex();
}

const big = (number: csl.BigNum | undefined) => number === undefined ? undefined : BigInt(number.to_str());

const refs = (inputs: csl.TransactionInputs | undefined) =>
  list(inputs).map((input) => `${input.transaction_id().to_hex()}#${input.index()}`).sort();

const assetOf = (policy: csl.ScriptHash, name: csl.AssetName) => policy.to_hex() + toHex(name.name());

function assetsOf(assets: csl.MultiAsset | undefined): Record<string, bigint> {
  return Object.fromEntries(
    list(assets?.keys()).flatMap((policy) => {
      const names = assets!.get(policy)!;
      return list(names.keys()).map((name) => [assetOf(policy, name), BigInt(names.get(name)!.to_str())]);
    }),
  );
}

function mintOf(mint: csl.Mint | undefined): Record<string, bigint> {
  const found: Record<string, bigint> = {};
  for (const policy of list(mint?.keys())) {
    for (const assets of list(mint!.get(policy))) {
      for (const name of list(assets!.keys())) found[assetOf(policy, name)] = BigInt(assets!.get(name)!.to_str());
    }
  }
  return found;
}

function metadataOf(metadata: csl.GeneralTransactionMetadata | undefined): Record<string, Json> {
  return Object.fromEntries(
    list(metadata?.keys()).map((label) => [label.to_str(), tagged(metadata!.get(label)!)]),
  );
}

/** The library's own JSON cannot represent integers beyond 63 bits. */
function tagged(value: csl.TransactionMetadatum): Json {
  switch (value.kind()) {
    case csl.TransactionMetadatumKind.MetadataMap: {
      const map = value.as_map();
      return { map: list(map.keys()).map((k) => ({ k: tagged(k), v: tagged(map.get(k)) })) };
    }
    case csl.TransactionMetadatumKind.MetadataList:
      return { list: list(value.as_list()).map(tagged) };
    case csl.TransactionMetadatumKind.Int:
      return { int: parseJson(value.as_int().to_str()) };
    case csl.TransactionMetadatumKind.Bytes:
      return { bytes: toHex(value.as_bytes()) };
    default:
      return { string: value.as_text() };
  }
}
