/** Addresses of the pages of a deployment's services, for the links between them. */
import { hostnameOf, isLoopback, originAt } from "#src/http/sites.ts";

/** The services that have a page, in the order of the header. */
export const PAGE_SERVICES = ["tokens", "wallet", "explorer", "operator"] as const;
export type PageService = (typeof PAGE_SERVICES)[number];

/** Where a service of this process listens. */
export interface PagePlace {
  readonly host: string;
  readonly port: number;
  readonly scheme?: "http" | "https";
}

/**
 * Pages by service: an origin, or a place that is reached under the host of a request. A service adds its own at its start.
 * `guide`: whether each service has the guide.
 */
export type PageLinks = { [name in PageService]?: string | PagePlace } & { readonly guide?: boolean };

/**
 * Origins of the pages under the host that a request names, as `page-<service>`, and the path of the guide. A page that only this machine reaches is
 * left out for requests under other names.
 */
export function pageOrigins(host = "", links: PageLinks): Record<string, string> {
  const own = isLoopback(hostnameOf(`http://${host}`) ?? "");
  const origins = PAGE_SERVICES.flatMap((name) => {
    const place = links[name];
    if (place === undefined) return [];
    const origin = typeof place === "string"
      ? place
      : own || !isLoopback(place.host)
      ? originAt(host, place.port)?.replace("http", place.scheme ?? "http")
      : undefined;
    return origin === undefined ? [] : [[`page-${name}`, origin]];
  });
  return Object.fromEntries([...origins, ...links.guide ? [["guide", "/docs/guide/"]] : []]);
}

/** The problem with an item `service=origin` of a list of pages; undefined for a good one. */
export function pageUrlProblem(item: string): string | undefined {
  const [name = "", url = ""] = item.split(/=(.*)/s);
  if (!PAGE_SERVICES.some((one) => one === name)) return `${item} does not begin with ${PAGE_SERVICES.join("=, ")}=`;
  const isOrigin = /^https?:\/\//.test(url) && URL.canParse(url) && new URL(url).origin === url;
  return isOrigin ? undefined : `${url} is not an origin, such as https://wallets.example.com`;
}

/** The pages of a list of good items. */
export function pageUrls(items: readonly string[]): PageLinks {
  return Object.fromEntries(items.map((item) => item.split(/=(.*)/s).slice(0, 2)));
}
