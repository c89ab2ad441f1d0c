/** The scripts behind many addresses of a shared wallet; in a builder's thread, which keeps those that it made. */
import { toHex, utf8 } from "#src/base/bytes.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { walletId } from "#src/wallet/keys/account.ts";
import { deriveCredentials } from "#src/wallet/keys/bulk.ts";
import type { Path } from "#src/wallet/keys/types.ts";
import { stakeScript } from "#src/wallet/shared/account.ts";
import { leavesOf, scriptText, toNative } from "#src/wallet/shared/script.ts";
import type { ScriptTemplate } from "#src/wallet/shared/types.ts";

const HASH_BYTES = 28;
/** Scripts that a thread keeps: of a few large wallets, in some megabytes. */
const KEPT = 20_000;
/** Indices that are derived along, rather than begun anew for. */
const ALONG = 8;

const kept = new Map<string, Uint8Array>();

function keep(name: string, script: Uint8Array): void {
  if (kept.size >= KEPT) kept.delete(kept.keys().next().value!);
  kept.set(name, script);
}

/** Indices in runs `[first, last]`, whose gaps are small. */
function runsOf(indices: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && index - last[1] <= ALONG) last[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}

/** CBOR of the payment scripts at some paths (of which the last two segments count) and of the one for delegation. */
export async function scriptsBehind(
  templates: { readonly payment: ScriptTemplate; readonly delegation?: ScriptTemplate | undefined },
  paths: readonly Path[],
): Promise<Uint8Array[]> {
  const { payment, delegation } = templates;
  // a wallet's id says nothing of the keys of others
  const { script, keys } = payment;
  const whose = walletId(utf8(scriptText(script) + JSON.stringify(Object.entries(keys).sort())));
  const nameOf = (role: number, index: number) => `${whose}/${role}/${index}`;
  const places = paths.map((path) => ({ role: path.at(-2)!, index: path.at(-1)! }));
  const made = new Map<string, Uint8Array>();
  const missing = new Map<number, Set<number>>();
  for (const { role, index } of places) {
    const known = kept.get(nameOf(role, index));
    if (known) made.set(nameOf(role, index), known);
    else missing.set(role, (missing.get(role) ?? new Set()).add(index));
  }
  for (const [role, indices] of missing) {
    for (const [from, last] of runsOf([...indices])) {
      const count = last - from + 1;
      const hashes = new Map<string, Uint8Array>();
      for (const cosigner of leavesOf(script)) {
        const derived = await deriveCredentials({ account: keys[cosigner]!, role, from, count });
        if (derived.ok) hashes.set(cosigner, derived.value.hashes);
      }
      for (let i = 0; i < count; i++) {
        const at = i * HASH_BYTES;
        const hashOf = (cosigner: string) => toHex(hashes.get(cosigner)!.subarray(at, at + HASH_BYTES));
        const bytes = encodeNative(toNative(script, hashOf));
        made.set(nameOf(role, from + i), bytes);
        keep(nameOf(role, from + i), bytes);
      }
    }
  }
  const wanted = new Set(places.map(({ role, index }) => nameOf(role, index)));
  return [
    ...[...wanted].map((name) => made.get(name)!),
    ...(delegation ? [encodeNative(stakeScript(delegation))] : []),
  ];
}
