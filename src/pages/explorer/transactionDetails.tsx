/** Where a transaction is, when it is valid, who signed it, and its bytes. */
import { Ada, count } from "../kit/amounts.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { Facts, Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Ago, DateTime } from "../kit/time.tsx";
import { LongText } from "../kit/values.tsx";
import type { Transaction } from "./api.ts";
import { pageOf } from "./names.ts";

export function Details({ transaction }: { readonly transaction: Transaction }) {
  const { block, validity, deposit, requiredSigners, signatures, donation, cbor } = transaction;
  const until = (slot: number | undefined, time: number | undefined) =>
    slot === undefined ? "no limit" : (
      <span>
        {`slot ${count(slot)}`}
        {time !== undefined && (
          <span class="note">
            {` (`}
            <DateTime at={time} />
            {`)`}
          </span>
        )}
      </span>
    );
  const hashes = (list: readonly string[]) =>
    list.length === 0 ? undefined : (
      <ul>
        {list.slice(0, 50).map((one) => (
          <li key={one}>
            <Id value={one} name="key hash" />
          </li>
        ))}
      </ul>
    );
  return (
    <Panel title="Details">
      <Facts
        pairs={[
          [
            "Block",
            block && (
              <span>
                <a href={hrefOf(pageOf("block", block.hash))}>{count(block.height)}</a>
                <span class="note">
                  {`, transaction ${block.index + 1} in it, ${count(block.confirmations)} ${
                    block.confirmations === 1 ? "block" : "blocks"
                  } after it`}
                </span>
              </span>
            ),
          ],
          [
            "Time",
            block && (
              <span>
                <DateTime at={block.time} />{" "}
                <span class="note">
                  <Ago at={block.time} />
                </span>
              </span>
            ),
          ],
          ["Valid from", until(validity.from, validity.fromTime)],
          ["Valid until", until(validity.before, validity.beforeTime)],
          ["Deposit", deposit === undefined || BigInt(deposit) === 0n ? undefined : <Ada lovelace={deposit} signed />],
          ["Donation", donation === undefined ? undefined : <Ada lovelace={donation} />],
          ["Signed by", hashes(signatures)],
          ["Required signers", hashes(requiredSigners)],
        ]}
      />
      <details class="folded">
        <summary>Bytes (CBOR)</summary>
        <div class="value-bar">
          <button type="button" class="small" onClick={() => void copyText(cbor, "Copied the bytes")}>Copy</button>
        </div>
        <LongText text={cbor} mono />
      </details>
    </Panel>
  );
}
