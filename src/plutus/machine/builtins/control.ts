/** Built-in functions that choose between values, and `trace`. */
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { DataKind, kindOf } from "#src/plutus/machine/data.ts";
import { isEmpty } from "#src/plutus/machine/list.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { addToLog } from "#src/plutus/machine/trace.ts";
import { bool, data, list, text, unit } from "#src/plutus/machine/unlift.ts";

const { ONE } = Measure;

export const controlBuiltins = {
  ifThenElse: { forces: 1, takes: [ONE, ONE, ONE], run: (a, b, c) => bool(a) ? b : c },
  chooseUnit: {
    forces: 1,
    takes: [ONE, ONE],
    run: (a, b) => {
      unit(a);
      return b;
    },
  },
  trace: {
    forces: 1,
    takes: [ONE, ONE],
    run: (message, b) => {
      addToLog(text(message));
      return b;
    },
  },
  chooseList: { forces: 2, takes: [ONE, ONE, ONE], run: (a, b, c) => isEmpty(list(a)) ? b : c },
  chooseData: {
    forces: 1,
    takes: [ONE, ONE, ONE, ONE, ONE, ONE],
    run: (a, constr, map, list, integer, bytes) => {
      switch (kindOf(data(a))) {
        case DataKind.CONSTR:
          return constr;
        case DataKind.MAP:
          return map;
        case DataKind.LIST:
          return list;
        case DataKind.INTEGER:
          return integer;
        default:
          return bytes;
      }
    },
  },
} satisfies Record<string, Definition>;
