/** `arbor demo`. */
import type { Command } from "commander";
import { define } from "#src/cli/arbor/command.ts";

/** Adds the command. */
export function demoCommand(program: Command): void {
  define(
    program,
    { usage: "demo", description: "make a token with facts, step by step, on the devnet", example: "demo" },
    async ({ tokens, devnet, operator }) =>
      await (await import("#src/cli/demo.ts")).demo(tokens, devnet, (await operator()).base),
  );
}
