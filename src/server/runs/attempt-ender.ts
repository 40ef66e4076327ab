import type { Report } from '../../core/run/end-attempt.ts'
import type { Lease } from '../../store/port.ts'
import { endCommand } from './end-command.ts'
import type { Ticker } from '../dispatch/ticker.ts'

/** Attempts that a node ends by itself, because their worker will not. */
export interface OwnEndings {
  /** Waits out any outage, because nobody repeats it. */
  end(
    leases: readonly Lease[],
    report: Report,
    owner: number | null,
    message?: string,
  ): Promise<void>
  /** Uncounted: it was never started, or its worker says it will not finish it. */
  giveBack(leases: readonly Lease[]): void
  /** Counted: it was started, and its worker is gone. Resolves when that is durable. */
  lose(leases: readonly Lease[]): Promise<void>
  /** No sweep may judge such an attempt a second time. */
  isEnding(lease: Lease): boolean
}

export function createOwnEndings(deps: {
  readonly ticker: Pick<Ticker, 'end'>
  mintId(): number
  onError(error: unknown): void
}): OwnEndings {
  const { ticker, mintId, onError } = deps
  /** Run → fence. */
  const ending = new Map<number, number>()

  const end: OwnEndings['end'] = async (leases, report, owner, message) => {
    if (leases.length === 0) return
    const told = { message, ...(owner === null ? {} : { owner }) }
    const commands = leases.map((lease) => endCommand(lease, report, told, mintId))
    for (const { runId, fence } of commands) ending.set(runId, fence)
    await ticker.end(commands, true)
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
