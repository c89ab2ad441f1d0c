import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { failureNames } from "#src/cardano/failureText.ts";
import { decodeRefusal } from "#src/chain/provider/blockfrost/refusal.ts";
import { showFailure } from "#src/node/rejections/haskellText.ts";
import { decodeRejection } from "#src/node/rejections/rejections.ts";
import { captured, examples, hash, hash32, ref } from "../../../support/ledger/failures.ts";

const corpus = [...captured.flatMap(({ cbor }) => decodeRejection(fromHex(cbor))), ...examples];

/** Whether the brackets outside of quoted texts close in order, and every text ends. */
function isBalanced(text: string): boolean {
  const open: string[] = [];
  const plain = text.replace(/"(?:[^"\\]|\\.)*"/g, "");
  for (const character of plain) {
    if ("([{".includes(character)) open.push(character);
    else if (")]}".includes(character) && "([{".indexOf(open.pop() ?? "") !== ")]}".indexOf(character)) return false;
  }
  return open.length === 0 && !plain.includes('"');
}

describe("showFailure", () => {
  it("shows every kind of failure in one line with its name, as a term of Haskell", () => {
    for (const failure of corpus) {
      const shown = showFailure(failure);
      expect(shown).toContain(failure.name);
      expect(shown).toMatch(/^Conway\w+ (\(|"|KeyHash|\w+$)/);
      expect(shown).not.toMatch(/undefined|\[object|\n/);
      expect(isBalanced(shown), shown).toBe(true);
    }
    const kinds = new Set(corpus.map(({ name }) => name));
    const elsewhere = ["DeserialiseFailure", "EraMismatch", "EarlierEraFailure", "UnknownFailure"];
    expect(failureNames.filter((name) => !kinds.has(name) && !elsewhere.includes(name))).toEqual([]);
  });

  it("shows failures as nodes do", () => {
    const table: readonly (readonly [LedgerFailure, string])[] = [
      [
        { name: "BadInputsUTxO", inputs: [ref] },
        `ConwayUtxowFailure (UtxoFailure (BadInputsUTxO (fromList [TxIn (TxId {unTxId = SafeHash "${hash32}"}) (TxIx {unTxIx = 1})])))`,
      ],
      [
        {
          name: "MissingRedeemers",
          redeemers: [
            { purpose: "spend", item: `825820${hash32}01`, script: hash },
            { purpose: "mint", item: `581c${hash}`, script: hash },
          ],
        },
        `ConwayUtxowFailure (MissingRedeemers [(ConwaySpending (AsItem {unAsItem = TxIn (TxId {unTxId = SafeHash "${hash32}"}) (TxIx {unTxIx = 1})}),ScriptHash "${hash}"),` +
        `(ConwayMinting (AsItem {unAsItem = PolicyID {policyID = ScriptHash "${hash}"}}),ScriptHash "${hash}")])`,
      ],
      [
        { name: "MaxTxSizeUTxO", supplied: 17521, expected: 16384 },
        "ConwayUtxowFailure (UtxoFailure (MaxTxSizeUTxO (Mismatch {mismatchSupplied = 17521, mismatchExpected = 16384})))",
      ],
      [
        { name: "OutsideValidityIntervalUTxO", to: 39433888, slot: 39433889 },
        "ConwayUtxowFailure (UtxoFailure (OutsideValidityIntervalUTxO (ValidityInterval {invalidBefore = SNothing, invalidHereafter = SJust (SlotNo 39433888)}) (SlotNo 39433889)))",
      ],
      [
        { name: "WithdrawalsNotInRewardsCERTS", withdrawals: [] },
        "ConwayCertsFailure (WithdrawalsNotInRewardsCERTS (Withdrawals {unWithdrawals = fromList []}))",
      ],
      [
        { name: "StakeKeyNotRegisteredDELEG", credential: { kind: "script", hash } },
        `ConwayCertsFailure (CertFailure (DelegFailure (StakeKeyNotRegisteredDELEG (ScriptHashObj (ScriptHash "${hash}")))))`,
      ],
      [
        { name: "ValidationTagMismatch", kind: "FailedUnexpectedly", message: 'says "no"', logs: ["1\u00e92"] },
        'ConwayUtxowFailure (UtxoFailure (UtxosFailure (ValidationTagMismatch (IsValid True) (FailedUnexpectedly (PlutusFailure "says \\"no\\"\\n1\\233\\&2" "" :| [])))))',
      ],
    ];
    for (const [failure, shown] of table) expect(showFailure(failure)).toBe(shown);
  });

  it("is read again by the adapter for Blockfrost", () => {
    const read = new Set(["BadInputsUTxO", "FeeTooSmallUTxO", "OutsideValidityIntervalUTxO", "ConwayMempoolFailure"]);
    for (const failure of corpus.filter(({ name }) => read.has(name))) {
      if (failure.name === "BadInputsUTxO" && failure.inputs.length === 0) continue;
      if (failure.name === "ConwayMempoolFailure" && /[^ -~]|["\\]/.test(failure.message)) continue;
      expect(decodeRefusal(showFailure(failure))).toEqual([failure]);
    }
  });
});
