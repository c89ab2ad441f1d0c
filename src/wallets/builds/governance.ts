/**
 * Governance in a wallet's transactions: what its DRep key does (CIP-1694, CIP-105), and what any transaction votes and
 * proposes.
 */
import { fail, ok, type Result } from "#src/base/result.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { DRepCertificate } from "#src/cardano/encodeCertificate.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { proposalsIn, votersIn } from "#src/cardano/governed.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type {
  BuiltCertificate,
  ConstructFailure,
  ConstructInput,
  DecodedProposal,
  DecodedVoter,
  DecodeInput,
  GovernanceIntent,
  OwnDrep,
} from "#src/wallets/builds/types.ts";

/** Votes, and the certificate of the wallet's representative, with the deposits that it pays and returns. */
export interface GovernanceActions {
  readonly certificates: readonly DRepCertificate[];
  /** Whether they come before certificates of the account: a registration does, because the account may delegate to it. */
  readonly first: boolean;
  readonly shown: readonly BuiltCertificate[];
  readonly voters: readonly DecodedVoter[];
  /** CBOR of the votes. */
  readonly votes?: Uint8Array;
  /** Hashes of the keys that sign: the DRep key. */
  readonly keys: readonly string[];
  readonly taken: readonly bigint[];
  readonly returned: readonly bigint[];
}

const NOTHING: GovernanceActions = {
  certificates: [],
  first: false,
  shown: [],
  voters: [],
  keys: [],
  taken: [],
  returned: [],
};

/** What governance adds to a list of the account's actions, and that list, in the order of the transaction. */
export function inOrder<T>(
  { first }: GovernanceActions,
  governance: readonly T[],
  account: readonly T[],
): readonly T[] {
  return first ? [...governance, ...account] : [...account, ...governance];
}

/** What an intent does with the wallet's DRep key; nothing where it says nothing. */
export function governanceActions(
  { intent: { governance }, funds: { drep }, actions, parameters }: Pick<
    ConstructInput,
    "intent" | "funds" | "actions" | "parameters"
  >,
): Result<GovernanceActions, ConstructFailure> {
  const { votes = [], drep: wanted } = governance ?? {};
  if (votes.length === 0 && !wanted) return ok(NOTHING);
  if (!drep) return fail("invalid_wallet_type", "This kind of wallet has no DRep key.");
  const refusal = refusalOf(governance ?? {}, drep, actions);
  if (refusal) return refusal;
  const certificate = wanted && certificateOf(wanted, drep, parameters);
  const voters: DecodedVoter[] = votes.length === 0
    ? []
    : [{ role: "drep", credential: { kind: "key", hash: drep.hash }, votes, path: drep.path }];
  return ok({
    certificates: certificate ? [certificate] : [],
    first: wanted?.does === "register",
    shown: certificate ? [{ type: "governance", certificate, path: drep.path }] : [],
    voters,
    ...(voters.length === 0 ? {} : { votes: encodeVotes(voters) }),
    keys: [drep.hash],
    taken: certificate?.kind === "register drep" ? [certificate.deposit] : [],
    returned: certificate?.kind === "unregister drep" ? [certificate.refund] : [],
  });
}

function certificateOf(
  { does, anchor }: NonNullable<GovernanceIntent["drep"]>,
  { hash, deposit }: OwnDrep,
  { drepDeposit }: Pick<Parameters, "drepDeposit">,
): DRepCertificate {
  const credential = { kind: "key", hash } as const;
  const link = anchor ? { anchor } : {};
  if (does === "register") return { kind: "register drep", credential, deposit: drepDeposit, ...link };
  if (does === "update") return { kind: "update drep", credential, ...link };
  return { kind: "unregister drep", credential, refund: deposit ?? drepDeposit };
}

/** Why the ledger would refuse it, as far as the provider reports what is needed to know that. */
function refusalOf(
  { drep: wanted, votes = [] }: GovernanceIntent,
  { registered }: OwnDrep,
  actions: ConstructInput["actions"],
): Result<never, ConstructFailure> | undefined {
  const registers = wanted?.does === "register";
  if (registers && registered) {
    return fail("drep_already_registered", "The wallet is registered as a representative already.");
  }
  if (!registers && registered === false) {
    return fail("drep_not_registered", "The wallet is not registered as a representative. Register it first.");
  }
  if (wanted?.does === "deregister" && votes.length > 0) {
    return fail("created_invalid_transaction", "A transaction cannot both vote and end the voter's registration.");
  }
  const [closed] = actions?.filter(({ state }) => state !== "open") ?? [];
  if (!closed) return undefined;
  const id = actionText(closed.id);
  return closed.state === "unknown"
    ? fail("no_such_action", `I couldn't find a governance action with the given id: ${id}`, { action: id })
    : fail("action_expired", `The time to vote on this governance action is over: ${id}`, { action: id });
}

/** Whether a transaction needs the signature of a DRep key: for a certificate of its representative, or its votes. */
export function actsAsDrep(scanned: ScannedTransaction, hash: string): boolean {
  const certifies = scanned.certificates.some((one) =>
    "credential" in one && one.credential.kind === "key" && one.credential.hash === hash
  );
  return certifies ||
    votersOf(scanned).some(({ role, credential }) =>
      role === "drep" && credential.kind === "key" && credential.hash === hash
    );
}

/**
 * The votes of a transaction, in the ledger's order.
 *
 * @throws {CborError} if they are malformed
 */
export function votersOf(scanned: ScannedTransaction, drep?: Pick<OwnDrep, "hash" | "path">): DecodedVoter[] {
  return votersIn(scanned).map((voter) =>
    drep && voter.role === "drep" && voter.credential.kind === "key" && voter.credential.hash === drep.hash
      ? { ...voter, path: drep.path }
      : voter
  );
}

/**
 * The governance actions that a transaction proposes.
 *
 * @throws {CborError} if they are malformed
 */
export function proposalsOf(
  scanned: ScannedTransaction,
  account?: DecodeInput["owns"]["account"],
): DecodedProposal[] {
  return proposalsIn(scanned).map(({ deposit, anchor, action, account: { network, credential } }, index) => {
    const own = account?.credential.kind === credential.kind && account.credential.hash === credential.hash;
    return {
      id: { txHash: scanned.hash, index },
      kind: action.kind,
      deposit,
      anchor,
      account: rewardAddress(network, credential).hex,
      ...(own && account ? { path: account.path } : {}),
    };
  });
}
