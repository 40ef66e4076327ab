import type { Progress } from '../../core/text/markers.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import type { RunProgress } from '../../core/wire/protocol.ts'
import type { RunRecord } from '../../store/port.ts'
import type { HeldLease } from '../sessions/session.ts'

/** How often others are told how far one attempt is. */
const TOLD_MS = 1_000

/**
 * How far attempts say they are. It is kept beside their leases, in memory: whoever asks another node
 * sees it at the end, and so does everybody after a restart.
 */
export interface ProgressBoard {
  note(lease: HeldLease, said: Progress): void
  /** How far a run under way is. */
  of(run: RunRecord): RunProgress | null
}

export function createProgressBoard(deps: {
  leaseOf(runId: number): HeldLease | undefined
  mono(): number
  storeNow(): number
  /** Something for those who watch. */
  onProgress(lease: HeldLease, progress: RunProgress): void
}): ProgressBoard {
  return {
    note(lease, { fraction, message }) {
      const progress = { fraction, message, at: deps.storeNow() }
      const mono = deps.mono()
      const before = lease.progress
      const isTold = before !== undefined && mono - before.toldMono < TOLD_MS
      lease.progress = { progress, toldMono: isTold ? before.toldMono : mono }
      if (!isTold) deps.onProgress(lease, progress)
    },
    of(run) {
      const lease = run.state === 'running' ? deps.leaseOf(run.id) : undefined
      return lease?.fence === run.fence ? (lease?.progress?.progress ?? null) : null
    },
  }
}

/** How far an attempt came, by its own account. */
export function progressAtEnd(
  end: ProcessEnd | null,
  startedAt: number | null,
): RunProgress | null {
  if (!end?.progress || startedAt === null) return null
  const { fraction, message, ms } = end.progress
  return { fraction, message, at: startedAt + ms }
}
