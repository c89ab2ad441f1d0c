/** The summary of a transaction for its signer, computed from the bytes by this browser. */
import type { ComponentChildren } from "preact";
import type { Summary } from "#src/client/summary.ts";
import { Ada } from "../kit/amounts.tsx";
import { Id } from "../kit/Id.tsx";
import { Facts } from "../kit/parts.tsx";
import { DateTime } from "../kit/time.tsx";
import { ChangeText, Visible, WholeChange } from "./visible.tsx";

const token = (id: string) => <Id value={id} name="token id" />;
const request = (ref: string) => <Id value={ref} name="request" />;

/** The effects of the transaction, one line each. */
function steps({ valid, tokens, requests, retracts, refunds }: Summary): ComponentChildren[] {
  return [
    ...(valid ? [] : ["The transaction is marked as failing and forfeits its collateral."]),
    ...tokens.flatMap((one): ComponentChildren[] => {
      const { tokenId, booted, ended, owner, root, applies, skips, refuses = [] } = one;
      if (booted) {
        return [
          <span key="boot">
            Boots the token {token(tokenId)}. The ada that it locks returns to its owner at its end.
          </span>,
        ];
      }
      if (ended) return [<span key="end">Ends the token {token(tokenId)}.</span>];
      return [
        ...applies.map(({ change, outputRef }) => (
          <>
            Applies the request {request(outputRef)}: <ChangeText change={change} />
            <WholeChange change={change} />
          </>
        )),
        ...refuses.map(({ change, outputRef }) => (
          <>
            Refuses the request {request(outputRef)}{" "}
            (<ChangeText change={change} />): its whole deposit returns to the requester.
          </>
        )),
        ...skips.map(({ outputRef }) => <span key={outputRef}>Sends the request {request(outputRef)} back.</span>),
        ...(owner.before === owner.after ? [] : [
          <span key="owner">
            Transfers the token to the key <Id value={String(owner.after)} name="key hash" />.
          </span>,
        ]),
        <span key="root">
          The root of the token {token(tokenId)} {root.before === root.after ? "does not change" : (
            <>
              becomes <Id value={String(root.after)} name="root" />
            </>
          )}.
        </span>,
      ];
    }),
    ...requests.map(({ tokenId, change, offered, refundAddress, locked }) => (
      <>
        Asks the token {token(tokenId)} to <ChangeText change={change} />. It locks{" "}
        <Ada lovelace={locked.lovelace} />, of which <Ada lovelace={offered} />{" "}
        go to the token's owner, the rest back to <Id value={refundAddress} name="address" />.
        <WholeChange change={change} />
      </>
    )),
    ...retracts.map(({ outputRef, change, locked }) => (
      <>
        Takes the request {request(outputRef)} (<ChangeText change={change} />) back with its{" "}
        <Ada lovelace={locked.lovelace} />.
      </>
    )),
    ...refunds.map(({ address, lovelace }) => (
      <>
        Refunds <Ada lovelace={lovelace} /> to <Id value={address} name="address" />.
      </>
    )),
  ];
}

function Value({ amount: { lovelace, assets }, signed = false }: {
  readonly amount: { readonly lovelace: bigint; readonly assets: Readonly<Record<string, bigint>> };
  readonly signed?: boolean;
}) {
  return (
    <>
      <Ada lovelace={lovelace} signed={signed} />
      {Object.entries(assets).map(([asset, quantity]) => (
        <span key={asset}>
          , {String(quantity)} of <Id value={asset} name="asset" />
        </span>
      ))}
    </>
  );
}

export function SummaryView({ summary }: { readonly summary: Summary }) {
  const { fee, net, collateral, signers, validity: { until }, pays, hash, size, unknown, effects } = summary;
  return (
    <div class="summary">
      <ul class="effects">{steps(summary).map((line, i) => <li key={i}>{line}</li>)}</ul>
      {unknown.length > 0 && (
        <ul class="effects alert">
          {unknown.map(({ message }, i) => (
            <li key={i}>
              Not understood: <Visible text={message} />
            </li>
          ))}
        </ul>
      )}
      <Facts
        pairs={Object.entries({
          Fee: <Ada lovelace={fee} />,
          "Balance change": net === null ? "not known" : <Value amount={net} signed />,
          "At risk": collateral === null
            ? "nothing"
            : collateral.atRisk === null
            ? "not known"
            : <>{<Ada lovelace={collateral.atRisk} />} if a script fails</>,
          Signs: signers.map(({ key, requester, signed }) => (
            <div key={key}>
              {requester ? "you" : <Id value={key} name="key hash" />}
              {signed && " (signed)"}
            </div>
          )),
          "Valid until": until === null ? "unlimited" : (
            <>
              {until.time !== null && <DateTime at={until.time} />}
              {`${until.time === null ? "" : ", "}slot ${until.slot}`}
            </>
          ),
          Transaction: <Id value={hash} name="transaction hash" />,
        })}
      />
      <details>
        <summary>{`${pays.length === 1 ? "The output" : `All ${pays.length} outputs`}, ${size} bytes`}</summary>
        <ul class="rows">
          {pays.map(({ index, address, amount, purpose }) => (
            <li key={index}>
              <span class="grow">
                {`${index} ${purpose}: `}
                <Id value={address} name="address" />
              </span>
              <span>
                <Value amount={amount} />
              </span>
            </li>
          ))}
        </ul>
        <h3>Balance change of each address</h3>
        <ul class="rows">
          {effects.map((one) => (
            <li key={one.address}>
              <span class="grow">
                <Id value={one.address} name="address" />
              </span>
              <span>
                <Value amount={one} signed />
              </span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}
