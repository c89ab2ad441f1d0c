/**
 * Warnings before a request is made: whether it would fail once the open requests for its key are applied. And what would
 * happen to each open request if they were applied now.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import type { Operation } from "#src/contract/datum.ts";
import type { PendingToken } from "#src/tokens/index/pending.ts";
import { type OpenRequest, readFactsAt, readOpenChanges } from "#src/tokens/index/read.ts";
import { refKey } from "#src/cardano/output.ts";
import { digest } from "#src/forestry/hash.ts";
import type { Queries } from "#src/store/store.ts";

interface Warning {
  readonly code: "fact_exists" | "fact_missing" | "fact_differs";
  readonly message: string;
  /** The open request (`refKey`) that it conflicts with: it could be applied instead of that one, and not after it. */
  readonly request?: string;
}

/** A request that is not applied yet. */
export interface OpenChange {
  /** `refKey` of its output. */
  readonly ref: string;
  readonly operation: Operation;
}

/** A key's value after an operation; unchanged if the operation fails. */
export function afterOperation(
  value: Uint8Array | undefined,
  operation: Operation,
): { value: Uint8Array | undefined; failed?: Warning } {
  if (operation.type === "insert") {
    if (value) return { value, failed: { code: "fact_exists", message: "The key already has a value." } };
    return { value: operation.value };
  }
  const expected = operation.type === "update" ? operation.old : operation.value;
  if (!value) return { value, failed: { code: "fact_missing", message: "The key has no value." } };
  if (!equalBytes(value, expected)) {
    return { value, failed: { code: "fact_differs", message: "The key has another value." } };
  }
  return { value: operation.type === "update" ? operation.value : undefined };
}

/**
 * The reason for which a request would fail after the open requests for its key, from the oldest; undefined if it would not.
 * `value` is the key's current one.
 */
export function expectedFailure(
  value: Uint8Array | undefined,
  open: readonly OpenChange[],
  operation: Operation,
): Warning | undefined {
  let now = value;
  let { failed } = afterOperation(now, operation);
  let request: string | undefined;
  for (const one of open) {
    now = afterOperation(now, one.operation).value;
    const next = afterOperation(now, operation).failed;
    if (!failed && next) request = one.ref;
    failed = next;
  }
  if (!failed) return undefined;
  const when = open.length > 0 ? " once the open requests apply" : "";
  const message = failed.message.replace(/\.$/, `${when}.`);
  return { code: failed.code, message, ...(request === undefined ? {} : { request }) };
}

/** What would happen to an open request if all open requests were applied now, the oldest first. */
export interface RequestOutlook {
  /** Absent if it would be applied. */
  readonly failure?: Pick<Warning, "code" | "message">;
  /** The older request for the same key that would be applied first (`refKey`); without it, a failing request would be applied. */
  readonly older?: string;
}

/**
 * The outlook of each open request for one key, oldest first, by its `ref`. `value` is the key's current one. One that
 * fails with and without the older ones names none.
 */
export function requestOutlooks(
  value: Uint8Array | undefined,
  open: readonly OpenChange[],
): Map<string, RequestOutlook> {
  const found = new Map<string, RequestOutlook>();
  let now = value;
  let applied: string | undefined;
  /** Each value before one of the applied requests, with that request. */
  const passed: { readonly before: Uint8Array | undefined; readonly ref: string }[] = [];
  for (const { ref, operation } of open) {
    const next = afterOperation(now, operation);
    if (!next.failed) {
      found.set(ref, applied === undefined ? {} : { older: applied });
      passed.push({ before: now, ref });
      applied = ref;
      now = next.value;
      continue;
    }
    const { code, message } = next.failed;
    const lostTo = passed.findLast(({ before }) => !afterOperation(before, operation).failed);
    found.set(ref, { failure: { code, message }, ...(lostTo ? { older: lostTo.ref } : {}) });
  }
  return found;
}

/** Most open requests that are compared with each other: for one key, and for all keys of a page. */
const MOST_COMPARED = 10_000;

/**
 * The outlooks of open requests of a token, by `refKey`, after its pending transactions; none of a request before which too
 * many for its key are open.
 */
export async function readOutlooks(
  sql: Queries,
  token: string,
  requests: readonly OpenRequest[],
  pending: Pick<PendingToken, "changes" | "spent">,
): Promise<Map<string, RequestOutlook>> {
  const paths = [...new Set(requests.map(({ path }) => path))];
  const most = Math.ceil(MOST_COMPARED / Math.max(1, paths.length));
  const [facts, open] = await Promise.all([readFactsAt(sql, token, paths), readOpenChanges(sql, token, paths, most)]);
  const outlooks = paths.map((path) => {
    let value = facts.get(path);
    for (const change of pending.changes.filter((one) => one.path === path)) {
      value = afterOperation(value, change.operation).value;
    }
    return requestOutlooks(value, (open.get(path) ?? []).filter(({ ref }) => !pending.spent.has(ref)));
  });
  return new Map(outlooks.flatMap((some) => [...some]));
}

/**
 * Reasons for which the request would fail after the pending transactions; empty if none is known. Of very many open
 * requests for its key the oldest are considered.
 */
export async function requestWarnings(
  sql: Queries,
  token: string,
  key: Uint8Array,
  operation: Operation,
  pending: Pick<PendingToken, "changes" | "requests" | "spent">,
): Promise<Warning[]> {
  const path = toHex(digest(key));
  const ofKey = (one: { readonly path: string }) => one.path === path;
  let value = (await readFactsAt(sql, token, [path])).get(path);
  for (const change of pending.changes.filter(ofKey)) value = afterOperation(value, change.operation).value;
  const stored = (await readOpenChanges(sql, token, [path], MOST_COMPARED)).get(path) ?? [];
  const made = pending.requests.filter(ofKey).map(({ utxo, operation }) => ({ ref: refKey(utxo.ref), operation }));
  const open = [...stored.filter(({ ref }) => !pending.spent.has(ref)), ...made];
  const failure = expectedFailure(value, open, operation);
  return failure ? [failure] : [];
}
