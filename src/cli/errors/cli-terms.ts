import { ERRORS, type ErrorCode } from '../../core/errors.ts'

/** An error from the server, or from a rule shared with it, in the terms of the API. */
interface ErrorText {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
  readonly field: string | undefined
}

/** The command that was called: its name, and the long names of its flags without dashes. */
export interface CalledCommand {
  readonly command: string
  readonly flags: readonly string[]
  /** The flags that the user gave, as long names without dashes. */
  readonly given: readonly string[]
}

/** Commands whose users write requests or files themselves: fields keep their names. */
const KEEP_FIELDS = new Set(['api', 'apply', 'plan', 'validate', 'import', 'schema'])

/**
 * Translates an API error to command line terms: flags instead of fields, commands instead of
 * requests.
 */
export function toCliTerms(
  error: ErrorText,
  called: CalledCommand,
): Pick<ErrorText, 'message' | 'hint'> {
  const [, verb = ''] = called.command.split(' ')
  if (verb === 'api') return error
  const message = KEEP_FIELDS.has(verb) ? error.message : withFlag(error, called)
  return { message, hint: hintOf(error, called) }
}

function withFlag({ message, field }: ErrorText, called: CalledCommand): string {
  if (field === undefined || field === '') return message
  // A rule of a schedule names its field twice.
  const once = message.startsWith(`${field}: ${field} `) ? message.slice(field.length + 2) : message
  const rest = once.slice(field.length)
  if (!once.startsWith(field) || !/^[ :]/.test(rest)) return once
  return nameOf(field, called) + rest
}

const FIXED: Readonly<Record<string, readonly [flag: string, otherwise: string]>> = {
  q: ['grep', 'the filter'],
  run_at: ['at', 'the time'],
  idempotency_key: ['key', 'the key'],
  tags: ['tag', 'the tags'],
  'http.url': ['http', 'the address'],
  'container.image': ['image', 'the image'],
  every: ['', 'the rule'],
  cron: ['', 'the rule'],
  rule: ['', 'the rule'],
  name: ['name', 'the name'],
  job: ['job', 'the name of the job'],
  argv: ['', 'the command'],
  input: ['', 'the input'],
}

/** The second name of a flag, by the name of the flag that is called like the field. */
const ALIASES: Readonly<Record<string, string>> = { until: 'to' }

function nameOf(field: string, { flags, given }: CalledCommand): string {
  const fixed = Object.hasOwn(FIXED, field) ? FIXED[field] : undefined
  if (fixed) return flags.includes(fixed[0]) ? `--${fixed[0]}` : fixed[1]
  const [, label] = /^runs_on\.labels\.(.+)$/.exec(field) ?? []
  if (label !== undefined && flags.includes('label')) return `--label ${label}`
  const [, parameter] = /^input\.(.+)$/.exec(field) ?? []
  if (parameter !== undefined) return `the input ${parameter}`
  const [, word] = /^argv\.(\d+)$/.exec(field) ?? []
  if (word !== undefined) return `word ${Number(word) + 1} of the command`
  const flag = (field.split('.').at(-1) ?? '').replaceAll('_', '-')
  const alias = Object.hasOwn(ALIASES, flag) ? ALIASES[flag] : undefined
  if (alias !== undefined && given.includes(alias)) return `--${alias}`
  return flags.includes(flag) ? `--${flag}` : field
}

const HINTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  run_not_found: 'punctual runs lists them; finished ones are pruned after the retention period.',
  job_not_found: 'punctual ls lists the jobs that are defined.',
  backfill_not_found: 'punctual backfill ls lists them; old ones are deleted.',
  schedule_not_found: 'punctual schedules lists them.',
  step_not_found: 'punctual steps RUN lists the steps of a run.',
  token_not_found: 'punctual token ls lists them.',
  secret_not_found: 'punctual secret ls lists them.',
  webhook_not_found: 'punctual webhook ls lists them.',
  job_is_live: 'punctual rm JOB --cancel cancels its runs first.',
  job_exists: 'Choose another name, or change the job that is there: punctual show JOB',
  run_is_final: 'A finished run never changes; punctual retry RUN makes a new one.',
  nothing_to_skip: 'It has no time to come; punctual why JOB/SCHEDULE says why.',
  webhook_exists: 'Choose another name, or delete that one first: punctual webhook rm NAME',
  invalid_schedule: "See what a rule does before it is used: punctual next 'weekdays at 09:05'",
  idempotency_mismatch: 'This --key was used for something else; choose a new one.',
  rate_limited: 'Wait a little, then send requests more slowly.',
  overloaded: 'The server has more pending work than it accepts; try again in a little while.',
}

/**
 * Keeps a hint that belongs to this error. Replaces the general hint of an error code, which is written
 * for users of the API.
 */
function hintOf(
  { code, hint, field = '' }: ErrorText,
  { command }: CalledCommand,
): string | undefined {
  const known = Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined
  if (known === undefined || hint !== ERRORS[known][1]) return hint
  if (known === 'missing_field' && field.startsWith('input.')) {
    return `Give it with -i ${field.slice('input.'.length)}=VALUE.`
  }
  if (known.endsWith('_field')) return `${command} --help says how it is used.`
  return HINTS[known] ?? hint
}
