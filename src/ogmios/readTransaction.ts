/**
 * Transactions out of Ogmios' JSON. With `cbor` (a server with `--include-cbor`) they are exact. Without it their bytes are encoded here, in the form
 * of Conway, and the id is the server's. What the JSON does not tell is lost:
 *
 * - the original encoding, so that the body's bytes do not hash to the id in general, and a native script without its CBOR not to its hash;
 * - that a registration and a delegation were one certificate, after which the indices of certificates differ;
 * - updates and votes of genesis keys before Conway; from which pot rewards were moved, to which kind of credential, and where the certificate
 *   stood among the others;
 * - whether the name of a relay without a port has SRV records; whether a key of digits in metadata is an integer (read so) or a text.
 */
import { concat, fromHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { CborError, type Encodable, encode, Encoded, Indefinite, Tagged } from "#src/cardano/cbor.ts";
import { BodyTransaction, readWhole } from "#src/cardano/scanBody.ts";
import { ByronTransaction } from "#src/cardano/scanByron.ts";
import { encodeAssets } from "#src/cardano/value.ts";
import { Walk } from "#src/cardano/walk.ts";
import { readCertificate, readMove } from "#src/ogmios/certificates.ts";
import { readValidator } from "#src/ogmios/evaluation.ts";
import {
  amountOf,
  bytesOf,
  hexOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
} from "#src/ogmios/form.ts";
import { readProposalJson, readVotesJson } from "#src/ogmios/governance.ts";
import { readLabels } from "#src/ogmios/metadata.ts";
import { readOutput } from "#src/ogmios/outputs.ts";
import { readScript } from "#src/ogmios/scripts.ts";
import { readAda, readAddressJson, readAssets, readRef, readUnits } from "#src/ogmios/values.ts";
import { PURPOSES } from "#src/plutus/types.ts";

/** Number of an era as in `[era, block]`: 1 Byron, 2 Shelley … 7 Conway. */
const BYRON = 1;
const SHELLEY = 2;
const CONWAY = 7;

/** A transaction whose id is that of the server: its bytes were encoded here. */
class EncodedTransaction extends BodyTransaction {
  readonly #id: string;

  constructor(id: string, source: ConstructorParameters<typeof BodyTransaction>[0]) {
    super(source);
    this.#id = id;
  }

  override get hash(): string {
    return this.#id;
  }
}

/** A transaction of Byron whose id is that of the server. */
class EncodedByronTransaction extends ByronTransaction {
  readonly #id: string;

  constructor(id: string, index: number, body: Uint8Array, witnesses: Uint8Array) {
    super(index, body, witnesses);
    this.#id = id;
  }

  override get hash(): string {
    return this.#id;
  }
}

/**
 * Reads a transaction; `index` is its place in its block, `era` that of the block.
 *
 * @throws OgmiosFormError for JSON of another form, or whose `cbor` is another transaction than its id says
 */
export function readTransaction(json: Json | undefined, index = 0, era = CONWAY): ScannedTransaction {
  const transaction = objectOf(json, "the transaction");
  const id = hexOf(transaction.id, "id", 32);
  try {
    // every member is read here, so that none throws when it is used
    return readWhole(transactionOf(transaction, id, index, era));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw new OgmiosFormError(`transaction ${id}: ${error.message}`);
  }
}

function transactionOf(transaction: JsonObject, id: string, index: number, era: number): ScannedTransaction {
  if (isGiven(transaction.cbor)) return exact(id, bytesOf(transaction.cbor, "cbor"), index, era);
  if (era <= BYRON) return new EncodedByronTransaction(id, index, byronBody(transaction), byronWitnesses(transaction));
  return new EncodedTransaction(id, {
    index,
    valid: transaction.spends !== "collaterals",
    body: encodeBody(transaction),
    witnesses: encodeWitnesses(transaction),
    auxiliaryData: auxiliaryData(transaction),
    lastSlotIncluded: era === SHELLEY,
  });
}

function exact(id: string, bytes: Uint8Array, index: number, era: number): ScannedTransaction {
  const walk = new Walk(bytes);
  const length = walk.tuple("transaction", 2, 4);
  const [body, witnesses] = [walk.raw(), walk.raw()];
  const valid = length < 4 || walk.bool();
  const auxiliaryData = length === 2 || walk.nil() ? undefined : walk.raw();
  walk.close(0);
  walk.end();
  const transaction = length === 2
    ? new ByronTransaction(index, body, witnesses)
    : new BodyTransaction({ index, valid, body, witnesses, auxiliaryData, lastSlotIncluded: era === SHELLEY });
  if (transaction.hash !== id) throw new OgmiosFormError(`the CBOR of transaction ${id} is of another one`);
  return transaction;
}

const set = (elements: readonly Encodable[]) => new Tagged(258, elements);
const ref = (json: Json): Encodable => {
  const { txHash, index } = readRef(json);
  return [fromHex(txHash), index];
};

/** Members of a list, empty where there is none. */
function given(json: Json | undefined, what: string): readonly Json[] {
  return isGiven(json) ? listOf(json, what) : [];
}

function encodeBody(transaction: JsonObject): Uint8Array {
  const body = new Map<Encodable, Encodable>([
    [0, set(given(transaction.inputs, "inputs").map(ref))],
    [1, given(transaction.outputs, "outputs").map((output) => new Encoded(readOutput(output).raw))],
    [2, isGiven(transaction.fee) ? readAda(transaction.fee) : 0n],
  ]);
  const { invalidBefore, invalidAfter } = objectOf(transaction.validityInterval ?? {}, "validityInterval");
  if (isGiven(invalidAfter)) body.set(3, amountOf(invalidAfter, "invalidAfter"));
  const proposals = given(transaction.proposals, "proposals");
  const moves = proposals.flatMap((proposal) => {
    const { deposit, action } = objectOf(proposal, "a proposal");
    const move = isGiven(deposit) ? undefined : readMove(objectOf(action, "the action"));
    return move ? [move] : [];
  });
  const certificates = [...given(transaction.certificates, "certificates").map(readCertificate), ...moves];
  if (certificates.length > 0) body.set(4, set(certificates));
  const withdrawals = Object.entries(objectOf(transaction.withdrawals ?? {}, "withdrawals"));
  if (withdrawals.length > 0) {
    body.set(5, new Map(withdrawals.map(([account, amount]) => [fromHex(readAddressJson(account)), readAda(amount)])));
  }
  if (isGiven(transaction.metadata)) {
    body.set(7, bytesOf(objectOf(transaction.metadata, "metadata").hash, "the hash of the metadata"));
  }
  if (isGiven(invalidBefore)) body.set(8, amountOf(invalidBefore, "invalidBefore"));
  if (isGiven(transaction.mint)) body.set(9, encodeAssets(readAssets(objectOf(transaction.mint, "mint"))));
  if (isGiven(transaction.scriptIntegrityHash)) {
    body.set(11, bytesOf(transaction.scriptIntegrityHash, "scriptIntegrityHash"));
  }
  const collaterals = given(transaction.collaterals, "collaterals");
  if (collaterals.length > 0) body.set(13, set(collaterals.map(ref)));
  const signers = given(transaction.requiredExtraSignatories, "requiredExtraSignatories");
  if (signers.length > 0) body.set(14, set(signers.map((signer) => bytesOf(signer, "a signatory"))));
  if (isGiven(transaction.network)) body.set(15, transaction.network === "mainnet" ? 1 : 0);
  if (isGiven(transaction.collateralReturn)) {
    body.set(16, new Encoded(readOutput(transaction.collateralReturn).raw));
  }
  if (isGiven(transaction.totalCollateral)) body.set(17, readAda(transaction.totalCollateral));
  const references = given(transaction.references, "references");
  if (references.length > 0) body.set(18, set(references.map(ref)));
  const votes = readVotesJson(given(transaction.votes, "votes"));
  if (votes) body.set(19, votes);
  const made = proposals.filter((proposal) => isGiven(objectOf(proposal, "a proposal").deposit));
  if (made.length > 0) body.set(20, set(made.map(readProposalJson)));
  const { value, donation } = objectOf(transaction.treasury ?? {}, "treasury");
  if (isGiven(value)) body.set(21, readAda(value));
  if (isGiven(donation)) body.set(22, readAda(donation));
  return encode(body);
}

/** Field of scripts in a witness set, and in auxiliary data, by the number of their language. */
const WITNESS_FIELDS = [1, 3, 6, 7] as const;
const AUXILIARY_FIELDS = [1, 2, 3, 4] as const;

/** Scripts of a transaction, each in CBOR, by language: those of its auxiliary data, or the others. */
function scriptsOf(transaction: JsonObject, ofAuxiliary: boolean): Encodable[][] {
  const auxiliary = new Set(given(transaction.requiredExtraScripts, "requiredExtraScripts"));
  const found: Encodable[][] = [[], [], [], []];
  for (const [hash, script] of Object.entries(objectOf(transaction.scripts ?? {}, "scripts"))) {
    if (auxiliary.has(hash) !== ofAuxiliary) continue;
    const walk = new Walk(readScript(script));
    walk.tuple("script", 2);
    found[walk.uint()]?.push(new Encoded(walk.raw()));
  }
  return found;
}

function encodeWitnesses(transaction: JsonObject): Uint8Array {
  const witnesses = new Map<Encodable, Encodable>();
  const signatories = listOf(transaction.signatories, "signatories").map((one) => objectOf(one, "a signatory"));
  const add = (field: number, elements: readonly Encodable[]) => {
    if (elements.length > 0) witnesses.set(field, set(elements));
  };
  const keys = signatories.filter(({ chainCode }) => !isGiven(chainCode));
  const bootstraps = signatories.filter(({ chainCode }) => isGiven(chainCode));
  add(0, keys.map(({ key, signature }) => [bytesOf(key, "key"), bytesOf(signature, "signature")]));
  add(
    2,
    bootstraps.map(({ key, signature, chainCode, addressAttributes }) =>
      [key, signature, chainCode, addressAttributes ?? ""].map((part) => bytesOf(part, "part of a signature"))
    ),
  );
  for (const [language, scripts] of scriptsOf(transaction, false).entries()) {
    add(WITNESS_FIELDS[language] ?? 1, scripts);
  }
  add(
    4,
    Object.values(objectOf(transaction.datums ?? {}, "datums")).map((datum) => new Encoded(bytesOf(datum, "a datum"))),
  );
  const redeemers = given(transaction.redeemers, "redeemers");
  if (redeemers.length > 0) witnesses.set(5, new Map(redeemers.map(encodableRedeemer)));
  return encode(new Map([...witnesses].sort(([a], [b]) => Number(a) - Number(b))));
}

function encodableRedeemer(json: Json): [Encodable, Encodable] {
  const { validator, redeemer, executionUnits } = objectOf(json, "a redeemer");
  const { purpose, index } = readValidator(validator);
  const { memory, steps } = readUnits(executionUnits);
  return [
    [PURPOSES.indexOf(purpose), index],
    [new Encoded(bytesOf(redeemer, "redeemer")), [memory, steps]],
  ];
}

function auxiliaryData(transaction: JsonObject): Uint8Array | undefined {
  if (!isGiven(transaction.metadata)) return undefined;
  const labels = readLabels(objectOf(transaction.metadata, "metadata").labels);
  const scripts = scriptsOf(transaction, true);
  const metadata = new Map<Encodable, Encodable>([...labels].sort(([a], [b]) => a < b ? -1 : 1));
  if (scripts.every((of) => of.length === 0)) return encode(metadata);
  const fields = new Map<Encodable, Encodable>();
  if (labels.size > 0) fields.set(0, metadata);
  for (const [language, of] of scripts.entries()) if (of.length > 0) fields.set(AUXILIARY_FIELDS[language] ?? 1, of);
  return encode(new Tagged(259, fields));
}

/** The body of a transaction of Byron, in the one form that it has. */
function byronBody(transaction: JsonObject): Uint8Array {
  const embedded = (bytes: Uint8Array) => new Tagged(24, bytes);
  const inputs = given(transaction.inputs, "inputs").map((input) => [0, embedded(encode(ref(input)))]);
  const outputs = given(transaction.outputs, "outputs").map((output) => {
    const { address, value } = objectOf(output, "an output");
    return [new Encoded(fromHex(readAddressJson(address))), readAda(value)];
  });
  return encode([new Indefinite(inputs), new Indefinite(outputs), new Map()]);
}

/** A key without a chain code redeems a voucher. */
function byronWitnesses(transaction: JsonObject): Uint8Array {
  return encode(
    listOf(transaction.signatories, "signatories").map((one) => {
      const { key, chainCode, signature } = objectOf(one, "a signatory");
      const whole = concat(bytesOf(key, "key"), bytesOf(chainCode ?? "", "chainCode"));
      return [whole.length > 32 ? 0 : 2, new Tagged(24, encode([whole, bytesOf(signature, "signature")]))];
    }),
  );
}
