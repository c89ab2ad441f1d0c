/** Proposals of governance actions as a node encodes them (`proposal_procedure`): with tags of sets, entries in its order. */
import { CborError } from "#src/cardano/cbor.ts";
import { type Proposal, readProposal } from "#src/cardano/conway/governance.ts";
import { encodableProposal } from "#src/cardano/encodeProposal.ts";
import { type CborShape, sentList, sentMap } from "#src/node/queries/shape.ts";

/** A proposal without the bytes that it was read from. */
type ProposalValue = Omit<Proposal, "cbor">;

/** `[deposit, account, action, anchor]`. Read as strictly as a ledger reads that of a transaction. */
export const proposal: CborShape<ProposalValue> = {
  read(item) {
    if (!item) throw new CborError("a proposal is missing");
    const { cbor: _, ...value } = readProposal(item);
    return value;
  },
  write: ({ account: { hex }, ...value }) =>
    encodableProposal({ ...value, account: hex }, { list: sentList, map: sentMap }),
};
