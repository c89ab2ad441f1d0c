/**
 * Failures as the node's Haskell code shows them (`Show`, ledger of cardano-node 10), for services that put this text into
 * their answers: `cardano-submit-api` and Blockfrost. Clients search it for names and hashes.
 *
 * The data of failures that name parts of governance is shown in fewer words than a node's.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { decodeAll } from "#src/cardano/cbor.ts";
import type {
  CollectError,
  FailureName,
  FailureOf,
  LedgerFailure,
  OutputAt,
  RedeemerTarget,
} from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import { type AssetId, nameOf, policyOf, type Value } from "#src/cardano/value.ts";
import { rulePathOf } from "#src/node/rejections/rejections.ts";

/** Constructors that lead to the failures of a rule, outermost first, by the rule's path. */
const WRAPPERS: Readonly<Record<string, readonly string[]>> = {
  "": [],
  "1": ["ConwayUtxowFailure"],
  "1,0": ["ConwayUtxowFailure", "UtxoFailure"],
  "1,0,0": ["ConwayUtxowFailure", "UtxoFailure", "UtxosFailure"],
  "2": ["ConwayCertsFailure"],
  "2,1": ["ConwayCertsFailure", "CertFailure"],
  "2,1,1": ["ConwayCertsFailure", "CertFailure", "DelegFailure"],
  "2,1,2": ["ConwayCertsFailure", "CertFailure", "PoolFailure"],
  "2,1,3": ["ConwayCertsFailure", "CertFailure", "GovCertFailure"],
  "3": ["ConwayGovFailure"],
};

/** A failure as Haskell shows it, with the constructors of the rules that lead to it. */
export function showFailure(failure: LedgerFailure): string {
  const path = rulePathOf(failure.name);
  if (!path) return application("ConwayMempoolFailure", [quoted(describeFailure(failure))]);
  const wrappers = WRAPPERS[path.join(",")] ?? [];
  return wrappers.reduceRight((inner, name) => application(name, [inner]), application(failure.name, dataOf(failure)));
}

/** Shows of the data, by name. Those that are missing here go by the form of their members. */
const shows: { readonly [Name in FailureName]?: (failure: FailureOf<Name>) => readonly string[] } = {
  ConwayMempoolFailure: ({ message }) => [quoted(message)],
  ConwayWdrlNotDelegatedToDRep: ({ keys }) => [nonEmpty(keys.map(keyHash))],
  MissingVKeyWitnessesUTXOW: ({ keys }) => [setOf(keys.map(keyHash))],
  InvalidWitnessesUTXOW: ({ keys }) => [list(keys.map((key) => application("VKey", [quoted(key)])))],
  MissingRedeemers: ({ redeemers }) => [
    list(redeemers.map((redeemer) => `(${purpose(redeemer, "AsItem")},${scriptHash(redeemer.script)})`)),
  ],
  ExtraRedeemers: ({ redeemers }) => [list(redeemers.map((redeemer) => purpose(redeemer, "AsIx")))],
  MissingRequiredDatums: ({ missing, received }) => [setOf(missing.map(safeHash)), setOf(received.map(safeHash))],
  NotAllowedSupplementalDatums: ({ unallowed, acceptable }) => [
    setOf(unallowed.map(safeHash)),
    setOf(acceptable.map(safeHash)),
  ],
  PPViewHashesDontMatch: ({ supplied, expected }) => [
    mismatch(maybe(supplied, safeHash), maybe(expected, safeHash)),
  ],
  ScriptIntegrityHashMismatch: ({ supplied, expected, preimage }) => [
    mismatch(maybe(supplied, safeHash), maybe(expected, safeHash)),
    maybe(preimage, quoted),
  ],
  MissingTxBodyMetadataHash: ({ hash }) => [auxiliaryHash(hash)],
  MissingTxMetadata: ({ hash }) => [auxiliaryHash(hash)],
  ConflictingMetadataHash: ({ supplied, expected }) => [mismatch(auxiliaryHash(supplied), auxiliaryHash(expected))],
  OutsideValidityIntervalUTxO: ({ from, to, slot }) => [
    `ValidityInterval {invalidBefore = ${maybe(from, slotNo)}, invalidHereafter = ${maybe(to, slotNo)}}`,
    slotNo(slot),
  ],
  OutsideForecast: ({ slot }) => [slotNo(slot)],
  MaxTxSizeUTxO: ({ supplied, expected }) => [mismatch(String(supplied), String(expected))],
  TooManyCollateralInputs: ({ supplied, expected }) => [mismatch(String(supplied), String(expected))],
  ConwayTxRefScriptsSizeTooBig: ({ supplied, expected }) => [mismatch(String(supplied), String(expected))],
  ValueNotConservedUTxO: ({ consumed, produced }) => [mismatch(valueText(consumed), valueText(produced))],
  ExUnitsTooBigUTxO: ({ supplied, expected }) => [mismatch(unitsText(supplied), unitsText(expected))],
  InsufficientCollateral: ({ supplied, expected }) => [`DeltaCoin ${supplied}`, coin(expected)],
  IncorrectTotalCollateralField: ({ supplied, expected }) => [`DeltaCoin ${supplied}`, coin(expected)],
  CollateralContainsNonADA: ({ value }) => [valueText(value)],
  WrongNetwork: ({ expected, addresses }) => [network(expected), setOf(addresses.map(quoted))],
  WrongNetworkWithdrawal: ({ expected, accounts }) => [network(expected), setOf(accounts.map(account))],
  WrongNetworkInTxBody: ({ supplied, expected }) => [mismatch(network(supplied), network(expected))],
  BabbageOutputTooSmallUTxO: ({ outputs }) => [
    list(outputs.map((output) => `(${outputText(output)},${coin(output.expected)})`)),
  ],
  OutputTooBigUTxO: ({ outputs }) => [
    list(outputs.map((output) => `(${output.supplied},${output.expected},${outputText(output)})`)),
  ],
  OutputBootAddrAttrsTooBig: ({ outputs }) => [list(outputs.map(outputText))],
  ValidationTagMismatch: (failure) =>
    failure.kind === "PassedUnexpectedly" ? ["IsValid False", "PassedUnexpectedly"] : [
      "IsValid True",
      application("FailedUnexpectedly", [
        nonEmpty([application("PlutusFailure", [quoted([failure.message, ...failure.logs].join("\n")), quoted("")])]),
      ]),
    ],
  CollectErrors: ({ errors }) => [list(errors.map(collectError))],
  WithdrawalsNotInRewardsCERTS: ({ withdrawals }) => [withdrawn(withdrawals)],
  ConwayWithdrawalsMissingAccounts: ({ withdrawals }) => [withdrawn(withdrawals)],
  ConwayIncompleteWithdrawals: ({ withdrawals }) => [
    mapOf(withdrawals.map(({ account: of, supplied, expected }) => [
      account(of),
      expected === undefined ? coin(supplied) : mismatch(coin(supplied), coin(expected)),
    ])),
  ],
  StakeKeyHasNonZeroAccountBalanceDELEG: ({ balance }) => [coin(balance)],
  IncorrectDepositDELEG: ({ supplied }) => [coin(supplied)],
  DelegateeStakePoolNotRegisteredDELEG: ({ pool }) => [keyHash(pool)],
  StakePoolNotRegisteredOnKeyPOOL: ({ pool }) => [keyHash(pool)],
  StakePoolRetirementWrongEpochPOOL: ({ supplied, after, last }) => [
    mismatch(epochNo(supplied), epochNo(after)),
    mismatch(epochNo(supplied), epochNo(last)),
  ],
  WrongNetworkPOOL: ({ supplied, expected, pool }) => [mismatch(network(supplied), network(expected)), keyHash(pool)],
  PoolMedataHashTooBig: ({ pool, size }) => [keyHash(pool), String(size)],
  ProposalProcedureNetworkIdMismatch: ({ accounts, expected }) => [...accounts.map(account), network(expected)],
  ProposalReturnAccountDoesNotExist: ({ accounts }) => accounts.map(account),
  TreasuryWithdrawalsNetworkIdMismatch: ({ accounts, expected }) => [setOf(accounts.map(account)), network(expected)],
  TreasuryWithdrawalReturnAccountsDoNotExist: ({ accounts }) => [nonEmpty(accounts.map(account))],
  VRFKeyHashAlreadyRegistered: ({ pool, vrf }) => [keyHash(pool), application("VRFVerKeyHash", [quoted(vrf)])],
};

function dataOf<Name extends FailureName>(failure: { [N in Name]: FailureOf<N> }[Name]): readonly string[] {
  const show: ((failure: { [N in Name]: FailureOf<N> }[Name]) => readonly string[]) | undefined = shows[failure.name];
  if (show) return show(failure);
  const { name: _, ...data } = failure;
  const { supplied, expected, ...others } = data as Readonly<Record<string, unknown>>;
  const compared = supplied === undefined && expected === undefined
    ? []
    : [mismatch(plain("supplied", supplied), plain("expected", expected))];
  return [...compared, ...Object.entries(others).map(([member, value]) => plain(member, value))];
}

/** What the members of failures hold, shown by their names. */
function plain(member: string, value: unknown): string {
  if (value === undefined) return "SNothing";
  if (typeof value === "bigint") return coin(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return member === "script" ? scriptHash(value) : quoted(value);
  if (Array.isArray(value)) return setOf(value.map((one) => plain(member === "scripts" ? "script" : "", one)));
  if (isReference(value)) return txIn(value);
  if (isCredential(value)) return credential(value);
  return list(Object.entries(value ?? {}).map(([name, one]) => `${name} = ${plain(name, one)}`));
}

const isReference = (value: unknown): value is OutRef =>
  typeof value === "object" && value !== null && "txHash" in value && "index" in value;
const isCredential = (value: unknown): value is Credential =>
  typeof value === "object" && value !== null && "kind" in value && "hash" in value;

/** Text in quotation marks, as Haskell writes it: characters beyond ASCII by their numbers. */
function quoted(text: string): string {
  let shown = "";
  let numeric = false;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const named = NAMED_CHARACTERS[character];
    // `\&` keeps a digit from joining the number before it
    if (numeric && /\d/.test(character)) shown += "\\&";
    numeric = named === undefined && (code < 32 || code > 126);
    shown += named ?? (numeric ? `\\${code}` : character);
  }
  return `"${shown}"`;
}

const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** A constructor and its arguments, with brackets where Haskell needs them. */
function application(name: string, parts: readonly string[]): string {
  return [name, ...parts.map(argument)].join(" ");
}

function argument(text: string): string {
  const atomic = /^["[(]/.test(text) && !text.includes(" :| ");
  return atomic || !text.includes(" ") ? text : `(${text})`;
}

const list = (items: readonly string[]) => `[${items.join(",")}]`;
const setOf = (items: readonly string[]) => `fromList ${list(items)}`;
const mapOf = (pairs: readonly (readonly [string, string])[]) =>
  setOf(pairs.map(([key, value]) => `(${key},${value})`));
const nonEmpty = ([first = "", ...others]: readonly string[]) => `${first} :| ${list(others)}`;
const maybe = <T>(value: T | undefined, show: (value: T) => string) =>
  value === undefined ? "SNothing" : application("SJust", [show(value)]);
const mismatch = (supplied: string, expected: string) =>
  `Mismatch {mismatchSupplied = ${supplied}, mismatchExpected = ${expected}}`;

const coin = (lovelace: bigint) => `Coin ${lovelace}`;
const slotNo = (slot: number) => `SlotNo ${slot}`;
const epochNo = (epoch: bigint | number) => `EpochNo ${epoch}`;
const safeHash = (hash: string) => `SafeHash ${quoted(hash)}`;
const scriptHash = (hash: string) => `ScriptHash ${quoted(hash)}`;
const keyHash = (hash: string) => `KeyHash {unKeyHash = ${quoted(hash)}}`;
const auxiliaryHash = (hash: string) => `TxAuxDataHash {unTxAuxDataHash = ${safeHash(hash)}}`;
const network = (id: number) => (id === 1 ? "Mainnet" : "Testnet");
const unitsText = ({ memory, steps }: Units) =>
  `WrapExUnits {unWrapExUnits = ExUnits' {exUnitsMem' = ${memory}, exUnitsSteps' = ${steps}}}`;

const txIn = ({ txHash, index }: OutRef) => `TxIn (TxId {unTxId = ${safeHash(txHash)}}) (TxIx {unTxIx = ${index}})`;

const credential = ({ kind, hash }: Credential) =>
  kind === "key" ? application("KeyHashObj", [keyHash(hash)]) : application("ScriptHashObj", [scriptHash(hash)]);

/** A reward account, from its bytes. */
function account(hex: string): string {
  const of: Credential = { kind: hex.startsWith("f") ? "script" : "key", hash: hex.slice(2) };
  return `RewardAccount {raNetwork = ${network(Number(hex[1]))}, raCredential = ${credential(of)}}`;
}

const withdrawn = (all: readonly { readonly account: string; readonly supplied: bigint }[]) =>
  `Withdrawals {unWithdrawals = ${mapOf(all.map(({ account: of, supplied }) => [account(of), coin(supplied)]))}}`;

const outputText = ({ index, output }: OutputAt) => (index === undefined ? quoted(output ?? "") : `output ${index}`);

function valueText({ lovelace, assets }: Value): string {
  const policies = new Map<string, string[]>();
  for (const [asset, quantity] of assets) {
    const name = `(${quoted(nameOf(asset as AssetId))},${quantity})`;
    const known = policies.get(policyOf(asset));
    if (known) known.push(name);
    else policies.set(policyOf(asset), [name]);
  }
  const held = mapOf(
    [...policies].map(([policy, names]) => [`PolicyID {policyID = ${scriptHash(policy)}}`, setOf(names)]),
  );
  return application("MaryValue", [coin(lovelace), application("MultiAsset", [held])]);
}

const PURPOSES = {
  spend: "ConwaySpending",
  mint: "ConwayMinting",
  cert: "ConwayCertifying",
  reward: "ConwayRewarding",
  vote: "ConwayVoting",
  propose: "ConwayProposing",
} as const;

function purpose({ purpose: of, index, item }: RedeemerTarget, as: "AsIx" | "AsItem"): string {
  const inner = as === "AsItem" && item !== undefined
    ? `AsItem {unAsItem = ${itemText(of, item)}}`
    : `AsIx {unAsIx = ${index ?? 0}}`;
  return application(PURPOSES[of], [inner]);
}

/** What a redeemer is for; CBOR in hexadecimal where the text would be long. */
function itemText(of: RedeemerTarget["purpose"], item: string): string {
  const value = decodeAll(fromHex(item));
  if (of === "mint" && value.type === "bytes") return `PolicyID {policyID = ${scriptHash(toHex(value.value))}}`;
  const [hash, index] = value.type === "array" ? value.value : [];
  if (of === "spend" && hash?.type === "bytes" && index?.type === "int") {
    return txIn({ txHash: toHex(hash.value), index: Number(index.value) });
  }
  return quoted(item);
}

function collectError(error: CollectError): string {
  switch (error.kind) {
    case "NoRedeemer":
      return application("NoRedeemer", [purpose(error, "AsItem")]);
    case "NoWitness":
      return application("NoWitness", [scriptHash(error.script)]);
    case "NoCostModel":
      return `NoCostModel PlutusV${error.language}`;
    case "BadTranslation":
      return application("BadTranslation", [contextError(error)]);
  }
}

/** Errors of script contexts that Conway has from earlier eras, by the constructors that lead to them. */
const EARLIER_CONTEXT: Readonly<Record<string, readonly string[]>> = {
  ByronTxOutInContext: ["BabbageContextError"],
  RedeemerPointerPointsToNothing: ["BabbageContextError"],
  InlineDatumsNotSupported: ["BabbageContextError"],
  TranslationLogicMissingInput: ["BabbageContextError", "AlonzoContextError"],
  TimeTranslationPastHorizon: ["BabbageContextError", "AlonzoContextError"],
};

function contextError({ reason, detail }: Extract<CollectError, { kind: "BadTranslation" }>): string {
  const shown = detail === undefined ? reason : application(reason, [quoted(textIn(detail) ?? detail)]);
  return (EARLIER_CONTEXT[reason] ?? []).reduceRight((inner, name) => application(name, [inner]), shown);
}

/** The text that CBOR in hexadecimal holds; undefined for anything else. */
function textIn(cbor: string): string | undefined {
  const item = decodeAll(fromHex(cbor));
  return item.type === "text" ? item.value : undefined;
}
