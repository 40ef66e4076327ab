import type { AttemptReport } from '../../core/run/end-attempt.ts'
import type { Lease } from '../../store/port.ts'
import { endCommand } from './end-command.ts'
import type { Ticker } from '../dispatch/ticker.ts'

/** The reaper only finds leases. They end like all others: in a tick. */
export type EndLeases = (
  leases: readonly Lease[],
  report: AttemptReport,
  owner: number,
) => Promise<void>

/** Ends attempts on behalf of the node, because their worker will not. */
export interface AttemptEnder {
  /** Waits out any outage, because no client repeats the request. */
  end(
    leases: readonly Lease[],
    report: AttemptReport,
    owner: number | null,
    message?: string,
  ): Promise<void>
  /** Returns leases uncounted: never started, or the worker will not finish them. */
  giveBack(leases: readonly Lease[]): void
  /**
   * Counts the attempt as lost: it was started and its worker has ended. Resolves when that is
   * durable.
   */
  lose(leases: readonly Lease[]): Promise<void>
  /** Whether the node is already ending this attempt: no sweep may end it twice. */
  isEnding(lease: Lease): boolean
}

export function createAttemptEnder(deps: {
  readonly ticker: Pick<Ticker, 'end'>
  mintId(): number
  onError(error: unknown): void
}): AttemptEnder {
  const { ticker, mintId, onError } = deps
  /** Run → fence. */
  const ending = new Map<number, number>()

  const end: AttemptEnder['end'] = async (leases, report, owner, message) => {
    if (leases.length === 0) return
    const details = { message, ...(owner === null ? {} : { owner }) }
    const commands = leases.map((lease) => endCommand(lease, report, details, mintId))
    for (const { runId, fence } of commands) ending.set(runId, fence)
    await ticker.end(commands, true, leases)
    for (const { runId, fence } of commands) {
      if (ending.get(runId) === fence) ending.delete(runId)
    }
  }

  return {
    end,
    giveBack: (leases) => void end(leases, { kind: 'given_back' }, null).catch(onError),
    lose: (leases) => end(leases, { kind: 'lost' }, null),
    isEnding: ({ runId, fence }) => ending.get(runId) === fence,
  }
}
