/**
 * Checks of outgoing requests before any name is resolved. The addresses are checked when the connection is opened,
 * in `src/outbound`.
 */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** The URL parser removes some of these silently, so the checked URL would differ from the written one. */
const FORBIDDEN_CHARACTER = /[\p{Cc}\s\\]/u
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/

/** Hop-by-hop and framing headers: they belong to the connection. */
const CONNECTION_HEADERS = new Set([
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

/** Why a URL is rejected; undefined if it is valid. */
export function refuseUrl(text: string): string | undefined {
  if (FORBIDDEN_CHARACTER.test(text))
    return 'contains white space, a control character or a backslash'
  if (!URL.canParse(text)) return 'is not a URL'
  const { protocol, username, password, hostname, port } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://'
  if (username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) {
    return 'carries a user name; use an Authorization header'
  }
  if (hostname === '') return 'names no host'
  if (port === '0') return 'has port 0, which is not valid'
  return undefined
}

/** Why a header is rejected; undefined if it is valid. A line break would start another header. */
export function refuseHeader(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a valid header name'
  if (CONNECTION_HEADERS.has(name.toLowerCase())) return 'is set by Punctual itself'
  if (CONTROL.test(value))
    return 'contains a line break or another character that headers cannot contain'
  return undefined
}
