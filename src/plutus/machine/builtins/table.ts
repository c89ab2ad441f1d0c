/** All built-in functions. */
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { bitBuiltins } from "#src/plutus/machine/builtins/bits.ts";
import { blsBuiltins } from "#src/plutus/machine/builtins/bls.ts";
import { byteBuiltins } from "#src/plutus/machine/builtins/bytes.ts";
import { controlBuiltins } from "#src/plutus/machine/builtins/control.ts";
import { cryptoBuiltins } from "#src/plutus/machine/builtins/crypto.ts";
import { dataBuiltins } from "#src/plutus/machine/builtins/data.ts";
import { integerBuiltins } from "#src/plutus/machine/builtins/integers.ts";
import { listBuiltins } from "#src/plutus/machine/builtins/lists.ts";
import type { BuiltinName } from "#src/plutus/machine/builtins/names.ts";
import { textBuiltins } from "#src/plutus/machine/builtins/text.ts";
import { valueBuiltins } from "#src/plutus/machine/builtins/values.ts";
import type { Variant } from "#src/plutus/machine/version.ts";

/** The definition of each function in a semantics variant. */
export function definitions(variant: Variant): Readonly<Record<BuiltinName, Definition>> {
  return {
    ...integerBuiltins(variant),
    ...byteBuiltins(variant),
    ...bitBuiltins(variant),
    ...textBuiltins(variant),
    ...controlBuiltins,
    ...listBuiltins,
    ...dataBuiltins(variant),
    ...valueBuiltins,
    ...cryptoBuiltins(variant),
    ...blsBuiltins(variant),
  };
}
