/** The JSON type of a schema. Not exported by the packages: their declarations have the types that it gives. */
import type { z } from "zod";
import type { Messaged } from "#src/base/json.ts";

/** The JSON type of a schema: integers are `number`, or `bigint` past 2^53. */
export type Exact<S extends z.ZodType> = Messaged<z.output<S>>;
