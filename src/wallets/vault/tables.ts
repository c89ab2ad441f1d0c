/** The tables of the vault. */
import type { OwnTable } from "#src/runtime/types.ts";
import type { Migration } from "#src/store/migrations.ts";

export const vaultMigrations: readonly Migration[] = [{
  id: "vault-1",
  sql: `
    -- encrypted root keys, each under the attempt to create a wallet that put it there
    create table vault_key (
      attempt text primary key, style text not null, root text not null, method text not null, sealed bytea not null,
      verifier bytea, updated_at timestamptz not null default now(), put_at timestamptz not null default now());
    create index on vault_key (put_at);

    -- whose the keys are; written by turns of wallets alone. What was swept cannot be adopted, and what was adopted is not swept.
    create table vault_adoption (wallet text primary key, attempt text not null unique references vault_key);`,
}, {
  id: "vault-2",
  sql: `
    -- wrong passphrases since the last right one, and until when none is tried, by this server's clock
    alter table vault_key add column wrong int not null default 0,
      add column closed_until timestamptz not null default '-infinity';`,
}];

/** The row `{ wallet, attempt }` by which the creating turn adopts a key; the deleting turn removes it. */
export const vaultAdoption: OwnTable = { table: "vault_adoption", key: ["wallet"] };
