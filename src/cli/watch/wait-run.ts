import { parseDuration } from '../../core/text/duration.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { hasLiveLine } from './live-line.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { SLOWEST_POLL_MS } from './wait-report.ts'
import { type WatchControls, withWatchControls } from './watch-controls.ts'

const POLL_MS = 20_000
const FIRST_WAIT_MS = 1_000

interface WaitOptions {
  readonly calls: ServerCalls
  readonly terminal: Terminal
  /** As the user wrote it; without a limit if absent. */
  readonly timeout: string | undefined
}

/**
 * Waits for the end of a run. A terminal shows its state every second; elsewhere a line reports
 * each change of state, and every half minute the reason for it.
 */
export function waitForRun(id: string, options: WaitOptions): Promise<WireRun> {
  return withWatchControls(id, options, async (controls) => {
    const run = await poll(id, options, controls)
    await controls.whenNoQuestion()
    return run
  })
}

async function poll(
  id: string,
  options: WaitOptions,
  { signal, report }: Pick<WatchControls, 'signal' | 'report'>,
): Promise<WireRun> {
  const { calls, terminal, timeout } = options
  const timeoutMs = timeout === undefined ? Infinity : parseDuration(timeout, '--timeout')
  const untilMono = terminal.mono() + timeoutMs
  // The server answers early only when the run ends: other changes of state need polling.
  const periodMs = hasLiveLine(terminal) ? POLL_MS : SLOWEST_POLL_MS
  for (let waitMs = 0; ;) {
    const path = `/v1/runs/${id}?wait=${Math.floor(waitMs)}ms`
    const run = await calls.call<WireRun>('GET', path, undefined, { signal })
    if (run.finished_at !== null) return run
    await report.update(run)
    const leftMs = untilMono - terminal.mono()
    if (leftMs <= 0) throw timedOut(id, run.state, timeout ?? '')
    waitMs = Math.min(nextWait(waitMs, periodMs), leftMs)
  }
}

/** A run that was just submitted changes soon, so the first waits are short. */
function nextWait(waitMs: number, longestMs: number): number {
  return Math.min(longestMs, Math.max(FIRST_WAIT_MS, 2 * waitMs))
}

function timedOut(id: string, state: string, timeout: string): Failure {
  return new Failure(`${id} is still ${state} after ${timeout}; it continues`, {
    exitCode: EXIT.waitTimedOut,
    next: `punctual why ${id}`,
  })
}
