/** Documents about what a governance action proposes. */
import { addressText, type Credential, rewardAddress } from "#src/cardano/address.ts";
import type { Action, ActionId } from "#src/cardano/conway/governance.ts";
import type { ParameterChanges, ParameterValue } from "#src/cardano/conway/parameterChanges.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import { PLUTUS_LANGUAGES, type Ratio } from "#src/cardano/parameters.ts";

/** Blockfrost's names of the kinds of actions. */
export const ACTION_TYPES: Readonly<Record<string, string>> = {
  parameters: "parameter_change",
  "hard fork": "hard_fork_initiation",
  treasury: "treasury_withdrawals",
  "no confidence": "no_confidence",
  committee: "new_committee",
  constitution: "new_constitution",
  info: "info_action",
} satisfies Record<Action["kind"], string>;

type Form = "number" | "text" | "fraction" | "models";

/** Blockfrost's names of parameters and the form of their values, by the numbers that changes have. */
const PARAMETERS: readonly (readonly [number: number, form: Form, names: readonly string[]])[] = [
  [0, "number", ["min_fee_a"]],
  [1, "number", ["min_fee_b"]],
  [2, "number", ["max_block_size"]],
  [3, "number", ["max_tx_size"]],
  [4, "number", ["max_block_header_size"]],
  [5, "text", ["key_deposit"]],
  [6, "text", ["pool_deposit"]],
  [7, "number", ["e_max"]],
  [8, "number", ["n_opt"]],
  [9, "fraction", ["a0"]],
  [10, "fraction", ["rho"]],
  [11, "fraction", ["tau"]],
  [16, "text", ["min_pool_cost"]],
  [17, "text", ["coins_per_utxo_size"]],
  [18, "models", ["cost_models"]],
  [19, "fraction", ["price_mem", "price_step"]],
  [20, "text", ["max_tx_ex_mem", "max_tx_ex_steps"]],
  [21, "text", ["max_block_ex_mem", "max_block_ex_steps"]],
  [22, "text", ["max_val_size"]],
  [23, "number", ["collateral_percent"]],
  [24, "number", ["max_collateral_inputs"]],
  [25, "fraction", [
    "pvt_motion_no_confidence",
    "pvt_committee_normal",
    "pvt_committee_no_confidence",
    "pvt_hard_fork_initiation",
    "pvt_p_p_security_group",
  ]],
  [26, "fraction", [
    "dvt_motion_no_confidence",
    "dvt_committee_normal",
    "dvt_committee_no_confidence",
    "dvt_update_to_constitution",
    "dvt_hard_fork_initiation",
    "dvt_p_p_network_group",
    "dvt_p_p_economic_group",
    "dvt_p_p_technical_group",
    "dvt_p_p_gov_group",
    "dvt_treasury_withdrawal",
  ]],
  [27, "text", ["committee_min_size"]],
  [28, "text", ["committee_max_term_length"]],
  [29, "text", ["gov_action_lifetime"]],
  [30, "text", ["gov_action_deposit"]],
  [31, "text", ["drep_deposit"]],
  [32, "text", ["drep_activity"]],
  [33, "fraction", ["min_fee_ref_script_cost_per_byte"]],
];

/** Members for parameters that Conway does not change, or that have two names. */
const OTHERS = {
  epoch: null,
  decentralisation_param: null,
  extra_entropy: null,
  protocol_major_ver: null,
  protocol_minor_ver: null,
  min_utxo: null,
  coins_per_utxo_word: null,
  pvtpp_security_group: null,
};

const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

/** Parameters that an action changes, by Blockfrost's names. */
export function changedParameters(changes: ParameterChanges): Record<string, unknown> {
  return Object.fromEntries(PARAMETERS.flatMap(([number, form, names]) => {
    const value = changes.get(number);
    if (value === undefined) return [];
    const values = form !== "models" && Array.isArray(value) ? value as readonly ParameterValue[] : [value];
    return names.map((name, index) => [name, valueOf(form, values[index])] as const);
  }));
}

/** The same with every other parameter as null. */
export function parametersDocument(changes: ParameterChanges): Record<string, unknown> {
  const none = PARAMETERS.flatMap(([, , names]) => names.map((name) => [name, null] as const));
  return { ...OTHERS, ...Object.fromEntries(none), ...changedParameters(changes) };
}

function valueOf(form: Form, value: ParameterValue | undefined): unknown {
  if (typeof value === "bigint") return form === "number" ? Number(value) : String(value);
  if (value instanceof Map) {
    return Object.fromEntries(
      [...value].map(([language, costs]) => [PLUTUS_LANGUAGES[Number(language)] ?? language, costs]),
    );
  }
  return decimal(value as Ratio);
}

const idOf = (id: ActionId | undefined) => id ? { txId: id.txHash, govActionIx: id.index } : null;
const credentialOf = ({ kind, hash }: Credential) => kind === "key" ? { keyHash: hash } : { scriptHash: hash };
const memberOf = ({ kind, hash }: Credential) => `${kind === "key" ? "keyHash" : "scriptHash"}-${hash}`;
const accountOf = ({ network, credential }: RewardAccount) => ({
  network: network === 1 ? "Mainnet" : "Testnet",
  credential: credentialOf(credential),
});

/** An action in the JSON of the node; parameters have Blockfrost's names. */
export function actionDescription(action: Action): object {
  switch (action.kind) {
    case "parameters": {
      const { previous, changes, policy } = action;
      return { tag: "ParameterChange", contents: [idOf(previous), changedParameters(changes), policy ?? null] };
    }
    case "hard fork": {
      const { major, minor } = action.version;
      return { tag: "HardForkInitiation", contents: [idOf(action.previous), { major, minor }] };
    }
    case "treasury": {
      const payments = action.payments.map(([to, lovelace]) => [accountOf(to), lovelace]);
      return { tag: "TreasuryWithdrawals", contents: [payments, action.policy ?? null] };
    }
    case "no confidence":
      return { tag: "NoConfidence", contents: idOf(action.previous) };
    case "committee": {
      const added = Object.fromEntries(action.added.map(({ member, until }) => [memberOf(member), until]));
      return {
        tag: "UpdateCommittee",
        contents: [idOf(action.previous), action.removed.map(credentialOf), added, decimal(action.quorum)],
      };
    }
    case "constitution": {
      const { anchor: { url, hash }, script } = action;
      return {
        tag: "NewConstitution",
        contents: [idOf(action.previous), { anchor: { url, dataHash: hash }, ...(script ? { script } : {}) }],
      };
    }
    case "info":
      return { tag: "InfoAction" };
  }
}

/** What an action pays from the treasury. */
export function treasuryPayments(action: Action): { stake_address: string; amount: string }[] {
  if (action.kind !== "treasury") return [];
  return action.payments.map(([{ network, credential }, lovelace]) => ({
    stake_address: addressText(rewardAddress(network, credential)),
    amount: String(lovelace),
  }));
}
