import type { Clock } from '../../../core/clock.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemRandom } from '../../clock/system-clock.ts'
import { ask, type Engine, isRemoved, removalOf } from './engine.ts'

/** The removal of containers. */
export interface Removals {
  /**
   * Removes a container, running or not. Resolves to false if the first tries failed; retries then continue in the background until
   * `onLate`.
   */
  remove(name: string): Promise<boolean>
  /** Gives up; the janitor or the next worker removes the rest. */
  close(): Promise<void>
}

const AT_ONCE = 3

export function createRemovals(
  engine: Engine,
  deps: {
    readonly clock: Clock
    onError(error: unknown): void
    /** A late retry has removed the container. */
    onLate(name: string): void
  },
): Removals {
  const { clock, onError } = deps
  const closed = new AbortController()
  const late = new Set<Promise<void>>()

  const remove = async (name: string): Promise<string | undefined> => {
    const { ok, complaint } = await ask(engine, removalOf(engine, [name]))
    return isRemoved(ok, complaint) ? undefined : complaint
  }
  const retryUntilRemoved = async (name: string) => {
    for (let failures = 1; !closed.signal.aborted; failures += 1) {
      await clock.sleep(backOffMs(failures, systemRandom), closed.signal)
      if (closed.signal.aborted || (await remove(name)) !== undefined) continue
      return deps.onLate(name)
    }
  }

  return {
    async remove(name) {
      for (let tries = 1; ; tries += 1) {
        const complaint = await remove(name)
        if (complaint === undefined) return true
        if (tries < AT_ONCE) continue
        const reported = `the container ${name} could not be removed and may still run`
        onError(new Error(`${reported}; the removal is retried until it succeeds: ${complaint}`))
        const retries = retryUntilRemoved(name).finally(() => late.delete(retries))
        late.add(retries)
        return false
      }
    },
    async close() {
      closed.abort()
      await Promise.all(late)
    },
  }
}
