/** What an address says, in the members that wallet clients know. */
import { toBech32 } from "#src/cardano/bech32.ts";
import { fromHex } from "#src/base/bytes.ts";
import type { Address } from "#src/cardano/address.ts";

/** A hash in hexadecimal and in bech32 under a prefix. */
function hashes(name: string, prefix: string, hash: string | undefined): Record<string, string> {
  if (hash === undefined) return {};
  return { [name]: hash, [`${name}_bech32`]: toBech32(prefix, fromHex(hash)) };
}

/** An address, described. A single script is shown as spending and as stake script, as cardano-wallet does. */
export function inspect(address: Address): Record<string, unknown> {
  if (address.kind === "byron") {
    const { root, magic, derivationPath } = address.byron;
    return {
      address_style: derivationPath === undefined ? "Icarus" : "Byron",
      address_type: 8,
      network_tag: magic ?? null,
      stake_reference: "none",
      address_root: root,
      derivation_path: derivationPath,
    };
  }
  const payment = "payment" in address ? address.payment : undefined;
  const stake = "stake" in address ? address.stake : undefined;
  const key = payment?.kind === "key" ? payment.hash : undefined;
  const first = payment ?? stake;
  const script = first?.kind === "script" ? first.hash : undefined;
  return {
    address_style: "Shelley",
    address_type: parseInt(address.hex.slice(0, 1), 16),
    network_tag: address.network,
    stake_reference: stake ? "by value" : address.kind === "pointer" ? "by pointer" : "none",
    pointer: address.kind !== "pointer" ? undefined : {
      slot_num: address.pointer.slot,
      transaction_index: address.pointer.transaction,
      output_index: address.pointer.certificate,
    },
    ...hashes("spending_key_hash", "addr_vkh", key),
    ...hashes("stake_key_hash", "stake_vkh", stake?.kind === "key" ? stake.hash : undefined),
    ...hashes("spending_shared_hash", "addr_shared_vkh", script),
    ...hashes("stake_shared_hash", "stake_shared_vkh", script),
    ...hashes("stake_script_hash", "stake_vkh", payment && stake?.kind === "script" ? stake.hash : undefined),
  };
}
