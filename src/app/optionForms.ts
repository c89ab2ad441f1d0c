/** What is wrong with the form of a path or a URL in an option: what was given, what is expected, and the nearest right form. */
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

const HOST_PORT = /^(?:\[[\da-f:.]+\]|[\w.-]+):\d+(?:\/|$)/i;
export const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const PATH = /^(?:\.{0,2}\/|~)/;

/** What a text is that is no path: a URL, or a host and a port. A file of that name is a path all the same. */
function isAddress(text: string): boolean {
  return SCHEME.test(text) || HOST_PORT.test(text) && !existsSync(text);
}

/** The part of a URL that may be shown: nothing of a user, a password or a query. */
const shown = (text: string): string | undefined => /[@?#]/.test(text) || text.length > 200 ? undefined : text;

/** Other ways to reach a node, by the scheme of the URL that was given for its socket. */
const BY_SCHEME: Readonly<Record<string, string>> = {
  ws: "--provider ogmios --ogmios-url",
  wss: "--provider ogmios --ogmios-url",
  http: "--provider blockfrost --blockfrost-url",
  https: "--provider blockfrost --blockfrost-url",
};

/** The problem of a node's socket; undefined for a path at which there may be one. */
export function nodeSocketProblem(given: string): string | undefined {
  const expected = "--node-socket must be the path of a node's socket such as /ipc/node.socket, not";
  if (isAddress(given)) {
    const address = given.replace(SCHEME, "").replace(/\/.*$/s, "");
    const scheme = SCHEME.exec(given)?.[1]?.toLowerCase() ?? "";
    const instead = BY_SCHEME[scheme];
    return instead === undefined
      ? `${expected} the address ${shown(address) ?? "of a host"}: a socket at another machine becomes a path by ` +
        `socat UNIX-LISTEN:node.socket,fork TCP:${shown(address) ?? "HOST:PORT"}`
      : `${expected} a URL: for that service use ${instead} ${shown(given) ?? "URL"}`;
  }
  return socketFolderProblem("node-socket", given);
}

/** The problem of the path at which a devnet makes its socket; undefined for a good one. */
export function socketProblem(given: string): string | undefined {
  if (!isAddress(given)) return socketFolderProblem("socket", given);
  return "--socket must be the path of the socket that the devnet makes, such as devnet/node.socket, not the address " +
    `${shown(given) ?? "of a host"}: over TCP the devnet listens at --node-port`;
}

function socketFolderProblem(name: "socket" | "node-socket", given: string): string | undefined {
  if (!statOf(given)?.isDirectory()) return undefined;
  const found = name === "node-socket"
    ? entriesOf(given).map((entry) => path.join(given, entry)).find((entry) => statOf(entry)?.isSocket())
    : undefined;
  return `--${name} must be the path of a socket, not of the folder ${given}: give ` +
    (found ?? path.join(given, "node.socket"));
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What is at a path; undefined where there is nothing, or nothing that this user may see. */
function statOf(place: string) {
  try {
    return statSync(place);
  } catch {
    return undefined;
  }
}

/** A form of URLs. */
export interface UrlForm {
  /** Without the colon; the first one completes a URL that has none. */
  readonly schemes: readonly string[];
  readonly example: string;
  /** What more is said of the form. */
  readonly note?: string;
}

/** The URL of a service, without a secret in it; undefined for any other text. */
export function urlOf(text: string, schemes: readonly string[]): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url !== undefined && url.hostname !== "" && schemes.includes(url.protocol.slice(0, -1));
  return fits && !url.username && !url.password && !url.search ? url : undefined;
}

/** The problem of a text that is no URL of a form, or has a secret in it. */
export function urlProblem(name: string, given: string, { schemes, example, note }: UrlForm): string {
  const node = name === "ogmios-url" && isPath(given)
    ? ": a node's socket is given with --provider node --node-socket PATH"
    : "";
  return `--${name} must be a URL like ${example}${note ? `, ${note}` : ""}${notUrl(given, schemes)}${node}`;
}

/** No scheme, and those that are given in place of others. */
const SIMILAR = ["", "http", "https", "ws", "wss", "tcp"];

const isPath = (text: string) => PATH.test(text) || existsSync(text);

/** The end of a sentence on what was given in place of a URL, with the URL that was probably meant. */
export function notUrl(given: string, schemes: readonly string[]): string {
  const text = shown(given);
  if (text === undefined) return "; what was given has a user, a password, a query or a fragment";
  if (isPath(text)) return `, not the path ${text}`;
  const place = text.replace(SCHEME, "");
  if (/:\d+$/.test(place.split("/", 1)[0]!) && Number(/:(\d+)/.exec(place)?.[1]) > 65_535) {
    return `, not ${text}: a port is at most 65535`;
  }
  const nearest = `${schemes[0]}://${place}`;
  // a service with a scheme of its own, such as mysql, is another one
  const isNear = SIMILAR.includes(SCHEME.exec(text)?.[1]?.toLowerCase() ?? "");
  return `, not ${text}` + (isNear && text !== nearest && urlOf(nearest, schemes) ? `: give ${nearest}` : "");
}
