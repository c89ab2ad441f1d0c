/** What the devnet is called on the bus. */

/** Rung after every block and every rollback; the body says the new tip. */
export const BLOCK_SUBJECT = "arbor.devnet.block";
/** Asks the running devnet to take a transaction: `{ transaction }`, CBOR in hexadecimal; the answer is `{ outcome }` or `{ error }`, plain. */
export const SUBMIT_SUBJECT = "arbor.devnet.submit";
/** Asks the running devnet to undo `{ blocks }`; the answer is a result with the tip. */
export const ROLLBACK_SUBJECT = "arbor.devnet.rollback";
