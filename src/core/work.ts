import { parseDuration } from './duration.ts'
import { PunctualError } from './errors.ts'
import { LIMITS, USER_NAME } from './limits.ts'
import { isOwnVariable, VARIABLE } from './variable.ts'
import { type LimitsInput, readLimits, type WorkLimits } from './work-limits.ts'

/**
 * What a process run executes, as it is stored and as it travels to a worker. A run without work is a
 * function's: `handler:<task>`.
 */
export type Work = ShellWork | ArgvWork | ScriptWork

interface Surroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** Octal digits. */
  readonly umask?: string
  /** Between the polite signal and the other one. */
  readonly kill_grace_ms?: number
  readonly limits?: WorkLimits
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

export function isProcess(executor: string): boolean {
  return PROCESS_EXECUTORS.some((known) => known === executor)
}

/** What people write: one of `run`, `argv` and `script`, and what belongs to it, beside other fields. */
export interface WorkInput {
  readonly run?: string | undefined
  readonly shell?: string | undefined
  readonly argv?: readonly string[] | undefined
  readonly script?: string | undefined
  readonly interpreter?: string | readonly string[] | undefined
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
  const kinds = (['run', 'argv', 'script'] as const).filter((kind) => input[kind] !== undefined)
  const [kind, second] = kinds
  if (second) throw wrong(`${at}${second}`, `cannot stand beside ${at}${kind}: choose one`)
  for (const [field, ...homes] of BELONGS_TO) {
    if (input[field] === undefined || homes.some((home) => home === kind)) continue
    throw wrong(`${at}${field}`, `belongs to ${homes.join(', ')}, which is absent`)
  }
  if (kind === undefined) return undefined
  const work = { ...whatOf(kind, input, at), ...surroundingsOf(input, at) }
  checkSize(work, at)
  return work
}

/** As it is stored. Parsed again only by workers, so it may keep the order it was written in. */
export function encodeWork(work: Work): string {
  return JSON.stringify(work)
}

/** Fields that mean nothing without one of the others. */
const BELONGS_TO = [
  ['shell', 'run'],
  ['interpreter', 'script'],
  ['cwd', 'run', 'argv', 'script'],
  ['env', 'run', 'argv', 'script'],
  ['stdin', 'run', 'argv', 'script'],
  ['umask', 'run', 'argv', 'script'],
  ['kill_grace', 'run', 'argv', 'script'],
  ['limits', 'run', 'argv', 'script'],
  ['run_as', 'run', 'argv', 'script'],
] as const

function whatOf(kind: 'run' | 'argv' | 'script', input: WorkInput, at: string): Work {
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
    ...(grace === undefined ? {} : { kill_grace_ms: parseDuration(grace, `${at}kill_grace`) }),
    ...(limits === undefined ? {} : { limits }),
    ...(user === undefined ? {} : { run_as: userName(user, `${at}run_as`) }),
  }
}

function commandLine(words: readonly string[], field: string): readonly string[] {
  if (words[0] === undefined) throw wrong(field, 'is empty: it must name a program')
  program(words[0], `${field}.0`)
  for (const [index, word] of words.entries()) argument(word, `${field}.${index}`)
  return words
}

function something(command: string, field: string): string {
  if (command.trim() !== '') return command
  throw wrong(field, 'is empty: there would be nothing to do')
}

function program(name: string, field: string): string {
  if (name.trim() === '') throw wrong(field, 'is empty: it must name a program')
  return argument(name, field)
}

/** Linux takes no single argument longer than this, and would say so only when the run starts. */
function argument(word: string, field: string): string {
  const bytes = Buffer.byteLength(text(word, field))
  if (bytes <= LIMITS.argumentBytes) return word
  throw wrong(
    field,
    `is ${bytes} bytes; an argument has at most ${LIMITS.argumentBytes} (use script)`,
  )
}

function text(value: string, field: string): string {
  if (!value.includes('\0')) return value
  throw wrong(field, 'contains NUL, which no process can be given')
}

function directory(path: string, field: string): string {
  if (path.startsWith('/')) return text(path, field)
  throw wrong(field, 'must be an absolute path: a worker has no directory that callers could know')
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
function checkSize(work: Work, at: string): void {
  const words = wordsOf(work)
  let bytes = words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  for (const [name, value] of Object.entries(work.env ?? {})) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  }
  if (bytes <= LIMITS.argumentsBytes) return
  const field = `${at}${work.executor === 'argv' ? 'argv' : work.env ? 'env' : 'interpreter'}`
  const most = LIMITS.argumentsBytes
  throw wrong(field, `makes arguments and environment ${bytes} bytes; at most ${most} fit`)
}

function wordsOf(work: Work): readonly string[] {
  switch (work.executor) {
    case 'argv':
      return work.argv
    case 'shell':
      return [work.shell ?? DEFAULT_SHELL, work.run]
    case 'script':
      return work.interpreter
  }
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
