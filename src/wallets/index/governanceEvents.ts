/** Events of wallets about governance: certificates of representatives and of the committee, votes and proposals. */
import type { Json } from "#src/base/json.ts";
import { certified, type ScannedBlock, type ScannedTransaction } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { proposalsIn, votersIn } from "#src/cardano/governed.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";

type Members = { readonly [field: string]: Json };

/** Most entries of an event: it stays below 8,000 bytes of JSON. */
const MOST = 25;

/** The event of a transaction that a wallet pays for; none where it has no part in governance. */
export function governanceEvents(
  transaction: ScannedTransaction,
  { slot, hash, height }: ScannedBlock,
  life: Members,
): Touched["event"][] {
  const found = partsIn(transaction);
  const all = found.flatMap(([name, list]) => list.map((entry) => [name, entry] as const));
  if (all.length === 0) return [];
  const kept = all.slice(0, MOST);
  const members = found.flatMap(([name]) => {
    const list = kept.flatMap(([of, entry]) => of === name ? [entry] : []);
    return list.length === 0 ? [] : [[name, list] as const];
  });
  return [{
    type: "GOVERNED",
    slot,
    hash: transaction.hash,
    block: { slot, hash, height },
    ...Object.fromEntries(members),
    ...(all.length > kept.length ? { leftOut: all.length - kept.length } : {}),
    ...life,
  }];
}

type Parts = readonly (readonly [name: "certificates" | "votes" | "proposals", entries: readonly Members[]])[];

function partsIn(transaction: ScannedTransaction): Parts {
  const certificates = ["certificates", certified(transaction).flatMap(certificateIn)] as const;
  if (!transaction.governs || !transaction.valid) return [certificates];
  try {
    return [certificates, ["votes", votesIn(transaction)], ["proposals", proposedIn(transaction)]];
  } catch (error) {
    // no event is worth a stop of the index
    if (error instanceof CborError) return [certificates];
    throw error;
  }
}

function certificateIn(certificate: Certificate): Members[] {
  const { kind } = certificate;
  switch (kind) {
    case "register drep":
      return [{ ...aboutDrep(certificate), deposit: String(certificate.deposit) }];
    case "unregister drep":
      return [{ ...aboutDrep(certificate), deposit: String(certificate.refund) }];
    case "update drep":
      return [aboutDrep(certificate)];
    case "authorize":
      return [{ kind, credential: ownedCredential(certificate.cold), hot: ownedCredential(certificate.hot) }];
    case "resign":
      return [{ kind, credential: ownedCredential(certificate.cold) }];
    default:
      return [];
  }
}

const aboutDrep = (
  { kind, credential }: Extract<Certificate, { kind: "register drep" | "unregister drep" | "update drep" }>,
) => ({ kind: kind.replace(" ", "_"), credential: ownedCredential(credential) });

const votesIn = (transaction: ScannedTransaction): Members[] =>
  votersIn(transaction).flatMap(({ role, credential, votes }) =>
    votes.map(({ action, vote }) => ({ role, credential: ownedCredential(credential), action: refKey(action), vote }))
  );

const proposedIn = (transaction: ScannedTransaction): Members[] =>
  proposalsIn(transaction).map(({ action, deposit, account }, index) => ({
    action: refKey({ txHash: transaction.hash, index }),
    kind: action.kind.replace(" ", "_"),
    deposit: String(deposit),
    account: ownedCredential(account.credential),
  }));
