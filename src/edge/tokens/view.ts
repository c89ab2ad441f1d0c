/** What clients see of tokens, requests and transactions. */
import type { LedgerTransaction } from "#src/chain/transactions.ts";
import type { OpenRequest, TokenLine, TokenState } from "#src/cage/index/read.ts";
import type { Cursor } from "#src/chain/cursor.ts";
import { bytesText } from "#src/cage/text.ts";
import type { OutRef } from "#src/cardano/output.ts";

/** An output as this API names it, `<hash>-<index>`. */
export function refText(ref: OutRef): string {
  return `${ref.txHash}-${ref.index}`;
}

/** The key of rows (`<hash>#<index>`) for an output as this API names it. */
export function refRow(text: string): string {
  return text.replace("-", "#");
}

/** A request; values under the names of every version of this API. */
export function requestView(request: OpenRequest) {
  const { operation } = request;
  const key = bytesText(request.key);
  const value = bytesText(operation.value);
  const change = operation.type === "update"
    ? { type: operation.type, key, oldValue: bytesText(operation.old), newValue: value }
    : operation.type === "insert"
    ? { type: operation.type, key, value, newValue: value }
    : { type: operation.type, key, value, oldValue: value };
  return { outputRefId: refText(request.utxo.ref), owner: request.owner, change };
}

/** A token with its open requests. */
export function tokenView(state: TokenState, requests: readonly OpenRequest[]) {
  const { token, owner, root } = state;
  return {
    tokenId: token,
    owner,
    root,
    state: { owner, root },
    outputRefId: refText(state.utxo.ref),
    status: state.quarantine === undefined ? "live" : "quarantined",
    requests: requests.map(requestView),
  };
}

/** A token in a list. */
export function tokenLine({ token, owner, root, ref }: TokenLine) {
  const outputRefId = refText(ref);
  const said = { owner, root };
  return { tokenId: token, owner, root, state: said, outputRefId, current: { state: said, outputRefId } };
}

/** How far the index has read; `ready` when it stands at the network's tip. */
export function statusView(cursor: Cursor) {
  return {
    ready: cursor.at.slot >= 0 && cursor.at.slot >= cursor.networkTip.slot,
    networkTip: cursor.networkTip.slot,
    indexerTip: cursor.at.slot,
  };
}

/** A transaction of the ledger; numbers as strings where older clients expect strings. */
export function transactionView(found: LedgerTransaction) {
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
  };
}
