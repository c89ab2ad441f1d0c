/** Encodes votes on governance actions (CDDL `voting_procedures`). */
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode } from "#src/cardano/cbor.ts";
import type { ActionId, Voter } from "#src/cardano/conway/governance.ts";
import { encodableAnchor } from "#src/cardano/encodeCertificate.ts";
import { compareRefs } from "#src/cardano/output.ts";

/** First element of a voter by its role, for a key; a script has the next number. */
const ROLES = { committee: 0, drep: 2, pool: 4 } as const;
const VOTES = { no: 0, yes: 1, abstain: 2 } as const;

/** `[transaction, index]`. */
export const encodableActionId = ({ txHash, index }: ActionId): Encodable => [fromHex(txHash), index];

/** CBOR of the votes of a transaction: a map by voter, then by action. Each voter has at least one vote. */
export function encodeVotes(voters: readonly Voter[]): Uint8Array {
  return encode(
    new Map(voters.map(({ role, credential: { kind, hash }, votes }): [Encodable, Encodable] => [
      [ROLES[role] + (kind === "script" ? 1 : 0), fromHex(hash)],
      new Map(
        [...votes].sort((a, b) => compareRefs(a.action, b.action)).map(({ action, vote, anchor }) =>
          [
            encodableActionId(action),
            [VOTES[vote], encodableAnchor(anchor)],
          ] as [Encodable, Encodable]
        ),
      ),
    ])),
  );
}
