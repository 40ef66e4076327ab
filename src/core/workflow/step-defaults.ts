import type { SecretInput } from '../work/secret.ts'
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

/** Gives a step what its job says for all of them. What the step says itself is nearer, and wins. */
export type Inherit = (step: StepInput, kind: StepKind) => StepInput

/** Looks at the job once for each kind of step: there may be a hundred thousand of them. */
export function createInherit(job: StepInput): Inherit {
  const known = new Map<StepKind, StepInput>()
  const saidFor = (kind: StepKind): StepInput => {
    const said = Object.entries(INHERITED).flatMap(([name, kinds]) => {
      const value = job[name as keyof StepInput]
      return value !== undefined && kinds.includes(kind) ? [[name, value]] : []
    })
    return Object.fromEntries(said) as StepInput
  }
  return (step, kind) => {
    const said = known.get(kind) ?? saidFor(kind)
    known.set(kind, said)
    const env = job.env && has(STARTED, kind) ? { ...job.env, ...step.env } : step.env
    const secrets = job.secrets && has(GIVEN_SECRETS, kind) ? secretsOf(step, job) : step.secrets
    return { ...said, ...step, ...(env && { env }), ...(secrets && { secrets }) }
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
