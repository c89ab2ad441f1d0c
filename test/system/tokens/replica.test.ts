/**
 * A subscriber rebuilds the facts of all tokens from the events alone: through random boots, requests, updates,
 * retractions, ends and rollbacks, from the start and from a saved state in the middle.
 */
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ActorEvent, FactReplica, readFactText, type SavedReplica } from "#src/client/factReplica.ts";
import { dataOf, follow } from "#src/client/sse.ts";
import { TokenClient } from "#src/client/tokens.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { EventDocument } from "../../support/docs/eventDocument.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const STEPS = Number(process.env.REPLICA_STEPS ?? 60);
const SEED = Number(process.env.REPLICA_SEED ?? 5);
const CHECK_MS = 120_000;

/** Live tokens with their state and their facts. */
type Tokens = Record<string, { owner: string; root: string; ref: string; facts: Record<string, string> }>;

/** A replica that follows the operator service's stream. */
class Subscriber {
  readonly events: ActorEvent[] = [];
  /** States of the replica, with the position after which they continue. */
  readonly saved: { readonly after: string; readonly replica: SavedReplica }[] = [];
  /** What is wrong with events by the service's AsyncAPI document. */
  private readonly faults: string[] = [];
  private readonly ended = new AbortController();
  private readonly done: Promise<void>;

  constructor(private readonly arbor: Arbor, readonly replica = new FactReplica(), after?: string) {
    const url = `${arbor.operator}/events?kind=token&from=start`;
    this.done = (async () => {
      const document = await EventDocument.of(arbor.operator);
      for await (const item of follow(url, { signal: this.ended.signal, after })) {
        if (item.type !== "event") continue;
        expect(item.event.event).toBe("transition");
        const event = dataOf<ActorEvent>(item);
        this.faults.push(...document.faults(event));
        this.events.push(event);
        this.replica.apply(event);
        if (this.events.length % 10 === 0) {
          this.saved.push({ after: item.event.id, replica: JSON.parse(JSON.stringify(this.replica)) });
        }
      }
    })();
  }

  /** The replica's live tokens, their texts by reference read from the service. */
  async tokens(): Promise<Tokens> {
    const found: Tokens = {};
    for (const id of this.replica.tokens()) {
      const { owner, root, ref } = this.replica.token(id)!;
      const facts: [string, string][] = [];
      for (const { key, value } of this.replica.facts(id) ?? []) {
        const text = await readFactText(this.arbor.tokens, key, "key");
        facts.push([text, await readFactText(this.arbor.tokens, value, "value")]);
      }
      expect([id, this.replica.verify(id)]).toEqual([id, true]);
      found[id] = { owner: owner!, root: root!, ref: ref!.replace("#", "-"), facts: Object.fromEntries(facts) };
    }
    return found;
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.done;
    expect(this.faults).toEqual([]);
  }
}

describe("a subscriber's replica", () => {
  let infra: Infra;
  let arbor: Arbor;
  let client: TokenClient;
  const users = [new User("base"), new User("enterprise"), new User("base")] as const;
  const random = seeded(SEED);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const tokens = new Map<string, User>();
  const counts: Record<string, number> = {};

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    client = new TokenClient(arbor.tokens);
    for (const user of users) await fund(arbor.devnet, arbor.tokens, user, 5_000_000_000);
  }, 300_000);
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  const serviceTokens = async (): Promise<Tokens> => {
    const found: Tokens = {};
    for (const { tokenId } of (await client.tokens()).tokens) {
      const { owner, root, outputRefId } = await client.token(tokenId);
      found[tokenId] = { owner, root, ref: outputRefId, facts: await client.facts(tokenId) };
    }
    return found;
  };
  /** Waits until the replica has what the service answers, before and after the replica was read. */
  const expectSame = async (subscriber: Subscriber) => {
    let last: unknown[] = [];
    const same = async () => {
      try {
        const before = await serviceTokens();
        const replicated = await subscriber.tokens();
        last = [replicated, before];
        const text = (tokens: Tokens) =>
          JSON.stringify(
            Object.entries(tokens).sort().map(([id, { facts, ...rest }]) => [id, rest, Object.entries(facts).sort()]),
          );
        const [left, right] = [text(before), text(await serviceTokens())];
        return left === right && left === text(replicated) ? replicated : undefined;
      } catch (error) {
        last = [String(error)];
        return undefined;
      }
    };
    const found = await until("the service's facts in the replica", same, CHECK_MS, 200).catch(() => undefined);
    expect(found ?? last[0]).toEqual(last[1]);
    counts.facts = Math.max(counts.facts ?? 0, ...Object.values(found!).map(({ facts }) => Object.keys(facts).length));
  };

  /** Waits until both have applied the same events. */
  const expectEqual = async (a: Subscriber, b: Subscriber) => {
    const equal = async () => JSON.stringify(a.replica) === JSON.stringify(b.replica);
    await until("equal replicas", equal, CHECK_MS).catch(() => undefined);
    expect(a.replica.toJSON()).toEqual(b.replica.toJSON());
  };

  /** Signs and submits what the service builds; false where it refuses, as after a rollback. */
  const carry = async (name: string, user: User, method: string, path: string, body?: unknown, wait = true) => {
    const built = await http(arbor.tokens, method, path, body);
    if (built.status !== 200) return undefined;
    const signed = user.sign(built.body.unsignedTransaction);
    if (wait) await land(arbor.tokens, signed);
    else if ((await http(arbor.tokens, "POST", "/transaction", { signedTransaction: signed })).status !== 200) {
      return undefined;
    }
    counts[name] = (counts[name] ?? 0) + 1;
    return built.body;
  };
  const boot = async (user: User) => {
    const built = await carry("boots", user, "GET", `/transaction/${user.address}/boot-token`);
    if (built) tokens.set(built.value, user);
    return built?.value as string;
  };
  const request = async (id: string, type: string, body: object, wait: boolean) => {
    const user = pick(users);
    await carry(type, user, "POST", `/transaction/${user.address}/request-${type}/${id}`, body, wait);
  };
  const update = async (id: string) => {
    const owner = tokens.get(id)!;
    await carry("updates", owner, "GET", `/transaction/${owner.address}/update-token/${id}`);
  };
  const retract = async (id: string) => {
    const one = pick((await client.token(id)).requests);
    const user = users.find(({ keyHash }) => keyHash === one?.owner);
    if (!one || !user) return;
    await carry("retractions", user, "GET", `/transaction/${user.address}/retract-change/${one.outputRefId}`);
  };
  const end = async (id: string) => {
    const owner = tokens.get(id)!;
    await carry("ends", owner, "GET", `/transaction/${owner.address}/end-token/${id}`);
  };
  const rollback = async (blocks: number) => {
    const { status } = await http(arbor.devnet, "POST", "/rollback", { blocks });
    if (status === 200) counts.rollbacks = (counts.rollbacks ?? 0) + 1;
  };
  const value = () =>
    pick(["v", "é", "\udcff", "\u0000"]).padEnd(pick([1, 8, 1_500, 3_000]), pick(["a", "b"])) +
    Math.floor(random() * 1_000);

  it("has the facts that the service answers", async () => {
    const live = new Subscriber(arbor);
    const first = await boot(users[0]);
    // more than one event holds
    for (let i = 0; i < 6; i++) await request(first, "insert", { key: `part ${i}`, value: "x".repeat(1_500) }, true);
    await update(first);
    await expectSame(live);
    // every operation once, in any run
    await request(first, "insert", { key: "k".repeat(2_500), value: "é".repeat(1_500) }, true);
    await request(first, "insert", { key: "\udc80", value: "\u0000" }, true);
    await request(first, "update", { key: "part 0", oldValue: "x".repeat(1_500), newValue: "y" }, true);
    await request(first, "delete", { key: "part 1", value: "x".repeat(1_500) }, true);
    await update(first);
    await request(first, "insert", { key: "retracted", value: "1" }, true);
    await retract(first);
    await end(await boot(users[1]));
    await rollback(3);
    await expectSame(live);

    const step = async () => {
      const roll = random();
      const id = pick([...tokens.keys()]);
      if (tokens.size < 2 || roll < 0.04) return void await boot(pick(users));
      const { [id]: now } = await serviceTokens();
      if (!now) return void tokens.delete(id);
      if (roll < 0.55) {
        const known = Object.keys(now.facts);
        const type = known.length === 0 ? "insert" : pick(["insert", "insert", "update", "delete"]);
        const key = type === "insert" ? pick(["a", "b", "", "\udc80", "k".repeat(2_500), `n${random()}`]) : pick(known);
        const oldValue = now.facts[key];
        const body = type === "insert"
          ? { key, value: value() }
          : { key, oldValue, ...(type === "update" ? { newValue: value() } : {}) };
        return await request(id, type, body, random() < 0.7);
      }
      if (roll < 0.75) return await update(id);
      if (roll < 0.85) return await retract(id);
      if (roll < 0.88) return await end(id);
      await rollback(1 + Math.floor(random() * 6));
    };
    for (let i = 1; i <= STEPS; i++) {
      // a rollback between a build and its submission makes a transaction invalid
      await step().catch((error) => {
        if (!/refused|rolled_back|token_ended|token_unknown/.test(`${error} ${error.code}`)) throw error;
      });
      if (i % 15 === 0) await expectSame(live);
    }
    await expectSame(live);
    for (const name of ["boots", "insert", "update", "delete", "updates", "retractions", "ends", "rollbacks"]) {
      expect([name, counts[name] ?? 0]).toEqual([name, expect.toSatisfy((count: number) => count > 0)]);
    }
    expect(counts.facts).toBeGreaterThan(5);
    const types = new Set(live.events.map(({ type }) => type.slice("arbor.token.".length)));
    expect([...types].sort()).toEqual(
      ["applied", "booted", "ended", "requested", "retracted", "rolled-back", "updated"],
    );
    const references = live.events.filter(({ data }) => /"digest":/.test(JSON.stringify(data.content)));
    expect(references.length).toBeGreaterThan(0);

    const fromStart = new Subscriber(arbor);
    await expectSame(fromStart);
    await expectEqual(fromStart, live);
    await fromStart.stop();

    const middle = Math.floor(live.saved.length / 2);
    const { replica } = live.saved[middle]!;
    // the position is older than the state: events arrive again
    const { after } = live.saved[Math.max(0, middle - 1)]!;
    const resumed = new Subscriber(arbor, FactReplica.from(replica), after);
    await expectSame(resumed);
    await expectEqual(resumed, live);
    expect(resumed.events.length).toBeLessThan(live.events.length);
    await resumed.stop();
    await live.stop();
  }, 600_000);
});
