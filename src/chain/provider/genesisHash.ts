/**
 * The hash that identifies a network to wallets: that of its Byron genesis. No query of a node gives it.
 *
 * Assumption: the first block of a chain that starts in Byron names the genesis as its parent. A chain that starts
 * later names no parent, so its genesis hash has to be configured.
 */
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { connectNode } from "#src/node/client/connection.ts";
import type { NodeAddress } from "#src/node/transport/dial.ts";
import { NodeError } from "#src/node/errors.ts";

/** Genesis hashes of mainnet, preprod and preview by magic, as their published configurations state them. */
const PUBLIC: Readonly<Record<number, string>> = {
  [MAINNET_MAGIC]: "5f20df933584822601f9e3f8c024eb5eb252fe8cefb24d1317dc3d432e940ebb",
  1: "d4b8de7a11d929a323373cbab6c1a9bdc931beffff11db111cf9d57356ee1937",
  2: "83de1d7302569ad56cf9139a41e2e11346d4cb4a31c00142557b6ab3fa550761",
};

/** The genesis hash of a public network. */
export function publicGenesis(magic: number): string | undefined {
  return PUBLIC[magic];
}

/**
 * The parent that a chain's first block names; undefined if it names none. Waits until the chain has a block.
 *
 * @throws NodeError
 */
export async function firstParent(
  address: NodeAddress,
  magic: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const connected = await connectNode(address, { magic, signal });
  if (!connected.ok) throw new NodeError(connected.error);
  try {
    for await (const step of connected.value.follow([], signal)) {
      if (step.type === "forward") return scanBlock(step.block).previous;
    }
    return undefined;
  } finally {
    connected.value.close();
  }
}
