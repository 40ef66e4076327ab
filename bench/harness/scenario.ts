import type { BenchOptions } from './options.ts'
import type { BenchEnvironment } from './environment.ts'

/** The measurements of one variant in one round, by name. */
export type Measurements = Readonly<Record<string, number>>

export interface BenchScenario {
  readonly name: string
  /** One sentence that says what is measured. */
  readonly about: string
  readonly needsPostgres: boolean
  readonly needsPeers: boolean
  /** Minimum number of rounds for a meaningful figure; ignored by `--quick`. */
  readonly minRounds?: number
  /** Runs only when named on the command line. */
  readonly isOnRequest?: boolean
  /** Runs once before the first round, for example to create templates; returns additional notes. */
  prepare?(bench: BenchEnvironment, options: BenchOptions): Promise<readonly string[]>
  readonly variants: readonly Variant[]
  readonly figures: readonly Figure[]
  /** Measurements that explain the figures, in a table of their own: medians by variant. */
  readonly details?: readonly { readonly label: string; readonly measurement: string }[]
  readonly notes: readonly string[]
}

export interface Variant {
  readonly name: string
  /** A file of `bench/variants`; every round runs it in a fresh process. */
  readonly script: string
  /** Creates the stores this round of the variant needs; returns the settings passed to the script. */
  arrange(bench: BenchEnvironment, options: BenchOptions): Promise<object>
  /** Program the variant needs, named like its Debian package; the variant is skipped without it. */
  readonly tool?: string
  /** The harness kills the variant's process after this time. */
  readonly deadlineMs?: number
}

export type Unit = 'runs/s' | 'rows/s' | 'lines/s' | 'µs' | 'ms' | 's' | 'MB' | '%' | '×'

/** One row of the table. */
export interface Figure {
  readonly label: string
  readonly variant: string
  readonly measurement: string
  readonly unit: Unit
  readonly targets?: readonly FigureTarget[]
}

/** A bound for the figure itself or, with `baselines`, for its ratio to the best of those variants. */
export interface FigureTarget {
  readonly baselines?: readonly string[]
  /** Name of the baselines' measurement; defaults to the figure's own. */
  readonly measurement?: string
  readonly atLeast?: number
  readonly atMost?: number
  /** Judged on the worst round instead of the median. */
  readonly worst?: boolean
}
