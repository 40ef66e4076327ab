import type { HttpWork } from '../../core/work/http-work.ts'
import type { Assignment } from '../../core/wire/protocol.ts'
import { PROCESS_EXECUTORS, type Work } from '../../core/work/work.ts'
import { type AllowList, NOTHING_ALLOWED } from '../../outbound/allow-list.ts'
import { createOutbound } from '../../outbound/outbound.ts'
import {
  type Opening,
  openProcesses,
  type Processes,
  type ProcessOptions,
} from './process/processes.ts'
import { createShelf, type Shelf } from '../output/output-buffer.ts'
import type { AttemptHooks, UnderWay } from '../attempts/running-attempt.ts'
import { type ContainerOptions, openContainers } from './container/containers.ts'
import { HttpAttempt } from './http/http-attempt.ts'

/** Makes the attempt for work of one kind; nothing has started yet. */
type BeginWork<Kind extends Work = Work> = (
  assignment: Assignment,
  work: Kind,
  hooks: AttemptHooks,
) => UnderWay

export interface ExecutorOptions {
  /** Runs shell commands, programs and scripts. */
  readonly processes?: ProcessOptions | undefined
  /** Sends requests. */
  readonly http?: HttpOptions | undefined
  /** Runs containers; needs processes. */
  readonly containers?: ContainerOptions | undefined
}

export interface HttpOptions {
  /** Addresses that may be called beyond the public internet. */
  readonly allow?: AllowList | undefined
}

/** Everything a worker does besides calling its own functions, by the name of the executor. */
export interface Executors {
  /** What the worker says of them when it registers. */
  readonly introduction: Processes['introduction'] | undefined
  /** Of these, what it can do now; whoever asks is told through `onOffer` when there is more. */
  offered(names: readonly string[]): readonly string[]
  /** Resolves when it can do all it ever will. */
  readonly complete: Promise<void>
  /** What its attempts have printed. */
  readonly shelf: Shelf
  begin(assignment: Assignment, work: Work, hooks: AttemptHooks): UnderWay | undefined
  /** Everything it started may live this much longer. */
  renew(leftMs: number): void
  /** For a thread that renews it by itself; absent if nothing could outlive the worker. */
  readonly lifeline: number | undefined
  /** Ends what is still there; resolves when it is gone. */
  close(): Promise<void>
}

export async function openExecutors(
  options: ExecutorOptions,
  opening: Opening & {
    /** There is more to offer than before. */
    onOffer(): void
    onRemoved(container: string): void
  },
): Promise<Executors> {
  const { clock, onError } = opening
  const byName = new Map<string, BeginWork>()
  const processes = options.processes && (await openProcesses(options.processes, opening))
  const shelf = processes?.shelf ?? createShelf()
  const echo = options.processes?.echo
  if (processes) {
    for (const name of PROCESS_EXECUTORS) byName.set(name, processes.begin as BeginWork)
  }
  if (options.http) {
    const { allow = NOTHING_ALLOWED } = options.http
    const deps = { shelf, echo, outbound: createOutbound({ clock, allow }) }
    const begin: BeginWork<HttpWork> = (assignment, work, hooks) =>
      new HttpAttempt(assignment, work, hooks, deps)
    byName.set('http', begin as BeginWork)
  }
  const containers =
    options.containers &&
    processes &&
    (await openContainers(
      { limits: options.processes?.limits, ...options.containers },
      {
        ...{ printing: { shelf, echo }, lifeline: processes.lifeline, clock, onError },
        onLate: opening.onOffer,
        onRemoved: opening.onRemoved,
      },
    ))
  if (containers) byName.set('container', containers.begin as BeginWork)
  return {
    introduction: processes?.introduction,
    offered: (names) =>
      containers?.sweep.isDone() === false ? names.filter((name) => name !== 'container') : names,
    complete: containers?.sweep.over ?? Promise.resolve(),
    shelf,
    begin: (assignment, work, hooks) => byName.get(work.executor)?.(assignment, work, hooks),
    renew: (leftMs) => processes?.renew(leftMs),
    lifeline: processes?.lifeline,
    async close() {
      await containers?.close()
      await processes?.close()
    },
  }
}
