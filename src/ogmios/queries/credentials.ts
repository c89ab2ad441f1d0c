/** Credentials in requests: hexadecimal, bech32, or a stake address. */
import { isHex, toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { type Credential, parseAddress } from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { isGiven, type JsonObject, listOf, OgmiosFormError } from "#src/ogmios/form.ts";

/** What a name of a list says about its hashes. */
const KINDS = { keys: "key", scripts: "script" } as const;

/** Stake credentials of `keys` and `scripts`. @throws OgmiosFormError */
export function stakeCredentialsOf(params: JsonObject): readonly Credential[] {
  return credentialsOf(params, (text, kind) => {
    const address = /^stake(_test)?1/.test(text) ? parseAddress(text) : undefined;
    if (address?.ok && address.value.kind === "reward") return address.value.stake;
    return bech32Of(text, { stake_vkh: "key", script: "script" }) ?? plain(text, kind);
  }, "stake, stake_vkh or script");
}

/** Credentials of representatives in `keys` and `scripts`. @throws OgmiosFormError */
export function drepCredentialsOf(params: JsonObject): readonly Credential[] {
  return credentialsOf(params, (text, kind) => {
    return bech32Of(text, { drep_vkh: "key", drep_script: "script" }) ?? plain(text, kind);
  }, "drep_vkh or drep_script");
}

type Read = (text: string, kind: Credential["kind"]) => Credential | undefined;

function credentialsOf(params: JsonObject, read: Read, prefixes: string): readonly Credential[] {
  return (["keys", "scripts"] as const).flatMap((name) => {
    const list: Json | undefined = params[name];
    if (!isGiven(list)) return [];
    return listOf(list, `field '${name}'`).map((one) => {
      const credential = typeof one === "string" ? read(one, KINDS[name]) : undefined;
      if (credential) return credential;
      throw new OgmiosFormError(
        `Unable to decode credential. It must be base16 of 28 bytes, or bech32 with one of the prefixes: ${prefixes}`,
      );
    });
  });
}

function plain(text: string, kind: Credential["kind"]): Credential | undefined {
  return isHex(text, 28) ? { kind, hash: text.toLowerCase() } : undefined;
}

function bech32Of(text: string, prefixes: Readonly<Record<string, Credential["kind"]>>): Credential | undefined {
  const read = fromBech32(text);
  const kind = read && Object.hasOwn(prefixes, read.prefix) ? prefixes[read.prefix] : undefined;
  return read && kind && read.bytes.length === 28 ? { kind, hash: toHex(read.bytes) } : undefined;
}
