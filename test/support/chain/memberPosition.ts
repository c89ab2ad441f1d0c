/** The position up to which a member has read. */
import { type MemberPosition, readMemberPositions } from "#src/chain/index/groups.ts";
import type { Queries } from "#src/store/store.ts";

/** A member's position (before assignment its start point); undefined if it is not enrolled. */
export async function memberPosition(
  sql: Queries,
  projection: string,
  member: string,
): Promise<MemberPosition | undefined> {
  return (await readMemberPositions(sql, projection, [member])).get(member);
}
