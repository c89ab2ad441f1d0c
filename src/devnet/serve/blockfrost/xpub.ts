/** `GET /utils/addresses/xpub/{xpub}/{role}/{index}`: an address below an account's public key (CIP-1852). */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { addressText, baseAddress, type Credential, type NetworkId, rewardAddress } from "#src/cardano/address.ts";
import { derivePublic, HARD, type PublicNode, ROLES } from "#src/cardano/keys/derivation.ts";
import { isPublicKey, keyHash } from "#src/cardano/keys/signingKey.ts";
import { malformed } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";

/** A key and its chain code. */
const XPUB_BYTES = 64;

/** The operation that derives an address. */
export function xpubOperations({ devnet }: BlockfrostService): Operation[] {
  return [
    get("/utils/addresses/xpub/{xpub}/{role}/{index}", async ({ xpub, role, index }) => {
      const account = accountOf(xpub);
      if (!account) throw malformed.xpub();
      if (role < 0 || role >= HARD) throw malformed.xpubRole();
      if (index < 0 || index >= HARD) throw malformed.xpubIndex();
      return { xpub, role, index, address: addressAt(account, role, index, devnet.network.id) };
    }),
  ];
}

function accountOf(xpub: string): PublicNode | undefined {
  if (!isHex(xpub, XPUB_BYTES)) return undefined;
  const bytes = fromHex(xpub);
  const key = bytes.slice(0, 32);
  return isPublicKey(key) ? { key, chainCode: bytes.slice(32) } : undefined;
}

/** The base address with the account's stake key; under the role of that key, its reward address, whatever the index. */
function addressAt(account: PublicNode, role: number, index: number, network: NetworkId): string {
  const keyAt = (...path: readonly number[]): Credential => ({
    kind: "key",
    hash: keyHash(path.reduce(derivePublic, account).key),
  });
  const stake = keyAt(ROLES.stake, 0);
  return addressText(
    role === ROLES.stake ? rewardAddress(network, stake) : baseAddress(network, keyAt(role, index), stake),
  );
}
