/// <reference lib="dom" />
/** Whether what a view shows is complete and proven, against the instances that the reader named. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { sleep } from "#src/base/clock.ts";
import { ApiError } from "#src/client/http.ts";
import { count } from "../kit/amounts.tsx";
import { Id } from "../kit/Id.tsx";
import { Action, Badge } from "../kit/parts.tsx";
import { sentenceOf } from "../kit/states.tsx";
import { InstancesButton } from "./InstancesDialog.tsx";
import { instanceProblem, instances } from "./instances.ts";
import { prove, type Proven as ProvenAnswer, type Subject } from "./ledgerCheck.ts";
import { SlotAgo } from "./parts.tsx";
import { difference, isSame, type Shown } from "./shown.ts";

type Verdict =
  | { readonly good: true; readonly proven: ProvenAnswer }
  | { readonly good: false; readonly says: string; readonly code: string };

interface Latest {
  shown: Shown | undefined;
  /** What the view showed when the verdict was found. */
  judged: Shown | undefined;
  /** The verification that runs. */
  run: symbol | undefined;
  /** Outputs or facts in the newest answer that was verified. */
  size: number;
}

/** What is verified, at the beginning of a sentence. */
const NAMES: Readonly<Record<Subject["kind"], string>> = {
  tokens: "The list of tokens is complete and proven",
  state: "The state of this token is proven",
  requests: "The list of open requests is complete and proven",
  facts: "The set of facts is complete and proven",
};

/** Verifications where the view differs from what was proven: a block may have come between the two answers. */
const TRIES = 3;
/** Milliseconds between two of them, in which the view is read again. */
const AGAIN_MS = 500;
/** Milliseconds after which a view that is open is verified again. */
const EVERY_MS = 60_000;
/** With more outputs or facts in an answer, only the reader starts a verification. */
const MANY = 1_000;

const OLDER = "The page shows an older state.";

/**
 * Verifies when the view appears, when it shows something else, and each minute. `shown` is undefined while the view shows
 * an older state than the service's newest.
 */
export function Proven({ subject, shown: given, reload }: {
  readonly subject: Subject;
  readonly shown: Shown | undefined;
  readonly reload: () => Promise<unknown>;
}) {
  const [verdict, setVerdict] = useState<Verdict>();
  const [busy, setBusy] = useState(false);
  const latest = useRef<Latest>({ shown: given, judged: undefined, run: undefined, size: 0 });
  // a view that is read again shows the same most times
  if (!isSame(latest.current.shown, given)) latest.current.shown = given;
  const { shown } = latest.current;
  const chosen = instances.value;
  const problem = chosen.urls.map(instanceProblem).find((one) => one !== undefined);
  const isOn = chosen.urls.length > 0 && problem === undefined;

  const run = async () => {
    const own = latest.current.run = Symbol();
    setBusy(true);
    const found = await verdictOf(subject, () => latest.current.shown, reload);
    if (latest.current.run !== own) return;
    Object.assign(latest.current, { run: undefined, judged: latest.current.shown });
    if (found.good) latest.current.size = found.proven.size;
    setBusy(false);
    setVerdict(found);
  };
  const isLight = () => Math.max(latest.current.shown?.total ?? 0, latest.current.size) <= MANY;

  useEffect(() => {
    setVerdict(undefined);
    if (isOn && isLight()) void run();
    const timer = setInterval(() => {
      if (isOn && !document.hidden && latest.current.run === undefined && isLight()) void run();
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
      latest.current.run = undefined;
      setBusy(false);
    };
  }, [isOn, chosen]);
  const isStale = useMemo(
    () => verdict?.good === true && shown !== undefined && difference(shown, verdict.proven.items) !== undefined,
    [verdict, shown],
  );
  useEffect(() => {
    const { judged, run: running } = latest.current;
    const isRefused = verdict?.good === false && judged !== shown;
    if (isOn && shown !== undefined && running === undefined && (isStale || isRefused) && isLight()) void run();
  }, [isStale, shown]);

  if (problem !== undefined) {
    return (
      <Bad says={problem}>
        <InstancesButton />
      </Bad>
    );
  }
  if (!isOn) return subject.kind === "tokens" || subject.kind === "state" ? <Off /> : null;
  if (shown === undefined) {
    return (
      <div class="proven" role="status">
        <Badge>Not verified</Badge> {OLDER}
      </div>
    );
  }
  if (verdict?.good && !isStale) return <Good name={NAMES[subject.kind]} proven={verdict.proven} run={run} />;
  if (verdict?.good === false) {
    return (
      <Bad says={verdict.says} code={verdict.code}>
        <Action small run={run}>Verify again</Action>
        <InstancesButton />
      </Bad>
    );
  }
  return (
    <div class="proven" role="status">
      <Badge>{busy ? "Verifying" : "Not verified"}</Badge>
      {!busy && <Action small run={run}>Verify against other instances</Action>}
    </div>
  );
}

/** Verifies the newest answer, and compares it with what the view shows then. */
async function verdictOf(
  subject: Subject,
  shown: () => Shown | undefined,
  reload: () => Promise<unknown>,
): Promise<Verdict> {
  try {
    for (let tries = TRIES;; tries--) {
      const proven = await prove(subject);
      if (!proven.ok) return { good: false, says: proven.error.message, code: proven.error.code };
      const view = shown();
      const differs = view ? difference(view, proven.value.items) : OLDER;
      if (differs === undefined) return { good: true, proven: proven.value };
      if (tries <= 1) return { good: false, says: differs, code: "shown_differs" };
      await reload();
      await sleep(AGAIN_MS);
    }
  } catch (error) {
    return { good: false, says: sentenceOf(error), code: error instanceof ApiError ? error.code : "page_failed" };
  }
}

function Good({ name, proven: { point, from, checked, notChecked }, run }: {
  readonly name: string;
  readonly proven: ProvenAnswer;
  readonly run: () => Promise<void>;
}) {
  return (
    <div class="proven good">
      <p role="status">
        <Badge tone="good">✓ Proven</Badge> {name} at block <Id value={point.hash} name="block hash" ends={4} /> in slot
        {" "}
        {count(point.slot)} (<SlotAgo slot={point.slot} />) against {from.join(" and ")}.
      </p>
      <details>
        <summary>What was checked, and what was not</summary>
        <Sentences title="Checked" list={checked} />
        <Sentences
          title="Not checked"
          list={[
            ...notChecked,
            "Whether this page is the one of the project: it comes from the service that it verifies.",
          ]}
        />
        <div class="buttons">
          <Action small run={run}>Verify again</Action>
          <InstancesButton />
        </div>
      </details>
    </div>
  );
}

function Sentences({ title, list }: { readonly title: string; readonly list: readonly string[] }) {
  return (
    <>
      <p class="proven-title">{title}</p>
      <ul>{list.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>
    </>
  );
}

/** Not proven, with the reason. */
function Bad({ says, code, children }: {
  readonly says: string;
  readonly code?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="proven bad">
      <p role="alert">
        <Badge tone="bad">NOT proven</Badge> {says}
        {code !== undefined && ` (${code})`}
      </p>
      {code === "no_quorum" && (
        <p class="note">
          A browser reads an instance only where that instance allows pages of other sites to read its roots, as Arbor
          does for <code>/utxo-csmt/merkle-roots</code>, and where it has a root (<code>--utxo-root</code>).
        </p>
      )}
      <div class="buttons">{children}</div>
    </div>
  );
}

function Off() {
  return (
    <div class="proven">
      <p class="note">This page shows what this service says: it is not verified against other instances.</p>
      <InstancesButton />
    </div>
  );
}
