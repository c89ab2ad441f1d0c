/**
 * The contract's unpublished build for protocol version 11: the tests that are too long for
 * `test/unit/cage/cased.test.ts`.
 */
import "../support/cased_build.ts";
import "../unit/cage/crown.test.ts";
import "../unit/cage/forms.test.ts";
import "../unit/cage/fuzz.test.ts";
import "../unit/cage/mutations.test.ts";
import "../unit/cage/proof.test.ts";
import "../unit/cage/second-look.test.ts";
import "../unit/cage-transactions/batches.test.ts";
import "../unit/cage-transactions/crowned.test.ts";
import "../unit/cage-transactions/life.test.ts";
