/** Which of several servers is the primary, by what they say; `test/long/postgresReplica.test.ts` has real ones. */
import { afterEach, describe, expect, test } from "vitest";
import { type PrimaryWatch, type ServerState, watchPrimary } from "#src/store/primary.ts";

const [ONE, TWO] = ["postgres://one/db", "postgres://two/db"];
const standby: ServerState = { writable: false, timeline: undefined };
const primary = (timeline: number): ServerState => ({ writable: true, timeline: String(timeline).padStart(8, "0") });

describe("the primary", () => {
  let states: Record<string, ServerState | undefined>;
  let watch: PrimaryWatch;
  const moves: string[] = [];
  const begin = (one: ServerState | undefined, two: ServerState | undefined) => {
    states = { [ONE]: one, [TWO]: two };
    moves.length = 0;
    watch = watchPrimary([ONE, TWO], (url) => ({
      ask: async () => {
        const state = states[url];
        if (state === undefined) throw new Error("away");
        return state;
      },
      end: async () => {},
    }), 500);
    watch.onMoved((url) => moves.push(url));
  };
  const later = async (one: ServerState | undefined, two: ServerState | undefined) => {
    states = { [ONE]: one, [TWO]: two };
    watch.doubt();
    return await watch.find();
  };
  afterEach(() => watch.stop());

  test("is the one that takes writes, wherever it is named", async () => {
    begin(standby, primary(1));
    expect(await watch.find()).toBe(TWO);
  });

  test("is the one on the latest timeline", async () => {
    begin(primary(9), primary(10));
    expect(await watch.find()).toBe(TWO);
  });

  test("moves with a promotion, and not back to a server that returns on the timeline before", async () => {
    begin(primary(1), standby);
    expect(await watch.find()).toBe(ONE);
    expect(await later(undefined, primary(2))).toBe(TWO);
    expect(await later(primary(1), primary(2))).toBe(TWO);
    expect(moves).toEqual([TWO]);
    await expect(later(primary(1), undefined)).rejects.toMatchObject({
      code: "CONNECT_TIMEOUT",
      message: "no server of the database takes writes (one: a former primary; two: away)",
    });
    expect(await later(primary(3), standby)).toBe(ONE);
    expect(moves).toEqual([TWO, ONE]);
  });

  test("stays where two servers say the same", async () => {
    begin(standby, primary(1));
    expect(await watch.find()).toBe(TWO);
    expect(await later(primary(1), primary(1))).toBe(TWO);
  });
});
