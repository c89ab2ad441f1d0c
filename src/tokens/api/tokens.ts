/** Requests and answers of the token service; safe in a browser, shared by edge, client and command line. */
import { z } from "zod";
import { errorBody } from "#src/http/errorBody.ts";
import { summary } from "#src/contract/summary/schema.ts";
import { walletId } from "#src/wallets/api/params.ts";

/** A key or a value: text, with a lone surrogate U+DC80 to U+DCFF for each byte that is no UTF-8, as in answers. */
const text = z.string().refine(
  (value) => !/[\ud800-\udc7f\udd00-\udfff]/u.test(value),
  "a lone surrogate cannot be encoded on the ledger",
);
/** Encoding of keys and values. */
export const encoding = z.enum(["text", "hex"]).default("text").describe(
  "Encoding of keys and values in requests and responses. `text`: a byte that is not UTF-8 is a lone surrogate U+DC80 to " +
    "U+DCFF in JSON and percent-encoded in a URL. `hex`: hexadecimal.",
);

const hash = z.string().regex(/^[0-9a-fA-F]{64}$/, "expected 64 hexadecimal digits").transform((value) =>
  value.toLowerCase()
);

export const tokenId = hash.meta({
  description: "Id of a token: its asset name.",
  example: "96d1".padEnd(64, "0"),
});
export const txHash = hash.describe("Hash of a transaction.");
export const addressText = z.string().min(1).max(300).meta({
  description: "Address of a payment key on this network, base or enterprise.",
  example: "addr_test1vz…",
});
export const timeLimit = z.string().regex(/^[1-9]\d{0,8}$/, "expected a whole number of milliseconds").transform(Number)
  .meta({
    type: "integer",
    description:
      "The client's timeout in milliseconds, at most 30000. A command whose timeout expires before its turn " +
      "is not applied; a build is cancelled.",
    example: 5000,
  });
export const outputRef = z.string().regex(
  /^[0-9a-fA-F]{64}[-#](0|[1-9]\d{0,4})$/,
  "expected <transaction hash>-<output index>",
)
  .transform((value) => value.toLowerCase().replace("#", "-")).describe(
    "An output, `<transaction hash>-<output index>`.",
  );

const operation = z.enum(["insert", "update", "delete"]);

/** A value under one of its names; undefined where both are given and differ, or neither is. */
function named(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined || a === b ? a ?? b : undefined;
}

/** A value that the schema of a body has required under one of its names. */
function required(value: string | undefined): string {
  if (value === undefined) throw new TypeError("a body without a value has passed its schema");
  return value;
}

/** The two names of one value in a body, and the message where it has none or two values. */
const names = (value: string) =>
  `the value is required, as value or as ${value}; if both are given, they must be equal`;

/** The type of a request in its body: it must be that of the path. */
const saying = (kind: z.infer<typeof operation>) => {
  const said = z.literal(kind).optional();
  return { type: said, operation: said };
};

export const insertBody = z.object({
  key: text,
  value: text.optional(),
  newValue: text.optional(),
  ...saying("insert"),
})
  .refine(({ value, newValue }) => named(value, newValue) !== undefined, names("newValue"))
  .transform(({ key, value, newValue }) => ({ key, newValue: required(newValue ?? value) }))
  .meta({ id: "InsertRequest", description: "A fact to add." });

export const updateBody = z.object({
  key: text,
  oldValue: text,
  value: text.optional(),
  newValue: text.optional(),
  ...saying("update"),
})
  .refine(({ value, newValue }) => named(value, newValue) !== undefined, names("newValue"))
  .transform(({ key, oldValue, value, newValue }) => ({ key, oldValue, newValue: required(newValue ?? value) }))
  .meta({ id: "UpdateRequest", description: "A fact to change." });

export const deleteBody = z.object({
  key: text,
  value: text.optional(),
  oldValue: text.optional(),
  ...saying("delete"),
})
  .refine(({ value, oldValue }) => named(value, oldValue) !== undefined, names("oldValue"))
  .transform(({ key, value, oldValue }) => ({ key, oldValue: required(oldValue ?? value) }))
  .meta({ id: "DeleteRequest", description: "A fact to remove, with its current value." });

export const submitBody = z.object({
  signedTransaction: z.string().regex(/^([0-9a-fA-F]{2})+$/, "expected hexadecimal CBOR"),
}).meta({ id: "SubmitRequest" });

export const waitBody = z.object({ n: z.int().min(0).max(1_000) }).meta({ id: "WaitRequest" });

export const change = z.object({
  type: operation,
  operation: operation.describe("Equal to `type`."),
  key: z.string(),
  value: z.string().optional().describe("The new value; for a delete, the current value."),
  oldValue: z.string().optional(),
  newValue: z.string().optional(),
}).meta({ id: "Change" });

export const request = z.object({
  outputRefId: z.string(),
  outputRef: z.string().describe("Equal to `outputRefId`."),
  owner: z.string().describe("Payment key hash of the refund address."),
  change,
}).meta({ id: "Request" });

const state = z.object({ owner: z.string(), root: z.string() });

export const pendingState = z.object({
  status: z.enum(["live", "quarantined", "ended"]),
  owner: z.string().optional().describe("Payment key hash of the owner; absent if `ended`."),
  root: z.string().optional().describe("Root of the facts; absent if `ended`."),
  outputRefId: z.string().optional().describe("The state output; absent if `ended`."),
  transactions: z.array(z.string()).describe(
    "Hashes of the pending transactions, in the order in which a block can hold them.",
  ),
  requests: z.object({
    made: z.array(z.string()).describe("Requests that they make and that are open after them."),
    spent: z.array(z.object({
      request: z.string(),
      txHash: z.string().describe("Hash of the transaction that applies or retracts it."),
    })).describe("Requests that are open on the ledger or made by them, and that they spend."),
  }),
  conflict: z.array(z.string()).optional().describe(
    "Hashes of two pending transactions that exclude each other: nothing can follow them before a block decides.",
  ),
}).meta({
  id: "PendingState",
  description:
    "The state on which builds stand: that of the ledger after the transactions that were submitted here and are in no block.",
});

const counts = z.object({
  facts: z.int().describe("Number of facts."),
  requests: z.int().describe("Number of open requests."),
});

export const token = z.object({
  tokenId: z.string(),
  owner: z.string().describe("Payment key hash of the owner."),
  root: z.string().describe("Root of the facts; 64 zeros if there are none."),
  state,
  outputRefId: z.string(),
  status: z.enum(["live", "quarantined"]).describe(
    "`quarantined`: the index knows the token's state, but not the facts under its root.",
  ),
  reason: z.string().optional().describe("Reason of the quarantine."),
  counts,
  requests: z.array(request).describe("Open requests; empty with `requests=false`."),
  pending: pendingState.optional().describe("Absent if no pending transaction concerns the token."),
}).meta({ id: "Token" });

/** What requests of a signing service have at their top: clients of its first version read it there. */
export const atTop = {
  id: z.string().describe("Equal to `outputRefId`."),
  operation: change.shape.operation.describe("Equal to `change.operation`."),
  key: change.shape.key.describe("Equal to `change.key`."),
  value: change.shape.value.describe("Equal to `change.value`."),
};
/** A token in the answers of a signing service. */
export const signedToken = token.extend({
  requests: z.array(request.extend(atTop).meta({ id: "SignedRequest" })).describe(
    token.shape.requests.description ?? "",
  ),
}).meta({ id: "SignedToken" });

export const facts = z.record(z.string(), z.string()).meta({ id: "Facts" });

export const indexerStatus = z.object({
  ready: z.boolean(),
  networkTip: z.int().describe("Slot of the network's tip."),
  indexerTip: z.int().describe("Slot of the last indexed block."),
}).meta({ id: "IndexerStatus" });

const block = z.object({ slot: z.int().describe("Slot of the block."), txHash: z.string() });

export const tokens = z.object({
  tokens: z.array(z.object({
    tokenId: z.string(),
    owner: z.string(),
    root: z.string(),
    status: z.enum(["live", "quarantined"]),
    state,
    outputRefId: z.string(),
    current: z.object({ state, outputRefId: z.string() }),
    counts,
    booted: block.describe("The transaction that created the token."),
    changed: block.describe("The transaction that made the current state."),
  })),
  indexerStatus,
}).meta({ id: "Tokens" });

const warning = z.object({ code: z.string(), message: z.string() });
export const unsigned = z.object({
  unsignedTransaction: z.string().describe("CBOR in hexadecimal, without key witnesses."),
  summary,
  warnings: z.array(warning).optional().describe(
    "`protocol_version_unknown`: the network's protocol version is newer than this release supports; units and fees may be wrong.",
  ),
}).meta({ id: "UnsignedTransaction" });
export const unsignedBoot = unsigned.extend({
  value: z.string().describe("Id of the new token."),
}).meta({ id: "UnsignedBoot" });
export const unsignedRequest = unsigned.extend({
  warnings: z.array(warning.extend({
    request: z.string().optional().describe("The open or pending request for the same key that it conflicts with."),
  })).describe(
    "Expected failures of the request after the open requests are applied; empty if none are expected.",
  ),
}).meta({ id: "UnsignedRequest" });
const applying = z.object({
  mpfRoot: z.string().describe("Root after the requests are applied."),
  applied: z.array(z.string()).describe("Applied requests, in ledger order."),
  refused: z.array(z.string()).describe("Refused requests, in ledger order: their whole deposits return."),
  left: z.array(z.object({
    request: z.string(),
    code: z.string(),
    message: z.string(),
    lostTo: z.string().optional().describe(
      "The older request for the same key that takes precedence; without it, this request could be applied now.",
    ),
  })).describe(
    "Requests that stay open, oldest first, each with a reason: `fact_exists`, `fact_missing` or `fact_differs` after the earlier " +
      "requests; `not_applicable`; `no_room` in this transaction; `out_of_order`: the ledger would apply it before an older request " +
      "for its key; `older_waits`: an older request for its key must be applied first and is not in this transaction. Of those that the " +
      "facts do not allow, the oldest; without names at most 200.",
  ),
  unlisted: z.int().optional().describe(
    "Number of further open requests that the update leaves: the facts do not allow them now. Absent if there is none.",
  ),
});
export const unsignedUpdate = unsigned.extend(applying.shape).meta({ id: "UnsignedUpdate" });
export const updateDryRun = applying.extend({
  dryRun: z.literal(true),
  fee: z.string().describe("Lovelace."),
  size: z.int().describe("Size of the signed transaction in bytes."),
}).meta({ id: "UpdateDryRun", description: "Result of an update without building a transaction to sign." });
export const unsignedTransfer = unsigned.extend({
  owner: z.string().describe("Key hash of the new owner."),
  signers: z.array(z.string()).describe("Key hashes of the required signers: the current and the new owner."),
}).meta({ id: "UnsignedTransfer" });
export const rebuilt = unsigned.extend({
  replaces: z.string().describe("Hash of the transaction that was lost."),
  action: z.enum(["boot", "request", "update", "transfer", "retract", "end"]).describe("What both transactions do."),
  address: z.string().describe("The address for which it is built: it pays and signs."),
  value: unsignedBoot.shape.value.optional(),
  ...applying.partial().shape,
  owner: unsignedTransfer.shape.owner.optional(),
  signers: unsignedTransfer.shape.signers.optional(),
}).meta({ id: "RebuiltTransaction" });
/** The wallet that pays. Its id is not on the chain: it is what its owner has. */
export const payingWallet = walletId.meta({
  description:
    "The wallet of this instance that the address belongs to. It pays with any of its coins and gets the change at an " +
    "address of its own; all keys of the coins must sign, as `transactions-sign` of the wallet service does.",
});
export const flag = z.enum(["true", "false"]).transform((text) => text === "true").meta({ type: "boolean" });

export const transactionCbor = z.object({
  txHash: z.string(),
  cbor: z.string().describe("CBOR in hexadecimal; the hash is that of its body."),
}).meta({ id: "TransactionBytes" });

export const submitted = z.object({ txHash: z.string() }).meta({ id: "Submitted" });

export const transaction = z.object({
  hash: z.string(),
  txHash: z.string(),
  slot: z.string(),
  block: z.string(),
  blockHeight: z.int(),
  index: z.int(),
  fees: z.string().describe("Lovelace."),
  valid: z.boolean(),
  invalidBefore: z.string().describe("Slot, or empty if unbounded."),
  invalidAfter: z.string().describe("Slot, or empty if unbounded."),
  status: z.literal("in_ledger"),
  depth: z.int().describe("Number of blocks after the block that contains the transaction."),
}).meta({ id: "Transaction", description: "A transaction on the ledger." });

/** Longest wait of a request, in milliseconds. */
export const LONGEST_WAIT_MS = 60_000;
export const waitMs = z.string().regex(/^\d{1,6}$/, `expected a whole number of milliseconds up to ${LONGEST_WAIT_MS}`)
  .transform(
    Number,
  )
  .refine((ms) => ms <= LONGEST_WAIT_MS, `expected at most ${LONGEST_WAIT_MS} ms`).meta({
    type: "integer",
    description: `Maximum time to wait in milliseconds, at most ${LONGEST_WAIT_MS}.`,
    example: 20_000,
  });
export const depth = z.string().regex(/^\d{1,4}$/, "expected a whole number of blocks up to 9999").transform(Number)
  .meta({
    type: "integer",
    description: "Required number of blocks after the block that contains the transaction.",
    example: 5,
  });
export const notInLedger = errorBody.extend({
  details: z.object({
    status: z.enum(["mempool", "pending", "rolled_back", "expired", "refused", "unknown"]),
    rolledBackFrom: z.int().optional().describe("Slot of the rolled-back block that contained the transaction."),
    causes: z.array(z.object({ name: z.string(), message: z.string() })).optional().describe(
      "Why the network refuses an `expired` or `refused` transaction before its last slot, by the ledger's names, or `TransactionLost` first: it " +
        "depends on a transaction that expired or is refused, which the message names.",
    ),
    signers: z.array(z.string()).optional().describe(
      "Hashes of the keys that signed an `expired` or `refused` transaction: they sign again what replaces it.",
    ),
    dependents: z.array(z.object({ txHash: z.string(), signers: z.array(z.string()) })).optional().describe(
      "The transactions that cannot enter the ledger without an `expired` or `refused` one, parents first, at most 100. Each is to be built and signed again.",
    ),
    rebuild: z.string().optional().describe(
      "Path that builds an unsigned transaction in place of an `expired` or `refused` one of a token.",
    ),
  }),
}).meta({ id: "NotInLedger" });

export const height = z.object({ height: z.int() }).meta({ id: "Height" });
