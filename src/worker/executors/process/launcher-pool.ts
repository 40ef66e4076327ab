import type { Clock } from '../../../core/clock.ts'
import { type Launcher, type LauncherOptions, startLauncher } from '../../launcher/launcher.ts'
import type { Abilities } from '../../launcher/messages.ts'
import { messageOf } from '../../attempts/outcome.ts'

/** A worker's launchers. One that dies is replaced; whoever needs one meanwhile waits. */
export interface LauncherPool {
  /** What all of them can do. */
  readonly abilities: Abilities
  /** The least busy one; a promise only when there is none at the moment, and not for long. */
  pick(): Launcher | Promise<Launcher>
  /** Resolves when they are gone, and everything they had started. */
  close(): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Who waits longer for a launcher could as well be started elsewhere. */
const PATIENCE_MS = 10_000

export async function openLaunchers(
  count: number,
  lifeline: number,
  { clock, onError, ...options }: LauncherOptions & { clock: Clock; onError(error: unknown): void },
): Promise<LauncherPool> {
  const alive = new Set<Launcher>()
  const waiting = new Set<PromiseWithResolvers<Launcher>>()
  let problem = 'none is ready'
  let isClosed = false

  const add = (launcher: Launcher) => {
    if (isClosed) return launcher.close()
    alive.add(launcher)
    void launcher.gone.then(() => replace(launcher))
    for (const { resolve } of waiting) resolve(launcher)
  }

  const replace = async (gone: Launcher) => {
    alive.delete(gone)
    for (
      let pauseMs = FIRST_PAUSE_MS;
      !isClosed;
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    ) {
      try {
        return add(await startLauncher(lifeline, alike))
      } catch (error) {
        problem = messageOf(error)
        onError(error)
        await clock.sleep(pauseMs)
      }
    }
  }

  const wait = async (): Promise<Launcher> => {
    const one = Promise.withResolvers<Launcher>()
    const over = new AbortController()
    waiting.add(one)
    void clock.sleep(PATIENCE_MS, over.signal).then(() => {
      one.reject(new Error(`there is no launcher to start it: ${problem}`))
    })
    try {
      return await one.promise
    } finally {
      waiting.delete(one)
      over.abort('over')
    }
  }

  const first = await startLauncher(lifeline, options)
  const { kind, containment } = first.abilities
  // The worker tells others what its launchers can do: none may be less than the first.
  const alike = { ...options, kind, containment }
  const others = Array.from({ length: count - 1 }, () => startLauncher(lifeline, alike))
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
      const last = [...alive]
      for (const launcher of last) launcher.close()
      await Promise.all(last.map(({ gone }) => gone))
    },
  }
}
