/** The mismatch between the era of a query or transaction and the ledger's era. */
import type { Failure } from "#src/base/result.ts";
import { as, CborError, type Encodable, type Item } from "#src/cardano/cbor.ts";
import { eraName, readSmallNumber } from "#src/node/protocols/values.ts";

/** An era with the node's name for it. */
interface NamedEra {
  readonly era: number;
  readonly name: string;
}

/** The ledger is in another era than the query or transaction. A value, not an error of the connection. */
export interface EraMismatch extends Failure<"era_mismatch"> {
  readonly details: { readonly asked: NamedEra; readonly ledger: NamedEra };
}

/** An era mismatch; names default to those of the indices. */
export function eraMismatch(asked: number | NamedEra, ledger: number | NamedEra): EraMismatch {
  const named = (era: number | NamedEra) => (typeof era === "number" ? { era, name: eraName(era) } : era);
  const details = { asked: named(asked), ledger: named(ledger) };
  const message = `This is for the era ${details.asked.name}, and the ledger is in the era ${details.ledger.name}.`;
  return { code: "era_mismatch", message, details };
}

/** Decodes `[[asked, name], [ledger, name]]`. Throws `CborError`. */
export function readEraMismatch(items: readonly Item[]): EraMismatch {
  const [asked, ledger] = items.map((item): NamedEra => {
    const [era, name] = as(item, "array").value;
    return { era: readSmallNumber(era), name: as(name, "text").value };
  });
  if (!asked || !ledger || items.length !== 2) throw new CborError("not an era mismatch");
  return eraMismatch(asked, ledger);
}

/** `[[asked, name], [ledger, name]]`. */
export function encodeEraMismatch({ details: { asked, ledger } }: EraMismatch): Encodable {
  return [[asked.era, asked.name], [ledger.era, ledger.name]];
}
