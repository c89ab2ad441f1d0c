/**
 * The attacks on the contract's build for protocol version 11, which is not published. Every run of a script context
 * runs both builds, which must agree. All other tests of the contract run on it in `test/long/cased.test.ts`.
 */
import { afterAll, vi } from "vitest";

// Unit tests share a process: modules that read the build are loaded anew, before and after.
vi.resetModules();
afterAll(() => void vi.resetModules());
await import("../../support/cased_build.ts");
await import("./ledger-attacks.test.ts");
await import("./whole.test.ts");
await import("./mint.test.ts");
await import("./spend.test.ts");
await import("./modify.test.ts");
await import("./uplc.test.ts");
