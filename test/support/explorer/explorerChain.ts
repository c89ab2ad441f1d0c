/**
 * Random chains with all content: a devnet that makes blocks on demand, and a seeded generator of transactions of every kind, empty blocks, epoch
 * boundaries and rollbacks.
 */
import { VirtualClock } from "#src/base/clock.ts";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { baseAddress, type Credential, rewardAddress, scriptAddress } from "#src/cardano/address.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { Constr, type Data, DataMap, encodeData } from "#src/cardano/data.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { policyOf } from "#src/cardano/value.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { byronAddress } from "../chain/byron.ts";
import { devnetStore } from "../devnet/devnet.ts";
import { nativeHash } from "../ledger/draft.ts";
import { type ExplorerDraft, writeDraft } from "./explorerDraft.ts";
import { sharedInfra } from "../infra/infra.ts";
import { seeded } from "../base/seededRandom.ts";
import { agrees, agreesWithThree, agreesWithTwo, plutusHash, refuses, refusesSaying } from "../plutus/scripts.ts";
import { type Person, person } from "../wallets/person.ts";

const ada = 1_000_000n;
const PEOPLE = ["alice", "bob", "carol", "dave", "erin", "frank"].map(person);
/** A pool's cold key and a representative's key of a person. */
const coldOf = (name: Person) => person(`pool of ${name.key}`);
const drepOf = (name: Person) => person(`representative of ${name.key}`);

const scripts = {
  spend: { 1: agreesWithThree, 2: agreesWithThree, 3: agrees },
  other: { 1: agreesWithTwo, 2: agreesWithTwo, 3: agrees },
} as const;
type Language = 1 | 2 | 3;

/** An account whose credential is a script that always agrees. */
const scriptStake: Credential = { kind: "script", hash: plutusHash(3, agrees) };

/** A chain that grows at random. */
export class ExplorerChain {
  /** Accepted transactions by kind. */
  readonly accepted = new Map<string, number>();
  /** Refusals by kind, with the names of the failures. */
  readonly refused = new Map<string, string>();
  rollbacks = 0;
  made = 0;
  private count = 0;

  private constructor(
    readonly devnet: Devnet,
    readonly store: Store,
    readonly bus: Bus,
    readonly port: RawChainPort,
    readonly clock: VirtualClock,
    private readonly random: () => number,
    private readonly end: () => Promise<void>,
  ) {}

  /** Starts a devnet for a seed. */
  static async start(seed: number, options: DevnetOptions = {}): Promise<ExplorerChain> {
    const infra = await sharedInfra();
    const store = await devnetStore(infra.databaseUrl);
    const { natsUrl: url, natsToken: token } = infra;
    const bus = await connectBus({ url, ...(token ? { token } : {}) });
    const clock = new VirtualClock(1_800_000_000_000);
    const started = await startDevnet({
      store,
      bus,
      evaluate: async (input) => evaluateScripts(input),
      log: silentLog,
      clock,
      options: {
        blockMs: 0,
        leaseMs: 60_000,
        epochLength: 10,
        securityParameter: 40,
        treasury: 5_000_000n * ada,
        url: "http://127.0.0.1:9/pools",
        ...options,
      },
    });
    if (!started.ok) throw new Error(started.error.message);
    const devnet = started.value;
    const port = devnetPort({ store, bus, log: silentLog, pollMs: 60_000 });
    const chain = new ExplorerChain(devnet, store, bus, port, clock, seeded(seed), async () => {
      await devnet.stop();
      await bus.close();
      await store.close();
      await infra.stop();
    });
    for (const { base } of PEOPLE) await devnet.faucet.pay(base, 900_000n * ada);
    await chain.block(0);
    for (const one of PEOPLE) await chain.submit("split", await chain.split(one));
    await chain.block(0);
    return chain;
  }

  /** Stops the devnet and drops its database. */
  async stop(): Promise<void> {
    await this.end();
  }

  /** The blocks of the chain, `[era, block]` each, from the first on. */
  async blocks(): Promise<Uint8Array[]> {
    const { blocks } = await readBlocks(this.store.sql, 0, 1_000_000);
    return blocks.map(({ bytes }) => bytes);
  }

  /** The transactions of the mempool in order: CBOR. */
  mempool(): Uint8Array[] {
    return this.devnet.mempool().map(({ cbor }) => cbor);
  }

  /** Submits some transactions and makes a block. */
  async block(transactions = Math.floor(this.random() * 4)): Promise<void> {
    for (let i = 0; i < transactions; i++) await this.transact();
    const made = await this.devnet.makeBlock();
    if (!made.ok) throw new Error(made.error.message);
    this.made++;
  }

  /** A block, or a rollback, or a pause over one epoch boundary or several. */
  async step(): Promise<void> {
    const choice = this.random();
    if (choice < 0.07) await this.rollback();
    else if (choice < 0.12) {
      // the next block is some slots, or some epochs, later
      const slots = this.chance(0.3) ? 11 + this.below(25) : 2 + this.below(6);
      this.clock.advance(slots * 1_000);
      await this.block();
    } else await this.block();
  }

  /** Grows until transactions of every kind were accepted. */
  async complete(): Promise<void> {
    for (
      let i = 0;
      i < 1_000 && Object.keys(this.kinds).some((kind) => kind !== "faucet" && !this.accepted.has(kind));
      i++
    ) {
      await this.step();
    }
  }

  /** Ends with a pool that has retired and one that will, a block with transactions, and a mempool with transactions of many kinds. */
  async present(): Promise<void> {
    const submitted = async (kinds: readonly (keyof ExplorerChain["kinds"])[]) => {
      for (const kind of kinds) {
        const draft = await this.kinds[kind]();
        if (draft) await this.submit(kind, draft);
      }
    };
    /** Lets a pool retire so many epochs later, which is registered if there is none; gives the pool. */
    const retire = async (later: number): Promise<string> => {
      for (let i = 0; i < 200; i++) {
        const pools = await this.query(({ pools }) =>
          PEOPLE.filter((one) => {
            const pool = pools.get(coldOf(one).key);
            return pool && pool.retiring === undefined;
          })
        );
        if (pools.length === 0) await submitted(["join", "poolRegister"]);
        else {
          const one = this.pick(pools), cold = coldOf(one);
          const epoch = await this.query(({ epoch }) => epoch) + later;
          const draft = await this.paid(one, { certificates: [[4, fromHex(cold.key), epoch]], keys: [cold.seed] });
          if (draft) await this.submit("poolRetire", draft);
          await this.block(0);
          if (await this.query(({ pools: now }) => now.get(cold.key)?.retiring) === epoch) return cold.key;
        }
        await this.block(0);
      }
      throw new Error(`no pool retires: ${[...this.refused]}`);
    };
    for (let i = 0; i < 20; i++) {
      const staying = await retire(12), leaving = await retire(1);
      const isThere = (pool: string) => this.query(({ pools }) => pools.get(pool)?.retiring !== undefined);
      while (await isThere(leaving)) await this.block(0);
      if (await isThere(staying)) break;
    }
    // once more one of each kind, in blocks that stay
    for (const kind of Object.keys(this.kinds) as (keyof ExplorerChain["kinds"])[]) {
      if (kind === "publish") await submitted([kind, kind, kind, kind]);
      else if (kind !== "poolRetire" && kind !== "poolRegister") await submitted([kind]);
      if (this.chance(0.3)) await this.block(0);
    }
    await submitted(["pay"]);
    await this.block(0);
    await submitted([
      "lock",
      "publish",
      "unlock",
      "interval",
      "plutusMint",
      "nativeMint",
      "metadata",
      "cip68",
      "fail",
      "move",
    ]);
  }

  /** Undoes some blocks; their transactions are dropped or wait again. */
  async rollback(blocks = 1 + this.below(12)): Promise<void> {
    const height = Math.max(1, this.devnet.tip().height - blocks);
    const done = await this.devnet.rollback({ height }, { drop: this.chance(0.5) });
    if (!done.ok && done.error.code !== "rollback_impossible") throw new Error(done.error.message);
    if (done.ok) this.rollbacks++;
  }

  /** Submits a transaction of the kind whose turn it is, so that short chains have every kind. */
  async transact(): Promise<void> {
    const kinds = Object.keys(this.kinds) as (keyof ExplorerChain["kinds"])[];
    const missing = kinds.filter((kind) => !this.accepted.has(kind));
    const kind = this.chance(0.6) && missing.length > 0 ? this.pick(missing) : this.pick(kinds);
    const draft = await this.kinds[kind]();
    if (draft) await this.submit(kind, draft);
  }

  /** CBOR of a transaction of a kind, which is not submitted; undefined where the chain has nothing for it. */
  async draft(kind: keyof ExplorerChain["kinds"]): Promise<Uint8Array | undefined> {
    const draft = await this.kinds[kind]();
    return draft && writeDraft(draft, await this.query(({ parameters }) => parameters));
  }

  private async submit(kind: string, draft: ExplorerDraft): Promise<void> {
    const parameters = await this.query(({ parameters }) => parameters);
    const cbor = writeDraft(draft, parameters);
    const answer = await this.devnet.submit(cbor);
    if (!answer.ok) throw new Error(`${kind}: ${answer.error.message}`);
    if (answer.value.outcome === "accepted") this.accepted.set(kind, (this.accepted.get(kind) ?? 0) + 1);
    else {this.refused.set(
        kind,
        JSON.stringify(answer.value.failures, (_, value) => typeof value === "bigint" ? String(value) : value),
      );}
  }

  // ---------------------------------------------------------------- choices

  private below(count: number): number {
    return Math.floor(this.random() * count);
  }

  private chance(probability: number): boolean {
    return this.random() < probability;
  }

  private pick<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!;
  }

  private amount(): bigint {
    return 3n * ada + BigInt(this.below(90_000_000));
  }

  private bytes(most: number): Uint8Array {
    return blake2b256(utf8(String(this.random()))).slice(0, 1 + this.below(most));
  }

  private async query<T>(use: (state: LedgerState) => T): Promise<T> {
    return (await this.devnet.query(use))!;
  }

  /** Unspent outputs of addresses, with the mempool's effects. */
  private async outputs(...addresses: readonly string[]): Promise<Utxo[]> {
    const read = await this.port.utxosByAddress(addresses);
    if (!read.ok) throw new Error(read.error.message);
    const pending = this.devnet.mempool().map(({ applied }) => applied);
    const gone = new Set(pending.flatMap(({ spent }) => spent.map(({ ref }) => refKey(ref))));
    const made = pending.flatMap(({ created }) => created).filter(({ output }) => addresses.includes(output.address));
    return [...read.value.value, ...made].filter(({ ref }) => !gone.has(refKey(ref)));
  }

  /** Outputs of a person with lovelace alone, the largest first, two of them at least. */
  private async coins(one: Person): Promise<readonly [Utxo, Utxo] | undefined> {
    const [first, second] = (await this.outputs(one.base, one.enterprise))
      .filter(({ output: { value, datum, datumHash, script } }) =>
        value.assets.size === 0 && !datum && !datumHash && !script
      )
      .sort((a, b) => Number(b.output.value.lovelace - a.output.value.lovelace));
    return first && second && second.output.value.lovelace > 100n * ada ? [first, second] : undefined;
  }

  /** A draft that a person pays for; undefined if the person has too few coins. */
  private async paid(
    one: Person,
    content: Partial<ExplorerDraft> & { readonly scripted?: boolean } = {},
  ): Promise<ExplorerDraft | undefined> {
    const coins = await this.coins(one);
    if (!coins) return undefined;
    const { scripted, inputs = [], keys = [], ...rest } = content;
    return {
      inputs: [coins[0], ...inputs],
      change: this.chance(0.7) ? one.base : one.enterprise,
      fee: 500_000n + BigInt(this.below(300_000)),
      ...rest,
      keys: [one.seed, ...keys],
      ...(scripted ? { collateral: coins[1], collateralReturn: this.chance(0.6) } : {}),
    };
  }

  private async split(one: Person): Promise<ExplorerDraft> {
    const [coin] = await this.outputs(one.base);
    const outputs = Array.from({ length: 8 }, (_, i) => ({
      address: i % 2 ? one.base : one.enterprise,
      lovelace: 90_000n * ada + BigInt(i),
    }));
    return { inputs: [coin!], change: one.base, outputs, keys: [one.seed] };
  }

  private address(): string {
    const one = this.pick(PEOPLE), other = this.pick(PEOPLE);
    const payment: Credential = { kind: "key", hash: one.key };
    return this.pick([
      one.base,
      one.enterprise,
      baseAddress(0, payment, { kind: "key", hash: other.stake }).hex,
      baseAddress(0, payment, scriptStake).hex,
      scriptAddress(0, plutusHash(3, agrees)).hex,
      baseAddress(0, { kind: "script", hash: plutusHash(2, agreesWithThree) }, { kind: "key", hash: one.stake }).hex,
      byronAddress({ root: fromHex(one.key) }),
    ]);
  }

  /** Random Plutus data. */
  private data(depth = 2): Data {
    const many = <T>(make: () => T): T[] => Array.from({ length: this.below(4) }, make);
    switch (this.below(depth > 0 ? 6 : 2)) {
      case 0:
        return BigInt(this.below(1_000)) * (this.chance(0.3) ? -(10n ** 25n) : 1n);
      case 1:
        return this.bytes(32);
      case 2:
        return many(() => this.data(depth - 1));
      case 3:
        return new DataMap(many(() => [this.data(0), this.data(depth - 1)] as const));
      default:
        return new Constr(this.pick([0, 1, 6, 7, 127, 200]), many(() => this.data(depth - 1)));
    }
  }

  private datum(): Encodable {
    return new Encoded(encodeData(this.data()));
  }

  private metadatum(depth = 2): Encodable {
    const many = <T>(make: () => T): T[] => Array.from({ length: this.below(4) }, make);
    switch (this.below(depth > 0 ? 8 : 6)) {
      case 0:
        return this.below(1_000);
      case 1:
        return this.pick([2n ** 64n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -1n]);
      case 2:
        return this.bytes(32);
      case 3:
      case 4:
        return this.pick(["a text", "", 'ä"\\\n€', "0x00", "x".repeat(64)]);
      case 5:
        return new Uint8Array();
      case 6:
        return many(() => this.metadatum(depth - 1));
      default: {
        // keys of other kinds become texts, so each stands once only
        const keys: Encodable[] = ["one", 2, this.bytes(8), -3, ["a", 1]];
        return new Map(keys.filter(() => this.chance(0.5)).map((key) => [key, this.metadatum(depth - 1)]));
      }
    }
  }

  private metadata(): Map<Encodable, Encodable> {
    const labels: Encodable[] = [0, 1, 674, 777, 1967, 61284, 2n ** 53n + 5n, 2n ** 63n - 1n];
    return new Map(labels.filter(() => this.chance(0.35)).concat([674]).map((label) => [label, this.metadatum()]));
  }

  // ---------------------------------------------------------------- kinds

  readonly kinds = {
    pay: async () => {
      const outputs = Array.from(
        { length: 1 + this.below(3) },
        () => ({ address: this.address(), lovelace: this.amount() }),
      );
      return await this.paid(this.pick(PEOPLE), { outputs });
    },
    faucet: async () => {
      await this.devnet.faucet.pay(this.address(), this.amount());
      return undefined;
    },
    interval: async () => {
      const slot = this.devnet.tip().slot;
      return await this.paid(this.pick(PEOPLE), {
        ...(this.chance(0.7) ? { validFrom: Math.max(0, slot - this.below(5)) } : {}),
        validTo: slot + 40 + this.below(100),
        requiredSigners: [this.pick(PEOPLE).key],
        keys: PEOPLE.map(({ seed }) => seed),
        references: (await this.outputs(this.pick(PEOPLE).enterprise)).slice(0, 1),
      });
    },
    metadata: async () => {
      const metadata = this.metadata();
      // the forms of auxiliary data: Shelley's map, Mary's list with scripts, Alonzo's tagged map
      const script: Encodable = [0, fromHex(this.pick(PEOPLE).key)];
      const auxiliary = this.pick<Encodable>([
        metadata,
        [metadata, [script]],
        new Tagged(259, new Map<Encodable, Encodable>([[0, metadata], [1, [script]], [2, [agreesWithTwo]]])),
      ]);
      return await this.paid(this.pick(PEOPLE), { auxiliary });
    },
    burn: async () => {
      for (const one of PEOPLE) {
        for (const held of await this.outputs(one.base, one.enterprise)) {
          const asset = [...held.output.value.assets.keys()].find((unit) => policyOf(unit) === this.policy(one).hash);
          if (!asset) continue;
          const quantity = held.output.value.assets.get(asset)!;
          const burnt = this.chance(0.5) ? quantity : (quantity + 1n) / 2n;
          return await this.paid(one, {
            inputs: [held],
            mint: new Map([[asset, -burnt]]),
            native: [this.policy(one).script],
            validTo: 1_000_000,
          });
        }
      }
      return undefined;
    },
    nativeMint: async () => {
      const one = this.pick(PEOPLE);
      const { script, hash } = this.policy(one);
      const names = ["", "token", "ä", `n${this.below(4)}`].filter(() => this.chance(0.6)).concat(["always"]);
      const mint = new Map(names.map((name) => [hash + toHex(utf8(name)), BigInt(1 + this.below(1_000))]));
      const described = (name: string): Encodable =>
        new Map<Encodable, Encodable>([
          ["name", `Token ${name}`],
          ["image", this.chance(0.8) ? "ipfs://image" : ["ipfs://", "image"]],
          ["count", 2n ** 60n],
          ...(this.chance(0.2) ? [["mediaType", 5] as const] : []),
        ]);
      const standards: Encodable[] = [
        new Map([[
          721,
          new Map<Encodable, Encodable>([[hash, new Map(names.map((name) => [name, described(name)]))]]),
        ]]),
        new Map([[
          721,
          new Map<Encodable, Encodable>([
            [fromHex(hash), new Map(names.map((name) => [utf8(name), described(name)]))],
            ["version", 2],
          ]),
        ]]),
        new Map([[721, new Map<Encodable, Encodable>([[hash, new Map([["other", "nothing"]])]])]]),
      ];
      return await this.paid(one, {
        mint,
        native: [script],
        validTo: 1_000_000,
        outputs: [{ address: this.address(), lovelace: 5n * ada, assets: half(mint) }],
        ...(this.chance(0.7) ? { auxiliary: this.pick(standards) } : {}),
      });
    },
    plutusMint: async () => {
      const one = this.pick(PEOPLE);
      const language = this.pick<Language>([1, 2, 3]);
      const script = scripts.other[language];
      const policy = plutusHash(language, script);
      const mint = new Map([[policy + toHex(utf8(`p${this.below(3)}`)), BigInt(1 + this.below(50))]]);
      return await this.paid(one, {
        mint,
        plutus: { [language]: [script] },
        redeemers: [{ for: { purpose: "mint", policy }, data: this.datum() }],
        scripted: true,
      });
    },
    cip68: async () => {
      const one = this.pick(PEOPLE);
      const policy = plutusHash(3, agrees);
      const name = toHex(utf8(`cip68 ${this.below(3)}`));
      const label = this.pick(["000de140", "0014df10", "001bc280"]);
      const fields: (readonly [Data, Data])[] = [
        [utf8("name"), utf8(`Token ${this.count++}`)],
        [utf8("image"), utf8("ipfs://image")],
        [utf8("description"), utf8("A description")],
        [utf8("decimals"), 6n],
        [utf8("ticker"), utf8("TKN")],
      ];
      const content = new DataMap(this.chance(0.8) ? fields : fields.slice(1));
      const extra: Data = this.chance(0.5) ? new Constr(0, []) : 5n;
      const version = this.pick([1n, 1n, 2n, 3n, 7n]);
      const datum = new Encoded(encodeData(new Constr(0, [content, version, extra])));
      const mint = new Map([[policy + "000643b0" + name, 1n], [policy + label + name, 10n]]);
      return await this.paid(one, {
        mint,
        plutus: { 3: [agrees] },
        redeemers: [{ for: { purpose: "mint", policy }, data: this.datum() }],
        outputs: [{
          address: this.chance(0.5) ? scriptAddress(0, policy).hex : one.enterprise,
          lovelace: 10n * ada,
          assets: new Map([[policy + "000643b0" + name, 1n]]),
          ...(this.chance(0.8) ? { datum } : {}),
        }],
        scripted: true,
      });
    },
    lock: async () => {
      const language = this.pick<Language>([1, 2, 3]);
      const payment: Credential = { kind: "script", hash: plutusHash(language, scripts.spend[language]) };
      const address = this.chance(0.5)
        ? scriptAddress(0, payment.hash).hex
        : baseAddress(0, payment, { kind: "key", hash: this.pick(PEOPLE).stake }).hex;
      const datum = this.datum();
      const hashed = language === 1 || this.chance(0.4);
      const hash = hash256(encode(datum));
      const shown = hashed && this.chance(0.5);
      if (hashed) this.hashedDatums.set(hash, datum);
      return await this.paid(this.pick(PEOPLE), {
        outputs: [{ address, lovelace: this.amount(), ...(hashed ? { datumHash: hash } : { datum }) }],
        ...(shown ? { datums: [datum] } : {}),
      });
    },
    publish: async () => {
      const one = this.pick(PEOPLE);
      const script = this.pick<Encodable>([
        [0, this.policy(one).script],
        [1, agreesWithThree],
        [2, agreesWithThree],
        [2, agreesWithThree],
        [3, agrees],
        [3, agrees],
        [3, refusesSaying(`number ${this.below(5)}`)],
      ]);
      const { script: policy, hash } = this.policy(one);
      const assets = this.chance(0.5) ? new Map([[hash + toHex(utf8("kept")), 5n]]) : undefined;
      return await this.paid(one, {
        outputs: [{
          address: this.pick([one.base, one.enterprise, scriptAddress(0, plutusHash(3, refuses)).hex]),
          lovelace: 10n * ada,
          script,
          ...(assets ? { assets } : {}),
          ...(this.chance(0.5) ? { datum: this.datum() } : {}),
        }],
        ...(assets ? { mint: assets, native: [policy], validTo: 1_000_000 } : {}),
      });
    },
    unlock: async () => await this.unlock(),
    unlockByReference: async () => await this.unlock(true),
    fail: async () => {
      const one = this.pick(PEOPLE);
      const policy = plutusHash(3, refuses);
      // collateral may hold assets, which come back
      const held = (await this.outputs(one.base, one.enterprise)).find(({ output: { value } }) =>
        value.assets.size > 0 && value.lovelace > 15n * ada
      );
      const draft = await this.paid(one, {
        mint: new Map([[policy, 7n]]),
        plutus: { 3: [refuses] },
        redeemers: [{ for: { purpose: "mint", policy }, data: this.datum() }],
        outputs: [{ address: one.enterprise, lovelace: 5n * ada, assets: new Map([[policy, 7n]]) }],
        auxiliary: this.metadata(),
        scripted: true,
        valid: false,
        donation: 5n,
      });
      return draft && held && this.chance(0.5) ? { ...draft, collateral: held, collateralReturn: true } : draft;
    },
    join: async () => {
      const one = await this.someone(false);
      if (!one) return undefined;
      const pool = await this.somePool();
      const account = [0, fromHex(one.stake)];
      const abstain = [2];
      const certificates = this.pick<Encodable[]>([
        [[0, account]],
        [[7, account, 2n * ada], [2, account, fromHex(pool)]],
        [[11, account, fromHex(pool), 2n * ada]],
        [[12, account, abstain, 2n * ada]],
        [[13, account, fromHex(pool), [3], 2n * ada]],
        [[0, account], [10, account, fromHex(pool), abstain]],
      ]);
      return await this.paid(one, { certificates, deposit: 2n * ada, keys: [one.stakeSeed] });
    },
    delegate: async () => {
      const one = await this.someone(true);
      if (!one) return undefined;
      const pool = await this.somePool();
      const account = [0, fromHex(one.stake)];
      const dreps = await this.query(({ dreps }) => [...dreps.entries()].map(([key]) => key));
      const drep = dreps.length > 0 && this.chance(0.6) ? [0, fromHex(this.pick(dreps).slice(1))] : [2];
      const certificates = this.pick<Encodable[]>([
        [[2, account, fromHex(pool)]],
        [[9, account, drep]],
        [[10, account, fromHex(pool), drep]],
        [[2, account, fromHex(pool)], [9, account, [3]]],
      ]);
      return await this.paid(one, { certificates, keys: [one.stakeSeed] });
    },
    withdraw: async () => {
      for (const one of this.shuffled(PEOPLE)) {
        const held = await this.account(credentialKey({ kind: "key", hash: one.stake }));
        if (!held?.drep || held.balance === 0n) continue;
        return await this.paid(one, {
          withdrawals: [{ account: "e0" + one.stake, amount: held.balance }],
          keys: [one.stakeSeed],
        });
      }
      return undefined;
    },
    leave: async () => {
      if (this.chance(0.5)) return undefined;
      const one = await this.someone(true);
      if (!one) return undefined;
      const held = (await this.account("k" + one.stake))!;
      if (held.balance > 0n && !held.drep) return undefined;
      const account = [0, fromHex(one.stake)];
      return await this.paid(one, {
        certificates: [this.chance(0.5) ? [1, account] : [8, account, 2n * ada]],
        deposit: -2n * ada,
        ...(held.balance > 0n ? { withdrawals: [{ account: "e0" + one.stake, amount: held.balance }] } : {}),
        keys: [one.stakeSeed],
      });
    },
    scriptAccount: async () => {
      const key = credentialKey(scriptStake);
      const held = await this.account(key);
      const account = [1, fromHex(scriptStake.hash)];
      const pool = await this.somePool();
      const reward = rewardAddress(0, scriptStake).hex;
      const run = (certificates: Encodable[], deposit: bigint, withdrawn?: bigint) =>
        this.paid(this.pick(PEOPLE), {
          certificates,
          deposit,
          plutus: { 3: [agrees] },
          ...(withdrawn === undefined ? {} : { withdrawals: [{ account: reward, amount: withdrawn }] }),
          redeemers: [
            ...certificates.map((_, index) => ({ for: { purpose: "cert", index } as const, data: this.datum() })),
            ...(withdrawn === undefined
              ? []
              : [{ for: { purpose: "reward", account: reward } as const, data: this.datum() }]),
          ],
          scripted: true,
        });
      if (!held) return await run([[13, account, fromHex(pool), [2], 2n * ada]], 2n * ada);
      if (this.chance(0.15)) return await run([[8, account, 2n * ada]], -2n * ada, held.balance);
      return await run([[2, account, fromHex(pool)]], 0n, held.balance);
    },
    poolRegister: async () => {
      const one = await this.someone(true);
      if (!one) return undefined;
      const cold = coldOf(one);
      const known = await this.query(({ pools }) => pools.get(cold.key));
      const relays: Encodable[] = [
        [0, 3001, Uint8Array.of(10, 0, 0, 1), null],
        [0, null, null, fromHex("20010db8000000000000000000000001")],
        [1, 3002, "relay.example"],
        [2, "srv.example"],
      ];
      const certificate = [
        3,
        fromHex(cold.key),
        blake2b256(utf8(`vrf ${one.key}${this.chance(0.5) ? this.devnet.tip().height : ""}`)),
        BigInt(this.below(100_000)) * ada,
        170_000_000 + this.below(1_000),
        new Tagged(30, this.pick([[1, 50], [3, 100], [1, 3], [0, 1], [1, 1]])),
        fromHex("e0" + this.pick(PEOPLE).stake),
        new Tagged(258, [
          fromHex(one.stake),
          ...(this.chance(0.3) ? [fromHex(PEOPLE.find((other) => other !== one)!.stake)] : []),
        ]),
        relays.filter(() => this.chance(0.5)),
        this.chance(0.5) ? [`http://127.0.0.1:9/${this.below(100)}`, blake2b256(this.bytes(8))] : null,
      ];
      return await this.paid(one, {
        certificates: [certificate, ...(this.chance(0.5) ? [[2, [0, fromHex(one.stake)], fromHex(cold.key)]] : [])],
        deposit: known ? 0n : 500n * ada,
        keys: [cold.seed, ...PEOPLE.map(({ stakeSeed }) => stakeSeed)],
      });
    },
    poolRetire: async () => {
      const registered = await this.query(({ pools }) => PEOPLE.filter((one) => pools.get(coldOf(one).key)));
      if (registered.length === 0) return undefined;
      const one = this.pick(registered);
      const epoch = await this.query(({ epoch }) => epoch);
      return await this.paid(one, {
        certificates: [[4, fromHex(coldOf(one).key), epoch + 1 + this.below(4)]],
        keys: [coldOf(one).seed],
      });
    },
    drep: async () => {
      const one = this.pick(PEOPLE);
      const drep = drepOf(one);
      const known = await this.query(({ dreps }) => dreps.get("k" + drep.key));
      const account = [0, fromHex(drep.key)];
      const anchor = this.chance(0.5) ? ["http://127.0.0.1:9/drep", blake2b256(utf8("drep"))] : null;
      const [certificate, deposit] = !known
        ? [[16, account, 500n * ada, anchor], 500n * ada] as const
        : this.chance(0.3)
        ? [[17, account, 500n * ada], -500n * ada] as const
        : [[18, account, anchor], 0n] as const;
      return await this.paid(one, { certificates: [certificate], deposit, keys: [drep.seed] });
    },
    donate: async () => await this.paid(this.pick(PEOPLE), { donation: 1n + BigInt(this.below(5_000_000)) }),
    move: async () => {
      // outputs with assets go on, several at once
      const one = this.pick(PEOPLE);
      const held = (await this.outputs(one.base, one.enterprise)).filter(({ output: { value } }) =>
        value.assets.size > 0
      );
      if (held.length === 0) return undefined;
      const inputs = held.slice(0, 1 + this.below(3));
      const assets = inputs[0]!.output.value.assets;
      return await this.paid(one, {
        inputs,
        outputs: [{ address: this.address(), lovelace: 5n * ada, assets: this.chance(0.5) ? assets : half(assets) }],
      });
    },
  } satisfies Record<string, () => Promise<ExplorerDraft | undefined>>;

  private readonly hashedDatums = new Map<string, Encodable>();

  /** A person's policy: the signature, and a time that is always met. */
  private policy(one: Person): { readonly script: Encodable; readonly hash: string } {
    const script: Encodable = [1, [[0, fromHex(one.key)], [5, 1_000_000]]];
    return { script, hash: nativeHash(script) };
  }

  private account(key: string) {
    return this.query(({ accounts }) => accounts.get(key));
  }

  private shuffled<T>(all: readonly T[]): T[] {
    return all.map((one) => [this.random(), one] as const).sort(([a], [b]) => a - b).map(([, one]) => one);
  }

  private async someone(registered: boolean): Promise<Person | undefined> {
    for (const one of this.shuffled(PEOPLE)) if (!!(await this.account("k" + one.stake)) === registered) return one;
    return undefined;
  }

  private async somePool(): Promise<string> {
    return this.pick(await this.query(({ pools }) => [...pools.entries()].map(([id]) => id).sort()));
  }

  /** Spends an output of a script; with `reference`, the script is that of an output. */
  private async unlock(reference = false): Promise<ExplorerDraft | undefined> {
    for (const language of this.shuffled<Language>([1, 2, 3])) {
      const script = scripts.spend[language];
      const hash = plutusHash(language, script);
      const addresses = [
        scriptAddress(0, hash).hex,
        ...PEOPLE.map(({ stake }) => baseAddress(0, { kind: "script", hash }, { kind: "key", hash: stake }).hex),
      ];
      const locked = (await this.outputs(...addresses)).filter(({ output: { datum, datumHash } }) =>
        language === 3
          ? !datumHash || this.hashedDatums.has(datumHash)
          : datum || (datumHash && this.hashedDatums.has(datumHash))
      );
      if (locked.length === 0) continue;
      const holders = reference
        ? (await this.outputs(
          scriptAddress(0, plutusHash(3, refuses)).hex,
          ...PEOPLE.flatMap(({ enterprise, base }) => [enterprise, base]),
        ))
          .filter(({ output }) => output.script && toHex(output.script) === toHex(encode([language, script])))
        : [];
      // Plutus V1 does not know reference inputs
      if (reference && (holders.length === 0 || language === 1)) continue;
      const inputs = locked.slice(0, 1 + this.below(2));
      const hashes = new Set(inputs.flatMap(({ output: { datumHash } }) => datumHash ? [datumHash] : []));
      const datums = [...hashes].sort().map((one) => this.hashedDatums.get(one)!);
      return await this.paid(this.pick(PEOPLE), {
        inputs,
        ...(reference ? { references: [holders[0]!], languages: [language] } : { plutus: { [language]: [script] } }),
        ...(datums.length > 0 ? { datums } : {}),
        redeemers: inputs.map(({ ref }) => ({ for: { purpose: "spend", ref }, data: this.datum() })),
        ...(inputs.some(({ output }) => output.value.assets.size > 0) ? {} : {}),
        scripted: true,
      });
    }
    return undefined;
  }
}

/** About half of each quantity, at least one. */
function half(assets: ReadonlyMap<string, bigint>): Map<string, bigint> {
  return new Map([...assets].map(([unit, quantity]) => [unit, (quantity + 1n) / 2n]));
}
