/** Histories of a key over a simulated log: what an honest service answers verifies, and no change of it does. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { keyHistoryFile, type KeyHistoryPage, verifyKeyHistory, verifyKeyHistoryFile } from "#src/client/keyHistory.ts";
import { initHash } from "#src/forestry/hash.ts";
import { SimulatedLog } from "../../support/tlog/simulatedHistory.ts";

const TOKEN = "ab".repeat(32);
const OTHER = "ef".repeat(32);
const KEYS = ["planet", "moon", "sun", "", "comet", "star"];
const VALUES = ["Earth", "Mars", "", undefined];

const change = fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES));
const states = fc.array(
  fc.record({ own: fc.boolean(), changes: fc.array(change, { maxLength: 3 }) }),
  { minLength: 4, maxLength: 24 },
);

async function logOf(made: readonly { own: boolean; changes: (readonly [string, string | undefined])[] }[]) {
  await initHash();
  const log = new SimulatedLog();
  log.add(TOKEN, new Map());
  log.add(OTHER, new Map([["planet", "Pluto"]]));
  for (const { own, changes } of made) log.add(own ? TOKEN : OTHER, new Map(changes));
  log.add(TOKEN, new Map([["planet", "Earth"], ["moon", "Luna"]]));
  return log;
}

const question = (log: SimulatedLog, key: string, to: number) => ({
  tokenId: TOKEN,
  key,
  from: 0,
  to,
  policy: log.policy,
});

describe("verifyKeyHistory", () => {
  it("gives the values of a model, in one page and in several", async () => {
    await fc.assert(
      fc.asyncProperty(states, fc.constantFrom(...KEYS), fc.nat(), async (made, key, cut) => {
        const log = await logOf(made);
        const model = log.values(TOKEN, key);
        const to = model.length - 1;
        const at = cut % to;
        const pages = [await log.page(TOKEN, key, 0, at), await log.page(TOKEN, key, at + 1, to)];
        for (const answer of [await log.page(TOKEN, key, 0, to), pages]) {
          const found = verifyKeyHistory(answer, question(log, key, to));
          if (!found.ok) throw new Error(`${found.error.code}: ${found.error.message}`);
          const values = found.value.versions.flatMap(({ first, last, value }) =>
            Array.from({ length: last.seq - first.seq + 1 }, () => value)
          );
          expect(values).toEqual(model);
          expect(found.value.absent).toBe(model.every((value) => value === undefined));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("refuses an answer with any state left out, repeated, moved or changed", async () => {
    await fc.assert(
      fc.asyncProperty(states, fc.constantFrom(...KEYS), fc.nat(), fc.nat(), async (made, key, i, j) => {
        const log = await logOf(made);
        const to = log.values(TOKEN, key).length - 1;
        const page = await log.page(TOKEN, key, 0, to);
        const [a, b] = [i % page.states.length, j % page.states.length];
        const states = (changed: KeyHistoryPage["states"]) => ({ ...page, states: changed });
        const one = (change: Partial<KeyHistoryPage["states"][number]>) =>
          states(page.states.map((state, place) => place === a ? { ...state, ...change } : state));
        const state = page.states[a]!;
        const lies: readonly (readonly [string, unknown])[] = [
          ["left out", states(page.states.toSpliced(a, 1))],
          ["repeated", states(page.states.toSpliced(a, 0, state))],
          ["another index", one({ index: state.index + 1 })],
          ["another slot", one({ slot: state.slot + 1 })],
          ["another output", one({ ref: `${"00".repeat(32)}#0` })],
          ["another root", one({ root: "11".repeat(32) })],
          ["the end", one({ end: true })],
          ["no proof", one({ steps: [page.steps.length] })],
          [
            "another value",
            { ...one({ value: page.values.length }), values: [...page.values, toHex(utf8("Venus"))] },
          ],
          ["another number", { ...page, from: 1 }],
          ["another network", { ...page, net: 1 }],
          ["another contract", { ...page, policyId: "ee".repeat(28) }],
          ["a hash more", { ...page, hashes: [...page.hashes, "22".repeat(32)] }],
          ...page.hashes.length > 0 ? [["a hash less", { ...page, hashes: page.hashes.slice(1) }] as const] : [],
          ...("value" in state && state.value === null) ? [] : [["no value", one({ value: null })] as const],
          ...a === b ? [] : [
            [
              "moved",
              states(page.states.map((_, place) => page.states[place === a ? b : place === b ? a : place]!)),
            ] as const,
          ],
          ["another token", { ...(await log.page(OTHER, key, 0, 0)), tokenId: TOKEN }],
          ["another key", { ...(await log.page(TOKEN, `${key}x`, 0, to)) }],
        ];
        for (const [name, lie] of lies) {
          expect(verifyKeyHistory(lie, question(log, key, to)).ok, `${name} ${a}`).toBe(false);
        }
        expect(verifyKeyHistory(page, question(log, key, to)).ok).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses pages with a gap, in another order, and of two checkpoints", async () => {
    const log = await logOf(Array.from({ length: 9 }, () => ({ own: true, changes: [["sun", "Sol"]] })));
    const [a, b, c] = [
      await log.page(TOKEN, "planet", 0, 3),
      await log.page(TOKEN, "planet", 4, 7),
      await log.page(TOKEN, "planet", 8, 10),
    ];
    const asked = question(log, "planet", 10);
    expect(verifyKeyHistory([a, b, c], asked).ok).toBe(true);
    for (const pages of [[a, c], [b, c], [a, b], [a, b, b, c], [b, a, c], [a, b, c, c], []]) {
      expect(verifyKeyHistory(pages, asked)).toMatchObject({ ok: false });
    }
    log.add(TOKEN, new Map());
    expect(verifyKeyHistory([a, b, await log.page(TOKEN, "planet", 8, 10)], asked)).toMatchObject({
      error: { code: "not_logged", message: "The pages are under different checkpoints." },
    });
    // the log's own key must have signed
    const stranger = new SimulatedLog(3);
    expect(verifyKeyHistory([a, b, c], { ...asked, policy: stranger.policy })).toMatchObject({
      error: { code: "not_logged", details: { reason: "not_signed" } },
    });
  });

  it("reads entries that rollbacks withdrew in one way only", async () => {
    const step = fc.record({ changes: fc.array(change, { maxLength: 2 }), rollback: fc.integer({ min: -6, max: 4 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 8 }),
        fc.constantFrom(...KEYS),
        fc.nat(),
        async (steps, key, at) => {
          const log = await logOf([]);
          for (const { changes, rollback } of steps) {
            log.add(TOKEN, new Map(changes));
            if (rollback > 0) log.rollback(TOKEN, Math.min(rollback, log.states(TOKEN).length));
            if (log.states(TOKEN).length === 0) log.add(TOKEN, new Map());
          }
          const to = log.entries.filter(({ token }) => token === TOKEN).length - 1;
          const asked = question(log, key, to);
          const page = await log.page(TOKEN, key, 0, to);
          const cut = at % to;
          for (const pages of [page, [await log.page(TOKEN, key, 0, cut), await log.page(TOKEN, key, cut + 1, to)]]) {
            const found = verifyKeyHistory(pages, asked);
            if (!found.ok) throw new Error(`${found.error.code}: ${found.error.message}`);
            for (const { leaf: { seq }, facts } of log.states(TOKEN)) {
              const version = found.value.versions.find(({ first, last }) => first.seq <= seq && seq <= last.seq);
              expect(version?.value).toBe(facts.get(key));
            }
          }
          for (const [place, state] of page.states.entries()) {
            const put = (...changed: KeyHistoryPage["states"]) => ({
              ...page,
              states: page.states.toSpliced(place, 1, ...changed),
            });
            const lies = "first" in state
              ? [put(), put({ ...state, first: state.first + 1 }), put({ ...state, slot: state.slot + 1 })]
              : [put(), put({ ...state, ...(state.withdrawn ? { withdrawn: undefined } : { withdrawn: true }) })];
            for (const lie of lies) expect(verifyKeyHistory(lie, asked).ok, `${place}`).toBe(false);
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  it("refuses a withdrawn entry that is shown as a state, and a state that is shown as withdrawn", async () => {
    const log = await logOf([]);
    const shown = await log.page(TOKEN, "planet", 0, 1);
    log.rollback(TOKEN, 1);
    log.add(TOKEN, new Map([["planet", "Mars"]]));
    const asked = question(log, "planet", 3);
    const page = await log.page(TOKEN, "planet", 0, 3);
    const found = verifyKeyHistory(page, asked);
    expect(found).toMatchObject({ value: { versions: [{ included: false }, { value: "Mars", first: { seq: 3 } }] } });
    expect(found.ok && found.value.checked[1]).toBe(
      "The token's entry 2 says that a rollback to slot 0 withdrew its entry 1: what is withdrawn does not count.",
    );
    const [first, withdrawn, rollback, last] = page.states;
    // the withdrawn state has a good proof of its own
    const steps = shown.steps.map((_, place) => place);
    const lie = {
      ...page,
      states: [{ ...first, steps: [] }, { ...shown.states[1], steps }, rollback, withdrawn],
      values: shown.values,
      steps: shown.steps,
    };
    expect(verifyKeyHistory({ ...lie, states: [...lie.states.slice(0, 3), { ...last, withdrawn: true }] }, asked))
      .toMatchObject({
        error: {
          code: "withdrawn",
          message: "The token's entry 1 is no state of it: a later entry says that a rollback withdrew it.",
        },
      });
    // without the rollback, or in the place of the state that followed
    for (const states of [[lie.states[0], lie.states[1], last], [lie.states[0], last, rollback, lie.states[1]]]) {
      expect(verifyKeyHistory({ ...lie, states }, { ...asked, to: states.length - 1 }).ok).toBe(false);
    }
    expect(verifyKeyHistory({ ...page, states: [...page.states.slice(0, 3), { ...last, withdrawn: true }] }, asked))
      .toMatchObject({
        error: {
          code: "withdrawn",
          message: "No entry of the token in the answer withdraws its entry 3, which it calls withdrawn.",
        },
      });
  });

  it("says what was checked and what was not", async () => {
    const log = await logOf([]);
    const found = verifyKeyHistory(await log.page(TOKEN, "moon", 0, 1), {
      tokenId: TOKEN,
      key: "moon",
      policy: log.policy,
    });
    expect(found.ok && found.value.checked).toEqual([
      `The log log.example/simulated has the entries 0 to 1 of the token ${TOKEN} of the contract ${
        "cd".repeat(28)
      } on the network 42: they are numbered without a gap, and all are in the tree of 3 entries that the log signed.`,
      'In the state 0 (slot 0) there is no fact under the key "moon": proven under the root of each.',
      'In the state 1 (slot 20) the value under the key "moon" is "Luna": proven under the root of each.',
    ]);
    expect(found.ok && found.value.notChecked).toHaveLength(3);
  });

  it("verifies a file with its token, key and span, and no other", async () => {
    const log = await logOf([{ own: true, changes: [["sun", "Sol"]] }]);
    const file = keyHistoryFile(TOKEN, "sun", [await log.page(TOKEN, "sun", 1, 2)]);
    expect(verifyKeyHistoryFile(JSON.parse(JSON.stringify(file)), log.policy)).toMatchObject({
      ok: true,
      value: { token: TOKEN, key: "sun", from: 1, to: 2, versions: [{ value: "Sol" }] },
    });
    for (
      const part of [
        { tokenId: OTHER },
        { keyHex: "00" },
        { keyHex: "ZZ" },
        { pages: [] },
        { pages: [null] },
        { pages: {} },
        { format: "x" },
      ]
    ) {
      expect(verifyKeyHistoryFile({ ...file, ...part }, log.policy), JSON.stringify(part)).toMatchObject({ ok: false });
    }
    for (const one of [undefined, null, 1, [], "x"]) {
      expect(verifyKeyHistoryFile(one, log.policy)).toMatchObject({ error: { code: "malformed" } });
    }
  });

  it("refuses any other value", async () => {
    const log = await logOf([]);
    const page = await log.page(TOKEN, "moon", 0, 1);
    const hostile = [
      ...[undefined, null, 1, "x", [], {}, [null], [[]], { ...page, format: "x" }],
      ...Object.keys(page).filter((name) => !["tokenId", "path"].includes(name)).flatMap((name) =>
        [null, {}, -1, 1n, "zz", [null], 2 ** 60].map((value) => ({ ...page, [name]: value }))
      ),
      ...Object.keys(page.states[0]!).flatMap((name) =>
        [{}, -1, 1n, "zz", [null], 2 ** 60].map((value) => ({
          ...page,
          states: [{ ...page.states[0], [name]: value }],
        }))
      ),
      { ...page, states: Array.from({ length: 1_001 }, () => page.states[0]) },
    ];
    for (const one of hostile) {
      const found = verifyKeyHistory(one, { tokenId: TOKEN, key: "moon", policy: log.policy, to: 1 });
      expect(found.ok).toBe(false);
    }
    expect(() => verifyKeyHistory(page, { tokenId: TOKEN, key: "\ud800", policy: log.policy })).toThrow(TypeError);
    expect(verifyKeyHistory(page, { tokenId: TOKEN, key: "moon", policy: "x" })).toMatchObject({
      error: { code: "bad_policy" },
    });
  });
});
