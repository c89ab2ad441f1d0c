/** Builds a request to change a fact, with warnings where it would fail. */
import { z } from "zod";
import { messaged } from "#src/base/json.ts";
import { fail, ok } from "#src/base/result.ts";
import type { Operation } from "#src/contract/datum.ts";
import { bytesOf } from "#src/contract/text.ts";
import type { BuildAnswer, BuildContext } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";
import { refText } from "#src/tokens/builds/requestText.ts";
import { payer, reservedBuild, type TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import { stateFor, versionOf } from "#src/tokens/builds/tokenState.ts";
import { requestWarnings } from "#src/tokens/index/warnings.ts";
import { readNewestToken } from "#src/tokens/pendingTokens.ts";

/** A key or a value in the API's text form; see `bytesOf`. */
const text = z.string().refine((value) => bytesOf(value) !== undefined, "not a valid text of this API");

/**
 * Members of every request; `strict` refuses one that conflicts with an open one, `applicable` one that could not be
 * applied once the open ones are.
 */
const requested = {
  ...payer,
  key: text,
  strict: z.boolean().default(false),
  applicable: z.boolean().default(false),
};

export const requestInput = z.discriminatedUnion("type", [
  z.object({ type: z.literal("insert"), ...requested, newValue: text }),
  z.object({ type: z.literal("update"), ...requested, oldValue: text, newValue: text }),
  z.object({ type: z.literal("delete"), ...requested, oldValue: text }),
]);
type RequestInput = z.infer<typeof requestInput>;

/** Builds a request on a token's newest state. */
export async function buildRequest(
  options: TokenBuildOptions,
  input: RequestInput,
  { entity, deadline }: BuildContext,
): Promise<BuildAnswer> {
  const key = checkedBytes(input.key);
  const operation = operationOf(input);
  const script = await versionOf(options, entity.id);
  const read = async (sql: Queries) => {
    const newest = await readNewestToken(sql, entity.id, options.networkId);
    const found = await requestWarnings(sql, entity.id, key, operation, newest);
    const warnings = found.map((one) => one.request === undefined ? one : { ...one, request: refText(one.request) });
    return { state: stateFor({ type: "REQUEST" }, newest, entity.id), warnings };
  };
  return await reservedBuild(options, { from: input, deadline, script }, read, async (common, { state, warnings }) => {
    if (!state.ok) return state;
    const conflict = warnings.find((one) => one.request !== undefined);
    if (input.strict && conflict) {
      const message = `The request conflicts with the open request ${conflict.request}: ${conflict.message}`;
      return fail("request_conflicts", message, { request: conflict.request, reason: conflict.code });
    }
    const [failure] = warnings;
    if (input.applicable && failure) {
      const { code, message, ...details } = failure;
      return fail(code, `The request could not be applied: ${message}`, details);
    }
    const built = await options.builders.run("request", { ...common, token: entity.id, key, operation }, { deadline });
    return built.ok ? ok({ built: built.value, more: {}, warnings: warnings.map(messaged) }) : built;
  });
}

function operationOf(input: RequestInput): Operation {
  switch (input.type) {
    case "insert":
      return { type: "insert", value: checkedBytes(input.newValue) };
    case "update":
      return { type: "update", old: checkedBytes(input.oldValue), value: checkedBytes(input.newValue) };
    case "delete":
      return { type: "delete", value: checkedBytes(input.oldValue) };
  }
}

/** The bytes of a text that the schema of the build has checked. */
function checkedBytes(text: string): Uint8Array {
  const bytes = bytesOf(text);
  if (bytes === undefined) throw new TypeError("not a valid text of this API");
  return bytes;
}
