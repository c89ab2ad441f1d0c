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

    -- whose the keys are; written by turns of wallets alone
    create table vault_adoption (wallet text primary key, attempt text not null unique);`,
}];

/** The table by which the turn that creates a wallet adopts its key, and the one that deletes it gives it up: `{ wallet, attempt }`. */
export const vaultAdoption: OwnTable = { table: "vault_adoption", key: ["wallet"] };
