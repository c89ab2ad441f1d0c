/** Scenarios as data: a table's rows are named after the scenarios of cardano-wallet's integration tests. */
import { type Expected, type Method, type World } from "./world.ts";

/** A scenario, or one case of it. */
export interface Row {
  /** The id of the real scenario, as in the file of the map. */
  readonly id: string;
  /** The case, if there are several. */
  readonly what?: string;
  run(world: World): Promise<unknown>;
}

/** Scenarios of one file of the real tests. */
export interface Table {
  /** Name of the file of the map, without its ending. */
  readonly file: string;
  readonly rows: readonly Row[];
  /** Its rows change what others see: they run one after another, after all others. */
  readonly alone?: boolean;
}

/** A request: method, path, body, headers (all of them, if given). */
export type Request = readonly [Method, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

/** A scenario of several steps. */
export const flow = (id: string, run: (world: World) => Promise<unknown>): Row => ({ id, run });

/** A scenario of one request and its answer. */
export const row = (
  id: string,
  request: (world: World) => Request | Promise<Request>,
  expected: Expected,
  what?: string,
): Row => ({
  id,
  ...(what === undefined ? {} : { what }),
  run: async (world) => world.check(await world.call(...await request(world)), expected),
});

/** The cases of one scenario, by what they are. */
export const cases = <T>(
  id: string,
  values: Readonly<Record<string, T>>,
  run: (world: World, value: T) => Promise<unknown>,
): Row[] => Object.entries(values).map(([what, value]) => ({ id, what, run: (world) => run(world, value) }));
