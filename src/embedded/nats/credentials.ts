/** The credentials in a CONNECT line. */

/** Credentials that a client presents: a token, or a user with a password; `other`: a kind not supported here. */
export type ClientCredentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "user"; readonly user: string; readonly password: string }
  | { readonly kind: "other" };

/**
 * Reads the credentials from a CONNECT line's fields; empty ones count as none, as client libraries send them. A user
 * without a password has an empty one.
 */
export function credentialsOf(fields: Record<string, unknown>): ClientCredentials {
  const given = (name: string) => fields[name] !== undefined && fields[name] !== null && fields[name] !== "";
  if (given("auth_token")) return { kind: "token", token: String(fields.auth_token) };
  if (["jwt", "nkey", "sig"].some(given)) return { kind: "other" };
  if (!given("user") && !given("pass")) return { kind: "none" };
  return {
    kind: "user",
    user: given("user") ? String(fields.user) : "",
    password: given("pass") ? String(fields.pass) : "",
  };
}
