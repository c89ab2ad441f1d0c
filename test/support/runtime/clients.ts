/**
 * Closed-loop clients that record their answers, and the check afterwards: every acknowledged command was applied
 * exactly once, and every other one at most once.
 */
import { expect } from "vitest";
import { sleep } from "#src/base/clock.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { Store } from "#src/store/store.ts";

interface Command {
  readonly id: string;
  readonly account: string;
}

/** Commands of clients and their answers. */
export interface Clients {
  /** The balance and the command count of each answer, by command. */
  readonly answers: ReadonlyMap<Command, { readonly balance: number; readonly adds: number }>;
  /** Commands without an answer in time. */
  readonly open: readonly Command[];
  /** The longest time in milliseconds without an acknowledgement of any command. */
  readonly gapMs: () => number;
  /** Longest wait for an answer, in milliseconds. */
  readonly worstMs: () => number;
  /** Waits until requests in flight have ended. */
  stop(): Promise<void>;
}

export interface ClientOptions {
  /** Prefix of the ids of accounts and commands. */
  readonly prefix: string;
  readonly clients: number;
  readonly entities: number;
  /** Milliseconds between an answer and the client's next request. */
  readonly pauseMs: number;
  /** How long a client waits for an answer, in milliseconds; then it continues with another command. */
  readonly deadlineMs: number;
}

/** Runs clients that add 1 to accounts, each one command after the other. */
export function startClients({ ask }: Ask, options: ClientOptions): Clients {
  const { prefix, entities, pauseMs, deadlineMs } = options;
  const answers = new Map<Command, { balance: number; adds: number }>();
  const open: Command[] = [];
  const wrong: unknown[] = [];
  let over = false;
  let number = 0;
  let worstMs = 0;
  let gapMs = 0;
  let lastAt = performance.now();
  const running = Array.from({ length: options.clients }, async () => {
    while (!over) {
      const n = number++;
      const command = { id: `${prefix}-${n}`, account: `${prefix}${(n * 7_919) % entities}` };
      const startedAt = performance.now();
      const answer = await ask({ kind: "account", id: command.account }, { type: "ADD", amount: 1 }, {
        commandId: command.id,
        deadlineMs,
      });
      if (answer.ok) {
        answers.set(command, answer.value as { balance: number; adds: number });
        gapMs = Math.max(gapMs, performance.now() - lastAt);
        lastAt = performance.now();
      } else {
        open.push(command);
        if (answer.error.code !== "unavailable") wrong.push(answer.error);
      }
      worstMs = Math.max(worstMs, performance.now() - startedAt);
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  });
  return {
    answers: answers,
    open,
    gapMs: () => Math.round(gapMs),
    worstMs: () => Math.round(worstMs),
    stop: async () => {
      over = true;
      await Promise.all(running);
      expect(wrong).toEqual([]);
    },
  };
}

/** Result of the check. */
export interface Counts {
  readonly acknowledged: number;
  /** Commands without an answer in time, and how many of them turned out to be applied when they were sent again. */
  readonly unanswered: number;
  readonly appliedUnanswered: number;
  readonly applied: number;
}

/**
 * Sends every open command again, and some of the others, until each has its one answer; then compares the answers with
 * each other and with the rows: the accounts, their histories, their own table and the results.
 */
export async function expectExactlyOnce(store: Store, { ask }: Ask, clients: Clients, prefix: string): Promise<Counts> {
  const again = async ({ id, account }: Command) => {
    const answer = await ask({ kind: "account", id: account }, { type: "ADD", amount: 1 }, {
      commandId: id,
      deadlineMs: 20_000,
    });
    if (!answer.ok) throw new Error(`${id}: ${answer.error.message}`);
    return answer.value as { balance: number; adds: number };
  };
  const results = async (ids: readonly string[]) => {
    const [row] = await store.sql<{ n: bigint }[]>`
      select count(*) as n from command_result where command = any(${ids as string[]}) and result is not null`;
    return Number(row!.n);
  };
  const appliedUnanswered = await results(clients.open.map(({ id }) => id));
  const answers = new Map(clients.answers);
  for (
    const [command, answer] of await Promise.all(clients.open.map(async (one) => [one, await again(one)] as const))
  ) {
    answers.set(command, answer);
  }
  const some = [...clients.answers.keys()].filter((_, i) => i % 37 === 0);
  for (const command of [...clients.open, ...some]) expect(await again(command)).toEqual(answers.get(command));

  // Each account counted 1, 2, 3 … n, and gave each number as the answer to one command.
  const numbers = new Map<string, number[]>();
  for (const [{ account }, { balance, adds }] of answers) {
    expect(balance).toBe(adds);
    numbers.set(account, [...numbers.get(account) ?? [], adds]);
  }
  for (const each of numbers.values()) {
    expect(each.sort((a, b) => a - b)).toEqual(Array.from({ length: each.length }, (_, i) => i + 1));
  }
  const rows = await store.sql<
    { id: string; adds: number; version: number; own: number; rows: number; last: number }[]
  >`
    select a.id, (a.snapshot->'context'->>'adds')::int as adds, a.version::int as version, b.balance::int as own,
      o.rows, o.last
    from actor a left join test_balance b on b.account = a.id
      left join (select id, count(*)::int as rows, max(version)::int as last from outbox group by id) o on o.id = a.id
    where a.kind = 'account' and a.id ~ ${`^${prefix}[0-9]+$`}`;
  expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(
    new Map([...numbers].map(([id, { length: n }]) => [id, { adds: n, version: n, own: n, rows: n, last: n }])),
  );
  expect(await results([...answers.keys()].map(({ id }) => id))).toBe(answers.size);
  return {
    acknowledged: clients.answers.size,
    unanswered: clients.open.length,
    appliedUnanswered,
    applied: answers.size,
  };
}
