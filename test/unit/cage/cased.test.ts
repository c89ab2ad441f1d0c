/**
 * The attacks on the contract's build for protocol version 11, which is not published. Every run of a script context
 * runs both builds, which must agree. All other tests of the contract run on it in `test/long/cased.test.ts`.
 */
import "../../support/cased_build.ts";
import "./ledger-attacks.test.ts";
import "./whole.test.ts";
import "./mint.test.ts";
import "./spend.test.ts";
import "./modify.test.ts";
import "./uplc.test.ts";
