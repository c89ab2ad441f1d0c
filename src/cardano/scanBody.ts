/** Transactions of the eras Shelley to Conway, read out of the bytes of a block or of what was submitted. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { type Certificate, walkCertificate } from "#src/cardano/certificates.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { compareRefs, type Output, type OutRef, refKey, walkOutput, walkRef } from "#src/cardano/output.ts";
import { type Assets, noAssets, walkAssets } from "#src/cardano/value.ts";
import { Walk } from "#src/cardano/walk.ts";

/** Fields of a body (CDDL `transaction_body`) that are read here. */
const FIELD = {
  inputs: 0,
  outputs: 1,
  fee: 2,
  validTo: 3,
  certificates: 4,
  withdrawals: 5,
  validFrom: 8,
  mint: 9,
  collateral: 13,
  requiredSigners: 14,
  collateralReturn: 16,
  totalCollateral: 17,
  references: 18,
  votes: 19,
  proposals: 20,
  donation: 22,
} as const;
const LAST_FIELD = 22;

/** What a transaction is read out of. */
interface BodySource extends Pick<ScannedTransaction, "index" | "valid" | "body" | "witnesses"> {
  readonly auxiliaryData: Uint8Array | undefined;
  /** Its hash, where that is known: it need not be that of a body whose bytes were encoded again. */
  readonly hash?: string;
  /** Shelley lets a transaction into the slot that it states as its last; later eras do not. */
  readonly lastSlotIncluded: boolean;
}

/** A transaction whose members are read at their first use and then kept. */
export class BodyTransaction implements ScannedTransaction {
  readonly index: number;
  readonly valid: boolean;
  readonly body: Uint8Array;
  readonly witnesses: Uint8Array;
  readonly auxiliaryData: Uint8Array | undefined;
  #lastSlotIncluded: boolean;
  /** Where the value of each field begins in the body. */
  #starts: (number | undefined)[] | undefined;
  #hash: string | undefined;
  #inputs: readonly OutRef[] | undefined;
  #collateral: readonly OutRef[] | undefined;
  #references: readonly OutRef[] | undefined;
  #outputs: readonly Output[] | undefined;
  #collateralReturn: Output | undefined;
  #mint: Assets | undefined;
  #certificates: readonly Certificate[] | undefined;
  #withdrawals: ReadonlyMap<string, bigint> | undefined;
  #proposals: readonly bigint[] | undefined;
  #requiredSigners: readonly string[] | undefined;

  constructor(source: BodySource) {
    this.index = source.index;
    this.valid = source.valid;
    this.body = source.body;
    this.witnesses = source.witnesses;
    this.auxiliaryData = source.auxiliaryData;
    this.#lastSlotIncluded = source.lastSlotIncluded;
    this.#hash = source.hash;
  }

  get hash(): string {
    return this.#hash ??= hash256(this.body);
  }

  get inputs(): readonly OutRef[] {
    return this.#inputs ??= distinct(list(this.#needed(FIELD.inputs), walkRef));
  }

  get collateral(): readonly OutRef[] {
    return this.#collateral ??= distinct(list(this.#field(FIELD.collateral), walkRef));
  }

  get references(): readonly OutRef[] {
    return this.#references ??= distinct(list(this.#field(FIELD.references), walkRef));
  }

  get outputs(): readonly Output[] {
    return this.#outputs ??= list(this.#needed(FIELD.outputs), walkOutput);
  }

  get collateralReturn(): Output | undefined {
    const field = this.#field(FIELD.collateralReturn);
    return field && (this.#collateralReturn ??= walkOutput(field));
  }

  get totalCollateral(): bigint | undefined {
    return this.#field(FIELD.totalCollateral)?.int();
  }

  get fee(): bigint {
    return this.#needed(FIELD.fee).int();
  }

  get mint(): Assets {
    const field = this.#field(FIELD.mint);
    return this.#mint ??= field ? walkAssets(field) : noAssets;
  }

  get validFrom(): number | undefined {
    return this.#field(FIELD.validFrom)?.uint();
  }

  get validTo(): number | undefined {
    const slot = this.#field(FIELD.validTo)?.uint();
    return slot !== undefined && this.#lastSlotIncluded ? Math.min(slot + 1, Number.MAX_SAFE_INTEGER) : slot;
  }

  get certificates(): readonly Certificate[] {
    return this.#certificates ??= list(this.#field(FIELD.certificates), walkCertificate);
  }

  get withdrawals(): ReadonlyMap<string, bigint> {
    return this.#withdrawals ??= withdrawals(this.#field(FIELD.withdrawals));
  }

  get governs(): boolean {
    return this.#field(FIELD.votes) !== undefined || this.#field(FIELD.proposals) !== undefined;
  }

  get proposals(): readonly bigint[] {
    return this.#proposals ??= list(this.#field(FIELD.proposals), walkProposalDeposit);
  }

  get donation(): bigint | undefined {
    return this.#field(FIELD.donation)?.int();
  }

  get requiredSigners(): readonly string[] {
    return this.#requiredSigners ??= list(this.#field(FIELD.requiredSigners), (walk) => walk.hex());
  }

  #field(field: number): Walk | undefined {
    const start = (this.#starts ??= starts(this.body))[field];
    return start === undefined ? undefined : new Walk(this.body, start);
  }

  #needed(field: number): Walk {
    const walk = this.#field(field);
    if (!walk) throw new CborError(`a body without field ${field}`);
    return walk;
  }
}

/**
 * Reads every member now, instead of on first use; but not the parts of governance.
 *
 * @throws {CborError} if a member is malformed
 */
export function readWhole<T extends ScannedTransaction>(transaction: T): T {
  void [
    transaction.hash,
    transaction.inputs,
    transaction.collateral,
    transaction.references,
    transaction.outputs,
    transaction.collateralReturn,
    transaction.totalCollateral,
    transaction.fee,
    transaction.mint,
    transaction.validFrom,
    transaction.validTo,
    transaction.certificates,
    transaction.withdrawals,
    transaction.requiredSigners,
  ];
  return transaction;
}

function starts(body: Uint8Array): (number | undefined)[] {
  const found: (number | undefined)[] = [];
  const walk = new Walk(body);
  const count = walk.map();
  for (let i = 0; walk.more(i, count); i++) {
    const field = walk.uint();
    if (field <= LAST_FIELD) found[field] = walk.at;
    walk.skip();
  }
  return found;
}

function list<T>(walk: Walk | undefined, one: (walk: Walk) => T): T[] {
  return walk ? walk.each(walk.set(), one) : [];
}

/** The deposit of a proposal: its first part of four. */
function walkProposalDeposit(walk: Walk): bigint {
  return walk.within("proposal", 4, 4, () => {
    const deposit = walk.int();
    for (let part = 1; part < 4; part++) walk.skip();
    return deposit;
  });
}

/** Inputs are a set, and before Conway a set could be written with one of its elements twice. Most are written in order. */
function distinct(refs: readonly OutRef[]): readonly OutRef[] {
  let last: OutRef | undefined;
  for (const ref of refs) {
    if (last && compareRefs(last, ref) >= 0) return [...new Map(refs.map((one) => [refKey(one), one])).values()];
    last = ref;
  }
  return refs;
}

function withdrawals(walk: Walk | undefined): Map<string, bigint> {
  return new Map(walk?.each(walk.map(), () => [walk.hex(), walk.int()]));
}
