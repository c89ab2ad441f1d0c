/** What to do about error codes of services, in a terminal. */
import { ERROR_ADVICE } from "#src/base/errorAdvice.ts";

/** The services that the commands call. */
const { tokens, operator, devnet, signer } = ERROR_ADVICE;
const SERVICES: readonly Readonly<Record<string, string>>[] = [tokens, operator, devnet, signer];

/**
 * Advice by code, where it is the same in all services and needs no request, parameter or member of an answer, which a
 * command does not show.
 */
export const TERMINAL_ADVICE: Readonly<Record<string, string>> = Object.fromEntries(
  SERVICES.flatMap((service) => Object.entries(service)).filter(([code, text]) =>
    !text.includes("`") && SERVICES.every((other) => (other[code] ?? text) === text)
  ),
);
