/** The intents of requests and of rebuilds: what a transaction must do to be signed. */
import { bytesText } from "#src/contract/text.ts";
import { mostLocked } from "#src/client/amountLimits.ts";
import { keyBytes } from "#src/client/factKey.ts";
import type { Intent, Summary } from "#src/client/summary.ts";
import type { Rebuilt } from "#src/client/tokenTypes.ts";

/** A change that a request asks for; keys and values are bytes, or texts in this API's encoding. */
export interface RequestedChange {
  readonly type: "insert" | "update" | "delete";
  readonly key: string | Uint8Array;
  readonly oldValue?: string | Uint8Array;
  readonly newValue?: string | Uint8Array;
}

/** The intent of a request, its keys and values as a summary writes them. */
export function requestIntent(
  { type, key, oldValue = "", newValue = "" }: RequestedChange,
  token: string,
  address: string,
): Intent {
  const texts = [key, oldValue, newValue].map(keyBytes);
  const [keyText = "", before = "", after = ""] = texts.map(bytesText);
  const common = { token, address, key: keyText, maxLocked: mostLocked(...texts) };
  switch (type) {
    case "insert":
      return { type, ...common, newValue: after };
    case "update":
      return { type, ...common, oldValue: before, newValue: after };
    case "delete":
      return { type, ...common, oldValue: before };
  }
}

/** The intent of building a lost transaction again, from what its bytes say; undefined where they do not say it. */
export function intentAgain(lost: Summary, built: Rebuilt, given: string | undefined): Intent | undefined {
  const { tokens: [token, ...more], requests: [request, ...others], retracts: [retract, ...rest] } = lost;
  if (more.length + others.length + rest.length > 0) return undefined;
  // not what the service says: the one whose address it is would get the change
  const address = given ?? request?.refundAddress;
  if (address === undefined) return undefined;
  if (request && !token && !retract) {
    const { tokenId, change: { type, key, oldValue, newValue } } = request;
    return requestIntent({ type, key, oldValue: oldValue ?? "", newValue: newValue ?? "" }, tokenId, address);
  }
  if (retract && !token) return { type: "retract", request: retract.outputRef, address };
  if (!token || retract) return undefined;
  if (token.booted) return { type: "boot", address };
  if (token.ended) return { type: "end", token: token.tokenId, address };
  const refs = (some: Summary["tokens"][number]["applies"] = []) => some.map(({ outputRef }) => outputRef);
  const [applies, refuses] = [refs(token.applies), refs(token.refuses)];
  if (applies.length + refuses.length > 0) {
    const { applied = [], refused = [], mpfRoot: root } = built;
    const stays = applied.every((one) => applies.includes(one)) && refused.every((one) => refuses.includes(one));
    return stays
      ? { type: "apply", token: token.tokenId, requests: applied, refuse: refused, root, address }
      : undefined;
  }
  const { after } = token.owner;
  return after === null ? undefined : { type: "transfer", token: token.tokenId, to: after, address };
}
