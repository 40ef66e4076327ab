import type { Clock } from '../../../core/clock.ts'
import type { Launcher } from '../../launcher/launcher.ts'
import { type LauncherPool, openLaunchers } from '../process/launcher-pool.ts'

/**
 * The launcher for the commands of a container engine, started with the first container. It has no
 * containment: the engine's command must see the whole machine.
 */
export class EngineLaunchers {
  readonly #lifeline: number
  readonly #deps: { readonly clock: Clock; onError(error: unknown): void }
  #pool: Promise<LauncherPool> | undefined

  constructor(lifeline: number, deps: { readonly clock: Clock; onError(error: unknown): void }) {
    this.#lifeline = lifeline
    this.#deps = deps
  }

  async pick(): Promise<Launcher> {
    this.#pool ??= this.#open()
    return (await this.#pool).pick()
  }

  async close(): Promise<void> {
    // A launcher that could not be started has nothing to close, and its attempt has reported the
    // error.
    await (await this.#pool?.catch(() => undefined))?.close()
  }

  async #open(): Promise<LauncherPool> {
    const { clock, onError } = this.#deps
    try {
      return await openLaunchers(1, this.#lifeline, {
        kind: 'node',
        containment: 'group',
        clock,
        onError,
      })
    } catch (error) {
      // The next try may find what was missing this time.
      this.#pool = undefined
      throw error
    }
  }
}
