/** Scripts of many addresses of a shared wallet. Runs in a builder thread, which caches them. */
import { utf8 } from "#src/base/bytes.ts";
import { mustGet, setBounded } from "#src/base/maps.ts";
import { elementAt } from "#src/base/present.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { walletId } from "#src/cardano/keys/account.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { stakeScript } from "#src/wallets/shared/account.ts";
import { deriveScripts } from "#src/wallets/shared/credentials.ts";
import { scriptText } from "#src/wallets/shared/script.ts";
import type { ScriptTemplate } from "#src/wallets/shared/types.ts";

/** Scripts that a thread caches: those of a few large wallets, in some megabytes. */
const MOST_CACHED = 20_000;
/** Largest gap between indices that are derived together. */
const LARGEST_GAP = 8;

const cache = new Map<string, Uint8Array>();

/** Indices in runs `[first, last]` without gaps above `LARGEST_GAP`. */
function runsOf(indices: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && index - last[1] <= LARGEST_GAP) last[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}

/** CBOR of the payment scripts at paths (their last two indices) and of the delegation script. */
export async function scriptsAt(
  templates: { readonly payment: ScriptTemplate; readonly delegation?: ScriptTemplate | undefined },
  paths: readonly Path[],
): Promise<Uint8Array[]> {
  const { payment, delegation } = templates;
  const { script, keys } = payment;
  // with the cosigners' keys, which a shared wallet's id does not cover
  const template = walletId(utf8(scriptText(script) + JSON.stringify(Object.entries(keys).sort())));
  const nameOf = (role: number, index: number) => `${template}/${role}/${index}`;
  const places = paths.map((path) => ({
    role: elementAt(path, path.length - 2),
    index: elementAt(path, path.length - 1),
  }));
  const made = new Map<string, Uint8Array>();
  const missing = new Map<number, Set<number>>();
  for (const { role, index } of places) {
    const known = cache.get(nameOf(role, index));
    if (known) made.set(nameOf(role, index), known);
    else missing.set(role, (missing.get(role) ?? new Set()).add(index));
  }
  for (const [role, indices] of missing) {
    for (const [from, last] of runsOf([...indices])) {
      const natives = await deriveScripts({ template: payment, role, from, count: last - from + 1 });
      for (const [i, native] of natives.entries()) {
        const bytes = encodeNative(native);
        made.set(nameOf(role, from + i), bytes);
        setBounded(cache, nameOf(role, from + i), bytes, MOST_CACHED);
      }
    }
  }
  const wanted = new Set(places.map(({ role, index }) => nameOf(role, index)));
  return [
    ...[...wanted].map((name) => mustGet(made, name)),
    ...(delegation ? [encodeNative(stakeScript(delegation))] : []),
  ];
}
