/**
 * Random operations of several users compared with a plain model, with rollbacks, kills and restarts in between: facts,
 * requests, roots and balances are those of the model. The model of balances is a UTxO set that the test computes from
 * the signed transactions.
 */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { Arbor } from "../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { seeded } from "../support/base/seededRandom.ts";
import { type Answer, http, User } from "../support/service/user.ts";
import { until } from "../support/base/until.ts";

const STEPS = Number(process.env.MODEL_STEPS ?? 45);
const SEED = Number(process.env.MODEL_SEED ?? 11);

interface Request {
  readonly ref: string;
  readonly user: User;
  readonly type: "insert" | "update" | "delete";
  readonly key: string;
  readonly old: string;
  readonly value: string;
}

interface Token {
  readonly id: string;
  readonly owner: User;
  readonly facts: Map<string, string>;
  readonly requests: Map<string, Request>;
}

/** Applies a request to facts; false if it cannot be applied. */
function apply(facts: Map<string, string>, { type, key, old, value }: Request): boolean {
  if (type === "insert" ? facts.has(key) : facts.get(key) !== old) return false;
  if (type === "delete") facts.delete(key);
  else facts.set(key, value);
  return true;
}

const refOrder = (a: string, b: string) =>
  a.slice(0, 64) < b.slice(0, 64)
    ? -1
    : a.slice(0, 64) > b.slice(0, 64)
    ? 1
    : Number(a.slice(65)) - Number(b.slice(65));

describe("random operations", () => {
  let infra: Infra;
  const random = seeded(SEED);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const processes = new Map<string, Arbor>();
  const PORTS = {
    ARBOR_TOKEN_PORT: "0",
    ARBOR_WALLET_PORT: "0",
    ARBOR_DEVNET_PORT: "0",
    ARBOR_INDEXER_PORT: "0",
    ARBOR_NODE_PORT: "0",
  };
  const env = { ARBOR_LEASE_MS: "1500" };
  const roles: Record<string, string> = {
    front: "edge,devnet",
    one: "worker",
    two: "worker",
    reader: "follower",
  };
  const start = async (name: string, ports: Record<string, string> = {}) => {
    processes.set(
      name,
      await Arbor.start({ infra, ownProcess: true, roles: roles[name]!, env: { ...env, ...PORTS, ...ports } }),
    );
  };
  let tokensUrl: string;
  let devnetUrl: string;

  beforeAll(async () => {
    infra = await sharedInfra();
    await start("front");
    for (const name of ["one", "two", "reader"]) await start(name);
    ({ tokens: tokensUrl, devnet: devnetUrl } = processes.get("front")!);
  });
  afterAll(async () => {
    for (const one of processes.values()) await one.end();
    await infra?.stop();
  });

  /** Repeats a request until the answer is neither a 503 nor a broken connection. */
  const ask = (base: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    until(`an answer of ${path}`, async () => {
      try {
        const answer = await http(base, method, path, body);
        return answer.status === 503 ? undefined : answer;
      } catch {
        return undefined;
      }
    }, 60_000);

  it("have the results of a plain model", async () => {
    const users = [new User("base"), new User("enterprise"), new User("base")];
    const tokens: Token[] = [];
    const utxos = new Map<string, { address: string; lovelace: bigint }>();
    const landed: string[] = [];
    let funded = 0n;
    let fees = 0n;
    const counts: Record<string, number> = {};

    /** The effect of a transaction on the model's UTxO set. */
    const follow = (signed: string): string => {
      const transaction = CSL.FixedTransaction.from_hex(signed);
      const hash = transaction.transaction_hash().to_hex();
      const body = transaction.body();
      for (let i = 0; i < body.inputs().len(); i++) {
        const input = body.inputs().get(i);
        utxos.delete(`${input.transaction_id().to_hex()}#${input.index()}`);
      }
      for (let i = 0; i < body.outputs().len(); i++) {
        const output = body.outputs().get(i);
        const lovelace = BigInt(output.amount().coin().to_str());
        utxos.set(`${hash}#${i}`, { address: output.address().to_bech32(), lovelace });
      }
      fees += BigInt(body.fee().to_str());
      landed.push(hash);
      return hash;
    };
    /**
     * Whether the index has not yet applied again what a rollback returned to the mempool: requests are missing or
     * pending there.
     */
    const isBehindRollback = ({ body }: Answer): boolean =>
      (body.details?.requests as { code: string }[] | undefined)
        ?.some(({ code }) => code === "request_unknown" || code === "request_pending") ?? false;
    const inLedger = (hash: string) =>
      until(
        `transaction ${hash}`,
        async () => (await ask(tokensUrl, "GET", `/transaction?txHash=${hash}`)).status === 200,
        60_000,
      );

    /**
     * Builds, signs and submits, whatever process dies in the meantime; a build that raced with a rollback is made
     * again.
     */
    const carry = async (user: User, method: string, path: string, body: unknown, wait: boolean) => {
      for (let attempt = 0;; attempt++) {
        const built = await ask(tokensUrl, method, path, body);
        if (built.status === 409 && isBehindRollback(built) && attempt < 100) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          continue;
        }
        if (built.status !== 200) return built;
        const signed = user.sign(built.body.unsignedTransaction);
        const sent = await ask(tokensUrl, "POST", "/transaction", { signedTransaction: signed });
        if (sent.status === 422 && attempt < 20) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          continue;
        }
        expect([path, sent.status, sent.body]).toEqual([path, 200, { txHash: expect.any(String) }]);
        const hash = follow(signed);
        if (wait) await inLedger(hash);
        return { ...built, hash };
      }
    };

    for (const user of users) {
      const paid = await ask(devnetUrl, "POST", "/faucet", { address: user.address, lovelace: 2_000_000_000 });
      expect(paid.status).toBe(200);
      await inLedger(paid.body.txHash);
      const { body } = await ask(devnetUrl, "GET", `/utxos/${user.address}`);
      for (const one of body.utxos) {
        utxos.set(`${one.txHash}#${one.index}`, { address: user.address, lovelace: BigInt(one.lovelace) });
        funded += BigInt(one.lovelace);
      }
    }

    const disturb = async () => {
      const roll = random();
      if (roll < 0.04) {
        counts.rollbacks = (counts.rollbacks ?? 0) + 1;
        await ask(devnetUrl, "POST", "/rollback", { blocks: 1 + Math.floor(random() * 5) });
      } else if (roll < 0.09) {
        const name = pick(["one", "two", "reader"]);
        counts.kills = (counts.kills ?? 0) + 1;
        await processes.get(name)!.end("SIGKILL");
        await start(name);
      } else if (roll < 0.12) {
        counts.restarts = (counts.restarts ?? 0) + 1;
        const port = (url: string) => new URL(url).port;
        await processes.get("front")!.end("SIGKILL");
        await start("front", { ARBOR_TOKEN_PORT: port(tokensUrl), ARBOR_DEVNET_PORT: port(devnetUrl) });
      }
    };

    const step = async () => {
      const roll = random();
      const user = pick(users);
      if (tokens.length < 2 || roll < 0.03) {
        const built = await carry(user, "GET", `/transaction/${user.address}/boot-token`, undefined, true);
        tokens.push({ id: built.body.value, owner: user, facts: new Map(), requests: new Map() });
        return "boot";
      }
      const token = pick(tokens);
      if (roll < 0.55) {
        const type = pick(["insert", "insert", "update", "delete"] as const);
        const key = pick(["a", "b", "c", "dead", "", "Ω"]);
        const old = random() < 0.8 ? token.facts.get(key) ?? "?" : "other";
        const value = `v${Math.floor(random() * 1000)}`;
        const body = type === "insert"
          ? { key, value }
          : type === "delete"
          ? { key, oldValue: old }
          : { key, oldValue: old, newValue: value };
        const path = `/transaction/${user.address}/request-${type}/${token.id}`;
        const built = await carry(user, "POST", path, body, random() < 0.5) as Answer & { hash: string };
        expect(built.status).toBe(200);
        const ref = `${built.hash}-0`;
        token.requests.set(ref, { ref, user, type, key, old, value });
        return "request";
      }
      // the next steps need the requests in the ledger, also those that a rollback has just returned to the mempool
      for (const hash of landed.slice(-40)) await inLedger(hash);
      if (roll < 0.85) {
        const open = [...token.requests.values()].filter(() => random() < 0.8).sort((a, b) => refOrder(a.ref, b.ref));
        // mostly applicable ones, occasionally others
        const trial = new Map(token.facts);
        const chosen = open.filter((request) => apply(trial, request) || random() < 0.04);
        const facts = new Map(token.facts);
        const bad = chosen.filter((request) => !apply(facts, request)).map((request) => request.ref);
        if (chosen.length === 0) return "nothing";
        const query = chosen.map((request) => `request=${request.ref}`).join("&");
        const path = `/transaction/${token.owner.address}/update-token/${token.id}?${query}`;
        const built = await carry(token.owner, "GET", path, undefined, true);
        if (bad.length > 0) {
          expect([built.status, built.body.details?.requests?.map((one: { request: string }) => one.request)]).toEqual([
            409,
            bad,
          ]);
          return "refused update";
        }
        expect([built.status, built.body.code]).toEqual([200, undefined]);
        for (const request of chosen) token.requests.delete(request.ref);
        token.facts.clear();
        for (const [key, value] of facts) token.facts.set(key, value);
        return "update";
      }
      if (roll < 0.97) {
        const request = pick([...token.requests.values()]);
        if (!request) return "nothing";
        const path = `/transaction/${request.user.address}/retract-change/${request.ref}`;
        expect((await carry(request.user, "GET", path, undefined, random() < 0.5)).status).toBe(200);
        token.requests.delete(request.ref);
        return "retract";
      }
      expect(
        (await carry(token.owner, "GET", `/transaction/${token.owner.address}/end-token/${token.id}`, undefined, true))
          .status,
      ).toBe(200);
      tokens.splice(tokens.indexOf(token), 1);
      return "end";
    };

    for (let i = 0; i < STEPS; i++) {
      await disturb();
      const done = await step();
      counts[done] = (counts[done] ?? 0) + 1;
    }
    console.log(`model run with seed ${SEED}: ${JSON.stringify(counts)}`);

    for (const hash of landed) await inLedger(hash);
    for (const token of tokens) {
      const trie = Forestry.from([...token.facts].map(([key, value]) => leafOf(utf8(key), utf8(value))));
      await until("the token's state", async () => {
        const { body } = await ask(tokensUrl, "GET", `/token/${token.id}`);
        return body.root === toHex(trie.root) && body.requests.length === token.requests.size;
      });
      const { body } = await ask(tokensUrl, "GET", `/token/${token.id}`);
      expect(body.root).toBe(toHex(trie.root));
      expect(body.requests.map((one: { outputRefId: string }) => one.outputRefId)).toEqual(
        [...token.requests.keys()].sort(refOrder),
      );
      expect((await ask(tokensUrl, "GET", `/token/${token.id}/facts`)).body).toEqual(Object.fromEntries(token.facts));
    }
    for (const user of users) {
      const { body } = await ask(devnetUrl, "GET", `/utxos/${user.address}`);
      const mine = [...utxos].filter(([, utxo]) => utxo.address === user.address);
      expect(body.utxos.map((one: { txHash: string; index: number }) => `${one.txHash}#${one.index}`).sort()).toEqual(
        mine.map(([ref]) => ref).sort(),
      );
    }
    const left = [...utxos.values()].reduce((sum, utxo) => sum + utxo.lovelace, 0n);
    expect(left + fees).toBe(funded);
  }, 600_000);
});
