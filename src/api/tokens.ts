/** Requests and answers of the token service; safe in a browser, shared by edge, client and command line. */
import { z } from "zod";
import { errorBody } from "#src/api/errors.ts";
import { summary } from "#src/api/summary.ts";

/** A key or a value: text, with a lone surrogate U+DC80 to U+DCFF for each byte that is no UTF-8, as in answers. */
const text = z.string().refine(
  (value) => !/[\ud800-\udc7f\udd00-\udfff]/u.test(value),
  "a lone surrogate is no text that can be written on the ledger",
);
const hash = z.string().regex(/^[0-9a-fA-F]{64}$/, "64 hexadecimal digits").transform((value) => value.toLowerCase());

export const tokenId = hash.meta({
  description: "Id of a token: the name of its asset.",
  example: "96d1".padEnd(64, "0"),
});
export const txHash = hash.meta({ description: "Hash of a transaction." });
export const addressText = z.string().min(1).max(300).meta({
  description: "Address of a payment key on this network, base or enterprise.",
  example: "addr_test1vz…",
});
export const timeLimit = z.string().regex(/^[1-9]\d{0,8}$/, "milliseconds, a whole number").transform(Number).meta({
  type: "integer",
  description:
    "How long the client waits, in milliseconds; 30000 at the most. A command whose time is up before its turn " +
    "is not applied, a build ends.",
  example: 5000,
});
export const outputRef = z.string().regex(/^[0-9a-fA-F]{64}[-#](0|[1-9]\d{0,4})$/, "<transaction hash>-<output index>")
  .transform((value) => value.toLowerCase().replace("#", "-")).meta({
    description: "An output, `<transaction hash>-<output index>`.",
  });

const operation = z.enum(["insert", "update", "delete"]);

/** A value under one of its names; undefined where both are given and differ, or neither is. */
function named(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined || a === b ? a ?? b : undefined;
}

/** The two names of one value in a body, and the message where it has none or two values. */
const names = (value: string) => `give the value as value or as ${value}`;

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
  .transform(({ key, value, newValue }) => ({ key, newValue: (newValue ?? value)! }))
  .meta({ id: "InsertRequest", description: "A fact to add." });

export const updateBody = z.object({
  key: text,
  oldValue: text,
  value: text.optional(),
  newValue: text.optional(),
  ...saying("update"),
})
  .refine(({ value, newValue }) => named(value, newValue) !== undefined, names("newValue"))
  .transform(({ key, oldValue, value, newValue }) => ({ key, oldValue, newValue: (newValue ?? value)! }))
  .meta({ id: "UpdateRequest", description: "A fact to change." });

export const deleteBody = z.object({
  key: text,
  value: text.optional(),
  oldValue: text.optional(),
  ...saying("delete"),
})
  .refine(({ value, oldValue }) => named(value, oldValue) !== undefined, names("oldValue"))
  .transform(({ key, value, oldValue }) => ({ key, oldValue: (oldValue ?? value)! }))
  .meta({ id: "DeleteRequest", description: "A fact to remove; the value is its current one." });

export const submitBody = z.object({
  signedTransaction: z.string().regex(/^([0-9a-fA-F]{2})+$/, "hexadecimal CBOR"),
}).meta({ id: "SubmitRequest" });

export const waitBody = z.object({ n: z.int().min(0).max(1_000) }).meta({ id: "WaitRequest" });

export const change = z.object({
  type: operation,
  operation: operation.meta({ description: "The same as `type`." }),
  key: z.string(),
  value: z.string().optional().meta({ description: "The new value, or the current one of a delete." }),
  oldValue: z.string().optional(),
  newValue: z.string().optional(),
}).meta({ id: "Change" });

export const request = z.object({
  outputRefId: z.string(),
  outputRef: z.string().meta({ description: "The same as `outputRefId`." }),
  owner: z.string().meta({ description: "Payment key hash of the refund address." }),
  change,
}).meta({ id: "Request" });

const state = z.object({ owner: z.string(), root: z.string() });

export const token = z.object({
  tokenId: z.string(),
  owner: z.string().meta({ description: "Payment key hash of the owner." }),
  root: z.string().meta({ description: "Root of the facts; 64 zeros when there are none." }),
  state,
  outputRefId: z.string(),
  status: z.enum(["live", "quarantined"]).meta({
    description: "Of a quarantined token the index knows the state, and not which facts its root stands for.",
  }),
  reason: z.string().optional().meta({ description: "Why it is quarantined." }),
  requests: z.array(request),
}).meta({ id: "Token" });

export const facts = z.record(z.string(), z.string()).meta({ id: "Facts" });

export const indexerStatus = z.object({
  ready: z.boolean(),
  networkTip: z.int().meta({ description: "Slot." }),
  indexerTip: z.int().meta({ description: "Slot." }),
}).meta({ id: "IndexerStatus" });

export const tokens = z.object({
  tokens: z.array(z.object({
    tokenId: z.string(),
    owner: z.string(),
    root: z.string(),
    status: z.enum(["live", "quarantined"]),
    state,
    outputRefId: z.string(),
    current: z.object({ state, outputRefId: z.string() }),
  })),
  indexerStatus,
}).meta({ id: "Tokens" });

const warnings = z.array(z.object({ code: z.string(), message: z.string() }));
export const unsigned = z.object({
  unsignedTransaction: z.string().meta({ description: "CBOR in hexadecimal, without key witnesses." }),
  summary,
  warnings: warnings.optional().meta({
    description:
      "`protocol_version_unknown`: the network has a newer protocol version than this release knows, so units and fees may be wrong.",
  }),
}).meta({ id: "UnsignedTransaction" });
export const unsignedBoot = unsigned.extend({
  value: z.string().meta({ description: "Id that the token will have." }),
}).meta({ id: "UnsignedBoot" });
export const unsignedRequest = unsigned.extend({
  warnings: warnings.meta({
    description: "What would fail once the open requests apply; empty when nothing is known against it.",
  }),
}).meta({ id: "UnsignedRequest" });
const applying = z.object({
  mpfRoot: z.string().meta({ description: "Root after the requests apply." }),
  applied: z.array(z.string()).meta({ description: "Requests that it applies, in the ledger's order." }),
  left: z.array(z.object({
    request: z.string(),
    code: z.string(),
    message: z.string(),
    lostTo: z.string().optional().meta({
      description: "The older request of the same key that stands before it: without that one it could be applied now.",
    }),
  })).meta({
    description:
      "Requests that stay open, oldest first, each with the reason: `fact_exists`, `fact_missing`, `fact_differs` after those before it; " +
      "`not_applicable`; `no_room` in this transaction; `out_of_order`, which the ledger would apply before an older one of its key; " +
      "`older_waits`, where an older one of its key is next and not in this transaction.",
  }),
});
export const unsignedUpdate = unsigned.extend(applying.shape).meta({ id: "UnsignedUpdate" });
export const updateDryRun = applying.extend({
  dryRun: z.literal(true),
  fee: z.string().meta({ description: "Lovelace." }),
  size: z.int().meta({ description: "Bytes once signed." }),
}).meta({ id: "UpdateDryRun", description: "What an update would do; nothing was offered to sign." });
export const unsignedTransfer = unsigned.extend({
  owner: z.string().meta({ description: "Key hash of the next owner." }),
  signers: z.array(z.string()).meta({ description: "Key hashes of all who must sign: the owner and the next one." }),
}).meta({ id: "UnsignedTransfer" });
export const flag = z.enum(["true", "false"]).transform((text) => text === "true").meta({ type: "boolean" });

export const submitted = z.object({ txHash: z.string() }).meta({ id: "Submitted" });

export const transaction = z.object({
  hash: z.string(),
  txHash: z.string(),
  slot: z.string(),
  block: z.string(),
  blockHeight: z.int(),
  index: z.int(),
  fees: z.string().meta({ description: "Lovelace." }),
  valid: z.boolean(),
  invalidBefore: z.string().meta({ description: "Slot, or empty." }),
  invalidAfter: z.string().meta({ description: "Slot, or empty." }),
  status: z.literal("in_ledger"),
  depth: z.int().meta({ description: "Blocks on top of the one that holds it." }),
}).meta({ id: "Transaction", description: "A transaction of the ledger." });

/** Longest wait of a request, in milliseconds. */
export const LONGEST_WAIT_MS = 60_000;
export const waitMs = z.string().regex(/^\d{1,6}$/, `milliseconds, a whole number up to ${LONGEST_WAIT_MS}`).transform(
  Number,
)
  .refine((ms) => ms <= LONGEST_WAIT_MS, `${LONGEST_WAIT_MS} ms at the most`).meta({
    type: "integer",
    description: `Milliseconds that the answer may wait, ${LONGEST_WAIT_MS} at the most.`,
    example: 20_000,
  });
export const depth = z.string().regex(/^\d{1,4}$/, "blocks, a whole number up to 9999").transform(Number).meta({
  type: "integer",
  description: "Blocks that are to be on top of the one that holds the transaction.",
  example: 5,
});
export const notInLedger = errorBody.extend({
  details: z.object({
    status: z.enum(["mempool", "pending", "rolled_back", "expired", "unknown"]),
    rolledBackFrom: z.int().optional().meta({ description: "Slot of the block that held it and is no more." }),
  }),
}).meta({ id: "NotInLedger" });

export const height = z.object({ height: z.int() }).meta({ id: "Height" });
