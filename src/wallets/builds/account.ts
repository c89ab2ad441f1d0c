/** Certificates and withdrawals of a payment intent: delegation, vote, rewards of the stake account. */
import { type DelegationIntent, type DelegationRefusal, refusalOf } from "#machines/delegation.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { type NetworkId, rewardAddress } from "#src/cardano/address.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import type { Withdrawal } from "#src/cardano/transaction.ts";
import { type AccountCertificate } from "#src/cardano/encodeCertificate.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { ConstructFailure, PaymentIntent, ShownCertificate, StakeAccount } from "#src/wallets/builds/types.ts";

/** Certificates and withdrawals, with the deposits that they pay and return. */
export interface AccountActions {
  readonly certificates: readonly AccountCertificate[];
  readonly shown: readonly ShownCertificate[];
  readonly withdrawals: readonly Withdrawal[];
  /** The account that they withdraw from. */
  readonly withdrawing?: StakeAccount | undefined;
  /** Lovelace, paid for a registration. */
  readonly taken: readonly bigint[];
  /** Lovelace, returned by the end of a registration. */
  readonly returned: readonly bigint[];
}

const NOTHING: AccountActions = { certificates: [], shown: [], withdrawals: [], taken: [], returned: [] };

/** The actions of an intent on the account, and on the foreign one that it redeems; none where the intent has none. */
export function accountActions(
  intent: PaymentIntent,
  { account, redeemed }: { readonly account?: StakeAccount | undefined; readonly redeemed?: StakeAccount | undefined },
  network: NetworkId,
  parameters: ActionParameters,
): Result<AccountActions, ConstructFailure> {
  const { delegations = [], vote, withdrawal } = intent;
  if (delegations.length > 1) {
    return fail(
      "created_multidelegation_transaction",
      "It looks like I've created a transaction with multiple delegations, which is not supported at this moment. Please use at most one " +
        "delegation action: join, quit or none.",
    );
  }
  const [delegation] = delegations;
  if (delegation && delegation.index !== 0) {
    return fail(
      "created_multiaccount_transaction",
      "It looks like I've created a transaction with a delegation, which uses a stake key for the unsupported account. Please use delegation " +
        "action engaging '0H' account.",
    );
  }
  if (!delegation && !vote && !withdrawal) return ok(NOTHING);
  const withdrawing = withdrawal === "self" ? account : withdrawal && redeemed;
  const acts = delegation !== undefined || vote !== undefined;
  if (!account && acts || !withdrawing && withdrawal) {
    return fail("missing_reward_account", "This kind of wallet has no stake account.");
  }
  if (withdrawal && withdrawal !== "self" && (withdrawing?.rewards ?? 0n) < withdrawalFee(parameters)) {
    return fail(
      "withdrawal_not_beneficial",
      "I've noticed that you're requesting a withdrawal from an account that is either empty or doesn't have a balance big enough to deserve " +
        "being withdrawn. I won't proceed with that request.",
    );
  }
  const withdrawn = withdraw(withdrawing, network, parameters.protocolVersion.major);
  if (!withdrawn.ok) return withdrawn;
  const delegated = account && acts
    ? delegate(
      account,
      rewardAddress(network, account.credential).hex,
      { ...delegation, quits: delegation !== undefined && delegation.pool === undefined, vote },
      withdrawal === "self",
      parameters,
    )
    : ok(NOTHING);
  return delegated.ok ? ok({ ...delegated.value, withdrawals: withdrawn.value, withdrawing }) : delegated;
}

type ActionParameters = Pick<Parameters, "keyDeposit" | "protocolVersion" | "feePerByte">;

/** Bytes that a withdrawal and its signature add to a transaction, about. */
const WITHDRAWAL_BYTES = 140n;

/** Lovelace that a withdrawal costs; one of fewer rewards is not worth it. */
const withdrawalFee = ({ feePerByte }: Pick<Parameters, "feePerByte">) => feePerByte * WITHDRAWAL_BYTES;

function withdraw(
  account: StakeAccount | undefined,
  network: NetworkId,
  protocol: number,
): Result<readonly Withdrawal[], ConstructFailure> {
  if (!account || account.rewards <= 0n) return ok([]);
  const { rewards, drep, credential } = account;
  // From protocol version 10 on the ledger requires this of key accounts, and looks at the account before the
  // transaction.
  if (protocol >= 10 && credential.kind === "key" && !drep) {
    return fail(
      "withdrawal_not_possible_without_vote",
      "I cannot construct a transaction that contains withdrawals if the wallet is not voting in the Conway era onwards. Please delegate " +
        "again (in that case, the wallet will automatically vote to abstain), or make a vote transaction before the withdrawal transaction.",
    );
  }
  return ok([{ account: rewardAddress(network, credential).hex, amount: rewards }]);
}

/** What an intent wants of the delegation: a pool, the end of it, a vote; at least one of them. */
interface Wanted {
  readonly pool?: string | undefined;
  readonly quits: boolean;
  readonly vote: DRep | undefined;
}

function delegate(
  account: StakeAccount,
  address: string,
  wanted: Wanted,
  withdrawing: boolean,
  { keyDeposit }: Pick<Parameters, "keyDeposit">,
): Result<AccountActions, ConstructFailure> {
  const { credential, path, registered, deposit } = account;
  const { pool, quits, vote } = wanted;
  const own = { account: address, path };
  const drep = account.drep && drepKey(account.drep);
  const status = { registered, pool: account.pool ?? null, drep: drep ?? null, rewards: account.rewards };
  const refusal = refusalOf(status, intentOf(wanted, withdrawing));
  if (quits && vote && refusal !== "not_delegating_to") {
    return fail("created_invalid_transaction", "A transaction cannot both stop the delegation and cast a vote.");
  }
  if (refusal) return refused(refusal, account, wanted);
  if (quits) {
    return ok({
      ...NOTHING,
      certificates: [{ kind: "unregister", credential, refund: deposit }],
      shown: [{ type: "quit_pool", ...own }],
      returned: [deposit],
    });
  }
  const to = {
    ...(pool === undefined || pool === account.pool ? {} : { pool }),
    ...(vote === undefined || drepKey(vote) === drep ? {} : { drep: vote }),
  };
  return ok({
    ...NOTHING,
    certificates: [
      ...(registered ? [] : [{ kind: "register" as const, credential, deposit: keyDeposit }]),
      { kind: "delegate", credential, to },
    ],
    shown: [
      ...(registered ? [] : [{ type: "register_reward_account" as const, ...own }]),
      ...(to.pool === undefined ? [] : [{ type: "join_pool" as const, pool: to.pool, ...own }]),
      ...(to.drep === undefined ? [] : [{ type: "cast_vote" as const, drep: to.drep, ...own }]),
    ],
    taken: registered ? [] : [keyDeposit],
  });
}

/** The intent for the machine of delegations. */
function intentOf({ pool, quits, vote }: Wanted, withdrawing: boolean): DelegationIntent {
  if (pool !== undefined) return { type: "JOIN", pool, ...(vote ? { drep: drepKey(vote) } : {}) };
  return quits || vote === undefined ? { type: "QUIT", withdrawing } : { type: "CAST", drep: drepKey(vote) };
}

/** The failure of an intent that the machine of delegations refuses. */
function refused(
  refusal: DelegationRefusal,
  { rewards }: StakeAccount,
  { pool, vote }: Wanted,
): Result<never, ConstructFailure> {
  switch (refusal) {
    case "not_delegating_to":
      return fail(
        refusal,
        "It seems that you're trying to retire from delegation although you're not even delegating, nor won't be in an immediate future.",
      );
    case "non_null_rewards":
      return fail(
        refusal,
        "It seems that you're trying to retire from delegation although you've unspoiled rewards in your rewards account! Make sure to " +
          `withdraw your ${rewards} lovelace first.`,
      );
    case "pool_already_joined":
      return fail(
        refusal,
        `I couldn't join a stake pool with the given id: ${pool}. I have already joined this pool; joining again would incur an unnecessary fee!`,
        { pool_id: pool },
      );
    case "pool_already_joined_same_vote":
      return fail(
        refusal,
        `I couldn't join a stake pool with the given id: ${pool} and vote. I have already joined this pool, also voted the same last time; ` +
          "joining/voting again would incur an unnecessary fee!",
      );
    case "same_vote":
      return fail(
        refusal,
        `I couldn't cast a vote :  ${
          vote && drepId(vote)
        }. I have already voted like that; repeating this action would incur an unnecessary fee!`,
      );
  }
}
