import type { Clock } from '../../core/clock.ts'
import type { Assignment } from '../../core/protocol.ts'
import { PROCESS_EXECUTORS, type Work } from '../../core/work.ts'
import type { AttemptHooks, UnderWay } from '../under-way.ts'
import { openLifelineFile } from '../launcher/lifeline.ts'
import { machineMonoNs } from '../system-clock.ts'
import { createFileRoom } from './attempt-files.ts'
import { letThrough } from './command.ts'
import { openLaunchers } from './launcher-pool.ts'
import { ProcessAttempt, type ProcessDeps } from './process-attempt.ts'
import { createShelf, type Shelf } from './shelf.ts'

export interface ProcessOptions {
  /** Processes that start the processes. */
  readonly launchers?: number | undefined
  /** Where processes start that do not say where. */
  readonly directory?: string | undefined
  /** Names of variables of this worker's own environment that its processes may see. */
  readonly passEnv?: readonly string[] | undefined
  /** Bytes of output kept of one attempt. */
  readonly outputLimitBytes?: number | undefined
  /** For people who watch the worker. */
  readonly echo?: ProcessDeps['echo']
}

/** Everything a worker needs to run processes. */
export interface Processes {
  readonly executors: readonly string[]
  readonly shelf: Shelf
  begin(assignment: Assignment, work: Work, hooks: AttemptHooks): UnderWay
  /** Everything it started may live this much longer. */
  renew(leftMs: number): void
  /** For a thread that renews it by itself. */
  readonly lifeline: number
  /** Ends what is still there; resolves when it is gone. */
  close(): Promise<void>
}

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
const MS = 1_000_000

export async function openProcesses(
  options: ProcessOptions,
  { clock, onError }: { clock: Pick<Clock, 'sleep'>; onError(error: unknown): void },
): Promise<Processes> {
  const room = createFileRoom()
  const shelf = createShelf()
  const lifeline = openLifelineFile()
  const launchers = await openLaunchers(options.launchers ?? 1, lifeline.fd, {
    sleep: (ms) => clock.sleep(ms),
    onError,
  })

  const deps: ProcessDeps = {
    room,
    environment: letThrough(process.env, options.passEnv),
    directory: options.directory ?? process.cwd(),
    outputLimitBytes: options.outputLimitBytes ?? OUTPUT_LIMIT_BYTES,
    containment: 'group',
    launcher: launchers.pick,
    onOutput: shelf.add,
    onSilent: shelf.remove,
    echo: options.echo,
  }

  return {
    executors: PROCESS_EXECUTORS,
    shelf,
    lifeline: lifeline.fd,
    begin: (assignment, work, hooks) => new ProcessAttempt(assignment, work, hooks, deps),
    renew(leftMs) {
      lifeline.renew(machineMonoNs() + BigInt(Math.max(0, Math.floor(leftMs * MS))))
    },
    async close() {
      await launchers.close()
      lifeline.close()
      room.close()
    },
  }
}
