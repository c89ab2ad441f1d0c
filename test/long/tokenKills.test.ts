/**
 * Processes killed at every step: submissions are answered, included and published once; the index and the actors are
 * exact afterwards.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { fund, http, land, User } from "../support/service/user.ts";
import { until } from "../support/base/until.ts";

const LEASE = { ARBOR_LEASE_MS: "1500" };
const STEPS = ["before-commit", "after-commit", "before-effect", "after-effect", "before-reply", "before-publish"];

describe("kill -9", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let front: Arbor;
  let steady: Arbor;
  const users = Array.from({ length: 6 }, () => new User());
  const faulty = "test/support/service/faultyProcess.ts";

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    front = await Arbor.start({ infra, roles: "edge,devnet", env: LEASE });
    await Arbor.start({ infra, ownProcess: true, roles: "follower", env: LEASE }).then((one) => followers.push(one));
    steady = await Arbor.start({ infra, roles: "worker", env: LEASE });
    await Promise.all(users.map((user) => fund(front.devnet, front.tokens, user)));
  });
  const followers: Arbor[] = [];
  afterAll(async () => {
    for (const one of [...followers, steady, front]) await one?.end();
    await store?.close();
    await infra?.stop();
  });

  const boot = async (user: User) => {
    const built = await http(front.tokens, "GET", `/transaction/${user.address}/boot-token`);
    expect([built.status, built.body]).toEqual([200, expect.anything()]);
    const signed = user.sign(built.body.unsignedTransaction);
    const sent = await http(front.tokens, "POST", "/transaction", { signedTransaction: signed });
    expect([sent.status, sent.body]).toEqual([200, { txHash: expect.any(String) }]);
    return { hash: sent.body.txHash as string, token: built.body.value as string };
  };

  /** Every transition of an entity: versions 1, 2, 3, … each once. */
  const versions = async (id: string) => {
    const rows = await store.sql<{ version: bigint }[]>`select version from outbox where id = ${id} order by version`;
    return rows.map((row) => Number(row.version));
  };
  const counted = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  it.each(STEPS)("a worker %s: nothing is lost, duplicated or answered wrongly", async (step) => {
    const victim = await Arbor.start({
      infra,
      roles: "worker",
      entry: faulty,
      env: { ...LEASE, ARBOR_FAULT: `worker:${step}:transaction:2` },
    });
    try {
      // the victim has its share of the partitions
      await until("a share for the victim", async () => {
        const [row] = await store.sql<{ owners: number }[]>`select count(distinct owner)::int as owners from partition`;
        return row!.owners === 2;
      });
      const sent: { hash: string; token: string }[] = [];
      for (let round = 0; victim.child.signalCode === null && round < 6; round++) {
        sent.push(...await Promise.all(users.map(boot)));
      }
      expect(victim.child.signalCode).toBe("SIGKILL");
      for (const { hash, token } of sent) {
        await until(
          `transaction ${hash}`,
          async () => (await http(front.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
        );
        await until(`token ${token}`, async () => (await http(front.tokens, "GET", `/token/${token}`)).status === 200);
        const transitions = await until("its transitions", async () => {
          const seen = await versions(hash);
          const [actor] = await store.sql<{ state: string }[]>`
            select snapshot->>'value' as state from actor where kind = 'transaction' and id = ${hash}`;
          return actor?.state === "in_ledger" ? seen : undefined;
        });
        expect(transitions).toEqual(counted(transitions.length));
      }
      console.log(`${step}: ${sent.length} submissions, one worker killed, all landed once`);
    } finally {
      await victim.end("SIGKILL");
    }
  });

  it("a worker that was paused cannot write when it continues", async () => {
    const sleeper = await Arbor.start({ infra, ownProcess: true, roles: "worker", env: LEASE });
    try {
      await until("a share for the sleeper", async () => {
        const [row] = await store.sql<{ owners: number }[]>`select count(distinct owner)::int as owners from partition`;
        return row!.owners === 2;
      });
      sleeper.signal("SIGSTOP");
      const sent = await Promise.all(users.map(boot));
      sleeper.signal("SIGCONT");
      sent.push(...await Promise.all(users.map(boot)));
      for (const { hash } of sent) {
        await until(
          `transaction ${hash}`,
          async () => (await http(front.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
        );
        const seen = await versions(hash);
        expect(seen).toEqual(counted(seen.length));
      }
    } finally {
      sleeper.signal("SIGCONT");
      await sleeper.end();
    }
  });

  it("a follower at every line of a block: another one continues, exactly", async () => {
    for (const step of ["scanned", "folded", "before-commit", "after-commit"]) {
      const next = await Arbor.start({
        infra,
        roles: "follower",
        entry: faulty,
        env: { ...LEASE, ARBOR_FAULT: `follower:${step}::3` },
      });
      // the active one stops, so that the faulty one takes over and dies in its turn
      await followers.pop()!.end("SIGKILL");
      const spare = await Arbor.start({ infra, ownProcess: true, roles: "follower", env: LEASE });
      followers.push(spare);
      const sent = await Promise.all(users.slice(0, 2).map(boot));
      for (const { hash, token } of sent) {
        await until(
          `transaction ${hash}`,
          async () => (await http(front.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
        );
        await until(`token ${token}`, async () => (await http(front.tokens, "GET", `/token/${token}`)).status === 200);
      }
      await next.end("SIGKILL");
    }
    const [doubled] = await store.sql<{ n: number }[]>`
      select count(*)::int as n from (select token from token_state where to_slot is null group by token having count(*) > 1) d`;
    expect(doubled!.n).toBe(0);
    const unread = async () =>
      (await store.sql<{ n: number }[]>`select count(*)::int as n from input_log where not read`)[0]!.n === 0;
    await until("every entry of the log is read", unread);
  });

  it("a forced rollback returns transactions to pending, and they are included again", async () => {
    const { hash, token } = await boot(users[0]!);
    await until("the token", async () => (await http(front.tokens, "GET", `/token/${token}`)).status === 200);
    const [included] = await store.sql<{ height: number }[]>`
      select (body->>'height')::int as height from outbox where id = ${hash} and type = 'IN_LEDGER'`;
    const tip = (await http(front.devnet, "GET", "/tip")).body.height as number;
    // Further blocks may be made before the rollback.
    const rolled = await http(front.devnet, "POST", "/rollback", { blocks: tip - included!.height + 5 });
    expect(rolled.status).toBe(200);
    await until("the transaction lands again", async () => {
      const [row] = await store.sql<{ n: number }[]>`
        select count(*)::int as n from outbox where id = ${hash} and type = 'ROLLED_BACK'`;
      return row!.n > 0 && (await http(front.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200;
    });
    await until("the token again", async () => (await http(front.tokens, "GET", `/token/${token}`)).status === 200);
    await land(
      front.tokens,
      users[0]!.sign(
        (await http(front.tokens, "GET", `/transaction/${users[0]!.address}/end-token/${token}`)).body
          .unsignedTransaction,
      ),
    );
  });
});
