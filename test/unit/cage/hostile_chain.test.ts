/**
 * Random blocks of a chain that is not kind, with rollbacks: after every block and every rollback the index says what a plain model says, and
 * so does what tokens are told. Nothing that stands beside a token changes it, and nothing stops the index.
 */
import { describe, expect, it } from "vitest";
import { createActor } from "xstate";
import { tokenInputs, tokenMachine } from "#machines/token.ts";
import { toHex } from "#src/base/bytes.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Touched } from "#src/cardano/projection.ts";
import { operationOf } from "#src/cage/index/read.ts";
import { MemoryChain } from "../../support/chain.ts";
import { blank, Hostile, type Model, operationText, trieOf, VERSIONS } from "../../support/hostile_blocks.ts";
import { MemoryIndex } from "../../support/memory_index.ts";
import { seeded } from "../../support/random.ts";

const BLOCKS = 40;
const bytes = (value: unknown) => toHex(new Uint8Array(value as Uint8Array));

/** Every row that can be seen is the model's. */
function expectModel(index: MemoryIndex, model: Model): void {
  const tokens = [...model.tokens.values()];
  const alive = tokens.filter(({ status }) => status !== "ended");
  expect(
    new Map(index.live("token_state").map((row) => [row.token, [row.ref, row.owner, row.root]])),
  ).toEqual(new Map(alive.map(({ name, ref, owner, root }) => [name, [refKey(ref), owner, root]])));
  expect(index.live("token_state").length).toBe(alive.length);
  const quarantined = new Set(index.live("token_quarantine").map((row) => row.token));
  expect([...quarantined].filter((name) => model.tokens.get(name as string)!.status !== "ended").sort()).toEqual(
    tokens.filter(({ status }) => status === "quarantined").map(({ name }) => name).sort(),
  );
  for (const { name, facts, root, status } of tokens) {
    const rows = index.live("fact").filter((row) => row.token === name);
    expect(new Map(rows.map((row) => [bytes(row.key), bytes(row.value)]))).toEqual(facts);
    expect(rows.length).toBe(facts.size);
    if (status === "live") expect(toHex(trieOf(facts).root)).toBe(root);
  }
  expect(
    new Map(
      index.live("token_request").map((row) => [row.ref, [row.token, bytes(row.key), operationText(operationOf(row))]]),
    ),
  ).toEqual(
    new Map(
      [...model.requests].map(([ref, { token, key, operation }]) => [ref, [token, key, operationText(operation)]]),
    ),
  );
  expect(new Map(index.live("token_request_end").map((row) => [row.ref, row.status]))).toEqual(model.ended);
}

/** What tokens make of all that they were told is what the model says of them. */
function expectActors(told: readonly Touched[], model: Model): void {
  const actors = new Map<string, ReturnType<typeof createActor<typeof tokenMachine>>>();
  for (const { entity: { id }, event } of told) {
    const actor = actors.get(id) ?? createActor(tokenMachine, { input: { kind: "token", id } }).start();
    actors.set(id, actor);
    actor.send({ ...tokenInputs.parse(event), turn: { at: 0 } });
  }
  expect(new Set(actors.keys())).toEqual(new Set([...actors.keys(), ...model.tokens.keys()]));
  for (const [id, actor] of actors) {
    const token = model.tokens.get(id);
    const { value, context } = actor.getSnapshot();
    expect([id, value]).toEqual([id, token?.status ?? "absent"]);
    if (token && token.status !== "ended") {
      const { owner, root, ref } = token;
      expect(context).toMatchObject({ owner, root, ref: refKey(ref) });
    }
  }
}

describe("a hostile chain", () => {
  const seen = { applied: 0, retracted: 0, quarantined: 0, ended: 0, twins: 0, rollbacks: 0, crowds: 0 };
  it.each([1, 2, 3, 4])("is followed exactly, run %i", (seed) => {
    const random = seeded(seed);
    const hostile = new Hostile(random);
    const chain = new MemoryChain();
    const index = new MemoryIndex({ scripts: VERSIONS, network: 0, cutAbove: seed % 2 === 0 ? 2 : 1_000 });
    const models: Model[] = [blank];
    for (let i = 0; i < BLOCKS; i++) {
      if (chain.blocks.length > 2 && random() < 0.15) {
        const count = 1 + Math.floor(random() * Math.min(8, chain.blocks.length - 1));
        chain.rollback(count);
        models.splice(models.length - count, count);
        index.rollback(chain.tip);
        seen.rollbacks++;
        expectModel(index, models.at(-1)!);
      }
      const next = hostile.block(models.at(-1)!);
      index.follow(chain.add(...next.transactions));
      models.push(next.model);
      expectModel(index, next.model);
    }
    const model = models.at(-1)!;
    expectActors(index.told, model);
    for (const status of model.ended.values()) seen[status]++;
    for (const { status } of model.tokens.values()) if (status !== "live") seen[status]++;
    seen.twins += model.twins.length;
    for (const { scanned } of chain.blocks) {
      seen.crowds += scanned.transactions.filter(({ outputs }) => outputs.length >= 100).length;
    }
  });
  it("had everything in it", () => {
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });
});
