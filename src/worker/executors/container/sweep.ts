import type { Clock } from '../../../core/clock.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemRandom } from '../../clock/system-clock.ts'
import type { Engine } from './engine.ts'
import { removeLeftovers } from './find-engine.ts'

/** The end of what dead workers left here. */
export interface Sweep {
  /** Whether nothing is left: what is given out may be what still runs. */
  isDone(): boolean
  /** Resolves then, or when it is closed. */
  readonly over: Promise<void>
  close(): Promise<void>
}

/** An engine that takes longer is not waited for: other work needs none. */
const PATIENCE_MS = 10_000

/** Resolves when it is done, or when the engine has failed or kept us waiting; then it goes on by itself. */
export async function openSweep(
  engine: Engine,
  deps: {
    readonly clock: Clock
    onError(error: unknown): void
    /** It is done after all, later than others could wait. */
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

  const over = sweep()
  const slow = new AbortController()
  void clock.sleep(PATIENCE_MS, slow.signal).then(() => {
    if (!slow.signal.aborted) postpone(`${engine.command} does not answer`)
  })
  await tried.promise
  slow.abort()
  return {
    isDone: () => isDone,
    over,
    async close() {
      closed.abort()
      await over
    },
  }
}
