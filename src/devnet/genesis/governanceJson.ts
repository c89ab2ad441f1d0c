/** Governance of a genesis as JSON: in a node's Conway genesis, and in the row of a devnet's database. */
import { z } from "zod";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Anchor, DRep } from "#src/cardano/certificates.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import type { GenesisGovernance } from "#src/devnet/genesis/governance.ts";
import { governanceOf } from "#src/ledger/governance/actions.ts";
import { credentialKey } from "#src/ledger/state.ts";

const credentialText = ({ kind, hash }: Credential) => `${kind === "key" ? "keyHash" : "scriptHash"}-${hash}`;

function drepText(drep: DRep): string {
  if (drep.kind === "abstain") return "drep-alwaysAbstain";
  return drep.kind === "no confidence" ? "drep-alwaysNoConfidence" : `drep-${credentialText(drep)}`;
}

const anchorJson = ({ url, hash }: Anchor): Json => ({ url, dataHash: hash });

/** The members of a Conway genesis about governance, as a node reads them. */
export function governanceJson(
  { constitution, committee, dreps, delegations }: GenesisGovernance,
): { [name: string]: Json } {
  const { anchor, script } = constitution ?? governanceOf({ governance: new Map() }).constitution;
  const { members, quorum } = committee ?? { members: [], quorum: undefined };
  const listed = <T>(all: readonly T[], entry: (one: T) => readonly [string, Json]): Json =>
    Object.fromEntries(all.map(entry));
  return {
    constitution: { anchor: anchorJson(anchor), ...(script === undefined ? {} : { script }) },
    committee: {
      members: listed(members, ({ credential, until }) => [credentialText(credential), until]),
      threshold: quorum ? { numerator: quorum.numerator, denominator: quorum.denominator } : 0,
    },
    ...(dreps.length === 0 ? {} : {
      initialDReps: listed(dreps, ({ credential, deposit, expiry, anchor }) => [
        credentialText(credential),
        { expiry, deposit, ...(anchor ? { anchor: anchorJson(anchor) } : {}) },
      ]),
    }),
    ...(delegations.length === 0 ? {} : {
      delegs: listed(delegations, ({ credential, pool, drep }) => [
        credentialText(credential),
        { ...(pool === undefined ? {} : { stakePool: pool }), ...(drep ? { dRep: drepText(drep) } : {}) },
      ]),
    }),
  };
}

/** The row of a devnet's database: what a node's genesis says, and the hot keys. */
export function governanceToRow(governance: GenesisGovernance): Json {
  const hot = (governance.committee?.members ?? []).flatMap(({ credential, hot }) =>
    hot ? [[credentialText(credential), credentialText(hot)] as const] : []
  );
  const { constitution, committee, ...rest } = governanceJson(governance);
  return {
    ...rest,
    ...(governance.constitution ? { constitution } : {}),
    ...(governance.committee ? { committee } : {}),
    hotKeys: Object.fromEntries(hot),
  } as Json;
}

const hash28 = z.string().regex(/^[0-9a-f]{56}$/, "is no hash of 28 bytes in hexadecimal");
const credentialSchema = z.string().transform((text, context): Credential => {
  const [, kind, hash = ""] = /^(keyHash|scriptHash)-([0-9a-f]{56})$/.exec(text) ?? [];
  if (kind === undefined) {
    context.addIssue({ code: "custom", message: `${text} is neither keyHash-… nor scriptHash-…` });
    return z.NEVER;
  }
  return { kind: kind === "keyHash" ? "key" : "script", hash };
});
const drepSchema = z.string().transform((text, context): DRep => {
  if (text === "drep-alwaysAbstain") return { kind: "abstain" };
  if (text === "drep-alwaysNoConfidence") return { kind: "no confidence" };
  const read = credentialSchema.safeParse(text.replace(/^drep-/, ""));
  if (read.success) return read.data;
  context.addIssue({ code: "custom", message: `${text} is no representative` });
  return z.NEVER;
});
const epoch = z.int().min(0).max(2 ** 31 - 1);
/** Lovelace that a signed number of 64 bits holds. */
export const lovelaceSchema = z.union([z.int(), z.bigint()]).transform(BigInt)
  .refine((value) => value >= 0 && value < 2n ** 63n);
const anchorSchema = z.object({
  url: z.string().max(128),
  dataHash: z.string().regex(/^[0-9a-f]{64}$/, "is no hash of 32 bytes in hexadecimal"),
}).transform(({ url, dataHash }): Anchor => ({ url, hash: dataHash }));

/** A share as a decimal number or a fraction, exact. */
export const shareSchema = z.union([
  z.number().min(0).max(1),
  z.object({ numerator: lovelaceSchema, denominator: lovelaceSchema.refine((value) => value > 0n, "is not positive") }),
]).transform((share): Ratio => typeof share === "number" ? decimalRatio(share) : share)
  .refine(({ numerator, denominator }) => numerator <= denominator, "is above 1");

/** The fraction that a decimal number is written as, in lowest terms. */
export function decimalRatio(value: number): Ratio {
  const [, whole = "0", decimals = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  const numerator = BigInt(whole + decimals);
  const denominator = 10n ** BigInt(decimals.length + Number(exponent));
  const divisor = greatestDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

const greatestDivisor = (a: bigint, b: bigint): bigint => b === 0n ? a : greatestDivisor(b, a % b);

/** What is wrong with JSON that a schema refuses, by the places of the members. */
export function problemsOf({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message }) => path.length ? `${path.join(".")}: ${message}` : message);
}

/** Entries of a JSON object, with keys and values read. */
const entriesOf = <K, V>(key: z.ZodType<K>, value: z.ZodType<V>) =>
  z.record(z.string(), z.unknown()).transform((object, context) =>
    Object.entries(object).flatMap(([name, member]) => {
      const read = z.tuple([key, value]).safeParse([name, member]);
      if (read.success) return [read.data];
      for (const issue of read.error.issues) {
        context.addIssue({ code: "custom", path: [name, ...issue.path.slice(1)], message: issue.message });
      }
      return [];
    })
  );

const nothing = z.null().transform(() => undefined);

/** The members of a Conway genesis about governance. */
export const governanceSchema = z.object({
  constitution: z.object({ anchor: anchorSchema, script: z.union([hash28, nothing]).optional() }).optional(),
  committee: z.object({ members: entriesOf(credentialSchema, epoch), threshold: shareSchema }).optional(),
  initialDReps: entriesOf(
    credentialSchema,
    z.object({ expiry: epoch, deposit: lovelaceSchema, anchor: z.union([anchorSchema, nothing]).optional() }),
  ).optional(),
  delegs: entriesOf(
    credentialSchema,
    z.object({ stakePool: hash28.optional(), dRep: drepSchema.optional() }),
  ).optional(),
  hotKeys: entriesOf(credentialSchema, credentialSchema).optional(),
}).transform(({ constitution, committee, initialDReps = [], delegs = [], hotKeys = [] }): GenesisGovernance => {
  const hot = new Map(hotKeys.map(([cold, key]) => [credentialKey(cold), key]));
  return {
    ...(constitution ? { constitution } : {}),
    ...(committee
      ? {
        committee: {
          members: committee.members.map(([credential, until]) => ({
            credential,
            until,
            ...(hot.has(credentialKey(credential)) ? { hot: hot.get(credentialKey(credential)) } : {}),
          })),
          quorum: committee.threshold,
        },
      }
      : {}),
    dreps: initialDReps.map(([credential, drep]) => ({ credential, ...drep })),
    delegations: delegs.map(([credential, { stakePool: pool, dRep: drep }]) => ({ credential, pool, drep })),
  };
});

/** Reads a row of `governanceToRow`. @throws {TypeError} on anything else */
export function governanceFromRow(row: Json): GenesisGovernance | undefined {
  if (row === null) return undefined;
  const read = governanceSchema.safeParse(row);
  if (!read.success) throw new TypeError(`the governance of a genesis is unreadable: ${read.error.message}`);
  return read.data;
}

/** Whether two genesis say the same of governance. */
export function sameGovernance(a: GenesisGovernance | undefined, b: GenesisGovernance | undefined): boolean {
  const text = (of: GenesisGovernance | undefined) => toJson(inOrderOfNames(of ? governanceToRow(of) : null));
  return text(a) === text(b);
}

function inOrderOfNames(json: Json): Json {
  if (Array.isArray(json)) return json.map(inOrderOfNames);
  if (!isObject(json)) return json;
  const members = Object.entries(json).sort(([a], [b]) => a < b ? -1 : 1);
  return Object.fromEntries(members.map(([name, value]) => [name, inOrderOfNames(value)]));
}
