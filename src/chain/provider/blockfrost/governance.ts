/** Representatives and governance actions as a Blockfrost service reports them. Functions throw `BlockfrostError`. */
import type { Credential } from "#src/cardano/address.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { mapParallel } from "#src/base/parallel.ts";
import {
  drepDocument,
  drepMetadataDocument,
  epochDocument,
  parse,
  proposalDocument,
} from "#src/chain/provider/blockfrost/documents.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import type { ActionStatus, DRepStatus } from "#src/chain/provider/ledgerPort.ts";

const PARALLEL = 4;

/**
 * Some representatives, in the order of their credentials. The service states neither the deposit nor the epoch in which
 * one expires: only whether it has.
 */
export async function readDrepStatus(
  http: BlockfrostHttp,
  wanted: readonly Credential[],
): Promise<readonly DRepStatus[]> {
  return await mapParallel([...wanted], PARALLEL, async (credential): Promise<DRepStatus> => {
    const path = `/governance/dreps/${drepId(credential)}`;
    const none = { credential, registered: false, active: false, anchor: undefined, expiry: undefined };
    const answer = await http.find(path);
    // one that was never registered is absent
    if (answer === undefined) return { ...none, deposit: undefined, stake: 0n };
    const { amount, retired, expired } = parse(drepDocument, answer, "a representative");
    if (retired) return { ...none, deposit: undefined, stake: amount };
    const metadata = await http.find(`${path}/metadata`);
    const anchor = metadata === undefined ? undefined : parse(drepMetadataDocument, metadata, "an anchor");
    return { ...none, registered: true, active: !expired, anchor, deposit: undefined, stake: amount };
  });
}

/** Some governance actions, in the order of their ids. */
export async function readActions(http: BlockfrostHttp, ids: readonly ActionId[]): Promise<readonly ActionStatus[]> {
  const { epoch } = parse(epochDocument, await http.get("/epochs/latest"), "the epoch");
  return await mapParallel([...ids], PARALLEL, async (id): Promise<ActionStatus> => {
    const answer = await http.find(`/governance/proposals/${id.txHash}/${id.index}`);
    if (answer === undefined) return { id, state: "unknown" };
    const { enacted_epoch, dropped_epoch, expired_epoch, expiration } = parse(proposalDocument, answer, "an action");
    const outcome = enacted_epoch ?? dropped_epoch ?? expired_epoch;
    return outcome != null || expiration < epoch
      ? { id, state: "ended" }
      : { id, state: "open", lastEpoch: expiration };
  });
}
