/**
 * One pass over a block for the wallets' projection: requests rows, then missing credentials, then gives the changes of
 * the block.
 */
import { fromHex } from "#src/base/bytes.ts";
import { addTo, mustGet } from "#src/base/maps.ts";
import { readAddressHex } from "#src/cardano/address.ts";
import { created, type ScannedBlock, type ScannedTransaction, spent } from "#src/cardano/block.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import {
  type Folded,
  type RowQuery,
  type Rows,
  type RowWrite,
  type Touched,
  unanswered,
  type Want,
} from "#src/chain/index/projection.ts";
import { openByronPath } from "#src/cardano/keys/byronAddress.ts";
import { AddressPool } from "#src/wallets/index/addressPool.ts";
import { credentialOf } from "#src/wallets/index/credential.ts";
import { type IndexTables, rowsOf } from "#src/wallets/index/indexRows.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";
import {
  addressesIn,
  type OwnSide,
  stakesIn,
  type WalletEffect,
  walletEffect,
} from "#src/wallets/index/walletEffect.ts";
import { governanceEvents } from "#src/wallets/index/governanceEvents.ts";
import { transactionEvents } from "#src/wallets/index/walletEvents.ts";

/** A wallet that owns a credential, and its place there. */
interface CredentialClaim {
  readonly wallet: string;
  readonly role: bigint;
  readonly index: bigint;
  /** The address, where it cannot be computed from the credential (random wallets). */
  readonly address: string | null;
}

/** An unspent output of a wallet. */
interface OwnOutput extends CredentialClaim {
  readonly output: Output;
  /** Its row, where this block created it. */
  readonly fresh?: Record<string, unknown>;
}

/** What the fold needs of a wallet. */
interface FoldedWallet {
  readonly kind: string;
  readonly gap: number;
  readonly stake: string | undefined;
  readonly life: { readonly life?: number };
}

/** A wallet's inputs and outputs of a transaction. */
interface OwnParts {
  readonly inputs: Map<string, Output>;
  readonly outputs: Map<number, Output>;
}

export class BlockFold {
  private readonly facts = new Map<string, FoldedWallet>();
  /** Pools by wallet and role, after the block. */
  private readonly pools = new Map<string, AddressPool>();
  /** Owners of the credentials of this block's outputs, within their pools. */
  private readonly claims = new Map<string, readonly CredentialClaim[]>();
  /** Unspent outputs by `refKey`. */
  private readonly unspent = new Map<string, OwnOutput[]>();
  /** Wallets with their credentials that were paid before. */
  private readonly used = new Set<string>();
  private readonly changes = new Map<string, { wallet: string; asset: string; delta: bigint }>();
  private readonly writes: RowWrite[] = [];
  private readonly touched: Touched[] = [];

  constructor(
    private readonly block: ScannedBlock,
    private readonly rows: Rows,
    /** Whether transactions give no event: the event at the end of a restoration has the whole balance. */
    private readonly silent: boolean,
    private readonly keyDeposit: bigint,
  ) {}

  run(): Folded {
    const candidates = this.candidates();
    const wallets = [...this.concerned(candidates)].sort();
    if (wallets.length === 0) return { type: "done", writes: [], touched: [] };
    const about: RowQuery[] = ["wallet_index", "wallet_pool", "wallet_stock"].map((table) => ({
      table,
      column: "wallet",
      in: wallets,
    }));
    const missing = unanswered(this.rows, about);
    if (missing.length > 0) return { type: "more", queries: missing };
    this.learn(wallets);
    const wants = this.grow(candidates);
    if (wants.length > 0) return { type: "want", wants };
    for (const transaction of this.block.transactions) this.transaction(transaction);
    const holdings: RowQuery = { table: "wallet_holding", column: "entry", in: [...this.changes.keys()].sort() };
    if (holdings.in.length > 0 && unanswered(this.rows, [holdings]).length > 0) {
      return { type: "more", queries: [holdings] };
    }
    this.writeHoldings();
    return { type: "done", writes: this.writes, touched: this.touched };
  }

  private table<T extends keyof IndexTables>(name: T): readonly IndexTables[T][] {
    return rowsOf(this.rows, name);
  }

  /**
   * Wallets with a derived credential of the block's outputs, or that decrypt their own path in an address; by
   * credential.
   */
  private candidates(): Map<string, CredentialClaim[]> {
    const found = new Map<string, CredentialClaim[]>();
    const add = (credential: string, claim: CredentialClaim) => {
      const known = found.get(credential);
      if (!known) found.set(credential, [claim]);
      else if (!known.some(({ wallet }) => wallet === claim.wallet)) known.push(claim);
    };
    // a credential has one address, so one row of a wallet is enough
    for (const { credential, ...claim } of [...this.table("wallet_address"), ...this.table("wallet_use")]) {
      add(credential, claim);
    }
    const random = this.table("wallet_index").flatMap(({ wallet, kind, path_key: key }) =>
      kind === "random" && key !== null ? [{ wallet, key: fromHex(key) }] : []
    );
    if (random.length > 0) this.decryptPaths(random, add);
    return found;
  }

  /** Tries to decrypt the path of each Byron address, for each random wallet. */
  private decryptPaths(
    wallets: readonly { readonly wallet: string; readonly key: Uint8Array }[],
    add: (credential: string, claim: CredentialClaim) => void,
  ): void {
    const seen = new Set<string>();
    for (const { output: { address } } of this.block.transactions.flatMap(created)) {
      if (!address.startsWith("8") || seen.has(address)) continue;
      seen.add(address);
      const read = readAddressHex(address);
      if (!read.ok || read.value.kind !== "byron") continue;
      const { root, derivationPath } = read.value.byron;
      if (derivationPath === undefined) continue;
      for (const { wallet, key } of wallets) {
        const path = openByronPath(key, derivationPath);
        if (path) add(`byron-${root}`, { wallet, role: BigInt(path[0]), index: BigInt(path[1]), address });
      }
    }
  }

  private concerned(candidates: ReadonlyMap<string, readonly CredentialClaim[]>): Set<string> {
    const wallets = new Set<string>();
    for (const claims of candidates.values()) for (const { wallet } of claims) wallets.add(wallet);
    for (const { wallet } of this.table("wallet_utxo")) wallets.add(wallet);
    const stakes = new Set(this.block.transactions.flatMap(stakesIn));
    for (const { wallet, stake } of this.table("wallet_index")) {
      if (stake !== null && stakes.has(stake)) wallets.add(wallet);
    }
    return wallets;
  }

  private learn(wallets: readonly string[]): void {
    const known = new Set(wallets);
    for (const row of this.table("wallet_index")) {
      const { wallet, kind, gap, stake } = row;
      if (known.has(wallet)) this.facts.set(wallet, { kind, gap, stake: stake ?? undefined, life: incarnationOf(row) });
    }
    for (const { wallet, role, size, used } of this.table("wallet_pool")) {
      const facts = this.facts.get(wallet);
      if (facts) this.pools.set(`${wallet}/${role}`, new AddressPool(size, used, facts.gap));
    }
    for (const row of this.table("wallet_use")) this.used.add(`${row.wallet} ${row.credential}`);
    for (const { wallet, ref, role, index, output } of this.table("wallet_utxo")) {
      const own: OwnOutput = { wallet, role, index, address: null, output: storedOutput(output) };
      addTo(this.unspent, ref, own);
    }
  }

  /** Grows the pools that this block uses; gives the credentials that they lack. */
  private grow(candidates: ReadonlyMap<string, readonly CredentialClaim[]>): Want[] {
    const uses = new Map<string, { readonly key: { wallet: string; role: number }; readonly indices: number[] }>();
    for (const { wallet, role, index } of [...candidates.values()].flat()) {
      const name = `${wallet}/${role}`;
      if (!this.pools.has(name)) continue;
      const known = uses.get(name);
      if (known) known.indices.push(Number(index));
      else uses.set(name, { key: { wallet, role: Number(role) }, indices: [Number(index)] });
    }
    const derived = new Map(
      this.table("wallet_stock").map((row) => [`${row.wallet}/${row.role}`, row.count]),
    );
    const wants: Want[] = [];
    for (const [name, { key, indices }] of uses) {
      const pool = mustGet(this.pools, name);
      const before = { size: pool.size, used: pool.used };
      pool.use(indices);
      if (pool.size > (derived.get(name) ?? 0)) wants.push({ ...key, count: pool.size });
      if (pool.used === before.used) continue;
      this.writes.push(
        { type: "close", table: "wallet_pool", key },
        { type: "insert", table: "wallet_pool", row: { ...key, size: pool.size, used: pool.used } },
      );
    }
    for (const [credential, claims] of candidates) {
      this.claims.set(
        credential,
        claims.filter(({ wallet, role, index }) => {
          const pool = this.pools.get(`${wallet}/${role}`);
          // a random wallet has no pools: an address that it decrypts is its own
          return this.facts.get(wallet)?.kind === "random" || (pool !== undefined && index < pool.size);
        }),
      );
    }
    return wants;
  }

  private transaction(transaction: ScannedTransaction): void {
    const sides = new Map<string, OwnParts>();
    const side = (wallet: string): OwnParts => {
      let found = sides.get(wallet);
      if (!found) sides.set(wallet, found = { inputs: new Map(), outputs: new Map() });
      return found;
    };
    for (const ref of spent(transaction).map(refKey)) {
      for (const { wallet, output, fresh } of this.unspent.get(ref) ?? []) {
        side(wallet).inputs.set(ref, output);
        this.change(wallet, output, -1n);
        if (fresh) fresh.to_slot = this.block.slot;
        else this.writes.push({ type: "close", table: "wallet_utxo", key: { wallet, ref } });
      }
      this.unspent.delete(ref);
    }
    for (const { ref, output } of created(transaction)) {
      const credential = credentialOf(output.address);
      if (credential === undefined) continue;
      for (const claim of this.claims.get(credential) ?? []) {
        side(claim.wallet).outputs.set(ref.index, output);
        this.change(claim.wallet, output, 1n);
        this.receive(claim, credential, refKey(ref), output);
      }
    }
    const stakes = new Set(stakesIn(transaction));
    if (stakes.size > 0) { for (const [wallet, { stake }] of this.facts) if (stakes.has(stake ?? "")) side(wallet); }
    for (const [wallet, { inputs, outputs }] of sides) this.record(transaction, wallet, inputs, outputs);
  }

  private receive(claim: CredentialClaim, credential: string, ref: string, output: Output): void {
    const { wallet, role, index, address } = claim;
    const row: Record<string, unknown> = {
      wallet,
      ref,
      role,
      index,
      coin: output.value.lovelace,
      output: output.raw,
      to_slot: null,
    };
    this.writes.push({ type: "insert", table: "wallet_utxo", row });
    addTo(this.unspent, ref, { ...claim, output, fresh: row });
    // a random wallet's path may be in several addresses, some of them forged
    if (this.used.has(`${wallet} ${credential}`)) return;
    this.used.add(`${wallet} ${credential}`);
    this.writes.push({ type: "insert", table: "wallet_use", row: { wallet, role, index, credential, address } });
  }

  private change(wallet: string, { value }: Output, sign: 1n | -1n): void {
    const add = (asset: string, quantity: bigint) => {
      const entry = `${wallet}:${asset}`;
      const known = this.changes.get(entry);
      if (known) known.delta += sign * quantity;
      else this.changes.set(entry, { wallet, asset, delta: sign * quantity });
    };
    add("", value.lovelace);
    for (const [asset, quantity] of value.assets) add(asset, quantity);
  }

  /** Writes the holdings after the block, also of an asset that came and went within it. */
  private writeHoldings(): void {
    const before = new Map(this.table("wallet_holding").map((row) => [row.entry, row.quantity]));
    for (const [entry, { wallet, asset, delta }] of this.changes) {
      const held = before.get(entry);
      if (held !== undefined && delta === 0n) continue;
      if (held !== undefined) this.writes.push({ type: "close", table: "wallet_holding", key: { wallet, entry } });
      const quantity = BigInt(String(held ?? 0)) + delta;
      this.writes.push({ type: "insert", table: "wallet_holding", row: { entry, wallet, asset, quantity } });
    }
  }

  private record(
    transaction: ScannedTransaction,
    wallet: string,
    inputs: ReadonlyMap<string, Output>,
    outputs: ReadonlyMap<number, Output>,
  ): void {
    const own = { inputs, outputs, stake: this.facts.get(wallet)?.stake };
    const effect = walletEffect(transaction, own, this.keyDeposit);
    this.writes.push({
      type: "insert",
      table: "wallet_transaction",
      row: {
        wallet,
        hash: transaction.hash,
        height: this.block.height,
        index: transaction.index,
        block_hash: this.block.hash,
        era: this.block.era,
        valid: transaction.valid,
        body: transaction.body,
        witnesses: transaction.witnesses,
        auxiliary: transaction.auxiliaryData ?? null,
        net: effect.net,
        fee: effect.fee ?? null,
        deposit_taken: effect.depositTaken,
        deposit_returned: effect.depositReturned,
        withdrawal: effect.withdrawal ?? null,
        addresses: addressesIn(transaction, own),
      },
    });
    if (!this.silent) this.touch(wallet, transaction, own, effect);
  }

  private touch(wallet: string, transaction: ScannedTransaction, own: OwnSide, effect: WalletEffect): void {
    const facts = this.facts.get(wallet);
    const entity = { kind: entityKind(facts?.kind), id: wallet };
    const life = facts?.life ?? {};
    const events = [
      ...transactionEvents(transaction, this.block, own, effect, life),
      ...(own.inputs.size > 0 ? governanceEvents(transaction, this.block, life) : []),
    ];
    for (const event of events) this.touched.push({ entity, event });
  }
}

/** The incarnation of a wallet, the member `life` of its events; absent in rows written before the column existed. */
export const incarnationOf = ({ life }: Pick<IndexTables["wallet_index"], "life">): { readonly life?: number } =>
  typeof life === "number" ? { life } : {};

/** Actor kind of a wallet. */
export function entityKind(kind: string | undefined): string {
  return kind === "shared" ? "shared-wallet" : "wallet";
}
