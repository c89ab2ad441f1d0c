/** Governance of a genesis: from a node's file or default accounts, into the ledger, the files and the index. */
import { expect, test } from "vitest";
import { parseJson, toJson } from "#src/base/json.ts";
import { devnetAccounts, governanceKeys } from "#src/devnet/genesis/accounts.ts";
import { readConwayGenesis } from "#src/devnet/genesis/conwayGenesis.ts";
import { checkGenesis, genesisDefaults, genesisEntries } from "#src/devnet/genesis/genesis.ts";
import { withDefaultVoters } from "#src/devnet/genesis/governance.ts";
import { decimalRatio, governanceFromRow, governanceToRow } from "#src/devnet/genesis/governanceJson.ts";
import { genesisFiles } from "#src/devnet/genesis/json.ts";
import { keptSettings, settingsLines } from "#src/devnet/genesis/settings.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { newGenesis } from "../../../support/devnet/genesis.ts";

const HASH = "ab".repeat(28);
const OTHER = "cd".repeat(28);
const ANCHOR = { url: "https://example.com/constitution", dataHash: "12".repeat(32) };
const FILE = {
  poolVotingThresholds: {
    committeeNormal: 0.51,
    committeeNoConfidence: 0.51,
    hardForkInitiation: 0.51,
    motionNoConfidence: 0.6,
    ppSecurityGroup: { numerator: 1, denominator: 3 },
  },
  committeeMinSize: 2,
  govActionLifetime: 1,
  govActionDeposit: 1_000_000,
  minFeeRefScriptCostPerByte: 15,
  plutusV3CostModel: [1, 2, 3],
  constitution: { anchor: ANCHOR, script: OTHER },
  committee: { members: { [`scriptHash-${HASH}`]: 7 }, threshold: 0.67 },
  initialDReps: { [`keyHash-${HASH}`]: { expiry: 500, deposit: 3_000_000, anchor: null } },
  delegs: {
    [`keyHash-${OTHER}`]: { dRep: `drep-keyHash-${HASH}`, stakePool: HASH },
    [`keyHash-${HASH}`]: { dRep: "drep-alwaysAbstain" },
  },
};

function read(json: object) {
  const outcome = readConwayGenesis(parseJson(toJson(json as never)));
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

test("a node's Conway genesis states parameters, constitution, committee, representatives and delegations", () => {
  const { parameters, governance } = read(FILE);
  expect(parameters).toEqual({
    poolThresholds: {
      noConfidence: { numerator: 3n, denominator: 5n },
      committee: { numerator: 51n, denominator: 100n },
      committeeNoConfidence: { numerator: 51n, denominator: 100n },
      hardFork: { numerator: 51n, denominator: 100n },
      securityParameters: { numerator: 1n, denominator: 3n },
    },
    committeeMinSize: 2,
    govActionLifetime: 1,
    govActionDeposit: 1_000_000n,
    refScriptCostPerByte: { numerator: 15n, denominator: 1n },
  });
  const abstain = { kind: "abstain" };
  expect(governance).toEqual({
    constitution: { anchor: { url: ANCHOR.url, hash: ANCHOR.dataHash }, script: OTHER },
    committee: {
      members: [{ credential: { kind: "script", hash: HASH }, until: 7 }],
      quorum: { numerator: 67n, denominator: 100n },
    },
    dreps: [{ credential: { kind: "key", hash: HASH }, expiry: 500, deposit: 3_000_000n, anchor: undefined }],
    delegations: [
      { credential: { kind: "key", hash: OTHER }, pool: HASH, drep: { kind: "key", hash: HASH } },
      { credential: { kind: "key", hash: HASH }, pool: undefined, drep: abstain },
    ],
  });
});

test.each([
  [{ committeeMinSize: -1 }, "committeeMinSize"],
  [{ committee: { members: { nobody: 7 }, threshold: 0.67 } }, "committee.members.nobody"],
  [{ committee: { members: {}, threshold: 1.5 } }, "committee.threshold"],
  [{ constitution: { anchor: { url: "", dataHash: "00" } } }, "constitution.anchor.dataHash"],
  [{ initialDReps: { [`keyHash-${HASH}`]: { expiry: 500 } } }, "deposit"],
  [{ delegs: { [`keyHash-${HASH}`]: { dRep: "drep-somewhere" } } }, "dRep"],
  [[], "object"],
])("a Conway genesis with %j is refused by the name of the member", (json, name) => {
  const outcome = readConwayGenesis(parseJson(toJson(json as never)));
  expect(outcome).toMatchObject({ ok: false, error: { code: "bad_genesis" } });
  expect((outcome as { error: { message: string } }).error.message).toContain(name);
});

test("a decimal number is the fraction that it is written as", () => {
  for (const [value, numerator, denominator] of [[0.67, 67n, 100n], [1, 1n, 1n], [0, 0n, 1n], [5e-7, 1n, 2_000_000n]]) {
    expect(decimalRatio(Number(value))).toEqual({ numerator, denominator });
  }
});

test("default accounts are representatives with their own stake, and members with hot keys", () => {
  const voters = withDefaultVoters(read(FILE).governance, { dreps: 2, committee: 1 }, mainnetParameters)!;
  const [first] = devnetAccounts(1);
  const { drep, cold, hot } = governanceKeys(0);
  expect(voters.dreps.map(({ credential: { hash } }) => hash)).toEqual([HASH, drep.hash, governanceKeys(1).drep.hash]);
  expect(voters.delegations.at(-2)).toEqual({
    credential: { kind: "key", hash: first!.stake },
    drep: { kind: "key", hash: drep.hash },
  });
  expect(voters.committee!.members.at(-1)).toMatchObject({ credential: { hash: cold.hash }, hot: { hash: hot.hash } });
  expect(voters.committee!.quorum).toEqual({ numerator: 67n, denominator: 100n });
  expect(governanceFromRow(parseJson(toJson(governanceToRow(voters))))).toEqual({
    ...voters,
    dreps: voters.dreps.map((one) => ({ anchor: undefined, ...one })).map(({ anchor, ...one }) =>
      anchor ? { ...one, anchor } : one
    ),
    delegations: voters.delegations.map((one) => ({ pool: undefined, drep: undefined, ...one })),
  });
});

test("the first ledger state has them, and no lovelace appears", () => {
  const governance = withDefaultVoters(read(FILE).governance, { dreps: 2, committee: 3 }, mainnetParameters)!;
  const of = newGenesis({ governance });
  const entries = genesisEntries(of);
  const rows = (kind: string) => entries.filter((entry) => entry.kind === kind);
  expect(rows("dreps").map(({ after }) => after)).toContainEqual({ deposit: 3_000_000n, expiry: 500 });
  expect(rows("committee")).toHaveLength(4);
  expect(rows("accounts").find(({ key }) => key === `k${HASH}`)!.after).toEqual({
    deposit: 2_000_000n,
    balance: 0n,
    drep: "abstain",
  });
  const { deposits } = rows("pots")[0]!.after as { deposits: bigint };
  expect(deposits).toBe(3n * 502_000_000n + 3_000_000n + 2n * 500_000_000n + 4n * 2_000_000n);
  expect(of.faucet.funds + deposits).toBe(newGenesis().faucet.funds + 3n * 502_000_000n);
});

test("the files of the devnet say the same, but for hot keys", () => {
  const { governance, parameters } = read(FILE);
  const of = newGenesis({ governance, parameters: { ...mainnetParameters, ...parameters } });
  const text = genesisFiles(of).find(({ name }) => name === "conway-genesis.json")!.text;
  const again = read(parseJson(text) as object);
  expect(again.governance).toEqual(governance);
  expect(again.parameters).toMatchObject({
    committeeMinSize: 2,
    govActionLifetime: 1,
    drepThresholds: protocolParameters(mainnetParameters).drepThresholds,
  });
  expect(settingsLines(of)[2]).toBe(
    "Devnet governance: 1 representative; a committee of 1, 67 of 100 must agree; constitution https://example.com/constitution",
  );
  expect(keptSettings({ governance }, of)).toBeUndefined();
  expect(keptSettings({ governance, dreps: 1 }, of)).toContain("the constitution, committee and representatives");
});

test("voters are among the accounts", () => {
  const options = { ...genesisDefaults, accounts: 2 };
  expect(checkGenesis({ ...options, dreps: 2, committee: 2 })).toMatchObject({ ok: true });
  expect(checkGenesis({ ...options, dreps: 3 })).toMatchObject({ ok: false, error: { code: "bad_genesis" } });
});
