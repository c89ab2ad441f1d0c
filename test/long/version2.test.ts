/** Version 2 of the contract: the tests that are too long for `test/unit/cage/version2.test.ts`. */
import "../support/contract/version2.ts";
import "../unit/cage/crown.test.ts";
import "../unit/cage/forms.test.ts";
import "../unit/cage/fuzz.test.ts";
import "../unit/cage/mutations.test.ts";
import "../unit/cage/proof.test.ts";
import "../unit/cage/second-look.test.ts";
import "../unit/cage-transactions/batches.test.ts";
import "../unit/cage-transactions/crowned.test.ts";
import "../unit/cage-transactions/life.test.ts";
