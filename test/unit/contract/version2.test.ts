/** The attacks on version 2 of the contract. All other tests of the contract run on it in `test/long/version2.test.ts`. */
import "../../support/contract/version2.ts";
import "./ledgerAttacks.test.ts";
import "./whole.test.ts";
import "./mint.test.ts";
import "./spend.test.ts";
import "./modify.test.ts";
import "./uplc.test.ts";
import { afterAll, vi } from "vitest";

// Unit tests share a process: modules that read the build are loaded again, before the imports and afterwards.
vi.hoisted(() => void vi.resetModules());
afterAll(() => void vi.resetModules());
