import type { ContainerWork, Mount } from '../../../core/work/container-work.ts'
import { isEngineVariable } from '../../../core/work/variable.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'

/** Where a container finds the files of its attempt. */
export const INSIDE = {
  input: '/punctual/input',
  output: '/punctual/output',
  /** The common prefix of the paths of secrets; their names follow. */
  secrets: '/punctual/secret.',
} as const

export interface RunPlan {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly limits: WorkLimits
  /** Paths on the host with links resolved. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  readonly envFile: string
  /** Arguments added by the operator. */
  readonly extra: readonly string[]
}

/**
 * The arguments after `podman` or `docker`. No shell interprets them, and they contain no value of
 * a variable.
 */
export function runArguments(work: ContainerWork, plan: RunPlan): string[] {
  const { image, command = [], entrypoint: [program, ...rest] = [], pull = 'missing' } = work
  const { workdir, user, network, stdin } = work
  return [
    'run',
    '--name',
    plan.name,
    '--pull',
    pull,
    '--security-opt',
    'no-new-privileges',
    ...Object.entries(plan.labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...(stdin === undefined ? [] : ['--interactive']),
    ...(workdir === undefined ? [] : ['--workdir', workdir]),
    ...(user === undefined ? [] : ['--user', user]),
    ...(network === 'none' ? ['--network', 'none'] : []),
    ...limitArguments(plan.limits),
    ...plan.mounts.flatMap((mount) => ['--mount', mountArgument(mount)]),
    ...inherited(plan.env).flatMap((name) => ['--env', name]),
    '--env-file',
    plan.envFile,
    ...plan.extra,
    // The engine takes one word as entry point; the rest of the command becomes the first
    // arguments.
    ...(program === undefined ? [] : ['--entrypoint', program]),
    image,
    ...rest,
    ...command,
  ]
}

/**
 * Variables that the engine passes from its own environment, because it does not interpret them
 * itself.
 */
export function inherited(env: Readonly<Record<string, string>>): string[] {
  return Object.keys(env).filter((name) => !isEngineVariable(name))
}

/** The other variables, as lines of a file. */
export function envFileOf(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).filter(([name]) => isEngineVariable(name))
  // Values from a job were checked at submission; values of secrets were not known then.
  const broken = lines.find(([, value]) => /[\n\r]/.test(value))?.[0]
  if (broken !== undefined) throw new Error(`${broken} has a line break: give it as a file`)
  return lines.map(([name, value]) => `${name}=${value}\n`).join('')
}

function limitArguments({ memory_bytes, cpu, pids, files, tmp_bytes }: WorkLimits): string[] {
  return [
    // Both flags get the same value, so that swap counts too.
    ...(memory_bytes === undefined
      ? []
      : ['--memory', `${memory_bytes}b`, '--memory-swap', `${memory_bytes}b`]),
    ...(cpu === undefined ? [] : ['--cpus', String(cpu)]),
    ...(pids === undefined ? [] : ['--pids-limit', String(pids)]),
    ...(files === undefined ? [] : ['--ulimit', `nofile=${files}:${files}`]),
    ...(tmp_bytes === undefined ? [] : ['--tmpfs', `/tmp:rw,mode=1777,size=${tmp_bytes}`]),
  ]
}

function mountArgument({ source, target, readonly }: Mount): string {
  return `type=bind,source=${source},target=${target}${readonly ? ',readonly' : ''}`
}
