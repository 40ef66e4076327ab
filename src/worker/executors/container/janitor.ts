import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../../core/clock.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemRandom } from '../../clock/system-clock.ts'
import type { Engine } from './engine.ts'

/** Source in development, compiled in the package: next to this file in both cases. */
const MAIN = fileURLToPath(new URL(`./janitor-main${import.meta.url.slice(-3)}`, import.meta.url))

/** Removes containers when this worker no longer can. */
export interface Janitor {
  /** Once it resolves, the container of this name does not outlive this worker. */
  watch(name: string): Promise<void>
  /** The container is gone. */
  release(name: string): void
  /**
   * Ends the janitor, which removes what it still watches. Resolves when it has, or when it gave
   * up.
   */
  close(): Promise<void>
  /** Stops waiting for the janitor; it continues by itself. */
  detach(): void
}

interface JanitorProcess {
  send(line: string): void
  end(): Promise<void>
  part(): void
}

interface JanitorDeps {
  readonly clock: Clock
  onError(error: unknown): void
}

/** The process is started when there is something to watch, and started again if it dies. */
export function createJanitor(engine: Engine, lifeline: number, deps: JanitorDeps): Janitor {
  return new RestartedJanitor(engine, lifeline, deps)
}

class RestartedJanitor implements Janitor {
  readonly #engine: Engine
  readonly #lifeline: number
  readonly #deps: JanitorDeps
  readonly #names = new Set<string>()
  readonly #closed = new AbortController()
  #current: Promise<JanitorProcess> | undefined
  #isReplacing = false
  /**
   * Counts all deaths: a janitor that dies as soon as it is ready must not be restarted without
   * pause either.
   */
  #deaths = 0

  constructor(engine: Engine, lifeline: number, deps: JanitorDeps) {
    this.#engine = engine
    this.#lifeline = lifeline
    this.#deps = deps
  }

  async watch(name: string): Promise<void> {
    this.#names.add(name)
    try {
      // A janitor that is being started may have received the other names already.
      ;(await this.#open()).send(`+${name}`)
    } catch (error) {
      // Then no container of this name will be started.
      this.#names.delete(name)
      throw error
    }
  }

  release(name: string): void {
    this.#names.delete(name)
    void this.#current?.then(
      ({ send }) => send(`-${name}`),
      () => {},
    )
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await (await this.#current?.catch(() => undefined))?.end()
  }

  detach(): void {
    void this.#current?.then(
      ({ part }) => part(),
      () => {},
    )
  }

  #open(): Promise<JanitorProcess> {
    if (this.#current) return this.#current
    const opening = this.#start()
    this.#current = opening
    // A process that could not be spawned emits no end.
    opening.catch(() => {
      if (this.#current === opening) this.#current = undefined
    })
    return opening
  }

  async #start(): Promise<JanitorProcess> {
    const started = await startProcess(this.#engine, this.#lifeline, () => void this.#replace())
    for (const name of this.#names) started.send(`+${name}`)
    return started
  }

  /** Restarts at once: running containers must not wait for the next one to be watched. */
  async #replace(): Promise<void> {
    const { clock, onError } = this.#deps
    const { signal } = this.#closed
    this.#current = undefined
    if (this.#isReplacing) return
    this.#isReplacing = true
    while (this.#names.size > 0 && this.#current === undefined && !signal.aborted) {
      this.#deaths += 1
      await clock.sleep(backOffMs(this.#deaths, systemRandom), signal)
      if (this.#names.size > 0 && !signal.aborted) await this.#open().catch(onError)
    }
    this.#isReplacing = false
  }
}

async function startProcess(
  engine: Engine,
  lifeline: number,
  onGone: () => void,
): Promise<JanitorProcess> {
  const child = spawn(process.execPath, ['--max-semi-space-size=1', MAIN, JSON.stringify(engine)], {
    stdio: ['pipe', 'pipe', 'inherit', lifeline],
    env: { PATH: process.env['PATH'] ?? '' },
    // A process group of its own: a signal to the worker's group is for the worker alone.
    detached: true,
  })
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  void exited.then(onGone)
  // Without a free descriptor there are no pipes; the spawn error is emitted a moment later.
  const [input, output] = (child.stdio ?? []) as unknown as [Writable?, Readable?]
  input?.on('error', () => {})
  const isReady = output ? once(output, 'data').then(() => true) : exited
  if (!(await Promise.race([isReady, exited])) || !input) {
    throw new Error('the process that removes containers could not be started')
  }
  // The janitor must not keep an otherwise idle worker alive.
  child.unref()
  return {
    send: (line) => void input.write(`${line}\n`),
    async end() {
      // A caller that waits for its end keeps the process alive until then.
      child.ref()
      input.end()
      await exited
    },
    part: () => child.unref(),
  }
}
