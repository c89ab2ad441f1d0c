/**
 * Partial transactions with Plutus scripts, made by an independent library: the wallet pays for them, and the ledger
 * runs them.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { type Constructed, WalletClient } from "#src/client/wallets.ts";
import { readByCsl } from "../../support/ledger/readByCsl.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { agrees, plutusHash, refuses } from "../../support/plutus/scripts.ts";
import { evaluateSecond } from "../../support/plutus/secondEvaluator.ts";

const policy = plutusHash(3, agrees);
const policyAddress = csl.EnterpriseAddress
  .new(0, csl.Credential.from_scripthash(csl.ScriptHash.from_hex(policy))).to_address();
const unit = csl.PlutusData.new_empty_constr_plutus_data(csl.BigNum.zero());

/** The minted, paid and spent parts, without inputs that pay for them. */
function partial({ mint = 0, script = agrees, output, input }: {
  readonly mint?: number;
  readonly script?: Uint8Array;
  readonly output?: csl.TransactionOutput;
  readonly input?: { readonly id: string; readonly index: number };
}): string {
  const inputs = csl.TransactionInputs.new();
  if (input) inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_hex(input.id), input.index));
  const outputs = csl.TransactionOutputs.new();
  if (output) outputs.add(output);
  const body = csl.TransactionBody.new(inputs, outputs, csl.BigNum.zero());
  if (mint > 0) {
    const assets = csl.MintAssets.new();
    assets.insert(csl.AssetName.new(new Uint8Array([0xaa])), csl.Int.new_i32(mint));
    const minted = csl.Mint.new();
    minted.insert(csl.ScriptHash.from_hex(plutusHash(3, script)), assets);
    body.set_mint(minted);
  }
  const witnesses = csl.TransactionWitnessSet.new();
  const scripts = csl.PlutusScripts.new();
  scripts.add(csl.PlutusScript.new_v3(script));
  if (mint > 0 || input) witnesses.set_plutus_scripts(scripts);
  return csl.Transaction.new(body, witnesses).to_hex();
}

describe("transactions with scripts", () => {
  let scenario: Scenario;
  let client: WalletClient;
  let id: string;

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0 });
    ({ client } = scenario);
    ({ id } = await scenario.createWallet({ coins: [50n * ADA, 9n * ADA, 9n * ADA] }));
  });
  afterAll(() => scenario?.stop());

  const mintRedeemer = { purpose: "minting" as const, data: "182a", policy_id: policy };
  /** Signs, submits, and waits for the ledger. */
  const carried = async ({ transaction }: Constructed) => {
    const signed = (await client.sign(id, transaction, PASSPHRASE)).transaction;
    const sent = await client.submit(id, signed);
    await scenario.blocks();
    await scenario.untilInLedger(id, sent.id);
    return { hash: sent.id, signed };
  };
  /** Units of a transaction's redeemers, in their order. */
  const unitsOf = (text: string) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const redeemers = csl.Transaction.from_bytes(bytes).witness_set().redeemers()!;
    return Array.from({ length: redeemers.len() }, (_, i) => {
      const units = redeemers.get(i).ex_units();
      return { memory: BigInt(units.mem().to_str()), steps: BigInt(units.steps().to_str()) };
    });
  };

  it("mint under a script, with units equal to those of another machine, and collateral", async () => {
    const built = await client.balance(id, { transaction: partial({ mint: 7 }), redeemers: [mintRedeemer] });
    const { slotLength, genesisTime } = await scenario.tip();
    const bytes = Uint8Array.from(atob(built.transaction), (character) => character.charCodeAt(0));
    const utxos = built.coin_selection.inputs.map(({ id, index, address, amount }) => {
      const output = csl.TransactionOutput.new(
        csl.Address.from_bech32(address),
        csl.Value.new(csl.BigNum.from_str(String(amount.quantity))),
      );
      return { ref: { txHash: id, index }, output: { raw: output.to_bytes() } };
    });
    const slots = { zeroTime: genesisTime, zeroSlot: 0, slotLength };
    expect(unitsOf(built.transaction)).toEqual(evaluateSecond(bytes, utxos as never, slots));
    expect(built.coin_selection.collateral.length).toBeGreaterThan(0);
    const { signed, hash } = await carried(built);
    const read = readByCsl(signed);
    expect(read.mint).toEqual({ [`${policy}aa`]: 7n });
    expect(read.fee).toBe(BigInt(built.fee.quantity));
    expect(read.collateral).toEqual(built.coin_selection.collateral.map(({ id, index }) => `${id}#${index}`).sort());
    expect((await client.wallet(id)).assets.total).toEqual([{ policy_id: policy, asset_name: "aa", quantity: 7 }]);
    expect(await client.transaction(id, hash)).toMatchObject({
      script_validity: "valid",
      mint: { tokens: [{ policy_id: policy, policy_script: { script_type: "plutus" } }] },
    });
  });

  it("spend an output of a script, which is read from the ledger", async () => {
    const guarded = csl.TransactionOutput.new(policyAddress, csl.Value.new(csl.BigNum.from_str("4000000")));
    guarded.set_plutus_data(unit);
    const lock = await client.balance(id, { transaction: partial({ output: guarded }) });
    const { hash, signed } = await carried(lock);
    const index = readByCsl(signed).outputs.findIndex(({ address }) => address === policyAddress.to_bech32());
    const input = { id: hash, index };
    const before = await scenario.available(id);
    const redeemers = [{ purpose: "spending" as const, data: toHex(unit.to_bytes()), input }];
    const built = await client.balance(id, { transaction: partial({ input }), redeemers });
    const fee = BigInt(built.fee.quantity);
    const { hash: spent } = await carried(built);
    await scenario.untilAvailable(id, before + 4n * ADA - fee);
    expect(await client.transaction(id, spent)).toMatchObject({ direction: "incoming" });
  });

  it("are refused with the reason if the script refuses, or a redeemer has no purpose", async () => {
    const no = { ...mintRedeemer, policy_id: plutusHash(3, refuses) };
    const codes = [
      client.balance(id, { transaction: partial({ mint: 1, script: refuses }), redeemers: [no] }),
      client.balance(id, { transaction: partial({ mint: 1 }), redeemers: [mintRedeemer, no] }),
      client.balance(id, { transaction: partial({ mint: 1 }), redeemers: [{ ...mintRedeemer, data: "ff" }] }),
      client.balance(id, { transaction: partial({ input: { id: "00".repeat(32), index: 0 } }) }),
    ].map((request) => scenario.refused(request));
    expect(await Promise.all(codes)).toEqual([
      [400, "redeemer_script_failure"],
      [400, "redeemer_target_not_found"],
      [400, "redeemer_invalid_data"],
      [400, "unresolved_inputs"],
    ]);
  });
});
