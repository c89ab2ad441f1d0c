export { seeded } from "#src/base/seededRandom.ts";
