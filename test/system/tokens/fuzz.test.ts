/** Two thousand random calls to the token service; ten thousand of them are in `deno task test:long`. */
import { describe } from "vitest";
import { tokenFuzz } from "../../support/tokens/tokenFuzz.ts";

describe("random calls", () => tokenFuzz(2_000));
