/** Messages of small values: fractions, credentials, units, documents. */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Anchor, DRep } from "#src/cardano/certificates.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import type { Ratio, Units } from "#src/cardano/parameters.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

const MOST_NUMERATOR = 2n ** 31n - 1n;
const MOST_DENOMINATOR = 2n ** 32n - 1n;

/**
 * A fraction, whose message has 31 and 32 bits. One that does not fit, and cannot be reduced, is approximated: the chain allows
 * 64 bits in the margin of a pool.
 */
export function ratioMessage({ numerator, denominator }: Ratio): Draft<cardano.RationalNumber> {
  let [above, below] = [numerator, denominator];
  if (above > MOST_NUMERATOR || below > MOST_DENOMINATOR) {
    const common = greatestDivisor(above, below);
    [above, below] = [above / common, below / common];
  }
  while (above > MOST_NUMERATOR || below > MOST_DENOMINATOR) [above, below] = [above >> 1n, below >> 1n];
  return { numerator: Number(above), denominator: Number(below === 0n ? 1n : below) };
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}

/** Execution units. */
export function unitsMessage({ memory, steps }: Units): Draft<cardano.ExUnits> {
  return { memory, steps };
}

/** A credential. */
export function credentialMessage({ kind, hash }: Credential): Draft<cardano.StakeCredential> {
  return { stakeCredential: { case: kind === "key" ? "addrKeyHash" : "scriptHash", value: fromHex(hash) } };
}

/** The target of a vote delegation. */
export function drepMessage(drep: DRep): Draft<cardano.DRep> {
  switch (drep.kind) {
    case "abstain":
      return { drep: { case: "abstain", value: true } };
    case "no confidence":
      return { drep: { case: "noConfidence", value: true } };
    default:
      return { drep: { case: drep.kind === "key" ? "addrKeyHash" : "scriptHash", value: fromHex(drep.hash) } };
  }
}

/** A document on the web. */
export function anchorMessage({ url, hash }: Anchor): Draft<cardano.Anchor> {
  return { url, contentHash: fromHex(hash) };
}

/** Numbers of the purposes of redeemers. */
export const REDEEMER_PURPOSES: Readonly<Record<RedeemerPointer["purpose"], cardano.RedeemerPurpose>> = {
  spend: 1,
  mint: 2,
  cert: 3,
  reward: 4,
  vote: 5,
  propose: 6,
};
