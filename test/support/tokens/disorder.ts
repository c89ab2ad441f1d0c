/**
 * Operations of ten users on five tokens, several at a time, by signing instances, by wallets of the wallet service and
 * by keys of their own, with rollbacks and kill -9 between. After each phase the chain is read from its blocks by
 * `plainChain.ts`, and everything is compared with it:
 *
 * - What an operation promised when it was acknowledged is in the ledger once, as promised: no transaction of a user or
 *   of the contract is there that no operation promised, and none is missing, unless it depends on a lost one, which
 *   the service then says.
 * - Each transaction changes each user's lovelace by what its promise explains, exactly.
 * - Facts, roots, requests and balances of the services are those of the blocks, and what the promises lead to.
 */
import csl from "@emurgo/cardano-serialization-lib-nodejs";
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { readBlocks } from "#src/devnet/blocks/rows.ts";
import { openStore, type Store } from "#src/store/store.ts";
import {
  type Change,
  hex,
  KeyPerson,
  type Outcome,
  PASSPHRASE,
  type Person,
  plainChange,
  SignerPerson,
  WalletPerson,
} from "./disorderPeople.ts";
import { byRef, explained, type Promised, unjustified } from "./disorderPromises.ts";
import { ANSWER_MS, DisorderServices, type Processes } from "./disorderServices.ts";
import { type Infra, sharedInfra } from "../infra/infra.ts";
import {
  change,
  type PlainBlock,
  plainBlock,
  type PlainChange,
  type PlainContract,
  type PlainState,
  type PlainStep,
  plainTransaction,
  replay,
} from "./plainChain.ts";
import { seeded } from "../base/seededRandom.ts";
import { until } from "../base/until.ts";
import type { Answer } from "../service/user.ts";

const ADA = 1_000_000n;
/** Lovelace of each of the coins that users begin with. */
const COIN = 2_000n * ADA;
const COINS = 4;
const USERS = 10;
const TOKENS = 5;
/** Operations at a time. */
const LANES = 6;
const KEYS = ["a", "b", "c", "dead", "", "Ω", "a/b", "key 7", "%", "k9", "k10", "k11"];
/** Longest time until everything is in blocks, in milliseconds. */
const SETTLE_MS = 180_000;

/** What disturbs a phase; `kill` names a process, and with `drop` the network forgets the transactions of the blocks. */
export type Fault =
  | { readonly type: "rollback"; readonly blocks: number; readonly drop?: true }
  | { readonly type: "kill"; readonly process: string; readonly rollback?: number }
  | { readonly type: "lost root" };

export interface DisorderOptions {
  readonly seed: number;
  /** Operations of each phase. */
  readonly operations: number;
  /** Faults of each phase, which come while its operations are under way. */
  readonly phases: readonly (readonly Fault[])[];
  readonly processes: Processes;
}

/** What the driver holds to be true of a live token, from what was acknowledged. */
interface Believed {
  readonly id: string;
  owner: Person;
  /** Keys and values in hexadecimal. */
  readonly facts: Map<string, { value: string; slot: number }>;
}

/** A request that is not known to have ended. */
interface OpenRequest {
  readonly ref: string;
  readonly token: string;
  readonly by: Person;
  readonly key: string;
  readonly change: PlainChange;
}

/** Refusals that a race between users, or with a rollback, explains. */
const RACES: Readonly<Record<string, readonly string[]>> = {
  boot: [],
  request: ["token_ended", "token_pending", "token_unknown", "request_conflicts"],
  update: ["token_ended", "token_pending", "token_unknown", "requests_fail", "nothing_to_apply", "refused_by_ledger"],
  retract: ["request_unknown", "request_pending", "refused_by_ledger"],
  transfer: ["token_ended", "token_pending", "token_unknown", "refused_by_ledger"],
  end: ["token_ended", "token_pending", "token_unknown", "refused_by_ledger"],
  pay: [],
  // its coin may be rolled back, or spent by what was built for the same user
  "own payment": ["refused_by_ledger"],
};

class World {
  private readonly blocks = new Map<string, PlainBlock>();
  private readonly locks = new Map<string, Promise<void>>();
  private contracts: readonly PlainContract[] = [];
  /** Ten users, and guests that have lost what they had. */
  readonly people: Person[] = [];
  private readonly tokenBeliefs = new Map<string, Believed>();
  private readonly open = new Map<string, OpenRequest>();
  private readonly promises: Promised[] = [];
  /** Faucet payments that a rollback has discarded: nothing submits them again. */
  private readonly discarded = new Set<string>();
  /** Whether a fault of the phase takes transactions from the ledger for good. */
  private losing = false;
  /** Promised transactions that were lost with a discarded one. */
  private readonly lost = new Set<Promised>();
  /** Operations of this phase that were refused. */
  private readonly refused: { readonly of: Promised; readonly outcome: Outcome & { ok: false } }[] = [];
  readonly counts: Record<string, number> = {};
  private operation = 0;

  private constructor(
    private readonly options: DisorderOptions,
    readonly services: DisorderServices,
    private readonly infra: Infra,
    private readonly store: Store,
  ) {}

  static async start(options: DisorderOptions): Promise<World> {
    const infra = await sharedInfra();
    const services = new DisorderServices(infra, options.processes, options.seed);
    const world = new World(options, services, infra, openStore(infra.databaseUrl, { max: 2, application: "test" }));
    await services.start();
    world.people.push(...services.signers);
    for (const i of [0, 1]) {
      const wallet = new WalletPerson(services, `wallet ${i}`, newMnemonic(15));
      const { status } = await services.ask(() => services.wallets, "POST", "/wallets", {
        name: wallet.name,
        mnemonic_sentence: wallet.words,
        passphrase: PASSPHRASE,
      });
      expect(status).toBe(201);
      world.people.push(wallet);
    }
    for (let i = 0; world.people.length < USERS; i++) {
      world.people.push(new KeyPerson(services, `key ${i}`, i % 2 === 0 ? "base" : "enterprise"));
    }
    world.contracts = (await world.ofTokens("GET", "/config")).body.versions;
    await Promise.all(world.people.flatMap((one) => Array.from({ length: COINS }, () => world.fund(one, COIN))));
    // no rollback reaches what users begin with
    await world.ofDevnet("POST", "/blocks", { count: 25 });
    for (const one of world.people) if (one instanceof WalletPerson) await world.untilReady(one.id);
    return world;
  }

  async stop(): Promise<void> {
    await this.services.stop();
    await this.store.close();
    await this.infra.stop();
  }

  private get wrong(): string[] {
    return this.services.wrong;
  }
  private ofTokens(method: string, place: string): Promise<Answer> {
    return this.services.ask(() => this.services.tokens, method, place);
  }
  private ofDevnet(method: string, place: string, body?: object): Promise<Answer> {
    return this.services.ask(() => this.services.devnet, method, place, body);
  }
  private ofWallet(id: string): Promise<Answer> {
    return this.services.ask(() => this.services.wallets, "GET", `/wallets/${id}`);
  }

  private async untilReady(wallet: string): Promise<void> {
    await until("a wallet is ready", async () => {
      const { body } = await this.ofWallet(wallet);
      return body.state?.status === "ready";
    });
  }

  private async fund(to: Person, amount: bigint): Promise<string> {
    const { status, body } = await this.ofDevnet("POST", "/faucet", {
      address: to.address,
      lovelace: Number(amount),
    });
    expect(status).toBe(200);
    this.promises.push({ kind: "fund", by: to, hash: body.txHash, amount });
    return body.txHash;
  }

  private async inLedger(hash: string): Promise<{ slot: string }> {
    return await until(`${hash} is in the ledger`, async () => {
      const { status, body } = await this.ofTokens("GET", `/transaction?txHash=${hash}`);
      return status === 200 && body;
    });
  }

  /** Runs a function alone among those with one of these names. */
  private async alone<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
    const [name, ...others] = [...new Set(names)].sort();
    if (name === undefined) return await run();
    const before = this.locks.get(name) ?? Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.locks.set(name, before.then(() => promise));
    await before;
    try {
      return await this.alone(others, run);
    } finally {
      resolve();
    }
  }

  /** A signing instance takes any number of requests at a time; others do one thing after the other. */
  private lockOf({ means, name }: Person): readonly string[] {
    return means === "signer" ? [] : [`user ${name}`];
  }

  private note(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Records what an acknowledged operation promises; a refusal must be one that a race explains. */
  private done(promised: Omit<Promised, "hash">, outcome: Outcome, races = RACES[promised.kind] ?? []): boolean {
    const { kind, by } = promised;
    if (outcome.ok) {
      this.note(kind);
      this.promises.push({
        ...promised,
        ...(outcome.hash === undefined ? {} : { hash: outcome.hash }),
        ...(outcome.root === undefined ? {} : { root: outcome.root }),
      });
      return true;
    }
    this.note(`${kind} refused: ${outcome.code}`);
    this.refused.push({ of: promised, outcome });
    // a coin that it is paid from may be gone
    const loses = this.losing && outcome.code === "refused_by_ledger";
    if (!loses && !races.includes(outcome.code)) {
      this.wrong.push(
        `${kind} by ${by.name} is refused: ${outcome.status} ${outcome.code} ${outcome.message} ${
          JSON.stringify(outcome.details)
        }`,
      );
    }
    return false;
  }

  private async boot(by: Person): Promise<void> {
    await this.alone(this.lockOf(by), async () => {
      const booted = await by.boot();
      if (!booted.ok || booted.token === undefined) {
        this.done({ kind: "boot", by }, booted);
        return;
      }
      this.done({ kind: "boot", by, token: booted.token }, booted);
      this.tokenBeliefs.set(booted.token, { id: booted.token, owner: by, facts: new Map() });
    });
  }

  private async request(by: Person, token: string, asked: Change, strict = false): Promise<string | undefined> {
    return await this.alone(this.lockOf(by), async () => {
      const outcome = await by.request(token, asked, strict);
      const [key, change] = [hex(asked.key), plainChange(asked)];
      if (!this.done({ kind: "request", by, token, key, change }, outcome) || !outcome.ok) return undefined;
      const ref = `${outcome.hash}-0`;
      this.open.set(ref, { ref, token, by, key, change });
      return ref;
    });
  }

  /** Applies requests within the token's lock. */
  private async update(token: Believed, requests: readonly OpenRequest[] | undefined): Promise<boolean> {
    const { owner: by } = token;
    return await this.alone(this.lockOf(by), async () => {
      const outcome = await by.update(token.id, requests?.map(({ ref }) => ref));
      const refs = (outcome.ok && outcome.applied) || requests?.map(({ ref }) => ref) || [];
      if (!this.done({ kind: "update", by, token: token.id, requests: refs }, outcome)) return false;
      for (const ref of [...refs].sort(byRef)) {
        const applied = this.open.get(ref);
        this.open.delete(ref);
        if (applied) change(token.facts, applied, 0);
      }
      return true;
    });
  }

  private async retract({ ref, by, token }: OpenRequest): Promise<void> {
    await this.alone(this.lockOf(by), async () => {
      if (this.done({ kind: "retract", by, token, requests: [ref] }, await by.retract(ref))) this.open.delete(ref);
    });
  }

  private async end(token: Believed): Promise<boolean> {
    const { id, owner: by } = token;
    const ended = await this.alone(
      this.lockOf(by),
      async () => this.done({ kind: "end", by, token: id }, await by.end(id)),
    );
    if (ended) this.tokenBeliefs.delete(id);
    return ended;
  }

  private async pay(from: KeyPerson | WalletPerson, to: Person, amount: bigint): Promise<void> {
    await this.alone(this.lockOf(from), async () => {
      const outcome = await from.pay(to.address, amount);
      if (outcome === undefined) return this.note("no coin for a payment");
      const races = RACES[from.means === "key" ? "own payment" : "pay"];
      this.done({ kind: "pay", by: from, to, amount }, outcome, races);
    });
  }

  /** One operation; `random` decides everything about it. */
  private async step(random: () => number): Promise<void> {
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!;
    const live = [...this.tokenBeliefs.values()];
    const roll = random();
    const users = this.people.slice(0, USERS);
    const by = pick(users);
    if (live.length < TOKENS && (live.length < 2 || roll < 0.2)) return await this.boot(by);
    const token = pick(live);
    if (roll >= 0.44 && roll < 0.7) {
      const updated = await this.alone([`token ${token.id}`], async () => {
        const open = [...this.open.values()].filter((one) => one.token === token.id && random() < 0.85);
        const trial = new Map(token.facts);
        const chosen = open.sort((a, b) => byRef(a.ref, b.ref))
          .filter((one) => change(trial, one, 0) === undefined || random() < 0.03);
        if (!this.tokenBeliefs.has(token.id) || chosen.length === 0) return false;
        if (token.owner.means !== "signer" && random() < 0.3) await this.update(token, undefined);
        else if (token.owner.means === "signer" && random() < 0.4 && isDistinct(chosen)) {
          // a signing instance puts two updates of one token in order by itself
          const half = Math.ceil(chosen.length / 2);
          await Promise.all([this.update(token, chosen.slice(0, half)), this.update(token, chosen.slice(half))]);
        } else await this.update(token, chosen);
        return true;
      });
      if (updated) return;
    }
    if (roll >= 0.7 && roll < 0.82 && this.open.size > 0) return await this.retract(pick([...this.open.values()]));
    if (roll >= 0.82 && roll < 0.94) {
      const from = pick(users.filter((one) => one instanceof KeyPerson || one instanceof WalletPerson));
      const to = pick(users.filter((one) => one !== from));
      return await this.pay(from, to, BigInt(2_000_000 + Math.floor(random() * 3_000_000)));
    }
    if (roll >= 0.94 && roll < 0.97) {
      const { owner } = token;
      const to = pick(users.filter((one) => one instanceof KeyPerson && one !== owner)) as KeyPerson;
      if (owner instanceof KeyPerson || owner instanceof WalletPerson) {
        return await this.alone(
          [`token ${token.id}`, ...this.lockOf(owner), ...this.lockOf(to)],
          async () => {
            if (token.owner !== owner || !this.tokenBeliefs.has(token.id)) return;
            const outcome = await owner.transfer(token.id, to);
            if (this.done({ kind: "transfer", by: owner, token: token.id, to }, outcome)) token.owner = to;
          },
        );
      }
    }
    if (roll >= 0.97 && live.length === TOKENS) {
      await this.alone([`token ${token.id}`], async () => {
        if (this.tokenBeliefs.has(token.id)) await this.end(token);
      });
      return;
    }
    const key = pick(KEYS);
    const now = token.facts.get(hex(key))?.value;
    const fits = random() < 0.85;
    const exists = now !== undefined;
    const type = exists === fits ? pick(["update", "delete", "update"] as const) : "insert";
    const oldValue = fits && exists ? Buffer.from(now, "hex").toString() : "other";
    const newValue = `value ${Math.floor(random() * 1_000)}`;
    const asked: Change = type === "insert"
      ? { type, key, newValue }
      : type === "delete"
      ? { type, key, oldValue }
      : { type, key, oldValue, newValue };
    await this.request(by, token.id, asked, random() < 0.15);
  }

  /** Operations one after the other whose answers are known beforehand; gives how many they were. */
  private async calm(random: () => number): Promise<number> {
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!;
    const live = [...this.tokenBeliefs.values()];
    const token = pick(live);
    const [one, two] = this.people.filter((person) => person instanceof KeyPerson) as [KeyPerson, KeyPerson];
    const key = `calm ${this.operation}`;
    const insert = (value: string): Change => ({ type: "insert", key, newValue: value });
    const first = await this.request(one, token.id, insert("first"));
    const strict = await two.request(token.id, insert("strict"), true);
    this.expectRefusal("a strict request", strict, 409, "request_conflicts", { request: first });
    const second = await this.request(two, token.id, insert("second"));
    const both = [first, second].map((ref) => this.open.get(ref ?? "")!).sort((a, b) => byRef(a.ref, b.ref));
    const failing = await token.owner.update(token.id, both.map(({ ref }) => ref));
    this.expectRefusal("an update with two inserts of a key", failing, 409, "requests_fail", {
      requests: [expect.objectContaining({ request: both[1]!.ref, code: "fact_exists" })],
    });
    const stranger = this.people.find((person) => person !== token.owner && person !== one)!;
    this.expectRefusal("an update by another", await stranger.update(token.id, [first!]), 403, "not_owner");
    this.expectRefusal("a retract by another", await stranger.retract(first!), 403, "not_owner");
    if (!await this.update(token, [both[0]!])) this.wrong.push("a single insert was not applied");
    await this.retract(both[1]!);
    return 8;
  }

  private expectRefusal(what: string, outcome: Outcome, status: number, code: string, details?: object): void {
    const got = outcome.ok ? outcome : { status: outcome.status, code: outcome.code, details: outcome.details };
    try {
      expect(got).toMatchObject({ status, code, ...(details ? { details } : {}) });
    } catch {
      this.wrong.push(`${what} is not ${status} ${code} ${JSON.stringify(details)}: ${JSON.stringify(outcome)}`);
    }
  }

  private async disturb(fault: Fault, random: () => number): Promise<void> {
    this.note(fault.type);
    const rollback = async (body: object) => {
      const { status, body: answer } = await this.ofDevnet("POST", "/rollback", body);
      expect([status, answer]).toEqual([200, expect.anything()]);
    };
    switch (fault.type) {
      case "rollback":
        return await rollback({ blocks: fault.blocks, drop: fault.drop ?? false });
      case "kill": {
        const { process, rollback: blocks } = fault;
        return await this.services.kill(process, async () => {
          if (blocks && !this.services.hasDevnet(process)) await rollback({ blocks });
        });
      }
      case "lost root": {
        // a guest pays a request with a coin that a rollback then takes out of the ledger for good
        const guest = new KeyPerson(this.services, `guest ${this.people.length}`, "enterprise");
        this.people.push(guest);
        const hash = await this.fund(guest, 50n * ADA);
        const { slot } = await this.inLedger(hash);
        const token = [...this.tokenBeliefs.values()][Math.floor(random() * this.tokenBeliefs.size)]!;
        const ref = await this.request(guest, token.id, { type: "insert", key: guest.name, newValue: "lost" });
        const made = this.open.get(ref ?? "");
        if (made) await this.alone([`token ${token.id}`], () => this.update(token, [made]));
        this.discarded.add(hash);
        await rollback({ slot: Number(slot) - 1, drop: true });
        // payments of the faucet in the same blocks are lost as well
        return;
      }
    }
  }

  /** A phase of operations with faults between, and then all comparisons. */
  async phase(number: number, faults: readonly Fault[]): Promise<void> {
    const { seed, operations } = this.options;
    this.losing = faults.some((one) => one.type === "lost root" || "drop" in one);
    const randomOf = (n: number) => seeded(seed * 1_000_003 + number * 10_007 + n);
    let left = operations;
    if (this.tokenBeliefs.size > 0) left -= await this.calm(randomOf(-1));
    for (let i = 0; this.tokenBeliefs.size < TOKENS; i++, left--) {
      await this.boot(this.people[(number + 3 * i) % USERS]!);
    }
    const all = left;
    const disturb = async () => {
      for (const [i, fault] of faults.entries()) {
        await until("operations", () => Promise.resolve(left <= all * (1 - (i + 1) / (faults.length + 1))), ANSWER_MS);
        await this.disturb(fault, randomOf(-2 - i));
      }
    };
    const lane = async () => {
      while (left > 0) {
        left--;
        this.operation++;
        await this.step(randomOf(left));
      }
    };
    await Promise.all([disturb(), ...Array.from({ length: LANES }, lane)]);
    await this.check(faults);
  }

  private async readChain(): Promise<PlainState> {
    const chain: PlainBlock[] = [];
    for (let from = 0;;) {
      const { blocks } = await readBlocks(this.store.sql, from, 500);
      for (const block of blocks) {
        const known = this.blocks.get(block.hash) ?? plainBlock(block);
        this.blocks.set(block.hash, known);
        chain.push(known);
      }
      if (blocks.length < 500) break;
      from = blocks.at(-1)!.height + 1;
    }
    return replay(chain, this.contracts);
  }

  /** The promises that no block holds, with the hashes of boots filled in. */
  private missing(chain: PlainState): Promised[] {
    const boots = new Map(
      [...chain.transactions].flatMap(([hash, { effect: { booted } }]) => booted ? [[booted.id, hash] as const] : []),
    );
    return this.promises.filter((promised) => {
      if (this.lost.has(promised)) return false;
      if (promised.kind === "boot") {
        const hash = boots.get(promised.token!);
        if (hash !== undefined) promised.hash = hash;
        return hash === undefined;
      }
      return !chain.transactions.has(promised.hash!);
    });
  }

  /** Waits until everything that was promised is in blocks, or is reported as lost. */
  private async settle(drops: boolean): Promise<PlainState> {
    for (const end = Date.now() + SETTLE_MS;; await sleep(250)) {
      const mempool = await this.ofDevnet("GET", "/mempool");
      const chain = await this.readChain();
      const missing = this.missing(chain);
      if (mempool.body.size === 0 && missing.every(({ hash }) => this.discarded.has(hash ?? ""))) {
        return chain;
      }
      if (drops) await this.findLost(missing, chain);
      if (Date.now() > end) {
        const said = await Promise.all(missing.map(async ({ kind, by, hash }) => {
          const { body } = await this.ofTokens("GET", `/transaction?txHash=${hash}`);
          return `${kind} by ${by.name} ${hash}: ${JSON.stringify(body.details ?? body)}`;
        }));
        throw new Error(
          `acknowledged, but in no block after ${SETTLE_MS} ms: ${said.join("; ")}; mempool ${
            JSON.stringify(mempool.body)
          }`,
        );
      }
    }
  }

  /**
   * Takes note of missing transactions whose loss the service reports, and that depend on a discarded one, or on one
   * whose input another transaction took before the network had it again.
   */
  private async findLost(missing: readonly Promised[], chain: PlainState): Promise<void> {
    const rows = await this.store.sql<{ hash: string; cbor: Uint8Array }[]>`select hash, cbor from submission`;
    const submitted = new Map(
      rows.map(({ hash, cbor }) => [hash, plainTransaction(Buffer.from(cbor).toString("hex"))] as const),
    );
    const taken = new Set([...chain.transactions.values()].flatMap(({ transaction: { inputs } }) => inputs));
    const needs = (hash: string) => {
      const { inputs = [], beside = [] } = submitted.get(hash) ?? {};
      return [...inputs, ...beside];
    };
    const depends = (hash: string): boolean => {
      if (chain.transactions.has(hash)) return false;
      return this.discarded.has(hash) || needs(hash).some((ref) => taken.has(ref) || depends(ref.slice(0, 64)));
    };
    for (const promised of missing) {
      if (promised.kind === "boot" && promised.hash === undefined) {
        const found = [...submitted.values()].find(({ mint }) =>
          [...mint].some(([unit, quantity]) => unit.endsWith(promised.token!) && quantity === 1n)
        );
        if (found) promised.hash = found.hash;
      }
      const { hash } = promised;
      if (hash === undefined || this.discarded.has(hash) || !depends(hash)) continue;
      const { body } = await this.ofTokens("GET", `/transaction?txHash=${hash}`);
      if (body.details?.status !== "expired") continue;
      this.lost.add(promised);
      this.note("lost");
      const names = (body.details.causes ?? []).map(({ name }: { name: string }) => name) as string[];
      const parents = needs(hash).map((ref) => ref.slice(0, 64));
      const wanted = parents.some((parent) => submitted.has(parent) && depends(parent))
        ? ["TransactionLost"]
        : ["BadInputsUTxO", "ConwayMempoolFailure"]; // one of its inputs is gone, or all are
      if (!wanted.some((name) => names.includes(name))) {
        this.wrong.push(`${hash} is lost because of ${JSON.stringify(names)}, not ${wanted.join(" or ")}`);
      }
    }
  }

  private async check(faults: readonly Fault[]): Promise<void> {
    const lost = this.lost.size + this.discarded.size;
    const chain = await this.settle(this.losing);
    this.explain(chain);
    this.noteChained(chain);
    const lostNow = this.lost.size + this.discarded.size > lost || faults.some(({ type }) => type === "lost root");
    for (const { of, outcome } of this.refused.splice(0)) {
      for (const why of unjustified(of, outcome, chain, this.contracts)) {
        if (!lostNow) this.wrong.push(`${of.kind} by ${of.by.name} is refused with ${outcome.code}, although ${why}`);
      }
    }
    this.compareBeliefs(chain, lostNow);
    await until(
      "the services agree with the blocks",
      async () => (await this.differences(chain)).length === 0,
      60_000,
      250,
    )
      .catch(async () => this.wrong.push(...await this.differences(chain)));
    // what was answered under a key is answered again, and changes nothing
    const names = new Set([...this.lost].flatMap(({ hash, token, kind }) => kind === "boot" ? [hash, token] : [hash]));
    const again = this.services.calls.filter(({ answer }) => !names.has(nameIn(answer.body))).slice(-20);
    for (const { what, repeat, answer } of again) this.services.expectSame(`${what}, repeated`, answer, await repeat());
    expect(this.wrong).toEqual([]);
  }

  /** The person of an address, if it is one's. */
  private personOf(): (address: string) => Person | undefined {
    const stake = (address: string) =>
      csl.BaseAddress.from_address(csl.Address.from_bech32(address))?.stake_cred().to_keyhash()?.to_hex();
    const known = new Map(this.people.flatMap((one) => [[one.address, one], [stake(one.address) ?? one.address, one]]));
    return (address) => known.get(address) ?? known.get(stake(address) ?? "");
  }

  /** How many updates stand on a state of their own block. */
  private noteChained({ transactions }: PlainState): void {
    const isChained = ({ height, effect: { moved } }: PlainStep) =>
      moved !== undefined && transactions.get(moved.before.ref.slice(0, 64))?.height === height;
    this.counts["on a state of the same block"] = [...transactions.values()].filter(isChained).length;
  }

  /** Each transaction does what its promise says, and changes each user's lovelace by that. */
  private explain(chain: PlainState): void {
    const personOf = this.personOf();
    const promised = new Map(this.promises.map((one) => [one.hash, one]));
    if (promised.size < this.promises.length) this.wrong.push("two operations have the same transaction");
    const contract = new Set(this.contracts.map(({ address }) => address));
    for (const [hash, step] of chain.transactions) {
      const { transaction, spent, effect } = step;
      const changes = new Map<Person, bigint>();
      for (const [outputs, sign] of [[spent, -1n], [transaction.outputs, 1n]] as const) {
        for (const { address, lovelace } of outputs) {
          const person = personOf(address);
          if (person) changes.set(person, (changes.get(person) ?? 0n) + sign * lovelace);
        }
      }
      const one = promised.get(hash);
      if (one === undefined) {
        if (changes.size > 0 || [...spent, ...transaction.outputs].some(({ address }) => contract.has(address))) {
          this.wrong.push(`no operation promised ${hash}: ${JSON.stringify(Object.keys(effect))}`);
        }
        continue;
      }
      const expected = new Map<Person, bigint>();
      const add = (person: Person, lovelace: bigint) => expected.set(person, (expected.get(person) ?? 0n) + lovelace);
      for (const problem of explained(one, step, add, personOf)) {
        this.wrong.push(`${one.kind} ${hash} by ${one.by.name}: ${problem}`);
      }
      for (const person of new Set([...changes.keys(), ...expected.keys()])) {
        const [is, should] = [changes.get(person) ?? 0n, expected.get(person) ?? 0n];
        if (is !== should) this.wrong.push(`${one.kind} ${hash} gives ${person.name} ${is} lovelace, not ${should}`);
      }
    }
  }

  /** The promises lead to the facts, owners and requests of the blocks; beliefs begin again from there. */
  private compareBeliefs(chain: PlainState, lostSomething: boolean): void {
    const values = (facts: ReadonlyMap<string, { readonly value: string }>) =>
      [...facts].map(([key, { value }]) => `${key}=${value}`).sort();
    if (!lostSomething) {
      const believed = [...this.tokenBeliefs.values()].map((
        { id, owner, facts },
      ) => [id, owner.keyHash, values(facts)]);
      const real = [...chain.tokens.values()].map(({ id, owner, facts }) => [id, owner, values(facts)]);
      const different = (a: unknown[][], b: unknown[][]) =>
        JSON.stringify(a.map((one) => JSON.stringify(one)).sort()) !==
          JSON.stringify(b.map((one) => JSON.stringify(one)).sort());
      if (different(believed, real)) {
        this.wrong.push(
          `what was acknowledged leads to ${JSON.stringify(believed)}, the blocks to ${JSON.stringify(real)}`,
        );
      }
      const open = [[...this.open.keys()].sort(), [...chain.open.keys()].sort()];
      if (different([open[0]!], [open[1]!])) this.wrong.push(`open requests differ: ${JSON.stringify(open)}`);
    }
    this.tokenBeliefs.clear();
    for (const { id, owner, facts } of chain.tokens.values()) {
      const person = this.people.find(({ keyHash }) => keyHash === owner)!;
      this.tokenBeliefs.set(id, { id, owner: person, facts: new Map(facts) });
    }
    this.open.clear();
    for (const { ref, token, owner, key, change } of chain.open.values()) {
      const by = this.people.find(({ keyHash }) => keyHash === owner)!;
      this.open.set(ref, { ref, token, by, key, change });
    }
  }

  /** Where the services say something else than the blocks. */
  private async differences(chain: PlainState): Promise<string[]> {
    const found: string[] = [];
    const compare = (what: string, is: unknown, should: unknown) => {
      const [a, b] = [is, should].map((value) => JSON.stringify(value));
      if (a !== b) found.push(`${what} is ${a}, in the blocks ${b}`);
    };
    const get = (place: string) => this.ofTokens("GET", place);
    const listed = (await get("/tokens")).body.tokens as { tokenId: string }[];
    compare("the list of tokens", listed.map(({ tokenId }) => tokenId).sort(), [...chain.tokens.keys()].sort());
    for (const { id, owner, root, ref, facts } of chain.tokens.values()) {
      const { body } = await get(`/token/${id}?encoding=hex`);
      const requests = [...chain.open.values()].filter(({ token }) => token === id);
      compare(`token ${id}`, [body.owner, body.root, body.outputRefId, body.status], [owner, root, ref, "live"]);
      compare(
        `the requests of ${id}`,
        (body.requests ?? []).map((one: { outputRefId: string; owner: string; change: Record<string, string> }) =>
          [one.outputRefId, one.owner, one.change.type, one.change.key, one.change.oldValue, one.change.newValue].join()
        ).sort(),
        requests.map(({ ref, owner, key, change: of }) => {
          const old = of.type === "update" ? of.old : of.type === "delete" ? of.value : undefined;
          return [ref, owner, of.type, key, old, of.type === "delete" ? undefined : of.value].join();
        }).sort(),
      );
      const said = (await get(`/token/${id}/facts?encoding=hex&slots=true`)).body as Record<string, unknown>;
      compare(
        `the facts of ${id}`,
        Object.entries(said).map(([key, fact]) => [key, JSON.stringify(fact)].join()).sort(),
        [...facts].map(([key, { value, slot }]) => [key, JSON.stringify({ value, slot })].join()).sort(),
      );
    }
    for (const id of chain.ended) compare(`token ${id}`, (await get(`/token/${id}`)).body.code, "token_ended");
    for (const { ref, token } of this.requestsOf(chain)) {
      const { body } = await get(`/token/${token}/requests/${ref}`);
      const closed = chain.closed.get(ref);
      compare(`request ${ref}`, [body.status, body.closed?.txHash], [closed?.how ?? "open", closed?.hash]);
    }
    const personOf = this.personOf();
    for (const person of this.people) {
      const own = [...chain.utxos].filter(([, { address }]) => personOf(address) === person);
      const [refs, sum] = [own.map(([ref]) => ref).sort(), own.reduce((all, [, { lovelace }]) => all + lovelace, 0n)];
      const at = own.filter(([, { address }]) => address === person.address).map(([ref]) => ref).sort();
      const { body } = await this.ofDevnet("GET", `/utxos/${person.address}`);
      compare(
        `the ledger's outputs of ${person.name}`,
        body.utxos.map((one: { txHash: string; index: number }) => `${one.txHash}-${one.index}`).sort(),
        at,
      );
      if (person instanceof SignerPerson) {
        const { body: { utxos } } = await this.services.ask(person.base, "GET", "/wallet");
        compare(
          `the wallet of ${person.name}`,
          utxos.map(({ input }: { input: { txHash: string; outputIndex: number } }) =>
            `${input.txHash}-${input.outputIndex}`
          )
            .sort(),
          at,
        );
      }
      if (person instanceof KeyPerson) {
        compare(`the outputs of ${person.name}`, refs, at);
        continue;
      }
      const id = (person as WalletPerson | SignerPerson).id;
      const { body: { balance } } = await this.ofWallet(id);
      compare(
        `the balance of ${person.name}`,
        [balance?.total.quantity, balance?.available.quantity],
        [Number(sum), Number(sum)],
      );
    }
    for (const { hash } of this.promises.filter((one) => !this.lost.has(one)).slice(-120)) {
      if (this.discarded.has(hash ?? "")) continue;
      const { status, body } = await get(`/transaction?txHash=${hash}`);
      if (status !== 200) found.push(`${hash} is in a block, but ${JSON.stringify(body)}`);
    }
    for (const { hash } of this.lost) {
      const { body } = await get(`/transaction?txHash=${hash}`);
      compare(`the lost ${hash}`, body.details?.status, "expired");
    }
    return found;
  }

  /** The newest requests, open or not. */
  private requestsOf(chain: PlainState) {
    return [...chain.transactions.values()].flatMap(({ effect }) => effect.requested).slice(-60);
  }
}

/** The transaction or the token that an answer names. */
const nameIn = (body: Answer["body"]): string =>
  typeof body === "string" ? body.slice(0, 64) : body.txHash ?? body.tokenId ?? body.id;

const isDistinct = (requests: readonly OpenRequest[]): boolean =>
  requests.length > 1 && new Set(requests.map(({ key }) => key)).size === requests.length;

/** Such as `rollback 20 drop`. */
const titleOf = (fault: Fault): string =>
  Object.entries(fault).map(([name, value]) => value === true ? name : value).join(" ");

/** A test for each phase, on one deployment. */
export function disorder(options: DisorderOptions): void {
  let world: World | undefined;
  let broken = false;
  beforeAll(async () => {
    console.log(`disorder with seed ${options.seed}`);
    world = await World.start(options);
  });
  afterAll(async () => {
    console.log(
      `disorder with seed ${options.seed}: ${JSON.stringify(world?.counts)}, again ${
        JSON.stringify(world?.services.again)
      }`,
    );
    await world?.stop();
  });
  for (const [number, faults] of options.phases.entries()) {
    it(`phase ${number}: ${faults.map(titleOf).join(", ")}`, async () => {
      // what it would find after another phase has failed says nothing
      expect(broken).toBe(false);
      try {
        await world!.phase(number, faults);
      } catch (error) {
        broken = true;
        console.log(world!.services.printed);
        throw error;
      }
    });
  }
}
