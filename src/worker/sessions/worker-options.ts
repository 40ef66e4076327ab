import type { Clock, Random } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { type Labels, USER_LABEL } from '../../core/worker/labels.ts'
import { LABEL_VALUE, LIMITS, NAME } from '../../core/limits.ts'
import type { WorkerClient } from '../../core/wire/protocol.ts'
import { SECRETS_FEATURE } from '../../core/secrets/secret.ts'
import { PROCESS_EXECUTORS } from '../../core/work/work.ts'
import { refuseMovable } from '../executors/container/movable-mounts.ts'
import type { ExecutorOptions } from '../executors/executors.ts'
import type { Handler } from '../attempts/handler.ts'
import { systemClock, systemRandom } from '../clock/system-clock.ts'
import {
  createWorkerReporter,
  type ReporterFields,
  type WorkerReporter,
} from '../events/worker-reporter.ts'

/**
 * The maximum that servers accept: a poll must end well before the request that carries it times
 * out.
 */
const LONGEST_POLL_MS = 20_000

export interface WorkerOptions extends ExecutorOptions {
  readonly client: WorkerClient
  /** The worker's name in lists. Need not be unique. */
  readonly name: string
  /** The code of each task this worker runs, by name. */
  readonly handlers?: Readonly<Record<string, Handler>> | undefined
  /** The executors to use, out of those that the options below enable; all of them if absent. */
  readonly executors?: readonly string[] | undefined
  /** In order of preference: a later queue is served while the earlier ones are empty. */
  readonly queues?: readonly string[] | undefined
  readonly labels?: Labels | undefined
  /** Projects to serve; default: the client's own. */
  readonly projects?: readonly string[] | undefined
  /** How much may run at once, in weights; an ordinary run weighs 1. */
  readonly slots?: number | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /** Aborting it stops the worker at once and gives back its attempts. */
  readonly signal?: AbortSignal | undefined
  /** Called with every error, whether or not the worker recovers from it. */
  readonly onError?: ((error: unknown) => unknown) | undefined
  readonly log?: ((event: string, fields?: ReporterFields) => unknown) | undefined
  /** How long an idle worker lets the server hold an answer. */
  readonly pollMs?: number | undefined
}

/** Checked options with defaults filled in. */
export interface WorkerSettings {
  readonly client: WorkerClient
  readonly offer: {
    readonly name: string
    readonly projects?: readonly string[]
    readonly queues: readonly string[]
    readonly labels: Labels
    readonly executors: readonly string[]
    readonly features: readonly string[]
    readonly slots: number
  }
  readonly handlers: ReadonlyMap<string, Handler>
  /** Absent if the worker runs only functions. */
  readonly executors: ExecutorOptions | undefined
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal | undefined
  readonly reporter: WorkerReporter
  readonly pollMs: number
}

export function readOptions(options: WorkerOptions): WorkerSettings {
  const { name, projects, queues = ['default'], labels = {}, slots = 10, pollMs = 10_000 } = options
  const handlers = new Map(Object.entries(options.handlers ?? {}))
  const possible = [
    ...(options.processes ? PROCESS_EXECUTORS : []),
    ...(options.http ? ['http'] : []),
    ...(options.containers ? ['container'] : []),
  ]
  if (options.containers && !options.processes) throw wrong('containers', 'need processes')
  refuseMovable(options.containers?.allowMounts ?? [])
  const executors = [
    ...restrict(possible, options.executors),
    ...Array.from(handlers.keys(), (task) => `handler:${task}`),
  ]
  requireCount('slots', slots, 1, LIMITS.slots)
  requireCount('pollMs', pollMs, 1, LONGEST_POLL_MS)
  requireNames('name', [name], NAME, 1)
  requireNames('handlers', [...handlers.keys()], NAME, LIMITS.executors)
  requireNames('queues', queues, NAME, LIMITS.queues)
  requireNames('labels', Object.keys(labels), NAME, LIMITS.labels)
  requireNames('labels', Object.values(labels), LABEL_VALUE, LIMITS.labels)
  if (Object.hasOwn(labels, USER_LABEL)) {
    throw wrong(`labels.${USER_LABEL}`, 'is no label: allow users instead')
  }
  requireNames('projects', projects ?? [], NAME, LIMITS.queues)
  if (executors.length === 0) throw wrong('handlers', 'names no task, and nothing else is offered')
  if (queues.length === 0) throw wrong('queues', 'names no queue')
  return {
    client: options.client,
    offer: {
      name,
      queues,
      labels,
      executors,
      slots,
      features: [SECRETS_FEATURE],
      ...(projects && { projects }),
    },
    handlers,
    executors: possible.length === 0 ? undefined : options,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    signal: options.signal,
    reporter: createWorkerReporter(options),
    pollMs,
  }
}

function restrict(possible: readonly string[], wanted: readonly string[] | undefined) {
  if (!wanted) return possible
  const unknown = wanted.find((name) => !possible.includes(name))
  if (unknown === undefined) return wanted
  throw wrong('executors', `has ${unknown}, but this worker can offer ${possible.join(', ')}`)
}

function requireCount(field: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw wrong(field, `must be a whole number from ${min} to ${max}`)
}

function requireNames(field: string, names: readonly string[], shape: RegExp, max: number): void {
  if (names.length > max) throw wrong(field, `has more than ${max} entries`)
  const bad = names.find((name) => !shape.test(name))
  if (bad !== undefined)
    throw wrong(field, `has an entry that is not a name: ${JSON.stringify(bad)}`)
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('config_invalid', `${field} ${what}`, { field })
}
