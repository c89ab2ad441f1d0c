/** The body of a transaction. */
import { as, asSet, CborError, type Item } from "#src/cardano/cbor.ts";
import { compareRefs, type OutRef, refKey } from "#src/cardano/output.ts";
import { type Assets, noAssets, readAssets } from "#src/cardano/value.ts";
import { type Certificate, readCertificate } from "#src/cardano/conway/certificate.ts";
import { type Proposal, readProposal, readVotes, type Voter } from "#src/cardano/conway/governance.ts";
import { checkAssets, type NewOutput, readNewOutput } from "#src/cardano/conway/output.ts";
import {
  choice,
  compareAccounts,
  entries,
  fields,
  given,
  hash,
  nonEmpty,
  nonZeroInt64,
  positive,
  type RewardAccount,
  rewardAccount,
  tuple,
  uint,
  unique,
} from "#src/cardano/conway/strict.ts";
import { toHex } from "#src/base/bytes.ts";

/** A withdrawal of rewards, in lovelace. */
export interface Withdrawal {
  readonly account: RewardAccount;
  readonly amount: bigint;
}

/** A body, read. Sets stand in the ledger's order, to which redeemers point. */
export interface Body {
  readonly inputs: readonly OutRef[];
  readonly outputs: readonly NewOutput[];
  readonly fee: bigint;
  /** First slot in which it is no longer valid. */
  readonly before?: bigint;
  /** First slot in which it is valid. */
  readonly from?: bigint;
  readonly certificates: readonly Certificate[];
  readonly withdrawals: readonly Withdrawal[];
  readonly auxiliaryHash?: string;
  readonly mint: Assets;
  readonly scriptDataHash?: string;
  readonly collateral: readonly OutRef[];
  readonly signers: readonly string[];
  readonly network?: 0 | 1;
  readonly collateralReturn?: NewOutput;
  readonly totalCollateral?: bigint;
  readonly references: readonly OutRef[];
  readonly voters: readonly Voter[];
  readonly proposals: readonly Proposal[];
  readonly treasury?: bigint;
  readonly donation: bigint;
}

const NETWORKS = [0, 1] as const;
const FIELDS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22];

/** Reads a body. Throws `CborError`. */
export function readBody(item: Item | undefined): Body {
  const found = fields(item, "body", FIELDS);
  for (const required of [0, 1, 2]) {
    if (!found.has(required)) throw new CborError(`the body has no field ${required}`);
  }
  const optional = <T>(field: number, read: (item: Item) => T): T | undefined => {
    const of = found.get(field);
    return of && read(of);
  };
  const set = <T>(field: number, what: string, read: (item: Item) => T, key?: (value: T) => string): T[] =>
    optional(field, (of) => unique(nonEmpty(of, what), what, read, key)) ?? [];
  const mint = optional(9, (of) => {
    if (checkAssets(of, (quantity) => nonZeroInt64(quantity, "minted quantity")) === 0) {
      throw new CborError("mint is empty");
    }
    return readAssets(of);
  });
  const withdrawals = optional(5, (of) => {
    const read = entries(of, "withdrawals", rewardAccount, (amount) => uint(amount, "withdrawal"));
    if (read.length === 0) throw new CborError("withdrawals are empty");
    return read.map(([account, amount]) => ({ account, amount })).sort((a, b) => compareAccounts(a.account, b.account));
  });
  return {
    inputs: unique(asSet(found.get(0)), "inputs", readInput, refKey).sort(compareRefs),
    outputs: as(found.get(1), "array").value.map(readNewOutput),
    fee: uint(found.get(2), "fee"),
    certificates: set(4, "certificates", readCertificate),
    withdrawals: withdrawals ?? [],
    mint: mint ?? noAssets,
    collateral: set(13, "collateral", readInput, refKey).sort(compareRefs),
    signers: set(14, "required signers", (of) => hash(of, "required signer", 28)).sort(),
    references: set(18, "reference inputs", readInput, refKey).sort(compareRefs),
    voters: optional(19, readVotes) ?? [],
    proposals: set(20, "proposals", readProposal),
    donation: optional(22, (of) => positive(of, "donation")) ?? 0n,
    ...given("before", optional(3, (of) => uint(of, "slot"))),
    ...given("from", optional(8, (of) => uint(of, "slot"))),
    ...given("auxiliaryHash", optional(7, (of) => hash(of, "auxiliary data hash", 32))),
    ...given("scriptDataHash", optional(11, (of) => hash(of, "script data hash", 32))),
    ...given("network", optional(15, (of) => choice(of, "network id", NETWORKS))),
    ...given("collateralReturn", optional(16, readNewOutput)),
    ...given("totalCollateral", optional(17, (of) => uint(of, "total collateral"))),
    ...given("treasury", optional(21, (of) => uint(of, "treasury"))),
  };
}

function readInput(item: Item): OutRef {
  const [transaction, index] = tuple(item, "input", 2);
  const { value } = as(transaction, "bytes");
  if (value.length !== 32) throw new CborError("input of another length");
  return { txHash: toHex(value), index: Number(uint(index, "index of input", 65_535n)) };
}
