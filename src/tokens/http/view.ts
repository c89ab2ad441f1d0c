/** What clients see of tokens, requests and transactions. */
import type { NewestToken } from "#src/tokens/pendingTokens.ts";
import { toHex } from "#src/base/bytes.ts";
import type { IndexedTransaction } from "#src/chain/index/transactions.ts";
import type { OpenRequest, TokenListItem, TokenLookup, TokenState } from "#src/tokens/index/read.ts";
import type { Cursor } from "#src/chain/index/cursor.ts";
import type { Operation } from "#src/contract/datum.ts";
import { bytesText } from "#src/contract/text.ts";
import { type OutRef, parseRefKey } from "#src/cardano/output.ts";

/** An output as this API names it, `<hash>-<index>`. */
export function refText(ref: OutRef): string {
  return `${ref.txHash}-${ref.index}`;
}

/** The key of rows (`<hash>#<index>`) for an output as this API names it. */
export function refRow(text: string): string {
  return text.replace("-", "#");
}

/** Bytes of a key or a value as clients see them. */
export type WriteBytes = (bytes: Uint8Array) => string;

/** Writes bytes in an encoding of this API. */
export const writerOf = (encoding: "text" | "hex"): WriteBytes => encoding === "hex" ? toHex : bytesText;

/** The change of a request; values under the names of every version of this API. */
export function changeView(keyBytes: Uint8Array, operation: Operation, write: WriteBytes = bytesText) {
  const { type } = operation;
  const key = write(keyBytes);
  const value = write(operation.value);
  const said = { type, operation: type, key, value };
  return type === "update"
    ? { ...said, oldValue: write(operation.old), newValue: value }
    : type === "insert"
    ? { ...said, newValue: value }
    : { ...said, oldValue: value };
}

/** An output under the names of every version of this API. */
export function refView(ref: OutRef) {
  return { outputRefId: refText(ref), outputRef: refText(ref) };
}

/** A request. */
export function requestView(request: OpenRequest, write: WriteBytes, changesAtTop: boolean) {
  const { utxo: { ref }, owner } = request;
  const change = changeView(request.key, request.operation, write);
  const { operation, key, value } = change;
  return { ...refView(ref), owner, change, ...(changesAtTop ? { id: refText(ref), operation, key, value } : {}) };
}

/** The state after a token's pending transactions; `undefined` where there are none. */
function pendingView({ after, requests, spent, chain, conflict }: NewestToken) {
  if (chain.length === 0 || after.status === "unknown") return undefined;
  const state = "state" in after
    ? { owner: after.state.owner, root: after.state.root, outputRefId: refText(after.state.utxo.ref) }
    : {};
  return {
    status: after.status,
    ...state,
    transactions: [...chain],
    requests: {
      made: requests.map(({ utxo }) => refText(utxo.ref)),
      spent: [...spent].map(([ref, txHash]) => ({ request: refText(parseRefKey(ref)), txHash })),
    },
    ...(conflict ? { conflict: [...conflict] } : {}),
  };
}

/** A token with its open requests, and its state after pending transactions. */
export function tokenView(
  state: TokenState,
  requests: readonly OpenRequest[],
  count: number,
  newest: NewestToken,
  write: WriteBytes,
  changesAtTop: boolean,
) {
  const pending = pendingView(newest);
  const { token, owner, root } = state;
  return {
    tokenId: token,
    owner,
    root,
    state: { owner, root },
    outputRefId: refText(state.utxo.ref),
    ...quarantineView(state),
    counts: { facts: state.facts, requests: count },
    requests: requests.map((one) => requestView(one, write, changesAtTop)),
    ...(pending ? { pending } : {}),
  };
}

/** Whether the index vouches for a token's facts, and why not. */
function quarantineView({ quarantine }: TokenState) {
  return quarantine === undefined ? { status: "live" } : { status: "quarantined", reason: quarantine };
}

/** Status and state of a token. */
export function tokenStatusView(tokenId: string, found: TokenLookup) {
  if (!("state" in found)) return { tokenId, status: found.status };
  const { owner, root, utxo } = found.state;
  return { tokenId, ...quarantineView(found.state), owner, root, outputRefId: refText(utxo.ref) };
}

/** A token in a list. */
export function tokenLine({ token, owner, root, ref, quarantined, facts, requests, booted, slot }: TokenListItem) {
  const outputRefId = refText(ref);
  const said = { owner, root };
  return {
    tokenId: token,
    owner,
    root,
    status: quarantined ? "quarantined" : "live",
    state: said,
    outputRefId,
    current: { state: said, outputRefId },
    counts: { facts, requests },
    booted: { slot: booted.slot, txHash: booted.ref.txHash },
    changed: { slot, txHash: ref.txHash },
  };
}

/** How far the index has read; `ready` at the network's tip. */
export function statusView(cursor: Cursor) {
  return {
    ready: cursor.at.slot >= 0 && cursor.at.slot >= cursor.networkTip.slot,
    networkTip: cursor.networkTip.slot,
    indexerTip: cursor.at.slot,
  };
}

/** A transaction of the ledger; numbers as strings where older clients expect strings. */
export function transactionView(found: IndexedTransaction & { readonly depth: number }) {
  return {
    hash: found.hash,
    txHash: found.hash,
    slot: String(found.slot),
    block: found.block,
    blockHeight: found.height,
    index: found.index,
    fees: String(found.fee),
    valid: found.valid,
    invalidBefore: found.validFrom === undefined ? "" : String(found.validFrom),
    invalidAfter: found.validTo === undefined ? "" : String(found.validTo),
    status: "in_ledger",
    depth: found.depth,
  };
}
