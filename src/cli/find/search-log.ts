import type { WireLogHit, WireLogSearch } from '../../core/wire/views.ts'
import type { Format } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** The search as a query for the server. */
export interface LogSearchOptions {
  readonly grep: string
  readonly regexp?: true
  readonly ignoreCase?: true
}

/** Finds lines in the log of one attempt and passes them on page by page. */
export async function searchLog(
  id: string,
  options: LogSearchOptions & { readonly query: URLSearchParams },
  { calls, onHits }: { calls: ServerCalls; onHits(hits: readonly WireLogHit[]): void },
): Promise<void> {
  const { grep, regexp, ignoreCase, query } = options
  query.set('q', grep)
  query.set('mode', regexp ? 'regex' : 'literal')
  query.set('case', ignoreCase ? 'ignore' : 'sensitive')
  for (let from = 0; ;) {
    query.set('from_line', String(from))
    const path = `/v1/runs/${id}/logs/search?${query.toString()}`
    const { hits, next_line, complete } = await calls.call<WireLogSearch>('GET', path)
    if (hits.length > 0) onHits(hits)
    // The run continues, but there is nothing more to search at the moment.
    if (complete || next_line === from) return
    from = next_line
  }
}

export function showHit(terminal: Terminal, format: Format, hit: WireLogHit): string {
  if (format === 'jsonl') return `${JSON.stringify(hit)}\n`
  if (format === 'name') return `${hit.line}\n`
  const { line, column, length, text, text_column: start } = hit
  const at = column - start
  const before = (start > 0 ? '…' : '') + harmless(text.slice(0, at))
  const found = paint(terminal, 'red', harmless(text.slice(at, at + length)))
  const number = paint(terminal, 'grey', `${line}:`)
  return `${number} ${before}${found}${harmless(text.slice(at + length))}\n`
}
