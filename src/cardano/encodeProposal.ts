/** Encodes proposals of governance actions (CDDL `proposal_procedure`). */
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import type { Action, Proposal } from "#src/cardano/conway/governance.ts";
import type { ParameterValue } from "#src/cardano/conway/parameterChanges.ts";
import { encodableAnchor, encodableCredential } from "#src/cardano/encodeCertificate.ts";
import { encodableActionId } from "#src/cardano/encodeVotes.ts";
import type { Ratio } from "#src/cardano/parameters.ts";

type ProposalContent = Pick<Proposal, "deposit" | "action" | "anchor"> & {
  /** The reward account that the deposit returns to, its bytes in hexadecimal. */
  readonly account: string;
};

/** How lists and maps are written that may have any number of entries. Changes of parameters are a definite map always. */
interface CollectionForm {
  readonly list: (elements: readonly Encodable[]) => Encodable;
  readonly map: (entries: readonly (readonly [Encodable, Encodable])[]) => Encodable;
}

/** Of definite length. */
const DEFINITE: CollectionForm = { list: (elements) => elements, map: (entries) => new Map(entries) };

/** CBOR of a proposal. */
export function encodeProposal(proposal: ProposalContent): Uint8Array {
  return encode(encodableProposal(proposal));
}

/** A proposal to be encoded within something else. */
export function encodableProposal(
  { deposit, account, action, anchor }: ProposalContent,
  form: CollectionForm = DEFINITE,
): Encodable {
  return [deposit, fromHex(account), encodableAction(action, form), encodableAnchor(anchor)];
}

function encodableAction(action: Action, { list, map }: CollectionForm): Encodable {
  const previous = "previous" in action && action.previous ? encodableActionId(action.previous) : null;
  switch (action.kind) {
    case "parameters": {
      const changes = new Map(
        [...action.changes].sort(([a], [b]) => a - b).map(([number, of]) => [number, valueOf(of, { list, map })]),
      );
      return [0, previous, changes, hashOrNull(action.policy)];
    }
    case "hard fork":
      return [1, previous, [action.version.major, action.version.minor]];
    case "treasury": {
      const payments = action.payments.map(([{ hex }, lovelace]): [Encodable, Encodable] => [fromHex(hex), lovelace]);
      return [2, map(payments), hashOrNull(action.policy)];
    }
    case "no confidence":
      return [3, previous];
    case "committee": {
      const added = action.added.map((
        { member, until },
      ): [Encodable, Encodable] => [encodableCredential(member), until]);
      const removed = new Tagged(258, list(action.removed.map(encodableCredential)));
      return [4, previous, removed, map(added), ratioOf(action.quorum)];
    }
    case "constitution":
      return [5, previous, [encodableAnchor(action.anchor), hashOrNull(action.script)]];
    default:
      return [6];
  }
}

const hashOrNull = (hash: string | undefined): Encodable => hash === undefined ? null : fromHex(hash);
const ratioOf = ({ numerator, denominator }: Ratio): Encodable => new Tagged(30, [numerator, denominator]);

function valueOf(value: ParameterValue, form: CollectionForm): Encodable {
  if (typeof value === "bigint") return value;
  if (value instanceof Map) return form.map([...value].map(([language, model]) => [language, form.list([...model])]));
  if ("numerator" in value) return ratioOf(value);
  return [...value as readonly ParameterValue[]].map((part) => valueOf(part, form));
}
