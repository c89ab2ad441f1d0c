/** Two eras that differ: what was asked or sent is for one, the ledger is in another. */
import type { Failure } from "#src/base/result.ts";
import { as, CborError, type Encodable, type Item } from "#src/cardano/cbor.ts";
import { eraName, small } from "#src/node/protocols/values.ts";

/** An era as a node names it. */
export interface NamedEra {
  readonly era: number;
  readonly name: string;
}

/** The ledger is in another era than what was asked or sent: both eras. A value, not an error of the connection. */
export interface EraMismatch extends Failure<"era_mismatch"> {
  readonly details: { readonly asked: NamedEra; readonly ledger: NamedEra };
}

/** An era mismatch; the names follow from the indices unless they are given. */
export function eraMismatch(asked: number | NamedEra, ledger: number | NamedEra): EraMismatch {
  const named = (era: number | NamedEra) => (typeof era === "number" ? { era, name: eraName(era) } : era);
  const details = { asked: named(asked), ledger: named(ledger) };
  const message = `This is for the era ${details.asked.name}, and the ledger is in the era ${details.ledger.name}.`;
  return { code: "era_mismatch", message, details };
}

/** Reads `[[asked, name], [ledger, name]]`. Throws `CborError`. */
export function readEraMismatch(items: readonly Item[]): EraMismatch {
  const [asked, ledger] = items.map((item): NamedEra => {
    const [era, name] = as(item, "array").value;
    return { era: small(era), name: as(name, "text").value };
  });
  if (!asked || !ledger || items.length !== 2) throw new CborError("not an era mismatch");
  return eraMismatch(asked, ledger);
}

/** `[[asked, name], [ledger, name]]`. */
export function encodeEraMismatch({ details: { asked, ledger } }: EraMismatch): Encodable {
  return [[asked.era, asked.name], [ledger.era, ledger.name]];
}
