/** The attacks on version 2 of the contract. All other tests of the contract run on it in `test/long/version2.test.ts`. */
import { afterAll, vi } from "vitest";

// Unit tests share a process: modules that read the build are loaded anew, before and after.
vi.resetModules();
afterAll(() => void vi.resetModules());
await import("../../support/version2.ts");
await import("./ledger-attacks.test.ts");
await import("./whole.test.ts");
await import("./mint.test.ts");
await import("./spend.test.ts");
await import("./modify.test.ts");
await import("./uplc.test.ts");
