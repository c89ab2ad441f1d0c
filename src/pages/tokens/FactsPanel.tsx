/// <reference lib="dom" />
/** Facts of a token by pages, found by what their keys or values contain, with proofs that are verified here. */
import { present } from "#src/base/present.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../kit/amounts.tsx";
import { Loaded, usePages } from "../kit/data.tsx";
import { CheckField, TextField } from "../kit/forms.tsx";
import { Action, Badge, Choice, Panel } from "../kit/parts.tsx";
import { go, here, setQuery } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { Pager } from "../kit/Table.tsx";
import { ValueView } from "../kit/values.tsx";
import { fromHex, fromUtf8, toHex } from "#src/base/bytes.ts";
import { entered } from "./actions.tsx";
import { checkProof, type Verdict } from "./proof.ts";
import { SlotAgo } from "./parts.tsx";
import { Proven } from "./Proven.tsx";
import { getPage, isBytes, type ListPage, type Token, typedHex } from "./service.ts";
import type { Draft } from "./TokenActions.tsx";
import { plain, textOf, Visible } from "./visible.tsx";

const PAGE = 25;

/** A fact; key and value in hexadecimal. */
interface Fact {
  readonly key: string;
  readonly value: string;
  readonly slot: number;
}

type FactsAnswer = Readonly<Record<string, { readonly value: string; readonly slot: number }>>;

/** Keys that look like numbers come first in any object. */
const factsOf = (answer: FactsAnswer): Fact[] =>
  Object.entries(answer).map(([key, { value, slot }]) => ({ key, value, slot })).sort((a, b) => a.key < b.key ? -1 : 1);

/** Path of the first page of the facts that an address asks for; undefined where it asks for no bytes. */
function firstPath(tokenId: string, query: URLSearchParams): string | undefined {
  const search = query.get("find") ?? "";
  const wanted = search === "" ? "" : typedHex(search);
  if (wanted === undefined) return undefined;
  // of text both cases are found, of bytes those that were typed
  const contains = isBytes(search) ? "contains" : "ignoreCase=true&contains";
  const filter = wanted === "" ? "" : `&${query.get("by") === "beginning" ? "prefix" : contains}=${wanted}`;
  return `/token/${tokenId}/facts?slots=true&encoding=hex&limit=${PAGE}${filter}`;
}

/** A first page that was requested before the panel appears. */
export interface EarlyFacts {
  readonly path: string | undefined;
  /** The page, once; later reads request it again. */
  readonly take: () => Promise<ListPage<FactsAnswer>> | undefined;
}

/** How long an early page may wait for its panel, in milliseconds. */
const EARLY_MS = 5_000;

/**
 * Requests the facts that a view will show while the token itself is read. The state may change between the two answers:
 * the view reads both again when its stream of events stands.
 */
export function earlyFacts(tokenId: string, query: URLSearchParams): EarlyFacts {
  const path = firstPath(tokenId, query);
  const begun = Date.now();
  let page = path === undefined ? undefined : getPage<FactsAnswer>(path);
  // the panel reads again, and shows what then fails
  page?.catch(() => {});
  return {
    path,
    take: () => {
      const taken = Date.now() - begun < EARLY_MS ? page : undefined;
      page = undefined;
      return taken;
    },
  };
}

export function FactsPanel({ token, version, query, early, reload, onDraft }: {
  readonly token: Token;
  readonly version: number;
  readonly query: URLSearchParams;
  readonly early: EarlyFacts | undefined;
  /** Reads the token again. */
  readonly reload: () => Promise<void>;
  readonly onDraft: (draft: Draft) => void;
}) {
  const { tokenId } = token;
  const search = query.get("find") ?? "";
  const begins = query.get("by") === "beginning";
  const first = firstPath(tokenId, query);
  // the state that is listed: pages behind the first one stay at theirs until the reader changes it
  const [root, setRoot] = useState(token.root);
  const list = usePages<ListPage<FactsAnswer>>(
    (cursor, signal) => {
      const path = cursor ?? first ?? present(firstPath(tokenId, new URLSearchParams()), "the path of all facts");
      const read = () => getPage<FactsAnswer>(path, signal);
      return (path === early?.path ? early.take()?.catch(read) : undefined) ?? read();
    },
    ({ next }) => next,
    [first, root],
  );
  const { data, page } = list;
  useEffect(() => {
    if (page === 0) setRoot(token.root);
  }, [token.root, page]);
  useEffect(() => {
    // a rollback may change the slots of the same state
    if (version > 0 && page === 0) void data.reload();
  }, [version]);
  const isQuarantined = token.status === "quarantined";
  const total = token.counts.facts;
  const shown = useMemo(
    () =>
      data.value && root === token.root
        ? { items: new Map(factsOf(data.value.value).map(({ key, value }) => [key, value])), total }
        : undefined,
    [data.value, root === token.root, total],
  );
  const readAgain = () => Promise.all([reload(), data.reload()]);
  return (
    <Panel title="Facts" class="facts-panel">
      <FactsFilter search={search} begins={begins} />
      {first === undefined && <p class="alert warn" role="alert">After 0x, enter hexadecimal digits in pairs.</p>}
      {root !== token.root && (
        <p class="alert info" role="status">
          The facts have changed since this list was read.
          <button type="button" class="small" onClick={() => setRoot(token.root)}>Show the newest</button>
        </p>
      )}
      {!isQuarantined && data.value && <Proven subject={{ kind: "facts", tokenId }} shown={shown} reload={readAgain} />}
      {isQuarantined
        ? <Empty title="No facts are shown while the token is in quarantine" />
        : (
          <Loaded data={data} rows={5}>
            {({ value }) => {
              const facts = factsOf(value);
              return (
                <>
                  {facts.length === 0
                    ? <NoFacts isSearch={search !== ""} isExact={begins || isBytes(search)} />
                    : <FactList token={token} facts={facts} busy={data.loading} onDraft={onDraft} />}
                  {(list.previous ?? list.next) && (
                    <Pager
                      label="Facts"
                      text={`${count(page * PAGE + 1)}–${count(page * PAGE + facts.length)}${
                        search === "" ? ` of ${count(token.counts.facts)}` : ""
                      }`}
                      previous={list.previous}
                      next={list.next}
                    />
                  )}
                </>
              );
            }}
          </Loaded>
        )}
      <CheckAny tokenId={tokenId} root={token.root} />
    </Panel>
  );
}

function FactsFilter({ search, begins }: { readonly search: string; readonly begins: boolean }) {
  return (
    <div class="filter">
      <Search
        label="Search the facts"
        placeholder={begins ? "Beginning of a key, or 0x and bytes" : "Part of a key or value, or 0x and bytes"}
        value={search}
        onSearch={(text) => setQuery({ find: text })}
      />
      <Choice
        label="Search in"
        options={[["any", "Anywhere"], ["beginning", "Key begins with"]]}
        value={begins ? "beginning" : "any"}
        onChange={(by) => setQuery({ by: by === "any" ? undefined : by })}
      />
    </div>
  );
}

function NoFacts({ isSearch, isExact }: { readonly isSearch: boolean; readonly isExact: boolean }) {
  return isSearch
    ? (
      <Empty title="No fact matches">
        {isExact
          ? "This search compares bytes: upper and lower case differ."
          : "Upper and lower case are the same here."}
      </Empty>
    )
    : (
      <Empty title="No facts yet">
        Request one with “Request a change”; it is a fact once the owner applies the request.
      </Empty>
    );
}

/** What was found of the facts' proofs, by key, with one root. */
interface Checked {
  readonly root: string;
  readonly verdicts: ReadonlyMap<string, Verdict | "checking">;
}

function FactList({ token, facts, busy, onDraft }: {
  readonly token: Token;
  readonly facts: readonly Fact[];
  /** Whether others are read in their place. */
  readonly busy: boolean;
  readonly onDraft: (draft: Draft) => void;
}) {
  const { root } = token;
  const [checked, setChecked] = useState<Checked>({ root, verdicts: new Map() });
  // a proof leads to one root: with another one, nothing is verified
  const verdicts: Checked["verdicts"] = checked.root === root ? checked.verdicts : new Map();
  const newest = useRef(root);
  newest.current = root;
  const check = async ({ key, value }: Fact) => {
    const put = (one: Verdict | "checking") => {
      if (newest.current !== root) return;
      setChecked((before) => ({ root, verdicts: new Map(before.root === root ? before.verdicts : []).set(key, one) }));
    };
    put("checking");
    put(await checkProof({ tokenId: token.tokenId, key, expected: value, datum: "" }));
  };
  const checkAll = async () => {
    // some at a time: proofs of one token are computed one after the other
    for (let i = 0; i < facts.length; i += 4) await Promise.all(facts.slice(i, i + 4).map(check));
  };
  const verified = facts.filter(({ key }) => {
    const one = verdicts.get(key);
    return one !== undefined && one !== "checking" && one.good;
  }).length;
  return (
    <>
      <div class="spread check-all">
        <p class="note">
          {verified > 0
            ? `${verified} of ${facts.length} verified by this browser against the root on the ledger.`
            : "Each fact has a proof that this browser can verify against the root on the ledger."}
        </p>
        <Action small run={checkAll}>{facts.length === 1 ? "Verify it" : `Verify all ${facts.length}`}</Action>
      </div>
      <ul class="fact-list" aria-busy={busy}>
        {facts.map((fact) => (
          <FactRow
            key={fact.key}
            fact={fact}
            verdict={verdicts.get(fact.key)}
            check={() => check(fact)}
            onDraft={onDraft}
          />
        ))}
      </ul>
    </>
  );
}

function FactRow({ fact, verdict, check, onDraft }: {
  readonly fact: Fact;
  readonly verdict: Verdict | "checking" | undefined;
  readonly check: () => Promise<void>;
  readonly onDraft: (draft: Draft) => void;
}) {
  const [open, setOpen] = useState(false);
  const { key, value, slot } = fact;
  const name = textOf(key);
  return (
    <li class={open ? "fact open" : "fact"}>
      <div class="fact-line">
        <button type="button" class="fact-key" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span class="twist" aria-hidden="true">▸</span>
          <Visible text={name} limit={80} />
        </button>
        <span class="fact-value">
          <Visible text={textOf(value.slice(0, 400))} limit={100} />
        </span>
        <span class="fact-end">
          <span class="note">
            <SlotAgo slot={slot} />
          </span>
          <ProofBadge name={name} verdict={verdict} check={check} />
        </span>
      </div>
      {typeof verdict === "object" && !verdict.good && <p class="verdict bad" role="alert">{verdict.says}</p>}
      {open && (
        <div class="fact-body">
          {typeof verdict === "object" && verdict.good && <p class="verdict good">{verdict.says}</p>}
          <ValueView text={fromUtf8(fromHex(value))} hex={value} />
          <details>
            <summary>The whole key, {key.length / 2} bytes</summary>
            <ValueView text={fromUtf8(fromHex(key))} hex={key} />
          </details>
          <div class="buttons">
            <button type="button" class="small" onClick={() => onDraft({ type: "update", key, value })}>
              Request an update
            </button>
            <button
              type="button"
              class="small"
              onClick={() => {
                go(`${here.peek().path}?tab=history&key=${key === "" ? "0x" : key}`);
              }}
              aria-label={`History of ${plain(name)}`}
            >
              History
            </button>
            <button type="button" class="small" onClick={() => onDraft({ type: "delete", key, value })}>
              Request its deletion
            </button>
          </div>
        </div>
      )}
    </li>
  );
}

function ProofBadge({ name, verdict, check }: {
  readonly name: string;
  readonly verdict: Verdict | "checking" | undefined;
  readonly check: () => Promise<void>;
}) {
  if (verdict === undefined) {
    return (
      <button
        type="button"
        class="small"
        aria-label={`Verify the proof of ${plain(name)}`}
        onClick={(event) => {
          // the verdict takes the button's place
          event.currentTarget.closest(".fact")?.querySelector<HTMLElement>(".fact-key")?.focus();
          void check();
        }}
      >
        Verify
      </button>
    );
  }
  return (
    <span role="status">
      {verdict === "checking"
        ? <Badge>Checking</Badge>
        : verdict.good
        ? <Badge tone="good" title={verdict.says}>✓ Verified</Badge>
        : <Badge tone="bad" title={verdict.says}>NOT verified</Badge>}
    </span>
  );
}

/** Checks any key, also one that has no value, and against a state output from another provider. */
function CheckAny({ tokenId, root }: { readonly tokenId: string; readonly root: string }) {
  const [key, setKey] = useState("");
  const [hex, setHex] = useState(false);
  const [datum, setDatum] = useState("");
  const [error, setError] = useState<string>();
  const [found, setFound] = useState<{ readonly root: string; readonly verdict: Verdict | "checking" }>();
  // what was found of a key was found in another state
  const verdict = found?.root === root ? found.verdict : undefined;
  const run = async (event: Event) => {
    event.preventDefault();
    if (hex && !/^([0-9a-f]{2})*$/i.test(key.trim())) return setError("This is not hexadecimal.");
    setError(undefined);
    setFound({ root, verdict: "checking" });
    const question = { tokenId, key: toHex(entered(key, hex)), datum: datum.trim() };
    setFound({ root, verdict: await checkProof(question) });
  };
  return (
    <details class="check-any">
      <summary>Check a key that is not listed, or against another provider</summary>
      <form class="form" onSubmit={run}>
        <TextField
          label="Key, whether it has a value or not"
          value={key}
          onInput={setKey}
          error={error}
          mono={hex}
        />
        <CheckField label="The key is in hexadecimal" checked={hex} onChange={setHex} />
        <TextField
          label="Datum of the token's state output from another provider, in hexadecimal (optional)"
          hint="With it the proof does not rely on what this service says about the root."
          value={datum}
          onInput={setDatum}
          mono
        />
        <div class="buttons">
          <button type="submit" disabled={verdict === "checking"}>Check the key</button>
        </div>
        <div role="status">
          {verdict === "checking" ? <p class="note">Checking</p> : verdict !== undefined && (
            <>
              <p class={`verdict ${verdict.good ? "good" : "bad"}`}>
                <Badge tone={verdict.good ? "good" : "bad"}>{verdict.good ? "✓ Verified" : "NOT verified"}</Badge>{" "}
                {verdict.says}
              </p>
              {typeof verdict.value === "string" && (
                <ValueView text={fromUtf8(fromHex(verdict.value))} hex={verdict.value} />
              )}
            </>
          )}
        </div>
      </form>
    </details>
  );
}
