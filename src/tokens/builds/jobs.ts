/** The jobs of builder threads that tokens add: transactions of the contract, proofs and roots of facts. */
import type { Result } from "#src/base/result.ts";
import type { BuildFailure, BuildInput, Built } from "#src/contract/transactions/common.ts";
import type { BuiltBoot } from "#src/contract/transactions/boot.ts";
import type { BuiltRequest, RequestInput } from "#src/contract/transactions/request.ts";
import type { RetractInput } from "#src/contract/transactions/retract.ts";
import type { BuiltUpdate, UpdateFailure, UpdateInput } from "#src/contract/transactions/update.ts";
import type { BuiltBatch } from "#src/contract/transactions/batch.ts";
import type { BuiltTransfer, TransferFailure, TransferInput } from "#src/contract/transactions/transfer.ts";
import type { EndInput } from "#src/contract/transactions/end.ts";
import type { CutMismatch } from "#src/forestry/cut.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import type { Undecodable } from "#src/contract/summary/summarize.ts";
import type { ExplainInput } from "#src/tokens/builds/explain.ts";
import type { InclusionsInput } from "#src/tokens/builds/inclusions.ts";
import type { KeyHistoryFailure, KeyHistoryInput, ProvenKeyHistory } from "#src/tokens/builds/keyHistory.ts";
import type { PackedFacts, StateFacts } from "#src/tokens/builds/packedFacts.ts";
import type { PathProof, ProveFailure, ProveInput } from "#src/tokens/builds/proofs.ts";

export type { Builders } from "#src/threads/builders.ts";

declare module "#src/threads/jobs.ts" {
  interface Jobs {
    boot(input: BuildInput): Result<BuiltBoot, BuildFailure>;
    request(input: RequestInput): Result<BuiltRequest, BuildFailure>;
    retract(input: RetractInput): Result<Built, BuildFailure>;
    update(input: UpdateInput & StateFacts): Result<BuiltUpdate, UpdateFailure>;
    /** An update with as many of the requests as apply and fit. */
    batch(input: UpdateInput & StateFacts): Result<BuiltBatch, UpdateFailure>;
    transfer(input: TransferInput): Result<BuiltTransfer, TransferFailure>;
    end(input: EndInput): Result<Built, BuildFailure>;
    /** Summary of a transaction. */
    explain(input: ExplainInput): Result<Summary, Undecodable>;
    /** Root of the facts, 32 bytes in hexadecimal. */
    root(input: PackedFacts): Result<string, CutMismatch>;
    /** Cut of the facts, and their root. */
    cut(input: PackedFacts): Result<{ readonly root: string; readonly cut: Uint8Array }, CutMismatch>;
    /** A proof of a fact or of its absence. */
    prove(input: ProveInput): Result<PathProof, ProveFailure>;
    /** Proofs of a key in several states of a token. */
    keyHistory(input: KeyHistoryInput): Result<ProvenKeyHistory, KeyHistoryFailure>;
    /** Proof that entries are in the log. */
    inclusions(input: InclusionsInput): Result<Uint8Array[], never>;
  }
}
