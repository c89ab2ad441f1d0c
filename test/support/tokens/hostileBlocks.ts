/**
 * Random blocks with transactions that attack the index of tokens, and the expected index from a plain model: nothing
 * that an attacker adds to a token changes it, and no event of one token changes another. No ledger has validated the
 * transactions: they contain what a script of any published version could accept, and what no script sees.
 */
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { type Data, encodeData } from "#src/cardano/data.ts";
import { compareRefs, type OutRef, refKey } from "#src/cardano/output.ts";
import { encodeTransaction, type NewOutput, type Redeemer, transactionHash } from "#src/cardano/transaction.ts";
import { encodeValue, lovelace } from "#src/cardano/value.ts";
import {
  datumData,
  EMPTY_ROOT,
  encodeDatum,
  encodeRequest,
  encodeState,
  type Operation,
  type Request,
} from "#src/contract/datum.ts";
import { spendData, type SpendRedeemer } from "#src/contract/redeemer.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { malformedVariants } from "../plutus/malformedData.ts";

/** Versions of the script, the newest last. */
export const VERSIONS = ["cd".repeat(28), "ab".repeat(28)] as const;
const [OLD, NEW] = VERSIONS;
const FOREIGN = "09".repeat(28);
const WALLET = `60${"0e".repeat(28)}`;
const OWNERS = ["0c".repeat(28), "0d".repeat(28)];
const units = { memory: 1n, steps: 1n };

/** Keys and values are in hexadecimal. */
export interface ModelRequest {
  readonly ref: OutRef;
  readonly script: string;
  readonly token: string;
  readonly key: string;
  readonly operation: Operation;
}

export interface ModelToken {
  readonly name: string;
  readonly script: string;
  readonly ref: OutRef;
  readonly owner: string;
  readonly root: string;
  readonly facts: ReadonlyMap<string, string>;
  readonly status: "live" | "quarantined" | "ended";
}

/** The expected content of the index. */
export interface Model {
  readonly tokens: ReadonlyMap<string, ModelToken>;
  readonly requests: ReadonlyMap<string, ModelRequest>;
  /** The outcome of requests. */
  readonly ended: ReadonlyMap<string, "applied" | "retracted">;
  /** States under the old version whose names are tokens of the new one. */
  readonly twins: readonly { readonly name: string; readonly ref: OutRef }[];
}

export const blank: Model = { tokens: new Map(), requests: new Map(), ended: new Map(), twins: [] };

/** A model while a transaction changes it. */
interface Draft {
  tokens: Map<string, ModelToken>;
  requests: Map<string, ModelRequest>;
  ended: Map<string, "applied" | "retracted">;
  twins: { readonly name: string; readonly ref: OutRef }[];
}

/** An output, and the model's entry for it once its reference is known. */
type Made = { readonly output: NewOutput | Encoded; readonly then?: (ref: OutRef) => void };

const every = Uint8Array.from({ length: 256 }, (_, i) => i);
const KEYS = [
  utf8(""),
  utf8("a"),
  utf8("Ω"),
  every,
  Uint8Array.of(0xff, 0xfe),
  Uint8Array.of(0),
  new Uint8Array(64).fill(7),
  new Uint8Array(65).fill(7),
  concat(every, every, every),
].map(toHex);

export function trieOf(facts: ReadonlyMap<string, string>): Forestry {
  return Forestry.from([...facts].map(([key, value]) => leafOf(fromHex(key), fromHex(value))));
}

/** Applies an operation to facts; false if it does not fit. */
function fits(facts: Map<string, string>, { key, operation }: Pick<ModelRequest, "key" | "operation">): boolean {
  const now = facts.get(key);
  if (
    operation.type === "insert"
      ? now !== undefined
      : now !== toHex(operation.type === "update" ? operation.old : operation.value)
  ) {
    return false;
  }
  if (operation.type === "delete") facts.delete(key);
  else facts.set(key, toHex(operation.value));
  return true;
}

export class Hostile {
  private serial = 0;
  constructor(private readonly random: () => number) {}

  /** The transactions of the next block, and the expected index after it. */
  block(model: Model): { readonly transactions: readonly Uint8Array[]; readonly model: Model } {
    const transactions: Uint8Array[] = [];
    const draft: Draft = {
      tokens: new Map(model.tokens),
      requests: new Map(model.requests),
      ended: new Map(model.ended),
      twins: [...model.twins],
    };
    for (let n = this.below(5); n > 0; n--) transactions.push(this.step(draft));
    return { transactions, model: draft };
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  private shuffled<T>(list: readonly T[]): T[] {
    return list.map((one) => [this.random(), one] as const).sort((a, b) => a[0] - b[0]).map(([, one]) => one);
  }

  private hash(): string {
    return (++this.serial + 2 ** 40).toString(16).padStart(64, "0");
  }

  /** The cage address of a version, with any stake part. */
  private cage(script: string): string {
    return this.pick([
      `70${script}`,
      `10${script}${"05".repeat(28)}`,
      `30${script}${"06".repeat(28)}`,
      `50${script}010203`,
    ]);
  }

  private step(draft: Draft): Uint8Array {
    const live = [...draft.tokens.values()].filter(({ status }) => status !== "ended");
    const roll = this.random();
    if (live.length === 0 || roll < 0.08) return this.boot(draft);
    if (roll < 0.4) return this.asking(draft);
    if (roll < 0.75) return this.updating(draft, this.shuffled(live).slice(0, this.random() < 0.2 ? 2 : 1));
    if (roll < 0.82) return this.failing(draft, this.pick(live));
    if (roll < 0.87) return this.retracting(draft);
    if (roll < 0.9) return this.ending(draft, this.pick(live));
    if (roll < 0.94 && draft.twins.length > 0) return this.twinMoving(draft);
    return this.finish([], [], []);
  }

  /** A transaction with unrelated outputs among its own. */
  private finish(
    inputs: readonly OutRef[],
    made: readonly Made[],
    redeemers: readonly Redeemer[],
    mint = new Map<string, bigint>(),
  ) {
    const all = this.shuffled([...made, ...this.unrelatedOutputs()]);
    const transaction = encodeTransaction({
      inputs: [...inputs, { txHash: this.hash(), index: this.below(3) }],
      outputs: all.map(({ output }) => output),
      fee: 0n,
      redeemers,
      mint,
    });
    const txHash = transactionHash(transaction);
    all.forEach(({ then }, index) => then?.({ txHash, index }));
    return transaction;
  }

  private spend(ref: OutRef, redeemer: SpendRedeemer): Redeemer {
    return { for: { purpose: "spend", ref }, data: encodeData(spendData(redeemer)), units };
  }

  private stateOutput(
    { script, name, owner, root }: Pick<ModelToken, "script" | "name" | "owner" | "root">,
  ): NewOutput {
    const assets = new Map([[script + name, 1n]]);
    return { address: this.cage(script), value: { lovelace: 2_000_000n, assets }, datum: encodeState({ owner, root }) };
  }

  private boot(draft: Draft): Uint8Array {
    const name = this.hash();
    const both = this.random() < 0.25;
    const script = both || this.random() < 0.7 ? NEW : OLD;
    const token = { name, script, owner: this.pick(OWNERS), root: EMPTY_ROOT };
    const made: Made[] = [{
      output: this.stateOutput(token),
      then: (ref) => draft.tokens.set(name, { ...token, ref, facts: new Map(), status: "live" }),
    }];
    if (both) {
      made.push({
        output: this.stateOutput({ ...token, script: OLD }),
        then: (ref) => draft.twins.push({ name, ref }),
      });
    }
    return this.finish([], made, [], new Map([[script + name, 1n]]));
  }

  /** Another token's state with a name that is taken moves, with any root. */
  private moved(draft: Draft, twin: Draft["twins"][number]): Made {
    draft.twins = draft.twins.filter((one) => one !== twin);
    const root = this.random() < 0.5 ? EMPTY_ROOT : "71".repeat(32);
    const output = this.stateOutput({ script: OLD, name: twin.name, owner: OWNERS[0]!, root });
    return { output, then: (ref) => void draft.twins.push({ name: twin.name, ref }) };
  }

  private twinMoving(draft: Draft): Uint8Array {
    const twin = this.pick(draft.twins);
    return this.finish([twin.ref], [this.moved(draft, twin)], [this.spend(twin.ref, { type: "modify", actions: [] })]);
  }

  /** Occasionally the other token of a name moves in the same transaction. */
  private withTwin(draft: Draft, { name }: ModelToken, inputs: OutRef[], made: Made[]): void {
    const twin = draft.twins.find((one) => one.name === name);
    if (!twin || this.random() < 0.5) return;
    inputs.push(twin.ref);
    made.push(this.moved(draft, twin));
  }

  private operation(facts: ReadonlyMap<string, string>, key: string): Operation {
    const value = this.random() < 0.1 ? new Uint8Array(200).fill(this.below(256)) : utf8(`${++this.serial}`);
    const now = facts.get(key);
    const old = now !== undefined && this.random() < 0.9 ? fromHex(now) : utf8("nothing");
    const roll = this.random();
    if (now === undefined ? roll < 0.9 : roll < 0.1) return { type: "insert", value };
    return roll < 0.6 ? { type: "update", old, value } : { type: "delete", value: old };
  }

  /** A request; the model records it if `of` is given. */
  private request(
    of: Pick<ModelToken, "script" | "name" | "facts">,
    draft?: Draft,
  ): Made & { readonly output: NewOutput; readonly request: Request } {
    const key = this.pick(KEYS);
    const operation = this.operation(of.facts, key);
    const request: Request = {
      policy: of.script,
      name: of.name,
      refund: { payment: OWNERS[0]! },
      fee: BigInt(this.below(3)),
      key: fromHex(key),
      operation,
    };
    return {
      request,
      output: { address: this.cage(of.script), value: lovelace(2_000_000n), datum: encodeRequest(request) },
      then: (ref) => draft?.requests.set(refKey(ref), { ref, script: of.script, token: of.name, key, operation }),
    };
  }

  private asking(draft: Draft): Uint8Array {
    const unknownKey = { script: NEW, name: "ee".repeat(32), facts: new Map<string, string>() };
    const all = [...draft.tokens.values(), unknownKey];
    const count = this.random() < 0.05 ? 100 : 1 + this.below(5);
    const one = this.pick(all);
    const made = Array.from({ length: count }, () => this.request(this.random() < 0.7 ? one : this.pick(all), draft));
    return this.finish([], made, []);
  }

  private open(draft: Draft, token: ModelToken): ModelRequest[] {
    return [...draft.requests.values()].filter((request) =>
      request.token === token.name && request.script === token.script
    )
      .sort((a, b) => compareRefs(a.ref, b.ref));
  }

  private close(draft: Draft, request: ModelRequest, how: "applied" | "retracted"): void {
    draft.requests.delete(refKey(request.ref));
    draft.ended.set(refKey(request.ref), how);
  }

  /** Tokens change: some of their requests are applied, some skipped and retracted, and so are requests of others. */
  private updating(draft: Draft, tokens: readonly ModelToken[]): Uint8Array {
    const inputs: OutRef[] = [];
    const made: Made[] = [];
    const redeemers: Redeemer[] = [];
    for (const token of tokens) {
      const facts = new Map(token.facts);
      let applied = 0;
      for (const request of this.open(draft, token)) {
        const roll = this.random();
        const takes = roll < 0.7 && fits(facts, request);
        if (!takes && roll < 0.6) continue;
        inputs.push(request.ref);
        redeemers.push(this.spend(request.ref, { type: takes ? "contribute" : "retract" }));
        this.close(draft, request, takes ? "applied" : "retracted");
        if (takes) applied++;
      }
      const wrong = this.random() < 0.04;
      const locked = token.status === "quarantined";
      const root = wrong ? "77".repeat(32) : applied === 0 ? token.root : toHex(trieOf(facts).root);
      const next: ModelToken = {
        ...token,
        root,
        owner: this.random() < 0.2 ? this.pick(OWNERS) : token.owner,
        facts: locked || wrong ? token.facts : facts,
        status: locked || wrong ? "quarantined" : "live",
      };
      this.withTwin(draft, token, inputs, made);
      inputs.push(token.ref);
      const crown = token.script === NEW && this.serial % 2 === 0 ? { crown: new Uint8Array(512) } : {};
      redeemers.push(this.spend(token.ref, { type: "modify", actions: [], ...crown }));
      made.push({ output: this.stateOutput(next), then: (ref) => draft.tokens.set(token.name, { ...next, ref }) });
    }
    const names = new Set(tokens.map(({ name }) => name));
    for (
      const request of this.shuffled([...draft.requests.values()].filter(({ token }) => !names.has(token))).slice(
        0,
        this.below(3),
      )
    ) {
      inputs.push(request.ref);
      // a request that contributes to no token that changes is retracted, whatever it states
      redeemers.push(this.spend(request.ref, { type: this.random() < 0.5 ? "retract" : "contribute" }));
      this.close(draft, request, "retracted");
    }
    return this.finish(inputs, made, this.shuffled(redeemers));
  }

  private retracting(draft: Draft): Uint8Array {
    const some = this.shuffled([...draft.requests.values()]).slice(0, 1 + this.below(4));
    for (const request of some) this.close(draft, request, "retracted");
    return this.finish(some.map(({ ref }) => ref), [], some.map(({ ref }) => this.spend(ref, { type: "retract" })));
  }

  private ending(draft: Draft, token: ModelToken): Uint8Array {
    const some = this.open(draft, token).slice(0, this.below(3));
    for (const request of some) this.close(draft, request, "retracted");
    draft.tokens.set(token.name, { ...token, status: "ended" });
    const inputs = [token.ref, ...some.map(({ ref }) => ref)];
    const made: Made[] = [];
    this.withTwin(draft, token, inputs, made);
    return this.finish(
      inputs,
      made,
      [this.spend(token.ref, { type: "end" }), ...some.map(({ ref }) => this.spend(ref, { type: "contribute" }))],
      new Map([[token.script + token.name, -1n]]),
    );
  }

  /** Phase 2 fails: nothing happens, except that a collateral return may be a request. */
  private failing(draft: Draft, token: ModelToken): Uint8Array {
    const requested = this.request(token, draft);
    const real = this.random() < 0.5;
    const stub = this.stateOutput({ ...token, root: "72".repeat(32) });
    const outputs = [this.stateOutput({ ...token, owner: "0f".repeat(28) }), this.request(token).output];
    const open = this.open(draft, token).slice(0, 2);
    const transaction = encodeTransaction({
      inputs: [token.ref, ...open.map(({ ref }) => ref)],
      outputs,
      fee: 0n,
      collateral: [{ txHash: this.hash(), index: 0 }],
      collateralReturn: real ? requested.output : stub,
      redeemers: [
        this.spend(token.ref, { type: "modify", actions: [] }),
        ...open.map(({ ref }) => this.spend(ref, { type: "contribute" })),
      ],
    });
    // the flag is the second-last byte: there is no auxiliary data
    const failed = transaction.with(transaction.length - 2, 0xf4);
    if (real) requested.then!({ txHash: transactionHash(transaction), index: outputs.length });
    return failed;
  }

  /** Outputs that the index must ignore, whatever their form. */
  private unrelatedOutputs(): Made[] {
    return Array.from({ length: this.below(4) }, () => ({ output: this.oddity() }));
  }

  private oddity(): NewOutput | Encoded {
    const name = this.random() < 0.5 ? "ee".repeat(32) : this.hash();
    const token = { script: NEW, name, facts: new Map<string, string>(), owner: OWNERS[1]!, root: EMPTY_ROOT };
    const state = this.stateOutput(token);
    const { output, request } = this.request(token);
    const holding = (asset: string, quantity: bigint) => ({
      lovelace: 2_000_000n,
      assets: new Map([[asset, quantity]]),
    });
    const one = (data: Data): NewOutput => ({ ...output, datum: encodeData(data) });
    let deep: Data = 5n;
    for (let i = 0; i < 500; i++) deep = [deep];
    return this.pick<() => NewOutput | Encoded>([
      () => ({ ...state, value: lovelace(2_000_000n) }),
      () => ({ ...state, value: holding(FOREIGN + name, 1n) }),
      () => ({ ...state, value: holding(NEW + name, 2n) }),
      () => ({ ...state, address: this.cage(OLD) }),
      () => ({ ...state, address: WALLET }),
      () => ({ ...state, datum: undefined }),
      () => ({
        ...state,
        datum: encodeData(
          this.pick(malformedVariants(datumData({ type: "state", state: { owner: token.owner, root: token.root } }))),
        ),
      }),
      () => ({ ...state, datum: encodeDatum({ type: "request", request }) }),
      () => one(this.pick(malformedVariants(datumData({ type: "request", request })))),
      () => one(deep),
      () => one(1n << 4_000n),
      () => ({ ...output, datum: undefined }),
      () => ({ ...output, address: WALLET }),
      () => ({ ...output, address: `60${NEW}` }),
      () => ({ ...output, address: `00${NEW}${"05".repeat(28)}` }),
      () => ({ ...output, address: this.cage(OLD) }),
      () => ({ ...output, value: holding(FOREIGN, 1n) }),
      () => ({ ...output, datum: encodeRequest({ ...request, policy: FOREIGN }) }),
      () => ({ ...output, datum: encodeRequest({ ...request, fee: 1n << 60n }) }),
      () => withHash(output),
      () => withHash(state),
    ])();
  }
}

/** The output with only its datum's hash. */
function withHash({ address, value }: NewOutput): Encoded {
  const members: [Encodable, Encodable][] = [[0, fromHex(address)], [1, encodeValue(value)], [2, [
    0,
    new Uint8Array(32),
  ]]];
  return new Encoded(encode(new Map(members)));
}

/** An operation in the form of a plain comparison. */
export function operationText(operation: Operation): string {
  return [operation.type, ...(operation.type === "update" ? [toHex(operation.old)] : []), toHex(operation.value)].join(
    " ",
  );
}
