/** Groups of the wallet service's operations, in cardano-wallet's terms. */
import { type Group, HEALTH_GROUP } from "#src/http/groups.ts";

const WALLET = "\\/(?:byron-|shared-)?wallets(?:\\/\\{walletId\\})?";
const of = (paths: string) => new RegExp(`^${WALLET}\\/(?:${paths})`);

export const WALLET_GROUPS: readonly Group[] = [
  ["Transactions", of("transactions|payment-fees"), "Build, sign, submit, list and decode transactions."],
  ["Addresses", of("addresses"), "Addresses of a wallet, used and unused."],
  ["Assets", of("assets"), "Native assets that a wallet holds."],
  [
    "Coin selection",
    of("coin-selections|utxo|statistics"),
    "Inputs and change for transactions that you build yourself.",
  ],
  ["Migrations", of("migrations|consolidations"), "Move all funds to other addresses, or join small outputs."],
  ["Keys", of("keys|signatures|policy"), "Public keys, signatures of metadata and minting policies."],
  ["Governance", new RegExp(`${of("governance").source}|^/dreps`), "DReps, delegation to them, and votes of a wallet."],
  ["Staking", /^\/(stake-pools|smash)|(delegation-fees|stake-keys)$/, "Stake pools, delegation and rewards."],
  ["Limits and events", of("spending-limit|events"), "Spending limits, and changes of a wallet as they happen."],
  ["Shared wallets", /^\/shared-wallets/, "Wallets whose keys several people hold."],
  ["Byron wallets", /^\/byron-wallets/, "Wallets with addresses of the Byron era."],
  ["Wallets", /^\/wallets/, "Create, restore, list, rename and delete wallets."],
  [
    "Network",
    /^\/(network|blocks|addresses|proxy|settings)/,
    "The network and its clock, any address, settings, and submission of signed transactions.",
  ],
  HEALTH_GROUP,
];
