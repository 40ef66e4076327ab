import type { MinuteCounts } from './minute-counts.ts'
import type { Problem } from './rule-error.ts'
import type { DstPolicy } from '../zones/next-fire.ts'

/** A rule as people state it: exactly one of `cron`, `every` and `at`, and what it is to mean. */
export interface RuleSource {
  readonly cron?: string | undefined
  /** A duration (`5m`), one after the end of the last run (`5m after finish`), or words. */
  readonly every?: string | undefined
  /** One instant: RFC 3339 or milliseconds; without an offset it is local to `zone`. */
  readonly at?: string | number | undefined
  /** An IANA name; UTC if not said. */
  readonly zone?: string | undefined
  readonly dst?:
    | {
        readonly gap?: DstPolicy['gap'] | undefined
        readonly repeat?: DstPolicy['repeat'] | undefined
      }
    | undefined
  /** Nothing fires before, or after; both may fire themselves. Intervals count from the start. */
  readonly start?: string | number | undefined
  readonly end?: string | number | undefined
  /** Fires are late by up to this, evenly, always alike, before the next. Milliseconds, or a duration. */
  readonly jitter?: string | number | undefined
  /** What `H` and the jitter are a hash of: whatever tells this rule from others. */
  readonly seed?: string | undefined
}

/** A rule that was understood. It knows no clock: whoever asks says what time it is. */
export interface Rule {
  /** The same for every way to write the same; the field it came from reads it again. */
  readonly text: string
  /** Milliseconds to wait after the end of a run, if that is what the rule says. */
  readonly afterFinish: number | null
  /**
   * The first nominal instant strictly after another, or null if there is none any more. For a rule
   * that waits for the end of runs, `after` is the end of the last one.
   */
  next(after: number): number | null
  /**
   * Counts its nominal instants in [from, until) by the minute, without walking along them: a year of
   * seconds takes milliseconds. Of a rule that waits for the end of runs there is nothing to count.
   */
  countInto(counts: MinuteCounts, from: number, until: number): void
  /** How many milliseconds after its nominal time it fires, before the next one: that is asked for. */
  jitterOf(nominal: number): number
  /** When it fires, in plain English. Zone, bounds and jitter are for the caller to add. */
  describe(): string
}

export type RuleReading =
  | { readonly ok: true; readonly rule: Rule }
  | { readonly ok: false; readonly problem: Problem }
