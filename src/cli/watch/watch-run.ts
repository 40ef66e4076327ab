import { bytesOf } from '../../core/run/output.ts'
import type { LiveLine } from './live-line.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { paint, type Terminal } from '../terminal/terminal.ts'
import { whileWatching } from './watch-controls.ts'

export interface RunEnd {
  readonly state: string
  readonly exit_code: number | null
  readonly signal: string | null
}

interface OutputEvent {
  readonly attempt: number
  readonly entries: readonly (readonly [ms: number, stream: string, text: string])[]
}

/** Follows a run until it has ended, and passes on what it prints, stream by stream, byte by byte. */
export function watchRun(
  id: string,
  { calls, terminal, query = '' }: { calls: ServerCalls; terminal: Terminal; query?: string },
): Promise<RunEnd> {
  return whileWatching(id, { calls, terminal }, async ({ signal, quiet, line }) => {
    const path = `/v1/runs/${id}/logs/follow${query}`
    for await (const { event, data } of calls.events(path, signal)) {
      await quiet()
      if (event === 'end') return data as RunEnd
      print(terminal, line, data as OutputEvent)
    }
    // Only whoever let it go ends it early, and they no longer listen.
    return { state: 'running', exit_code: null, signal: null }
  })
}

function print(terminal: Terminal, line: LiveLine, { entries }: OutputEvent): void {
  if (entries.length > 0) line.end()
  for (const [, stream, text] of entries) {
    if (stream === 'stdout') terminal.outBytes(bytesOf(text))
    else if (stream === 'stderr') terminal.errBytes(bytesOf(text))
    else terminal.err(paint(terminal, 'grey', text))
  }
}
