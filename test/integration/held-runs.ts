import { closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, Submission } from '../../src/client/index.ts'
import type { RunView } from '../../src/core/wire/protocol.ts'
import { waitFor } from '../support/wait-for.ts'

/** Reports its worker, then waits in a `read` rather than a loop, so that waiting needs no CPU. */
const JOB = `
  echo "$WORKER" > "$DIR/$PUNCTUAL_RUN_ID.worker"
  mkfifo "$DIR/$PUNCTUAL_RUN_ID" && read _ < "$DIR/$PUNCTUAL_RUN_ID"`
const PAGE = 500
const DEADLINE_MS = 60_000

export interface HeldRun extends RunView {
  /** As reported by the process. */
  readonly worker: string
}

/** Runs whose processes end only when released. */
export interface HeldRuns {
  submit(queue: string, more?: Partial<Submission>): Promise<string>
  /** All runs, as the API shows them. */
  list(): Promise<readonly RunView[]>
  /** Releases a run. Its end is not yet reported when this resolves. */
  release(run: string): Promise<void>
  /** Waits until exactly `count` runs are running, none of the released ones among them. */
  settle(count: number, released: readonly string[]): Promise<readonly HeldRun[]>
}

export function holdRuns(client: Client, home: string): HeldRuns {
  const dir = join(home, 'held')
  mkdirSync(dir)
  const list = async () => {
    const { runs, next } = await client.listRuns({ limit: PAGE })
    if (next !== null) throw new Error('more runs than one page holds')
    return runs
  }
  const workerOf = (run: string) => {
    const [name = '', ...rest] = readFileSync(join(dir, `${run}.worker`), 'utf8').split('\n')
    if (rest.length === 0) throw new Error(`${run} has not said yet who started it`)
    return name
  }
  return {
    list,

    async submit(queue, more = {}) {
      const work = { executor: 'shell', run: JOB, env: { DIR: dir } } as const
      const [answer] = await client.submit([{ job: queue, queue, work, ...more }])
      return answer?.id ?? ''
    },

    release: (run) =>
      waitFor(
        () => {
          // Opening fails until the process has created the pipe and reads from it.
          const pipe = openSync(join(dir, run), constants.O_WRONLY | constants.O_NONBLOCK)
          writeSync(pipe, '\n')
          closeSync(pipe)
          return true
        },
        { what: `${run} to wait for its end`, deadlineMs: DEADLINE_MS },
      ).then(() => {}),

    settle: (count, released) =>
      waitFor(
        async () => {
          const running = (await list()).filter(({ state }) => state === 'running')
          const isSettled =
            running.length === count && !running.some(({ id }) => released.includes(id))
          return isSettled ? running.map((run) => ({ ...run, worker: workerOf(run.id) })) : null
        },
        { what: `${count} runs to be under way`, deadlineMs: DEADLINE_MS, intervalMs: 20 },
      ),
  }
}
