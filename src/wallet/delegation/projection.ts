/**
 * What blocks say of wallets' stake credentials: certificates, the epochs in which they begin to count, withdrawals.
 *
 * Hypotheses: whose a credential is stands in the rows of the index (`wallet_index.stake`); a certificate of another's transaction counts
 * like an own one; what an account earned is in no block, so only what withdrawals leave of it is read here (`rewards.ts` asks for the rest).
 */
import { LAG } from "#machines/delegation.ts";
import { readAddressHex } from "#src/cardano/address.ts";
import { certified, type Point, type ScannedBlock, withdrawn } from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import type { Folded, Projection, Row, RowQuery, Rows, RowWrite, Touched } from "#src/cardano/projection.ts";
import { rowsBy } from "#src/cardano/projections.ts";
import { told } from "#src/wallet/delegation/accountFacts.ts";
import { WALLET_PROJECTION } from "#src/wallet/index/types.ts";

/** The epoch of a slot. */
export type EpochOf = (slot: number) => number;

const HISTORY = "wallet_delegation_history";
const DUE = "wallet_delegation_due";
const REWARD = "wallet_reward";

/** The part of the wallets' projection that is about stake; goes `together` with the index. */
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
        const credentials = new Set((rows.get(HISTORY) ?? []).map((row) => row.credential as string));
        return [...credentials].map((credential) => told("TOLD", credential, epochOf(at.slot), rows));
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
      const epoch = epochOf(point.slot);
      return [...credentialsIn(affected)].map((credential) => told("ROLLED_BACK", credential, epoch, rows));
    },
  };
}

function credentialsIn(rows: Rows): Set<string> {
  return new Set(
    ["wallet_delegation", DUE, REWARD].flatMap((table) =>
      (rows.get(table) ?? []).map((row) => row.credential as string)
    ),
  );
}

type OfAccount = Extract<Certificate, { kind: "register" | "unregister" | "delegate" }>;

/** Certificates about accounts, by credential, in the block's order. */
function certificatesOf(block: ScannedBlock): Map<string, OfAccount[]> {
  const found = new Map<string, OfAccount[]>();
  for (const transaction of block.transactions) {
    for (const certificate of certified(transaction)) {
      if (certificate.kind !== "register" && certificate.kind !== "unregister" && certificate.kind !== "delegate") {
        continue;
      }
      const { kind, hash } = certificate.credential;
      const key = `${kind}-${hash}`;
      const known = found.get(key);
      if (known) known.push(certificate);
      else found.set(key, [certificate]);
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
      const key = `${read.value.stake.kind}-${read.value.stake.hash}`;
      found.set(key, (found.get(key) ?? 0n) + amount);
    }
  }
  return found;
}

/** What certificates leave of an account. */
interface Left {
  registered: boolean;
  deposit: bigint | null;
  pool: string | null;
  drep: string | null;
}

function leave(before: Left, certificates: readonly OfAccount[]): Left {
  let left = before;
  for (const certificate of certificates) {
    if (certificate.kind === "unregister") left = { registered: false, deposit: null, pool: null, drep: null };
    else {
      if (certificate.kind === "register") left = { ...left, deposit: certificate.deposit ?? null };
      const { pool, drep } = certificate.to ?? {};
      // who delegates is registered, whether or not that was read
      left = { ...left, registered: true, pool: pool ?? left.pool, drep: drep ? drepKey(drep) : left.drep };
    }
  }
  return left;
}

/** What the certificates before left. */
function leftOf(row: Row | undefined): Left {
  if (!row) return { registered: false, deposit: null, pool: null, drep: null };
  return {
    registered: row.registered as boolean,
    deposit: row.deposit as bigint | null,
    pool: row.pool as string | null,
    drep: row.drep as string | null,
  };
}

function foldBlock(block: ScannedBlock, rows: Rows, epoch: number): Folded {
  const writes: RowWrite[] = [];
  const touched: Touched[] = [];
  const { slot } = block;
  const say = (credential: string, event: Touched["event"]) =>
    touched.push({ entity: { kind: "delegation", id: credential }, event });

  const begun = new Set<string>();
  for (const row of rows.get(DUE) ?? []) {
    if (Number(row.due) > epoch) continue;
    writes.push({ type: "close", table: DUE, key: { wallet: row.wallet, due: row.due } });
    begun.add(row.credential as string);
  }
  for (const credential of begun) say(credential, { type: "EPOCH", slot, epoch });

  const certificates = certificatesOf(block);
  const withdrawals = withdrawalsOf(block);
  const before = rowsBy(rows, "wallet_delegation", "wallet");
  const dues = rowsBy(rows, DUE, "wallet");
  const owners = rowsBy(rows, "wallet_index", "stake");
  for (const [credential, some] of certificates) {
    const wallets = owners.get(credential) ?? [];
    wallets.forEach(({ wallet }, i) => {
      const id = wallet as string;
      const [last] = before.get(id) ?? [];
      const left = leave(leftOf(last), some);
      if (last) writes.push({ type: "close", table: "wallet_delegation", key: { wallet } });
      writes.push({ type: "insert", table: "wallet_delegation", row: { wallet, credential, epoch, ...left } });
      if (!(dues.get(id) ?? []).some((row) => Number(row.due) === epoch + LAG)) {
        writes.push({ type: "insert", table: DUE, row: { wallet, credential, due: epoch + LAG } });
      }
      if (i > 0) return;
      const { deposit, ...whom } = left;
      say(credential, { type: "CERTIFIED", slot, epoch, ...whom, deposit: deposit === null ? null : String(deposit) });
    });
  }

  const rewarded = new Set<string>();
  for (const row of rows.get(REWARD) ?? []) {
    const { wallet } = row;
    const credential = row.credential as string;
    const held = row.rewards as bigint;
    const ended = certificates.get(credential)?.some(({ kind }) => kind === "unregister") === true;
    const rewards = ended ? 0n : held - (withdrawals.get(credential) ?? 0n);
    if (rewards === held) continue;
    // what the network said may be older than a withdrawal that another wallet's rows know
    const rest = rewards < 0n ? 0n : rewards;
    writes.push({ type: "close", table: REWARD, key: { wallet } });
    writes.push({ type: "insert", table: REWARD, row: { wallet, credential, epoch: row.epoch, rewards: rest } });
    if (rewarded.has(credential)) continue;
    rewarded.add(credential);
    say(credential, { type: "REWARDED", slot, epoch, rewards: String(rest) });
  }
  return { type: "done", writes, touched };
}
