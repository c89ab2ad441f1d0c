/** Builds of a token's owner that need only its state: a transfer to another owner, and the end of the token. */
import { z } from "zod";
import { ok } from "#src/base/result.ts";
import type { BuildAnswer, BuildContext } from "#src/runtime/types.ts";
import { addressBytes, payer, type TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import { buildOnState } from "#src/tokens/builds/tokenState.ts";

export const endInput = z.object(payer);
export const transferInput = endInput.extend({ to: addressBytes });

/** Builds the transfer of a token to another owner. */
export function buildTransfer(
  options: TokenBuildOptions,
  { to, ...from }: z.infer<typeof transferInput>,
  context: BuildContext,
): Promise<BuildAnswer> {
  return buildOnState(options, { type: "UPDATE" }, from, context, async (input) => {
    const built = await options.builders.run("transfer", { ...input, to }, { deadline: context.deadline });
    if (!built.ok) return built;
    return ok({ built: built.value, more: { owner: built.value.owner, signers: [...built.value.signers] } });
  });
}

/** Builds the end of a token. */
export function buildEnd(
  options: TokenBuildOptions,
  from: z.infer<typeof endInput>,
  context: BuildContext,
): Promise<BuildAnswer> {
  return buildOnState(options, { type: "END" }, from, context, async (input) => {
    const built = await options.builders.run("end", input, { deadline: context.deadline });
    return built.ok ? ok({ built: built.value, more: {} }) : built;
  });
}
