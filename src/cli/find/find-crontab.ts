import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface CrontabChoice {
  readonly user?: true
  /** False with `--no-system`; undefined: detected from the file's content. */
  readonly system?: boolean
}

export interface FoundCrontab {
  readonly text: string
  /** The name of the crontab in messages. */
  readonly source: string
  /** Undefined if neither a flag nor the path decides it. */
  readonly hasUsers: boolean | undefined
}

const SYSTEM = '/etc/crontab'
const HAS_USERS = /^\/etc\/(?:crontab$|cron\.d\/)/

/** Finds the crontab to import: a file, standard input, the machine's, or the user's own. */
export function findCrontab(
  file: string | undefined,
  { user, system }: CrontabChoice,
  { cwd, env }: Pick<Terminal, 'cwd' | 'env'>,
): FoundCrontab {
  if (user && (system || file !== undefined)) {
    throw new Failure('--user cannot be combined with a file or --system', { exitCode: EXIT.usage })
  }
  if (file === '-') return { text: readAt(0, 'standard input'), source: '-', hasUsers: system }
  if (file !== undefined || system) {
    const path = resolve(cwd, file ?? SYSTEM)
    const hasUsers = system ?? (HAS_USERS.test(path) ? true : undefined)
    return { text: readAt(path, path), source: path, hasUsers }
  }
  return { text: ownCrontab(env), source: 'crontab -l', hasUsers: false }
}

/** The users of this machine, for crontabs with a user column. */
export function usersOfMachine(): ReadonlySet<string> {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return new Set(lines.map((line) => line.split(':')[0] ?? ''))
  } catch {
    return new Set()
  }
}

function readAt(file: string | 0, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Failure(`${name} cannot be read: ${(error as Error).message}`, {
      exitCode: EXIT.usage,
    })
  }
}

function ownCrontab(env: Terminal['env']): string {
  try {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    return execFileSync('crontab', ['-l'], { env: { ...env }, encoding: 'utf8', stdio })
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const why = stderr?.trim() || (error as Error).message
    throw new Failure(`crontab -l did not answer: ${why}`, {
      exitCode: EXIT.usage,
      hint: 'Name a file, or --system for /etc/crontab.',
    })
  }
}
