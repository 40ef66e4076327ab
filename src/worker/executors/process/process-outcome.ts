import { formatSize } from '../../../core/text/size.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
import type { EndDetails } from '../../launcher/messages.ts'
import type { Settled } from '../../attempts/outcome.ts'

/**
 * Maps the end of a process to an outcome. A process that ran out of memory has failed, even if it
 * exits with 0 after a part of it was killed: the outcome must not depend on whether the rest is
 * killed in time.
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

/** Log lines about the end of a process, in addition to its own output. */
export function endMessages(details: EndDetails, limits: WorkLimits): string[] {
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

/** The message for a temporary directory that exceeds its limit. */
export function tmpLimitMessage(bytes: number, most: number): string {
  const [held, limit] = [formatSize(bytes), formatSize(most)]
  // Slightly above the limit, both sizes round to the same text.
  const how = held === limit ? `more than ${held}` : `${held} or more`
  return `killed because its temporary directory held ${how}; its limit is ${limit}`
}
