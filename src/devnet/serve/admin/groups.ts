/** Groups of the devnet's operations. */
import { type Group, HEALTH_GROUP } from "#src/http/groups.ts";

export const DEVNET_GROUPS: readonly Group[] = [
  ["Faucet", /^\/faucet/, "Test ada for an address."],
  [
    "Blocks and time",
    /^\/(blocks|time|mining|epochs|epoch|rollback|reset|tip)\b/,
    "Blocks, the clock, epochs and rollbacks at your command.",
  ],
  ["Ledger", /^\/(parameters|genesis|utxos|pools|accounts|mempool)\b/, "What the ledger holds now."],
  [
    "Transactions",
    /^\/(transactions|addresses|search|live|load)\b/,
    "Transactions, accepted and refused, with the runs of their scripts.",
  ],
  ["Governance", /^\/governance/, "Actions, votes and voters."],
  ["Snapshots", /^\/snapshots/, "Save the network and return to it."],
  ["Root of outputs", /^\/(utxo-root|utxo-csmt|utxo)\b/, "The root of all unspent outputs, with proofs."],
  ["Test wallet", /^\/api\/v1\/wallet/, "A wallet with the default accounts, for tests of dApps (CIP-30, CIP-95)."],
  ["Yaci DevKit", /^\/local-cluster/, "The admin API of Yaci DevKit."],
  HEALTH_GROUP,
];
