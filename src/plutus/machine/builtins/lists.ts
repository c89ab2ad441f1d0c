/** Built-in functions on pairs, lists and arrays. */
import type { Definition } from "#src/plutus/machine/builtin.ts";
import { Failure, refuse } from "#src/plutus/machine/failure.ts";
import { cons, drop, head, isEmpty, tail } from "#src/plutus/machine/list.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { INTEGER, sameType } from "#src/plutus/machine/type.ts";
import { array, constantOf, firstType, int64, integer, list, pair, secondType } from "#src/plutus/machine/unlift.ts";
import { FALSE, TRUE } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";

const { ONE } = Measure;

export const listBuiltins = {
  fstPair: { forces: 2, takes: [ONE], run: (a) => new Constant(firstType(a), pair(a)[0]) },
  sndPair: { forces: 2, takes: [ONE], run: (a) => new Constant(secondType(a), pair(a)[1]) },
  mkCons: {
    forces: 1,
    takes: [ONE, ONE],
    run: (a, b) => {
      const [element, rest] = [constantOf(a), list(b)];
      const { type } = constantOf(b);
      if (!sameType(element.type, type.first)) throw new Failure("type", "mkCons: an element of another type");
      return new Constant(type, cons(element.value, rest));
    },
  },
  headList: {
    forces: 1,
    takes: [ONE],
    run: (a) => {
      const elements = list(a);
      if (isEmpty(elements)) refuse("headList: the list is empty");
      return new Constant(firstType(a), head(elements));
    },
  },
  tailList: {
    forces: 1,
    takes: [ONE],
    run: (a) => {
      const elements = list(a);
      if (isEmpty(elements)) refuse("tailList: the list is empty");
      return new Constant(constantOf(a).type, tail(elements));
    },
  },
  nullList: { forces: 1, takes: [ONE], run: (a) => isEmpty(list(a)) ? TRUE : FALSE },
  dropList: {
    forces: 1,
    takes: [Measure.LITERAL, ONE],
    run: (count, a) => new Constant(constantOf(a).type, drop(list(a), Number(integer(count)))),
  },
  lengthOfArray: { forces: 1, takes: [ONE], run: (a) => new Constant(INTEGER, array(a).length) },
  listToArray: {
    forces: 1,
    takes: [Measure.LIST],
    run: (a) => {
      const elements = list(a).toArray();
      return new Constant(firstType(a).arrayOf, elements);
    },
  },
  indexArray: {
    forces: 1,
    takes: [ONE, ONE],
    run: (a, i) => {
      const [elements, index] = [array(a), int64(i)];
      if (index < 0 || index >= elements.length) refuse("indexArray: no such element");
      return new Constant(firstType(a), elements[index]);
    },
  },
} satisfies Record<string, Definition>;
