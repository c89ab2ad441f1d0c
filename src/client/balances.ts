/**
 * Balances of wallets, kept from events alone; runs in a browser.
 *
 * A `BalanceReplica` applies the events of the kinds `wallet`, `shared-wallet` and `delegation` in the order of the
 * stream, from its start or from a saved state on. Events that arrive again change nothing. The balance of a wallet equals
 * that of `GET /v2/wallets/{id}` for a wallet without pending transactions.
 *
 * @example
 * ```ts
 * import { BalanceReplica } from "./src/client/balances.ts";
 *
 * const replica = new BalanceReplica();
 * const apply = (version: number, transition: string, content?: { readonly [name: string]: unknown }) =>
 *   replica.apply({
 *     type: `arbor.wallet.${transition}`,
 *     data: { entity: { kind: "wallet", id: "a1" }, version, to: "live", ...(content && { content }) },
 *   });
 * apply(1, "create", { name: "Savings", kind: "shelley" });
 * apply(2, "restored", { slot: 10, lovelace: "5000000", assets: {} });
 * apply(3, "transaction", { slot: 20, hash: "…", lovelace: "-1170000", assets: {} });
 * console.log(replica.balance("a1")?.lovelace); // 3830000n
 * const later = new BalanceReplica(JSON.parse(JSON.stringify(replica.save())));
 * console.log(later.balance("a1")?.name); // Savings
 * ```
 */

/** An event with content, as a webhook or the stream of the operator service delivers it. */
export interface ContentEvent {
  /** `arbor.<kind>.<transition>`. */
  readonly type: string;
  /** After a restore of the database: its generation. Later ones are greater. */
  readonly generation?: string | undefined;
  readonly data: {
    readonly entity: { readonly kind: string; readonly id: string };
    readonly version: number;
    readonly to: string;
    readonly content?: { readonly [name: string]: unknown } | undefined;
  };
}

/** What a wallet holds. */
export interface WalletBalance {
  readonly kind: "wallet" | "shared-wallet";
  readonly id: string;
  /** Missing where no event with the name was applied. */
  readonly name?: string;
  /** Lovelace of its unspent outputs. */
  readonly lovelace: bigint;
  /** Quantities of its assets, by policy id and asset name in hexadecimal; none of them zero. */
  readonly assets: ReadonlyMap<string, bigint>;
  /** Lovelace that can be withdrawn from its account. */
  readonly rewards: bigint;
  /**
   * Whether this is the balance at the wallet's last event. False while the wallet is restored, between an event and
   * the events `assets` that follow it, and, until the next whole balance, after events that were missed or have no
   * content.
   */
  readonly exact: boolean;
}

/** The state of a replica as JSON. */
export interface SavedBalances {
  readonly wallets: readonly SavedWallet[];
  readonly delegations: readonly SavedDelegation[];
}

/** A wallet in a saved state. */
export interface SavedWallet {
  readonly kind: "wallet" | "shared-wallet";
  readonly id: string;
  /** Version of the last event applied, and its generation; missing or empty for the first. */
  readonly version: number;
  readonly generation?: string;
  readonly state: string;
  readonly name: string | null;
  /** Null where the balance is not known. */
  readonly lovelace: string | null;
  readonly assets: { readonly [asset: string]: string };
  /** How many events with more of the assets follow. */
  readonly following: number;
  /** The stake credential; null where it is not known. */
  readonly stake: string | null;
  /** Null where they are not known. */
  readonly rewards: string | null;
}

/** A stake credential in a saved state. */
export interface SavedDelegation {
  readonly id: string;
  readonly version: number;
  readonly generation?: string;
  /** Slot of the last event that counted. */
  readonly slot: number | null;
  /** Null where they are not known. */
  readonly rewards: string | null;
}

interface Wallet {
  readonly kind: "wallet" | "shared-wallet";
  readonly id: string;
  version: number;
  generation?: string;
  state: string;
  name: string | null;
  lovelace: bigint | undefined;
  assets: Map<string, bigint>;
  following: number;
  stake: string | null;
  rewards: bigint | undefined;
}

type Delegation = { -readonly [Name in keyof SavedDelegation]: SavedDelegation[Name] };
type Content = { readonly [name: string]: unknown };

/** The state after `DELETE`: the wallet is kept only so that its events are not applied twice. */
const GONE = ["deleting", "deleted"];

const textOf = (value: unknown) => typeof value === "string" ? value : undefined;
const numberOf = (value: unknown) => typeof value === "number" ? value : undefined;

/** Applies events to balances; see the head of this file. */
export class BalanceReplica {
  private readonly wallets = new Map<string, Wallet>();
  private readonly delegations = new Map<string, Delegation>();
  /** The wallets with a stake credential. */
  private readonly walletsByStake = new Map<string, Set<Wallet>>();

  /** A replica without wallets, or one with a state that `save` gave. */
  constructor(saved?: SavedBalances) {
    for (const one of saved?.wallets ?? []) {
      const wallet: Wallet = {
        ...one,
        lovelace: one.lovelace === null ? undefined : BigInt(one.lovelace),
        assets: new Map(Object.entries(one.assets).map(([asset, quantity]) => [asset, BigInt(quantity)])),
        rewards: one.rewards === null ? undefined : BigInt(one.rewards),
      };
      this.wallets.set(one.id, wallet);
      this.setStake(wallet, one.stake);
    }
    for (const one of saved?.delegations ?? []) this.delegations.set(one.id, { ...one });
  }

  /** Forgets everything, because the database was restored to an earlier point: all events are to be applied again. */
  clear(): void {
    for (const map of [this.wallets, this.delegations, this.walletsByStake]) map.clear();
  }

  /**
   * Applies the next event of the stream. Events of other kinds, and those applied before, change nothing. A balance whose
   * events were lost by a restore of the database is not exact until its next whole one.
   */
  apply({ type, generation, data: { entity, version, to, content } }: ContentEvent): void {
    const { kind, id } = entity;
    const transition = type.slice(`arbor.${kind}.`.length);
    if (kind === "wallet" || kind === "shared-wallet") {
      let wallet = this.wallets.get(id);
      if (!wallet) this.wallets.set(id, wallet = emptyWallet(kind, id));
      if (!isNext(wallet, version, generation)) return;
      if (version !== wallet.version + 1) wallet.lovelace = undefined;
      Object.assign(wallet, { version, ...(generation && { generation }) });
      wallet.state = to;
      this.applyToWallet(wallet, transition, content ?? {});
    } else if (kind === "delegation") {
      let delegation = this.delegations.get(id);
      if (!delegation) this.delegations.set(id, delegation = { id, version: 0, slot: null, rewards: "0" });
      if (!isNext(delegation, version, generation)) return;
      if (version !== delegation.version + 1) this.setRewards(delegation, null);
      Object.assign(delegation, { version, ...(generation && { generation }) });
      this.applyToDelegation(delegation, transition, content ?? {});
    }
  }

  /** The balance of a wallet; `undefined` where there is none. */
  balance(id: string): WalletBalance | undefined {
    const wallet = this.wallets.get(id);
    return wallet === undefined || GONE.includes(wallet.state) ? undefined : balanceOf(wallet);
  }

  /** The balances of all wallets. */
  balances(): WalletBalance[] {
    return [...this.wallets.values()].filter(({ state }) => !GONE.includes(state)).map(balanceOf);
  }

  /** The whole state, for `JSON.stringify`; to be stored together with the position of the last event applied. */
  save(): SavedBalances {
    return {
      wallets: [...this.wallets.values()].map((wallet) => ({
        ...wallet,
        lovelace: wallet.lovelace === undefined ? null : String(wallet.lovelace),
        assets: Object.fromEntries([...wallet.assets].map(([asset, quantity]) => [asset, String(quantity)])),
        rewards: wallet.rewards === undefined ? null : String(wallet.rewards),
      })),
      delegations: [...this.delegations.values()].map((one) => ({ ...one })),
    };
  }

  private applyToWallet(wallet: Wallet, transition: string, content: Content): void {
    switch (transition) {
      case "create":
        this.setStake(wallet, null);
        Object.assign(wallet, { ...emptyWallet(wallet.kind, wallet.id), version: wallet.version, state: wallet.state });
        wallet.name = textOf(content.name) ?? null;
        wallet.lovelace = 0n;
        wallet.rewards = 0n;
        return;
      case "rename":
      case "settings":
        wallet.name = textOf(content.name) ?? wallet.name;
        return;
      case "delete":
        this.setStake(wallet, null);
        wallet.lovelace = undefined;
        wallet.assets.clear();
        return;
      case "restored":
        setBalance(wallet, content);
        this.setStake(wallet, textOf(content.stake) ?? null);
        wallet.rewards = this.rewardsSince(wallet.stake, numberOf(content.slot) ?? -1);
        return;
      case "rolled-back":
        setBalance(wallet, content);
        this.setStake(wallet, textOf(content.stake) ?? wallet.stake);
        return;
      case "transaction": {
        const change = textOf(content.lovelace);
        // an event without content leaves the balance unknown until the next whole one
        if (change === undefined) wallet.lovelace = undefined;
        else if (wallet.lovelace !== undefined) wallet.lovelace += BigInt(change);
        addAssets(wallet, content);
        return;
      }
      case "assets":
        if (content.assets === undefined) wallet.lovelace = undefined;
        addAssets(wallet, content);
    }
  }

  private applyToDelegation(delegation: Delegation, transition: string, content: Content): void {
    const slot = numberOf(content.slot);
    if (slot === undefined) {
      this.setRewards(delegation, null);
      return;
    }
    // these two carry the whole account; of the others, those of blocks before the newest known one are ignored
    const whole = transition === "told" || transition === "rolled-back";
    if (!whole && delegation.slot !== null && slot < delegation.slot) return;
    delegation.slot = slot;
    const rewards = textOf(content.rewards);
    if (rewards !== undefined) this.setRewards(delegation, rewards);
  }

  private setRewards(delegation: Delegation, rewards: string | null): void {
    delegation.rewards = rewards;
    const amount = rewards === null ? undefined : BigInt(rewards);
    for (const wallet of this.walletsByStake.get(delegation.id) ?? []) wallet.rewards = amount;
  }

  /**
   * Rewards of a wallet that was restored at a slot: 0 until its delegation actor reports them, unless an event of it at
   * that slot or later was applied before.
   */
  private rewardsSince(stake: string | null, slot: number): bigint | undefined {
    const delegation = stake === null ? undefined : this.delegations.get(stake);
    if (delegation === undefined || (delegation.slot ?? -1) < slot) return 0n;
    return delegation.rewards === null ? undefined : BigInt(delegation.rewards);
  }

  private setStake(wallet: Wallet, stake: string | null): void {
    if (wallet.stake !== null) this.walletsByStake.get(wallet.stake)?.delete(wallet);
    wallet.stake = stake;
    if (stake === null) return;
    const walletsByStake = this.walletsByStake.get(stake);
    if (walletsByStake) walletsByStake.add(wallet);
    else this.walletsByStake.set(stake, new Set([wallet]));
  }
}

/** Whether an event was not applied before: its version is greater, or it replaces one that a restore has lost. */
function isNext(known: { version: number; generation?: string }, version: number, generation = ""): boolean {
  return version > known.version || generation > (known.generation ?? "");
}

function emptyWallet(kind: Wallet["kind"], id: string): Wallet {
  return {
    kind,
    id,
    version: 0,
    state: "absent",
    name: null,
    lovelace: undefined,
    assets: new Map(),
    following: 0,
    stake: null,
    rewards: undefined,
  };
}

/** Sets the whole balance; events of earlier releases have none. */
function setBalance(wallet: Wallet, content: Content): void {
  const lovelace = textOf(content.lovelace);
  wallet.lovelace = lovelace === undefined ? undefined : BigInt(lovelace);
  wallet.assets = new Map();
  addAssets(wallet, content);
}

function addAssets(wallet: Wallet, { assets, following }: Content): void {
  wallet.following = numberOf(following) ?? 0;
  if (typeof assets !== "object" || assets === null) return;
  for (const [asset, change] of Object.entries(assets)) {
    const quantity = (wallet.assets.get(asset) ?? 0n) + BigInt(String(change));
    if (quantity === 0n) wallet.assets.delete(asset);
    else wallet.assets.set(asset, quantity);
  }
}

function balanceOf(wallet: Wallet): WalletBalance {
  const { kind, id, name, lovelace, assets, rewards, state, following } = wallet;
  return {
    kind,
    id,
    ...(name === null ? {} : { name }),
    lovelace: lovelace ?? 0n,
    assets: new Map(assets),
    rewards: rewards ?? 0n,
    exact: state === "live" && lovelace !== undefined && rewards !== undefined && following === 0,
  };
}
