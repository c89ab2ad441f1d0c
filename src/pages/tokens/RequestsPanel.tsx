/// <reference lib="dom" />
/** Open requests of a token, with what would happen to each if it were applied now. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, usePages } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Panel } from "../kit/parts.tsx";
import { Empty } from "../kit/states.tsx";
import { Pager } from "../kit/Table.tsx";
import { apply, refuse, takeBack } from "./actions.tsx";
import { SlotAgo, Tx } from "./parts.tsx";
import { Proven } from "./Proven.tsx";
import { explorerAddress, getPage, type ListPage, type OpenRequest, type OpenRequests } from "./service.ts";
import { requestContent } from "./shown.ts";
import { changeFromHex, ChangeText, plain, textOf, WholeChange } from "./visible.tsx";
import { wallet } from "./wallet.tsx";

const PAGE = 25;

/** `owner` is that of the token; undefined where it has ended. */
export function RequestsPanel({ tokenId, owner, version }: {
  readonly tokenId: string;
  readonly owner: string | undefined;
  readonly version: number;
}) {
  const list = usePages<ListPage<OpenRequests>>(
    (cursor, signal) =>
      getPage<OpenRequests>(cursor ?? `/token/${tokenId}/requests?encoding=hex&limit=${PAGE}`, signal),
    ({ next }) => next,
    [tokenId],
  );
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const { data, page } = list;
  useEffect(() => {
    if (version > 0) void data.reload();
  }, [version]);
  const requests = data.value?.value.requests ?? [];
  const shown = new Set(requests.map(({ outputRefId }) => outputRefId));
  const chosen = [...picked].filter((one) => shown.has(one));
  const key = wallet.value?.key;
  const isOwner = owner !== undefined && owner === key;
  const pick = (ref: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(ref);
    else next.delete(ref);
    setPicked(next);
  };
  const total = data.value?.value.total ?? 0;
  const view = useMemo(
    () => data.value && { items: new Map(requests.map((one) => [one.outputRefId, requestContent(one)])), total },
    [data.value],
  );
  return (
    <Panel
      title="Open requests"
      aside={isOwner && requests.length > 0 && <OwnerButtons tokenId={tokenId} chosen={chosen} />}
    >
      {view && <Proven subject={{ kind: "requests", tokenId }} shown={view} reload={data.reload} />}
      <Loaded data={data} rows={2}>
        {() => (
          <>
            {requests.length === 0
              ? <Empty title="No open requests" />
              : (
                <ul class="request-list" aria-busy={data.loading}>
                  {requests.map((one) => (
                    <Request
                      key={one.outputRefId}
                      request={one}
                      mine={one.owner === key}
                      {...(isOwner
                        ? {
                          picked: chosen.includes(one.outputRefId),
                          onPick: (on: boolean) => pick(one.outputRefId, on),
                          onRefuse: () => void refuse(tokenId, [one.outputRefId]),
                        }
                        : {})}
                    />
                  ))}
                </ul>
              )}
            {requests.some(({ outlook }) => outlook) && (
              <p class="note compared">
                Each request is compared with the facts and with older requests for its key. The contract itself runs,
                with a transaction's limits, when the owner applies requests.
              </p>
            )}
            {total > PAGE && (
              <Pager
                label="Open requests"
                text={`${count(page * PAGE + 1)}–${count(page * PAGE + requests.length)} of ${count(total)}`}
                previous={list.previous}
                next={list.next}
              />
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** What the owner can do with the requests that are selected. */
function OwnerButtons({ tokenId, chosen }: { readonly tokenId: string; readonly chosen: readonly string[] }) {
  return (
    <>
      <span class="note" role="status">
        {chosen.length === 0 ? "Select requests" : `${chosen.length} selected`}
      </span>
      <button
        type="button"
        class="small primary"
        disabled={chosen.length === 0}
        onClick={() => void apply(tokenId, chosen)}
      >
        Apply selected
      </button>
      <button
        type="button"
        class="small"
        disabled={chosen.length === 0}
        onClick={() => void refuse(tokenId, chosen)}
      >
        Refuse selected
      </button>
    </>
  );
}

function Request({ request, mine, picked, onPick, onRefuse }: {
  readonly request: OpenRequest;
  readonly mine: boolean;
  readonly picked?: boolean;
  readonly onPick?: (on: boolean) => void;
  readonly onRefuse?: () => void;
}) {
  const { pending } = request;
  const change = changeFromHex(request.change);
  const name = `${change.type} ${plain(textOf(request.change.key))}`;
  const isBusy = pending !== undefined;
  return (
    <li class="request">
      <div class="request-line">
        {onPick && (
          <input
            type="checkbox"
            aria-label={`Select the request to ${name}`}
            checked={picked ?? false}
            disabled={isBusy}
            onChange={(event) => onPick(event.currentTarget.checked)}
          />
        )}
        <span class="grow">
          <ChangeText change={change} />
        </span>
        <Outlook request={request} />
      </div>
      <RequestDetails request={request} name={name} mine={mine} onRefuse={onRefuse} />
      <WholeChange change={change} />
      {pending !== undefined && (
        <p class="note">
          A submitted transaction spends this request: <Tx hash={pending} />
        </p>
      )}
      {request.outlook && !request.outlook.applies && <OutlookReason outlook={request.outlook} />}
    </li>
  );
}

/** Whose request it is, what it pays, and what the reader can do with it. */
function RequestDetails({ request, name, mine, onRefuse }: {
  readonly request: OpenRequest;
  readonly name: string;
  readonly mine: boolean;
  readonly onRefuse: (() => void) | undefined;
}) {
  const { outputRefId, refundAddress, lovelace, fee, opened, pending } = request;
  const isBusy = pending !== undefined;
  return (
    <div class="request-more">
      <span>
        by{" "}
        <Id
          value={refundAddress}
          name="requester's address"
          href={explorerAddress(refundAddress)}
          external
          ends={6}
        />
        {mine && <Badge tone="good">yours</Badge>}
      </span>
      <span>
        deposit <Ada lovelace={lovelace} />
      </span>
      <span>
        offers the owner <Ada lovelace={fee} />
      </span>
      <span>
        <SlotAgo slot={opened.slot} />
      </span>
      <span>
        request <Id value={outputRefId} name="request" ends={4} />
      </span>
      {(mine || onRefuse) && (
        <span class="buttons">
          {mine && (
            <button
              type="button"
              class="small"
              disabled={isBusy}
              aria-label={`Take back the request to ${name}`}
              onClick={() => void takeBack(outputRefId)}
            >
              Take back
            </button>
          )}
          {onRefuse && (
            <button
              type="button"
              class="small"
              disabled={isBusy}
              aria-label={`Refuse the request to ${name}`}
              onClick={onRefuse}
            >
              Refuse
            </button>
          )}
        </span>
      )}
    </div>
  );
}

/** What would happen if the owner applied all requests now. */
function Outlook({ request: { pending, outlook } }: { readonly request: OpenRequest }) {
  if (pending !== undefined) return <Badge tone="quiet">waits for a block</Badge>;
  if (outlook === undefined) return null;
  return outlook.applies
    ? (
      <Badge tone="good" title={`${outlook.message} Compared with the facts and older requests.`}>
        can be applied now
      </Badge>
    )
    : <Badge tone="warn" title={outlook.message}>would not be applied</Badge>;
}

/** Why a request would not be applied. */
function OutlookReason({ outlook }: { readonly outlook: NonNullable<OpenRequest["outlook"]> }) {
  return (
    <p class="outlook-why">
      {outlook.message}
      {outlook.older !== undefined && (
        <>
          {" "}
          The older request is <Id value={outlook.older} name="request" ends={4} />.
        </>
      )}
    </p>
  );
}
