/**
 * NATS subjects: tokens joined by dots. In a subscription `*` matches one token and `>`, as the last one, one or more.
 */

// blanks and control characters cannot be part of a protocol line
// deno-lint-ignore no-control-regex
const TOKEN = /^[^\x00-\x20\x7f]+$/;

/** Whether a text is a valid subscription subject; wildcards are allowed. */
export function isSubscription(subject: string): boolean {
  const tokens = subject.split(".");
  return tokens.every((token, i) => TOKEN.test(token) && (token !== ">" || i === tokens.length - 1));
}

/** Whether a text is a valid subject to publish to, without wildcards. */
export function isLiteral(subject: string): boolean {
  return subject.split(".").every((token) => TOKEN.test(token) && token !== "*" && token !== ">");
}

/** Whether the subscription `wide` matches everything that the subscription `narrow` can match. */
export function isWithin(narrow: string, wide: string): boolean {
  const inner = narrow.split(".");
  const outer = wide.split(".");
  for (const [i, token] of outer.entries()) {
    const own = inner[i];
    if (own === undefined) return false;
    if (token === ">") return true;
    if (own === ">") return false;
    if (token !== "*" && token !== own) return false;
  }
  return inner.length === outer.length;
}

/** Whether some subject is matched by both of two subscriptions, given as tokens. */
export function overlap(one: readonly string[], other: readonly string[]): boolean {
  for (let i = 0; i < one.length && i < other.length; i++) {
    const [a, b] = [one[i], other[i]];
    if (a === ">" || b === ">") return true;
    if (a !== b && a !== "*" && b !== "*") return false;
  }
  return one.length === other.length;
}
