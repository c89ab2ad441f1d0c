/**
 * The module for browsers that the token service serves as `/client.js`: the typed client, the verifiers, and signing.
 *
 * @example
 * ```html
 * <script type="module">
 *   import { TokenClient, verifyFact } from "/client.js";
 * </script>
 * ```
 */
export { fromHex, fromUtf8, toHex, utf8 } from "#src/base/bytes.ts";
export { bytesText } from "#src/contract/text.ts";
export { addressFromHex, addWitnessSet, transactionHash } from "#src/client/witnesses.ts";
export { newSeed, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
export { factSegment, keyBytes } from "#src/client/factKey.ts";
export {
  type FactsAnswer,
  type FactSetQuestion,
  type FactSetRefusal,
  type FactSource,
  type VerifiedFactSet,
  verifyFactSet,
} from "#src/client/factSet.ts";
export { ApiError } from "#src/client/http.ts";
export {
  type FactProof,
  type FactQuestion,
  type FactRefusal,
  type TrustedState,
  type VerifiedFact,
  verifyFact,
} from "#src/client/proofs.ts";
export {
  checkSummary,
  exactSummary,
  firstOf,
  fromSummary,
  fromTransactions,
  fromUtxos,
  type Intent,
  requireIntent,
  type Resolve,
  summarize,
  type Summary,
} from "#src/client/summary.ts";
export { type Acceptance, checkAcceptance } from "#src/client/acceptance.ts";
export {
  checkBytes,
  CheckedTransaction,
  checkTransaction,
  signTransaction,
  signUnchecked,
} from "#src/client/checkedTransaction.ts";
export { TokenClient } from "#src/client/tokens.ts";
