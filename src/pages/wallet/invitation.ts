/**
 * What owners of a shared wallet send each other: the rule and the public keys that are known. It holds no secret.
 */
import { isRecord } from "#src/base/record.ts";
import type { KeyedTemplate, Template } from "./ownKeys.ts";
import { ownersIn } from "./scripts.ts";

export interface Invitation {
  readonly name: string;
  readonly rule: Template;
  /** Whether the wallet delegates stake, by the same rule. */
  readonly delegates: boolean;
  /** Account keys by owner, `cosigner#0`. */
  readonly keys: Readonly<Record<string, string>>;
}

const MARK = "arbor-shared-wallet-1";

/** The text of an invitation, to copy and paste. */
export const invitationText = ({ name, rule, delegates, keys }: Invitation): string =>
  JSON.stringify({ [MARK]: { name, rule, delegates, keys } }, null, 1);

/** The invitation in a text; undefined for other text. */
export function readInvitation(text: string): Invitation | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const body = isRecord(json) ? json[MARK] : undefined;
  if (!isRecord(body) || !isRule(body.rule) || !isRecord(body.keys)) return undefined;
  const keys = Object.entries(body.keys);
  if (!keys.every(([name, key]) => /^cosigner#\d{1,3}$/.test(name) && typeof key === "string" && isAccountKey(key))) {
    return undefined;
  }
  const owners = ownersIn(body.rule);
  if (owners.length === 0 || !keys.every(([name]) => owners.includes(name))) return undefined;
  return {
    name: typeof body.name === "string" ? body.name.slice(0, 255) : "",
    rule: body.rule,
    delegates: body.delegates === true,
    keys: Object.fromEntries(keys) as Record<string, string>,
  };
}

/** Whether a text has the form of an account's public key; the service checks it. */
export const isAccountKey = (text: string): boolean => /^acct_shared_xvk1[02-9ac-hj-np-z]{90,130}$/.test(text.trim());

/** The templates with the keys that are known, as the API has them. */
export const templateOf = (rule: Template, cosigners: Readonly<Record<string, string>>): KeyedTemplate => ({
  cosigners,
  template: rule,
});

function isRule(value: unknown): value is Template {
  if (typeof value === "string") return /^cosigner#\d{1,3}$/.test(value);
  if (!isRecord(value)) return false;
  const isList = (list: unknown) => Array.isArray(list) && list.every(isRule);
  if ("all" in value) return isList(value.all);
  if ("any" in value) return isList(value.any);
  if (isRecord(value.some)) return typeof value.some.at_least === "number" && isList(value.some.from);
  return typeof value.active_from === "number" || typeof value.active_until === "number";
}
