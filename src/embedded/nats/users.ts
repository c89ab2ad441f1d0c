/** The users of a NATS endpoint: a JSON file of the operator, which this process only reads. */
import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { fileFault } from "#src/base/fileFault.ts";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import type { Rights } from "#src/embedded/nats/rights.ts";
import { isSubscription } from "#src/embedded/nats/subjects.ts";

/** Cost of a password's hash: at most two seconds of one core. */
const MAX_COST = 14;
const MAX_BYTES = 1024 * 1024;
const MAX_USERS = 1_000;
const MAX_PATTERNS = 100;

const pattern = z.string().refine(
  (subject) => isSubscription(subject) && /^[\x21-\x7e]{1,1024}$/.test(subject),
  "must be a NATS subject in ASCII, in which * is one token and > the rest",
);
const subjects = z.strictObject({
  allow: z.array(pattern).max(MAX_PATTERNS).default([]),
  deny: z.array(pattern).max(MAX_PATTERNS).default([]),
}).default({ allow: [], deny: [] });

const user = z.strictObject({
  user: z.string().min(1).max(256),
  password: z.string()
    .regex(/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/, {
      error: "must be a bcrypt hash ($2a$…, $2b$… or $2y$…), not the password itself",
      abort: true,
    })
    .refine((hash) => Number(hash.slice(4, 6)) <= MAX_COST, `must have a cost of at most ${MAX_COST}`)
    .optional(),
  token: z.string()
    .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and the SHA-256 of the token in hex, not the token itself")
    .optional(),
  subscribe: subjects,
  publish: subjects,
}).refine(
  ({ password, token }) => password !== undefined || token !== undefined,
  "must have a password or a token",
);

/** A user of the endpoint. */
export interface NatsUser {
  readonly name: string;
  /** The bcrypt hash of the password. */
  readonly password: string | undefined;
  /** `sha256:` and the hash of the token. */
  readonly token: string | undefined;
  readonly rights: Rights;
  /** The entry as text: equal texts are the same user with the same credentials and rights. */
  readonly entry: string;
}

/** Where in the file a problem is: the entry's number and, if it has one, its name. */
function place(entries: unknown, path: readonly PropertyKey[]): string {
  const [index, ...members] = path;
  if (typeof index !== "number") return "the file";
  const entry: unknown = Array.isArray(entries) ? entries[index] : undefined;
  const name = typeof entry === "object" && entry !== null && "user" in entry && typeof entry.user === "string"
    ? ` (${JSON.stringify(entry.user.slice(0, 64))})`
    : "";
  return `entry ${index + 1}${name}${members.length > 0 ? `, ${members.map(String).join(".")}` : ""}`;
}

/**
 * The users in a text; `problem` describes the first problem of each entry, without any value of it but its name.
 */
export function parseUsers(text: string): { users: readonly NatsUser[] } | { problem: string } {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return { problem: "it is not JSON" };
  }
  const read = z.array(user).max(MAX_USERS).safeParse(entries, { reportInput: false });
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) => `${place(entries, path)}: ${message}`);
    return { problem: problems.slice(0, 10).join("; ") };
  }
  for (const member of ["user", "token"] as const) {
    const seen = new Map<string, number>();
    for (const [i, one] of read.data.entries()) {
      const value = one[member];
      if (value === undefined) continue;
      const other = seen.get(value);
      if (other !== undefined) {
        return { problem: `${place(entries, [i, member])}: entry ${other + 1} has the same ${member}` };
      }
      seen.set(value, i);
    }
  }
  return {
    users: read.data.map((one) => ({
      name: one.user,
      password: one.password,
      token: one.token,
      rights: { subscribe: one.subscribe, publish: one.publish, guest: false },
      entry: JSON.stringify(one),
    })),
  };
}

/**
 * Reads a file of users.
 * @throws EmbeddedError `bad_file` if it cannot be read, or has a problem.
 */
export async function readUsers(file: string): Promise<readonly NatsUser[]> {
  const problem = (why: string) => new EmbeddedError("bad_file", `The users of ${file} cannot be used: ${why}.`);
  let text: string;
  try {
    if ((await stat(file)).size > MAX_BYTES) throw problem(`it has more than ${MAX_BYTES} bytes`);
    text = await readFile(file, "utf8");
  } catch (error) {
    throw error instanceof EmbeddedError ? error : problem(fileFault(error));
  }
  const read = parseUsers(text);
  if ("problem" in read) throw problem(read.problem);
  return read.users;
}

/** Whether every account of this machine can read a file. */
export async function isReadableByAll(file: string): Promise<boolean> {
  return ((await stat(file)).mode & 0o004) !== 0;
}
