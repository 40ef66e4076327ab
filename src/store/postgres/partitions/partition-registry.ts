import { StoreError } from '../../port.ts'
import type { Connection } from '../connection/connection.ts'
import { createWeeks, readWeeks, type KnownPartitions } from './partitions.ts'
import { weekOfId } from './weeks.ts'

const WEEKS_AHEAD = 3
const TRIES = 5

/**
 * The partitions this node knows of. Ids come from clocks, and clocks jump: a run whose week has no
 * partition yet gets one before its tick instead of failing in it.
 */
export class PartitionRegistry {
  readonly #connection: Connection
  #known: KnownPartitions = { weeks: new Set(), atticEnd: 0 }

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The weeks that have partitions, oldest first. */
  get weeks(): number[] {
    return [...this.#known.weeks].toSorted((a, b) => a - b)
  }

  async refresh(): Promise<void> {
    this.#known = await readWeeks(this.#connection)
  }

  /**
   * Makes sure that partitions exist for these ids. A number that is no id is left to its
   * statement, which refuses it.
   */
  async ensure(ids: readonly number[]): Promise<void> {
    if (ids.every((id) => this.#has(weekOfId(id)))) return
    await this.#make(ids.filter((id) => Number.isSafeInteger(id) && id >= 0).map(weekOfId))
  }

  async ensureAhead(thisWeek: number): Promise<void> {
    await this.refresh()
    await this.#make(Array.from({ length: WEEKS_AHEAD + 1 }, (_, ahead) => thisWeek + ahead))
  }

  #has(week: number): boolean {
    return week < this.#known.atticEnd || this.#known.weeks.has(week)
  }

  async #make(weeks: readonly number[]): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const missing = [...new Set(weeks)].filter((week) => !this.#has(week))
      if (missing.length === 0) return
      await createWeeks(this.#connection, missing)
      await this.refresh()
    }
    throw new StoreError('unavailable', 'partitions for new runs could not be created')
  }
}
