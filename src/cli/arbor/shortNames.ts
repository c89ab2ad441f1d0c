/** Commands under a shorter path, such as `arbor boot`; the help does not list them. */
import { Command } from "commander";
import { define } from "#src/cli/arbor/command.ts";
import { fundCommand } from "#src/cli/arbor/devnet.ts";
import { STEPS } from "#src/cli/arbor/tokens.ts";
import { addressIn } from "#src/cli/arbor/transact.ts";

/** Adds the steps of a token's life, `arbor faucet` and `arbor address` to the program. */
export function shortCommands(program: Command): void {
  const added = new Command().copyInheritedSettings(program);
  // `arbor verify` is a command that the help lists
  for (const [name, add] of Object.entries(STEPS)) if (name !== "verify") add(added, "");
  fundCommand(added, "faucet");
  define(added, {
    usage: "address <file>",
    description: "print the address of a key",
    example: "address alice.key",
  }, async (context, file) => {
    const address = await addressIn(context, file);
    context.output.value(address, { address });
  });
  for (const command of added.commands) program.addCommand(command, { hidden: true });
}
