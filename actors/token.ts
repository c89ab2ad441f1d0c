/**
 * The actor of a token. State changes arrive through the chain log. Its builds (`src/tokens/builds`) read rows at one
 * point, ask the machine in the state that they show, and a builder thread makes the transaction.
 */
import { z } from "zod";
import { tokenContent, tokenInputs, tokenMachine } from "#machines/token.ts";
import { type ActorKind, defineBuild } from "#src/runtime/types.ts";
import { buildEnd, buildTransfer, endInput, transferInput } from "#src/tokens/builds/ownerBuilds.ts";
import { buildRequest, requestInput } from "#src/tokens/builds/request.ts";
import type { TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import { buildRetract, retractInput } from "#src/tokens/builds/retract.ts";
import { buildUpdate, updateInput } from "#src/tokens/builds/update.ts";

/** The actor kind of tokens; an entity's id is the token's. */
export function tokenActor(options: TokenBuildOptions): ActorKind {
  return {
    kind: "token",
    ids: /^[0-9a-f]{64}$/,
    version: 1,
    machine: tokenMachine,
    content: { schemas: tokenContent },
    commands: z.never(),
    inputs: tokenInputs,
    outcomes: z.never(),
    builds: {
      request: defineBuild({
        input: requestInput,
        run: (_view, input, context) => buildRequest(options, input, context),
      }),
      update: defineBuild({
        input: updateInput,
        run: (_view, input, context) => buildUpdate(options, input, context),
      }),
      transfer: defineBuild({
        input: transferInput,
        run: (_view, input, context) => buildTransfer(options, input, context),
      }),
      retract: defineBuild({
        input: retractInput,
        run: (_view, input, context) => buildRetract(options, input, context),
      }),
      end: defineBuild({
        input: endInput,
        run: (_view, input, context) => buildEnd(options, input, context),
      }),
    },
  };
}
