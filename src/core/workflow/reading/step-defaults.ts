import type { SecretInput } from '../../secrets/secret.ts'
import type { StepInput, StepKind } from '../definition.ts'

const COMMANDS = ['run', 'argv', 'script'] as const
const STARTED = [...COMMANDS, 'container'] as const
const GIVEN_SECRETS = [...STARTED, 'http'] as const
const SUBMITTED = [...GIVEN_SECRETS, 'task'] as const

/** Job fields that are defaults for its steps, with the kinds of steps they apply to. */
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

/** Adds the defaults of the job to a step. The step's own fields win. */
export type Inherit = (step: StepInput, kind: StepKind) => StepInput

/** Reads the job once for each kind of step: there may be a hundred thousand steps. */
export function createInherit(job: StepInput): Inherit {
  const known = new Map<StepKind, StepInput>()
  const defaultsFor = (kind: StepKind): StepInput => {
    const defaults = Object.entries(INHERITED).flatMap(([name, kinds]) => {
      const value = job[name as keyof StepInput]
      return value !== undefined && kinds.includes(kind) ? [[name, value]] : []
    })
    return Object.fromEntries(defaults) as StepInput
  }
  return (step, kind) => {
    const defaults = known.get(kind) ?? defaultsFor(kind)
    known.set(kind, defaults)
    const env = job.env && has(STARTED, kind) ? { ...job.env, ...step.env } : step.env
    const secrets = job.secrets && has(GIVEN_SECRETS, kind) ? secretsOf(step, job) : step.secrets
    return { ...defaults, ...step, ...(env && { env }), ...(secrets && { secrets }) }
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
