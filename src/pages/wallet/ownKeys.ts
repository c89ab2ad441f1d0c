/**
 * What belongs to a wallet, derived in the browser from its account keys: addresses and the stake credential. Nothing
 * here is secret.
 */
import { addressText, baseAddress, type Credential, enterpriseAddress, type NetworkId } from "#src/cardano/address.ts";
import { derivePublic, type PublicNode, ROLES } from "#src/cardano/keys/derivation.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { readKey } from "#src/cardano/keys/keyText.ts";
import { encodeNative, nativeHash, type NativeScript } from "#src/cardano/nativeScript.ts";

/** What a wallet's keys say about addresses. */
export interface OwnKeys {
  readonly network: NetworkId;
  /** Whether an address is that of the wallet's keys at a path, such as `["1852H", "1815H", "0H", "1", "3"]`. */
  isOwn(address: string, path: readonly string[] | undefined): boolean;
  /** The credential of the wallet's stake; undefined where it has none. */
  stake(): Credential | undefined;
  /** The credential of the wallet as a representative; undefined where it has no DRep key. */
  drep(): Credential | undefined;
}

/** A script of a shared wallet as the API has it. */
export type Template =
  | string
  | { readonly all: readonly Template[] }
  | { readonly any: readonly Template[] }
  | { readonly some: { readonly at_least: number; readonly from: readonly Template[] } }
  | { readonly active_from: number | bigint }
  | { readonly active_until: number | bigint };

/** A template with the account keys of its owners, `acct_shared_xvk1…`. */
export interface KeyedTemplate {
  readonly cosigners: Readonly<Record<string, string>>;
  readonly template: Template;
}

/** The role and the index at the end of a path; undefined for hard ones. */
function endOf(path: readonly string[] | undefined): readonly [number, number] | undefined {
  const [role = "", index = ""] = path?.slice(-2) ?? [];
  return path?.length === 5 && /^\d+$/.test(role) && /^\d+$/.test(index) ? [Number(role), Number(index)] : undefined;
}

/** The account key in a text. @throws {TypeError} for another text */
function accountOf(text: string): PublicNode {
  const read = readKey(text);
  if (!read.ok || read.value.form !== "publicNode") throw new TypeError("no account key");
  return read.value.node;
}

const childHash = (account: PublicNode, role: number, index: number) =>
  keyHash(derivePublic(derivePublic(account, role), index).key);

/** A wallet of one owner, by its account key (`acct_xvk1…`). */
export function singleOwner(account: string, network: NetworkId): OwnKeys {
  const node = accountOf(account);
  const stake: Credential = { kind: "key", hash: childHash(node, ROLES.stake, 0) };
  return {
    network,
    stake: () => stake,
    drep: () => ({ kind: "key", hash: childHash(node, ROLES.drep, 0) }),
    isOwn: (address, path) => {
      const end = endOf(path);
      if (end === undefined) return false;
      const payment: Credential = { kind: "key", hash: childHash(node, ...end) };
      return addressText(baseAddress(network, payment, stake)) === address;
    },
  };
}

/** A shared wallet, by its templates and the keys of all owners. */
export function severalOwners(
  payment: KeyedTemplate,
  delegation: KeyedTemplate | undefined,
  network: NetworkId,
): OwnKeys {
  const hashAt = (template: KeyedTemplate, role: number, index: number): Credential => ({
    kind: "script",
    hash: nativeHash(encodeNative(scriptAt(template, role, index))),
  });
  const stake = delegation && hashAt(delegation, ROLES.stake, 0);
  return {
    network,
    stake: () => stake,
    drep: () => undefined,
    isOwn: (address, path) => {
      const end = endOf(path);
      if (end === undefined) return false;
      const script = hashAt(payment, ...end);
      return addressText(stake ? baseAddress(network, script, stake) : enterpriseAddress(network, script)) === address;
    },
  };
}

/** The native script of a template at a role and an index. */
function scriptAt({ cosigners, template }: KeyedTemplate, role: number, index: number): NativeScript {
  const native = (one: Template): NativeScript => {
    if (typeof one === "string") {
      const account = cosigners[one];
      if (account === undefined) throw new TypeError(`no account key of ${one}`);
      return { kind: "key", hash: childHash(accountOf(account), role, index) };
    }
    if ("all" in one) return { kind: "all", scripts: one.all.map(native) };
    if ("any" in one) return { kind: "any", scripts: one.any.map(native) };
    if ("some" in one) {
      return { kind: "at least", count: BigInt(one.some.at_least), scripts: one.some.from.map(native) };
    }
    return "active_from" in one
      ? { kind: "from", slot: BigInt(one.active_from) }
      : { kind: "before", slot: BigInt(one.active_until) };
  };
  return native(template);
}

/** The owners of a shared wallet whose signatures are among some, by the paths of the coins that are spent. */
export function signersAmong(
  { cosigners }: KeyedTemplate,
  signed: ReadonlySet<string>,
  paths: Iterable<readonly string[]>,
): ReadonlySet<string> {
  const ends = [...paths].flatMap((path) => {
    const end = endOf(path);
    return end ? [end] : [];
  });
  return new Set(
    Object.entries(cosigners).filter(([, key]) => ends.some((end) => signed.has(childHash(accountOf(key), ...end))))
      .map(([name]) => name),
  );
}
