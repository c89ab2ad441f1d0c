/** A module for browsers must not import the heavy libraries or Node's modules. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const LIGHT = [
  "machines/token.ts",
  "machines/transaction.ts",
  "src/csmt/verify.ts",
  "src/forestry/trie.ts",
  "src/forestry/verify.ts",
  "src/tlog/proofFile.ts",
  "src/tlog/witness.ts",
  "src/cardano/address.ts",
  "src/cardano/keys/signingKey.ts",
  "src/client/browser.ts",
  "src/client/wallets.ts",
  "src/client/offlineProof.ts",
  "src/packages/client.ts",
  "src/packages/clientKeys.ts",
  "src/packages/clientLedger.ts",
  "src/packages/clientMpfsV2.ts",
  "src/packages/clientOffline.ts",
  "src/packages/clientReplicas.ts",
  "src/packages/forestry.ts",
  "src/client/summary.ts",
  "src/wallets/api/wallets.ts",
  "src/wallets/api/transactions.ts",
];
const HEAVY = /^(@blaze-cardano\/|@cardano-sdk\/|scalus|postgres|nats|node:|process$|buffer$)/;

/**
 * Every specifier that loading a file loads: packages by name, our own files followed; type-only imports load nothing.
 */
function loads(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(path.join(root, file), "utf8");
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^;]*?from\s*"([^"]+)"|(?:^|\n)\s*import\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)/g;
  for (const match of text.matchAll(pattern)) {
    const specifier = (match[1] ?? match[2] ?? match[3])!;
    if (specifier.startsWith("#")) loads(specifier.slice(1), seen);
    else if (specifier.startsWith(".")) loads(path.posix.join(path.posix.dirname(file), specifier), seen);
    else seen.add(specifier);
  }
  return seen;
}

describe("import weight", () => {
  it.each(LIGHT)("%s stays light", (file) => {
    expect([...loads(file)].filter((name) => HEAVY.test(name))).toEqual([]);
  });

  it("would notice a heavy import", () => {
    expect([...loads("src/store/store.ts")].filter((name) => HEAVY.test(name))).not.toEqual([]);
  });
});
