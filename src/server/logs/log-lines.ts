import type { Entry, Stream } from '../../core/output.ts'
import type { WireLogLine } from '../../core/views.ts'
import { formatTime } from '../../core/wire.ts'

const STREAMS: Readonly<Record<Stream, WireLogLine['stream']>> = {
  0: 'punctual',
  1: 'stdout',
  2: 'stderr',
}

/**
 * Entries as lines, numbered as `countLines` counts them: every newline ends one. A line without
 * its newline carries the number that its end will have.
 */
export function linesOf(
  entries: readonly Entry[],
  firstLine: number,
  startedAt: number,
): WireLogLine[] {
  const lines: WireLogLine[] = []
  let number = firstLine
  for (const [ms, stream, text] of entries) {
    const at = formatTime(startedAt + ms, 'at')
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      lines.push({ line: number, at, stream: STREAMS[stream], text: text.slice(start, end) })
      number += 1
      start = end + 1
    }
    if (start < text.length) {
      lines.push({ line: number, at, stream: STREAMS[stream], text: text.slice(start) })
    }
  }
  return lines
}
