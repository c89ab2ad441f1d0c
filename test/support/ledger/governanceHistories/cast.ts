/** Who takes part in random histories of governance: accounts, representatives, committee members and pools. */
import { toHex } from "#src/base/bytes.ts";
import type { Encodable } from "#src/cardano/cbor.ts";
import { keyHash, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { nativeHash } from "../draft.ts";

/** A credential of the plain model, with what it takes to act for it: a key, or a script that always agrees. */
export interface Actor {
  readonly id: string;
  readonly key?: SigningKey;
  readonly script?: Encodable;
}

let made = 0;

/** A credential by a key. */
function byKey(): Actor {
  const key = new Uint8Array(32).fill(++made);
  return { id: "k" + keyHash(publicKey(key)), key };
}

/** A credential by a script that needs none of its signatures: cheaper than a key. */
function byScript(): Actor {
  const script: Encodable = [3, 0, [[0, new Uint8Array(28).fill(++made)]]];
  return { id: "s" + nativeHash(script), script };
}

const several = (keys: number, scripts: number) => [
  ...Array.from({ length: keys }, byKey),
  ...Array.from({ length: scripts }, byScript),
];

export const ACCOUNTS = several(2, 10);
export const DREPS = several(1, 9);
export const COLD = several(1, 8);
export const HOT = several(1, 11);
/** A pool's id is the hash of its key. */
export const POOLS = several(6, 0).map(({ id, ...rest }) => ({ ...rest, id: id.slice(1) }));
/** Scripts that a constitution may name as its guardrails. */
export const GUARDRAILS = several(0, 2).map(({ id, ...rest }) => ({ ...rest, id: id.slice(1) }));

/** Registered nowhere. */
export const STRANGER = byScript();

const everyone = new Map(
  [[STRANGER], ACCOUNTS, DREPS, COLD, HOT, POOLS, GUARDRAILS].flat().map((actor) => [actor.id, actor]),
);

/** What it takes to act for credentials, pools and guardrails, once for each. */
export function witnesses(ids: Iterable<string>): { readonly keys: SigningKey[]; readonly native: Encodable[] } {
  const actors = [...new Set(ids)].map((id) => everyone.get(id)!);
  return {
    keys: actors.flatMap(({ key }) => key ? [key] : []),
    native: actors.flatMap(({ script }) => script ? [script] : []),
  };
}

/** The n-th hash of 32 bytes, in hexadecimal: of no transaction. */
export const noTransaction = (n: number): string => toHex(new Uint8Array(32).fill(n));
