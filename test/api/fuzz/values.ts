import { executor, jobOrStep } from '../../../src/core/schema/fields.ts'
import { WORKER_ID } from '../../../src/server/api/compat/schemas.ts'
import { LABEL_VALUE, NAME, USER_NAME } from '../../../src/core/limits.ts'
import { VARIABLE_NAME } from '../../../src/core/work/variable.ts'
import type { Seeded } from '../../sim/seeded.ts'
import { type Document, resolved, type Schema } from '../openapi-document.ts'
import type { Pool } from './pool.ts'
import { USER_ID } from '../../../src/server/compat/wire.ts'

/** Generates values for a schema, preferring existing objects. */
export type Values = (schema: Schema, field?: string) => unknown

const { pattern: EXECUTOR } = executor() as unknown as { pattern: string }
const { pattern: FOLLOWED } = jobOrStep() as unknown as { pattern: string }
const RECURRENCES = [
  '@every 1h',
  '@daily',
  '0 0 1 1 *',
  '0 30 2 * * 1-5',
  'weekdays at 09:05',
  '* * *',
  '',
  'CRON_TZ=Asia/Tokyo 0 0 1 * *',
  'TZ=Mars/Base @daily',
  '2999-01-01T00:00:00Z',
  '@every 0s',
]
const TEXTS = [
  '',
  'x',
  'true',
  '/tmp',
  '027',
  '0',
  '[1]',
  '{"a":',
  'état — 東京 🎉',
  'a\tb\r\nc',
  "';--",
  '../..',
  '%00',
  '${x}',
  '\u202e\u200b',
  '\u001b[31m',
  'run_00000000001',
  '#!/bin/sh\nexit 3',
]
const DURATIONS = ['0s', '1ms', '90s', '15m', '1h30m', '2d', '1w', '10000w']
const TIMES = ['2026-01-31T09:00:00Z', '2999-12-31T23:59:59.999+14:00', '1970-01-01T00:00:00Z']
const FILTERS = ['state:failed', 'job:a*,b since:24h', 'tag.a:"x y"', 'until:2026-01-31T09:00:00Z']
/** A fuzz must not wait long, and queues that are mostly paused would leave little to test. */
const MOSTLY: Readonly<Record<string, readonly unknown[]>> = {
  wait: ['0s', '1ms', '5ms'],
  wait_ms: [0, 1, 5],
  paused: [false, false, false, true],
  kill_grace: ['0s', '1ms', '90s', '10m', '15m'],
  cron: ['0 3 * * *', 'H H(0-5) * * mon', '@every 90s', '* * * * * *', '0 0 30 2 *', '61 * * * *'],
  every: [
    '5m',
    '2s',
    '90s',
    'weekdays at 09:05',
    '1s after finish',
    '0s after finish',
    'soon',
    '0s',
  ],
  at: ['2999-01-01T09:00:00Z', '2999-01-01T09:00', '1999-01-01T09:00:00Z', 'tomorrow'],
  zone: ['UTC', 'Europe/Athens', 'Australia/Lord_Howe', 'Mars/Phobos'],
  overlap: ['skip', 'queue', 'queue(3)', 'replace', 'allow', 'queue(0)'],
  // The outbound guard refuses these before anything is sent.
  url: ['http://127.0.0.1:9/hook', 'https://[::1]/', 'ftp://a.example', 'http://x y', '/'],
}

/** Exactly one of these fields is allowed, which the schemas do not express. */
const EITHER = [
  ['cron', 'every', 'at'],
  ['webhook', 'after'],
] as const
/** A hook call needs nothing else; jobs that follow each other by few names soon form cycles. */
const CALLED = 0.8

export function createValues(document: Document, seeded: Seeded, pool: Pool): Values {
  const { chance, pick, between } = seeded

  const samples: Readonly<Record<string, () => string>> = {
    [NAME.source]: pool.name,
    [FOLLOWED]: () => pick([pool.name(), `${pool.name()}/load`]),
    [WORKER_ID]: pool.plainWorker,
    [USER_ID.source]: () => pick(['ada', 'grace hopper', 'x'.repeat(128)]),
    [LABEL_VALUE.source]: () => pick(['a100', 'eu/west:1', 'x']),
    [EXECUTOR]: () => pick(['shell', 'argv', 'script', `handler:${pool.name()}`]),
    '^run_[0-9A-Za-z]{11}$': pool.run,
    '^ses_[0-9A-Za-z]{11}$': () => pool.session()?.session ?? 'ses_00000000001',
    '^[A-Za-z0-9._*-]{1,128}$': () => pick(['*', 'etl-*', pool.name()]),
    [VARIABLE_NAME.source]: () => pick(['PASSWORD', 'PASSWORD', 'A_1', '_x']),
    [USER_NAME.source]: () => pick(['ada', 'nobody']),
    '^SIG[A-Z0-9+]{2,12}$': () => pick(['SIGKILL', 'SIGRTMIN+3']),
    '^[0-9]{1,3}$': () => String(between(1, 30)),
    '^[0-9]{1,4}$': () => String(between(1, 500)),
    '^[0-9]{1,12}$': () => String(pick([0, 1, 1, 1, 2, 200, 10_000, 999_999_999_999])),
    '^[\\x21-\\x7e]{1,128}$': () => pick(['secret', 'x'.repeat(128)]),
    '^[\\x21-\\x7e]{1,249}$': () => pick(['k1', 'k2', 'k'.repeat(249), '~!"#']),
    '^[\\x21-\\x7e]{1,255}$': () => pick(['msg_1', '~'.repeat(255)]),
    '^[\\x20-\\x7e]+$': () => pick(['v1,AAAA', 'v1,', 'v2,x v1,y', ' ']),
    '^[\\x21-\\x7e]+$': () => pick(['1.0', '1.999999999', '0.0', 'x']),
    '^("[0-9]{1,9}"|\\*)$': () => pick(['*', pool.etag()]),
  }

  const text = ({ pattern, description = '', minLength = 0, maxLength }: Schema, field: string) => {
    if (pattern !== undefined) {
      const sample = samples[pattern]
      if (!sample) throw new Error(`teach test/api/fuzz/values.ts the pattern ${pattern}`)
      return sample()
    }
    if (/recurrence/.test(description)) return pick(RECURRENCES)
    if (field === 'payload') return pick(['cmd:true', 'cmd:#!/bin/sh\nexit 1', ...TEXTS])
    if (field === 'id' || field === 'before') return pick([pool.plainJob(), pool.uuid(), 'x'])
    if (field === 'cursor') return pool.cursor()
    if (field === 'q') return pick([...FILTERS, ...TEXTS])
    if (/duration/i.test(description)) return pick(DURATIONS)
    if (/time with its zone/.test(description)) return pick(TIMES)
    const made = pick(TEXTS)
    if (maxLength === undefined) return made
    return chance(0.1) ? 'x'.repeat(maxLength) : made.slice(0, maxLength).padEnd(minLength, 'x')
  }

  const whole = ({ minimum = -9, maximum = Number.MAX_SAFE_INTEGER }: Schema) =>
    pick([minimum, minimum, Math.min(minimum + between(0, 9), maximum), maximum])

  const list = ({ items, minItems = 0, maxItems = 9, description = '' }: Schema) => {
    if (!items && description.includes('milliseconds')) {
      return [between(0, 99), between(0, 2), pick(TEXTS)]
    }
    const length = Math.min(maxItems, minItems + pick([0, 0, 1, 2, 5]))
    return Array.from({ length }, () => (items ? value(items) : anything(2)))
  }

  const object = ({ properties = {}, required = [], ...schema }: Schema) => {
    const made: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(properties)) {
      if (required.includes(name) || chance(0.2)) made[name] = value(property, name)
    }
    const names = EITHER.find((list) => list.every((name) => name in properties))
    if (names && chance(0.9)) {
      for (const name of names) delete made[name]
      const isCall = names[0] === 'webhook' && chance(CALLED)
      const name = isCall ? names[0] : pick(names)
      if (isCall) return { [name]: value(properties[name] as Schema, name) }
      made[name] = value(properties[name] as Schema, name)
    }
    const { additionalProperties: rest, propertyNames } = schema
    if (typeof rest !== 'object') return made
    for (let left = pick([0, 1, 2]); left > 0; left -= 1) {
      made[propertyNames ? pool.name() : pick(['PATH', 'LANG', 'A_1'])] = value(rest)
    }
    return made
  }

  const anything = (depth: number): unknown => {
    if (depth > 0 && chance(0.3)) return [anything(depth - 1), anything(depth - 1)]
    if (depth > 0 && chance(0.3)) return { a: anything(depth - 1), 'é "': anything(depth - 1) }
    return pick([null, true, 0, -1.5, 2 ** 53, '', 'text', [], {}])
  }

  const value: Values = (pointer, field = '') => {
    const schema = resolved(document, pointer)
    const { type, anyOf, oneOf, enum: words } = schema
    if (MOSTLY[field]) return pick(MOSTLY[field])
    if ('const' in schema) return schema.const
    if (words) return pick(words)
    const choices = anyOf ?? oneOf
    if (choices) return value(pick(choices), field)
    switch (Array.isArray(type) ? pick(type as string[]) : type) {
      case 'string':
        return text(schema, field)
      case 'integer':
        return whole(schema)
      case 'number':
        return pick([schema.minimum ?? 0, 0.5, schema.maximum ?? 1])
      case 'boolean':
        return chance(0.5)
      case 'null':
        return null
      case 'array':
        return list(schema)
      case 'object':
        return object(schema)
      default:
        return anything(3)
    }
  }
  return value
}
