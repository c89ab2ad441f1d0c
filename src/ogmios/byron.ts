/** Blocks and transactions of Byron in Ogmios' JSON. */
import { type Json, jsonInteger } from "#src/base/json.ts";
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { OgmiosVersion } from "#src/ogmios/form.ts";
import { outputJson } from "#src/ogmios/outputs.ts";
import { adaJson, ratioText, refJson } from "#src/ogmios/values.ts";

type Members = { [name: string]: Json };

/** Hexadecimal digits of a public key; a chain code follows it. */
const KEY = 64;

/** Members of a transaction, beside its id. */
export function byronMembers({ inputs, outputs, witnesses }: ScannedTransaction, version: OgmiosVersion): Members {
  return {
    inputs: inputs.map(refJson),
    ...(version === 6 || outputs.length > 0 ? { outputs: outputs.map((output) => outputJson(output)) } : {}),
    signatories: walkSignatories(new Walk(witnesses), version),
  };
}

/** Signatures by keys with a chain code, and those that redeem a voucher, by keys without one. */
function walkSignatories(walk: Walk, version: OgmiosVersion): Json[] {
  return walk.each(walk.array(), () =>
    walk.within("witness", 2, 2, () => {
      walk.skip(); // its kind
      const inner = new Walk(walk.embedded());
      inner.tuple("witness", 2);
      const [whole, signature] = [inner.hex(), inner.hex()];
      if (version === 6 || whole.length <= KEY) return { key: whole, signature };
      return { key: whole.slice(0, KEY), chainCode: whole.slice(KEY), signature };
    }));
}

/**
 * Members that blocks of Byron have beside those of every block. `body` is the walk at the block (after its era).
 *
 * @throws CborError
 */
export function byronBlockMembers({ era, header, size, slot }: ScannedBlock, walk: Walk): Members {
  if (era === 0) return { type: "ebb" };
  walk.tuple("block", 3);
  walk.skip(); // header
  walk.tuple("block body", 4);
  walk.skip(); // transactions
  walk.skip(); // shared seed computation
  const operationalCertificates = walk.each(walk.array(), () =>
    walk.within("certificate", 4, 4, () => {
      walk.skip(); // epoch
      const keys = { issuer: { verificationKey: walk.hex() }, delegate: { verificationKey: walk.hex() } };
      walk.skip(); // signature
      return keys;
    }));
  const update = walkUpdate(walk);
  const { protocol, issuer, delegate } = walkHeader(new Walk(header));
  return {
    type: "bft",
    slot,
    size: { bytes: size },
    operationalCertificates,
    protocol: { ...protocol, ...(update ? { update } : {}) },
    issuer: { verificationKey: issuer },
    delegate: { verificationKey: delegate },
  };
}

function walkHeader(walk: Walk): { readonly protocol: Members; readonly issuer: string; readonly delegate: string } {
  walk.tuple("header", 5);
  const id = walk.uint();
  walk.skip(); // previous block
  walk.skip(); // proof of the body
  walk.tuple("consensus data", 4);
  walk.skip(); // slot
  const key = walk.hex();
  walk.skip(); // difficulty
  walk.tuple("signature", 2);
  const kind = walk.uint();
  let [issuer, delegate] = [key, key];
  if (kind === 2) {
    walk.tuple("signature", 2);
    walk.tuple("delegation", 4);
    walk.skip(); // epoch
    [issuer, delegate] = [walk.hex(), walk.hex()];
    walk.skip(); // signature of the delegation
  }
  walk.skip(); // signature of the block
  walk.tuple("extra data", 4);
  return { protocol: { id, version: walkVersion(walk), software: walkSoftware(walk) }, issuer, delegate };
}

function walkVersion(walk: Walk): Json {
  return walk.within("version", 3, 3, () => ({ major: walk.uint(), minor: walk.uint(), patch: walk.uint() }));
}

function walkSoftware(walk: Walk): Json {
  return walk.within("software", 2, 2, () => ({ appName: walk.text(), number: walk.uint() }));
}

/** The update that a block holds: a proposal, votes, or both. */
function walkUpdate(walk: Walk): Members | undefined {
  return walk.within("updates", 2, 2, () => {
    const [proposal] = walk.each(walk.array(), () => walkProposal(walk));
    const votes = walk.each(walk.array(), () =>
      walk.within("vote", 4, 4, () => {
        const vote = { voter: { verificationKey: walk.hex() }, proposal: { id: walk.hex() } };
        walk.skip(); // for or against: all are for
        walk.skip(); // signature
        return vote;
      }));
    if (!proposal && votes.length === 0) return undefined;
    return { ...(proposal ? { proposal } : {}), votes };
  });
}

function walkProposal(walk: Walk): Members {
  return walk.within("proposal", 7, 7, () => {
    const version = walkVersion(walk);
    const parameters = walkParameters(walk);
    const software = walkSoftware(walk);
    // of the four hashes for a system only that of the installer has a meaning
    const metadata = Object.fromEntries(walk.each(walk.map(), () => {
      const tag = walk.text();
      const [, installer = ""] = walk.within("hashes", 4, 4, () => [walk.hex(), walk.hex(), walk.hex(), walk.hex()]);
      return [tag, installer] as const;
    }));
    walk.skip(); // attributes
    walk.skip(); // key
    walk.skip(); // signature
    return { version, software, parameters, metadata };
  });
}

/** Shares are in parts of 10^15. */
const share = (walk: Walk) => ratioText({ numerator: walk.int(), denominator: 10n ** 15n });
const integer = (walk: Walk) => jsonInteger(walk.int());
const bytes = (walk: Walk) => ({ bytes: jsonInteger(walk.int()) });

/** The parameters, in the order in which an update has them. */
const PARAMETERS: readonly (readonly [name: string, read: (walk: Walk) => Json])[] = [
  ["scriptVersion", integer],
  ["slotDuration", integer],
  ["maxBlockBodySize", bytes],
  ["maxBlockHeaderSize", bytes],
  ["maxTransactionSize", bytes],
  ["maxUpdateProposalSize", bytes],
  ["multiPartyComputationThreshold", share],
  ["heavyDelegationThreshold", share],
  ["updateVoteThreshold", share],
  ["updateProposalThreshold", share],
  ["updateProposalTimeToLive", integer],
];

function walkParameters(walk: Walk): Members {
  return walk.within("parameters", 14, 14, () => {
    const parameters: Members = {};
    /** An element that is there, or an empty list. */
    const given = (read: () => void) => {
      walk.each(walk.array(), read);
    };
    for (const [name, read] of PARAMETERS) given(() => parameters[name] = read(walk));
    given(() =>
      walk.within("soft fork rule", 3, 3, () => {
        parameters.softForkInitThreshold = share(walk);
        parameters.softForkMinThreshold = share(walk);
        parameters.softForkDecrementThreshold = share(walk);
      })
    );
    given(() =>
      walk.within("fee policy", 2, 2, () => {
        walk.skip(); // its kind: linear in the size
        const inner = new Walk(walk.embedded());
        inner.tuple("fee policy", 2);
        parameters.minFeeConstant = adaJson(whole(inner.int()));
        parameters.minFeeCoefficient = jsonInteger(whole(inner.int()));
      })
    );
    given(() => parameters.unlockStakeEpoch = integer(walk));
    return parameters;
  });
}

/** A number in parts of 10^9, rounded. */
function whole(nano: bigint): bigint {
  return (nano + 500_000_000n) / 1_000_000_000n;
}
