/** Facts and balances that a program keeps itself, from events alone. */
export * from "#src/client/balances.ts";
export * from "#src/client/factReplica.ts";
