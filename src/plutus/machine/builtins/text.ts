/** Built-in functions on strings. */
import { fromUtf8, utf8 } from "#src/base/bytes.ts";
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { BYTES, TEXT } from "#src/plutus/machine/type.ts";
import { bounds, text } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBounds, type Variant } from "#src/plutus/machine/version.ts";

export function textBuiltins(variant: Variant) {
  const size = hasBounds(variant) ? Measure.TEXT_BYTES : Measure.TEXT;
  const two = [size, size] as const;
  return {
    appendString: { takes: two, run: (a, b) => new Constant(TEXT, text(a) + text(b)) },
    equalsString: { takes: two, run: (a, b) => text(a) === text(b) ? TRUE : FALSE },
    encodeUtf8: { takes: [size], run: (a) => new Constant(BYTES, utf8(text(a))) },
    decodeUtf8: {
      takes: [Measure.BYTES],
      run: (a) =>
        new Constant(TEXT, fromUtf8(bounds(variant).bytes(a)) ?? refuse("decodeUtf8: the bytes are not UTF-8")),
    },
  } satisfies Record<string, Definition>;
}
