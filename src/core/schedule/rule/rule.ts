import type { MinuteCounts } from './minute-counts.ts'
import type { RuleProblem } from './rule-error.ts'

/** A rule as users write it: exactly one of `cron`, `every` and `at`, and options. */
export interface RuleSource {
  readonly cron?: string | undefined
  /** A duration (`5m`), a duration after the end of the last run (`5m after finish`), or words. */
  readonly every?: string | undefined
  /** One instant: RFC 3339 or milliseconds; without an offset it is local to `zone`. */
  readonly at?: string | number | undefined
  /** An IANA zone name; UTC by default. */
  readonly zone?: string | undefined
  readonly dst?:
    | {
        readonly gap?: DstPolicy['gap'] | undefined
        readonly repeat?: DstPolicy['repeat'] | undefined
      }
    | undefined
  /** The first and the last possible fire time, both included. Intervals count from the start. */
  readonly start?: string | number | undefined
  readonly end?: string | number | undefined
  /**
   * Maximum delay of fires: evenly distributed, constant for each time, and ending before the next time. Milliseconds
   * or a duration.
   */
  readonly jitter?: string | number | undefined
  /** The input of the hashes for `H` and jitter: unique per schedule. */
  readonly seed?: string | undefined
}

/** A parsed rule. It has no clock: the caller passes the time. */
export interface Rule {
  /** The normalised text, which reads as the same rule. */
  readonly text: string
  /** Milliseconds to wait after the end of a run; null for other rules. */
  readonly afterFinish: number | null
  /**
   * The first nominal time strictly after the given instant; null if there is none. For a rule that waits for the end
   * of runs, `after` is the end of the last run.
   */
  next(after: number): number | null
  /**
   * Counts its nominal times in [from, until) per minute without walking along them: a year of seconds takes
   * milliseconds. Does nothing for a rule that waits for the end of runs.
   */
  countInto(counts: MinuteCounts, from: number, until: number): void
  /** Delay in milliseconds after the nominal time, ending before the next one; computed on demand. */
  jitterOf(nominal: number): number
  /** A description in plain English. The caller adds zone, bounds and jitter. */
  describe(): string
}

export type RuleReading =
  | { readonly ok: true; readonly rule: Rule }
  | { readonly ok: false; readonly problem: RuleProblem }

export const GAPS = ['run-after', 'skip'] as const
export const REPEATS = ['first', 'both', 'last'] as const

/** The policy for local times that a clock change skips or repeats. */
export interface DstPolicy {
  readonly gap: (typeof GAPS)[number]
  readonly repeat: (typeof REPEATS)[number]
}
