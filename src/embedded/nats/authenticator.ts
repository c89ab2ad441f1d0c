/**
 * Checks the credentials of NATS clients.
 *
 * Assumptions: a token is random, so one SHA-256 is enough for it. A password is not, so its hash is slow by intention
 * (bcrypt): it is computed by threads of the library, a few at a time, and an address that fails often is refused without
 * computing. A password that was right before is recognized without computing, so its user gets in whatever others on the
 * same address do.
 */
import { Buffer } from "node:buffer";
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import ipaddr from "ipaddr.js";
import type { ClientCredentials } from "#src/embedded/nats/credentials.ts";
import { ALL, GUEST, type Rights } from "#src/embedded/nats/rights.ts";
import type { NatsUser } from "#src/embedded/nats/users.ts";

/** Who a connection is: the service, a guest, or a user of the file. */
export interface Account {
  readonly rights: Rights;
  /** The entry of a user of the file. */
  readonly user?: NatsUser;
}

/** A client with the token, and one without credentials. */
export const SERVICE: Account = { rights: ALL };
export const ANYBODY: Account = { rights: GUEST };

/** Passwords that are checked at a time, and those that wait. */
const PARALLEL = 2;
const MAX_WAITING = 64;
/** Failed attempts of one address in one period, whose length is in milliseconds. */
const MAX_FAILURES = 10;
const PERIOD_MS = 60_000;
/** Addresses whose failures are counted. */
const MAX_ADDRESSES = 10_000;

/** Failed attempts by address, in a period that begins with the first. */
class FailedAttempts {
  private readonly counts = new Map<string, { failures: number; readonly since: number }>();

  /** Counts an attempt as failed until `forgive`; false if the address has too many. */
  begin(address: string): boolean {
    const now = performance.now();
    const count = this.counts.get(address);
    if (count !== undefined && now - count.since < PERIOD_MS) return ++count.failures <= MAX_FAILURES;
    this.counts.delete(address);
    const [oldest] = this.counts.keys();
    if (this.counts.size >= MAX_ADDRESSES && oldest !== undefined) this.counts.delete(oldest);
    this.counts.set(address, { failures: 1, since: now });
    return true;
  }

  forgive(address: string): void {
    const count = this.counts.get(address);
    if (count !== undefined) count.failures--;
  }
}

/** The network whose failures are counted together: an IPv4 address, or the 64 bits of IPv6 that one customer has. */
function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return "";
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv4 ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(".");
}

/** The accounts of an endpoint. */
export class Authenticator {
  private readonly key = randomBytes(32);
  private readonly token: Buffer;
  private byName = new Map<string, NatsUser>();
  private byToken = new Map<string, NatsUser>();
  /** By entry, what a right password was remembered as. */
  private readonly known = new Map<string, Buffer>();
  private readonly failed = new FailedAttempts();
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(token: string, users: readonly NatsUser[] = []) {
    this.token = this.digest(token);
    this.replace(users);
  }

  private digest(secret: string): Buffer {
    return createHmac("sha256", this.key).update(secret).digest();
  }

  /** Takes other users; an account of an earlier entry is valid while `isCurrent`. */
  replace(users: readonly NatsUser[]): void {
    this.byName = new Map(users.map((user) => [user.name, user]));
    this.byToken = new Map(users.flatMap((user) => user.token === undefined ? [] : [[user.token, user]]));
    const entries = new Set(users.map(({ entry }) => entry));
    for (const entry of this.known.keys()) if (!entries.has(entry)) this.known.delete(entry);
  }

  /** Whether an account still exists, with the same credentials and rights. */
  isCurrent({ user }: Account): boolean {
    return user === undefined || this.byName.get(user.name)?.entry === user.entry;
  }

  /**
   * The account of a client, or undefined if its credentials are wrong. At once unless a password has to be checked;
   * then `isWanted` says whether the client still waits.
   */
  check(
    credentials: ClientCredentials,
    address: string | undefined,
    isWanted: () => boolean,
  ): Account | undefined | Promise<Account | undefined> {
    switch (credentials.kind) {
      case "none":
        return ANYBODY;
      case "other":
        return undefined;
      case "token": {
        if (timingSafeEqual(this.digest(credentials.token), this.token)) return SERVICE;
        const user = this.byToken.get(`sha256:${createHash("sha256").update(credentials.token).digest("hex")}`);
        return user && { rights: user.rights, user };
      }
      case "user": {
        const user = this.byName.get(credentials.user);
        if (user?.password === undefined) return undefined;
        const account = { rights: user.rights, user };
        const digest = this.digest(credentials.password);
        const known = this.known.get(user.entry);
        if (known !== undefined && timingSafeEqual(known, digest)) return account;
        const network = networkOf(address);
        if (this.waiting.length >= MAX_WAITING || !this.failed.begin(network)) return undefined;
        return this.verified(credentials.password, user.password, isWanted).then((right) => {
          if (!right) return undefined;
          this.failed.forgive(network);
          if (!this.isCurrent(account)) return undefined;
          this.known.set(user.entry, digest);
          return account;
        });
      }
    }
  }

  private async verified(password: string, hash: string, isWanted: () => boolean): Promise<boolean> {
    if (this.running >= PARALLEL) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running++;
    try {
      // native code, which only an endpoint with a file of users needs
      const { verify } = await import("@node-rs/bcrypt");
      return isWanted() && await verify(password, hash);
    } catch {
      return false;
    } finally {
      // the place goes to the next one that waits
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
