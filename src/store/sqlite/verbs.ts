import type { CatalogStore, NodeStore, RunQueries, SweepStore, TickStore, Upkeep } from '../port.ts'

/** A port's verbs as SQLite answers them: at once. */
export type Sync<Port> = {
  readonly [Verb in keyof Port]: Port[Verb] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never
}

/** Housekeeping comes in bites, so that ticks are served in between. */
interface Bites {
  /** True when another bite is left. */
  maintain(): boolean
}

export type Verbs = Sync<
  TickStore & SweepStore & NodeStore & CatalogStore & RunQueries & Omit<Upkeep, 'maintain'>
> &
  Readonly<Bites>

export type VerbName = keyof Verbs
export type QueryVerbs = Sync<RunQueries & Pick<CatalogStore, 'jobNames' | 'projectNames'>>
