import type { WireWhy } from '../../core/wire/views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { hasLiveLine } from './live-line.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'

/** After this time without a line or output, a line reports that the run is still waited for. */
export const REMINDER_MS = 30_000
const FIRST_POLL_MS = 1_000
/** Short enough to report a change of state soon, long enough for many waiting scripts at once. */
export const SLOWEST_POLL_MS = 5_000

/** Lines on standard error about a run that is waited for, where no live line is drawn. */
export interface WaitReport {
  /** Writes a line if the state changed, or if nothing was written for `REMINDER_MS`. */
  update(run: RunStanding): Promise<void>
  /** Only the reminder, for callers that report changes themselves. */
  remind(run: RunStanding): Promise<void>
  /** The caller wrote something else, such as output of the run. */
  noteOutput(): void
}

export type RunStanding = Pick<WireRun, 'state' | 'attempt' | 'cancelling' | 'finished_at'>

interface ReportOptions {
  readonly calls: ServerCalls
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

export function createWaitReport(id: string, options: ReportOptions): WaitReport {
  const { terminal, signal } = options
  let reported = ''
  let writtenMono = terminal.mono()
  const write = async (run: RunStanding, isNews: boolean) => {
    if (hasLiveLine(terminal) || run.finished_at !== null) return
    if (!isNews && terminal.mono() - writtenMono < REMINDER_MS) return
    const line = await lineFor(id, run.state, options)
    if (signal.aborted) return
    terminal.err(line)
    writtenMono = terminal.mono()
  }
  return {
    async update(run) {
      const standing = `${run.state} ${run.attempt} ${run.cancelling}`
      await write(run, standing !== reported)
      reported = standing
    },
    remind: (run) => write(run, false),
    noteOutput() {
      writtenMono = terminal.mono()
    },
  }
}

/** Reports until the signal aborts. A run that ended before the first poll needs no line. */
export async function keepReporting(
  id: string,
  report: WaitReport,
  { calls, terminal, signal }: ReportOptions,
): Promise<void> {
  if (hasLiveLine(terminal)) return
  for (let periodMs = FIRST_POLL_MS; ; periodMs = Math.min(2 * periodMs, SLOWEST_POLL_MS)) {
    await terminal.sleep(periodMs, signal)
    if (signal.aborted) return
    const path = `/v1/runs/${id}`
    // A lost connection is reported by the wait itself.
    const run = await calls.call<WireRun>('GET', path, undefined, { signal }).catch(() => undefined)
    if (run) await report.update(run)
  }
}

async function lineFor(id: string, state: string, options: ReportOptions): Promise<string> {
  const { calls, terminal, signal } = options
  const path = `/v1/runs/${id}/why`
  const why = await calls.call<WireWhy>('GET', path, undefined, { signal }).catch(() => undefined)
  // The run may have changed between the two requests: use the newer answer as a whole.
  const words = why
    ? [showState(terminal, why.state), id, oneLine(why.sentence)]
    : [showState(terminal, state), id]
  return `${words.join('  ')}\n`
}

function oneLine(text: string): string {
  return harmless(text).replaceAll(/\s+/g, ' ')
}
