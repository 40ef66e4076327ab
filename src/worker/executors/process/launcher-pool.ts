import type { Clock } from '../../../core/clock.ts'
import { exponentialBackoffMs } from '../../../core/exponential-backoff.ts'
import { type Launcher, type LauncherOptions, startLauncher } from '../../launcher/launcher.ts'
import type { Abilities } from '../../launcher/messages.ts'
import { messageOf } from '../../attempts/outcome.ts'

/** A worker's launchers. One that dies is replaced; attempts wait meanwhile. */
export interface LauncherPool {
  /** What every launcher of the pool can do. */
  readonly abilities: Abilities
  /** The launcher with the fewest processes; a promise only while there is none. */
  pick(): Launcher | Promise<Launcher>
  /** Resolves when all launchers and their processes are gone. */
  close(): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** An attempt that waits longer for a launcher should start elsewhere. */
const PATIENCE_MS = 10_000

export async function openLaunchers(
  count: number,
  lifeline: number,
  {
    clock,
    onError,
    onLauncher,
    ...options
  }: LauncherOptions & {
    clock: Clock
    onError(error: unknown): void
    onLauncher?: ((launcher: Pick<Launcher, 'pid' | 'abilities'>) => void) | undefined
  },
): Promise<LauncherPool> {
  const alive = new Set<Launcher>()
  const waiting = new Set<PromiseWithResolvers<Launcher>>()
  let problem = 'none is ready'
  let isClosed = false

  const add = (launcher: Launcher) => {
    if (isClosed) return launcher.close()
    try {
      onLauncher?.(launcher)
    } catch (error) {
      launcher.close()
      throw error
    }
    alive.add(launcher)
    void launcher.ended.then(() => replace(launcher))
    for (const { resolve } of waiting) resolve(launcher)
  }

  const replace = async (ended: Launcher) => {
    alive.delete(ended)
    for (let failures = 1; !isClosed; failures += 1) {
      try {
        return add(await startLauncher(lifeline, sameOptions))
      } catch (error) {
        problem = messageOf(error)
        onError(error)
        await clock.sleep(exponentialBackoffMs(FIRST_PAUSE_MS, failures, LONGEST_PAUSE_MS))
      }
    }
  }

  const wait = async (): Promise<Launcher> => {
    const one = Promise.withResolvers<Launcher>()
    const answered = new AbortController()
    waiting.add(one)
    void clock.sleep(PATIENCE_MS, answered.signal).then(() => {
      one.reject(new Error(`there is no launcher to start it: ${problem}`))
    })
    try {
      return await one.promise
    } finally {
      waiting.delete(one)
      answered.abort('answered')
    }
  }

  const first = await startLauncher(lifeline, options)
  const { kind, containment } = first.abilities
  // The worker advertises the abilities of its launchers: none may be weaker than the first.
  const sameOptions = { ...options, kind, containment }
  const others = Array.from({ length: count - 1 }, () => startLauncher(lifeline, sameOptions))
  for (const launcher of [first, ...(await Promise.all(others))]) add(launcher)

  return {
    abilities: first.abilities,
    pick() {
      let best: Launcher | undefined
      for (const launcher of alive) {
        if (!best || launcher.load < best.load) best = launcher
      }
      return best ?? wait()
    },
    async close() {
      isClosed = true
      for (const { reject } of waiting) reject(new Error('the worker is shutting down'))
      const remaining = [...alive]
      for (const launcher of remaining) launcher.close()
      await Promise.all(remaining.map(({ ended }) => ended))
    },
  }
}
