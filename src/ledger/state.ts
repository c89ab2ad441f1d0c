/**
 * What the rules read, and how it changes. A state is tables behind small interfaces: a plain `Map` is one, `overlay` makes a
 * second one on top of the first (for the mempool), and neither rule nor caller knows which it holds.
 */
import { each, type Steps } from "#src/base/steps.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Anchor, DRep as VoteDelegatee } from "#src/cardano/certificates.ts";
import type { Vote } from "#src/cardano/conway/governance.ts";
import { type Output, type OutRef, parseRefKey, refKey } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";

/** Rows by key, to be read. A `ReadonlyMap` is one. */
export interface View<V> {
  get(key: string): V | undefined;
  entries(): Iterable<readonly [string, V]>;
  /** What `eachRow` does, where `entries` may pass over many rows before it gives one. */
  eachRow?(act: (row: readonly [string, V]) => void): Steps<void>;
}

/** Calls `act` with every row, in steps. Rows must not change meanwhile. */
export function eachRow<V>(view: View<V>, act: (row: readonly [string, V]) => void): Steps<void> {
  return view.eachRow?.(act) ?? each(view.entries(), act);
}

/** Rows by key, to be changed. A `Map` is one. */
export interface Table<V> extends View<V> {
  set(key: string, value: V): unknown;
  delete(key: string): unknown;
}

/** The unspent outputs, to be read. */
export interface UtxoView {
  get(ref: OutRef): Output | undefined;
  /** All of them, in no order. */
  outputs(): Iterable<Output>;
}

/** The unspent outputs, to be changed. */
interface UtxoTable extends UtxoView {
  set(ref: OutRef, output: Output): void;
  delete(ref: OutRef): void;
}

/** A registered stake credential. */
export interface Account {
  /** Lovelace paid at its registration. */
  readonly deposit: bigint;
  /** Rewards that were not withdrawn, in lovelace. */
  readonly balance: bigint;
  /** Id of the pool it delegates to, in hexadecimal. */
  readonly pool?: string | undefined;
  /** Whom it delegates its vote to: a credential's key, `abstain` or `no confidence`. */
  readonly drep?: string | undefined;
}

/** A registered stake pool. */
export interface Pool {
  /** CBOR of its registration certificate. */
  readonly certificate: Uint8Array;
  /** CBOR of a later certificate, which holds from the next epoch on. */
  readonly future?: Uint8Array | undefined;
  /** Lovelace paid at its registration. */
  readonly deposit: bigint;
  /** The epoch in which it retires, when that was announced. */
  readonly retiring?: number | undefined;
}

/** A registered representative. */
export interface DRep {
  /** Lovelace paid at its registration. */
  readonly deposit: bigint;
  /** Its metadata: URL, and hash in hexadecimal. */
  readonly anchor?: Anchor | undefined;
  /** The last epoch in which it counts, but for dormant epochs; undefined where an earlier release registered it: it always counts. */
  readonly expiry?: number | undefined;
  /**
   * In protocol version 9: accounts whose delegation ends with this registration, those that have left it included; undefined
   * where they are the ones that delegate to it.
   */
  readonly delegators?: readonly string[] | undefined;
}

/** A member of the constitutional committee, or a proposed one, by the cold credential. */
export interface CommitteeMember {
  /** Key of the hot credential that may vote in its place. */
  readonly hot?: string | undefined;
  readonly resigned?: boolean | undefined;
  /** The document with which it resigned. */
  readonly resignation?: Anchor | undefined;
  /** Whether it is a member of the enacted committee. */
  readonly elected?: boolean | undefined;
  /** The last epoch of an elected member's term. */
  readonly until?: number | undefined;
}

/** A pool at the beginning of an epoch. */
export interface PoolSnapshot {
  /** CBOR of the certificate that held until then. */
  readonly certificate: Uint8Array;
  /** Lovelace of each account that delegated to it, by `credentialKey`: outputs and rewards, also where it is nothing. */
  readonly members: ReadonlyMap<string, bigint>;
}

/**
 * What counts for the actions that are voted on, as an epoch began (ledger: `PulsingSnapshot`). The actions themselves are
 * those that were proposed before it.
 */
export interface VotingSnapshot {
  /** Votes, by `voteKey`. */
  readonly votes: ReadonlyMap<string, Vote["vote"]>;
  /** Registered representatives. */
  readonly dreps: ReadonlyMap<string, DRep>;
  /**
   * Lovelace of each account that delegated its vote, by `drepKey`, then by `credentialKey`: outputs, rewards, and the
   * deposits of its proposals.
   */
  readonly delegators: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
  /** Lovelace that deposits of proposals add to the stake with which pools vote, by pool. */
  readonly poolDeposits: ReadonlyMap<string, bigint>;
}

/**
 * Who delegated what at the beginning of an epoch (ledger: `SnapShot`). The ledger calls the one of this epoch mark, the one
 * before it set, the one before that go; here each keeps the name of its epoch, and moves nowhere.
 */
export interface StakeSnapshot {
  /** Every pool that was registered, by id. */
  readonly pools: ReadonlyMap<string, PoolSnapshot>;
  /** Lovelace in the fee pot at that moment. */
  readonly fees: bigint;
  /** Undefined where an earlier release took it. */
  readonly voting?: VotingSnapshot | undefined;
  /** The parameters until then; undefined where they stayed. */
  readonly parametersBefore?: Parameters | undefined;
}

/** What pools are ranked by (ledger: `NonMyopic`). */
export interface Ranking {
  /** Lovelace that pools could have earned together when rewards were paid last. */
  readonly rewardPot: bigint;
  /** How likely each hundredth of full performance is after what was seen: logarithms, by id of the pool. */
  readonly likelihoods: ReadonlyMap<string, readonly number[]>;
}

/** Lovelace that is in no output and no account. */
export interface Pots {
  treasury: bigint;
  reserves: bigint;
  /** Fees of this epoch. */
  fees: bigint;
  /** Deposits of accounts, pools, representatives and proposals. */
  deposits: bigint;
  /** Donated to the treasury in this epoch. */
  donations: bigint;
}

/** What a transaction is judged against. Accounts, representatives and committee go by `credentialKey`, pools by id in hexadecimal. */
export interface LedgerState {
  readonly utxo: UtxoView;
  readonly accounts: View<Account>;
  readonly pools: View<Pool>;
  readonly dreps: View<DRep>;
  readonly committee: View<CommitteeMember>;
  /** Actions that are voted on, by `actionKey`. */
  readonly proposals: View<Proposed>;
  /** Votes on them, by `voteKey`. */
  readonly votes: View<Vote["vote"]>;
  /** One row, by `GOVERNANCE`; none before the first change. */
  readonly governance: View<Governance>;
  /** Snapshots of the last three epochs, by the epoch's number in decimal. */
  readonly snapshots: View<StakeSnapshot>;
  /** How many blocks a pool made, in this epoch and the last, by `blocksKey`. */
  readonly blocks: View<number>;
  /** One row, by `RANKING`. */
  readonly ranking: View<Ranking>;
  readonly pots: Readonly<Pots>;
  readonly epoch: number;
  readonly parameters: Parameters;
  readonly network: 0 | 1;
}

/** A state that deltas are applied to. */
export interface MutableLedgerState extends LedgerState {
  readonly utxo: UtxoTable;
  readonly accounts: Table<Account>;
  readonly pools: Table<Pool>;
  readonly dreps: Table<DRep>;
  readonly committee: Table<CommitteeMember>;
  readonly proposals: Table<Proposed>;
  readonly votes: Table<Vote["vote"]>;
  readonly governance: Table<Governance>;
  readonly snapshots: Table<StakeSnapshot>;
  readonly blocks: Table<number>;
  readonly ranking: Table<Ranking>;
  readonly pots: Pots;
  epoch: number;
  parameters: Parameters;
}

/** A credential as a key of tables: `k` or `s` (key or script) and its hash. */
export function credentialKey({ kind, hash }: Credential): string {
  return (kind === "key" ? "k" : "s") + hash;
}

/** An account's vote delegation: the key of a credential, `abstain` or `no confidence`. */
export function drepKey(drep: VoteDelegatee): string {
  return "hash" in drep ? credentialKey(drep) : drep.kind;
}

/** The credential behind a key made by `credentialKey`. */
export function parseCredentialKey(key: string): Credential {
  return { kind: key.startsWith("k") ? "key" : "script", hash: key.slice(1) };
}

/** The key of `ranking`. */
export const RANKING = "pools";

/** Which row says how many blocks a pool made in an epoch. */
export function blocksKey(epoch: number, pool: string): string {
  return `${epoch} ${pool}`;
}

/** The unspent outputs that a map holds by `refKey`; the map stays the caller's, changes go into it. */
function utxoTable(outputs: Map<string, Output>): UtxoTable {
  return {
    get: (ref) => outputs.get(refKey(ref)),
    outputs: () => outputs.values(),
    set: (ref, output) => void outputs.set(refKey(ref), output),
    delete: (ref) => void outputs.delete(refKey(ref)),
  };
}

/** A state with nothing in it but the outputs given. */
export function newState(
  settings: {
    readonly parameters: Parameters;
    readonly network?: 0 | 1;
    readonly epoch?: number;
    readonly outputs?: Map<string, Output>;
  },
): MutableLedgerState {
  return {
    utxo: utxoTable(settings.outputs ?? new Map()),
    accounts: new Map(),
    pools: new Map(),
    dreps: new Map(),
    committee: new Map(),
    proposals: new Map(),
    votes: new Map(),
    governance: new Map(),
    snapshots: new Map(),
    blocks: new Map(),
    ranking: new Map(),
    pots: { treasury: 0n, reserves: 0n, fees: 0n, deposits: 0n, donations: 0n },
    epoch: settings.epoch ?? 0,
    parameters: settings.parameters,
    network: settings.network ?? 0,
  };
}

/** A state that shows `base` until a delta is applied to it; `base` is never changed, and must not change while this is used. */
export function overlay(base: LedgerState): MutableLedgerState {
  const outputs = new Map<string, Output | undefined>();
  return {
    utxo: {
      get: (ref) => {
        const key = refKey(ref);
        return outputs.has(key) ? outputs.get(key) : base.utxo.get(ref);
      },
      *outputs() {
        const hidden = new Set<Output>();
        for (const key of outputs.keys()) {
          const output = base.utxo.get(parseRefKey(key));
          if (output) hidden.add(output);
        }
        for (const output of base.utxo.outputs()) if (!hidden.has(output)) yield output;
        for (const output of outputs.values()) if (output) yield output;
      },
      set: (ref, output) => void outputs.set(refKey(ref), output),
      delete: (ref) => void outputs.set(refKey(ref), undefined),
    },
    accounts: overlayTable(base.accounts),
    pools: overlayTable(base.pools),
    dreps: overlayTable(base.dreps),
    committee: overlayTable(base.committee),
    proposals: overlayTable(base.proposals),
    votes: overlayTable(base.votes),
    governance: overlayTable(base.governance),
    snapshots: overlayTable(base.snapshots),
    blocks: overlayTable(base.blocks),
    ranking: overlayTable(base.ranking),
    pots: { ...base.pots },
    epoch: base.epoch,
    parameters: base.parameters,
    network: base.network,
  };
}

/** A table on top of another that stays as it is. */
export function overlayTable<V>(base: View<V>): Table<V> & { changes(): Iterable<readonly [string, V | undefined]> } {
  const changed = new Map<string, V | undefined>();
  return {
    get: (key) => (changed.has(key) ? changed.get(key) : base.get(key)),
    set: (key, value) => changed.set(key, value),
    delete: (key) => changed.set(key, undefined),
    *entries() {
      for (const row of base.entries()) if (!changed.has(row[0])) yield row;
      for (const [key, value] of changed) if (value !== undefined) yield [key, value] as const;
    },
    *eachRow(act) {
      yield* eachRow(base, (row) => {
        if (!changed.has(row[0])) act(row);
      });
      yield* each(changed, ([key, value]) => {
        if (value !== undefined) act([key, value]);
      });
    },
    changes: () => changed.entries(),
  };
}
