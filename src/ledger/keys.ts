/** Signatures: those a transaction has, and those it needs (rule UTXOW). */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { concat, toHex } from "#src/base/bytes.ts";
import { sha3_256 } from "@noble/hashes/sha3.js";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { hash224 } from "#src/cardano/hash.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { certificateWitness, poolKeys } from "#src/cardano/conway/certificate.ts";
import type { Witnesses } from "#src/cardano/conway/witnesses.ts";
import type { BootstrapWitness, KeyWitness } from "#src/cardano/transaction.ts";
import { type Input } from "#src/ledger/inputs.ts";
import { verifySignature } from "#src/ledger/signature.ts";

/** Checks all signatures over the hash of the body, and that those needed are there. */
export async function checkKeys(
  id: Uint8Array,
  body: Body,
  witnesses: Witnesses,
  inputs: readonly Input[],
  collateral: readonly Input[],
): Promise<LedgerFailure[]> {
  const failures: LedgerFailure[] = [];
  const wrong: KeyWitness[] = [];
  const pace = new EventLoopPacer();
  for (const witness of [...witnesses.keys, ...witnesses.bootstraps]) {
    if (!verifySignature(witness.key, id, witness.signature)) wrong.push(witness);
    await pace.step();
  }
  if (wrong.length > 0) failures.push({ name: "InvalidWitnessesUTXOW", keys: wrong.map(({ key }) => toHex(key)) });
  const given = keysGiven(witnesses);
  const missing = [...keysNeeded(body, inputs, collateral)].filter((key) => !given.has(key));
  if (missing.length > 0) failures.push({ name: "MissingVKeyWitnessesUTXOW", keys: missing });
  return failures;
}

/** Hashes of the keys of today that signed, to which native scripts refer. */
export function signers({ keys }: Pick<Witnesses, "keys">): ReadonlySet<string> {
  return new Set(keys.map(({ key }) => hash224(key)));
}

/** Hashes of the keys that signed, and roots of the Byron addresses that witnesses stand for: what `keysNeeded` lists. */
export function keysGiven(witnesses: Pick<Witnesses, "keys" | "bootstraps">): ReadonlySet<string> {
  return new Set([...signers(witnesses), ...witnesses.bootstraps.map(byronRoot)]);
}

/** Root of the Byron address that a witness stands for: `[0, [0, key and chain code], attributes]`, hashed twice. */
function byronRoot({ key, chainCode, attributes }: BootstrapWitness): string {
  const prefix = Uint8Array.of(0x83, 0x00, 0x82, 0x00, 0x58, 0x40);
  return hash224(sha3_256(concat(prefix, key, chainCode, attributes)));
}

/** Hashes of the keys that must sign, and roots of the Byron addresses spent from (ledger: `getConwayWitsVKeyNeeded`). */
export function keysNeeded(
  body: Body,
  inputs: readonly Input[],
  collateral: readonly Input[],
): ReadonlySet<string> {
  const needed = new Set(body.signers);
  const credentials = [
    ...body.withdrawals.map(({ account }) => account.credential),
    ...body.voters.map(({ credential }) => credential),
    ...body.certificates.map(certificateWitness),
  ];
  for (const { address } of [...inputs, ...collateral]) {
    if (address.kind === "byron") needed.add(address.byron.root);
    else if ("payment" in address) credentials.push(address.payment);
  }
  for (const credential of credentials) if (credential?.kind === "key") needed.add(credential.hash);
  for (const certificate of body.certificates) poolKeys(certificate).forEach((key) => needed.add(key));
  return needed;
}
