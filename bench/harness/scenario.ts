import type { BenchOptions } from './options.ts'
import type { Workbench } from './environment.ts'

/** What one variant measured in one round, by name of the measurement. */
export type Measurements = Readonly<Record<string, number>>

export interface Scenario {
  readonly name: string
  /** What is measured, in one sentence. */
  readonly about: string
  readonly needsPostgres: boolean
  readonly needsPeers: boolean
  /** Fewer rounds than asked for would make a poor figure: at least this many, unless quick. */
  readonly minRounds?: number
  /** Not among those that run when none is named. */
  readonly isOnRequest?: boolean
  /** Work done once, before the first round, such as templates that variants copy; returns more notes. */
  prepare?(bench: Workbench, options: BenchOptions): Promise<readonly string[]>
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
  /** Creates what this round of the variant needs and says where it is. */
  arrange(bench: Workbench, options: BenchOptions): Promise<object>
  /** A program of the Debian package of the same name, without which this is left out. */
  readonly tool?: string
  /** A variant that takes longer than this is stuck. */
  readonly deadlineMs?: number
}

export type Unit = 'runs/s' | 'rows/s' | 'lines/s' | 'µs' | 'ms' | 's' | 'MB' | '%' | '×'

/** One line of the table. */
export interface Figure {
  readonly label: string
  readonly variant: string
  readonly measurement: string
  readonly unit: Unit
  readonly targets?: readonly Target[]
}

/** Without rivals a target is about the figure itself, otherwise about its ratio to the best rival. */
export interface Target {
  readonly rivals?: readonly string[]
  /** The rivals' measurement, when it has another name than ours. */
  readonly measurement?: string
  readonly atLeast?: number
  readonly atMost?: number
  /** Judged on the worst round instead of the median. */
  readonly worst?: boolean
}
