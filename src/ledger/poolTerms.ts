/** The registered parameters of a pool in the state. */
import { decode } from "#src/cardano/cbor.ts";
import { type PoolRegistration, readCertificate } from "#src/cardano/conway/certificate.ts";

/** What a pool's registration says. */
export type PoolTerms = PoolRegistration;

const read = new WeakMap<Uint8Array, PoolTerms>();

/** Reads the registration certificate of a pool, once for the same bytes in memory. Throws `CborError`. */
export function poolTerms(certificate: Uint8Array): PoolTerms {
  const known = read.get(certificate);
  if (known) return known;
  const terms = readCertificate(decode(certificate));
  if (terms.kind !== "register pool") throw new Error("a pool stands in the state with another certificate");
  read.set(certificate, terms);
  return terms;
}
