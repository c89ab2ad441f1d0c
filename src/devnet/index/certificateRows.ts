/** Rows of the certificates of a transaction. A certificate that does several things has a row for each. */
import { as, asSet, decode, entry, raw } from "#src/cardano/cbor.ts";
import type { Certificate, Delegation } from "#src/cardano/certificates.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { CertificateRow, TransactionPlace } from "#src/devnet/index/rows.ts";
import type { Applied } from "#src/ledger/delta.ts";
import { credentialKey, drepKey } from "#src/ledger/state.ts";

/** What a certificate does. */
type Part = Omit<CertificateRow, keyof TransactionPlace | "cert_index" | "part" | "cbor">;

/** Epochs until a certificate counts for block production: the snapshot at the next boundary counts one epoch later. */
const UNTIL_ACTIVE = 2;

/** The epoch and the parameters in which a block is made. */
interface CertificateTerms {
  readonly epoch: number;
  readonly parameters: Pick<Parameters, "keyDeposit" | "poolDeposit">;
}

/** Rows of the certificates in the body of an accepted transaction (CBOR). */
export function certificateRows(
  body: Uint8Array,
  certificates: readonly Certificate[],
  applied: Pick<Applied, "accounts" | "pools">,
  place: TransactionPlace,
  terms: CertificateTerms,
): CertificateRow[] {
  if (certificates.length === 0) return [];
  const bytes = asSet(entry(as(decode(body), "map"), 4)).map(raw);
  const registered = new Set(applied.pools.filter(({ before }) => before).map(({ key }) => key));
  const deposits = new Map(applied.accounts.map(({ key, before }) => [key, before?.deposit]));
  return certificates.flatMap((certificate, cert_index) =>
    partsOf(certificate, terms, registered, deposits).map((part, index) => ({
      ...place,
      cert_index,
      part: index,
      ...part,
      cbor: bytes[cert_index] ?? new Uint8Array(),
    }))
  );
}

/** `pools` are those registered so far; `deposits` the deposits of accounts before the transaction. */
function partsOf(
  certificate: Certificate,
  { epoch, parameters: { keyDeposit, poolDeposit } }: CertificateTerms,
  pools: Set<string>,
  deposits: ReadonlyMap<string, bigint | undefined>,
): Part[] {
  switch (certificate.kind) {
    case "register": {
      const credential = credentialKey(certificate.credential);
      const deposit = certificate.deposit ?? keyDeposit;
      return [{ kind: "register", credential, deposit }, ...delegations(credential, certificate.to, epoch)];
    }
    case "unregister": {
      const credential = credentialKey(certificate.credential);
      const refund = certificate.refund ?? deposits.get(credential) ?? keyDeposit;
      return [{ kind: "deregister", credential, deposit: -refund }];
    }
    case "delegate":
      return delegations(credentialKey(certificate.credential), certificate.to, epoch);
    case "register pool": {
      const { pool } = certificate;
      // the parameters of a registered pool change at the next boundary, before those of the next snapshot are taken
      if (pools.has(pool)) return [{ kind: "pool", pool, epoch: epoch + UNTIL_ACTIVE + 1 }];
      pools.add(pool);
      return [{ kind: "pool", pool, epoch: epoch + UNTIL_ACTIVE, deposit: poolDeposit }];
    }
    case "retire pool":
      return [{ kind: "retire", pool: certificate.pool, epoch: Number(certificate.epoch) }];
    case "register drep":
      return [{ kind: "drep_register", drep: credentialKey(certificate.credential), deposit: certificate.deposit }];
    case "unregister drep":
      return [{ kind: "drep_deregister", drep: credentialKey(certificate.credential), deposit: -certificate.refund }];
    case "update drep":
      return [{ kind: "drep_update", drep: credentialKey(certificate.credential) }];
    case "authorize":
      return [{ kind: "committee_authorize", drep: credentialKey(certificate.cold) }];
    default:
      return [];
  }
}

function delegations(credential: string, { pool, drep }: Delegation = {}, epoch: number): Part[] {
  return [
    ...(pool === undefined ? [] : [{ kind: "delegate", credential, pool, epoch: epoch + UNTIL_ACTIVE } as const]),
    ...(drep === undefined ? [] : [{ kind: "vote", credential, drep: drepKey(drep) } as const]),
  ];
}
