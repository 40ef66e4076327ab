import type { Assignment } from '../../core/wire/protocol.ts'
import type { Work } from '../../core/work/work.ts'
import { type AllowList, NOTHING_ALLOWED } from '../../outbound/allow-list.ts'
import { createOutbound } from '../../outbound/outbound.ts'
import {
  type Opening,
  openProcesses,
  type Processes,
  type ProcessOptions,
} from './process/processes.ts'
import { createOutputBuffer, type OutputBuffer } from '../output/output-buffer.ts'
import type { AttemptHooks, RunningAttempt } from '../attempts/running-attempt.ts'
import { type ContainerOptions, openContainers } from './container/containers.ts'
import { HttpAttempt } from './http/http-attempt.ts'

export interface ExecutorOptions {
  /** Runs shell commands, programs and scripts. */
  readonly processes?: ProcessOptions | undefined
  /** Sends HTTP requests. */
  readonly http?: HttpOptions | undefined
  /** Runs containers; requires processes. */
  readonly containers?: ContainerOptions | undefined
}

export interface HttpOptions {
  /** Addresses outside the public internet that may be called. */
  readonly allow?: AllowList | undefined
}

/** Everything a worker runs besides its own functions, as work of one of the executors. */
export interface Executors {
  /** What the worker advertises about its processes when it registers. */
  readonly advertised: Processes['advertised'] | undefined
  /** The executors of these that work now; `onOffer` is called when more become available. */
  offered(names: readonly string[]): readonly string[]
  /** Resolves when no more executors will become available. */
  readonly complete: Promise<void>
  /** The output of its attempts. */
  readonly outputBuffer: OutputBuffer
  /** Creates the attempt without starting it; undefined if this worker cannot run such work. */
  begin(assignment: Assignment, work: Work, hooks: AttemptHooks): RunningAttempt | undefined
  /** Extends the time that started processes may live. */
  renew(leftMs: number): void
  /**
   * The lifeline file, for the heartbeat thread to renew; absent if no process could outlive the
   * worker.
   */
  readonly lifeline: number | undefined
  /** Ends what still runs; resolves when it is gone. */
  close(): Promise<void>
}

export async function openExecutors(
  options: ExecutorOptions,
  opening: Opening & {
    /** More executors are available than before. */
    onOffer(): void
    onRemoved(container: string): void
  },
): Promise<Executors> {
  const { clock, onError } = opening
  const processes = options.processes && (await openProcesses(options.processes, opening))
  const outputBuffer = processes?.outputBuffer ?? createOutputBuffer()
  const echo = options.processes?.echo
  const http = options.http && {
    outputBuffer,
    echo,
    outbound: createOutbound({ clock, allow: options.http.allow ?? NOTHING_ALLOWED }),
  }
  const containers =
    options.containers &&
    processes &&
    (await openContainers(
      { limits: options.processes?.limits, ...options.containers },
      {
        printing: { outputBuffer, echo },
        lifeline: processes.lifeline,
        clock,
        onError,
        onLate: opening.onOffer,
        onRemoved: opening.onRemoved,
      },
    ))
  return {
    advertised: processes?.advertised,
    offered: (names) =>
      containers?.sweep.isDone() === false ? names.filter((name) => name !== 'container') : names,
    complete: containers?.sweep.finished ?? Promise.resolve(),
    outputBuffer,
    begin(assignment, work, hooks) {
      switch (work.executor) {
        case 'shell':
        case 'argv':
        case 'script':
          return processes?.begin(assignment, work, hooks)
        case 'http':
          return http && new HttpAttempt(assignment, work, hooks, http)
        case 'container':
          return containers?.begin(assignment, work, hooks)
        default:
          return undefined
      }
    },
    renew: (leftMs) => processes?.renew(leftMs),
    lifeline: processes?.lifeline,
    async close() {
      await containers?.close()
      await processes?.close()
    },
  }
}
