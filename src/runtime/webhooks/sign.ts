/**
 * Signatures of Standard Webhooks (standardwebhooks.com, version 1.0.0): HMAC-SHA256 over `<id>.<timestamp>.<body>`.
 */
import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";

/** A new secret of 32 random bytes. */
export function newSecret(): Uint8Array {
  return randomBytes(32);
}

/** The text form of a secret: `whsec_` and base64. */
export function secretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString("base64")}`;
}

/**
 * The headers with the id and the signature of a message. `at` is in milliseconds since 1970; the id contains no full
 * stop.
 */
export function signatureHeaders(
  secret: Uint8Array,
  message: { readonly id: string; readonly at: number; readonly body: string },
): Record<string, string> {
  const { id, at, body } = message;
  const timestamp = Math.floor(at / 1_000);
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${signature}` };
}
