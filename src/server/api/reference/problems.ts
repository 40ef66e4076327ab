import { ERRORS, type ErrorCode } from '../../../core/errors.ts'
import type { Route } from '../http/route-table.ts'

/** Errors that any request may get, so they are not repeated for every operation. */
export const COMMON_PROBLEMS: readonly ErrorCode[] = [
  'invalid_request',
  'host_not_allowed',
  'origin_not_allowed',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'unsupported_media_type',
  'internal',
]

/** Of these, the errors listed for an operation without any other error. */
const WITHOUT_TOKEN: readonly ErrorCode[] = ['invalid_request', 'host_not_allowed']

const WITH_TOKEN: readonly ErrorCode[] = [
  'unknown_field',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'store_unavailable',
  'store_damaged',
  'store_replaced',
  'node_stopping',
]
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'body_too_large',
  'invalid_field',
  'unknown_field',
  'storage_full',
]

/** Every error code of an operation, besides those of any request; in catalog order. */
export function problemsOf({ method, path, permission, schema, docs }: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(docs?.problems)
  const add = (...more: readonly ErrorCode[]) => more.forEach((code) => codes.add(code))
  add(...(permission === 'public' ? WITHOUT_TOKEN : WITH_TOKEN))
  if (method !== 'GET') add(...WITH_BODY)
  if (schema.body !== undefined || mustAsk(schema.querystring)) add('missing_field')
  if (/^\/v1\/(?!tokens).*\{(id|session)\}/.test(path)) add('invalid_id')
  if (/\{(name|step)\}/.test(path)) add('invalid_field')
  if (schema.querystring !== undefined) add('invalid_field')
  if (takesCursor(schema.querystring)) add('invalid_cursor')
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code))
}

function mustAsk(query: unknown): boolean {
  const { required = [] } = (query ?? {}) as { required?: readonly string[] }
  return required.length > 0
}

function takesCursor(query: unknown): boolean {
  const { properties = {} } = (query ?? {}) as { properties?: object }
  return 'cursor' in properties
}
