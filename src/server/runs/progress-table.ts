import type { Progress } from '../../core/text/markers.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import type { RunProgress } from '../../core/wire/protocol.ts'
import type { RunRecord } from '../../store/port.ts'
import type { HeldLease } from '../sessions/session.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** How often the progress of one attempt is published. */
const PUBLISH_MS = 1_000

/**
 * Latest progress of attempts, kept in memory like their leases: other nodes see it only at the
 * end, as does every client after a restart.
 */
export interface ProgressTable {
  note(lease: HeldLease, said: Progress): void
  /** Progress of a run that is in progress. */
  of(run: RunRecord): RunProgress | null
}

export function createProgressTable(deps: {
  leaseOf(runId: number): HeldLease | undefined
  mono(): number
  storeNow(): number
  readonly signals: Pick<NodeSignals, 'progressReported'>
}): ProgressTable {
  return {
    note(lease, { fraction, message }) {
      const progress = { fraction, message, at: deps.storeNow() }
      const mono = deps.mono()
      const before = lease.progress
      const wasPublished = before !== undefined && mono - before.publishedMono < PUBLISH_MS
      lease.progress = { progress, publishedMono: wasPublished ? before.publishedMono : mono }
      if (!wasPublished) deps.signals.progressReported(lease, progress)
    },
    of(run) {
      const lease = run.state === 'running' ? deps.leaseOf(run.id) : undefined
      return lease?.fence === run.fence ? (lease?.progress?.progress ?? null) : null
    },
  }
}

/** Progress of an attempt when it ended, as its worker reported it. */
export function progressAtEnd(
  end: ProcessEnd | null,
  startedAt: number | null,
): RunProgress | null {
  if (!end?.progress || startedAt === null) return null
  const { fraction, message, ms } = end.progress
  return { fraction, message, at: startedAt + ms }
}
