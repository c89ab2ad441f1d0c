/** Ten thousand random calls to the token service. */
import { describe } from "vitest";
import { tokenFuzz } from "../support/tokens/tokenFuzz.ts";

describe("random calls", () => tokenFuzz(10_000));
