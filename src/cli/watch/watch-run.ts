import { bytesOf } from '../../core/run/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { paint, type Terminal } from '../terminal/terminal.ts'
import { keepReporting } from './wait-report.ts'
import { type WatchControls, withWatchControls } from './watch-controls.ts'

export interface RunEnd {
  readonly state: string
  readonly exit_code: number | null
  readonly signal: string | null
}

interface OutputEvent {
  readonly attempt: number
  readonly entries: readonly (readonly [ms: number, stream: string, text: string])[]
}

interface WatchOptions {
  readonly calls: ServerCalls
  readonly terminal: Terminal
  readonly attempt?: string | undefined
}

/**
 * Follows a run until it has ended, and passes on its output, stream by stream and byte by byte.
 */
export function watchRun(id: string, options: WatchOptions): Promise<RunEnd> {
  const { calls, terminal } = options
  return withWatchControls(id, { calls, terminal }, (controls) =>
    whileReporting(id, controls, options, () => followOutput(id, controls, options)),
  )
}

/** Reports next to other output until `act` has ended. */
export async function whileReporting<T>(
  id: string,
  controls: WatchControls,
  { calls, terminal }: WatchOptions,
  act: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const signal = AbortSignal.any([controls.signal, ended.signal])
  void keepReporting(id, controls.report, { calls, terminal, signal })
  try {
    return await act()
  } finally {
    ended.abort()
  }
}

export async function followOutput(
  id: string,
  controls: WatchControls,
  { calls, terminal, attempt }: WatchOptions,
): Promise<RunEnd> {
  const path = `/v1/runs/${id}/logs/follow${attempt === undefined ? '' : `?attempt=${attempt}`}`
  for await (const { event, data } of calls.events(path, controls.signal)) {
    await controls.whenNoQuestion()
    if (event === 'end') return data as RunEnd
    print(terminal, controls, data as OutputEvent)
  }
  // The stream ends early only for a caller that detached, which ignores this value.
  return { state: 'running', exit_code: null, signal: null }
}

function print(
  terminal: Terminal,
  { line, report }: Pick<WatchControls, 'line' | 'report'>,
  { entries }: OutputEvent,
): void {
  if (entries.length > 0) {
    line.end()
    report.noteOutput()
  }
  for (const [, stream, text] of entries) {
    if (stream === 'stdout') terminal.outBytes(bytesOf(text))
    else if (stream === 'stderr') terminal.errBytes(bytesOf(text))
    else terminal.err(paint(terminal, 'grey', text))
  }
}
