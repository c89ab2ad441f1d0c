/**
 * Projection of wallets' stake credentials: certificates, the epochs in which they take effect, and withdrawals.
 *
 * Assumptions: `wallet_index.stake` says who owns a credential. A certificate counts whoever made its transaction.
 * Earned rewards are in no block, so only withdrawals change them here; `rewards.ts` queries the network for them.
 */
import { LAG, MOST_TRANSACTIONS } from "#machines/delegation.ts";
import type { Json } from "#src/base/json.ts";
import { addTo } from "#src/base/maps.ts";
import { readAddressHex } from "#src/cardano/address.ts";
import { certified, type Point, type ScannedBlock, withdrawn } from "#src/cardano/block.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import type { Folded, Projection, RowQuery, Rows, RowWrite, Touched } from "#src/cardano/projection.ts";
import type { AccountCertificate } from "#src/cardano/encodeCertificate.ts";
import { wholeStateEvent } from "#src/wallet/delegation/accountFacts.ts";
import { ownedCredential } from "#src/wallet/index/credential.ts";
import { type IndexTables, rowsOf } from "#src/wallet/index/indexRows.ts";
import { stakesIn } from "#src/wallet/index/walletEffect.ts";
import { WALLET_PROJECTION } from "#src/wallet/index/types.ts";

/** The epoch of a slot. */
export type EpochOf = (slot: number) => number;

const HISTORY = "wallet_delegation_history";
const DUE = "wallet_delegation_due";
const REWARD = "wallet_reward";

/** The stake part of the wallets' projection; it runs together with the index. */
export function delegationProjection(epochOf: EpochOf): Projection {
  return {
    name: WALLET_PROJECTION,
    tables: ["wallet_delegation", DUE, REWARD],
    passing: [DUE, REWARD],
    members: {
      column: "wallet",
      tables: ["wallet_index", "wallet_delegation", HISTORY, DUE, REWARD],
      joinedKeys: (members) => [
        { table: HISTORY, column: "wallet", in: members },
        { table: REWARD, column: "wallet", in: members },
      ],
      joined: (_, at, rows) => {
        const credentials = new Set(rowsOf(rows, HISTORY).map((row) => row.credential));
        const place = { ...at, epoch: epochOf(at.slot) };
        return [...credentials].map((credential) => wholeStateEvent("TOLD", credential, place, rows));
      },
    },
    keys(block): RowQuery[] {
      const certificates = [...certificatesOf(block).keys()];
      const withdrawals = [...withdrawalsOf(block).keys()];
      const due: RowQuery = { table: DUE, column: "due", atMost: epochOf(block.slot) };
      if (certificates.length === 0 && withdrawals.length === 0) return [due];
      return [
        due,
        { table: "wallet_index", column: "stake", in: certificates },
        { table: "wallet_delegation", column: "credential", in: certificates },
        { table: DUE, column: "credential", in: certificates },
        { table: REWARD, column: "credential", in: [...new Set([...certificates, ...withdrawals])] },
      ];
    },
    fold: (block, rows) => foldBlock(block, rows, epochOf(block.slot)),
    undoKeys(affected) {
      const credentials = [...credentialsIn(affected)];
      return [
        { table: HISTORY, column: "credential", in: credentials },
        { table: REWARD, column: "credential", in: credentials },
      ];
    },
    undo(point: Point, affected: Rows, rows: Rows): Touched[] {
      const place = { ...point, epoch: epochOf(point.slot) };
      return [...credentialsIn(affected)].map((credential) => wholeStateEvent("ROLLED_BACK", credential, place, rows));
    },
  };
}

function credentialsIn(rows: Rows): Set<string> {
  const tables = ["wallet_delegation", DUE, REWARD] as const;
  return new Set(tables.flatMap((table) => rowsOf(rows, table).map(({ credential }) => credential)));
}

/** Account certificates by credential, in the order of the block. */
function certificatesOf(block: ScannedBlock): Map<string, AccountCertificate[]> {
  const found = new Map<string, AccountCertificate[]>();
  for (const transaction of block.transactions) {
    for (const certificate of certified(transaction)) {
      if (certificate.kind !== "register" && certificate.kind !== "unregister" && certificate.kind !== "delegate") {
        continue;
      }
      addTo(found, ownedCredential(certificate.credential), certificate);
    }
  }
  return found;
}

/** Lovelace withdrawn, by credential. */
export function withdrawalsOf(block: ScannedBlock): Map<string, bigint> {
  const found = new Map<string, bigint>();
  for (const transaction of block.transactions) {
    for (const [account, amount] of withdrawn(transaction)) {
      const read = readAddressHex(account);
      if (!read.ok || read.value.kind !== "reward") continue;
      const key = ownedCredential(read.value.stake);
      found.set(key, (found.get(key) ?? 0n) + amount);
    }
  }
  return found;
}

/** An account after its certificates. */
type CertifiedAccount = Pick<IndexTables["wallet_delegation"], "registered" | "deposit" | "pool" | "drep">;

function apply(before: CertifiedAccount, certificates: readonly AccountCertificate[]): CertifiedAccount {
  let account = before;
  for (const certificate of certificates) {
    if (certificate.kind === "unregister") account = UNREGISTERED;
    else {
      if (certificate.kind === "register") account = { ...account, deposit: certificate.deposit ?? null };
      const { pool, drep } = certificate.to ?? {};
      // a delegation implies a registration, which may lie before the blocks that are read
      account = { ...account, registered: true, pool: pool ?? account.pool, drep: drep ? drepKey(drep) : account.drep };
    }
  }
  return account;
}

const UNREGISTERED: CertifiedAccount = { registered: false, deposit: null, pool: null, drep: null };

/** Where changes of credentials in a block come from, for events. */
function sourcesIn(block: ScannedBlock): (credential: string) => { readonly [field: string]: Json } {
  const { slot, hash, height } = block;
  let hashes: Map<string, string[]> | undefined;
  return (credential) => {
    if (hashes === undefined) {
      hashes = new Map();
      for (const transaction of block.transactions) {
        for (const stake of new Set(stakesIn(transaction))) addTo(hashes, stake, transaction.hash);
      }
    }
    return { block: { slot, hash, height }, transactions: (hashes.get(credential) ?? []).slice(-MOST_TRANSACTIONS) };
  };
}

function grouped<R, K>(rows: readonly R[], keyOf: (row: R) => K): ReadonlyMap<K, readonly R[]> {
  const found = new Map<K, R[]>();
  for (const row of rows) addTo(found, keyOf(row), row);
  return found;
}

function foldBlock(block: ScannedBlock, rows: Rows, epoch: number): Folded {
  const writes: RowWrite[] = [];
  const touched: Touched[] = [];
  const { slot } = block;
  const touch = (credential: string, event: Touched["event"]) =>
    touched.push({ entity: { kind: "delegation", id: credential }, event });

  const sourceOf = sourcesIn(block);

  const begun = new Set<string>();
  for (const row of rowsOf(rows, DUE)) {
    if (Number(row.due) > epoch) continue;
    writes.push({ type: "close", table: DUE, key: { wallet: row.wallet, due: row.due } });
    begun.add(row.credential);
  }
  for (const credential of begun) touch(credential, { type: "EPOCH", slot, epoch });

  const certificates = certificatesOf(block);
  const withdrawals = withdrawalsOf(block);
  const before = grouped(rowsOf(rows, "wallet_delegation"), ({ wallet }) => wallet);
  const dues = grouped(rowsOf(rows, DUE), ({ wallet }) => wallet);
  const owners = grouped(rowsOf(rows, "wallet_index"), ({ stake }) => stake);
  for (const [credential, some] of certificates) {
    const wallets = owners.get(credential) ?? [];
    wallets.forEach(({ wallet }, i) => {
      const [last] = before.get(wallet) ?? [];
      const { registered, deposit: paid, pool, drep } = last ?? UNREGISTERED;
      const account = apply({ registered, deposit: paid, pool, drep }, some);
      if (last) writes.push({ type: "close", table: "wallet_delegation", key: { wallet } });
      writes.push({ type: "insert", table: "wallet_delegation", row: { wallet, credential, epoch, ...account } });
      if (!(dues.get(wallet) ?? []).some((row) => Number(row.due) === epoch + LAG)) {
        writes.push({ type: "insert", table: DUE, row: { wallet, credential, due: epoch + LAG } });
      }
      if (i > 0) return;
      const { deposit, ...whom } = account;
      touch(credential, {
        type: "CERTIFIED",
        slot,
        epoch,
        ...whom,
        deposit: deposit === null ? null : String(deposit),
        ...sourceOf(credential),
      });
    });
  }

  const rewarded = new Set<string>();
  for (const row of rowsOf(rows, REWARD)) {
    const { wallet, credential, rewards: held } = row;
    const ended = certificates.get(credential)?.some(({ kind }) => kind === "unregister") === true;
    const rewards = ended ? 0n : held - (withdrawals.get(credential) ?? 0n);
    if (rewards === held) continue;
    // the network's figure may be older than a withdrawal
    const rest = rewards < 0n ? 0n : rewards;
    writes.push({ type: "close", table: REWARD, key: { wallet } });
    writes.push({ type: "insert", table: REWARD, row: { wallet, credential, epoch: row.epoch, rewards: rest } });
    if (rewarded.has(credential)) continue;
    rewarded.add(credential);
    const amount = withdrawals.get(credential);
    touch(credential, {
      type: "REWARDED",
      slot,
      epoch,
      rewards: String(rest),
      ...(amount === undefined ? {} : { withdrawn: String(amount) }),
      ...sourceOf(credential),
    });
  }
  return { type: "done", writes, touched };
}
