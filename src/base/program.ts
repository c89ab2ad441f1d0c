/** How users start a program of the product, for hints. Packages have another module in its place. */
import { DENO_TASK } from "#src/base/deno.ts";

/** The command line of a program: `start`, `demo`. */
export const programLine = (name: "start" | "demo"): string => `${DENO_TASK} ${name}`;
