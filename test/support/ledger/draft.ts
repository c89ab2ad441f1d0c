/**
 * A small ledger for tests, and transactions on it written field by field, so that a test can break each rule
 * separately.
 */
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { actionKey } from "#src/ledger/governance/actions.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { baseAddress, enterpriseAddress, rewardAddress, scriptAddress } from "#src/cardano/address.ts";
import { decode, type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { blake2b256, hash224, hash256 } from "#src/cardano/hash.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { keyHash, publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { type Output, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { addAssets, type Assets, encodeAssets, encodeValue, noAssets, sumValues } from "#src/cardano/value.ts";
import type { FailureName, LedgerFailure } from "#src/cardano/failure.ts";
import { type Applied, applyDelta } from "#src/ledger/delta.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { credentialKey, type MutableLedgerState, newState } from "#src/ledger/state.ts";
import { type SubmissionChecks, validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";

export const slots = { zeroTime: 1_600_000_000_000, zeroSlot: 0, slotLength: 1_000 };
export const ada = 1_000_000n;

/** A person with a payment key and a stake key. */
export class Person {
  readonly payment: SigningKey;
  readonly stake: SigningKey;
  constructor(seed: number) {
    this.payment = new Uint8Array(32).fill(seed);
    this.stake = new Uint8Array(32).fill(seed + 100);
  }
  get hash(): string {
    return keyHash(publicKey(this.payment));
  }
  get stakeHash(): string {
    return keyHash(publicKey(this.stake));
  }
  /** Bytes of the base address, in hexadecimal. */
  get address(): string {
    return baseAddress(0, { kind: "key", hash: this.hash }, { kind: "key", hash: this.stakeHash }).hex;
  }
  get credential() {
    return { kind: "key" as const, hash: this.stakeHash };
  }
  /** Key of the account in the ledger state. */
  get account(): string {
    return credentialKey(this.credential);
  }
  /** Bytes of the reward account. */
  get reward(): Uint8Array {
    return fromHex(rewardAddress(0, this.credential).hex);
  }
}

export const alice = new Person(1);
export const bob = new Person(2);

/** Address of a script, its bytes in hexadecimal. */
export const atScript = (hash: string) => scriptAddress(0, hash).hex;
/** Address of a key, its bytes in hexadecimal. */
export const atKey = (hash: string, network: 0 | 1 = 0) => enterpriseAddress(network, { kind: "key", hash }).hex;

/** Optional parts of an output other than address and value. */
export interface Extras {
  readonly assets?: Assets;
  readonly datumHash?: string;
  readonly datum?: Encodable;
  readonly script?: Encodable;
}

/** An output in the Babbage format. */
export function output(address: string, lovelace: bigint, extras: Extras = {}): Encodable {
  const { assets = noAssets, datumHash, datum, script } = extras;
  return new Map<Encodable, Encodable>([
    [0, fromHex(address)],
    [1, encodeValue({ lovelace, assets })],
    ...(datumHash ? [[2, [0, fromHex(datumHash)]] as const] : []),
    ...(datum !== undefined ? [[2, [1, embedded(datum)]] as const] : []),
    ...(script !== undefined ? [[3, embedded(script)] as const] : []),
  ]);
}

const embedded = (value: Encodable) => new Encoded(encode(tagged(24, encode(value))));
/** A tagged value, as CBOR. */
export const tagged = (tag: number, value: Encodable) => {
  const content = encode(value);
  const head = tag < 256 ? [0xd8, tag] : [0xd9, tag >> 8, tag & 255];
  return new Encoded(Uint8Array.from([...head, ...content]));
};

/** Hash of a native script. */
export const nativeHash = (script: Encodable) => hash224(Uint8Array.from([0, ...encode(script)]));
/** A native script that requires a person's payment key. */
export const signedBy = (person: Person): Encodable => [0, fromHex(person.hash)];
/** Hash of a datum. */
export const datumHash = (datum: Encodable) => hash256(encode(datum));

/** A redeemer: purpose (0 spend, 1 mint, 2 certificate, 3 reward), index, memory and steps. */
export type DraftRedeemer = readonly [purpose: number, index: number, memory?: number, steps?: number];

/** A transaction to be written. Defaults are valid. */
export interface Draft {
  /** Default: an output of 100 ada of alice's. */
  readonly inputs?: readonly Utxo[];
  readonly outputs?: readonly Encodable[];
  /** Lovelace of those outputs; the remainder returns to alice, unless `change` is false. */
  readonly paid?: bigint;
  readonly change?: boolean;
  readonly fee?: bigint;
  /** Lovelace that enters or leaves in addition to inputs, outputs and fee. */
  readonly extra?: bigint;
  readonly mint?: Assets;
  readonly certificates?: readonly Encodable[];
  readonly withdrawals?: readonly (readonly [Uint8Array, bigint])[];
  /** Additional fields of the body, and replacements of the right ones; null omits a field. */
  readonly fields?: Readonly<Record<number, Encodable | null>>;
  /** Default: alice's payment key. */
  readonly keys?: readonly SigningKey[];
  readonly native?: readonly Encodable[];
  readonly plutus?: Readonly<Partial<Record<1 | 2 | 3, readonly Uint8Array[]>>>;
  /** Languages of the reference scripts that run: 1 to 3. */
  readonly languages?: readonly number[];
  readonly datums?: readonly Encodable[];
  readonly redeemers?: readonly DraftRedeemer[];
  /** Additional fields of the witness set. */
  readonly witnesses?: Readonly<Record<number, Encodable | null>>;
  readonly valid?: boolean;
  readonly auxiliary?: Encodable;
}

/** A ledger in memory. */
export class World {
  readonly outputs = new Map<string, Output>();
  readonly state: MutableLedgerState;
  slot = 1_000;
  /** What is checked of a transaction as a submission; none of one in a block. */
  submission?: SubmissionChecks;
  private count = 0;

  constructor(parameters: Parameters = mainnetParameters) {
    this.state = newState({ parameters, epoch: 10, outputs: this.outputs });
  }

  /** Adds an unspent output. */
  fund(address: string, lovelace: bigint = 100n * ada, extras: Extras = {}): Utxo {
    const ref = { txHash: (++this.count).toString(16).padStart(64, "0"), index: 0 };
    const utxo = { ref, output: readOutput(decode(encode(output(address, lovelace, extras)))) };
    this.outputs.set(refKey(ref), utxo.output);
    return utxo;
  }

  /** Registers a person's stake credential. */
  register(person: Person, account: { balance?: bigint; pool?: string; drep?: string } = {}): void {
    const { balance = 0n, ...rest } = account;
    this.state.accounts.set(person.account, { deposit: this.state.parameters.keyDeposit, balance, ...rest });
  }

  /** An action that is voted on, in the form of the grammar: information, unless another one is given. */
  propose(id: ActionId, action: Encodable = [6]): void {
    const cbor = encode([0, fromHex(`e0${alice.stakeHash}`), action, ["", new Uint8Array(32)]]);
    const { epoch, proposals } = this.state;
    const order = [...proposals.entries()].length;
    proposals.set(actionKey(id), { cbor, order, proposedIn: epoch, expiresAfter: epoch + 6 });
  }

  /** Encodes a transaction as CBOR. */
  write(draft: Draft): Uint8Array {
    const body = encode(this.body(draft));
    const id = blake2b256(body);
    const signatures = (draft.keys ?? [alice.payment]).map((key) => [publicKey(key), sign(key, id)]);
    const { native, datums, redeemers, plutus = {}, witnesses = {} } = draft;
    const set = new Map<Encodable, Encodable>();
    if (signatures.length > 0) set.set(0, signatures);
    if (native) set.set(1, native);
    if (plutus[1]) set.set(3, plutus[1]);
    if (datums) set.set(4, datums);
    if (redeemers) set.set(5, written(redeemers));
    if (plutus[2]) set.set(6, plutus[2]);
    if (plutus[3]) set.set(7, plutus[3]);
    override(set, witnesses);
    return encode([new Encoded(body), set, draft.valid ?? true, draft.auxiliary ?? null]);
  }

  private body(draft: Draft): Map<Encodable, Encodable> {
    const { mint = noAssets, outputs = [], paid = 0n, fee = 400_000n, extra = 0n, fields = {} } = draft;
    const inputs = draft.inputs ?? [this.fund(alice.address)];
    const held = sumValues(inputs.map(({ output }) => output.value));
    const withdrawn = (draft.withdrawals ?? []).reduce((sum, [, amount]) => sum + amount, 0n);
    const change = output(alice.address, held.lovelace + withdrawn - paid - fee + extra, {
      assets: addAssets(held.assets, mint),
    });
    const body = new Map<Encodable, Encodable>([
      [0, inputs.map(reference)],
      [1, draft.change === false ? outputs : [...outputs, change]],
      [2, fee],
    ]);
    if (draft.certificates) body.set(4, draft.certificates);
    if (draft.withdrawals) body.set(5, new Map(draft.withdrawals));
    if (draft.auxiliary !== undefined) body.set(7, blake2b256(encode(draft.auxiliary)));
    if (mint.size > 0) body.set(9, encodeAssets(mint));
    const { plutus = {}, languages = [] } = draft;
    const hash = scriptDataHash({
      redeemers: draft.redeemers && encode(written(draft.redeemers)),
      datums: draft.datums && encode(draft.datums),
      languages: [...Object.keys(plutus).map(Number), ...languages].map((language) => language - 1),
      parameters: this.state.parameters,
    });
    if (hash) body.set(11, fromHex(hash));
    if (draft.redeemers) body.set(13, [reference(this.fund(alice.address))]);
    override(body, fields);
    return body;
  }

  /** Judges a transaction: its changes, or the failures. */
  async judge(transaction: Draft | Uint8Array): Promise<Applied | readonly LedgerFailure[]> {
    const bytes = transaction instanceof Uint8Array ? transaction : this.write(transaction);
    const verdict = await validate(
      this.state,
      bytes,
      this.slot,
      async (input) => evaluateScripts(input),
      slots,
      this.submission,
    );
    return verdict.ok ? verdict.value : verdict.error;
  }

  /** Names of the failures of a transaction, in order; empty when it is accepted. */
  async failures(transaction: Draft | Uint8Array): Promise<FailureName[]> {
    const judged = await this.judge(transaction);
    return "hash" in judged ? [] : judged.map(({ name }) => name);
  }

  /** Applies a transaction that must be valid. */
  async apply(transaction: Draft | Uint8Array): Promise<Applied> {
    const judged = await this.judge(transaction);
    if (!("hash" in judged)) throw new Error(`refused: ${judged.map(({ name }) => name).join(", ")}`);
    applyDelta(this.state, judged);
    return judged;
  }
}

/** An input in the form of a body. */
export function reference({ ref }: Pick<Utxo, "ref">): Encodable {
  return [fromHex(ref.txHash), ref.index];
}

function override(map: Map<Encodable, Encodable>, fields: Readonly<Record<number, Encodable | null>>): void {
  for (const [key, value] of Object.entries(fields)) {
    if (value === null) map.delete(Number(key));
    else map.set(Number(key), value);
  }
}

function written(redeemers: readonly DraftRedeemer[]): Encodable {
  return new Map<Encodable, Encodable>(
    redeemers.map((
      [purpose, index, memory = 100_000, steps = 100_000_000],
    ) => [[purpose, index], [0, [memory, steps]]]),
  );
}

/** An asset of a policy. */
export const asset = (policy: string, name = "") => policy + toHex(new TextEncoder().encode(name));
