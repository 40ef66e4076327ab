import type { SecretInput } from '../secret.ts'
import type { StepInput, StepKind } from './definition.ts'

const COMMANDS = ['run', 'argv', 'script'] as const
const STARTED = [...COMMANDS, 'container'] as const
const GIVEN_SECRETS = [...STARTED, 'http'] as const
const SUBMITTED = [...GIVEN_SECRETS, 'task'] as const

/** What a job says for its steps, and for which kinds of them it has a meaning. */
export const INHERITED: Readonly<Partial<Record<keyof StepInput, readonly StepKind[]>>> = {
  shell: ['run'],
  cwd: COMMANDS,
  umask: COMMANDS,
  run_as: COMMANDS,
  kill_grace: STARTED,
  limits: STARTED,
  queue: SUBMITTED,
  priority: SUBMITTED,
  runs_on: SUBMITTED,
  weight: SUBMITTED,
  retry: SUBMITTED,
  on_lost: SUBMITTED,
}

/** A step with what its job says for all of them. What the step says itself is nearer, and wins. */
export function inherit(step: StepInput, kind: StepKind, job: StepInput): StepInput {
  const said = Object.entries(INHERITED).flatMap(([name, kinds]) => {
    const value = job[name as keyof StepInput]
    const applies = value !== undefined && kinds.includes(kind)
    return applies && step[name as keyof StepInput] === undefined ? [[name, value]] : []
  })
  const env = has(STARTED, kind) && job.env ? { ...job.env, ...step.env } : step.env
  const secrets = has(GIVEN_SECRETS, kind) ? secretsOf(step, job) : step.secrets
  return {
    ...step,
    ...Object.fromEntries(said),
    ...(env && { env }),
    ...(secrets && secrets.length > 0 && { secrets }),
  }
}

function secretsOf(step: StepInput, job: StepInput): readonly SecretInput[] {
  const own = step.secrets ?? []
  const taken = new Set([...own.map(nameOf), ...Object.keys(step.env ?? {})])
  return [...own, ...(job.secrets ?? []).filter((secret) => !taken.has(nameOf(secret)))]
}

function nameOf(secret: SecretInput): string {
  return typeof secret === 'string' ? secret : secret.name
}

function has(kinds: readonly StepKind[], kind: StepKind): boolean {
  return kinds.includes(kind)
}
