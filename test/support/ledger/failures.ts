/**
 * Failures of the ledger, at least one of each kind: from recorded reasons, and constructed for kinds without a
 * recording.
 */
import { readFileSync } from "node:fs";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { vectors } from "../base/vectors.ts";

/** Reasons in a Conway node's encoding, CBOR in hexadecimal. */
export const captured: readonly { readonly name: string; readonly cbor: string }[] = JSON.parse(
  readFileSync(vectors("blocks/captures/reject-reasons-pallas.json"), "utf8"),
);

export const hash = "0b".repeat(28);
export const hash32 = "0c".repeat(32);
export const ref = { txHash: hash32, index: 1 };
export const account = "e0" + hash;
export const key = { kind: "key" as const, hash };
export const output = "82" + "581d" + "60" + hash + "1a000f4240";
const voter = { ...key, role: "drep" as const };

/** One failure of each kind that has no capture, or no content in one. */
export const examples: readonly LedgerFailure[] = [
  { name: "VRFKeyHashAlreadyRegistered", pool: hash, vrf: hash32 },
  { name: "DepositIncorrectDELEG", supplied: 3n, expected: 2n },
  { name: "RefundIncorrectDELEG", supplied: 3n, expected: 2n },
  { name: "StakeKeyRegisteredDELEG", credential: key },
  { name: "StakeKeyNotRegisteredDELEG", credential: { kind: "script", hash } },
  { name: "DelegateeStakePoolNotRegisteredDELEG", pool: hash },
  { name: "WrongNetworkPOOL", supplied: 1, expected: 0, pool: hash },
  { name: "ConwayDRepAlreadyRegistered", credential: key },
  { name: "ConwayWithdrawalsMissingAccounts", withdrawals: [{ account, supplied: 5n }] },
  { name: "ConwayIncompleteWithdrawals", withdrawals: [{ account, supplied: 5n }] },
  { name: "ConwayIncompleteWithdrawals", withdrawals: [{ account, supplied: 5n, expected: 6n }] },
  { name: "ScriptIntegrityHashMismatch", supplied: hash32, expected: undefined, preimage: "a0" },
  { name: "ScriptIntegrityHashMismatch", supplied: undefined, expected: hash32 },
  {
    name: "ValueNotConservedUTxO",
    consumed: { lovelace: 1n << 62n, assets: new Map([[hash + "aa", 2n]]) },
    produced: { lovelace: 4n, assets: new Map() },
  },
  { name: "WrongNetworkInTxBody", supplied: 1, expected: 0 },
  { name: "OutsideForecast", slot: 77 },
  { name: "OutsideValidityIntervalUTxO", from: 5, slot: 4 },
  { name: "OutsideValidityIntervalUTxO", to: 5, slot: 6 },
  { name: "BabbageOutputTooSmallUTxO", outputs: [{ output, supplied: 1_000_000n, expected: 2_000_000n }] },
  { name: "UnelectedCommitteeVoters", members: [key] },
  { name: "DisallowedVotesDuringBootstrap", votes: [{ voter, action: ref }] },
  { name: "ZeroTreasuryWithdrawals", action: "8302a0f6" },
  { name: "NoCollateralInputs" },
];
