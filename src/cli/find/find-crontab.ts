import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface CrontabChoice {
  readonly user?: true
  readonly system?: true
}

export interface FoundCrontab {
  readonly text: string
  /** What to call it. */
  readonly source: string
  readonly hasUsers: boolean
}

const SYSTEM = '/etc/crontab'
const HAS_USERS = /^\/etc\/(?:crontab$|cron\.d\/)/

/** The crontab that is meant: a file, what is piped in, that of the machine, or one's own. */
export function findCrontab(
  file: string | undefined,
  { user, system }: CrontabChoice,
  { cwd, env }: Pick<Terminal, 'cwd' | 'env'>,
): FoundCrontab {
  if (user && (system || file !== undefined)) {
    throw new Failure('--user stands beside no file and no --system', { exitCode: EXIT.usage })
  }
  if (file === '-') return { text: readAt(0, 'standard input'), source: '-', hasUsers: !!system }
  if (file !== undefined || system) {
    const path = resolve(cwd, file ?? SYSTEM)
    const hasUsers = system ?? HAS_USERS.test(path)
    return { text: readAt(path, path), source: path, hasUsers }
  }
  return { text: ownCrontab(env), source: 'crontab -l', hasUsers: false }
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
