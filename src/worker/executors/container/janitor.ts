import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../../core/clock.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemRandom } from '../../clock/system-clock.ts'
import type { Engine } from './engine.ts'

/** Started as source in development and compiled in the package: next to this file either way. */
const MAIN = fileURLToPath(new URL(`./janitor-main${import.meta.url.slice(-3)}`, import.meta.url))

/** Whoever removes containers when this worker no longer can. */
export interface Janitor {
  /** Once it resolves, a container of this name does not survive us. */
  watch(name: string): Promise<void>
  /** It is gone. */
  release(name: string): void
  /** Lets it go; what it still watches is removed. Resolves when it is, or when it gave up. */
  close(): Promise<void>
  /** Waits no more: it goes on by itself. */
  part(): void
}

interface JanitorProcess {
  tell(line: string): void
  end(): Promise<void>
  part(): void
}

/** Its process is started when there is something to watch, and again should it die. */
export function createJanitor(
  engine: Engine,
  lifeline: number,
  { clock, onError }: { readonly clock: Clock; onError(error: unknown): void },
): Janitor {
  const names = new Set<string>()
  const closed = new AbortController()
  let current: Promise<JanitorProcess> | undefined
  let isReplacing = false
  /** Of all its life: one that dies as soon as it is ready must not be started without pause, either. */
  let deaths = 0

  const start = async () => {
    const started = await startProcess(engine, lifeline, () => void replace())
    for (const name of names) started.tell(`+${name}`)
    return started
  }
  const open = () => {
    if (current) return current
    const opening = start()
    current = opening
    // One that could not even be spawned has no end that would be noticed.
    opening.catch(() => {
      if (current === opening) current = undefined
    })
    return opening
  }

  /** What is under way must not wait for the next container to be watched again. */
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
        // One that is being started may have been told of the others already.
        ;(await open()).tell(`+${name}`)
      } catch (error) {
        // Then there will be no container of this name.
        names.delete(name)
        throw error
      }
    },
    release(name) {
      names.delete(name)
      void current?.then(
        ({ tell }) => tell(`-${name}`),
        () => {},
      )
    },
    async close() {
      closed.abort()
      await (await current?.catch(() => undefined))?.end()
    },
    part() {
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
    // Apart from the worker's group: a signal to that group is for the worker alone.
    detached: true,
  })
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  void gone.then(onGone)
  // Without a descriptor left there are no pipes; that it could not be started is told a moment later.
  const [input, output] = (child.stdio ?? []) as unknown as [Writable?, Readable?]
  input?.on('error', () => {})
  const isReady = output ? once(output, 'data').then(() => true) : gone
  if (!(await Promise.race([isReady, gone])) || !input) {
    throw new Error('the process that removes containers could not be started')
  }
  // It must not keep a worker alive that has nothing else to do.
  child.unref()
  return {
    tell: (line) => void input.write(`${line}\n`),
    async end() {
      // Whoever waits for its end must be there when it comes.
      child.ref()
      input.end()
      await gone
    },
    part: () => child.unref(),
  }
}
