/**
 * What the events of a token say of requests, as JSON that a row of `jsonb` can hold and that is bounded: a long text is
 * a reference, and many changes are divided among several events.
 */
import { isStorable, toHex, utf8 } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { operationOf } from "#src/tokens/index/read.ts";
import { bytes, text } from "#src/tokens/index/rows.ts";
import { bytesText } from "#src/contract/text.ts";
import type { Row } from "#src/chain/index/projection.ts";
import { digest } from "#src/forestry/hash.ts";

/** Most bytes of JSON of one key or value. */
const MOST_TEXT = 2_000;
/** Most bytes of JSON of the changes in one event: its content has at most 8,000. */
const MOST_CHANGES = 7_000;

/** A key or a value: as text, in hexadecimal, or as a reference. */
type EventText = string | { readonly hex: string } | {
  readonly size: number;
  readonly digest: string;
  readonly href: string;
};

/** A request's change of one fact. */
export type EventChange = {
  readonly request: string;
  readonly requester: string;
  readonly key: EventText;
  readonly operation: "insert" | "update" | "delete";
  readonly oldValue?: EventText;
  readonly newValue?: EventText;
};

/** Bytes of a value as JSON. */
const sizeOf = (value: unknown): number => utf8(JSON.stringify(value)).length;

/** A key or a value. `href` is the path of the request that holds it. */
export function eventText(data: Uint8Array, href: string): EventText {
  const reference = () => ({ size: data.length, digest: toHex(digest(data)), href });
  // no JSON is shorter than the bytes
  if (data.length > MOST_TEXT) return reference();
  const written = bytesText(data);
  // `jsonb` holds neither zero bytes nor lone surrogates
  const said = isStorable(written) ? written : { hex: toHex(data) };
  return sizeOf(said) <= MOST_TEXT ? said : reference();
}

/** The change of a request, from its row. */
export function eventChange(row: Row): EventChange {
  const request = text(row, "ref");
  const href = `/token/${text(row, "token")}/requests/${request.replace("#", "-")}`;
  const operation = operationOf(row);
  const { type } = operation;
  const value = eventText(operation.value, href);
  return {
    request,
    requester: text(row, "owner"),
    key: eventText(bytes(row, "key"), href),
    operation: type,
    ...(type === "update" ? { oldValue: eventText(operation.old, href), newValue: value } : {}),
    ...(type === "insert" ? { newValue: value } : type === "delete" ? { oldValue: value } : {}),
  };
}

/** Changes in parts of which each fits into an event, in order; at least one part. */
export function partsOf(changes: readonly EventChange[]): [readonly EventChange[], ...(readonly EventChange[])[]] {
  const parts: [EventChange[], ...EventChange[][]] = [[]];
  let room = MOST_CHANGES;
  for (const change of changes) {
    const size = sizeOf(change) + 1;
    const last = elementAt(parts, parts.length - 1);
    if (size > room && last.length > 0) {
      parts.push([change]);
      room = MOST_CHANGES - size;
    } else {
      last.push(change);
      room -= size;
    }
  }
  return parts;
}
