/** Patterns: `/patterns` and `/patterns/{pattern}`. */
import type { Context } from "hono";
import { includes, parsePattern, type Pattern, patternText } from "#src/devnet/index/kupo/pattern.ts";
import { activePatterns, addPatterns, PATTERNS_MOST, removePattern } from "#src/devnet/index/kupo/patterns.ts";
import { readState } from "#src/devnet/index/kupo/points.ts";
import { json, type KupoParts, nameBlock } from "#src/devnet/serve/kupo/answers.ts";
import { refused } from "#src/devnet/serve/kupo/failures.ts";
import { heightOf, readBody, readPatterns, readRollback } from "#src/devnet/serve/kupo/rollback.ts";

/** Answers with the active patterns; with those that include a pattern, where one is given. @throws {HttpFailure} 400 */
export async function answerPatterns(c: Context, { store }: KupoParts, text?: string): Promise<Response> {
  const wanted = text === undefined ? undefined : readPattern(text);
  const state = await readState(store.sql);
  nameBlock(c, state);
  const active = activePatterns(state.patterns);
  return json(c, active.filter((pattern) => wanted === undefined || includes(pattern, wanted)).map(patternText));
}

/** Adds a pattern, or those of the body; answers with all active ones. @throws {HttpFailure} 400 */
export async function putPatterns(c: Context, { store }: KupoParts, text?: string): Promise<Response> {
  const one = text === undefined ? undefined : readPattern(text);
  const body = await readBody(c.req.raw);
  const patterns = one === undefined ? readPatterns(body) : [one];
  const rollback = readRollback(body);
  const { state, active } = await store.sql.begin(async (sql) => {
    const state = await readState(sql);
    const active = await addPatterns(sql, patterns, await heightOf(sql, rollback, state.checkpoint));
    if (active === undefined) throw refused.tooManyPatterns(PATTERNS_MOST);
    return { state, active };
  });
  nameBlock(c, state);
  return json(c, active.map(patternText));
}

/** Removes an active pattern; its matches stay. @throws {HttpFailure} 400 */
export async function deletePattern(c: Context, { store }: KupoParts, text: string): Promise<Response> {
  const pattern = readPattern(text);
  const { state, deleted } = await store.sql.begin(async (sql) => ({
    state: await readState(sql),
    deleted: await removePattern(sql, pattern),
  }));
  nameBlock(c, state);
  return json(c, { deleted });
}

function readPattern(text: string): Pattern {
  const pattern = parsePattern(text);
  if (pattern === undefined) throw refused.pattern();
  return pattern;
}
