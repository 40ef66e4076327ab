import { LIMITS } from '../../limits.ts'
import type { JobDefinition } from '../../job/job-definition.ts'
import type { CrontabEntry } from './entry.ts'
import { isRandomDelay } from './settings.ts'

/** A crontab line converted to a job with a schedule. */
export interface ImportedJob {
  readonly line: number
  readonly name: string
  readonly definition: JobDefinition
}

export interface ImportOptions {
  /** The origin of the crontab, for the description of the job. */
  readonly source: string
  /** Prefix of all job names. */
  readonly prefix: string
  /** Whether jobs run as the users named in their lines; otherwise they run as the user of the worker. */
  readonly keepsUsers: boolean
  readonly overlap: string | undefined
}

/** A job is named after its command; the second of several equal names becomes `name-2`. */
export function importedJobsOf(
  entries: readonly CrontabEntry[],
  options: ImportOptions,
): ImportedJob[] {
  const taken = new Set<string>()
  return entries.map((entry) => {
    const name = freeName(`${options.prefix}${nameOf(entry.run)}`, taken)
    taken.add(name)
    return { line: entry.line, name, definition: definitionOf(entry, options) }
  })
}

function definitionOf(entry: CrontabEntry, options: ImportOptions): JobDefinition {
  const { run, stdin, user, comment, line, cron, zone, settings } = entry
  const { env, shell, home, randomDelay } = settings
  const from = `From line ${line} of ${options.source}.`
  const minutes = randomDelay !== null && isRandomDelay(randomDelay) ? randomDelay : null
  return {
    run,
    description: comment === null ? from : `${comment}\n${from}`,
    ...(shell === null ? {} : { shell }),
    ...(home === null ? {} : { cwd: home }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(stdin === null ? {} : { stdin }),
    ...(user === null || !options.keepsUsers ? {} : { run_as: user }),
    schedule: {
      name: 'crontab',
      cron,
      zone,
      ...(minutes === null ? {} : { jitter: `${minutes}m` }),
      ...(options.overlap === undefined ? {} : { overlap: options.overlap }),
    },
  }
}

/** Wrapper commands that precede a program and do not describe it. */
const WRAPPERS = new Set(['nice', 'ionice', 'nohup', 'sudo', 'exec', 'env', 'time', 'timeout'])
const SHELLS = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'python',
  'python3',
  'perl',
  'ruby',
  'php',
  'node',
])
/** Tests, directory changes and locks that precede the main command. */
const PREPARATION = /^(?:cd|test|\[|\[\[|\.|source|export|umask|command|sleep)$/
const ASSIGNMENT = /^[A-Za-z_]\w*=/

/** `cd /srv && nice -n 10 /opt/etl/nightly.sh --full >> /var/log/etl` is named `nightly.sh`. */
function nameOf(command: string): string {
  const outer = command.replaceAll(/\$\([^)]*\)|`[^`]*`/g, '')
  const parts = outer.split(/&&|\|\||[;|(){}]/).map((part) => part.trim().split(/\s+/))
  const main = parts.find(([first = '']) => first !== '' && !PREPARATION.test(first))
  const words = (main ?? parts[0] ?? []).filter((word) => !ASSIGNMENT.test(word))
  const program = words.find(isProgram) ?? words[0] ?? ''
  const last =
    program
      .replaceAll(/["'`]/g, '')
      .split('/')
      .findLast((part) => part !== '') ?? ''
  const name = last.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return name.slice(0, LIMITS.nameLength / 2) || 'job'
}

/** False for options and for their values, such as the 10 of `nice -n 10` or the 30s of `timeout 30s`. */
function isProgram(word: string): boolean {
  const name = word.split('/').at(-1) ?? ''
  return !WRAPPERS.has(name) && !SHELLS.has(name) && !/^(?:-.*|\d+[smhd]?)$/.test(word)
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name}-${number}`)) number += 1
  return `${name}-${number}`
}
