/**
 * The hash by which wallets name a network: that of its Byron genesis. No query of a node tells it.
 *
 * Hypothesis: the first block of a chain that begins in Byron names the genesis as the one before it; a chain that begins later names
 * none, so that its hash has to be told.
 */
import { scanBlock } from "#src/cardano/scan.ts";
import { connectNode } from "#src/node/client/connection.ts";
import type { NodeAddress } from "#src/node/transport/dial.ts";
import { NodeError } from "#src/node/errors.ts";

/** Hashes of public networks, by magic: of mainnet, preprod and preview, as their configurations state them. */
const PUBLIC: Readonly<Record<number, string>> = {
  764824073: "5f20df933584822601f9e3f8c024eb5eb252fe8cefb24d1317dc3d432e940ebb",
  1: "d4b8de7a11d929a323373cbab6c1a9bdc931beffff11db111cf9d57356ee1937",
  2: "83de1d7302569ad56cf9139a41e2e11346d4cb4a31c00142557b6ab3fa550761",
};

/** The hash of a public network, known by its magic. */
export function publicGenesis(magic: number): string | undefined {
  return PUBLIC[magic];
}

/** What a chain's first block names as the one before it; undefined where it names none. Waits for a first block. Throws `NodeError`. */
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
