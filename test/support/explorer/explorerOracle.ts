/**
 * A chain as an explorer must know it, computed the slow way: every block is read from its bytes, every question is a scan over all transactions.
 *
 * Nothing here comes from the index of the product or from its tables. The genesis, the CBOR readers and the ledger's epoch boundary (whose rewards
 * other tests judge) are the product's.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { type Address, addressText, type Credential, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, asInt, asSet, decode, entry, type Item, raw } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { hash224, hash256 } from "#src/cardano/hash.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { nativeHash } from "#src/cardano/nativeScript.ts";
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import { inLedgerOrder } from "#src/cardano/transaction.ts";
import { policyOf } from "#src/cardano/value.ts";
import { type Genesis, genesisEntries, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { writeEntries } from "#src/devnet/ledger/changes.ts";
import { applyEpoch, blockMade, passEpoch } from "#src/ledger/epoch/pass.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey, drepKey, type MutableLedgerState, newState, type Pots } from "#src/ledger/state.ts";

/** A block. */
export interface OracleBlock {
  readonly height: number;
  readonly hash: string;
  readonly previous: string | undefined;
  readonly slot: number;
  readonly time: number;
  readonly epoch: number;
  /** Id of the pool that made it. */
  readonly pool: string;
  readonly vrf: Uint8Array;
  readonly opCert: string;
  readonly opCertCounter: bigint;
  /** Bytes of the body, as the header states them. */
  readonly size: number;
  readonly txs: readonly OracleTx[];
}

/** An output that was ever created; `tx` is undefined for those of the genesis. */
export interface OracleOutput {
  readonly ref: OutRef;
  readonly output: Output;
  readonly tx: OracleTx | undefined;
  readonly address: string;
  readonly payment: Credential | undefined;
  /** Key of the stake credential. */
  readonly stake: string | undefined;
  readonly assets: readonly (readonly [unit: string, quantity: bigint])[];
  readonly dataHash: string | null;
  readonly inlineDatum: string | null;
  readonly script: OracleScript | undefined;
  spentBy?: OracleTx;
}

export interface OracleScript {
  readonly hash: string;
  readonly type: "timelock" | "plutusV1" | "plutusV2" | "plutusV3";
  readonly bytes: Uint8Array;
}

export interface OracleRedeemer {
  readonly purpose: "spend" | "mint" | "cert" | "reward";
  readonly index: number;
  readonly script: string;
  readonly data: Uint8Array;
  readonly memory: bigint;
  readonly steps: bigint;
  readonly fee: bigint;
}

/** A transaction. What takes effect is empty where phase 2 failed. */
export interface OracleTx {
  /** Place among all transactions. */
  readonly id: number;
  readonly block: OracleBlock;
  readonly hash: string;
  readonly index: number;
  readonly valid: boolean;
  readonly scanned: ScannedTransaction;
  readonly spent: readonly OracleOutput[];
  readonly created: readonly OracleOutput[];
  readonly references: readonly OracleOutput[];
  readonly collateral: readonly OracleOutput[];
  readonly outSum: bigint;
  readonly fee: bigint;
  readonly deposit: bigint;
  readonly donation: bigint;
  readonly size: number;
  readonly cbor: Uint8Array;
  readonly certificates: readonly Certificate[];
  /** In the ledger's order: account bytes in hexadecimal, and lovelace. */
  readonly withdrawals: readonly (readonly [account: string, amount: bigint])[];
  readonly mint: readonly (readonly [unit: string, quantity: bigint])[];
  readonly metadata: readonly (readonly [label: bigint, value: Uint8Array])[];
  readonly redeemers: readonly OracleRedeemer[];
  /** Scripts in the order in which they are seen, and datums. */
  readonly scripts: readonly OracleScript[];
  readonly datums: ReadonlyMap<string, Uint8Array>;
  readonly signers: readonly string[];
}

export interface OracleReward {
  readonly earned: number;
  readonly spendable: number;
  readonly account: string;
  readonly pool: string;
  readonly kind: "leader" | "member" | "pool_deposit_refund";
  readonly amount: bigint;
}

export interface OracleStake {
  readonly pool: string;
  readonly account: string;
  readonly amount: bigint;
}

/** An epoch that has blocks, as it began. */
export interface OracleEpoch {
  readonly epoch: number;
  readonly parameters: Parameters;
  readonly pots: Readonly<Pots>;
}

/** What is said of the transactions of the genesis: an output of the genesis stands for one, in a block at height and slot 0. */
export interface GenesisTx {
  readonly hash: string;
  readonly outSum: bigint;
}

/** A registration of a pool, or its announced end; `tx` is undefined for those of the genesis. */
export interface OraclePoolEvent {
  readonly kind: "update" | "retire";
  readonly pool: string;
  readonly tx: OracleTx | undefined;
  readonly index: number;
  readonly certificate: Certificate;
  /** Active from, or retired in. */
  readonly epoch: number;
}

const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((total, one) => total + one, 0n);

/** Assets in the order of the ledger's maps. */
function ordered(assets: ReadonlyMap<string, bigint>): [string, bigint][] {
  return [...assets].sort(([a], [b]) => a < b ? -1 : 1);
}

const addresses = new Map<string, { readonly text: string; readonly address: Address }>();

/** An address (bytes in hexadecimal), read and written. */
export function addressOf(hex: string) {
  let known = addresses.get(hex);
  if (!known) {
    const read = readAddressHex(hex);
    if (!read.ok) throw new Error(read.error.message);
    addresses.set(hex, known = { text: addressText(read.value), address: read.value });
  }
  return known;
}

/** The explorer's view of a chain. */
export class Oracle {
  readonly blocks: OracleBlock[] = [];
  readonly txs: OracleTx[] = [];
  readonly outputs: OracleOutput[] = [];
  readonly rewards: OracleReward[] = [];
  /** Stake that counts in an epoch. */
  readonly stakes = new Map<number, readonly OracleStake[]>();
  readonly epochs = new Map<number, OracleEpoch>();
  readonly poolEvents: OraclePoolEvent[] = [];
  /** Whose delegation of stake it is, the last one last; of the genesis first. */
  readonly delegations: {
    readonly account: string;
    readonly pool: string;
    readonly tx: OracleTx | undefined;
    readonly index: number;
    readonly epoch: number;
  }[] = [];
  /** Transactions of the mempool, as if they were in a next block. */
  readonly mempool: readonly OracleTx[];
  /** The ledger at the tip. */
  readonly state: MutableLedgerState;
  private readonly byRef = new Map<string, OracleOutput>();
  private readonly ledgerOutputs = new Map<string, Output>();

  constructor(readonly genesis: Genesis, blocks: readonly Uint8Array[], mempool: readonly Uint8Array[] = []) {
    const { parameters, network } = genesis;
    this.state = newState({ parameters, network: network.id, outputs: this.ledgerOutputs });
    for (const { ref, output } of genesisOutputs(genesis)) {
      this.create({ ref, output }, undefined);
      this.ledgerOutputs.set(refKey(ref), output);
    }
    writeEntries(this.state, genesisEntries(genesis), "after");
    for (const { id, registered: { pool, owner } } of genesis.pools) {
      const { account, raw: _, ...terms } = poolTerms(pool.certificate);
      const certificate: Certificate = { ...terms, kind: "register pool", account: account.hex };
      // as if by certificates: the registration of the owner, of the pool, the delegation
      this.poolEvents.push({ kind: "update", pool: id, tx: undefined, index: 1, certificate, epoch: 0 });
      this.delegations.push({ account: owner.key, pool: id, tx: undefined, index: 2, epoch: 0 });
    }
    this.begin(0);
    this.keepStake(0);
    this.keepStake(1);
    for (const bytes of blocks) this.add(bytes);
    this.mempool = mempool.length === 0 ? [] : new Oracle(genesis, blocks).pending(mempool);
  }

  get tip(): OracleBlock | undefined {
    return this.blocks.at(-1);
  }

  /** The epoch of the tip. */
  get epoch(): number {
    return this.tip?.epoch ?? 0;
  }

  /** Outputs that are not spent, in the order of their creation. */
  get unspent(): OracleOutput[] {
    return this.outputs.filter(({ spentBy }) => !spentBy);
  }

  output(ref: OutRef): OracleOutput | undefined {
    return this.byRef.get(refKey(ref));
  }

  stakeAddress(key: string): string {
    const credential: Credential = { kind: key[0] === "k" ? "key" : "script", hash: key.slice(1) };
    return addressText(rewardAddress(this.genesis.network.id, credential));
  }

  poolId(hash: string): string {
    return toBech32("pool", fromHex(hash));
  }

  /** Puts transactions on top of the chain, which is of no use after that. */
  private pending(mempool: readonly Uint8Array[]): OracleTx[] {
    const { tip } = this;
    if (!tip) throw new Error("a mempool on no chain");
    return mempool.map((bytes) => this.addTx(tip, scanTransaction(bytes)));
  }

  /** The transaction of the genesis that registered a pool and its owner: that of the pledge. */
  genesisTx(pool: string): GenesisTx {
    const { address } = this.genesis.pools.find(({ id }) => id === pool)!.registered.owner;
    const { ref, output } = this.outputs.find(({ tx, output }) => !tx && output.address === address)!;
    return { hash: ref.txHash, outSum: output.value.lovelace };
  }

  private begin(epoch: number): void {
    this.epochs.set(epoch, { epoch, parameters: this.state.parameters, pots: { ...this.state.pots } });
  }

  /** The stake that counts in `epoch` is what the snapshot taken one epoch before holds. */
  private keepStake(epoch: number): void {
    const snapshot = this.state.snapshots.get(String(epoch - 1));
    const stakes = [...snapshot?.pools ?? []].flatMap(([pool, { members }]) =>
      [...members].map(([account, amount]) => ({ pool, account, amount }))
    );
    this.stakes.set(epoch, stakes);
  }

  private create({ ref, output }: { ref: OutRef; output: Output }, tx: OracleTx | undefined): OracleOutput {
    const { address, text } = addressOf(output.address);
    const made: OracleOutput = {
      ref,
      output,
      tx,
      address: text,
      payment: "payment" in address ? address.payment : undefined,
      stake: address.kind === "base" ? credentialKey(address.stake) : undefined,
      assets: ordered(output.value.assets),
      // an inline datum has a hash too
      dataHash: output.datumHash ?? (output.datum ? hash256(output.datum) : null),
      inlineDatum: output.datum ? toHex(output.datum) : null,
      script: output.script ? referenceScript(output.script) : undefined,
    };
    this.byRef.set(refKey(ref), made);
    this.outputs.push(made);
    return made;
  }

  private add(bytes: Uint8Array): void {
    const scanned = scanBlock(bytes);
    const { height, hash, previous, slot, issuer } = scanned;
    const [header] = as(as(decode(bytes), "array").value[1], "array").value;
    const [headerBody] = as(header, "array").value;
    const fields = as(headerBody, "array").value;
    const [hotKey, counter] = as(fields[8], "array").value;
    const { network: { slots }, terms } = this.genesis;
    const epoch = Math.floor(slot / terms.epochLength);
    const pool = keyHash(fromHex(issuer!));
    while (this.state.epoch < epoch) this.passBoundary();
    const txs: OracleTx[] = [];
    const block: OracleBlock = {
      height,
      hash,
      previous,
      slot,
      time: Math.floor((slots.zeroTime + slot * slots.slotLength) / 1_000),
      epoch,
      pool,
      vrf: as(fields[4], "bytes").value,
      opCert: toHex(as(hotKey, "bytes").value),
      opCertCounter: asInt(counter),
      size: Number(asInt(fields[6])),
      txs,
    };
    for (const one of scanned.transactions) txs.push(this.addTx(block, one));
    // a pool that has retired may still be drawn, by its stake of before
    if (issuer !== toHex(this.genesis.issuer)) {
      const { key, after } = blockMade(this.state, pool);
      this.state.blocks.set(key, after!);
    }
    this.blocks.push(block);
  }

  private passBoundary(): void {
    const { state } = this;
    const delta = passEpoch(state, this.genesis.terms);
    const before = new Map([...state.pools.entries()]);
    for (const { account, pool, kind, amount } of delta.rewards) {
      // nothing is not a reward
      if (amount === 0n || !state.accounts.get(account)) continue;
      this.rewards.push({ earned: delta.epoch - 2, spendable: delta.epoch, account, pool, kind, amount });
    }
    for (const { key, before: gone, after } of delta.pools) {
      if (!gone || after) continue;
      // the certificate that was announced holds before the pool goes
      const account = credentialKey(poolTerms(gone.future ?? gone.certificate).account.credential);
      if (!state.accounts.get(account)) continue;
      this.rewards.push({
        earned: delta.epoch,
        spendable: delta.epoch,
        account,
        pool: key,
        kind: "pool_deposit_refund",
        amount: before.get(key)!.deposit,
      });
    }
    applyEpoch(state, delta);
    this.begin(delta.epoch);
    this.keepStake(delta.epoch + 1);
  }

  private addTx(block: OracleBlock, scanned: ScannedTransaction): OracleTx {
    const { hash, index, valid } = scanned;
    const resolve = (refs: readonly OutRef[]) =>
      [...refs].sort(compareRefs).map((ref) => {
        const found = this.output(ref);
        if (!found) throw new Error(`${refKey(ref)} was never created`);
        return found;
      });
    const inputs = resolve(scanned.inputs), collateral = resolve(scanned.collateral);
    const references = resolve(scanned.references);
    const spent = valid ? inputs : collateral;
    const outputs = valid
      ? scanned.outputs.map((output, place) => ({ ref: { txHash: hash, index: place }, output }))
      : scanned.collateralReturn
      ? [{ ref: { txHash: hash, index: scanned.outputs.length }, output: scanned.collateralReturn }]
      : [];
    const body = decode(scanned.body);
    const stated = entry(body, 22);
    const donation = valid && stated ? asInt(stated) : 0n;
    const withdrawals = valid
      ? inLedgerOrder([...scanned.withdrawals].map(([account, amount]) => ({ account, amount })))
        .map(({ account, amount }) => [account, amount] as const)
      : [];
    const inSum = sum(spent.map(({ output }) => output.value.lovelace));
    const outSum = sum(outputs.map(({ output }) => output.value.lovelace));
    const fee = valid ? scanned.fee! : scanned.totalCollateral ?? inSum - outSum;
    const deposit = valid ? inSum + sum(withdrawals.map(([, amount]) => amount)) - outSum - fee - donation : 0n;
    const { auxiliaryData } = scanned;
    const auxiliary = auxiliaryData && valid ? readAuxiliaryData(auxiliaryData) : undefined;
    const witnesses = decode(scanned.witnesses);
    const list = (field: number) => {
      const found = entry(witnesses, field);
      return found ? asSet(found) : [];
    };
    const byHash = (scripts: OracleScript[]) => scripts.sort((a, b) => a.hash < b.hash ? -1 : 1);
    const witnessScripts = !valid ? [] : byHash([
      ...list(1).map((item) => nativeScript(raw(item))),
      ...([[3, 1], [6, 2], [7, 3]] as const).flatMap(([field, language]) =>
        list(field).map((item) => plutusScript(language, as(item, "bytes").value))
      ),
    ]);
    const tx: OracleTx = {
      id: this.txs.length,
      block,
      hash,
      index,
      valid,
      scanned,
      spent,
      created: [],
      references: valid ? references : [],
      collateral: valid ? collateral : [],
      outSum,
      fee,
      deposit,
      donation,
      // without the validity flag, as fees count it
      size: 1 + scanned.body.length + scanned.witnesses.length + (auxiliaryData?.length ?? 1),
      cbor: Uint8Array.from([
        0x84,
        ...scanned.body,
        ...scanned.witnesses,
        valid ? 0xf5 : 0xf4,
        ...auxiliaryData ?? [0xf6],
      ]),
      certificates: valid ? scanned.certificates : [],
      withdrawals,
      mint: valid ? ordered(scanned.mint) : [],
      metadata: [...auxiliary?.metadata ?? []].sort(([a], [b]) => a < b ? -1 : 1),
      redeemers: valid ? this.redeemers(scanned, witnesses, inputs, withdrawals.map(([account]) => account)) : [],
      scripts: [],
      datums: new Map(),
      signers: valid ? [...scanned.requiredSigners].sort() : [],
    };
    for (const one of spent) {
      if (one.spentBy) throw new Error(`${refKey(one.ref)} was spent twice`);
      one.spentBy = tx;
      this.ledgerOutputs.delete(refKey(one.ref));
    }
    const created = outputs.map((one) => this.create(one, tx));
    for (const { ref, output } of created) this.ledgerOutputs.set(refKey(ref), output);
    (tx as { created: readonly OracleOutput[] }).created = created;
    (tx as { scripts: readonly OracleScript[] }).scripts = [
      ...created.flatMap(({ script }) => script ? [script] : []),
      ...witnessScripts,
      ...(auxiliary?.native ?? []).map(nativeScript),
      ...(auxiliary?.plutus ?? []).map(({ language, bytes }) => plutusScript(language, bytes)),
    ];
    const datums = tx.datums as Map<string, Uint8Array>;
    for (const { output: { datum } } of created) if (datum) datums.set(hash256(datum), datum);
    if (valid) { for (const item of list(4)) datums.set(hash256(raw(item)), raw(item)); }
    for (const { data } of tx.redeemers) datums.set(hash256(data), data);
    this.txs.push(tx);
    this.apply(tx, body);
    return tx;
  }

  private redeemers(
    scanned: ScannedTransaction,
    witnesses: Item,
    inputs: readonly OracleOutput[],
    accounts: readonly string[],
  ): OracleRedeemer[] {
    const found = entry(witnesses, 5);
    if (!found) return [];
    const policies = [...new Set([...scanned.mint.keys()].map(policyOf))].sort();
    const scriptOf = (purpose: number, index: number): string => {
      switch (purpose) {
        case 0:
          return inputs[index]!.payment!.hash;
        case 1:
          return policies[index]!;
        case 2: {
          const certificate = scanned.certificates[index]!;
          if (!("credential" in certificate)) throw new Error("a redeemer for a certificate without a credential");
          return certificate.credential.hash;
        }
        default:
          return accounts[index]!.slice(2);
      }
    };
    const { prices } = this.state.parameters;
    const redeemers = as(found, "map").value.map(([pointer, argument]) => {
      const [tag, place] = as(pointer, "array").value.map((item) => Number(asInt(item)));
      const [data, units] = as(argument, "array").value;
      const [memory, steps] = as(units, "array").value.map((item) => asInt(item));
      const numerator = memory! * prices.memory.numerator * prices.steps.denominator +
        steps! * prices.steps.numerator * prices.memory.denominator;
      const denominator = prices.memory.denominator * prices.steps.denominator;
      return {
        tag: tag!,
        purpose: (["spend", "mint", "cert", "reward"] as const)[tag!]!,
        index: place!,
        script: scriptOf(tag!, place!),
        data: raw(data!),
        memory: memory!,
        steps: steps!,
        fee: (numerator + denominator - 1n) / denominator,
      };
    });
    return redeemers.sort((a, b) => a.tag - b.tag || a.index - b.index).map(({ tag: _, ...one }) => one);
  }

  /** What a transaction changes in the ledger, rule by rule. */
  private apply(tx: OracleTx, body: Item): void {
    const { state } = this;
    const { accounts, pools, dreps, pots, parameters } = state;
    pots.fees += tx.fee;
    pots.deposits += tx.deposit;
    pots.donations += tx.donation;
    for (const [account] of tx.withdrawals) {
      const key = (account[0] === "f" ? "s" : "k") + account.slice(2);
      accounts.set(key, { ...accounts.get(key)!, balance: 0n });
    }
    const items = entry(body, 4);
    const raws = tx.valid && items ? asSet(items).map(raw) : [];
    for (const [index, certificate] of tx.certificates.entries()) {
      const { epoch } = tx.block;
      switch (certificate.kind) {
        case "register":
        case "delegate": {
          const key = credentialKey(certificate.credential);
          const { pool, drep } = certificate.to ?? {};
          const held = certificate.kind === "register"
            ? { deposit: parameters.keyDeposit, balance: 0n }
            : accounts.get(key)!;
          accounts.set(key, { ...held, ...(pool ? { pool } : {}), ...(drep ? { drep: drepKey(drep) } : {}) });
          if (pool) this.delegations.push({ account: key, pool, tx, index, epoch: epoch + 2 });
          break;
        }
        case "unregister":
          accounts.delete(credentialKey(certificate.credential));
          break;
        case "register pool": {
          const { pool } = certificate;
          const known = pools.get(pool);
          pools.set(
            pool,
            known
              ? { certificate: known.certificate, deposit: known.deposit, future: raws[index]! }
              : { certificate: raws[index]!, deposit: parameters.poolDeposit },
          );
          this.poolEvents.push({ kind: "update", pool, tx, index, certificate, epoch: epoch + (known ? 3 : 2) });
          break;
        }
        case "retire pool": {
          const { pool } = certificate;
          pools.set(pool, { ...pools.get(pool)!, retiring: Number(certificate.epoch) });
          this.poolEvents.push({ kind: "retire", pool, tx, index, certificate, epoch: Number(certificate.epoch) });
          break;
        }
        case "register drep":
          dreps.set(credentialKey(certificate.credential), { deposit: certificate.deposit });
          break;
        case "unregister drep": {
          const key = credentialKey(certificate.credential);
          dreps.delete(key);
          for (const [account, { drep, ...rest }] of [...accounts.entries()]) {
            if (drep === key) accounts.set(account, rest);
          }
          break;
        }
      }
    }
  }
}

function nativeScript(bytes: Uint8Array): OracleScript {
  return { hash: nativeHash(bytes), type: "timelock", bytes };
}

function plutusScript(language: 1 | 2 | 3, bytes: Uint8Array): OracleScript {
  return { hash: hash224(Uint8Array.from([language, ...bytes])), type: `plutusV${language}`, bytes };
}

function referenceScript(bytes: Uint8Array): OracleScript {
  const [kind, script] = as(decode(bytes), "array").value;
  const language = Number(asInt(kind));
  return language === 0 ? nativeScript(raw(script!)) : plutusScript(language as 1 | 2 | 3, as(script, "bytes").value);
}
