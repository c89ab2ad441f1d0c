/** Transactions with any content, written and signed field by field for the chains that the explorer's oracle judges. */
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { compareRefs, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { inLedgerOrder, REDEEMER_TAGS, type RedeemerFor, redeemerIndices } from "#src/cardano/transaction.ts";
import { addAssets, type Assets, encodeAssets, noAssets, sumValues } from "#src/cardano/value.ts";
import { type Extras, output } from "../ledger/draft.ts";

/** An output to be written. */
export interface ExplorerOutput extends Extras {
  /** Bytes of the address, in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
}

/** Content of a transaction. Its inputs pay for everything; the remainder goes to `change`. */
export interface ExplorerDraft {
  readonly inputs: readonly Utxo[];
  readonly change: string;
  readonly outputs?: readonly ExplorerOutput[];
  readonly fee?: bigint;
  readonly mint?: Assets;
  readonly certificates?: readonly Encodable[];
  /** Deposits less refunds. */
  readonly deposit?: bigint;
  readonly withdrawals?: readonly { readonly account: string; readonly amount: bigint }[];
  readonly keys: readonly SigningKey[];
  readonly native?: readonly Encodable[];
  readonly plutus?: Readonly<Partial<Record<1 | 2 | 3, readonly Uint8Array[]>>>;
  /** Languages of reference scripts that run: 1 to 3. */
  readonly languages?: readonly number[];
  readonly datums?: readonly Encodable[];
  readonly redeemers?: readonly { readonly for: RedeemerFor; readonly data: Encodable; readonly units?: number }[];
  readonly references?: readonly Utxo[];
  readonly collateral?: Utxo;
  /** Whether the rest of the collateral comes back, and the total is stated. */
  readonly collateralReturn?: boolean;
  readonly auxiliary?: Encodable;
  readonly validFrom?: number;
  readonly validTo?: number;
  readonly requiredSigners?: readonly string[];
  readonly donation?: bigint;
  /** The validity flag. */
  readonly valid?: boolean;
}

const set = (elements: readonly Encodable[]) => new Tagged(258, elements);
const written = (list: readonly Utxo[]) =>
  set([...list].map(({ ref }) => ref).sort(compareRefs).map(({ txHash, index }) => [fromHex(txHash), index]));

/** Lovelace of an output that keeps the assets that were not paid out. */
const KEPT = 20_000_000n;

/** CBOR of a signed transaction. */
export function writeDraft(draft: ExplorerDraft, parameters: Parameters): Uint8Array {
  const { inputs, outputs = [], mint = noAssets, withdrawals = [], deposit = 0n, donation, collateral } = draft;
  const { redeemers = [], plutus = {}, languages = [], datums, auxiliary } = draft;
  const fee = draft.fee ?? 600_000n;
  const held = sumValues(inputs.map(({ output }) => output.value));
  const paid = outputs.reduce((sum, { lovelace }) => sum + lovelace, 0n);
  const withdrawn = withdrawals.reduce((sum, { amount }) => sum + amount, 0n);
  const left = outputs.reduce(
    (assets, { assets: given = noAssets }) => addAssets(assets, given, -1n),
    addAssets(held.assets, mint),
  );
  // assets do not stay with the change, so that people keep outputs with lovelace alone
  const kept = left.size > 0 ? [output(draft.change, KEPT, { assets: left })] : [];
  const change = output(
    draft.change,
    held.lovelace + withdrawn - paid - fee - deposit - (donation ?? 0n) - (left.size > 0 ? KEPT : 0n),
  );
  const body = new Map<Encodable, Encodable>([
    [0, written(inputs)],
    [1, [...outputs.map(({ address, lovelace, ...extras }) => output(address, lovelace, extras)), ...kept, change]],
    [2, fee],
  ]);
  if (draft.validTo !== undefined) body.set(3, draft.validTo);
  if (draft.certificates) body.set(4, set(draft.certificates));
  if (withdrawals.length > 0) {
    body.set(5, new Map(inLedgerOrder(withdrawals).map(({ account, amount }) => [fromHex(account), amount])));
  }
  if (auxiliary !== undefined) body.set(7, blake2b256(encode(auxiliary)));
  if (draft.validFrom !== undefined) body.set(8, draft.validFrom);
  if (mint.size > 0) body.set(9, encodeAssets(mint));
  const indexOf = redeemerIndices({ inputs: inputs.map(({ ref }) => ref), mint, withdrawals });
  const pointed = new Map<Encodable, Encodable>(redeemers.map((redeemer) => [
    [REDEEMER_TAGS[redeemer.for.purpose], indexOf(redeemer.for)],
    [redeemer.data, [redeemer.units ?? 100_000, 100_000_000]],
  ]));
  const hash = scriptDataHash({
    redeemers: redeemers.length > 0 ? encode(pointed) : undefined,
    datums: datums && encode(set(datums)),
    languages: [...Object.keys(plutus).map(Number), ...languages].map((language) => language - 1),
    parameters,
  });
  if (hash) body.set(11, fromHex(hash));
  if (collateral) {
    body.set(13, written([collateral]));
    if (draft.collateralReturn) {
      const total = fee * 3n / 2n + 1n;
      const { lovelace, assets } = collateral.output.value;
      body.set(16, output(draft.change, lovelace - total, { assets }));
      body.set(17, total);
    }
  }
  if (draft.requiredSigners) body.set(14, set(draft.requiredSigners.map(fromHex)));
  if (draft.references) body.set(18, written(draft.references));
  if (donation !== undefined) body.set(22, donation);
  const bytes = encode(body);
  const id = blake2b256(bytes);
  const keys = [...new Map(draft.keys.map((key) => [String(key), key])).values()];
  const witnesses = new Map<Encodable, Encodable>([
    [0, set(keys.map((key) => [publicKey(key), sign(key, id)]))],
  ]);
  if (draft.native) witnesses.set(1, set(draft.native));
  if (plutus[1]) witnesses.set(3, set(plutus[1]));
  if (datums) witnesses.set(4, set(datums));
  if (redeemers.length > 0) witnesses.set(5, pointed);
  if (plutus[2]) witnesses.set(6, set(plutus[2]));
  if (plutus[3]) witnesses.set(7, set(plutus[3]));
  return encode([new Encoded(bytes), witnesses, draft.valid ?? true, auxiliary ?? null]);
}
