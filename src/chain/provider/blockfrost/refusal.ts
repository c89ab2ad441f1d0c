/**
 * Why a node refused a transaction, out of the words in which a Blockfrost service passes that on.
 *
 * The words are what Haskell shows of the node's failures, in a text or in a JSON document inside of one, and differ between versions. What is
 * recognised becomes the ledger's failure, with its data; a refusal of which nothing is recognised keeps its words, cut to a length.
 */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { lovelace } from "#src/cardano/value.ts";

/** Characters of words that are kept. */
const MOST_WORDS = 2_000;

/** A pattern for what stands behind a failure's name, and the failure in it. */
interface Reader {
  readonly pattern: RegExp;
  read(found: RegExpMatchArray): LedgerFailure | undefined;
}

// `Mismatch {mismatchSupplied = a, mismatchExpected = b}`, until protocol version 9 `a b`
const between = (thing: string) =>
  `\\(?(?:Mismatch \\{mismatchSupplied = )?${thing}(?:, mismatchExpected = |\\)? )\\(?${thing}`;
const COIN = "\\(?(?:Coin )?(-?\\d+)\\)?";
const PLAIN_VALUE = "\\(?MaryValue \\(?(?:Coin )?(\\d+)\\)? \\(MultiAsset \\(fromList \\[\\]\\)\\)\\)?";
const SLOT = "(?:SNothing|SJust \\(SlotNo (\\d+)\\))";

const slots = (from: string | undefined, to: string | undefined) => ({
  ...(from === undefined ? {} : { from: Number(from) }),
  ...(to === undefined ? {} : { to: Number(to) }),
});

const readers: readonly Reader[] = [
  {
    pattern: /BadInputsUTxO \((?:NonEmptySet \()?fromList \[([^\]]*)\]/g,
    read: ([, list = ""]) => {
      const inputs = [...list.matchAll(/SafeHash "([0-9a-f]{64})"\}?\) \(TxIx (?:\{unTxIx = )?(\d+)/g)].map(
        ([, txHash, index]) => ({ txHash: txHash!, index: Number(index) }),
      );
      return inputs.length === 0 ? undefined : { name: "BadInputsUTxO", inputs };
    },
  },
  {
    pattern: new RegExp(`ValueNotConservedUTxO ${between(PLAIN_VALUE)}`, "g"),
    read: ([, consumed, produced]) => ({
      name: "ValueNotConservedUTxO",
      consumed: lovelace(BigInt(consumed!)),
      produced: lovelace(BigInt(produced!)),
    }),
  },
  {
    pattern: new RegExp(`FeeTooSmallUTxO ${between(COIN)}`, "g"),
    read: ([all, first, second]) => {
      // without names the two stand the other way round
      const [supplied, expected] = all.includes("mismatchSupplied") ? [first!, second!] : [second!, first!];
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
      const keys = [...list.matchAll(/unKeyHash = "([0-9a-f]{56})"/g)].map(([, key]) => key!);
      return keys.length === 0 ? undefined : { name: "MissingVKeyWitnessesUTXOW", keys };
    },
  },
  {
    pattern: /ConwayMempoolFailure "([^"]*)"/g,
    read: ([, message = ""]) => ({ name: "ConwayMempoolFailure", message: message.slice(0, MOST_WORDS) }),
  },
  {
    pattern: /DecoderErrorDeserialiseFailure ("?[^"]*"? ?\(?[^)]*\)?)/g,
    read: ([, message = ""]) => ({ name: "DeserialiseFailure", message: message.slice(0, MOST_WORDS) }),
  },
];

/** The failures in a service's words; at least one. */
export function refusalOf(words: string): readonly LedgerFailure[] {
  // quotes inside of texts inside of documents
  const plain = words.replace(/\\+"/g, '"').replace(/\s+/g, " ");
  const failures = readers.flatMap(({ pattern, read }) =>
    [...plain.matchAll(pattern)].flatMap((found) => read(found) ?? [])
  );
  return failures.length > 0 ? failures : [{ name: "ConwayMempoolFailure", message: plain.slice(0, MOST_WORDS) }];
}
