/** NATS subjects of the devnet. */

/** Published after every block and every rollback; the body is the new tip. */
export const BLOCK_SUBJECT = "arbor.devnet.block";
/**
 * Submits a transaction to the running devnet: `{ transaction }`, CBOR in hexadecimal; the answer is `{ outcome }` or
 * `{ error }` (see `toPlain`).
 */
export const SUBMIT_SUBJECT = "arbor.devnet.submit";
/** Has the running devnet undo `{ blocks }`; the answer is a result with the tip. */
export const ROLLBACK_SUBJECT = "arbor.devnet.rollback";
/** Has the running devnet save, restore or delete a snapshot: `{ action, name, replace }`; the answer is a result. */
export const SNAPSHOT_SUBJECT = "arbor.devnet.snapshot";
