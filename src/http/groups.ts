/** Groups of the operations of a service, as its API page shows them: each path belongs to the first group that takes it. */
import { type Document, METHODS } from "#src/http/examples.ts";

/** A group of operations: its name, the paths that belong to it, and one sentence on it. */
export type Group = readonly [name: string, paths: RegExp, description: string];

/** The liveness, readiness and metrics of a process, in every service. */
export const HEALTH_GROUP: Group = ["Health", /^\/(health|ready|metrics)$/, "Whether this process works, and why not."];

/** The document with a tag for each group that has operations, in the order of the groups; other paths stay as they are. */
export function withGroups(document: Document, groups: readonly Group[]): Document {
  const used = new Set<string>();
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => {
    const group = groups.find(([, paths]) => paths.test(path));
    if (group === undefined) return [path, item] as const;
    used.add(group[0]);
    const tagged = METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [[method, { ...operation, tags: [group[0]] }] as const];
    });
    return [path, { ...item, ...Object.fromEntries(tagged) }] as const;
  });
  const tags = groups.filter(([name]) => used.has(name)).map(([name, , description]) => ({ name, description }));
  return { ...document, ...(tags.length > 0 ? { tags } : {}), paths: Object.fromEntries(paths) };
}
