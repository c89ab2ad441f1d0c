/** `script hash | preimage | validate`: native scripts without a server. */
import { type Command, Option } from "commander";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { mustGet } from "#src/base/maps.ts";
import { encodeNative, nativeHash } from "#src/cardano/nativeScript.ts";
import { CliError } from "#src/cli/error.ts";
import { addCommand, addGroup, type Context, put, putLine } from "#src/cli/cardanoWallet/context.ts";
import { checked, encodingOf, type EncodingOptions, encodings } from "#src/cli/cardanoWallet/options.ts";
import { decodeText, encodeText } from "#src/cli/cardanoWallet/keyInput.ts";
import { type KeyScript, parseKeyScript, scriptHashText } from "#src/cli/cardanoWallet/scriptText.ts";
import { toNative } from "#src/wallets/shared/script.ts";
import { scriptFault } from "#src/wallets/shared/validate.ts";

/** CBOR of a script, as the ledger hashes it. */
function bytesOf({ script, hashes }: KeyScript): Uint8Array {
  return encodeNative(toNative(script, (leaf) => mustGet(hashes, leaf)));
}

/** Adds `script`. */
export function scriptCommands(program: Command, context: Context): void {
  const group = addGroup(program, "script", "About scripts");
  const argument = [
    "<SCRIPT>",
    "a script, such as 'all [addr_shared_vkh1…, active_from 120]'",
    checked(parseKeyScript),
  ] as const;

  encodings(addCommand(
    group,
    "hash",
    "Create the hash of a script, for a payment, stake or governance credential",
    "cardano-wallet script hash 'any [addr_shared_vk1…, addr_shared_vk1…]'",
  ))
    .argument(...argument)
    .option("--cip-0105", "hashes of governance scripts in the older form, such as drep_script1…")
    .action((script: KeyScript, options: EncodingOptions & { cip0105?: true }) => {
      if (script.roles.size > 1) throw new CliError("All keys of a script must have the same role.");
      const [role] = script.roles;
      const text = scriptHashText(fromHex(nativeHash(bytesOf(script))), role, options.cip0105 === true);
      const encoding = encodingOf(options);
      put(context, encoding === "bech32" ? text : encodeText(decodeText(text).bytes, "", encoding));
    });

  addCommand(
    group,
    "preimage",
    "Create the bytes that a script's hash is of: CBOR behind a byte 00",
    "cardano-wallet script preimage 'all [addr_shared_vkh1…, active_from 100]'",
  )
    .argument(...argument)
    .action((script: KeyScript) => put(context, toHex(concat(Uint8Array.of(0), bytesOf(script)))));

  addCommand(
    group,
    "validate",
    "Validate a script",
    "cardano-wallet script validate --recommended 'all []'",
  )
    .argument(...argument)
    .addOption(new Option("--required", "whether the ledger could accept it (default)").conflicts("recommended"))
    .option("--recommended", "whether it is sensible too: no empty list, redundant time, duplicate key or count of 0")
    .action(({ script }: KeyScript, { recommended }: { recommended?: true }) => {
      const fault = scriptFault(script, recommended ? "recommended" : "required");
      if (fault !== undefined) throw new CliError(`Not validated: ${fault}`);
      putLine(context, "Validated.");
    });
}
