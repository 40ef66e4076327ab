import { formatDuration, parseDuration } from '../../core/text/duration.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { showState, type Terminal } from '../terminal/terminal.ts'
import { whileWatching } from './watch-controls.ts'

const POLL_MS = 20_000
const HEARTBEAT_MS = 30_000

interface WaitOptions {
  readonly calls: ServerCalls
  readonly terminal: Terminal
  /** As people write it; without one, for as long as it takes. */
  readonly timeout: string | undefined
}

/**
 * Waits for the end of a run. A person sees how it is from second to second; where there is none, a
 * line says every change of state, and now and then that it is still there.
 */
export function waitForRun(id: string, options: WaitOptions): Promise<WireRun> {
  return whileWatching(id, options, async ({ signal, quiet }) => {
    const run = await poll(id, options, signal)
    await quiet()
    return run
  })
}

async function poll(id: string, options: WaitOptions, signal: AbortSignal): Promise<WireRun> {
  const { calls, terminal, timeout } = options
  const startedAt = terminal.now()
  const untilAt = timeout === undefined ? Infinity : startedAt + parseDuration(timeout, '--timeout')
  let state = ''
  let saidAt = startedAt
  for (;;) {
    const leftMs = Math.max(0, Math.min(POLL_MS, untilAt - terminal.now()))
    const path = `/v1/runs/${id}?wait=${state === '' ? 0 : Math.floor(leftMs)}ms`
    const run = await calls.call<WireRun>('GET', path, undefined, { signal })
    if (run.finished_at !== null) return run
    const isNews = run.state !== state || terminal.now() - saidAt >= HEARTBEAT_MS
    if (isNews && !terminal.isInteractive) {
      const waited = formatDuration(terminal.now() - startedAt)
      terminal.err(`${showState(terminal, run.state)}  ${id}  ${waited}\n`)
      saidAt = terminal.now()
    }
    ;({ state } = run)
    if (terminal.now() >= untilAt) throw timedOut(id, state, timeout ?? '')
  }
}

function timedOut(id: string, state: string, timeout: string): Failure {
  return new Failure(`${id} is still ${state} after ${timeout}; it goes on`, {
    exitCode: EXIT.waitTimedOut,
    next: `punctual why ${id}`,
  })
}
