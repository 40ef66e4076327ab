import type { WireLogHit, WireLogSearch } from '../../core/wire/views.ts'
import type { Format } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** What is looked for, as a query for the server. */
export interface LogSearchOptions {
  readonly grep: string
  readonly regexp?: true
  readonly ignoreCase?: true
  readonly attempt?: string
}

/** Shows lines in which something is found, as they are found. False if there are none. */
export async function searchLog(
  id: string,
  options: LogSearchOptions,
  { calls, terminal, format }: { calls: ServerCalls; terminal: Terminal; format: Format },
): Promise<boolean> {
  const { grep, regexp, ignoreCase, attempt } = options
  const all: WireLogHit[] = []
  let count = 0
  for (let from = 0; ;) {
    const query = new URLSearchParams({
      q: grep,
      mode: regexp ? 'regex' : 'literal',
      case: ignoreCase ? 'ignore' : 'sensitive',
      from_line: String(from),
      ...(attempt === undefined ? {} : { attempt }),
    })
    const path = `/v1/runs/${id}/logs/search?${query.toString()}`
    const { hits, next_line, complete } = await calls.call<WireLogSearch>('GET', path)
    count += hits.length
    if (format === 'json') all.push(...hits)
    else terminal.out(hits.map((hit) => show(terminal, format, hit)).join(''))
    // A run that goes on has nothing more to search for the moment.
    if (complete || next_line === from) break
    from = next_line
  }
  if (format === 'json') terminal.out(`${JSON.stringify(all, null, 2)}\n`)
  return count > 0
}

function show(terminal: Terminal, format: Format, hit: WireLogHit): string {
  if (format === 'jsonl') return `${JSON.stringify(hit)}\n`
  if (format === 'name') return `${hit.line}\n`
  const { line, column, length, text, text_column: start } = hit
  const at = column - start
  const before = (start > 0 ? '…' : '') + harmless(text.slice(0, at))
  const found = paint(terminal, 'red', harmless(text.slice(at, at + length)))
  const number = paint(terminal, 'grey', `${line}:`)
  return `${number} ${before}${found}${harmless(text.slice(at + length))}\n`
}
