/** Time as the program sees it. Tests and the simulator turn these by hand. */
export interface Clock {
  /** Wall time, milliseconds since 1970. May jump either way; only ever recorded, never trusted. */
  now(): number
  /** Milliseconds from an arbitrary start that never run backwards. Everything that expires uses it. */
  mono(): number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Chance as the program sees it: a float in [0, 1). */
export type Random = () => number

/** An integer in [0, bound). */
export function randomInt(random: Random, bound: number): number {
  return Math.floor(random() * bound)
}
