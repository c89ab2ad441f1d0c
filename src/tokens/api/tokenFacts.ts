/**
 * Facts by pages and since a state, and request histories; safe in a browser, shared by edge, client and command line.
 */
import { z } from "zod";
import { keyEncoding } from "#src/tokens/api/proofs.ts";
import { atTop, change, encoding, facts, flag, request } from "#src/tokens/api/tokens.ts";

/** Most entries of a page. */
export const MOST = 1_000;

/** The number of entries of a page. */
export const limit = z.string().regex(/^[1-9]\d{0,3}$/, `expected a whole number from 1 to ${MOST}`).transform(Number)
  .pipe(z.int().max(MOST));
/** The cursor of a page. */
export const after = z.string().min(1).max(1_000).optional().describe(
  "Cursor of the page, from the `Link` header of the previous page.",
);
const place = { type: "integer", minimum: 1, maximum: MOST } as const;

export const factsQuery = {
  slots: flag.optional().meta({
    type: "boolean",
    description:
      "Whether each value comes with the slot of the block that set it. Default: the option --fact-slots of the service.",
  }),
  prefix: z.string().max(65_536).optional().describe("Only facts whose keys begin with these bytes."),
  contains: z.string().max(1_024).optional().describe(
    "Only facts with these bytes in the key or in the value, sorted by key. Not together with `since`.",
  ),
  ignoreCase: flag.optional().meta({
    type: "boolean",
    description: "Whether `contains` finds letters in upper and in lower case alike. Default: false.",
  }),
  since: z.string().regex(
    /^(-1|0|[1-9]\d{0,14})$|^[0-9a-fA-F]{64}[-#](0|[1-9]\d{0,4})$/,
    "expected a slot or a state output",
  )
    .transform((value) => value.toLowerCase().replace("#", "-")).optional().describe(
      "Only changes after a state of the token. The state is named by its output (`at.outputRefId` of the previous response; exact " +
        "within a block and after a rollback, too) or by a slot not above that of the token's state (`at.slot`; the end of the block " +
        "of that slot, which a rollback may have replaced), else 409 `rolled_back`. The response is `{facts, deleted, at}`.",
    ),
  limit: limit.optional().meta({
    ...place,
    description:
      'Maximum number of facts; the header `Link` (`rel="next"`) is the URL of the next page. Default: all facts.',
  }),
  after,
  encoding,
};

const slot = z.int().describe("Slot of the block.");
const slotted = z.record(z.string(), z.object({ value: z.string(), slot })).meta({ id: "FactsWithSlots" });

/** The state of a token. */
export const statePoint = z.object({
  slot: slot.describe("Slot of the block that created the state."),
  outputRefId: z.string().describe("The state output, for `since` of the next request."),
  root: z.string(),
}).meta({ id: "StatePoint" });

export const changedFacts = z.object({
  facts: z.union([facts, slotted]).describe("Facts that were set, with their current values."),
  deleted: z.array(z.string()).describe("Keys whose facts were deleted."),
  at: statePoint,
}).meta({ id: "ChangedFacts" });

/** All forms of the answer with facts. */
export const anyFacts = z.union([facts, slotted, changedFacts]).describe(
  "The value of each key; `{value, slot}` with `slots`; `{facts, deleted, at}` with `since`, the oldest change first. Sorted by " +
    "the bytes of the keys with `prefix` or `limit`. All pages of one listing show the same state of the token.",
);

const historyPage = {
  limit: limit.default(100).meta({ ...place, default: 100, description: "Maximum number of entries in a page." }),
  after,
};

const at = z.object({
  slot,
  txHash: z.string().nullable().describe(
    "Null if unknown: the request was closed, or the token ended, before the index recorded the transaction.",
  ),
});
const status = z.enum(["live", "quarantined", "ended"]).describe("Status of the token.");

/** A change of a key's value, or its removal. */
export const factChange = z.object({
  ...change.shape,
  value: z.string().nullable().describe("Value of the key after the change; null if it was deleted."),
  valueHex: z.string().nullable().describe("`value` in hexadecimal."),
  oldValueHex: z.string().optional().describe("`oldValue` in hexadecimal."),
  slot,
  txHash: at.shape.txHash,
  outputRefId: z.string().describe("The request that made the change."),
  outputRef: z.string(),
  owner: request.shape.owner,
}).meta({ id: "FactChange" });

export const factHistoryQuery = { ...historyPage, encoding: keyEncoding };
export const factHistory = z.object({
  tokenId: z.string(),
  key: z.string().optional().describe("Omitted if only the digest is known."),
  keyHex: z.string().optional().describe("`key` in hexadecimal."),
  status,
  history: z.array(factChange),
}).meta({ id: "FactHistory", description: "Values of a key, sorted from newest to oldest." });

export const historyQuery = {
  key: z.string().max(65_536).optional().describe("Only requests for this key."),
  status: z.enum(["open", "applied", "refused", "retracted"]).optional().describe(
    "Only requests with this status. Closed requests are sorted by their closing time, newest first.",
  ),
  owner: z.string().regex(/^[0-9a-fA-F]{56}$/, "expected 56 hexadecimal digits").transform((value) =>
    value.toLowerCase()
  )
    .optional().describe("Only requests that are refunded to this payment key hash."),
  ...historyPage,
  encoding,
};

export const pastRequest = request.extend({
  lovelace: z.int().describe("Lovelace in the request's output."),
  fee: z.int().describe("Part of it, in lovelace, offered to the token owner."),
  status: z.enum(["open", "applied", "refused", "retracted"]).describe(
    "`refused`: the token owner returned the whole deposit without applying it.",
  ),
  opened: z.object({ slot, txHash: z.string() }),
  closed: at.optional().describe("When the request was applied, refused or retracted."),
}).meta({ id: "PastRequest" });

export const tokenHistory = z.object({
  tokenId: z.string(),
  status,
  requests: z.array(pastRequest),
}).meta({
  id: "TokenHistory",
  description: "Requests of a token, sorted from newest to oldest; also available after the token has ended.",
});

export const openRequestsQuery = {
  owner: historyQuery.owner,
  limit: historyPage.limit,
  after,
  encoding,
};

export const openRequest = request.extend({
  refundAddress: z.string().describe("Address to which the deposit returns."),
  lovelace: pastRequest.shape.lovelace,
  fee: pastRequest.shape.fee,
  opened: pastRequest.shape.opened,
  pending: z.string().optional().describe("Hash of the pending transaction that spends the request, if there is one."),
  outlook: z.object({
    applies: z.boolean(),
    code: z.enum(["fact_exists", "fact_missing", "fact_differs"]).optional().describe(
      "Why it would not be applied.",
    ),
    message: z.string(),
    older: z.string().optional().describe(
      "The older request for the same key that would be applied before it or, if it would not be applied, in its place.",
    ),
  }).optional().describe(
    "What would happen to the request if the owner applied all open requests now, the oldest first: it is compared with the facts and " +
      "the older requests. The contract is not run, and whether a transaction has room for it is left to the dry run of an update. Absent if a pending transaction spends the request, if the token is not live, or if very many older requests for its key are open.",
  ),
}).meta({ id: "OpenRequest" });

export const openRequests = z.object({
  tokenId: z.string(),
  status,
  total: z.int().describe("Number of open requests of the token."),
  requests: z.array(openRequest),
}).meta({ id: "OpenRequests", description: "Open requests of a token, oldest first." });

/** Open requests in the answers of a signing service. */
export const signedOpenRequests = openRequests.extend({
  requests: z.array(openRequest.extend(atTop).meta({ id: "SignedOpenRequest" })),
}).meta({ id: "SignedOpenRequests", description: "Open requests of a token, oldest first." });

export const timelineQuery = { ...historyPage, encoding };

export const timeline = z.object({
  tokenId: z.string(),
  status,
  entries: z.array(z.object({
    type: z.enum(["booted", "requested", "applied", "refused", "retracted", "transferred", "ended"]),
    ...at.shape,
    owner: z.string().describe(
      "Payment key hash: of the token's owner after `booted` and `transferred` and before `ended`, else of the requester.",
    ),
    outputRefId: z.string().optional().describe("The request; absent for an entry that is not of a request."),
    change: change.optional(),
    lovelace: pastRequest.shape.lovelace.optional(),
    fee: pastRequest.shape.fee.optional(),
  })),
}).meta({
  id: "Timeline",
  description: "What happened to a token and its requests, newest first; also available after the token has ended.",
});

export const config = z.object({
  address: z.string().describe("Address of the contract, in the version that new tokens of this network have."),
  policyId: z.string().describe("Hash of the contract in that version: the policy id of the tokens."),
  plutus: z.looseObject({}).describe("Blueprint of the contract in that version (CIP-57)."),
  network: z.object({ id: z.int().describe("Network id in addresses."), magic: z.int() }),
  versions: z.array(z.object({ version: z.string(), policyId: z.string(), address: z.string() })).describe(
    "All published versions of the contract, the newest last.",
  ),
  publication: z.string().describe("Address whose outputs contain the contract as a reference script."),
  factSlots: z.boolean().describe("Whether facts include slots by default."),
  slots: z.object({
    zeroSlot: z.int(),
    zeroTime: z.int().describe("When the slot `zeroSlot` begins, in milliseconds since 1970."),
    slotLength: z.int().describe("Milliseconds."),
  }).describe("How slots map to time: a slot begins at `zeroTime + (slot - zeroSlot) * slotLength`."),
}).meta({ id: "Config" });
