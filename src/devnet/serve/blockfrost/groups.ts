/** Groups of the Blockfrost API: the first segment of a path. */
import { type Group, HEALTH_GROUP } from "#src/http/groups.ts";

const GROUPS = {
  accounts: "Stake accounts: their balance, delegation, rewards and addresses.",
  addresses: "Addresses: their balance, outputs and transactions.",
  assets: "Native assets: their supply, history and holders.",
  blocks: "Blocks and their transactions.",
  epochs: "Epochs: their stake, blocks and protocol parameters.",
  governance: "Committee, DReps and governance actions.",
  mempool: "Transactions that are in no block yet.",
  metadata: "Transaction metadata by label.",
  network: "Supply, stake and eras.",
  pools: "Stake pools.",
  scripts: "Scripts, datums and redeemers.",
  tx: "Submission.",
  txs: "Transactions and their contents.",
  utils: "Evaluation of scripts, and addresses of a public key.",
} as const;

export const API_GROUPS: readonly Group[] = [
  ...Object.entries(GROUPS).map((
    [name, description],
  ): Group => [name, new RegExp(`^/api/v1/${name}(/|$)`), description]),
  ["service", /^\/api\/v1\/?(health.*|metrics.*|genesis|policies.*|)$/, "This service, its clock and its network."],
  HEALTH_GROUP,
];
