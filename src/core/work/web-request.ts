/**
 * What can be said about an outgoing request before any name is looked up. The addresses its names
 * lead to are judged when they are dialled, in `src/outbound`.
 */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** The URL parser drops some of these silently, so what was checked would not be what was written. */
const UNSPEAKABLE = /[\p{Cc}\s\\]/u
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/

/** Headers that say where a message ends or who carries it: they belong to the connection. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** What is wrong with an address someone wants called; undefined if nothing is. */
export function refuseUrl(text: string): string | undefined {
  if (UNSPEAKABLE.test(text)) return 'contains white space, a control character or a backslash'
  if (!URL.canParse(text)) return 'is not a URL'
  const { protocol, username, password, hostname, port } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://'
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) {
    return 'carries a user name; use an Authorization header'
  }
  if (hostname === '') return 'names no host'
  if (port === '0') return 'names port 0, where nobody can listen'
  return undefined
}

/** What is wrong with a header; undefined if nothing is. A line break would begin another header. */
export function refuseHeader(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a name a header can have'
  if (OF_THE_CONNECTION.has(name.toLowerCase())) return 'is set by Punctual itself'
  if (CONTROL.test(value)) return 'contains a line break or another character no header can carry'
  return undefined
}
