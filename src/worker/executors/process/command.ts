import { hash } from 'node:crypto'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { variableOf } from '../../../core/secrets/secret.ts'
import { DEFAULT_SHELL, type ProcessWork } from '../../../core/work/work.ts'
import { ATTEMPT_VARIABLE, FENCE_VARIABLE, RUN_VARIABLE } from '../../launcher/process-tree.ts'
import type { AttemptFiles } from '../files/attempt-files.ts'
import type { LocalUser } from './local-users.ts'

/** The worker's own variables that a process may see. The others may hold secrets. */
const PASSED_NAMES = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/

/** The part of an environment that every process gets; `more` names additional variables. */
export function passedVariables(
  environment: Readonly<Record<string, string | undefined>>,
  more: readonly string[] = [],
): Record<string, string> {
  const seen: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && (PASSED_NAMES.test(name) || more.includes(name))) seen[name] = value
  }
  return seen
}

export function environmentOf(
  { run, fence, job, project, attempt, dueAt, input, work, secrets = [] }: Assignment,
  {
    base,
    files,
    user,
  }: {
    base: Readonly<Record<string, string>>
    files: AttemptFiles
    user: LocalUser | undefined
  },
): Record<string, string> {
  return {
    ...base,
    ...(user && { HOME: user.home, USER: user.name, LOGNAME: user.name, SHELL: user.shell }),
    ...(files.tmp === undefined ? {} : { TMPDIR: files.tmp }),
    ...work?.env,
    ...Object.fromEntries(
      secrets.map((secret) => [
        variableOf(secret),
        secret.as === 'file' ? files.secrets + secret.name : secret.value,
      ]),
    ),
    [RUN_VARIABLE]: run,
    [FENCE_VARIABLE]: String(fence),
    PUNCTUAL_JOB: job,
    PUNCTUAL_PROJECT: project,
    [ATTEMPT_VARIABLE]: String(attempt),
    PUNCTUAL_IDEMPOTENCY_KEY: run,
    PUNCTUAL_SCHEDULED_AT: new Date(dueAt).toISOString(),
    PUNCTUAL_OUTPUT: files.output,
    ...(input === null ? {} : { PUNCTUAL_INPUT: files.input }),
    TRACEPARENT: traceparent(run, fence),
  }
}

/**
 * A trace id derived from the run and a span id derived from the attempt, so that nothing has to be
 * stored.
 */
export function traceparent(run: string, fence: number): string {
  return `00-${hash('sha256', run).slice(0, 32)}-${hash('sha256', `${run}/${fence}`).slice(0, 16)}-01`
}

export function commandOf(
  work: ProcessWork,
  files: AttemptFiles,
): [file: string, ...args: string[]] {
  switch (work.executor) {
    case 'shell':
      return [work.shell ?? DEFAULT_SHELL, '-c', work.run]
    case 'argv': {
      const [file = '', ...args] = work.argv
      return [file, ...args]
    }
    case 'script': {
      const [file = DEFAULT_SHELL, ...args] = work.interpreter
      return [file, ...args, files.script]
    }
  }
}
