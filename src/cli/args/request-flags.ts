import type { Command } from 'commander'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/** An HTTP request given by flags. */
export interface RequestOptions {
  readonly http?: string
  readonly method?: string
  readonly header?: Readonly<Record<string, string>>
  readonly body?: string
  readonly expect?: string
}

export function addRequestFlags(command: Command): Command {
  return command
    .option('--http <url>', 'send a request instead')
    .option('--method <name>', 'the method; GET, or POST with a body, if absent')
    .option('--header <name: value>', 'a header of the request; may be repeated', header)
    .option('--body <text>', 'the body of the request; the input if absent')
    .option('--expect <statuses>', 'the statuses that count as success, such as 200-299,304')
}

/** The request to send, or undefined. */
export function requestOf(options: RequestOptions): object | undefined {
  const { http: url, method, header: headers, body, expect } = options
  const given = Object.entries({ method, headers, body, expect }).filter(([, value]) => value)
  if (url !== undefined) return { http: { url, ...Object.fromEntries(given) } }
  const [first] = given
  if (!first) return undefined
  const flag = first[0] === 'headers' ? 'header' : first[0]
  throw new Failure(`--${flag} requires --http`, { exitCode: EXIT.usage })
}

function header(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf(':')
  if (at <= 0) throw new Failure(`"${text}" is not NAME: VALUE`, { exitCode: EXIT.usage })
  return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1).trim() }
}
