/** Groups of the token service's operations. */
import { type Group, HEALTH_GROUP } from "#src/http/groups.ts";

export const TOKEN_GROUPS: readonly Group[] = [
  ["Facts", /^\/token\/\{tokenId\}\/facts/, "Facts of a token with their proofs, and their history."],
  ["Requests", /^\/token\/\{tokenId\}\/requests/, "Open and ended requests to change facts."],
  [
    "Log",
    /^\/(log|witness)\b|tlog-proof$/,
    "The transparency log of roots, and the witness for logs of other instances.",
  ],
  ["Tokens", /^\/(tokens|token\/.*|config)$/, "Live tokens, their state and what happened to them."],
  [
    "Builds",
    /^\/transaction\/\{(address|txHash)\}\/(?!cbor)/,
    "Unsigned transactions. Check, sign and submit them yourself.",
  ],
  ["Transactions", /^\/transaction/, "Submission, status and explanation of transactions."],
  [
    "Chain",
    /^\/(chain|utxo|utxo-root|utxo-csmt|indexer|wait)\b/,
    "What the ledger holds, as the index of this service has it.",
  ],
  ["Client", /^\/client\.js$/, "The typed client, as a module for browsers."],
  HEALTH_GROUP,
];
