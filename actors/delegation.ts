/** The actor kind of stake credentials, by `key-<hash>` or `script-<hash>`: it hears what the chain says, and commands nothing. */
import { z } from "zod";
import { delegationInputs, delegationMachine } from "#machines/delegation.ts";
import type { ActorKind } from "#src/runtime/types.ts";

/** The kind; an entity's id is the credential. */
export function delegationActor(): ActorKind {
  return {
    kind: "delegation",
    version: 1,
    machine: delegationMachine,
    commands: z.never(),
    inputs: delegationInputs,
    outcomes: z.never(),
  };
}
