import { formatSize } from '../../../core/text/size.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
import type { EndDetails } from '../../launcher/messages.ts'
import type { Settled } from '../../attempts/outcome.ts'

/**
 * What the end of a process means. Whoever was short of memory has failed, also if it ends well after
 * a part of it was killed: whether the rest is killed in time is nothing an outcome may depend on.
 */
export function settledOf(
  code: number | null,
  signal: string | null,
  { oom }: EndDetails,
  limits: WorkLimits,
): Settled {
  if (oom) return { kind: 'overran', cause: 'oom', message: tooMuchMemory(limits) }
  return code === null ? { kind: 'signalled', signal: signal ?? '?' } : { kind: 'exited', code }
}

/** What the log should say beside what the process said itself. */
export function remarksOn(details: EndDetails, limits: WorkLimits): string[] {
  const { oom, pidsRefused = 0 } = details
  const times = pidsRefused === 1 ? 'once' : `${pidsRefused} times`
  return [
    ...(oom ? [tooMuchMemory(limits)] : []),
    ...(pidsRefused > 0
      ? [`it was refused another process or thread ${times}: its limit is ${limits.pids ?? '?'}`]
      : []),
  ]
}

function tooMuchMemory({ memory_bytes: most }: WorkLimits): string {
  if (most === undefined) return 'killed because the machine had no memory left'
  return `killed because it needed more memory than its limit of ${formatSize(most)}`
}

/** A temporary directory that holds more than it may. */
export function tooFull(bytes: number, most: number): string {
  const [held, limit] = [formatSize(bytes), formatSize(most)]
  // Just above it, both round to the same words.
  const how = held === limit ? `more than ${held}` : `${held} or more`
  return `killed because its temporary directory held ${how}; its limit is ${limit}`
}
