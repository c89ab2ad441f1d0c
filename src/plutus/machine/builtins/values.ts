/** Built-in functions on ledger values (CIP-153). */
import { amountOf, assetsData, assetsOf, contains, insertAmount, scaled, union } from "#src/plutus/machine/assets.ts";
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { toInt } from "#src/plutus/machine/integer.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { DATA, INTEGER, VALUE } from "#src/plutus/machine/type.ts";
import { bytes, data, integer, tokens } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";

const { DEPTH, ONE, TOKENS } = Measure;

export const valueBuiltins = {
  insertCoin: {
    takes: [ONE, ONE, ONE, DEPTH],
    run: (policy, token, amount, value) => {
      const [first, second, third] = [bytes(policy), bytes(token), BigInt(integer(amount))];
      return new Constant(VALUE, insertAmount(tokens(value), first, second, third));
    },
  },
  lookupCoin: {
    takes: [ONE, ONE, DEPTH],
    run: (policy, token, value) => new Constant(INTEGER, toInt(amountOf(tokens(value), bytes(policy), bytes(token)))),
  },
  unionValue: { takes: [TOKENS, TOKENS], run: (a, b) => new Constant(VALUE, union(tokens(a), tokens(b))) },
  valueContains: { takes: [TOKENS, TOKENS], run: (a, b) => contains(tokens(a), tokens(b)) ? TRUE : FALSE },
  valueData: { takes: [TOKENS], run: (a) => new Constant(DATA, assetsData(tokens(a))) },
  unValueData: { takes: [Measure.NODES], run: (a) => new Constant(VALUE, assetsOf(data(a))) },
  scaleValue: {
    takes: [ONE, TOKENS],
    run: (factor, a) => new Constant(VALUE, scaled(BigInt(integer(factor)), tokens(a))),
  },
} satisfies Record<string, Definition>;
