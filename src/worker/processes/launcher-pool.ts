import { type Launcher, type LauncherOptions, startLauncher } from '../launcher/launcher.ts'
import type { Abilities } from '../launcher/messages.ts'

/** A worker's launchers. One that dies is replaced; whoever needs one meanwhile waits. */
export interface LauncherPool {
  /** What all of them can do. */
  readonly abilities: Abilities
  /** The least busy one; a promise only when there is none at the moment. */
  pick(): Launcher | Promise<Launcher>
  /** Resolves when they are gone, and everything they had started. */
  close(): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export async function openLaunchers(
  count: number,
  lifeline: number,
  {
    sleep,
    onError,
    ...options
  }: LauncherOptions & { sleep(ms: number): Promise<void>; onError(error: unknown): void },
): Promise<LauncherPool> {
  const alive = new Set<Launcher>()
  let waiting: ((launcher: Launcher) => void)[] = []
  let isClosed = false

  const add = (launcher: Launcher) => {
    if (isClosed) return launcher.close()
    alive.add(launcher)
    void launcher.gone.then(() => replace(launcher))
    for (const resolve of waiting) resolve(launcher)
    waiting = []
  }

  const replace = async (gone: Launcher) => {
    alive.delete(gone)
    for (
      let pauseMs = FIRST_PAUSE_MS;
      !isClosed;
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    ) {
      try {
        return add(await startLauncher(lifeline, options))
      } catch (error) {
        onError(error)
        await sleep(pauseMs)
      }
    }
  }

  const first = await Promise.all(
    Array.from({ length: count }, () => startLauncher(lifeline, options)),
  )
  for (const launcher of first) add(launcher)

  return {
    abilities: (first[0] as Launcher).abilities,
    pick() {
      let best: Launcher | undefined
      for (const launcher of alive) {
        if (!best || launcher.load < best.load) best = launcher
      }
      return best ?? new Promise((resolve) => waiting.push(resolve))
    },
    async close() {
      isClosed = true
      const last = [...alive]
      for (const launcher of last) launcher.close()
      await Promise.all(last.map(({ gone }) => gone))
    },
  }
}
