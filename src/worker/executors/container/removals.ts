import type { Clock } from '../../../core/clock.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemRandom } from '../../clock/system-clock.ts'
import { ask, type Engine, isRemoved, removalOf } from './engine.ts'

/** Containers on their way out. */
export interface Removals {
  /** False if it was tried in vain; then that goes on until `onLate`. */
  remove(name: string): Promise<boolean>
  /** Gives up; what is still there is somebody else's to remove. */
  close(): Promise<void>
}

const AT_ONCE = 3

export function createRemovals(
  engine: Engine,
  deps: {
    readonly clock: Clock
    onError(error: unknown): void
    /** Gone after all. */
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
  const goOn = async (name: string) => {
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
        const told = `the container ${name} could not be removed and may still run`
        onError(new Error(`${told}; it is tried until it is gone: ${complaint}`))
        const going = goOn(name).finally(() => late.delete(going))
        late.add(going)
        return false
      }
    },
    async close() {
      closed.abort()
      await Promise.all(late)
    },
  }
}
