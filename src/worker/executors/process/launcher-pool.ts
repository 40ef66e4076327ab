import type { Clock } from '../../../core/clock.ts'
import { exponentialBackoffMs } from '../../../core/exponential-backoff.ts'
import { type Launcher, type LauncherOptions, startLauncher } from '../../launcher/launcher.ts'
import type { Abilities } from '../../launcher/messages.ts'
import { messageOf } from '../../attempts/outcome.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** An attempt that waits longer for a launcher should start elsewhere. */
const PATIENCE_MS = 10_000

interface PoolDeps {
  readonly clock: Clock
  onError(error: unknown): void
  /** Called with each launcher; if this throws, the launcher is not used. */
  readonly onLauncher?: ((launcher: Pick<Launcher, 'pid' | 'abilities'>) => void) | undefined
}

export async function openLaunchers(
  count: number,
  lifeline: number,
  { clock, onError, onLauncher, ...options }: LauncherOptions & PoolDeps,
): Promise<LauncherPool> {
  const first = await startLauncher(lifeline, options)
  const { kind, containment } = first.abilities
  // The worker advertises the abilities of its launchers: none may be weaker than the first.
  const sameOptions = { ...options, kind, containment }
  const startAnother = () => startLauncher(lifeline, sameOptions)
  const pool = new LauncherPool(first.abilities, startAnother, { clock, onError, onLauncher })
  const others = await Promise.all(Array.from({ length: count - 1 }, startAnother))
  for (const launcher of [first, ...others]) pool.add(launcher)
  return pool
}

/** A worker's launchers. One that dies is replaced; attempts wait meanwhile. */
export class LauncherPool {
  /** What every launcher of the pool can do. */
  readonly abilities: Abilities
  readonly #startAnother: () => Promise<Launcher>
  readonly #deps: PoolDeps
  readonly #alive = new Set<Launcher>()
  readonly #waiting = new Set<PromiseWithResolvers<Launcher>>()
  #problem = 'none is ready'
  #isClosed = false

  constructor(abilities: Abilities, startAnother: () => Promise<Launcher>, deps: PoolDeps) {
    this.abilities = abilities
    this.#startAnother = startAnother
    this.#deps = deps
  }

  /** The launcher with the fewest processes; a promise only while there is none. */
  pick(): Launcher | Promise<Launcher> {
    let best: Launcher | undefined
    for (const launcher of this.#alive) {
      if (!best || launcher.load < best.load) best = launcher
    }
    return best ?? this.#wait()
  }

  add(launcher: Launcher): void {
    if (this.#isClosed) return launcher.close()
    try {
      this.#deps.onLauncher?.(launcher)
    } catch (error) {
      launcher.close()
      throw error
    }
    this.#alive.add(launcher)
    void launcher.ended.then(() => this.#replace(launcher))
    for (const { resolve } of this.#waiting) resolve(launcher)
  }

  /** Resolves when all launchers and their processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting) reject(new Error('the worker is shutting down'))
    const remaining = [...this.#alive]
    for (const launcher of remaining) launcher.close()
    await Promise.all(remaining.map(({ ended }) => ended))
  }

  async #replace(ended: Launcher): Promise<void> {
    const { clock, onError } = this.#deps
    this.#alive.delete(ended)
    for (let failures = 1; !this.#isClosed; failures += 1) {
      try {
        return this.add(await this.#startAnother())
      } catch (error) {
        this.#problem = messageOf(error)
        onError(error)
        await clock.sleep(exponentialBackoffMs(FIRST_PAUSE_MS, failures, LONGEST_PAUSE_MS))
      }
    }
  }

  async #wait(): Promise<Launcher> {
    const one = Promise.withResolvers<Launcher>()
    const answered = new AbortController()
    this.#waiting.add(one)
    void this.#deps.clock.sleep(PATIENCE_MS, answered.signal).then(() => {
      one.reject(new Error(`there is no launcher to start it: ${this.#problem}`))
    })
    try {
      return await one.promise
    } finally {
      this.#waiting.delete(one)
      answered.abort('answered')
    }
  }
}
