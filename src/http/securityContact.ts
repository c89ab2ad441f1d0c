/** `GET /.well-known/security.txt` (RFC 9116): where an instance's operators take reports of vulnerabilities. */
import type { Hono } from "hono";

/** How long an answer is valid: readers that keep it look again, days. RFC 9116 recommends less than a year. */
const VALID_DAYS = 90;
const DAY_MS = 86_400_000;

/** Whether a text is a contact of RFC 9116: an address, telephone number or page as a URI. Web pages need https. */
export function isSecurityContact(text: string): boolean {
  return /^(mailto:[^\s@]+@[^\s@]+|tel:\+?[\d-]+)$/.test(text) || (/^https:\/\/\S+$/.test(text) && URL.canParse(text));
}

/** Adds the file for a contact. It expires at the end of a day, so that it is the same for all requests of one. */
export function securityContact(app: Pick<Hono, "get">, contact: string, now: () => number = Date.now): void {
  app.get("/.well-known/security.txt", (c) => {
    const expires = new Date((Math.floor(now() / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString();
    return c.text(`Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n`, 200, {
      "cache-control": "public, max-age=3600",
    });
  });
}
