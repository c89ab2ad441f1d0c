/** Root keys of every style from a mnemonic. Derivation takes 10 ms and more, so only builder threads call it. */
import { pbkdf2Sync } from "node:crypto";
import { utf8 } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { deriveByron } from "#src/cardano/keys/byronDerivation.ts";
import { derive, rootOf, type SecretNode } from "#src/cardano/keys/derivation.ts";
import { byronRoot, ledgerRoot, trezorEntropy } from "#src/cardano/keys/masterKeys.ts";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";
import type { Mnemonic, Path, WalletStyle } from "#src/cardano/keys/types.ts";

/** Allowed numbers of words by style; the styles of Byron also take 12, which was usual then. */
const WORD_COUNTS: Readonly<Record<WalletStyle, readonly number[]>> = {
  shelley: [15, 18, 21, 24],
  shared: [15, 18, 21, 24],
  random: [12, 15, 18, 21, 24],
  icarus: [12, 15, 18, 21, 24],
  trezor: [12, 15, 18, 21, 24],
  ledger: [12, 15, 18, 21, 24],
};

const SECOND_FACTOR_COUNTS = [9, 12];

/** The root key of a mnemonic. The failure names the position of a wrong word, never the word. */
export function masterKey({ style, words, secondFactor }: Mnemonic): Result<SecretNode, Failure<"bad_mnemonic">> {
  const counted = [count(words, WORD_COUNTS[style], "mnemonic")];
  if (secondFactor && (style === "shelley" || style === "shared")) {
    counted.push(count(secondFactor, SECOND_FACTOR_COUNTS, "second factor"));
  } else if (secondFactor) counted.push(fail("bad_mnemonic", "Wallets of this style have no second factor."));
  for (const each of counted) if (!each.ok) return each;
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) return entropy;
  const second = secondFactor ? mnemonicEntropy(secondFactor) : ok(new Uint8Array());
  return second.ok ? ok(deriveRoot(style, words, entropy.value, second.value)) : second;
}

function count(words: readonly string[], counts: readonly number[], what: string) {
  return counts.includes(words.length)
    ? ok(null)
    : fail("bad_mnemonic", `A ${what} has ${counts.join(", ")} words here, not ${words.length}.`, {
      reason: "word_count",
    });
}

function deriveRoot(style: WalletStyle, words: readonly string[], entropy: Uint8Array, second: Uint8Array): SecretNode {
  const icarus = (salt: Uint8Array) => rootOf(Uint8Array.from(pbkdf2Sync(second, salt, 4096, 96, "sha512")));
  switch (style) {
    case "random":
      return byronRoot(entropy);
    case "ledger": {
      const sentence = utf8(words.join(" ").normalize("NFKD"));
      return ledgerRoot(Uint8Array.from(pbkdf2Sync(sentence, utf8("mnemonic"), 2048, 64, "sha512")));
    }
    case "trezor":
      return icarus(trezorEntropy(entropy));
    default:
      return icarus(entropy);
  }
}

/**
 * Gives keys at paths of one root, by the derivation scheme of the style; common prefixes of paths are derived once.
 */
export function descender(style: WalletStyle, root: SecretNode): (path: Path) => SecretNode {
  const child = style === "random" ? deriveByron : derive;
  const known = new Map<string, SecretNode>([["", root]]);
  return function at(path): SecretNode {
    const name = path.join("/");
    const found = known.get(name) ?? child(at(path.slice(0, -1)), elementAt(path, path.length - 1));
    known.set(name, found);
    return found;
  };
}
