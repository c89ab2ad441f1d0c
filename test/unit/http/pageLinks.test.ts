/** Addresses of the pages that headers lead to. */
import { describe, expect, it } from "vitest";
import { readOptions } from "#src/app/options.ts";
import { type PageLinks, pageOrigins } from "#src/http/pageLinks.ts";

const links: PageLinks = {
  tokens: { host: "0.0.0.0", port: 3000 },
  wallet: { host: "192.168.0.9", port: 8090, scheme: "https" },
  operator: { host: "127.0.0.1", port: 8091 },
};

describe("links between pages", () => {
  it("have the host of the request, and what a service speaks", () => {
    expect(pageOrigins("localhost:10000", links)).toEqual({
      "page-tokens": "http://localhost:3000",
      "page-wallet": "https://localhost:8090",
      "page-operator": "http://localhost:8091",
    });
    expect(pageOrigins("localhost", { guide: true })).toEqual({ guide: "/docs/guide/" });
    expect(pageOrigins("[::1]:10000", links)["page-tokens"]).toBe("http://[::1]:3000");
  });

  it("leave out what only this machine reaches, for requests under other names", () => {
    expect(Object.keys(pageOrigins("arbor.example:3000", links))).toEqual(["page-tokens", "page-wallet"]);
  });

  it("are those of the options where pages are elsewhere, and none under a host that is no name", () => {
    const elsewhere: PageLinks = { ...links, explorer: "https://explorer.example" };
    expect(pageOrigins('x"y', elsewhere)).toEqual({ "page-explorer": "https://explorer.example" });
    expect(pageOrigins(undefined, links)).toEqual({});
  });
});

describe("--page-urls", () => {
  const read = (list: string) => {
    const options = readOptions(["--page-urls", list], {});
    return options.ok && options.value !== "help" ? options.value.pageUrls : options;
  };

  it("names services and origins", () => {
    expect(read("wallet=https://wallets.example:8443,explorer=http://127.0.0.1:10000"))
      .toEqual({ wallet: "https://wallets.example:8443", explorer: "http://127.0.0.1:10000" });
  });

  it.each([
    ["wallets=https://a.example", "wallets=https://a.example does not begin with tokens="],
    ["wallet=https://a.example/path", "https://a.example/path is not an origin"],
    ["wallet=javascript:alert(1)", "javascript:alert(1) is not an origin"],
    ["wallet", " is not an origin"],
  ])("refuses %s", (list, problem) => {
    expect(JSON.stringify(read(list))).toContain(problem);
  });
});
