/** The contact for vulnerabilities: what may be one, and the file of RFC 9116 on every service. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { readOptions } from "#src/app/options.ts";
import { healthRoutes } from "#src/http/health.ts";
import { securityContact } from "#src/http/securityContact.ts";

const PATH = "/.well-known/security.txt";
const health = { name: "one", roles: [], since: 0, checks: new Map() };

test("the file has the contact and expires in less than a year", async () => {
  const app = new OpenAPIHono();
  securityContact(app, "mailto:security@example.org", () => Date.UTC(2026, 10, 30, 13, 59));
  const answer = await app.request(PATH);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=UTF-8"]);
  expect(await answer.text()).toBe(
    "Contact: mailto:security@example.org\nExpires: 2027-02-28T00:00:00.000Z\nPreferred-Languages: en\n",
  );
});

test("a service has it where a contact is named", async () => {
  for (const [contact, status] of [["https://example.org/report", 200], [undefined, 404]] as const) {
    const app = new OpenAPIHono();
    healthRoutes({ health: { ...health, securityContact: contact } })(app);
    expect((await app.request(PATH)).status).toBe(status);
  }
});

test("the option takes a URI of an address, a telephone or a page", () => {
  const read = (contact: string) => readOptions(["--security-contact", contact], {});
  for (const contact of ["mailto:a@example.org", "tel:+1-201-555-0123", "https://example.org/security"]) {
    expect(read(contact)).toMatchObject({ ok: true, value: { securityContact: contact } });
  }
  for (const contact of ["a@example.org", "http://example.org", "https://", "mailto:a b@example.org\nExpires: now"]) {
    expect(read(contact)).toMatchObject({ ok: false, error: { code: "bad_option" } });
  }
});
