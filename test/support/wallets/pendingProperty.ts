/**
 * Random interleavings of what one owner builds and sends through the wallet service and the token service on a few
 * coins, with blocks and rollbacks between: none of it is answered with a 5xx, the ledger refuses none of it, and all
 * that was accepted is in the ledger at the end.
 */
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, type WalletClient } from "#src/client/wallets.ts";
import { seeded } from "../base/seededRandom.ts";
import { ADA, ANSWERS_ALL, PASSPHRASE, Scenario, scenarioProvider } from "../service/scenario.ts";
import { until } from "../base/until.ts";
import { http } from "../service/user.ts";
import { WalletTokens } from "./walletTokens.ts";

/** Lovelace of a coin: each is enough for any single step. */
const COIN = 200n * ADA;
const POLICY = "cosigner#0";

/** What a build may be refused with while the owner has coins: the state of a token or of the stake key does not fit. */
const FITTING: readonly string[] = [
  "token_pending",
  "request_pending",
  "token_unknown",
  "token_ended",
  "request_unknown",
  "requests_fail",
  "nothing_to_apply",
  "owner_unchanged",
  "not_owner",
  "same_vote",
  "not_delegating_to",
  "pool_already_joined",
  "pool_already_joined_same_vote",
  "missing_policy_public_key",
  "withdrawal_not_beneficial",
];

/** A built transaction that was not sent yet. */
interface Draft {
  readonly what: string;
  readonly transaction: string;
  readonly spends: readonly string[];
  /** Whether it acts for the stake key: it may not fit any more once another one is sent. */
  readonly stakes?: boolean;
  readonly send: (signed: string) => Promise<string>;
  readonly sent?: () => void;
}

/** A test for each run: `runs` seeds from `seed` on, each with 1 to 5 coins. */
export function pendingProperty({ seed, runs, steps }: { seed: number; runs: number; steps: number }): void {
  let scenario: Scenario;
  let pool: string;
  let elsewhere: string;
  beforeAll(async () => {
    // delegating needs the list of pools
    const provider = ANSWERS_ALL ? scenarioProvider : "devnet";
    scenario = await Scenario.start({ blockMs: 0, provider, env: { ARBOR_POOLS: "1" } });
    await scenario.blocks();
    elsewhere = await scenario.address((await scenario.createWallet()).id);
    [pool] = (await scenario.client.stakePools(1_000n * ADA)).map(({ id }) => id) as [string];
  });
  afterAll(() => scenario?.stop());

  for (let run = 0; run < runs; run++) {
    const coins = 1 + (seed + run) % 5;
    it(`seed ${seed + run}: ${steps} steps on ${coins} coins`, async () => {
      const { id } = await scenario.createWallet({ coins: Array.from({ length: coins }, () => COIN) });
      await scenario.client.makePolicyKey(id, PASSPHRASE).catch(() => undefined);
      const owner = new Owner(scenario, id, await Promise.all([0, 1].map((index) => scenario.address(id, index))), {
        pool,
        elsewhere,
      }, seeded(seed + run));
      try {
        for (let step = 0; step < steps; step++) await owner.step();
        await owner.settle();
      } catch (error) {
        throw new Error(`after ${owner.story.slice(-40).join("; ")}: ${error}`, { cause: error });
      }
    });
  }
}

class Owner {
  readonly story: string[] = [];
  private readonly drafts: Draft[] = [];
  private readonly sent: string[] = [];
  private readonly tokens: string[] = [];
  private readonly requests: string[] = [];
  private readonly client: WalletClient;
  /** The wallet at two of its addresses. */
  private readonly faces: readonly WalletTokens[];
  private blocks = 0;
  private key = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly id: string,
    addresses: readonly string[],
    private readonly outside: { readonly pool: string; readonly elsewhere: string },
    private readonly random: () => number,
  ) {
    this.client = scenario.client;
    this.faces = addresses.map((address) => new WalletTokens(scenario, id, address, true));
  }

  private below(n: number): number {
    return Math.floor(this.random() * n);
  }
  private oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  async step(): Promise<void> {
    const roll = this.random();
    if (roll < 0.1) return await this.block();
    if (roll < 0.14) return await this.rollback();
    if (roll < 0.3 && this.drafts.length > 0) return await this.send(this.below(this.drafts.length));
    const draft = await (roll < 0.7 ? this.tokenBuild() : this.walletBuild());
    if (draft === undefined) return;
    this.drafts.push(draft);
    if (this.random() < 0.75) await this.send(this.drafts.length - 1);
  }

  private async tokenBuild(): Promise<Draft | undefined> {
    const token = this.tokens.length === 0 ? undefined : this.oneOf(this.tokens);
    if (token === undefined || this.random() < 0.1) {
      return await this.drafted("boot", "boot-token", "", undefined, (body) => this.tokens.push(body.value));
    }
    const name = `k${this.below(4)}`;
    const kinds = [
      () => this.drafted("insert", "request-insert", token, { key: name, newValue: `v${this.key++}` }),
      () => this.drafted("insert", "request-insert", token, { key: `own${this.key++}`, newValue: "v" }),
      () => this.drafted("change", "request-update", token, { key: name, oldValue: "v0", newValue: "v1" }),
      () => this.drafted("delete", "request-delete", token, { key: name, oldValue: "v0" }),
      () => this.drafted("update", "update-token", token),
      () => this.drafted("update", "update-token", token),
      ...this.requests.length === 0 ? [] : [() => this.drafted("retract", "retract-change", this.oneOf(this.requests))],
      () => this.drafted("transfer", "transfer-token", `${token}?to=${this.oneOf(this.faces).address}`),
      ...this.random() < 0.3 ? [() => this.drafted("end", "end-token", token)] : [],
    ];
    return await this.oneOf(kinds)();
  }

  private async drafted(
    what: string,
    action: string,
    subject: string,
    body?: object,
    sent?: (body: { readonly value: string }) => void,
  ): Promise<Draft | undefined> {
    const face = this.oneOf(this.faces);
    const built = await face.build(action, subject, body);
    if (built.status !== 200) return this.refused(what, built.status, built.body.code, JSON.stringify(built.body));
    const transaction = Buffer.from(built.body.unsignedTransaction, "hex").toString("base64");
    return {
      what,
      transaction,
      spends: spendsOf(transaction),
      send: async (signed) => {
        const answer = await face.submit(Buffer.from(signed, "base64").toString("hex"));
        if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
        if (action.startsWith("request-")) this.requests.push(`${answer.body.txHash}-0`);
        return answer.body.txHash;
      },
      sent: () => sent?.(built.body),
    };
  }

  private async walletBuild(): Promise<Draft | undefined> {
    const own = await this.scenario.address(this.id, this.below(4));
    const amount = lovelace(BigInt(1 + this.below(5)) * ADA);
    const bodies: readonly (readonly [string, object])[] = [
      ["pay", { payments: [{ address: this.outside.elsewhere, amount }] }],
      ["pay itself", { payments: [{ address: own, amount }] }],
      ["mint", {
        mint_burn: [{ policy_script_template: POLICY, asset_name: "6d", operation: { mint: { quantity: 5 } } }],
      }],
      ["join", { delegations: [{ join: { pool: this.outside.pool, stake_key_index: "0H" } }] }],
      ["vote", { vote: "abstain" }],
      ["quit", { delegations: [{ quit: { stake_key_index: "0H" } }] }],
      ["withdraw", { withdrawal: "self" }],
    ];
    const [what, body] = this.oneOf([...bodies.slice(0, 2), ...bodies]);
    const built = await this.client.construct(this.id, body as never).catch((error: ApiError) =>
      this.refused(what, error.status, error.code, error.message)
    );
    if (built === undefined) return undefined;
    const proxied = this.random() < 0.3;
    return {
      what: proxied ? `${what} by proxy` : what,
      transaction: built.transaction,
      spends: spendsOf(built.transaction),
      stakes: ["join", "vote", "quit"].includes(what),
      send: async (signed) =>
        (proxied ? await this.client.proxy(Buffer.from(signed, "base64")) : await this.client.submit(this.id, signed))
          .id,
    };
  }

  /** Notes a refusal; throws one that coins or the service are to blame for. */
  private refused(what: string, status: number, code: string, text: string): undefined {
    this.story.push(`${what}: ${code}`);
    if (status >= 500 || !FITTING.includes(code)) throw new Error(`${what} is refused: ${status} ${text}`);
    return undefined;
  }

  /** Signs and submits a draft; others that spend the same are dropped. */
  private async send(place: number): Promise<void> {
    const [draft] = this.drafts.splice(place, 1) as [Draft];
    const { transaction } = await this.client.sign(this.id, draft.transaction, PASSPHRASE);
    const sent = await draft.send(transaction).catch((error: Error) => {
      throw new Error(`${draft.what} is refused at submission: ${error.message}`);
    });
    draft.sent?.();
    this.story.push(`${draft.what} ${sent.slice(0, 6)}`);
    this.sent.push(sent);
    const spent = new Set(draft.spends);
    const kept = this.drafts.filter(({ spends, stakes }) =>
      !spends.some((ref) => spent.has(ref)) && !(stakes && draft.stakes)
    );
    this.drafts.splice(0, this.drafts.length, ...kept);
  }

  private async block(): Promise<void> {
    this.story.push("block");
    await this.scenario.blocks();
    this.blocks++;
    if (this.random() < 0.5) await this.read();
  }

  private async rollback(): Promise<void> {
    const depth = Math.min(this.blocks, 1 + this.below(4));
    if (depth === 0) return;
    this.story.push(`rollback ${depth}`);
    await this.read();
    await this.scenario.rollback(depth);
    this.blocks -= depth;
    if (this.random() < 0.5) await this.block();
  }

  /** Waits until the wallet has read the chain. */
  private async read(): Promise<void> {
    const { hash } = await this.scenario.tip();
    await until(
      "all blocks are read",
      async () => (await this.client.latestHeader().catch(() => undefined))?.header_hash === hash,
    );
    await this.scenario.untilReady(this.id);
  }

  /** Everything that was accepted is in the ledger within a few blocks. */
  async settle(): Promise<void> {
    await until("the mempool is empty", async () => {
      await this.scenario.blocks();
      return (await this.scenario.mempool()).length === 0;
    });
    await this.read();
    const missing: string[] = [];
    for (const hash of this.sent) {
      const { status } = await http(this.scenario.arbor.tokens, "GET", `/transaction?txHash=${hash}&wait=20000`);
      if (status !== 200) missing.push(hash);
    }
    expect(missing).toEqual([]);
    const { available, total } = (await this.client.wallet(this.id)).balance;
    expect(available).toEqual(total);
  }
}

/** Inputs and collateral of a transaction (base64). */
function spendsOf(transaction: string): readonly string[] {
  const { inputs, collateral } = scanTransaction(fromHex(Buffer.from(transaction, "base64").toString("hex")));
  return [...inputs, ...collateral].map(refKey);
}
