/** CREATE and a DELETE that is not done yet. */
import { expect, test } from "vitest";
import { fail, ok } from "#src/base/result.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { create } from "#src/edge/wallets/creation.ts";

const entity = { kind: "wallet", id: "a1".repeat(20) };
const refused = fail("not_possible", "The wallet is being deleted.");

/** Asks an actor that says no so many times. */
function asking(times: number, isThere: boolean, longestMs?: number, failure: ReturnType<typeof fail> = refused) {
  let asked = 0;
  const ask = () => Promise.resolve(asked++ < times ? failure : ok({ id: entity.id }));
  const created = create({ ask }, entity, { type: "CREATE" }, () => Promise.resolve(isThere), longestMs);
  return { created, asked: () => asked };
}

test("a wallet that is going is waited for, one that is there is not", async () => {
  const going = asking(3, false);
  expect(await going.created).toEqual(ok({ id: entity.id }));
  expect(going.asked()).toBe(4);
  const there = asking(3, true);
  expect(await there.created).toBe(refused);
  expect(there.asked()).toBe(1);
  const other = fail("overloaded", "Too many commands.");
  expect(await asking(3, false, undefined, other).created).toBe(other);
});

test("one that does not go in time is no reason to say that it is there", async () => {
  const error = await asking(1_000_000, false, 250).created.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(HttpFailure);
  expect(error).toMatchObject({ status: 503, code: "unavailable" });
});
