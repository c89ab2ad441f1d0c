/**
 * Facts by pages and since a state, and request histories; safe in a browser, shared by edge, client and command line.
 */
import { z } from "zod";
import { keyEncoding } from "#src/api/proofs.ts";
import { change, facts, flag, request } from "#src/api/tokens.ts";

/** Most entries of a page. */
export const MOST = 1_000;

const limit = z.string().regex(/^[1-9]\d{0,3}$/, `a whole number from 1 to ${MOST}`).transform(Number)
  .pipe(z.int().max(MOST));
const after = z.string().min(1).max(1_000).optional().meta({
  description: "Where a page begins, as the `Link` before it says.",
});
const place = { type: "integer", minimum: 1, maximum: MOST } as const;

/** Encoding of keys and values. */
const encoding = z.enum(["text", "hex"]).default("text").meta({
  description:
    "How keys and values are written, asked and answered: `text`, in which a byte that is no UTF-8 is a lone surrogate U+DC80 to " +
    "U+DCFF in an answer and percent-encoded in a URL; or `hex`, in hexadecimal.",
});

export const factsQuery = {
  slots: flag.optional().meta({
    type: "boolean",
    description:
      "Whether each value comes with the slot of the block that set it; what the service was started with unless given.",
  }),
  prefix: z.string().max(65_536).optional().meta({ description: "Only facts whose keys begin with these bytes." }),
  since: z.string().regex(/^(-1|0|[1-9]\d{0,14})$|^[0-9a-fA-F]{64}[-#](0|[1-9]\d{0,4})$/, "a slot or a state output")
    .transform((value) => value.toLowerCase().replace("#", "-")).optional().meta({
      description:
        "Only what changed after a state of the token, named by its output (`at.outputRefId` of the answer before: exact whatever the " +
        "chain does meanwhile), or after a slot, which must not be above that of the token's state (`at.slot`): 409 `rolled_back`. The answer " +
        "is then `{facts, deleted, at}`.",
    }),
  limit: limit.optional().meta({
    ...place,
    description:
      'Most facts of an answer; the header `Link` says where the next ones are (`rel="next"`). All unless given.',
  }),
  after,
  encoding,
};

const slot = z.int().meta({ description: "Slot of the block." });
const slotted = z.record(z.string(), z.object({ value: z.string(), slot })).meta({ id: "FactsWithSlots" });

/** The state of a token. */
export const statePoint = z.object({
  slot: slot.meta({ description: "Slot of the block that made the state." }),
  outputRefId: z.string().meta({ description: "The state output, for `since` of the next question." }),
  root: z.string(),
}).meta({ id: "StatePoint" });

export const changedFacts = z.object({
  facts: z.union([facts, slotted]).meta({ description: "Facts that were set, with their values now." }),
  deleted: z.array(z.string()).meta({ description: "Keys that had a value then and have none now." }),
  at: statePoint,
}).meta({ id: "ChangedFacts" });

/** All forms of the answer with facts. */
export const anyFacts = z.union([facts, slotted, changedFacts]).meta({
  description:
    "The value of each key; `{value, slot}` with `slots`; `{facts, deleted, at}` with `since`, the oldest change first. By keys in " +
    "the order of their bytes with `prefix` or `limit`. All pages of one question show one state of the token.",
});

const historyPage = {
  limit: limit.default(100).meta({ ...place, default: 100, description: "Most entries of a page." }),
  after,
};

const at = z.object({
  slot,
  txHash: z.string().nullable().meta({
    description: "Null where it is not known: what ended before the index kept it.",
  }),
});
const status = z.enum(["live", "quarantined", "ended"]).meta({ description: "Of the token." });

/** A change of a key's value, or its removal. */
export const factChange = z.object({
  ...change.shape,
  value: z.string().nullable().meta({ description: "What the key had from then on; null for none." }),
  slot,
  txHash: at.shape.txHash,
  outputRefId: z.string().meta({ description: "The request." }),
  outputRef: z.string(),
  owner: request.shape.owner,
}).meta({ id: "FactChange" });

export const factHistoryQuery = { ...historyPage, encoding: keyEncoding };
export const factHistory = z.object({
  tokenId: z.string(),
  key: z.string().optional().meta({ description: "Left out where only the digest is known." }),
  status,
  history: z.array(factChange),
}).meta({ id: "FactHistory", description: "What a key had, the newest first." });

export const historyQuery = {
  key: z.string().max(65_536).optional().meta({ description: "Only requests for this key." }),
  status: z.enum(["open", "applied", "retracted"]).optional().meta({
    description: "Only these; those that ended come by when they did, the newest first.",
  }),
  owner: z.string().regex(/^[0-9a-fA-F]{56}$/, "56 hexadecimal digits").transform((value) => value.toLowerCase())
    .optional().meta({ description: "Only requests whose refund goes to this payment key hash." }),
  ...historyPage,
  encoding,
};

export const pastRequest = request.extend({
  lovelace: z.int().meta({ description: "Locked in the request's output." }),
  fee: z.int().meta({ description: "Lovelace of it that it offers to the owner of the token." }),
  status: z.enum(["open", "applied", "retracted"]),
  opened: z.object({ slot, txHash: z.string() }),
  closed: at.optional().meta({ description: "When it was applied or taken back." }),
}).meta({ id: "PastRequest" });

export const tokenHistory = z.object({
  tokenId: z.string(),
  status,
  requests: z.array(pastRequest),
}).meta({ id: "TokenHistory", description: "Requests of a token, the newest first; also after its end." });

export const config = z.object({
  address: z.string().meta({ description: "Address of the contract." }),
  policyId: z.string().meta({ description: "Hash of the contract: policy of the tokens." }),
  plutus: z.looseObject({}).meta({ description: "Blueprint of the contract (CIP-57)." }),
  network: z.object({ id: z.int().meta({ description: "In addresses." }), magic: z.int() }),
  versions: z.array(z.object({ version: z.string(), policyId: z.string(), address: z.string() })).meta({
    description: "Every published version of the contract, the current one last.",
  }),
  publication: z.string().meta({ description: "Address at whose outputs the contract stands as a reference script." }),
  factSlots: z.boolean().meta({ description: "Whether facts come with slots unless asked otherwise." }),
}).meta({ id: "Config" });
