/** Matches: `GET /matches` and `GET` and `DELETE /matches/{pattern}`. */
import type { Context } from "hono";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { toJson } from "#src/base/json.ts";
import {
  countMatches,
  eachMatch,
  type Heights,
  type MatchQuestion,
  type MatchRow,
  type Spend,
} from "#src/devnet/index/kupo/matches.ts";
import { overlap, parsePattern } from "#src/devnet/index/kupo/pattern.ts";
import { activePatterns, hideMatches, lockPatterns } from "#src/devnet/index/kupo/patterns.ts";
import { type KupoState, readBlockFrom, readBlockUntil, readState } from "#src/devnet/index/kupo/points.ts";
import { isHeld, json, JSON_TYPE, type KupoParts, nameBlock, pointJson } from "#src/devnet/serve/kupo/answers.ts";
import { refused } from "#src/devnet/serve/kupo/failures.ts";
import { type MatchForm, matchJson } from "#src/devnet/serve/kupo/match.ts";
import { type Bound, type MatchOptions, parametersOf, readMatchOptions } from "#src/devnet/serve/kupo/query.ts";
import { bodyOf } from "#src/devnet/serve/kupo/stream.ts";
import type { Queries } from "#src/store/store.ts";

/** Height above all blocks. */
const NEVER = Number.MAX_SAFE_INTEGER;
const GENESIS = -1;
/** Matches written between two checks of the time. */
const AT_ONCE = 16;

/** Answers with the matches of a pattern. @throws {HttpFailure} 400 for a malformed request, 503 without a connection */
export async function answerMatches(c: Context, parts: KupoParts, text: string): Promise<Response> {
  const pattern = queryPattern(text);
  const { after, before, ...options } = readMatchOptions(parametersOf(c.req.url));
  const quantitiesAsText = /asset-quantity\s*=\s*"?string\b/i.test(c.req.header("accept") ?? "");
  const form: MatchForm = { quantitiesAsText, resolve: options.resolve ?? false, genesisHash: parts.genesisHash() };
  let state: KupoState | undefined;
  let held = false;
  const body = await bodyOf((emit) =>
    parts.reading(async (sql) => {
      state = await readState(sql);
      held = isHeld(c, state);
      if (held) return;
      const bounds = await readHeights(sql, { after, before }, form.genesisHash);
      const from = { patterns: state.patterns, genesis: parts.genesisTransactions() };
      const write = writer(form);
      await emit("[");
      await eachMatch(sql, { pattern, ...options, ...bounds }, from, async (rows, spends) =>
        await emit(await write(rows, spends)));
      await emit("]");
    })
  );
  if (state) nameBlock(c, state);
  if (held) return c.body(null, 304);
  return c.body(body, 200, { "content-type": quantitiesAsText ? `${JSON_TYPE};asset-quantity=string` : JSON_TYPE });
}

/** A pattern by which matches can be fetched. @throws {HttpFailure} 400 */
function queryPattern(text: string): MatchQuestion["pattern"] {
  const pattern = parsePattern(text);
  if (pattern === undefined) throw refused.pattern();
  if (pattern.kind === "label") throw refused.labelPattern();
  return pattern;
}

/** Writes the elements of a list, with commas before all but the first; yields to the event loop. */
function writer(form: MatchForm) {
  const pacer = new EventLoopPacer();
  let isFirst = true;
  return async (rows: readonly MatchRow[], spends: ReadonlyMap<MatchRow, Spend>): Promise<string> => {
    const pieces: string[] = [];
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      const some = rows.slice(from, from + AT_ONCE);
      pieces.push(...some.map((row) => toJson(matchJson(row, spends.get(row), form))));
      await pacer.step();
    }
    const text = pieces.join(",");
    if (isFirst) {
      isFirst = false;
      return text;
    }
    return `,${text}`;
  };
}

/** The heights that the bounds of a request mean. @throws {HttpFailure} 400 where a block is not on the chain */
async function readHeights(
  sql: Queries,
  { after, before }: Pick<MatchOptions, "after" | "before">,
  genesisHash: string,
): Promise<Pick<MatchQuestion, "created" | "spent">> {
  const heights: { created: Heights; spent: Heights } = { created: {}, spent: {} };
  for (const bound of [after, before]) if (bound) await verify(sql, bound, genesisHash);
  if (after) {
    const from = after.slot <= 0n ? GENESIS : (await readBlockFrom(sql, after.slot))?.height ?? NEVER;
    heights[after.of] = { from };
  }
  if (before) {
    const to = (await readBlockUntil(sql, before.slot))?.height ?? GENESIS;
    heights[before.of] = { ...heights[before.of], to };
  }
  return heights;
}

/** Makes sure that the block of a bound is on the chain. The genesis is, with its own hash at slot 0. */
async function verify(sql: Queries, { slot, hash }: Bound, genesisHash: string): Promise<void> {
  if (hash === undefined || slot === 0n && hash === genesisHash) return;
  const block = await readBlockUntil(sql, slot);
  if (block?.hash === hash && BigInt(block.slot) === slot) return;
  const ancestor = await readBlockUntil(sql, slot - 1n);
  throw refused.foreignPoint(ancestor ? pointJson(ancestor) : null);
}

/** Deletes the matches of a pattern. @throws {HttpFailure} 400 for a malformed pattern, or one that overlaps an active one */
export async function deleteMatches(c: Context, { store }: KupoParts, text: string): Promise<Response> {
  const pattern = queryPattern(text);
  const { state, deleted } = await store.sql.begin(async (sql) => {
    await lockPatterns(sql);
    const state = await readState(sql);
    if (activePatterns(state.patterns).some((active) => overlap(pattern, active))) throw refused.activePattern();
    const deleted = await countMatches(sql, { pattern }, state.patterns);
    if (deleted > 0) await hideMatches(sql, pattern);
    return { state, deleted };
  });
  nameBlock(c, state);
  return json(c, { deleted });
}
