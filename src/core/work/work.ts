import { formatDuration, parseDuration } from '../text/duration.ts'
import type { FlowWork } from './workflow-work.ts'
import { LIMITS, USER_NAME } from '../limits.ts'
import { isOwnVariable, VARIABLE } from './variable.ts'
import { type ContainerInput, type ContainerWork, readContainer } from './container-work.ts'
import { type HttpInput, type HttpWork, readHttp } from './http-work.ts'
import { type LimitsInput, readLimits, type WorkLimits } from './work-limits.ts'
import { argument, commandLine, directory, program, something, text, wrong } from './check-text.ts'

/**
 * What a run executes, as it is stored and as it travels to a worker. A run without work is a
 * function's: `handler:<task>`.
 */
export type Work =
  | ProcessWork
  | (HttpWork & Absent<keyof Surroundings>)
  | (ContainerWork & Absent<Exclude<keyof Surroundings, keyof Started>>)
  | (FlowWork & Absent<keyof Surroundings>)

/** So that any work can be asked for what surrounds it. */
type Absent<Name extends string> = { readonly [name in Name]?: undefined }

/** What is a process of the worker's own machine. */
export type ProcessWork = ShellWork | ArgvWork | ScriptWork

/** What surrounds anything that is started and prints. */
export interface Started {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Between the polite signal and the other one. */
  readonly kill_grace_ms?: number
  readonly limits?: WorkLimits
}

interface Surroundings extends Started {
  readonly cwd?: string
  /** Octal digits. */
  readonly umask?: string
  /** A user of the worker's machine, which must allow it. */
  readonly run_as?: string
}

export interface ShellWork extends Surroundings {
  readonly executor: 'shell'
  readonly run: string
  readonly shell?: string
}

export interface ArgvWork extends Surroundings {
  readonly executor: 'argv'
  readonly argv: readonly string[]
}

export interface ScriptWork extends Surroundings {
  readonly executor: 'script'
  readonly script: string
  /** The program that reads the script, and its arguments. */
  readonly interpreter: readonly string[]
}

export const DEFAULT_SHELL = '/bin/sh'
export const PROCESS_EXECUTORS = ['shell', 'argv', 'script'] as const

/** Everything a worker can be asked to do that is not a function of its own. */
export const EXECUTORS = [...PROCESS_EXECUTORS, 'http', 'container'] as const

export function isProcess(executor: string): boolean {
  return PROCESS_EXECUTORS.some((known) => known === executor)
}

export function isProcessWork(work: Work): work is ProcessWork {
  return isProcess(work.executor)
}

/** What people write: one of `KINDS`, and what belongs to it, beside other fields. */
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

/** Reads what people wrote; `undefined` when it names nothing to start. */
export function readWork(input: WorkInput, at = ''): Work | undefined {
  const [kind, second] = KINDS.filter((name) => input[name] !== undefined)
  if (second) throw wrong(`${at}${second}`, `cannot stand beside ${at}${kind}: choose one`)
  for (const { field, homes } of BELONGS_TO) {
    if (input[field] === undefined || homes.some((home) => home === kind)) continue
    throw wrong(`${at}${field}`, `belongs to ${homes.join(', ')}, which is absent`)
  }
  if (kind === undefined) return undefined
  if (input.http) return readHttp(input.http, `${at}http.`)
  const work = { ...whatOf(kind, input, at), ...surroundingsOf(input, at) }
  checkSize(work, at)
  // What does not belong to it was refused above.
  return work as Work
}

/** As it is stored. Parsed again only by workers, so it may keep the order it was written in. */
export function encodeWork(work: Work): string {
  return JSON.stringify(work)
}

const COMMANDS = ['run', 'argv', 'script'] as const
const KINDS = [...COMMANDS, 'http', 'container'] as const

/** Fields that mean nothing without one of the others. */
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
      const run = argument(something(input.run as string, `${at}run`), `${at}run`)
      const { shell } = input
      return {
        executor: 'shell',
        run,
        ...(shell === undefined ? {} : { shell: program(shell, `${at}shell`) }),
      }
    }
    case 'argv':
      return { executor: 'argv', argv: commandLine(input.argv as readonly string[], `${at}argv`) }
    case 'script': {
      const { interpreter = DEFAULT_SHELL } = input
      const words = typeof interpreter === 'string' ? [interpreter] : interpreter
      return {
        executor: 'script',
        script: text(something(input.script as string, `${at}script`), `${at}script`),
        interpreter: commandLine(words, `${at}interpreter`),
      }
    }
    default:
      return readContainer(input.container as ContainerInput, `${at}container.`, input.env)
  }
}

function surroundingsOf(input: WorkInput, at: string): Surroundings {
  const { cwd, env, stdin, umask, kill_grace: grace, run_as: user } = input
  const limits = input.limits && readLimits(input.limits, `${at}limits`)
  if (limits?.tmp_bytes !== undefined && env?.['TMPDIR'] !== undefined) {
    const field = `${at}limits.tmp`
    throw wrong(field, 'is for the directory that Punctual makes, and env.TMPDIR names another')
  }
  return {
    ...(cwd === undefined ? {} : { cwd: directory(cwd, `${at}cwd`) }),
    ...(env === undefined || Object.keys(env).length === 0
      ? {}
      : { env: environment(env, `${at}env`) }),
    ...(stdin === undefined ? {} : { stdin: text(stdin, `${at}stdin`) }),
    ...(umask === undefined ? {} : { umask: octal(umask, `${at}umask`) }),
    ...(grace === undefined ? {} : { kill_grace_ms: killGrace(grace, `${at}kill_grace`) }),
    ...(limits === undefined ? {} : { limits }),
    ...(user === undefined ? {} : { run_as: userName(user, `${at}run_as`) }),
  }
}

function environment(env: Readonly<Record<string, string>>, field: string) {
  for (const [name, value] of Object.entries(env)) {
    const at = `${field}.${name}`
    if (!VARIABLE.test(name)) throw wrong(at, 'is not a name a variable can have')
    if (isOwnVariable(name)) throw wrong(at, 'is set by Punctual itself')
    argument(value, at)
  }
  return env
}

function killGrace(text: string, field: string): number {
  const ms = parseDuration(text, field)
  if (ms <= LIMITS.killGraceMs) return ms
  const most = formatDuration(LIMITS.killGraceMs)
  throw wrong(field, `is longer than ${most}: what needs longer to end has its timeout for that`)
}

function userName(name: string, field: string): string {
  if (USER_NAME.test(name)) return name
  throw wrong(field, 'must be the name of a user: at most 32 of A-Z a-z 0-9 . _ -, no digit first')
}

const OCTAL = /^0?[0-7]{3}$/

function octal(digits: string, field: string): string {
  if (OCTAL.test(digits)) return digits
  throw wrong(field, 'must be three or four octal digits, such as 027')
}

/** Arguments and environment travel to the new process as one block, and that block has its limit. */
export function checkSize(work: StartedWork, at: string): void {
  const words = wordsOf(work)
  let bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  for (const [name, value] of Object.entries(work.env ?? {})) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  }
  if (bytes <= LIMITS.argumentsBytes) return
  const field = `${at}${work.executor === 'argv' ? 'argv' : work.env ? 'env' : LONG[work.executor]}`
  const most = LIMITS.argumentsBytes
  throw wrong(field, `makes arguments and environment ${bytes} bytes; at most ${most} fit`)
}

/** Which of its words can be long by itself. */
const LONG = { shell: 'run', script: 'interpreter', container: 'container.command' } as const

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
