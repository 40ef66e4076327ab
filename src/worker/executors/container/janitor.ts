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

/** The process is started when there is something to watch, and started again if it dies. */
export function createJanitor(
  engine: Engine,
  lifeline: number,
  { clock, onError }: { readonly clock: Clock; onError(error: unknown): void },
): Janitor {
  const names = new Set<string>()
  const closed = new AbortController()
  let current: Promise<JanitorProcess> | undefined
  let isReplacing = false
  /**
   * Counts all deaths: a janitor that dies as soon as it is ready must not be restarted without
   * pause either.
   */
  let deaths = 0

  const start = async () => {
    const started = await startProcess(engine, lifeline, () => void replace())
    for (const name of names) started.send(`+${name}`)
    return started
  }
  const open = () => {
    if (current) return current
    const opening = start()
    current = opening
    // A process that could not be spawned emits no end.
    opening.catch(() => {
      if (current === opening) current = undefined
    })
    return opening
  }

  /** Restarts at once: running containers must not wait for the next one to be watched. */
  const replace = async () => {
    current = undefined
    if (isReplacing) return
    isReplacing = true
    while (names.size > 0 && current === undefined && !closed.signal.aborted) {
      deaths += 1
      await clock.sleep(backOffMs(deaths, systemRandom), closed.signal)
      if (names.size > 0 && !closed.signal.aborted) await open().catch(onError)
    }
    isReplacing = false
  }

  return {
    async watch(name) {
      names.add(name)
      try {
        // A janitor that is being started may have received the other names already.
        ;(await open()).send(`+${name}`)
      } catch (error) {
        // Then no container of this name will be started.
        names.delete(name)
        throw error
      }
    },
    release(name) {
      names.delete(name)
      void current?.then(
        ({ send }) => send(`-${name}`),
        () => {},
      )
    },
    async close() {
      closed.abort()
      await (await current?.catch(() => undefined))?.end()
    },
    detach() {
      void current?.then(
        ({ part }) => part(),
        () => {},
      )
    },
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
