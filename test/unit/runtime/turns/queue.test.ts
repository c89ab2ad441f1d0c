import { expect, test } from "vitest";
import { fail } from "#src/base/result.ts";
import type { TurnRows } from "#src/runtime/turns/fold.ts";
import { type CommandAnswer, type MailboxEntry, MailboxQueue } from "#src/runtime/turns/queue.ts";

const paused = fail("paused", "This account is paused.");

function command(id: string, deadline = Infinity): { entry: MailboxEntry; answers: CommandAnswer[] } {
  const answers: CommandAnswer[] = [];
  const callers = [{ until: Infinity, respond: (answer: CommandAnswer) => void answers.push(answer) }];
  return { entry: { item: { from: "command", id, event: { type: "ADD" } }, deadline, callers }, answers };
}

test("a command that may have been applied is not reported as not applied", () => {
  const waiting = new MailboxQueue({ waiting: 0 });
  const [late, stopped, untried] = [command("late", Date.now() - 1), command("stopped"), command("untried")];
  waiting.putBack([late.entry, stopped.entry], true);
  waiting.push(untried.entry);
  expect(waiting.take(1)).toEqual([stopped.entry]);
  waiting.putBack([stopped.entry]);
  waiting.clear(paused);
  expect(late.answers).toMatchObject([{
    error: { code: "unavailable", message: expect.stringMatching(/may have been/) },
  }]);
  expect(stopped.answers).toMatchObject([{ error: { code: "unavailable" } }]);
  expect(untried.answers).toEqual([paused]);
});

test("a pause does not report a command whose reply is open as refused", () => {
  const waiting = new MailboxQueue({ waiting: 0 });
  const open = command("open");
  waiting.push(open.entry);
  waiting.reply(
    waiting.take(1),
    { results: new Map([["open", undefined]]), answers: new Map() } as unknown as TurnRows,
  );
  waiting.clear(paused);
  expect(open.answers).toMatchObject([{ error: { code: "unavailable" } }]);
});

test("a caller of an open command asks again when the turn that answers it may have been written", () => {
  const waiting = new MailboxQueue({ waiting: 0 });
  const [open, other] = [command("open"), command("other")];
  for (const { entry } of [open, other]) waiting.push(entry);
  waiting.reply(
    waiting.take(2),
    { results: new Map([["open", undefined], ["other", undefined]]), answers: new Map() } as unknown as TurnRows,
  );
  waiting.askAgain(["open", "unknown"]);
  expect([open.answers, other.answers]).toEqual([["not_owner"], []]);
  // The next one with this id is a new entry, which finds the stored result.
  expect(waiting.join("open", open.entry.callers[0]!, Infinity)).toBe(false);
});
