import { type Launcher, startLauncher } from '../launcher/launcher.ts'

/** A worker's launchers. One that dies is replaced; whoever needs one meanwhile waits. */
export interface LauncherPool {
  /** The least busy one; a promise only when there is none at the moment. */
  pick(): Launcher | Promise<Launcher>
  renew(untilMono: bigint): void
  close(): void
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export async function openLaunchers(
  count: number,
  { sleep, onError }: { sleep(ms: number): Promise<void>; onError(error: unknown): void },
): Promise<LauncherPool> {
  const alive = new Set<Launcher>()
  let waiting: ((launcher: Launcher) => void)[] = []
  let until = 0n
  let isClosed = false

  const add = (launcher: Launcher) => {
    if (isClosed) return launcher.close()
    launcher.renew(until)
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
        return add(await startLauncher())
      } catch (error) {
        onError(error)
        await sleep(pauseMs)
      }
    }
  }

  for (const launcher of await Promise.all(Array.from({ length: count }, startLauncher))) {
    add(launcher)
  }

  return {
    pick() {
      let best: Launcher | undefined
      for (const launcher of alive) {
        if (!best || launcher.load < best.load) best = launcher
      }
      return best ?? new Promise((resolve) => waiting.push(resolve))
    },
    renew(untilMono) {
      until = untilMono
      for (const launcher of alive) launcher.renew(untilMono)
    },
    close() {
      isClosed = true
      for (const launcher of alive) launcher.close()
    },
  }
}
