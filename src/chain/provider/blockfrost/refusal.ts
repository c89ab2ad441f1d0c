/**
 * The ledger's failures in a Blockfrost service's refusal of a transaction.
 *
 * The text is what Haskell shows of the node's failures, plain or within a JSON document, and differs between versions.
 * Known failures are decoded with their data. If none is recognised, the text itself is kept, shortened.
 */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { lovelace } from "#src/cardano/value.ts";

/** Characters of the text that are kept. */
const MAX_MESSAGE = 2_000;

/** The pattern of a failure, and its decoder. */
interface FailurePattern {
  readonly pattern: RegExp;
  read(found: RegExpMatchArray): LedgerFailure | undefined;
}

// `Mismatch {mismatchSupplied = a, mismatchExpected = b}`; until protocol version 9 `a b`
const pairOf = (thing: string) =>
  `\\(?(?:Mismatch \\{mismatchSupplied = )?${thing}(?:, mismatchExpected = |\\)? )\\(?${thing}`;
const COIN = "\\(?(?:Coin )?(-?\\d+)\\)?";
const PLAIN_VALUE = "\\(?MaryValue \\(?(?:Coin )?(\\d+)\\)? \\(MultiAsset \\(fromList \\[\\]\\)\\)\\)?";
const SLOT = "(?:SNothing|SJust \\(SlotNo (\\d+)\\))";

const slots = (from: string | undefined, to: string | undefined) => ({
  ...(from === undefined ? {} : { from: Number(from) }),
  ...(to === undefined ? {} : { to: Number(to) }),
});

const failurePatterns: readonly FailurePattern[] = [
  {
    pattern: /BadInputsUTxO \((?:NonEmptySet \()?fromList \[([^\]]*)\]/g,
    read: ([, list = ""]) => {
      const inputs = [...list.matchAll(/SafeHash "([0-9a-f]{64})"\}?\) \(TxIx (?:\{unTxIx = )?(\d+)/g)].map(
        ([, txHash = "", index]) => ({ txHash, index: Number(index) }),
      );
      return inputs.length === 0 ? undefined : { name: "BadInputsUTxO", inputs };
    },
  },
  {
    pattern: new RegExp(`ValueNotConservedUTxO ${pairOf(PLAIN_VALUE)}`, "g"),
    read: ([, consumed = "", produced = ""]) => ({
      name: "ValueNotConservedUTxO",
      consumed: lovelace(BigInt(consumed)),
      produced: lovelace(BigInt(produced)),
    }),
  },
  {
    pattern: new RegExp(`FeeTooSmallUTxO ${pairOf(COIN)}`, "g"),
    read: ([all, first = "", second = ""]) => {
      // without names the order is reversed
      const [supplied, expected] = all.includes("mismatchSupplied") ? [first, second] : [second, first];
      return { name: "FeeTooSmallUTxO", supplied: BigInt(supplied), expected: BigInt(expected) };
    },
  },
  {
    pattern: new RegExp(
      `OutsideValidityIntervalUTxO \\(ValidityInterval \\{invalidBefore = ${SLOT}, invalidHereafter = ${SLOT}\\}\\) \\(SlotNo (\\d+)\\)`,
      "g",
    ),
    read: ([, from, to, slot]) => ({ name: "OutsideValidityIntervalUTxO", ...slots(from, to), slot: Number(slot) }),
  },
  {
    pattern: /MissingVKeyWitnessesUTXOW \((?:NonEmptySet \()?fromList \[([^\]]*)\]/g,
    read: ([, list = ""]) => {
      const keys = [...list.matchAll(/unKeyHash = "([0-9a-f]{56})"/g)].map(([, key = ""]) => key);
      return keys.length === 0 ? undefined : { name: "MissingVKeyWitnessesUTXOW", keys };
    },
  },
  {
    // a message may quote a hash, as in `KeyHash {unKeyHash = "…"}`
    pattern: /ConwayMempoolFailure "(.*?)"(?=\s|[)\],"]|$)/g,
    read: ([, message = ""]) => ({ name: "ConwayMempoolFailure", message: message.slice(0, MAX_MESSAGE) }),
  },
  {
    pattern: /DecoderErrorDeserialiseFailure ("?[^"]*"? ?\(?[^)]*\)?)/g,
    read: ([, message = ""]) => ({ name: "DeserialiseFailure", message: message.slice(0, MAX_MESSAGE) }),
  },
];

/** The failures in a service's text; at least one. */
export function decodeRefusal(words: string): readonly LedgerFailure[] {
  // quotes within texts within documents
  const plain = words.replace(/\\+"/g, '"').replace(/\s+/g, " ");
  const failures = failurePatterns.flatMap(({ pattern, read }) =>
    [...plain.matchAll(pattern)].flatMap((found) => read(found) ?? [])
  );
  return failures.length > 0 ? failures : [{ name: "ConwayMempoolFailure", message: plain.slice(0, MAX_MESSAGE) }];
}
