/** Shapes of the data of failures. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { as, asInt, CborError, type Encodable, Encoded, type Item } from "#src/cardano/cbor.ts";
import type { CollectError, Member, OutputAt, RedeemerPointer, RedeemerTarget, Voter } from "#src/cardano/failure.ts";
import { type OutRef, readOutput } from "#src/cardano/output.ts";
import { encodeValue, readValue, type Value } from "#src/cardano/value.ts";
import {
  amount,
  type CborShape,
  count,
  type EncodingContext,
  listOf,
  mapOf,
  record,
  sentMap,
  sentSet,
} from "#src/node/queries/shape.ts";
import { compareCredentials, compareHex, credential, hex, reference } from "#src/node/queries/vocabulary.ts";
import { cborHex } from "#src/node/rejections/failureCodec.ts";

/** A number that may be negative. */
export const integer: CborShape<number> = {
  read(item) {
    const value = Number(asInt(item));
    if (!Number.isSafeInteger(value)) throw new CborError("a number out of range");
    return value;
  },
  write: (value) => value,
};

/** Lovelace, with assets if there are any. */
export const value: CborShape<Value> = { read: readValue, write: encodeValue };

/** Hashes: a set in ascending order. */
export const hashes = sentSet(hex, compareHex);

const compareReferences = (a: OutRef, b: OutRef) => compareHex(a.txHash, b.txHash) || a.index - b.index;

/** References: a set in ascending order. */
export const references = sentSet(reference, compareReferences);

/** The ledger's order of accounts: test networks first, then scripts first. */
export function compareAccounts(a: string, b: string): number {
  const rank = (account: string) => (account[1] === "0" ? 0 : 2) + (account[0] === "f" ? 0 : 1);
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Accounts: a set in ascending order. */
export const accounts = sentSet(hex, compareAccounts);

/** CBOR of any item, in hexadecimal. */
export const cbor: CborShape<string> = {
  read(item) {
    if (!item) throw new CborError("nothing is there");
    return cborHex(item);
  },
  write: (value) => new Encoded(fromHex(value)),
};

/** A value that a failure may lack; without it the failure cannot be encoded as a node would. */
export function required<T>(shape: CborShape<NonNullable<T>>): CborShape<T> {
  return {
    read: (item, at) => shape.read(item, at),
    write(value, at) {
      if (value === undefined || value === null) throw new CborError("a failure lacks data that a node would send");
      return shape.write(value, at);
    },
  };
}

/** CBOR of any item that a failure may lack. */
export const knownCbor = required<string | undefined>(cbor);

/** Withdrawn amounts by account. */
export const withdrawals: CborShape<
  readonly { readonly account: string; readonly supplied: bigint; readonly expected?: bigint }[]
> = mapOf(
  hex,
  amount,
  compareAccounts,
  (account, supplied): { readonly account: string; readonly supplied: bigint; readonly expected?: bigint } => ({
    account,
    supplied,
  }),
  ({ account, supplied }) => [account, supplied],
);

/** Withdrawn amounts and account balances: the present ledger reports both, an older one only the former. */
export const mismatchedWithdrawals: CborShape<
  readonly { readonly account: string; readonly supplied: bigint; readonly expected?: bigint }[]
> = mapOf(
  hex,
  {
    read: (item, at) => item?.type === "array" ? pair(amount).read(item, at) : { supplied: amount.read(item, at) },
    write: ({ supplied, expected }, at) =>
      expected === undefined ? amount.write(supplied, at) : pair(amount).write({ supplied, expected }, at),
  } satisfies CborShape<{ readonly supplied: bigint; readonly expected?: bigint }>,
  compareAccounts,
  (account, amounts): { readonly account: string; readonly supplied: bigint; readonly expected?: bigint } => ({
    account,
    ...amounts,
  }),
  ({ account, supplied, expected }) => [account, { supplied, ...(expected === undefined ? {} : { expected }) }],
);

/** Supplied and expected value, as an array. */
export function pair<T>(shape: CborShape<T>): CborShape<{ readonly supplied: T; readonly expected: T }> {
  return {
    read(item, at) {
      const [supplied, expected] = as(item, "array").value;
      return { supplied: shape.read(supplied, at), expected: shape.read(expected, at) };
    },
    write: ({ supplied, expected }, at) => [shape.write(supplied, at), shape.write(expected, at)],
  };
}

const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;

const purpose: CborShape<RedeemerPointer["purpose"]> = {
  read(item, at) {
    const found = PURPOSES[count.read(item, at)];
    if (!found) throw new CborError("no such purpose");
    return found;
  },
  write: (value) => PURPOSES.indexOf(value),
};

/** Purpose and index. */
export const pointer: CborShape<RedeemerPointer> = record<RedeemerPointer>({ purpose, index: count });

/** Purpose and item. */
export const target: CborShape<RedeemerTarget> = record<Pick<RedeemerTarget, "purpose" | "item">>(
  { purpose, item: required(cbor) },
  { more: true },
);

/** The purpose and item of a redeemer that is missing, and the hash of its script. */
export const missingRedeemer: CborShape<RedeemerTarget & { readonly script: string }> = {
  read(item, at) {
    const [what, script] = as(item, "array").value;
    return { ...target.read(what, at), script: hex.read(script, at) };
  },
  write: (value, at) => [target.write(value, at), hex.write(value.script, at)],
};

/** An output, as its bytes. */
export const outputAt: CborShape<OutputAt> = {
  read: (item) => ({ output: readOutputAt(item).output }),
  write: ({ output }, at) => knownCbor.write(output, at),
};

/** An output as failures report it, with its lovelace. */
export function readOutputAt(item: Item | undefined): { readonly output: string; readonly lovelace: bigint } {
  const output = readOutput(item?.type === "array" ? item : as(item, "map"));
  return { output: toHex(output.raw), lovelace: output.value.lovelace };
}

const ROLES: readonly Required<Voter>[] = [
  { role: "committee", kind: "key", hash: "" },
  { role: "committee", kind: "script", hash: "" },
  { role: "drep", kind: "key", hash: "" },
  { role: "drep", kind: "script", hash: "" },
  { role: "pool", kind: "key", hash: "" },
];

/** `[role and kind, hash]`. */
export const voter: CborShape<Voter> = {
  read(item, at) {
    const [number, hash] = as(item, "array").value;
    const role = ROLES[count.read(number, at)];
    if (!role) throw new CborError("no such kind of voter");
    return { ...role, hash: hex.read(hash, at) };
  },
  write: ({ role, kind, hash }, at) => {
    const number = ROLES.findIndex((each) => each.role === role && each.kind === kind);
    if (number < 0) throw new CborError("a voter whose role is not known");
    return [number, hex.write(hash, at)];
  },
};

/** Voters and what they voted on. */
export const votes = listOf(
  record<{ readonly voter: Voter; readonly action: OutRef }>({ voter, action: reference }),
);

/** Credentials: a set in ascending order. */
export const members: CborShape<readonly Credential[]> = sentSet(credential, compareCredentials);

/** Committee members with the ends of their terms. */
export const terms: CborShape<readonly Member[]> = {
  read: (item, at) =>
    as(item, "map").value.map(([member, epoch]) => ({ ...credential.read(member, at), epoch: asInt(epoch) })),
  write: (all, at) =>
    sentMap(
      [...all].sort(compareCredentials).map((member) => {
        if (member.epoch === undefined) throw new CborError("a term whose end is not known");
        return [credential.write(member, at), member.epoch];
      }),
    ),
};

const CONTEXT: Readonly<Record<number, string>> = {
  9: "CertificateNotSupported",
  10: "PlutusPurposeNotSupported",
  11: "CurrentTreasuryFieldNotSupported",
  12: "VotingProceduresFieldNotSupported",
  13: "ProposalProceduresFieldNotSupported",
  14: "TreasuryDonationFieldNotSupported",
  15: "ReferenceInputsNotDisjointFromInputs",
};
/** Number of the context errors that Conway inherits from Babbage. */
const OF_BABBAGE = 8;
const CONTEXT_OF_BABBAGE: Readonly<Record<number, string>> = {
  0: "ByronTxOutInContext",
  1: "TranslationLogicMissingInput",
  2: "RedeemerPointerPointsToNothing",
  4: "InlineDatumsNotSupported",
  5: "ReferenceScriptsNotSupported",
  6: "ReferenceInputsNotSupported",
  7: "TimeTranslationPastHorizon",
};

function readContextError(item: Item | undefined, at: EncodingContext): CollectError {
  const [number, detail] = as(item, "array").value;
  const tag = count.read(number, at);
  const [name, of] = tag === OF_BABBAGE
    ? [CONTEXT_OF_BABBAGE[count.read(as(detail, "array").value[0], at)], as(detail, "array").value[1]]
    : [CONTEXT[tag], detail];
  if (name === undefined) throw new CborError("no such context error");
  return { kind: "BadTranslation", reason: name, ...(of ? { detail: cborHex(of) } : {}) };
}

function writeContextError(reason: string, detail: Encodable): Encodable {
  const number = (names: Readonly<Record<number, string>>) =>
    Object.keys(names).map(Number).find((each) => names[each] === reason);
  const own = number(CONTEXT);
  const babbage = number(CONTEXT_OF_BABBAGE);
  if (own !== undefined) return [own, detail];
  if (babbage === undefined) throw new CborError("no such context error");
  return [OF_BABBAGE, [babbage, detail]];
}

/** Why a script could not be prepared. */
export const collectError: CborShape<CollectError> = {
  read(item, at) {
    const [number, what] = as(item, "array").value;
    switch (count.read(number, at)) {
      case 0:
        return { kind: "NoRedeemer", ...target.read(what, at) };
      case 1:
        return { kind: "NoWitness", script: hex.read(what, at) };
      case 2: {
        const language = count.read(what, at) + 1;
        if (language !== 1 && language !== 2 && language !== 3) throw new CborError("no such language");
        return { kind: "NoCostModel", language };
      }
      case 3:
        return readContextError(what, at);
      default:
        throw new CborError("no such collect error");
    }
  },
  write(error, at) {
    switch (error.kind) {
      case "NoRedeemer":
        return [0, target.write(error, at)];
      case "NoWitness":
        return [1, hex.write(error.script, at)];
      case "NoCostModel":
        return [2, error.language - 1];
      case "BadTranslation":
        return [3, writeContextError(error.reason, knownCbor.write(error.detail, at))];
    }
  },
};
