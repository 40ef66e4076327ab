import type { ContainerWork, Mount } from '../../../core/work/container-work.ts'
import { isAboutEngine } from '../../../core/work/variable.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'

/** Where a container finds the files of its attempt. */
export const INSIDE = {
  input: '/punctual/input',
  output: '/punctual/output',
  /** How the paths of secrets begin; their names follow. */
  secrets: '/punctual/secret.',
} as const

export interface RunPlan {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly limits: WorkLimits
  /** Paths as they really are on this machine. */
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
  readonly envFile: string
  /** What the operator adds. */
  readonly extra: readonly string[]
}

/** The words after `podman` or `docker`. No shell sees them, and no value of a variable is among them. */
export function runArguments(work: ContainerWork, plan: RunPlan): string[] {
  const { image, command = [], entrypoint: [program, ...rest] = [], pull = 'missing' } = work
  const { workdir, user, network, stdin } = work
  return [
    'run',
    ...['--name', plan.name, '--pull', pull, '--security-opt', 'no-new-privileges'],
    ...Object.entries(plan.labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...(stdin === undefined ? [] : ['--interactive']),
    ...(workdir === undefined ? [] : ['--workdir', workdir]),
    ...(user === undefined ? [] : ['--user', user]),
    ...(network === 'none' ? ['--network', 'none'] : []),
    ...limitArguments(plan.limits),
    ...plan.mounts.flatMap((mount) => ['--mount', mountArgument(mount)]),
    ...inherited(plan.env).flatMap((name) => ['--env', name]),
    ...['--env-file', plan.envFile],
    ...plan.extra,
    // Engines take one word for a program; its arguments are the first of the command's.
    ...(program === undefined ? [] : ['--entrypoint', program]),
    image,
    ...rest,
    ...command,
  ]
}

/** Variables the engine hands on from its own environment: it does not heed them itself. */
export function inherited(env: Readonly<Record<string, string>>): string[] {
  return Object.keys(env).filter((name) => !isAboutEngine(name))
}

/** The others, as lines of a file. */
export function envFileOf(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).filter(([name]) => isAboutEngine(name))
  // What a job says was checked when it was submitted; what a secret says, nobody knew then.
  const broken = lines.find(([, value]) => /[\n\r]/.test(value))?.[0]
  if (broken !== undefined) throw new Error(`${broken} has a line break: give it as a file`)
  return lines.map(([name, value]) => `${name}=${value}\n`).join('')
}

function limitArguments({ memory_bytes, cpu, pids, files, tmp_bytes }: WorkLimits): string[] {
  return [
    // The same for both: what may be swapped out counts too.
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
