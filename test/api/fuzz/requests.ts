import { signedHeaders } from '../../../src/server/webhooks/signing.ts'
import type { Seeded } from '../../sim/seeded.ts'
import type { Document, Operation, Schema } from '../openapi-document.ts'
import { createSchemaCheck } from '../schema-check.ts'
import { BAD_HEADERS, BAD_QUERIES, BAD_SEGMENTS, garbled, spoiled } from './break-request.ts'
import { HOOK_SECRET } from './fixtures.ts'
import { simulateWorker } from './simulate-worker.ts'
import type { Pool } from './pool.ts'
import { createValues } from './values.ts'

export interface FuzzRequest {
  readonly operation: Operation
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
  /** The part that was broken on purpose. */
  readonly broken: Part | 'nothing'
  /** Whether the body matches the reference; undefined where there is none. */
  readonly isBodyValid: boolean | undefined
}

type Part = 'body' | 'bytes' | 'path' | 'query' | 'headers'
const BROKEN = { nothing: 55, body: 24, bytes: 6, path: 5, query: 5, headers: 5 }

/** As a caller that knows the hook's secret. */
function sign(body: string | Buffer | undefined): Record<string, string> {
  const message = { id: 'msg_1', body: String(body ?? ''), at: Math.floor(Date.now() / 1_000) }
  return signedHeaders(message, [HOOK_SECRET])
}

/** A sequence of requests for any operation of the reference, from one seed. */
export function createRequests(
  document: Document,
  { seeded, pool, token }: { seeded: Seeded; pool: Pool; token: string },
) {
  const value = createValues(document, seeded, pool)
  const check = createSchemaCheck(document)
  const { chance, pick } = seeded

  const segment = (name: string, { path }: Operation) => {
    if (name === 'session') return pool.session()?.session ?? 'ses_00000000001'
    if (name === 'id' && path.startsWith('/v1/tokens')) return pool.token()
    if (name === 'id' && path.startsWith('/v1/webhooks')) return pool.delivery()
    if (path.startsWith('/v1/backfills')) return pool.backfill()
    if (path.startsWith('/jobs')) return pool.plainJob()
    if (path.startsWith('/workers')) return pool.plainWorker()
    if (name === 'id') return path.includes('/steps') && chance(0.8) ? pool.aWorkflow() : pool.run()
    // Two names that belong together almost never meet by chance.
    if (path.includes('{schedule}') && chance(0.95)) return 'kept'
    if (path.startsWith('/v1/hooks') && chance(0.95)) return 'orders'
    if (name === 'step' && chance(0.95)) return pick(['ask', 'each'])
    return pool.name()
  }

  const pathOf = (operation: Operation, session: string | undefined, isBroken: boolean) => {
    const parts = operation.path.match(/\{\w+\}/g) ?? []
    const spoil = isBroken && parts.length > 0 ? pick(parts) : undefined
    return operation.path.replace(/\{(\w+)\}/g, (part, name: string) => {
      if (part === spoil) return pick(BAD_SEGMENTS)
      return name === 'session' && session !== undefined ? session : segment(name, operation)
    })
  }

  const queryOf = ({ parameters }: Operation, isBroken: boolean) => {
    const wanted = parameters.filter((one) => one.in === 'query' && chance(0.4))
    const words = wanted.map(
      ({ name, schema }) => `${name}=${encodeURIComponent(String(value(schema, name)))}`,
    )
    if (isBroken) words.push(pick(BAD_QUERIES))
    return words.length === 0 ? '' : `?${words.join('&')}`
  }

  const headersOf = ({ parameters }: Operation, isBroken: boolean) => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` }
    for (const { in: place, name, schema } of parameters) {
      // Half of the compat routes answer nothing without a user.
      const often = name === 'X-User-ID' ? 0.8 : 0.1
      if (place === 'header' && chance(often)) headers[name.toLowerCase()] = String(value(schema))
    }
    return isBroken ? { ...headers, ...pick(BAD_HEADERS) } : headers
  }

  const isValid = (schema: Schema, body: string | Buffer) => {
    try {
      return check(schema, JSON.parse(body.toString())) === undefined
    } catch {
      return false
    }
  }

  const bodyOf = ({ body: schema, method }: Operation, valid: unknown, broken: string) => {
    if (method === 'GET') return { body: undefined, isBodyValid: undefined }
    if (schema === undefined) {
      const body = broken === 'body' ? JSON.stringify(spoiled({}, seeded)) : pick([undefined, '{}'])
      return { body, isBodyValid: undefined }
    }
    const sent = broken === 'body' ? spoiled(valid, seeded) : valid
    const text = JSON.stringify(sent)
    const body = broken === 'bytes' ? garbled(text, seeded) : text
    return { body, isBodyValid: isValid(schema, body) }
  }

  return (operation: Operation): FuzzRequest => {
    const broken = seeded.weighted(BROKEN)
    const simulated = simulateWorker(operation, { seeded, pool })
    const made = operation.body && value(operation.body)
    const valid = simulated ? { ...(made as object), ...simulated.body } : made
    const { body, isBodyValid } = bodyOf(operation, valid, broken)
    const path = pathOf(operation, simulated?.session, broken === 'path')
    return {
      operation,
      path: path + queryOf(operation, broken === 'query'),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headersOf(operation, broken === 'headers'),
        ...(simulated?.secret === undefined ? {} : { 'punctual-session-secret': simulated.secret }),
        ...(operation.path.startsWith('/v1/hooks') && chance(0.8) ? sign(body) : {}),
      },
      body,
      broken,
      isBodyValid,
    }
  }
}
