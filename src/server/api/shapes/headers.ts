import { NAME } from '../../../core/limits.ts'
import { USER_ID } from '../../compat/wire.ts'

/** Request headers besides the token, as parameters of the reference. */
export const REQUEST_HEADERS = {
  'Punctual-Project': {
    description:
      'The project of the request; `default` if absent. Only tokens of the whole ' +
      'installation may choose it: every other token belongs to one project.',
    schema: { type: 'string', pattern: NAME.source },
    example: 'default',
  },
  'Idempotency-Key': {
    description:
      'A repeated request with the same key within a day returns the runs that the first one ' +
      'made. With another body the key is refused.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,249}$' },
    example: 'invoice-c42-2026-01',
  },
  'If-Match': {
    description: 'Only if this version is current: the `ETag` of an earlier answer.',
    schema: { type: 'string', pattern: '^("[0-9]{1,9}"|\\*)$' },
    example: '"3"',
  },
  'If-None-Match': {
    description: '`*`: only if there is no such job yet.',
    schema: { type: 'string', const: '*' },
  },
  'Punctual-Session-Secret': {
    description:
      'The `session_secret` returned by the first registration of the session. Sessions ' +
      'of version 1 of the protocol have none.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$' },
    example: '0b7kS3l4r0nQdN5iY9cM2vX8wT6uE1aZgHjKpLqRsVo',
  },
  'X-User-ID': {
    description:
      'The user a job belongs to. Only a label: it grants no permissions beyond those of ' +
      'the token.',
    schema: { type: 'string', pattern: USER_ID.source },
    example: 'ada',
  },
  'webhook-id': {
    description: 'The id of the call, the same for every try of it.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    example: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
  },
  'webhook-timestamp': {
    description: 'When it was sent, in seconds since 1970.',
    schema: { type: 'string', pattern: '^[0-9]{1,12}$' },
    example: '1769850000',
  },
  'webhook-signature': {
    description:
      '`v1,` and the Base64 of the HMAC-SHA256 of `id.timestamp.body`; several with spaces between them.',
    schema: { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
  'Last-Event-ID': {
    description: 'The last event received on an earlier connection: the stream continues after it.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]+$' },
    example: '1.4',
  },
} as const

export const ANSWER_HEADERS = {
  ETag: {
    description: 'The version in quotes, for `If-Match`.',
    required: true,
    schema: { type: 'string', examples: ['"3"'] },
  },
  'Idempotency-Replayed': {
    description: '`true` if the key was used before: this is the earlier run.',
    schema: { type: 'string', const: 'true' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'X-Request-Id': {
    description: 'The `request_id` of the problem; finds it in the log of the server.',
    required: true,
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate: `Bearer`.',
    required: true,
    schema: { type: 'string' },
  },
} as const

export type RequestHeader = keyof typeof REQUEST_HEADERS
export type AnswerHeader = keyof typeof ANSWER_HEADERS

/** Headers of a problem response with this status. */
const WITH_STATUS: Readonly<Record<string, readonly AnswerHeader[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

export function headersWith(status: string): readonly AnswerHeader[] {
  return [...(WITH_STATUS[status] ?? []), 'X-Request-Id']
}

export function responseHeadersOf(names: readonly AnswerHeader[]): object {
  if (names.length === 0) return {}
  const headers = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return { headers: Object.fromEntries(headers) as object }
}
