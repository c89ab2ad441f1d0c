/** Messages of refusals in cardano-wallet's words, which its clients match. */
import { expect, it } from "vitest";
import type { DRep } from "#src/cardano/certificates.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { construct } from "#src/wallets/builds/construct.ts";
import type { PaymentIntent, WalletFunds } from "#src/wallets/builds/types.ts";
import { readMetadata } from "#src/cardano/metadata/json.ts";
import { accountOf, ownCoin, policyKey, setting, walletFunds } from "../../../support/wallets/fundedWallet.ts";
import { person } from "../../../support/wallets/person.ts";

const ada = 1_000_000n;
const pool = "ab".repeat(28);
const abstain: DRep = { kind: "abstain" };
const bob = person("bob").base;
const joined = accountOf({ registered: true, deposit: 2n * ada, pool });
const voted = accountOf({ registered: true, deposit: 2n * ada, pool, drep: abstain });
const rich = accountOf({ registered: true, deposit: 2n * ada, pool, rewards: 7n });

const coins = [ownCoin(0, 100n * ada)];
const pay = (lovelace: bigint): PaymentIntent => ({ payments: [{ address: bob, lovelace }] });
const mint = (more: object): PaymentIntent => ({
  mintBurn: [{ policy: { template: "cosigner#0" }, name: "aa", quantity: 5n, operation: "mint", ...more }],
});

const cases: readonly (readonly [code: string, words: string, intent: PaymentIntent, funds?: Partial<WalletFunds>])[] =
  [
    [
      "created_invalid_transaction",
      "It looks like I've created an empty transaction that does not have any payments",
      {},
    ],
    [
      "not_enough_money",
      "I can't process this payment as there are not enough funds available in the wallet.",
      pay(200n * ada),
    ],
    [
      "cannot_cover_fee",
      "I am unable to finalize the transaction, as there is not enough ada available to pay for the fee and also pay for the minimum ada " +
      "quantities of all change outputs.",
      pay(100n * ada),
    ],
    [
      "utxo_too_small",
      "One of the outputs you've specified has an ada quantity that is below the minimum required. Either increase the ada quantity to at " +
      "least the minimum, or specify an ada quantity of zero, in which case the wallet will automatically assign the correct minimum ada " +
      "quantity to the output.",
      pay(1n),
    ],
    [
      "output_token_quantity_exceeds_limit",
      "One of the token quantities you've specified is greater than the maximum quantity allowed in a single transaction output. Try " +
      "splitting this quantity across two or more outputs. Destination address: addr_test1",
      { payments: [{ address: bob, lovelace: 0n, assets: [[`${"00".repeat(28)}aa`, 1n << 64n]] }] },
    ],
    [
      "invalid_validity_bounds",
      "Attempted to create a transaction with invalid validity bounds. Please make sure that the 'invalid_before' bound precedes the " +
      "'invalid_hereafter' bound, and that you have not used negative time values.",
      { ...pay(ada), validity: { before: { quantity: -1n, unit: "second" } } },
    ],
    [
      "created_multidelegation_transaction",
      "It looks like I've created a transaction with multiple delegations, which is not supported at this moment. Please use at most one " +
      "delegation action: join, quit or none.",
      { delegations: [{ pool, index: 0 }, { index: 0 }] },
    ],
    [
      "created_multiaccount_transaction",
      "It looks like I've created a transaction with a delegation, which uses a stake key for the unsupported account. Please use " +
      "delegation action engaging '0H' account.",
      { delegations: [{ pool, index: 1 }] },
    ],
    [
      "pool_already_joined",
      `I couldn't join a stake pool with the given id: ${pool}. I have already joined this pool; joining again would incur an unnecessary fee!`,
      { delegations: [{ pool, index: 0 }] },
      { account: joined },
    ],
    [
      "pool_already_joined_same_vote",
      `I couldn't join a stake pool with the given id: ${pool} and vote. I have already joined this pool, also voted the same last time; ` +
      "joining/voting again would incur an unnecessary fee!",
      { delegations: [{ pool, index: 0 }], vote: abstain },
      { account: voted },
    ],
    [
      "same_vote",
      "I couldn't cast a vote :  abstain. I have already voted like that; repeating this action would incur an unnecessary fee!",
      { vote: abstain },
      { account: voted },
    ],
    [
      "not_delegating_to",
      "It seems that you're trying to retire from delegation although you're not even delegating, nor won't be in an immediate future.",
      { delegations: [{ index: 0 }] },
    ],
    [
      "non_null_rewards",
      "It seems that you're trying to retire from delegation although you've unspoiled rewards in your rewards account! Make sure to " +
      "withdraw your 7 lovelace first.",
      { delegations: [{ index: 0 }] },
      { account: rich },
    ],
    [
      "withdrawal_not_possible_without_vote",
      "I cannot construct a transaction that contains withdrawals if the wallet is not voting in the Conway era onwards.",
      { withdrawal: "self" },
      { account: rich },
    ],
    [
      "missing_policy_public_key",
      "It seems the wallet lacks a policy public key. Therefore it's not possible to create a minting/burning transaction or get a policy " +
      "id. Please first POST to endpoint /wallets/{walletId}/policy-key to set a policy key.",
      mint({}),
      { policyKey: undefined },
    ],
    [
      "created_wrong_policy_script_template",
      "It looks like I've created a transaction with a minting/burning policy script that either does not pass validation, contains more " +
      "than one cosigner, or has a cosigner that is different from cosigner#0.",
      mint({ policy: { template: "cosigner#1" } }),
    ],
    [
      "asset_name_too_long",
      "Attempted to create a transaction with an asset name that is too long. The maximum length is 32 bytes.",
      mint({ name: "aa".repeat(33) }),
    ],
    [
      "mint_or_burn_asset_quantity_out_of_bounds",
      "Attempted to mint or burn an asset quantity that is out of bounds. The asset quantity must be greater than zero and must not exceed " +
      "9223372036854775807 (2^63 - 1).",
      mint({ quantity: 0n }),
    ],
    [
      "validity_interval_not_inside_script_timelock",
      "Attempted to create a transaction with a validity interval that is not a subinterval of an associated script's timelock interval.",
      mint({ policy: { template: { all: ["cosigner#0", { active_until: 100 }] } } }),
    ],
  ];

it.each(cases.map(([code, words, intent, more]) => ({ code, words, intent, more })))(
  "$code is said in cardano-wallet's words",
  ({
    code,
    words,
    intent,
    more,
  }) => {
    const funds = walletFunds(coins, { account: accountOf(), policyKey, ...more });
    const built = construct({ ...setting, parameters: mainnetParameters, intent, funds });
    expect(built.ok ? "built" : built.error).toMatchObject({ code, message: expect.stringContaining(words) });
  },
);

it.each([
  [
    { "0": { string: "x".repeat(65) } },
    "Text string metadata value must consist of at most 64 UTF8 bytes, but it consists of 65 bytes.",
  ],
  [
    { "0": { bytes: "ab".repeat(65) } },
    "Byte string metadata value must consist of at most 64 bytes, but it consists of 65 bytes.",
  ],
  [
    { "0": { int: 1n << 64n } },
    "Numeric metadata value 18446744073709551616 is outside the range -(2^64-1) .. 2^64-1.",
  ],
  [{ "a": { int: 1n } }, 'The JSON metadata top level must be a map with unsigned integer keys. Invalid key: "a"'],
  [[], "The JSON metadata top level must be a map (JSON object)"],
])("limits of metadata are said in cardano-wallet's words, case %#", (json, words) => {
  const read = readMetadata(json);
  expect(read.ok ? "read" : read.error.message).toContain(words);
});
