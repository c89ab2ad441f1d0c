/** A transaction that runs a script, for clients that build none. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { encodeData } from "#src/cardano/data.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { lovelace } from "#src/cardano/value.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { balance } from "#src/transaction/balance.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { type Person, signed } from "../support/wallets/person.ts";
import type { Script } from "./library.ts";

const UNITS = { memory: 100_000n, steps: 40_000_000n };

/** A signed transaction that spends an output of 10 ada of a script with a redeemer, and the redeemer's index. */
export function unlocking(
  { by, script, locked, coins, redeemer }: {
    readonly by: Person;
    readonly script: Script;
    readonly locked: Utxo;
    /** Outputs for the fee and collateral. */
    readonly coins: readonly Utxo[];
    readonly redeemer: bigint;
  },
): { readonly index: number; readonly hex: string } {
  const index = [locked, ...coins].map(({ ref }) => ref.txHash).sort().indexOf(locked.ref.txHash);
  const { transaction } = valueOf(balance(
    {
      inputs: [locked],
      outputs: [{ address: by.enterprise, value: lovelace(9_000_000n) }],
      redeemers: [{ for: { purpose: "spend", ref: locked.ref }, data: encodeData(redeemer) }],
      references: [],
      scripts: [fromHex(script.script)],
      requiredSigners: [],
    },
    { address: by.enterprise, available: coins.map((utxo) => ({ utxo })) },
    mainnetParameters,
    () => ({ ok: true, redeemers: [{ purpose: "spend", index, units: UNITS }] }),
  ));
  return { index, hex: toHex(signed(transaction, by)) };
}
