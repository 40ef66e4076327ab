/** Access to time. Tests and the simulator replace it with a clock that they control. */
export interface Clock {
  /**
   * Wall time, milliseconds since 1970. It may jump in either direction; the program records it but never relies on
   * it.
   */
  now(): number
  /** Milliseconds from an arbitrary start that never run backwards. Everything that expires uses it. */
  mono(): number
  /**
   * Milliseconds since the machine booted, including suspended time (CLOCK_BOOTTIME). Without it, a suspend looks
   * like a jump of the wall clock.
   */
  boot?(): number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Source of random numbers: a float in [0, 1). */
export type Random = () => number

/** An integer in [0, bound). */
export function randomInt(random: Random, bound: number): number {
  return Math.floor(random() * bound)
}
