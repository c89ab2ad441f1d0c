/** Version 2 of the contract: the tests that are too long for `test/unit/contract/version2.test.ts`. */
import "../support/contract/version2.ts";
import "../unit/contract/crown.test.ts";
import "../unit/contract/forms.test.ts";
import "../unit/contract/fuzz.test.ts";
import "../unit/contract/mutations.test.ts";
import "../unit/contract/proof.test.ts";
import "../unit/contract/secondLook.test.ts";
import "../unit/contract/transactions/batches.test.ts";
import "../unit/contract/transactions/crowned.test.ts";
import "../unit/contract/transactions/life.test.ts";
