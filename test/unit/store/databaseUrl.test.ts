import { describe, expect, test } from "vitest";
import { databaseHosts, readDatabaseUrl } from "#src/store/databaseUrl.ts";

describe("the URL of a database", () => {
  test.each([
    ["postgres://a:b@host:5432/c", ["postgres://a:b@host:5432/c"]],
    ["postgresql://h1:1,h2:2/db", ["postgresql://h1:1/db", "postgresql://h2:2/db"]],
    ["postgres://a:p,w@h1,[::1]:7/db?sslmode=require", [
      "postgres://a:p,w@h1/db?sslmode=require",
      "postgres://a:p,w@[::1]:7/db?sslmode=require",
    ]],
    ["postgres://h1,h2/db?target_session_attrs=primary", ["postgres://h1/db", "postgres://h2/db"]],
    ["postgres://h1/db?target_session_attrs=read-write&sslmode=require", ["postgres://h1/db?sslmode=require"]],
  ])("%s", (url, value) => {
    expect(readDatabaseUrl(url)).toEqual({ ok: true, value });
  });

  test.each(["", "h1,h2/db", "mysql://h1/db", "postgres://h1,/db", "postgres://,h2/db", "postgres://h1:x,h2/db"])(
    "%j is none",
    (url) => {
      expect(readDatabaseUrl(url)).toMatchObject({ ok: false, error: { code: "database_url" } });
    },
  );

  test.each(["any", "standby", "prefer-standby", "read-only"])("servers for reads are refused: %s", (attributes) => {
    expect(readDatabaseUrl(`postgres://h1,h2/db?target_session_attrs=${attributes}`)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("only primary and read-write") },
    });
  });

  test("is shown without credentials", () => {
    expect(databaseHosts("postgres://a:secret@h1:1,h2/db")).toBe("h1:1, h2");
  });
});
