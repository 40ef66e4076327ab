import type { Clock } from '../../../core/clock.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemRandom } from '../../clock/system-clock.ts'
import type { Engine } from './engine.ts'
import { removeLeftovers } from './find-engine.ts'

/** The removal of containers that dead workers left on this machine. */
export interface Sweep {
  /** Whether nothing is left. Until then, an assigned run may be one that still runs here. */
  isDone(): boolean
  /** Resolves when the sweep is done or closed. */
  readonly finished: Promise<void>
  close(): Promise<void>
}

/** A worker does not wait longer for the engine: other work needs no containers. */
const PATIENCE_MS = 10_000

/**
 * Resolves when the sweep is done, has failed or takes too long; it then continues in the
 * background.
 */
export async function openSweep(
  engine: Engine,
  deps: {
    readonly clock: Clock
    onError(error: unknown): void
    /** The sweep is done, later than its callers could wait. */
    onLate(): void
  },
): Promise<Sweep> {
  const { clock, onError } = deps
  const closed = new AbortController()
  const tried = Promise.withResolvers<void>()
  let isDone = false
  let isLate = false

  const postpone = (why: string) => {
    if (!isLate && !closed.signal.aborted) {
      onError(new Error(`containers are not offered until those of dead workers are gone: ${why}`))
    }
    isLate = true
    tried.resolve()
  }
  const sweep = async () => {
    for (let failures = 1; ; failures += 1) {
      const problem = await removeLeftovers(engine, closed.signal)
      if (closed.signal.aborted) return
      if (problem === undefined) break
      postpone(problem)
      await clock.sleep(backOffMs(failures, systemRandom), closed.signal)
    }
    isDone = true
    tried.resolve()
    if (isLate) deps.onLate()
  }

  const finished = sweep()
  const slow = new AbortController()
  void clock.sleep(PATIENCE_MS, slow.signal).then(() => {
    if (!slow.signal.aborted) postpone(`${engine.command} does not answer`)
  })
  await tried.promise
  slow.abort()
  return {
    isDone: () => isDone,
    finished,
    async close() {
      closed.abort()
      await finished
    },
  }
}
