/** Answers of a service of MPFS v2 are verified against the root of another service, and each lie is refused with a reason. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, fromUtf8, toHex, utf8 } from "#src/base/bytes.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { constr, type Data, DataMap } from "#src/cardano/data.ts";
import { BAD_ROOT } from "#src/client/ledgerRoot.ts";
import {
  fetchSecondRoot,
  type V2FactQuestion,
  type V2Question,
  type V2Refusal,
  type V2RequestQuestion,
  verifyV2Fact,
  verifyV2Facts,
  verifyV2Requests,
  verifyV2State,
  verifyV2Tokens,
} from "#src/client/mpfsV2.ts";
import type { Result } from "#src/base/result.ts";
import {
  OWNER,
  POLICY,
  requestAddress,
  requestDatum,
  type ShownSet,
  STATE_ADDRESS,
  stateDatum,
  V2Service,
} from "../../support/tokens/mpfsV2.ts";

const TOKEN = "a1".repeat(32);
const OTHER = "b2".repeat(32);
const FACTS = { planet: "Earth", moon: "Luna", star: "Sun" };
const LONG = "x".repeat(200);

function world() {
  const service = new V2Service();
  service.state(TOKEN, FACTS);
  service.state(OTHER, { planet: "Mars" });
  const first = service.request(TOKEN, "comet", "Halley");
  const second = service.request(TOKEN, LONG, LONG);
  service.request(OTHER, "moon", "Phobos");
  return { service, first, second };
}

const about = (service: V2Service) => ({ trusted: service.trusted, policyId: POLICY, tokenId: TOKEN });
const fact = (service: V2Service, key: string): V2FactQuestion => ({ ...about(service), key: utf8(key) });
const open = (service: V2Service): V2RequestQuestion => ({
  ...about(service),
  requestAddress: requestAddress(TOKEN),
});

function accepted<T>(result: Result<T, V2Refusal>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function reason(result: Result<unknown, V2Refusal>): readonly [code: string, sentence: string] {
  return result.ok ? ["accepted", ""] : [result.error.code, result.error.message];
}

describe("a true answer", () => {
  const { service, first, second } = world();

  it("has a token's state", () => {
    const { token, point, checked, notChecked } = accepted(verifyV2State(service.tokenState(TOKEN), about(service)));
    expect(token).toMatchObject({
      tokenId: TOKEN,
      owner: OWNER,
      tip: 1_000_000n,
      processTime: 300_000n,
      retractTime: 600_000n,
    });
    expect(point).toEqual(service.trusted.point);
    expect(checked).toHaveLength(3);
    expect(checked[0]).toContain("by 1 other service.");
    expect(notChecked).toEqual([
      "Whether the trusted root is that of the ledger: it rests on https://second.example.",
      "Protocol parameters and the evaluation context of the service: nothing proves them.",
    ]);
  });

  it("has all tokens, without outputs that others sent to the state address", () => {
    const { service } = world();
    service.add(service.ref("dust"), STATE_ADDRESS, undefined);
    service.add(service.ref("false state"), STATE_ADDRESS, stateDatum("11".repeat(32)));
    const { tokens, checked } = accepted(verifyV2Tokens(service.tokens(), about(service)));
    expect(tokens.map(({ tokenId }) => tokenId).sort()).toEqual([TOKEN, OTHER]);
    expect(checked).toContain("4 outputs are all that the state address had after it.");
  });

  it("has all facts", () => {
    const { facts, checked } = accepted(verifyV2Facts(service.facts(TOKEN), about(service)));
    expect([...facts].map((one) => one.map((hex) => fromUtf8(fromHex(hex))))).toEqual(Object.entries(FACTS));
    expect(checked.at(-1)).toMatch(
      /^3 facts have the root [0-9a-f]{64} together: none is missing, added or changed\.$/,
    );
  });

  it("has one fact", () => {
    const { value, checked } = accepted(verifyV2Fact(service.fact(TOKEN, "moon"), fact(service, "moon")));
    expect(value && fromUtf8(value)).toBe("Luna");
    expect(checked.at(-1)).toBe("The proof leads from the key 6d6f6f6e and its value to that root.");
  });

  it("has no fact, of a token with facts and of one without", () => {
    const { service } = world();
    expect(accepted(verifyV2Fact(service.absence(TOKEN, "comet"), fact(service, "comet"))).value).toBeUndefined();
    service.state(TOKEN, {});
    const { value, checked } = accepted(verifyV2Fact(service.absence(TOKEN, "moon"), fact(service, "moon")));
    expect(value).toBeUndefined();
    expect(checked.at(-1)).toBe("The proof shows that there is no key 6d6f6f6e under that root.");
  });

  it("has all requests, with strings over 64 bytes", () => {
    const { requests, checked, notChecked } = accepted(verifyV2Requests(service.requests(TOKEN), open(service)));
    const keys = new Map(requests.map(({ output, key }) => [output, fromUtf8(key)]));
    expect(keys).toEqual(new Map([[`${first.txHash}#0`, "comet"], [`${second.txHash}#0`, LONG]]));
    expect(requests.find(({ key }) => fromUtf8(key) === LONG)).toMatchObject({
      operation: { type: "insert", value: utf8(LONG) },
      lovelace: 2_000_000n,
    });
    expect(checked).toContain("2 outputs are all that the request address had after it.");
    expect(notChecked.join("\n")).toContain("The times of submission (submitted_at)");
  });

  it("has updates and deletions", () => {
    const { service } = world();
    const add = (name: string, operation: ReturnType<typeof constr>) => {
      const token = constr(0, fromHex(TOKEN));
      const datum = constr(0, constr(0, token, fromHex(OWNER), utf8(name), operation, 5n, 6n));
      service.add(service.ref(name), requestAddress(TOKEN), datum);
    };
    add("deletion", constr(1, utf8("old")));
    add("update", constr(2, utf8("old"), utf8("new")));
    const { requests } = accepted(verifyV2Requests(service.requests(TOKEN), open(service)));
    expect(new Map(requests.map(({ key, operation }) => [fromUtf8(key), operation.type]))).toEqual(
      new Map([["comet", "insert"], [LONG, "insert"], ["deletion", "delete"], ["update", "update"]]),
    );
  });

  it("has no request where the address has none, and not those of others that were sent there", () => {
    const service = new V2Service();
    service.state(TOKEN, FACTS);
    expect(accepted(verifyV2Requests(service.requests(TOKEN), open(service))).requests).toEqual([]);
    service.add(service.ref("dust"), requestAddress(TOKEN), undefined);
    service.add(service.ref("stray"), requestAddress(TOKEN), requestDatum(OTHER, utf8("a"), utf8("b")));
    const all = service.requests(TOKEN);
    expect(accepted(verifyV2Requests(all, open(service))).requests).toEqual([]);
    // a service may list what is no request of the token, or not
    expect(accepted(verifyV2Requests({ ...all, requests: [] }, open(service))).requests).toEqual([]);
  });

  it("has the requests beside whatever others send to the address", () => {
    const { service } = world();
    let deep: Data = [];
    for (let i = 0; i < 3_000; i++) deep = [deep];
    const name = fromHex(TOKEN);
    const odd: readonly Data[] = [
      deep,
      2n ** 600n,
      new DataMap([[1n, name], [1n, name]]),
      constr(2n ** 64n - 1n, name),
      constr(0, constr(0, constr(0, name), name, name, constr(3, name), 1n, 1n)),
      constr(0, constr(0, constr(0, name), fromHex(OWNER), name, constr(0, 1n), 1n, 1n)),
      constr(0, constr(0, constr(0, name), fromHex(OWNER), name, constr(0, name), name, 1n)),
      constr(0, constr(0, constr(0, name), fromHex(OWNER), name, constr(0, name), 1n)),
      stateDatum("33".repeat(32)),
    ];
    odd.forEach((datum, i) => service.add(service.ref(`odd ${i}`), requestAddress(TOKEN), datum));
    odd.forEach((datum, i) => service.add(service.ref(`odd state ${i}`), STATE_ADDRESS, datum, [`${POLICY}0${i}`]));
    const { requests, checked } = accepted(verifyV2Requests(service.requests(TOKEN), open(service)));
    expect(requests).toHaveLength(2);
    expect(checked).toContain("11 outputs are all that the request address had after it.");
    // the last one has the datum of a state
    expect(accepted(verifyV2Tokens(service.tokens(), about(service))).tokens).toHaveLength(3);
  });
});

describe("a state", () => {
  it("of another token is refused", () => {
    const { service } = world();
    const [code, sentence] = reason(verifyV2State(service.tokenState(OTHER), about(service)));
    expect(code).toBe("other_token");
    expect(sentence).toMatch(/^The output [0-9a-f]{64}#0 is unspent, but is no state of the token a1a1.*\.$/);
    const other = service.fact(OTHER, "planet");
    expect(reason(verifyV2Fact(other, fact(service, "planet")))[0]).toBe("other_token");
    expect(reason(verifyV2Facts(service.facts(OTHER), about(service)))[0]).toBe("other_token");
  });

  it("that is not at the state address is refused", () => {
    const { service } = world();
    const elsewhere = scriptAddress(0, "dd".repeat(28)).hex;
    const ref = service.add(service.ref("elsewhere"), elsewhere, stateDatum("22".repeat(32)), [POLICY + TOKEN]);
    const answer = { snapshot: service.snapshot(), state: { utxo: service.utxo(ref) } };
    expect(reason(verifyV2State(answer, about(service)))).toEqual([
      "other_token",
      `The output ${ref.txHash}#0 is unspent, but is not at the state address.`,
    ]);
    expect(reason(verifyV2State(service.tokenState(TOKEN), { ...about(service), network: 1 }))[0]).toBe("other_token");
  });

  it("without exactly one token of the policy is refused", () => {
    const { service } = world();
    const mine = POLICY + TOKEN;
    for (const assets of [[], [POLICY + OTHER], [mine, mine], [mine, POLICY + OTHER], ["ee".repeat(28) + TOKEN]]) {
      const ref = service.add(service.ref(assets.join()), STATE_ADDRESS, stateDatum("22".repeat(32)), assets);
      const answer = { snapshot: service.snapshot(), state: { utxo: service.utxo(ref) } };
      expect(reason(verifyV2State(answer, about(service)))[0], assets.join()).toBe("other_token");
    }
  });

  it("that was spent is refused with its old proof", () => {
    const { service } = world();
    const old = service.tokenState(TOKEN);
    service.state(TOKEN, { ...FACTS, moon: "Io" });
    const [code, sentence] = reason(verifyV2State({ ...old, snapshot: service.snapshot() }, about(service)));
    expect(code).toBe("not_unspent");
    expect(sentence).toContain("is not proven to be unspent after the block: it is old or was changed.");
    const { point: { slot } } = service.trusted;
    const fork = { ...service.trusted, point: { slot, hash: "ff".repeat(32) } };
    expect(reason(verifyV2State(service.tokenState(TOKEN), { ...about(service), trusted: fork }))[0]).toBe(
      "other_block",
    );
    expect(reason(verifyV2State(old, about(service)))).toEqual([
      "other_block",
      "The response is of another block than the trusted root.",
    ]);
  });

  it("with a changed output or the proof of another one is refused", () => {
    const { service } = world();
    const answer = service.tokenState(TOKEN);
    const changed = structuredClone(answer);
    changed.state.utxo.tx_out = changed.state.utxo.tx_out.replace(OWNER, "0c".repeat(28));
    expect(changed).not.toEqual(answer);
    expect(reason(verifyV2State(changed, about(service)))[0]).toBe("not_unspent");
    const replayed = structuredClone(answer);
    replayed.state.utxo.utxo_proof = service.tokenState(OTHER).state.utxo.utxo_proof;
    const [code, sentence] = reason(verifyV2State(replayed, about(service)));
    expect(code).toBe("not_unspent");
    expect(sentence).toContain("The proof is of another output than");
  });
});

describe("a fact", () => {
  const { service } = world();

  it("with another value or the proof of another key is refused", () => {
    const answer = service.fact(TOKEN, "planet");
    expect(reason(verifyV2Fact({ ...answer, value: toHex(utf8("Venus")) }, fact(service, "planet")))).toEqual([
      "proof_fails",
      "The proof does not show that the key 706c616e6574 has this value under the token's root.",
    ]);
    expect(reason(verifyV2Fact(answer, fact(service, "moon")))[0]).toBe("proof_fails");
  });

  it("that exists is not absent, with no proof", () => {
    const { fact: proven, snapshot } = service.fact(TOKEN, "planet");
    expect(reason(verifyV2Fact({ snapshot, fact: proven, value: null }, fact(service, "planet")))).toEqual([
      "proof_fails",
      "The proof does not show that the key 706c616e6574 is absent under the token's root.",
    ]);
    expect(reason(verifyV2Fact(service.absence(TOKEN, "comet"), fact(service, "planet")))[0]).toBe("proof_fails");
  });

  it("that is left out, added, changed or twice in the list is refused", () => {
    const answer = service.facts(TOKEN);
    const [first, ...rest] = answer.facts;
    const added = { key: "00", value: "00" };
    for (const facts of [rest, [...answer.facts, added], [{ ...first!, value: "00" }, ...rest]]) {
      const [code, sentence] = reason(verifyV2Facts({ ...answer, facts }, about(service)));
      expect(code).toBe("facts_differ");
      expect(sentence).toBe(
        `The ${facts.length} facts are not all facts of the token: they do not have the root in its state; facts are missing, added or changed.`,
      );
    }
    expect(reason(verifyV2Facts({ ...answer, facts: [...answer.facts, first] }, about(service)))).toEqual([
      "facts_differ",
      `The key ${first!.key} is in the response twice.`,
    ]);
  });
});

describe("a list", () => {
  const { service, first } = world();
  const left = (set: ShownSet, id: string) => set.entries.filter(({ ref }) => ref.tx_id !== id);

  it("without a token is refused", () => {
    const answer = service.tokens();
    const tokens = { ...answer.tokens, entries: answer.tokens.entries.slice(1) };
    const [code, sentence] = reason(verifyV2Tokens({ ...answer, tokens }, about(service)));
    expect(code).toBe("incomplete");
    expect(sentence).toContain("The 1 outputs that the response shows are not all outputs of the state address");
  });

  it("without a request is refused, in the set or in the list", () => {
    const answer = service.requests(TOKEN);
    const request_set = { ...answer.request_set, entries: left(answer.request_set, first.txHash) };
    const requests = answer.requests.filter(({ utxo }) => utxo.tx_in.tx_id !== first.txHash);
    expect(reason(verifyV2Requests({ ...answer, request_set, requests }, open(service)))[0]).toBe("incomplete");
    expect(reason(verifyV2Requests({ ...answer, requests }, open(service)))).toEqual([
      "lists_differ",
      `The list of requests lacks ${first.txHash}#0, which is in the set.`,
    ]);
  });

  it("with an invented request is refused, in the set or in the list", () => {
    const answer = service.requests(TOKEN);
    const forged = new V2Service();
    forged.state(TOKEN, FACTS);
    const ref = forged.request(TOKEN, "comet", "Encke");
    const [entry] = forged.set(requestAddress(TOKEN)).entries;
    const request_set = { ...answer.request_set, entries: [...answer.request_set.entries, entry!] };
    const requests = [...answer.requests, { utxo: forged.utxo(ref) }];
    expect(reason(verifyV2Requests({ ...answer, request_set, requests }, open(service)))[0]).toBe("incomplete");
    expect(reason(verifyV2Requests({ ...answer, requests }, open(service)))).toEqual([
      "lists_differ",
      `The request ${ref.txHash}#0 of the list is not in the set that is proven complete.`,
    ]);
  });

  it("with a changed, repeated or unproven request is refused", () => {
    const answer = service.requests(TOKEN);
    const { requests: [one, two] } = answer;
    const as = (requests: unknown[]) => reason(verifyV2Requests({ ...answer, requests }, open(service)))[0];
    const changed = { utxo: { ...one!.utxo, tx_out: two!.utxo.tx_out } };
    expect(as([changed, two])).toBe("lists_differ");
    expect(as([one, two, one])).toBe("lists_differ");
    expect(as([{ utxo: { ...one!.utxo, utxo_proof: two!.utxo.utxo_proof } }, two])).toBe("not_unspent");
  });

  it("of another address is refused", () => {
    expect(reason(verifyV2Requests(service.requests(OTHER), open(service)))[0]).toBe("incomplete");
    const replayed = { ...service.requests(TOKEN), request_set: service.set(requestAddress(OTHER)) };
    const [code, sentence] = reason(verifyV2Requests(replayed, open(service)));
    expect(code).toBe("incomplete");
    expect(sentence).toContain("is at another address.");
  });

  it("that is padded with an entry that sorts last is refused", () => {
    const answer = service.requests(TOKEN);
    const last = { ref: { tx_id: "ff".repeat(32), tx_ix: 0 }, txout_cbor: answer.request_set.entries[0]!.txout_cbor };
    const request_set = { ...answer.request_set, entries: [...answer.request_set.entries, last] };
    expect(reason(verifyV2Requests({ ...answer, request_set }, open(service)))[0]).toBe("incomplete");
  });

  it("that says to be of an empty tree is refused, whatever root is trusted", () => {
    const nothing = { entries: [], completeness_proof: "82018100" };
    const answer = { ...service.requests(TOKEN), request_set: nothing, requests: [] };
    const [code, sentence] = reason(verifyV2Requests(answer, open(service)));
    expect(code).toBe("incomplete");
    expect(sentence).toContain("The proof does not lead to the trusted root.");
    expect(reason(verifyV2Tokens({ ...service.tokens(), tokens: nothing }, about(service)))[0]).toBe("incomplete");
    const trusted = { ...service.trusted, utxoRoot: null };
    const ofNothing = { ...answer, snapshot: { ...answer.snapshot, utxo_root: null } };
    expect(reason(verifyV2Requests(ofNothing, { ...open(service), trusted }))).toEqual([
      "untrusted",
      BAD_ROOT,
    ]);
  });
});

describe("the trusted root", () => {
  const { service } = world();
  const answer = service.tokenState(TOKEN);

  it("must be that of the answer", () => {
    const forged = new V2Service();
    forged.state(TOKEN, { planet: "Venus" });
    const lie = {
      ...forged.tokenState(TOKEN),
      snapshot: { ...forged.snapshot(), chainpoint: answer.snapshot.chainpoint },
    };
    expect(reason(verifyV2State(lie, about(service)))).toEqual([
      "other_root",
      "The response says another root of the unspent outputs than the trusted one.",
    ]);
    const named = { ...lie, snapshot: answer.snapshot };
    expect(reason(verifyV2State(named, about(service)))[0]).toBe("not_unspent");
    const question = { ...about(service), trusted: { ...service.trusted, utxoRoot: "00" } };
    expect(reason(verifyV2State(answer, question))[0]).toBe("untrusted");
  });

  it("is never from the service that answered", async () => {
    for (const url of ["https://mpfs.example", "https://MPFS.example:443/csmt", "http://mpfs.example/"]) {
      const found = await fetchSecondRoot(answer, { service: "https://mpfs.example/", instances: [url] });
      expect(found).toMatchObject({
        error: {
          code: "same_source",
          message: `${url} is the service that answered: its own root would prove nothing.`,
        },
      });
    }
  });

  it("is that of a service of cardano-utxo-csmt, unless two differ", async () => {
    const serve = async (root: string) => {
      const { slot, block_id } = answer.snapshot.chainpoint;
      const server = createServer(({ url }, response) => {
        response.statusCode = url === "/merkle-roots" ? 200 : 404;
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify([{ slotNo: slot, blockHash: block_id, merkleRoot: root }]));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    };
    const honest = await serve(answer.snapshot.utxo_root);
    const lying = await serve("00".repeat(32));
    try {
      const found = await fetchSecondRoot(answer, { service: "https://mpfs.example", instances: [honest.url] });
      if (!found.ok) throw new Error(found.error.message);
      const verified = accepted(verifyV2State(answer, { ...about(service), trusted: found.value }));
      expect(verified.notChecked[0]).toContain(honest.url);
      const instances = [honest.url, lying.url];
      expect(await fetchSecondRoot(answer, { service: "https://mpfs.example", instances })).toMatchObject({
        error: { code: "instances_disagree" },
      });
    } finally {
      for (const { server } of [honest, lying]) server.close();
    }
  });
});

describe("any other answer", () => {
  const { service } = world();
  const verifiers: Readonly<Record<string, readonly [unknown, (answer: unknown) => Result<unknown, V2Refusal>]>> = {
    state: [service.tokenState(TOKEN), (answer) => verifyV2State(answer, about(service))],
    tokens: [service.tokens(), (answer) => verifyV2Tokens(answer, about(service))],
    facts: [service.facts(TOKEN), (answer) => verifyV2Facts(answer, about(service))],
    fact: [service.fact(TOKEN, "moon"), (answer) => verifyV2Fact(answer, fact(service, "moon"))],
    requests: [service.requests(TOKEN), (answer) => verifyV2Requests(answer, open(service))],
  };

  it.each(Object.entries(verifiers))("is refused as a value: %s", (_name, [answer, verify]) => {
    expect(verify(answer).ok).toBe(true);
    fc.assert(fc.property(fc.anything(), (value) => !verify(value).ok));
    for (const part of paths(answer)) {
      for (const value of [null, 7, "zz", "00", [], {}, undefined]) {
        const result = verify(replaced(answer, part, value));
        // a value that is null is a claim of absence, and lists may be empty where they are
        expect(result.ok, `${part.join(".")} ${JSON.stringify(value)}`).toBe(false);
      }
    }
  });

  it("is refused over the limits", () => {
    const state = service.tokenState(TOKEN);
    const long = { ...state, state: { utxo: { ...state.state.utxo, tx_out: "00".repeat(70_000) } } };
    expect(reason(verifyV2State(long, about(service)))).toEqual([
      "too_large",
      "The response has a member of 70000 bytes, and 65536 are the limit.",
    ]);
    const tokens = { ...service.tokens().tokens, entries: new Array(20_001).fill({}) };
    expect(reason(verifyV2Tokens({ ...service.tokens(), tokens }, about(service)))[0]).toBe("too_large");
  });

  it("may have more members", () => {
    expect(verifyV2State({ ...service.tokenState(TOKEN), version: 2 }, about(service)).ok).toBe(true);
  });

  it("is not read for a malformed question", () => {
    const answer = service.tokenState(TOKEN);
    expect(() => verifyV2State(answer, { ...about(service), tokenId: "a1" })).toThrow(TypeError);
    expect(() => verifyV2State(answer, { ...about(service), policyId: "a1" })).toThrow(TypeError);
    expect(() => verifyV2Requests(answer, { ...open(service), requestAddress: "a1" })).toThrow(TypeError);
    expect(() => verifyV2Requests(answer, { ...open(service), network: 1 })).toThrow(TypeError);
  });
});

/** Paths of all members of a value, of lists the first element alone. */
function paths(value: unknown, above: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  const members = Array.isArray(value) ? Object.entries(value).slice(0, 1) : Object.entries(value);
  return members.flatMap(([name, member]) => [[...above, name], ...paths(member, [...above, name])]);
}

function replaced(value: unknown, [name, ...below]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replaced(copy[name], below, by);
  return copy;
}

// answers of a public service without a licence: they are not part of the repository
const captured = process.env.ARBOR_UMPFS_ANSWERS ?? fileURLToPath(
  new URL("../../../../shared/vectors/mpfs-v2/umpfs/", import.meta.url),
);

describe.skipIf(!existsSync(captured))("an answer of a public service", () => {
  const policyId = "ad0a8eeeec8b0a5ee9930be5d6ea2e80b285fc2f3e9675a13a392dd5";
  const EMPTY = "976821dbd0922f93cda689da92a6faf1894c8151bc86d6c8f725ec089aaacbc6";
  const FILLED = "98207724b0ea59b96c0eba16cb09e91da10f8bdc54ad36da4a2e40104a59a32b";
  const read = (name: string) => {
    const answer = JSON.parse(readFileSync(`${captured}real-umpfs-${name}.json`, "utf8"));
    const { utxo_root: utxoRoot, chainpoint: { slot, block_id: hash } } = answer.snapshot;
    const question: V2Question = { trusted: { utxoRoot, point: { slot, hash } }, policyId };
    return { answer, question };
  };

  it("is verified: the list of tokens", () => {
    const { answer, question } = read("tokens");
    const { tokens } = accepted(verifyV2Tokens(answer, question));
    expect(tokens.map(({ tokenId }) => tokenId).sort()).toEqual([FILLED, EMPTY].sort());
  });

  it("is verified: a state", () => {
    const { answer, question } = read("token-state");
    const { token } = accepted(verifyV2State(answer, { ...question, tokenId: EMPTY }));
    expect(token).toMatchObject({ root: "00".repeat(32), tip: 1_000_000n, processTime: 5_000n, retractTime: 5_000n });
    expect(reason(verifyV2State(answer, { ...question, tokenId: FILLED }))[0]).toBe("other_token");
  });

  it("is verified: the facts, and one of them", () => {
    const all = read("facts");
    expect(accepted(verifyV2Facts(all.answer, { ...all.question, tokenId: FILLED })).facts.size).toBe(2);
    const one = read("fact-inclusion");
    const question = { ...one.question, tokenId: FILLED, key: utf8("paolino") };
    const { value } = accepted(verifyV2Fact(one.answer, question));
    expect(value && fromUtf8(value)).toBe("42");
    expect(reason(verifyV2Fact(one.answer, { ...question, key: utf8("paolina") }))[0]).toBe("proof_fails");
  });

  it("is verified: requests with values over 64 bytes", () => {
    const { answer, question } = read("requests");
    const requestAddress = "70881e6756e5922e4b8a0ca03461f193cf01383a253bafb1c368fc3e0d";
    const { requests } = accepted(verifyV2Requests(answer, { ...question, tokenId: EMPTY, requestAddress }));
    expect(requests).toHaveLength(6);
    for (const { key, operation } of requests) {
      expect(fromUtf8(key)).toBe('{"type":"config"}');
      expect(operation.value.length).toBeGreaterThan(64);
    }
  });
});
