/**
 * Transaction scenarios of another implementation, as files: a small state, a transaction, and what the Conway ledger
 * answers. See test/vectors/NOTICE.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fromHex } from "#src/base/bytes.ts";
import { decode, type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { credential } from "#src/cardano/conway/strict.ts";
import { type Output, readOutput, readRef, refKey } from "#src/cardano/output.ts";
import type { ProtocolParameters, Ratio } from "#src/cardano/parameters.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { GOVERNANCE, governanceOf } from "#src/ledger/governance/actions.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { credentialKey, type MutableLedgerState, newState } from "#src/ledger/state.ts";

/** A scenario. */
export interface Scenario {
  readonly name: string;
  readonly state: MutableLedgerState;
  readonly slot: number;
  readonly transaction: Uint8Array;
  /** The failure that is expected, as the file names it; undefined where it is accepted. */
  readonly expected: string | undefined;
}

interface Id {
  readonly transactionId: string;
  readonly proposalIndex: number;
}
interface File {
  readonly protocolParameters: Reference;
  readonly initialState: {
    readonly utxo: readonly { readonly input: string; readonly output: string }[];
    readonly pools?: readonly string[];
    readonly accounts?: readonly {
      readonly credential: string;
      readonly deposit: number;
      readonly rewards?: number;
      readonly pool?: { readonly id: string };
      readonly drep?: { readonly id: string };
    }[];
    readonly dreps?: readonly { readonly credential: string; readonly deposit: number; readonly validUntil: number }[];
    readonly committee?: readonly {
      readonly coldCredential: string;
      readonly status?: string;
      readonly validUntil?: number;
    }[];
    readonly proposals?: readonly (readonly [Id, string, number])[];
    readonly proposalsRoots?: Readonly<Record<string, Id>>;
    readonly governanceActivity?: { readonly consecutiveDormantEpochs: number };
    readonly guardrailScript?: string | null;
    readonly pots?: { readonly treasury?: number; readonly reserves?: number };
  };
  readonly point: { readonly slot: number };
  readonly transaction: string;
  readonly expected: "Pass" | { readonly predicate: string } | { readonly decodingFailure: true };
}
// deno-lint-ignore no-explicit-any -- parameters are read member by member
type Reference = { readonly $ref: string; readonly $override?: any } & Record<string, any>;

const EPOCH = 432_000;

/** The scenarios of a folder. */
export function* scenarios(folder: string): Generator<Scenario> {
  const json = (file: string) => JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));
  for (const name of readdirSync(`${folder}/scenarios`).sort()) {
    const file: File = json(`scenarios/${name}`);
    const { $ref, $override, ...inline } = file.protocolParameters;
    const parameters = readParameters({ ...($ref ? json($ref) : {}), ...inline, ...$override });
    const { expected } = file;
    yield {
      name: name.replace(".json", ""),
      state: readState(file.initialState, parameters, Math.floor(file.point.slot / EPOCH)),
      slot: file.point.slot,
      transaction: fromHex(file.transaction),
      expected: expected === "Pass" ? undefined : "predicate" in expected ? expected.predicate : "DeserialiseFailure",
    };
  }
}

// deno-lint-ignore no-explicit-any -- as above
function readParameters(of: any): ProtocolParameters {
  const ratio = ({ numerator, denominator }: { numerator: number; denominator: number }): Ratio => ({
    numerator: BigInt(numerator),
    denominator: BigInt(denominator),
  });
  const units = ({ memory, cpu }: { memory: number; cpu: number }) => ({ memory: BigInt(memory), steps: BigInt(cpu) });
  const models = ["plutusV1", "plutusV2", "plutusV3"].map((name) => of.plutusCostModels[name]);
  return {
    ...protocolParameters(mainnetParametersAt(10)),
    protocolVersion: of.version,
    feePerByte: BigInt(of.minFeeCoefficient),
    feeFixed: BigInt(of.minFeeConstant),
    refScriptCostPerByte: ratio(of.minFeeReferenceScripts.base),
    utxoCostPerByte: BigInt(of.minUtxoDepositCoefficient),
    maxBlockBodySize: of.maxBlockBodySize,
    maxTxSize: of.maxTransactionSize,
    maxValueSize: of.maxValueSize,
    keyDeposit: BigInt(of.stakeCredentialDeposit),
    poolDeposit: BigInt(of.stakePoolDeposit),
    poolRetirementBound: of.stakePoolRetirementEpochBound,
    minPoolCost: BigInt(of.minStakePoolCost),
    collateralPercentage: of.collateralPercentage,
    maxCollateralInputs: of.maxCollateralInputs,
    prices: { memory: ratio(of.scriptExecutionPrices.memory), steps: ratio(of.scriptExecutionPrices.cpu) },
    maxTxUnits: units(of.maxExecutionUnitsPerTransaction),
    maxBlockUnits: units(of.maxExecutionUnitsPerBlock),
    costModels: new Map(
      models.flatMap((model: number[] | undefined, language) => model ? [[language, model.map(BigInt)] as const] : []),
    ),
    committeeMinSize: of.constitutionalCommitteeMinSize,
    committeeMaxTerm: of.constitutionalCommitteeMaxTermLength,
    govActionLifetime: of.governanceActionLifetime,
    govActionDeposit: BigInt(of.governanceActionDeposit),
    drepDeposit: BigInt(of.delegateRepresentativeDeposit),
    drepActivity: of.delegateRepresentativeMaxIdleTime,
  };
}

const keyOf = (cbor: string) => credentialKey(credential(decode(fromHex(cbor))));

function readDRep(cbor: string): string {
  const tag = fromHex(cbor)[1];
  return tag === 2 ? "abstain" : tag === 3 ? "no confidence" : keyOf(cbor);
}

const idOf = ({ transactionId, proposalIndex }: Id) => refKey({ txHash: transactionId, index: proposalIndex });

const ANCHOR: Encodable = ["", new Uint8Array(32)];

/** An action of a kind in the form of the grammar, as far as votes and other proposals depend on it. */
function actionOf(kind: string): Encodable {
  const [, major, minor] = /^HardFork\((\d+)\.(\d+)\)$/.exec(kind) ?? [];
  if (major !== undefined) return [1, null, [Number(major), Number(minor)]];
  switch (kind) {
    case "ProtocolParameters":
      return [0, null, new Map([[8, 500]]), null];
    case "ProtocolParameters(security-group)":
      return [0, null, new Map([[0, 44]]), null];
    case "ConstitutionalCommittee":
      return [4, null, [], new Map(), new Tagged(30, [1, 2])];
    case "Constitution":
      return [5, null, [ANCHOR, null]];
    case "TreasuryWithdrawals":
      return [2, new Map(), null];
    default:
      return [6];
  }
}

const ROOTS = {
  protocolParameters: "parameters",
  hardFork: "hard fork",
  constitutionalCommittee: "committee",
  constitution: "constitution",
} as const;

function readState(of: File["initialState"], parameters: ProtocolParameters, epoch: number): MutableLedgerState {
  const outputs = new Map<string, Output>(
    of.utxo.map(({ input, output }) => [refKey(readRef(decode(fromHex(input)))), readOutput(decode(fromHex(output)))]),
  );
  const state = newState({ parameters, epoch, outputs });
  for (const pool of of.pools ?? []) state.pools.set(pool, { certificate: new Uint8Array(), deposit: 0n });
  for (const { credential, deposit, rewards = 0, pool, drep } of of.accounts ?? []) {
    state.accounts.set(keyOf(credential), {
      deposit: BigInt(deposit),
      balance: BigInt(rewards),
      ...(pool ? { pool: pool.id } : {}),
      ...(drep ? { drep: readDRep(drep.id) } : {}),
    });
  }
  for (const { credential, deposit, validUntil } of of.dreps ?? []) {
    state.dreps.set(keyOf(credential), { deposit: BigInt(deposit), expiry: validUntil });
  }
  for (const { coldCredential, status, validUntil } of of.committee ?? []) {
    state.committee.set(keyOf(coldCredential), {
      ...(status === "resigned" ? { resigned: true } : status ? { hot: keyOf(status) } : {}),
      ...(validUntil === undefined ? {} : { elected: true, until: validUntil }),
    });
  }
  const account = fromHex(`e0${"00".repeat(28)}`);
  for (const [order, [id, kind, expiresAfter]] of (of.proposals ?? []).entries()) {
    const cbor = encode([0, account, actionOf(kind), ANCHOR]);
    state.proposals.set(idOf(id), { cbor, order, proposedIn: 0, expiresAfter });
  }
  const { treasury = 0, reserves = 0 } = of.pots ?? {};
  Object.assign(state.pots, { treasury: BigInt(treasury), reserves: BigInt(reserves) });
  const governance = governanceOf(state);
  state.governance.set(GOVERNANCE, {
    ...governance,
    constitution: { ...governance.constitution, ...(of.guardrailScript ? { script: of.guardrailScript } : {}) },
    enacted: Object.fromEntries(
      Object.entries(ROOTS).flatMap(([name, purpose]) => {
        const id = of.proposalsRoots?.[name];
        return id ? [[purpose, idOf(id)]] : [];
      }),
    ),
    dormant: of.governanceActivity?.consecutiveDormantEpochs ?? 0,
    next: of.proposals?.length ?? 0,
  });
  return state;
}
