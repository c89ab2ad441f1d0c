/** Two thousand calls that nobody means, to the token service; ten thousand of them are in `deno task test:long`. */
import { describe } from "vitest";
import { tokenFuzz } from "../../support/token_fuzz.ts";

describe("calls that nobody means", () => tokenFuzz(2_000));
