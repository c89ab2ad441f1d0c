/** A transaction in full, as the explorer shows it: decoded, with the outputs that it refers to. */
import { toHex } from "#src/base/bytes.ts";
import { messaged, toJson } from "#src/base/json.ts";
import { addressText, type Credential, type NetworkId, rewardAddress } from "#src/cardano/address.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { asSet, CborError, decode, decodeAll, raw } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/conway/certificate.ts";
import type { Proposal, Voter } from "#src/cardano/conway/governance.ts";
import { readScript, type Script } from "#src/cardano/conway/script.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";
import { type Data, decodeData } from "#src/cardano/data.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { committeeText } from "#src/cardano/governanceId.ts";
import { hash224, hash256 } from "#src/cardano/hash.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { redeemerItems } from "#src/contract/redeemer.ts";
import { dataJson } from "#src/devnet/serve/blockfrost/dataJson.ts";
import { changedParameters } from "#src/devnet/serve/blockfrost/proposalDocuments.ts";
import { textOfAddress, textOfPool } from "#src/devnet/serve/blockfrost/documents.ts";
import { jsonOfMetadata } from "#src/devnet/serve/blockfrost/metadataValue.ts";
import { contractName, datumMeaning, type Meaning, redeemerMeaning } from "#src/devnet/serve/explorer/meaning.ts";
import type { KnownOutputs } from "#src/devnet/serve/explorer/outputs.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";
import { allTargets, scriptHashOf, type Target } from "#src/plutus/purpose.ts";

/** The outputs that a transaction refers to, its own included; none where it cannot be decoded. */
export function refsOf(cbor: Uint8Array): OutRef[] {
  const read = readTransaction(cbor, { stored: true });
  if (!read.ok) return [];
  const { hash, body: { inputs, references, collateral, outputs } } = read.value;
  // the collateral return comes after the last output
  const own = [...outputs, undefined].map((_, index) => ({ txHash: hash, index }));
  return [...inputs, ...references, ...collateral, ...own];
}

const LANGUAGES = ["Native", "Plutus V1", "Plutus V2", "Plutus V3"] as const;

/** The parts of a transaction. */
export function partsView(cbor: Uint8Array, known: KnownOutputs, network: NetworkId) {
  const read = readTransaction(cbor, { stored: true });
  if (!read.ok) return { ...NOTHING, problem: read.error.message, size: cbor.length, cbor: toHex(cbor) };
  const { body, witnesses, valid, size, hash } = read.value;
  const datums = new Map(
    witnesses.rawDatums ? asSet(decodeAll(witnesses.rawDatums)).map((item) => [hash256(raw(item)), raw(item)]) : [],
  );
  const shown = (output: Output, ref: OutRef | undefined) =>
    outputView(output, datums, network, ref && known.spentBy.get(refKey(ref)));
  const input = (ref: OutRef) => {
    const output = known.outputs.get(refKey(ref));
    const spentBy = known.spentBy.get(refKey(ref));
    if (!output) return ref;
    return { ...ref, output: outputView(output, datums, network, spentBy === hash ? undefined : spentBy) };
  };
  const own = (index: number) => ({ txHash: hash, index });
  return {
    valid,
    size,
    fee: body.fee,
    validity: { from: body.from, before: body.before },
    inputs: body.inputs.map(input),
    references: body.references.map(input),
    collateral: body.collateral.map(input),
    outputs: body.outputs.map(({ output }, index) => shown(output, valid ? own(index) : undefined)),
    collateralReturn: body.collateralReturn &&
      shown(body.collateralReturn.output, valid ? undefined : own(body.outputs.length)),
    totalCollateral: body.totalCollateral,
    mint: [...body.mint].map(([unit, quantity]) => ({ unit, fingerprint: fingerprint(unit), quantity })),
    certificates: body.certificates.map((certificate) => certificateView(certificate, network)),
    withdrawals: body.withdrawals.map(({ account, amount }) => ({ address: accountText(account), lovelace: amount })),
    votes: body.voters.flatMap((voter) =>
      voter.votes.map(({ action, vote }) => ({ role: voter.role, voter: voterText(voter), action, vote }))
    ),
    proposals: body.proposals.map(proposalView),
    requiredSigners: body.signers,
    signatures: [...witnesses.keys, ...witnesses.bootstraps].map(({ key }) => hash224(key)),
    scripts: scriptViews(read.value, known),
    redeemers: redeemerViews(read.value, known),
    metadata: metadataView(cbor),
    donation: body.donation === 0n ? undefined : body.donation,
    cbor: toHex(cbor),
  };
}

/** The parts of a transaction that cannot be decoded. */
const NOTHING = {
  valid: true,
  fee: 0n,
  validity: {},
  inputs: [],
  references: [],
  collateral: [],
  outputs: [],
  mint: [],
  certificates: [],
  withdrawals: [],
  votes: [],
  proposals: [],
  requiredSigners: [],
  signatures: [],
  scripts: [],
  redeemers: [],
  metadata: [],
} as const;

/** Plutus data; without JSON where it is nested too deeply. */
function dataView(data: Data, cbor: Uint8Array, meaning: Meaning | undefined) {
  return { hash: hash256(cbor), cbor: toHex(cbor), json: dataJson(data) ?? null, meaning };
}

/** As `dataView`, from bytes; undefined where they are no Plutus data. */
function datumView(cbor: Uint8Array, meaning: (data: Data) => Meaning | undefined) {
  try {
    const data = decodeData(cbor);
    return dataView(data, cbor, meaning(data));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return undefined;
  }
}

/** An output. `datums`: CBOR by hash, of those that the transaction has. */
export function outputView(
  { address, value, datum, datumHash, script }: Output,
  datums: ReadonlyMap<string, Uint8Array>,
  network: NetworkId,
  spentBy?: string,
) {
  const { payment } = credentialsOf(address);
  const holder = payment?.startsWith("s") ? payment.slice(1) : undefined;
  const bytes = datum ?? (datumHash === undefined ? undefined : datums.get(datumHash));
  return {
    address: textOfAddress(address),
    lovelace: value.lovelace,
    assets: Object.fromEntries(value.assets),
    datumHash: datum ? hash256(datum) : datumHash,
    datum: bytes && datumView(bytes, (data) => datumMeaning(holder, data, network)),
    inline: datum !== undefined,
    script: script && referenceView(script),
    contract: contractName(holder),
    spentBy,
  };
}

function referenceView(bytes: Uint8Array) {
  const script = readable(bytes);
  return script && { hash: script.hash, language: LANGUAGES[script.language] };
}

/** A reference script; undefined where the ledger's reader refuses it. */
function readable(bytes: Uint8Array): Script | undefined {
  try {
    return readScript(bytes);
  } catch {
    return undefined;
  }
}

/** The scripts of the witness set, and those needed ones that come from outputs. */
function scriptViews({ body, witnesses }: Transaction, { outputs }: KnownOutputs) {
  const view = (script: Script, source: "transaction" | "reference") => ({
    hash: script.hash,
    language: LANGUAGES[script.language],
    bytes: script.size,
    source,
    contract: contractName(script.hash),
  });
  const needed = new Set(allTargets(body).map(([, target]) => scriptHashOf(target, outputs)));
  const referenced = [...body.inputs, ...body.references].flatMap((ref) => {
    const bytes = outputs.get(refKey(ref))?.script;
    const script = bytes && readable(bytes);
    return script && needed.has(script.hash) && !witnesses.scripts.has(script.hash) ? [script] : [];
  });
  const once = new Map(referenced.map((script) => [script.hash, script]));
  return [
    ...[...witnesses.scripts.values()].map((script) => view(script, "transaction")),
    ...[...once.values()].map((script) => view(script, "reference")),
  ];
}

function redeemerViews({ body, witnesses }: Transaction, { outputs }: KnownOutputs) {
  const targets = new Map(
    allTargets(body).map(([{ purpose, index }, target]) => [`${purpose} ${index}`, target] as const),
  );
  // the bytes as they came, of which the hash is
  const items = witnesses.rawRedeemers ? redeemerItems(decodeAll(witnesses.rawRedeemers)) : [];
  const bytes = new Map(items.map(([tag, index, data]) => [`${numberIn(tag)} ${numberIn(index)}`, data]));
  return witnesses.redeemers.map(({ purpose, index, data, units }) => {
    const target = targets.get(`${purpose} ${index}`);
    const script = target && scriptHashOf(target, outputs);
    const item = bytes.get(`${PURPOSES.indexOf(purpose)} ${index}`);
    const cbor = item ? raw(item) : new Uint8Array();
    return {
      purpose,
      index,
      target: target && targetText(target),
      script,
      contract: contractName(script),
      limit: units,
      data: dataView(data, cbor, redeemerMeaning(script, purpose, data)),
    };
  });
}

/** Purposes by their tags. */
const PURPOSES: readonly string[] = ["spend", "mint", "cert", "reward", "vote", "propose"];

const numberIn = (item: { readonly type: string; readonly value?: unknown } | undefined): number =>
  item?.type === "int" ? Number(item.value) : -1;

function targetText(target: Target): string {
  switch (target.purpose) {
    case "spend":
      return refKey(target.ref);
    case "mint":
      return target.policy;
    case "cert":
      return `${target.certificate.kind} (certificate ${target.index})`;
    case "reward":
      return accountText(target.account);
    case "vote":
      return voterText(target.voter);
    case "propose":
      return `${target.proposal.action.kind} (proposal ${target.index})`;
  }
}

const accountText = ({ network, credential }: RewardAccount) => addressText(rewardAddress(network, credential));

function voterText({ role, credential }: Pick<Voter, "role" | "credential">): string {
  if (role === "pool") return textOfPool(credential.hash);
  if (role === "drep") return drepId(credential);
  return committeeText("hot", credential);
}

type Members = Record<string, string | number | bigint>;

function certificateView(certificate: Certificate, network: NetworkId): { kind: string; members: Members } {
  const account = (credential: Credential) => addressText(rewardAddress(network, credential));
  const members: Members = {};
  const { kind } = certificate;
  switch (kind) {
    case "register":
    case "delegate":
      members.account = account(certificate.credential);
      if (certificate.to?.pool !== undefined) members.pool = textOfPool(certificate.to.pool);
      if (certificate.to?.drep !== undefined) members.representative = drepId(certificate.to.drep);
      if (kind === "register" && certificate.deposit !== undefined) members.deposit = certificate.deposit;
      break;
    case "unregister":
      members.account = account(certificate.credential);
      if (certificate.refund !== undefined) members.refund = certificate.refund;
      break;
    case "register pool": {
      const { numerator, denominator } = certificate.margin;
      members.pool = textOfPool(certificate.pool);
      members.pledge = certificate.pledge;
      members.cost = certificate.cost;
      members.margin = `${Number(numerator * 1_000_000n / denominator) / 10_000} %`;
      members.rewards = accountText(certificate.account);
      if (certificate.metadata) members.metadata = certificate.metadata.url;
      break;
    }
    case "retire pool":
      members.pool = textOfPool(certificate.pool);
      members.epoch = certificate.epoch;
      break;
    case "authorize":
      members.member = `${certificate.cold.kind} ${certificate.cold.hash}`;
      members.hot = `${certificate.hot.kind} ${certificate.hot.hash}`;
      break;
    case "resign":
      members.member = `${certificate.cold.kind} ${certificate.cold.hash}`;
      break;
    case "register drep":
    case "unregister drep":
    case "update drep":
      members.representative = drepId(certificate.credential);
      if (kind === "register drep") members.deposit = certificate.deposit;
      if (kind === "unregister drep") members.refund = certificate.refund;
      break;
  }
  if ("anchor" in certificate && certificate.anchor) members.anchor = certificate.anchor.url;
  return { kind, members };
}

/** A proposal: its kind, its deposit, and what it proposes. */
export function proposalView({ deposit, account, action, anchor }: Proposal) {
  const members: Members = {};
  if ("previous" in action && action.previous) members.previous = refKey(action.previous);
  if ("policy" in action && action.policy !== undefined) members.guardrails = action.policy;
  switch (action.kind) {
    case "parameters":
      for (const [name, value] of Object.entries(changedParameters(action.changes))) {
        members[name] = typeof value === "number" || typeof value === "string" ? value : toJson(messaged(value));
      }
      break;
    case "hard fork":
      members.version = `${action.version.major}.${action.version.minor}`;
      break;
    case "treasury":
      for (const [to, lovelace] of action.payments) members[accountText(to)] = lovelace;
      break;
    case "committee":
      members.quorum = `${action.quorum.numerator}/${action.quorum.denominator}`;
      action.removed.forEach(({ kind, hash }, index) => members[`removed ${index + 1}`] = `${kind} ${hash}`);
      for (const { member: { kind, hash }, until } of action.added) members[`${kind} ${hash}`] = `until epoch ${until}`;
      break;
    case "constitution":
      if (action.script !== undefined) members.guardrails = action.script;
      members.constitution = action.anchor.url;
      break;
  }
  members.anchor = anchor.url;
  return { kind: action.kind, deposit, account: accountText(account), members };
}

function metadataView(cbor: Uint8Array) {
  const item = decodeAll(cbor);
  const auxiliary = item.type === "array" ? item.value[3] : undefined;
  if (auxiliary === undefined || auxiliary.type === "null") return [];
  return [...readAuxiliaryData(raw(auxiliary)).metadata].map(([label, value]) => ({
    label: String(label),
    json: isNested(value) ? null : jsonOfMetadata({ label: String(label), cbor: value }),
  }));
}

/** Whether metadata is nested too deeply to be shown: a decoder with a limit refuses it. */
function isNested(cbor: Uint8Array): boolean {
  try {
    decode(cbor);
    return false;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return true;
  }
}
