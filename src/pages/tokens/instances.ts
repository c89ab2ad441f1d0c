/// <reference lib="dom" />
/** The other instances against whose roots the reader verifies this service. They stay in this browser. */
import { signal } from "@preact/signals";
import { setting } from "../kit/setting.ts";

const KEY = "arbor-token-instances";

/** Which instances say the root, and how many must. */
export interface Instances {
  readonly urls: readonly string[];
  /** Undefined: all. */
  readonly quorum?: number;
}

const NONE: Instances = { urls: [] };

function read(): Instances {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null || !("urls" in kept) || !Array.isArray(kept.urls)) return NONE;
    const urls = kept.urls.filter((url) => typeof url === "string");
    return "quorum" in kept && typeof kept.quorum === "number" ? { urls, quorum: kept.quorum } : { urls };
  } catch {
    return NONE; // storage is off, or holds something else
  }
}

/** The instances that the reader named. */
export const instances = signal(read());

/** Names the instances; none: nothing is verified. */
export function setInstances(chosen: Instances): void {
  instances.value = chosen;
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // it holds until the page is closed
  }
}

/** Instances that the deployment lets this page read. */
export const permitted = (): readonly string[] => setting("instances")?.split(" ") ?? [];

/** Why this page cannot verify against an instance, as a sentence; undefined: it may read it. */
export function instanceProblem(url: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@]+$/.test(url) || !URL.canParse(url)) return `${url} is not the URL of an instance.`;
  const { origin } = new URL(url);
  if (origin === location.origin) return `${url} is this service itself: name another instance.`;
  const devnet = setting("devnet");
  if ([...permitted(), ...(devnet === undefined ? [] : [devnet])].some((one) => new URL(one).origin === origin)) {
    return undefined;
  }
  return `The policy of this page does not allow ${origin}. The operator of this service allows it with ` +
    `--page-connect ${origin} (ARBOR_PAGE_CONNECT).`;
}
