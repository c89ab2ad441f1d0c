/**
 * Routes for the root of the unspent outputs: our own, those of cardano-utxo-csmt (below `/utxo-csmt`) and those of MPFS v2
 * (`/utxo`), so that one service can be the second source of another one's clients.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { isHex, toHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import { type NetworkId, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import type { OutRef } from "#src/cardano/output.ts";
import * as api from "#src/chain/utxoRoot/api.ts";
import type { BlockRoot, EncodedOutput, Proved, UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";
import { encodeRef } from "#src/csmt/key.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";

export interface UtxoRootRoutesOptions {
  readonly reads: UtxoRootReads;
  readonly network: NetworkId;
}

const answered = answeredBy(
  refusalOf({ utxo_root_unavailable: 503, too_many_outputs: 413, answer_too_large: 413, bad_address: 400 }),
);

const UNAVAILABLE = "`utxo_root_unavailable`: the tree is not at the newest block yet";
const TOO_MANY =
  "`too_many_outputs`, `answer_too_large`: the address has more outputs, or larger ones, than one answer may have";
const UNKNOWN = "`output_unknown`: no such unspent output";

/** Paths of the roots of blocks, which a page of another instance compares with what its own service says. */
export const ROOT_PATHS = /^\/(utxo-root|utxo-csmt\/merkle-roots)$/;

/** How long a request waits between two looks, in ms. */
const LOOK_MS = 250;

/** Requests that wait at the same time, at most. */
const MOST_WAITING = 100;

/** Examples of the routes, for the documents of the services that have them. */
export const UTXO_ROOT_EXAMPLES = new URL("./examples.json", import.meta.url);

/** Adds the routes to an app. */
export function utxoRootRoutes(app: OpenAPIHono, options: UtxoRootRoutesOptions): void {
  ownRoutes(app, options);
  csmtRoutes(app, options.reads);
  mpfsRoutes(app, options.reads);
}

function ownRoutes(app: OpenAPIHono, { reads, network }: UtxoRootRoutesOptions): void {
  const address = z.string().min(1).max(4_000).describe("Address, or its bytes in hexadecimal.");

  endpoint(app, "get", "/utxo-root", {
    summary: "The root of all unspent outputs after the newest block",
    answer: api.rootAnswer,
    refusals: { 503: UNAVAILABLE },
  }, async () => atView(answered(await reads.root())));

  endpoint(app, "get", "/utxo-root/addresses/:address", {
    summary: "All unspent outputs of an address, with the proof that there are no others",
    params: { address },
    answer: api.provedAddress,
    refusals: { 400: "`bad_address`", 413: TOO_MANY, 503: UNAVAILABLE },
  }, async ({ params }) => {
    const hex = readAddress(params.address, network);
    const { at, value, proof } = answered(await reads.address(hex));
    return {
      ...atView(at),
      address: hex,
      entries: value.map(({ ref: { txHash, index }, cbor }) => ({ txHash, index, cbor: toHex(cbor) })),
      proof: toHex(proof),
    };
  });

  endpoint(app, "get", "/utxo-root/addresses/:address/outputs/:txId/:index", {
    summary: "Whether an address has an unspent output, with the proof",
    params: { address, txId: api.txId, index: api.outputIndex },
    answer: api.provedOutput,
    refusals: { 400: "`bad_address`", 503: UNAVAILABLE },
  }, async ({ params }) => {
    const hex = readAddress(params.address, network);
    const { at, value, proof } = answered(await reads.outputAt(hex, refOf(params.txId, params.index)));
    return { ...atView(at), output: value ? toHex(value.cbor) : null, proof: toHex(proof) };
  });
}

/** The routes of cardano-utxo-csmt. */
function csmtRoutes(app: OpenAPIHono, reads: UtxoRootReads): void {
  const output = { txId: api.txId, txIx: api.outputIndex };

  endpoint(app, "get", "/utxo-csmt/merkle-roots", {
    summary: "The roots after the newest blocks, newest first, as cardano-utxo-csmt answers",
    answer: api.merkleRoots,
    refusals: { 503: UNAVAILABLE },
  }, async () =>
    answered(await reads.roots()).map(({ slot, hash, root }) => ({
      slotNo: slot,
      blockHash: hash,
      merkleRoot: root && toHex(root),
    })));

  endpoint(app, "get", "/utxo-csmt/proof/:txId/:txIx", {
    summary: "An unspent output and its proof, as cardano-utxo-csmt answers",
    params: output,
    answer: api.inclusion,
    refusals: { 404: UNKNOWN, 503: UNAVAILABLE },
  }, async ({ params: { txId, txIx } }) => {
    const { at, value, proof } = await provedOutput(reads, refOf(txId, txIx));
    return { slotNo: at.slot, blockHash: at.hash, proof: toHex(proof), txOut: toHex(value.cbor) };
  });

  endpoint(app, "get", "/utxo-csmt/utxos-by-address/:address", {
    summary: "The unspent outputs of an address, as cardano-utxo-csmt answers",
    params: { address: api.addressHex },
    answer: api.addressOutputs,
    refusals: { 413: TOO_MANY, 503: UNAVAILABLE },
  }, async ({ params }) =>
    answered(await reads.unspentAt(params.address.toLowerCase())).map(({ ref, cbor }) => ({
      txIn: toHex(encodeRef(ref)),
      txOut: toHex(cbor),
    })));

  let waiting = 0;
  endpoint(app, "get", "/utxo-csmt/await/:txId/:txIx", {
    summary: "Waits until an output is unspent, as cardano-utxo-csmt answers",
    params: output,
    query: { timeout: api.seconds },
    answer: api.awaited,
    refusals: {
      408: "`output_not_seen`: it was not there in time",
      503: `${UNAVAILABLE}; \`too_many_waiting\`: too many requests wait`,
    },
  }, async ({ params: { txId, txIx }, query: { timeout }, context }) => {
    if (waiting >= MOST_WAITING) {
      throw new HttpFailure(503, "too_many_waiting", `${MOST_WAITING} requests wait for outputs; try again.`);
    }
    waiting++;
    try {
      const ref = refOf(txId, txIx);
      const found = await seen(reads, ref, timeout * 1_000, context.req.raw.signal);
      if (found) return { txId: ref.txHash, txIx, txOut: toHex(found.cbor) };
      throw new HttpFailure(408, "output_not_seen", `The output was not there within ${timeout} seconds.`);
    } finally {
      waiting--;
    }
  });

  endpoint(app, "get", "/utxo-csmt/ready", {
    summary: "Whether the tree is at the newest block, as cardano-utxo-csmt answers",
    answer: api.progress,
  }, async () => {
    const { tipSlot, slot, ready } = await reads.progress();
    if (slot < 0) return { ready, tipSlot: null, processedSlot: null, slotsBehind: null };
    return { ready, tipSlot, processedSlot: slot, slotsBehind: tipSlot - slot };
  });
}

/** The routes of MPFS v2 for outputs. */
function mpfsRoutes(app: OpenAPIHono, reads: UtxoRootReads): void {
  const params = { txId: api.txId, txIx: api.outputIndex };
  const refusals = { 404: UNKNOWN, 503: UNAVAILABLE };

  endpoint(app, "get", "/utxo/root", {
    summary: "The root of all unspent outputs, as MPFS v2 answers",
    answer: api.hexText,
    refusals: { 404: "`no_outputs`: there is no output, and no root", 503: UNAVAILABLE },
  }, async () => {
    const { root } = answered(await reads.root());
    if (root) return toHex(root);
    throw new HttpFailure(404, "no_outputs", "There is no unspent output, and so no root.");
  });

  endpoint(app, "get", "/utxo/:txId/:txIx", {
    summary: "An unspent output, as MPFS v2 answers",
    params,
    answer: api.hexText,
    refusals,
  }, async ({ params: { txId, txIx } }) => toHex((await provedOutput(reads, refOf(txId, txIx))).value.cbor));

  endpoint(app, "get", "/utxo/:txId/:txIx/proof", {
    summary: "The proof that an output is unspent, as MPFS v2 answers",
    params,
    answer: api.hexText,
    refusals,
  }, async ({ params: { txId, txIx } }) => toHex((await provedOutput(reads, refOf(txId, txIx))).proof));
}

function refOf(txId: string, index: number): OutRef {
  return { txHash: txId.toLowerCase(), index };
}

function atView({ slot, hash, root }: BlockRoot) {
  return { point: { slot, hash }, root: root && toHex(root) };
}

/** An output with its proof. Throws `HttpFailure` 404 if it is not unspent. */
async function provedOutput(reads: UtxoRootReads, ref: OutRef): Promise<Proved<EncodedOutput>> {
  const proved = answered(await reads.output(ref));
  if (proved) return proved;
  throw new HttpFailure(404, "output_unknown", "There is no such unspent output.");
}

/** Looks for an output until it is there, for so many ms or until the client has gone. */
async function seen(
  reads: UtxoRootReads,
  ref: OutRef,
  ms: number,
  signal: AbortSignal,
): Promise<EncodedOutput | undefined> {
  for (const until = Date.now() + ms;;) {
    const found = await reads.output(ref);
    if (found.ok && found.value) return found.value.value;
    const left = until - Date.now();
    if (left <= 0 || signal.aborted) return undefined;
    await sleep(Math.min(LOOK_MS, left), signal);
  }
}

/** Bytes in hexadecimal of an address in either form. Throws `HttpFailure` 400. */
function readAddress(text: string, network: NetworkId): string {
  const { kind, hex } = answered(isHex(text) ? readAddressHex(text.toLowerCase()) : parseAddress(text, network));
  if (kind !== "reward") return hex;
  throw new HttpFailure(400, "bad_address", "A reward address has no outputs.", { reason: "kind" });
}
