import { formatDuration, parseDuration } from '../text/duration.ts'
import type { WorkflowWork } from './workflow-work.ts'
import { LIMITS, USER_NAME } from '../limits.ts'
import { isPunctualVariable, VARIABLE_NAME } from './variable.ts'
import { type ContainerInput, type ContainerWork, readContainer } from './container-work.ts'
import { type HttpInput, type HttpWork, readHttp } from './http-work.ts'
import { type LimitsInput, readLimits, type WorkLimits } from './work-limits.ts'
import {
  checkArgument,
  checkCommandLine,
  checkDirectory,
  checkProgram,
  checkCommand,
  checkText,
  workFieldError,
} from './check-text.ts'

/**
 * The work that a run executes, as stored and sent to a worker. A run without work calls a function:
 * `handler:<task>`.
 */
export type Work =
  | ProcessWork
  | (HttpWork & Without<keyof ProcessSettings>)
  | (ContainerWork & Without<Exclude<keyof ProcessSettings, keyof StartableWork>>)
  | (WorkflowWork & Without<keyof ProcessSettings>)

/** Lets callers read these settings of any kind of work. */
type Without<Name extends string> = { readonly [name in Name]?: undefined }

/** Work that runs as a process on the worker's host. */
export type ProcessWork = ShellWork | ArgvWork | ScriptWork

/** Settings of all work that is started and prints output. */
export interface StartableWork {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Time between SIGTERM and SIGKILL. */
  readonly kill_grace_ms?: number
  readonly limits?: WorkLimits
}

interface ProcessSettings extends StartableWork {
  readonly cwd?: string
  /** Octal digits. */
  readonly umask?: string
  /** A user of the worker's host; the worker must allow it. */
  readonly run_as?: string
}

export interface ShellWork extends ProcessSettings {
  readonly executor: 'shell'
  readonly run: string
  readonly shell?: string
}

export interface ArgvWork extends ProcessSettings {
  readonly executor: 'argv'
  readonly argv: readonly string[]
}

export interface ScriptWork extends ProcessSettings {
  readonly executor: 'script'
  readonly script: string
  /** The program that reads the script, and its arguments. */
  readonly interpreter: readonly string[]
}

export const DEFAULT_SHELL = '/bin/sh'
export const PROCESS_EXECUTORS = ['shell', 'argv', 'script'] as const

/** All executors besides functions of a worker. */
export const EXECUTORS = [...PROCESS_EXECUTORS, 'http', 'container'] as const

export function isProcess(executor: string): boolean {
  return PROCESS_EXECUTORS.some((known) => known === executor)
}

export function isProcessWork(work: Work): work is ProcessWork {
  return isProcess(work.executor)
}

/** Work as users write it: one of `KINDS` and its options, next to other fields. */
export interface WorkInput {
  readonly run?: string | undefined
  readonly shell?: string | undefined
  readonly argv?: readonly string[] | undefined
  readonly script?: string | undefined
  readonly interpreter?: string | readonly string[] | undefined
  readonly http?: HttpInput | undefined
  readonly container?: ContainerInput | undefined
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  readonly umask?: string | undefined
  readonly kill_grace?: string | undefined
  readonly limits?: LimitsInput | undefined
  readonly run_as?: string | undefined
}

/** Reads work; `undefined` if there is nothing to start. */
export function readWork(input: WorkInput, at = ''): Work | undefined {
  const [kind, second] = KINDS.filter((name) => input[name] !== undefined)
  if (second) throw workFieldError(`${at}${second}`, `cannot be used with ${at}${kind}: choose one`)
  for (const { field, homes } of BELONGS_TO) {
    if (input[field] === undefined || homes.some((home) => home === kind)) continue
    throw workFieldError(`${at}${field}`, `needs ${homes.join(' or ')}, which is missing`)
  }
  if (kind === undefined) return undefined
  if (input.http) return readHttp(input.http, `${at}http.`)
  const work = { ...whatOf(kind, input, at), ...processSettingsOf(input, at) }
  checkSize(work, at)
  // Fields of other kinds were rejected above.
  return work as Work
}

/** The stored form. Only workers parse it, so the order of fields does not matter. */
export function encodeWork(work: Work): string {
  return JSON.stringify(work)
}

const COMMANDS = ['run', 'argv', 'script'] as const
const KINDS = [...COMMANDS, 'http', 'container'] as const

/** Fields that need one of the others. */
const BELONGS_TO = [
  { field: 'shell', homes: ['run'] },
  { field: 'interpreter', homes: ['script'] },
  { field: 'cwd', homes: COMMANDS },
  { field: 'env', homes: [...COMMANDS, 'container'] },
  { field: 'stdin', homes: [...COMMANDS, 'container'] },
  { field: 'umask', homes: COMMANDS },
  { field: 'kill_grace', homes: [...COMMANDS, 'container'] },
  { field: 'limits', homes: [...COMMANDS, 'container'] },
  { field: 'run_as', homes: COMMANDS },
] as const

export type StartedWork = ProcessWork | ContainerWork

function whatOf(kind: (typeof KINDS)[number], input: WorkInput, at: string): StartedWork {
  switch (kind) {
    case 'run': {
      const run = checkArgument(checkCommand(input.run as string, `${at}run`), `${at}run`)
      const { shell } = input
      return {
        executor: 'shell',
        run,
        ...(shell === undefined ? {} : { shell: checkProgram(shell, `${at}shell`) }),
      }
    }
    case 'argv':
      return {
        executor: 'argv',
        argv: checkCommandLine(input.argv as readonly string[], `${at}argv`),
      }
    case 'script': {
      const { interpreter = DEFAULT_SHELL } = input
      const words = typeof interpreter === 'string' ? [interpreter] : interpreter
      return {
        executor: 'script',
        script: checkText(checkCommand(input.script as string, `${at}script`), `${at}script`),
        interpreter: checkCommandLine(words, `${at}interpreter`),
      }
    }
    default:
      return readContainer(input.container as ContainerInput, `${at}container.`, input.env)
  }
}

function processSettingsOf(input: WorkInput, at: string): ProcessSettings {
  const { cwd, env, stdin, umask, kill_grace: grace, run_as: user } = input
  const limits = input.limits && readLimits(input.limits, `${at}limits`)
  if (limits?.tmp_bytes !== undefined && env?.['TMPDIR'] !== undefined) {
    const field = `${at}limits.tmp`
    throw workFieldError(
      field,
      'limits the directory that Punctual creates, but env.TMPDIR names another one',
    )
  }
  return {
    ...(cwd === undefined ? {} : { cwd: checkDirectory(cwd, `${at}cwd`) }),
    ...(env === undefined || Object.keys(env).length === 0
      ? {}
      : { env: environment(env, `${at}env`) }),
    ...(stdin === undefined ? {} : { stdin: checkText(stdin, `${at}stdin`) }),
    ...(umask === undefined ? {} : { umask: octal(umask, `${at}umask`) }),
    ...(grace === undefined ? {} : { kill_grace_ms: killGrace(grace, `${at}kill_grace`) }),
    ...(limits === undefined ? {} : { limits }),
    ...(user === undefined ? {} : { run_as: userName(user, `${at}run_as`) }),
  }
}

function environment(env: Readonly<Record<string, string>>, field: string) {
  for (const [name, value] of Object.entries(env)) {
    const at = `${field}.${name}`
    if (!VARIABLE_NAME.test(name)) throw workFieldError(at, 'is not a valid variable name')
    if (isPunctualVariable(name)) throw workFieldError(at, 'is set by Punctual itself')
    checkArgument(value, at)
  }
  return env
}

function killGrace(text: string, field: string): number {
  const ms = parseDuration(text, field)
  if (ms <= LIMITS.killGraceMs) return ms
  const max = formatDuration(LIMITS.killGraceMs)
  throw workFieldError(
    field,
    `is longer than ${max}: use timeout for a command that needs more time`,
  )
}

function userName(name: string, field: string): string {
  if (USER_NAME.test(name)) return name
  throw workFieldError(
    field,
    'must be the name of a user: at most 32 of A-Z a-z 0-9 . _ -, no digit first',
  )
}

const OCTAL = /^0?[0-7]{3}$/

function octal(digits: string, field: string): string {
  if (OCTAL.test(digits)) return digits
  throw workFieldError(field, 'must be three or four octal digits, such as 027')
}

/** Arguments and environment are passed to a new process in one block of limited size. */
export function checkSize(work: StartedWork, at: string): void {
  const words = wordsOf(work)
  let bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  for (const [name, value] of Object.entries(work.env ?? {})) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  }
  if (bytes <= LIMITS.argumentsBytes) return
  const field = `${at}${work.executor === 'argv' ? 'argv' : work.env ? 'env' : LONG_FIELD[work.executor]}`
  const max = LIMITS.argumentsBytes
  throw workFieldError(field, `makes arguments and environment ${bytes} bytes; at most ${max} fit`)
}

/** The part of each kind of work that may be long. */
const LONG_FIELD = { shell: 'run', script: 'interpreter', container: 'container.command' } as const

function wordsOf(work: StartedWork): readonly string[] {
  switch (work.executor) {
    case 'argv':
      return work.argv
    case 'shell':
      return [work.shell ?? DEFAULT_SHELL, work.run]
    case 'script':
      return work.interpreter
    case 'container':
      return [...(work.entrypoint ?? []), ...(work.command ?? [])]
  }
}
