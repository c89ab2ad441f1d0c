/** Which URLs a webhook may have. */
import { isPublic, literalAddress } from "#src/base/targetAddress.ts";

/** The refusal of addresses that are not public. */
export const REFUSED = "Webhooks do not go to addresses of this machine, of private networks or of the like.";

/** The problem with a webhook's URL, as a sentence; undefined for a good one. Nothing is resolved. */
export function webhookUrlProblem(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return "This is no URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "Webhook URLs must use https.";
  if (url.username !== "" || url.password !== "") {
    return "A URL with a name or a password in it would be shown in lists.";
  }
  if (url.hash !== "") return "A fragment is never sent.";
  // These names are this machine by definition (RFC 6761), however they resolve.
  if (!allowPrivate && /(^|\.)localhost\.?$/.test(url.hostname)) return REFUSED;
  const literal = literalAddress(url);
  if (!allowPrivate && literal !== undefined && !isPublic(literal)) return REFUSED;
  return undefined;
}
