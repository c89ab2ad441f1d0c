/** Built-in functions on data. */
import { type Definition } from "#src/plutus/machine/builtin.ts";
import {
  Built,
  DataKind,
  integerOf,
  kindOf,
  type MachineData,
  partsOf,
  sameData,
  tagOf,
} from "#src/plutus/machine/data.ts";
import { encodeMachineData } from "#src/plutus/machine/dataCbor.ts";
import { refuse } from "#src/plutus/machine/failure.ts";
import { EMPTY } from "#src/plutus/machine/list.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { BYTES, CONSTR_PAIR, DATA, DATA_LIST, DATA_PAIR, DATA_PAIRS, INTEGER } from "#src/plutus/machine/type.ts";
import { bytes, data, integer, listOfType, unit } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE, type Value } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { hasBounds, type Variant } from "#src/plutus/machine/version.ts";

const { ONE } = Measure;
const MAX_TAG = (1n << 64n) - 1n;

function dataOf(value: Value, kind: DataKind): MachineData {
  const found = data(value);
  return kindOf(found) === kind ? found : refuse("data of another kind");
}

export function dataBuiltins(variant: Variant) {
  const boundedTags = hasBounds(variant);
  return {
    constrData: {
      takes: [ONE, ONE],
      run: (tag, fields) => {
        const number = integer(tag);
        if (boundedTags && (number < 0 || number > MAX_TAG)) refuse("constrData: the number is beyond 64 bits");
        return new Constant(DATA, new Built(DataKind.CONSTR, number, listOfType(fields, DATA_LIST)));
      },
    },
    mapData: {
      takes: [ONE],
      run: (entries) => new Constant(DATA, new Built(DataKind.MAP, 0, listOfType(entries, DATA_PAIRS))),
    },
    listData: {
      takes: [ONE],
      run: (elements) => new Constant(DATA, new Built(DataKind.LIST, 0, listOfType(elements, DATA_LIST))),
    },
    iData: { takes: [ONE], run: (a) => new Constant(DATA, integer(a)) },
    bData: { takes: [ONE], run: (a) => new Constant(DATA, bytes(a)) },
    unConstrData: {
      takes: [ONE],
      run: (a) => {
        const found = dataOf(a, DataKind.CONSTR);
        return new Constant(CONSTR_PAIR, [tagOf(found), partsOf(found)]);
      },
    },
    unMapData: { takes: [ONE], run: (a) => new Constant(DATA_PAIRS, partsOf(dataOf(a, DataKind.MAP))) },
    unListData: { takes: [ONE], run: (a) => new Constant(DATA_LIST, partsOf(dataOf(a, DataKind.LIST))) },
    unIData: { takes: [ONE], run: (a) => new Constant(INTEGER, integerOf(dataOf(a, DataKind.INTEGER))) },
    unBData: { takes: [ONE], run: (a) => new Constant(BYTES, dataOf(a, DataKind.BYTES)) },
    equalsData: { takes: [Measure.DATA, Measure.DATA], run: (a, b) => sameData(data(a), data(b)) ? TRUE : FALSE },
    mkPairData: { takes: [ONE, ONE], run: (a, b) => new Constant(DATA_PAIR, [data(a), data(b)]) },
    mkNilData: {
      takes: [ONE],
      run: (a) => {
        unit(a);
        return new Constant(DATA_LIST, EMPTY);
      },
    },
    mkNilPairData: {
      takes: [ONE],
      run: (a) => {
        unit(a);
        return new Constant(DATA_PAIRS, EMPTY);
      },
    },
    serialiseData: { takes: [Measure.DATA], run: (a) => new Constant(BYTES, encodeMachineData(data(a))) },
  } satisfies Record<string, Definition>;
}
