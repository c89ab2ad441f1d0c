/** The URL of a database: on one server, or on several, of which one at a time takes writes. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** The part before the hosts, the hosts, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;
const ATTRIBUTES = "target_session_attrs";
/** Values of that parameter that mean a server that takes writes. */
const WRITABLE: readonly string[] = ["primary", "read-write"];

/**
 * The URL of each host in a URL like `postgres://user:password@one:5432,two:5432/database`, in its order, without
 * `target_session_attrs`: only a server that takes writes is used.
 *
 * @example
 * ```ts
 * import { readDatabaseUrl } from "#src/store/databaseUrl.ts";
 *
 * const read = readDatabaseUrl("postgres://one,two:5433/arbor");
 * console.log(read.ok && read.value); // ["postgres://one/arbor", "postgres://two:5433/arbor"]
 * ```
 */
export function readDatabaseUrl(url: string): Result<readonly string[], Failure<"database_url">> {
  const [, before = "", hosts = "", after = ""] = PARTS.exec(url) ?? [];
  const names = hosts.split(",");
  const urls = names.map((name) => before + name + after);
  if (before === "" || names.length > 1 && names.includes("") || !urls.every((one) => URL.canParse(one))) {
    return fail(
      "database_url",
      "must be a URL like postgres://user:password@host:5432/database, with commas between several host:port",
    );
  }
  const read = urls.map((one) => new URL(one));
  const wanted = read[0]?.searchParams.get(ATTRIBUTES) ?? "primary";
  if (!WRITABLE.includes(wanted)) {
    return fail("database_url", `has ${ATTRIBUTES}=${wanted}; only ${WRITABLE.join(" and ")} take writes`);
  }
  return ok(read.map((one) => {
    if (one.searchParams.has(ATTRIBUTES)) one.searchParams.delete(ATTRIBUTES);
    return one.href;
  }));
}

/** Whether a URL names several servers. */
export function isReplicated(url: string): boolean {
  const read = readDatabaseUrl(url);
  return read.ok && read.value.length > 1;
}

/** The hosts and ports in the URL of a database, without credentials. */
export function databaseHosts(url: string): string {
  const read = readDatabaseUrl(url);
  return read.ok ? read.value.map((one) => new URL(one).host).join(", ") : "";
}
