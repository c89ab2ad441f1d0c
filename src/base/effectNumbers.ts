/** Numbers of effects and reminders: those of an event begin at a multiple of its version. Safe in a browser. */

/** Most effects and reminders that one event may request. */
export const PER_EVENT = 64;

/** The version whose event requested the effect of a number. */
export const requestedAt = (n: number): number => Math.floor(n / PER_EVENT);
