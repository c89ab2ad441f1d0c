/** `arbor verify`: a proof in a file, by what the reader trusts, without a network. */
import type { Command } from "commander";
import { type Context, define } from "#src/cli/arbor/command.ts";
import { factText, type TextOptions, withHex } from "#src/cli/arbor/factText.ts";
import { CliError } from "#src/cli/error.ts";
import { readOffline } from "#src/cli/offline.ts";
import { printable } from "#src/cli/output.ts";
import { type TrustOptions, verify } from "#src/cli/proofs.ts";

/** Adds `arbor verify`. */
export function verifyCommand(program: Command): void {
  withHex(define(
    program,
    {
      usage: "verify <file> [token] [key]",
      description:
        "verify a file of `token prove --offline` or `token history --offline` by a policy, without a network",
      example: "verify planet.json --policy policy.txt",
    },
    async ({ output, options }: Context<TextOptions & TrustOptions>, file, token, key) => {
      if (token !== undefined && key !== undefined) {
        const proven = await verify(file, token, factText(key, options), options);
        output.record(proven, Object.entries(proven));
        return;
      }
      if (token !== undefined) throw new CliError("A token requires a key of its facts.", "bad_options");
      for (const name of ["root", "datum", "output"] as const) {
        if (options[name] !== undefined) throw new CliError(`--${name} requires a token and a key.`, "bad_options");
      }
      if (!options.policy) {
        throw new CliError("--policy with a file of the logs and witnesses that you trust is required.", "untrusted");
      }
      const verified = await readOffline(file, options.policy);
      const text = [
        "Checked:",
        ...verified.checked.map((one) => `- ${one}`),
        "Not checked:",
        ...verified.notChecked.map((one) => `- ${one}`),
      ];
      output.value(text.map(printable).join("\n"), verified);
    },
  ))
    .option("--policy <policy>", "file of a policy; with a token and a key, the policy id of the token")
    .option("--root <root>", "with a token and a key: root of the facts, if known")
    .option("--datum <cbor>", "with a token and a key: inline datum of the token's state output")
    .option("--output <cbor>", "with a token and a key: the token's state output");
}
