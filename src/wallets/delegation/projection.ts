/**
 * Projection of wallets' stake credentials: certificates, the epochs in which they take effect, and withdrawals.
 *
 * Assumptions: `wallet_index.stake` says who owns a credential. A certificate counts whichever wallet or program made its transaction. One
 * that deregisters a DRep ends the delegations to it (the ledger does so from protocol version 10 on). What the ledger
 * changes without a certificate is reported by the network: `rewards.ts`.
 * Earned rewards are in no block, so only withdrawals change them here; `rewards.ts` queries the network for them.
 */
import { LAG, MOST_TRANSACTIONS } from "#machines/delegation.ts";
import type { Json } from "#src/base/json.ts";
import { addTo } from "#src/base/maps.ts";
import { readAddressHex } from "#src/cardano/address.ts";
import { certified, type Point, type ScannedBlock, type ScannedTransaction, withdrawn } from "#src/cardano/block.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import {
  type Folded,
  type Projection,
  type RowQuery,
  type Rows,
  type RowWrite,
  type Touched,
  unanswered,
} from "#src/chain/index/projection.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import type { AccountCertificate } from "#src/cardano/encodeCertificate.ts";
import { wholeStateEvent } from "#src/wallets/delegation/accountFacts.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import { type IndexTables, rowsOf } from "#src/wallets/index/indexRows.ts";
import { stakesIn } from "#src/wallets/index/walletEffect.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";

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
      const { certified, ended } = changesIn(block);
      const certificates = [...certified];
      const withdrawals = [...withdrawalsOf(block).keys()];
      const due: RowQuery = { table: DUE, column: "due", atMost: epochOf(block.slot) };
      if (certificates.length === 0 && withdrawals.length === 0 && ended.size === 0) return [due];
      return [
        due,
        ...(ended.size === 0 ? [] : [{ table: "wallet_delegation", column: "drep", in: [...ended] }]),
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

/** What changes accounts in a block, in its order. */
interface AccountChanges {
  readonly changes: readonly AccountChange[];
  /** Credentials with certificates of their own (`ownedCredential`). */
  readonly certified: ReadonlySet<string>;
  /** DReps that deregister (`drepKey`). */
  readonly ended: ReadonlySet<string>;
}

type AccountChange = AccountCertificate | Extract<Certificate, { kind: "unregister drep" }>;

function changesIn(block: ScannedBlock): AccountChanges {
  const changes: AccountChange[] = [];
  const certificates = new Set<string>();
  const ended = new Set<string>();
  for (const transaction of block.transactions) {
    for (const certificate of certified(transaction)) {
      const { kind } = certificate;
      if (kind === "unregister drep") ended.add(drepKey(certificate.credential));
      else if (kind === "register" || kind === "unregister" || kind === "delegate") {
        certificates.add(ownedCredential(certificate.credential));
      } else continue;
      changes.push(certificate);
    }
  }
  return { changes, certified: certificates, ended };
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

/** The account of a credential after the changes of a block. */
function apply(before: CertifiedAccount, credential: string, changes: readonly AccountChange[]): CertifiedAccount {
  let account = before;
  for (const change of changes) {
    if (change.kind === "unregister drep") {
      if (account.drep === drepKey(change.credential)) account = { ...account, drep: null };
      continue;
    }
    if (ownedCredential(change.credential) !== credential) continue;
    if (change.kind === "unregister") account = UNREGISTERED;
    else {
      if (change.kind === "register") account = { ...account, deposit: change.deposit ?? null };
      const { pool, drep } = change.to ?? {};
      // a delegation implies a registration, which may lie before the blocks that are read
      account = { ...account, registered: true, pool: pool ?? account.pool, drep: drep ? drepKey(drep) : account.drep };
    }
  }
  return account;
}

const UNREGISTERED: CertifiedAccount = { registered: false, deposit: null, pool: null, drep: null };

/** Where the change of an account in a block comes from, for events; `drep` is its vote before the block. */
function sourcesIn(block: ScannedBlock): (credential: string, drep?: string | null) => Readonly<Record<string, Json>> {
  const { slot, hash, height } = block;
  let hashes: Map<string, string[]> | undefined;
  return (credential, drep) => {
    if (hashes === undefined) {
      hashes = new Map();
      for (const transaction of block.transactions) {
        const about = [...stakesIn(transaction), ...endedDreps(transaction).map((one) => `drep ${one}`)];
        for (const one of new Set(about)) addTo(hashes, one, transaction.hash);
      }
    }
    const some = [...hashes.get(credential) ?? [], ...hashes.get(`drep ${drep}`) ?? []];
    return { block: { slot, hash, height }, transactions: [...new Set(some)].slice(-MOST_TRANSACTIONS) };
  };
}

const endedDreps = (transaction: ScannedTransaction): string[] =>
  certified(transaction).flatMap((one) => one.kind === "unregister drep" ? [drepKey(one.credential)] : []);

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

  const { changes, certified, ended } = changesIn(block);
  const voted = rowsOf(rows, "wallet_delegation").filter(({ drep }) => drep !== null && ended.has(drep));
  // the owners of accounts that only a DRep's end changes
  const others = [...new Set(voted.map(({ credential }) => credential))].filter((one) => !certified.has(one));
  const queries = unanswered(
    rows,
    others.length === 0 ? [] : [
      { table: "wallet_index", column: "stake", in: others },
      { table: DUE, column: "credential", in: others },
    ],
  );
  if (queries.length > 0) return { type: "more", queries };
  const withdrawals = withdrawalsOf(block);
  const before = grouped(rowsOf(rows, "wallet_delegation"), ({ wallet }) => wallet);
  const dues = grouped(rowsOf(rows, DUE), ({ wallet }) => wallet);
  const owners = grouped(rowsOf(rows, "wallet_index"), ({ stake }) => stake);
  for (const credential of [...certified, ...others]) {
    const wallets = owners.get(credential) ?? [];
    wallets.forEach(({ wallet }, i) => {
      const [last] = before.get(wallet) ?? [];
      const { registered, deposit: paid, pool, drep } = last ?? UNREGISTERED;
      const account = apply({ registered, deposit: paid, pool, drep }, credential, changes);
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
        ...sourceOf(credential, drep),
      });
    });
  }

  const rewarded = new Set<string>();
  for (const row of rowsOf(rows, REWARD)) {
    const { wallet, credential, rewards: held } = row;
    const unregistered = changes.some((one) =>
      one.kind === "unregister" && ownedCredential(one.credential) === credential
    );
    const rewards = unregistered ? 0n : held - (withdrawals.get(credential) ?? 0n);
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
