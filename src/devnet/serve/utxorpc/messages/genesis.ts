/** The message of a devnet's genesis: what the genesis files of a node say, of all eras in one. */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson } from "#src/base/json.ts";
import { type Genesis, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import templates from "#src/devnet/genesis/templates.json" with { type: "json" };
import { nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { costModelsMessage, parametersMessage } from "#src/devnet/serve/utxorpc/messages/parameters.ts";
import { ratioMessage, unitsMessage } from "#src/devnet/serve/utxorpc/messages/values.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";

/** The genesis. The length of a slot is in whole seconds there: 0 where slots are shorter. */
export function genesisMessage(genesis: Genesis, form: Form): Draft<cardano.Genesis> {
  const { network: { magic, id, slots, securityParameter }, terms, governance } = genesis;
  const parameters = protocolParameters(genesis.parameters);
  const { poolThresholds: pool, drepThresholds: drep } = parameters;
  const { slotsPerKesPeriod, maxKesEvolutions, updateQuorum } = nodeGenesis(genesis);
  return {
    blockVersionData: { scriptVersion: 0, slotDuration: String(slots.slotLength), ...templates.blockVersion },
    protocolConsts: { k: securityParameter, protocolMagic: magic },
    startTime: BigInt(Math.floor(slots.zeroTime / 1_000)),
    activeSlotsCoeff: ratioMessage(terms.activeSlots),
    epochLength: terms.epochLength,
    initialFunds: Object.fromEntries(
      genesisOutputs(genesis).map(({ output: { address, value } }) => [address, form.quantity(value.lovelace)]),
    ),
    maxKesEvolutions,
    maxLovelaceSupply: form.quantity(terms.maxSupply),
    networkId: id === 1 ? "Mainnet" : "Testnet",
    networkMagic: magic,
    protocolParams: parametersMessage(parameters, form),
    securityParam: securityParameter,
    slotLength: Math.floor(slots.slotLength / 1_000),
    slotsPerKesPeriod,
    systemStart: new Date(slots.zeroTime).toISOString().replace(".000Z", "Z"),
    updateQuorum,
    // Alonzo counts words of eight bytes, later eras count bytes
    lovelacePerUtxoWord: form.quantity(parameters.utxoCostPerByte * 8n),
    executionPrices: {
      memory: ratioMessage(parameters.prices.memory),
      steps: ratioMessage(parameters.prices.steps),
    },
    maxTxExUnits: unitsMessage(parameters.maxTxUnits),
    maxBlockExUnits: unitsMessage(parameters.maxBlockUnits),
    maxValueSize: parameters.maxValueSize,
    collateralPercentage: parameters.collateralPercentage,
    maxCollateralInputs: parameters.maxCollateralInputs,
    costModels: costModelsMessage(parameters.costModels),
    ...(governance?.committee
      ? {
        committee: {
          members: Object.fromEntries(
            governance.committee.members.map(({ credential: { kind, hash }, until }) => [
              `${kind}Hash-${hash}`,
              BigInt(until),
            ]),
          ),
          threshold: ratioMessage(governance.committee.quorum),
        },
      }
      : {}),
    ...constitution(genesis),
    committeeMinSize: BigInt(parameters.committeeMinSize),
    committeeMaxTermLength: BigInt(parameters.committeeMaxTerm),
    govActionLifetime: BigInt(parameters.govActionLifetime),
    govActionDeposit: form.quantity(parameters.govActionDeposit),
    drepDeposit: form.quantity(parameters.drepDeposit),
    drepActivity: BigInt(parameters.drepActivity),
    minFeeRefScriptCostPerByte: ratioMessage(parameters.refScriptCostPerByte),
    drepVotingThresholds: {
      motionNoConfidence: ratioMessage(drep.noConfidence),
      committeeNormal: ratioMessage(drep.committee),
      committeeNoConfidence: ratioMessage(drep.committeeNoConfidence),
      updateToConstitution: ratioMessage(drep.constitution),
      hardForkInitiation: ratioMessage(drep.hardFork),
      ppNetworkGroup: ratioMessage(drep.networkParameters),
      ppEconomicGroup: ratioMessage(drep.economicParameters),
      ppTechnicalGroup: ratioMessage(drep.technicalParameters),
      ppGovGroup: ratioMessage(drep.governanceParameters),
      treasuryWithdrawal: ratioMessage(drep.treasuryWithdrawal),
    },
    poolVotingThresholds: {
      motionNoConfidence: ratioMessage(pool.noConfidence),
      committeeNormal: ratioMessage(pool.committee),
      committeeNoConfidence: ratioMessage(pool.committeeNoConfidence),
      hardForkInitiation: ratioMessage(pool.hardFork),
      ppSecurityGroup: ratioMessage(pool.securityParameters),
    },
  };
}

/** The constitution of the Conway genesis file. */
function constitution(genesis: Genesis): { constitution?: Draft<cardano.Constitution> } {
  const file = genesisFiles(genesis).find(({ name }) => name === "conway-genesis.json");
  const conway = file && parseJson(file.text);
  const stated = isObject(conway) ? conway.constitution : undefined;
  if (!isObject(stated) || !isObject(stated.anchor)) return {};
  const text = (value: Json | undefined) => typeof value === "string" ? value : "";
  return {
    constitution: {
      anchor: { url: text(stated.anchor.url), contentHash: fromHex(text(stated.anchor.dataHash)) },
      hash: fromHex(text(stated.script)),
    },
  };
}
