/** Ten thousand calls that nobody means, to the token service. */
import { describe } from "vitest";
import { tokenFuzz } from "../support/token_fuzz.ts";

describe("calls that nobody means", () => tokenFuzz(10_000));
