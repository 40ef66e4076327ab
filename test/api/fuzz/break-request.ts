import type { Seeded } from '../../sim/seeded.ts'

/** Ways to break a request, mostly mistakes of a careless or hostile program. */
const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53 + 2,
  -(2 ** 63),
  1e308,
  '',
  '12',
  'NaN',
  [],
  {},
  '\0',
  '\ud800',
  'x'.repeat(70_000),
  '../../etc/passwd',
  'run_zzzzzzzzzzz',
  'a b',
  '.',
  '٣',
  '2026-02-30T09:00:00Z',
  '2026-01-31T09:00:00',
  '+275761-01-01T00:00:00Z',
  '-5s',
  '99999999w',
  [null],
  [[]],
  { a: 1 },
  Array.from({ length: 70 }, () => 'a'),
  nested(40),
]
const KEYS = ['uid', 'state', 'runAt', 'attempt', '', 'constructor', 'x'.repeat(9_000), 'a.b', '\0']

function nested(levels: number): unknown {
  return levels === 0 ? [] : [nested(levels - 1)]
}

/** A copy with one wrong value somewhere. */
export function spoiled(value: unknown, seeded: Seeded): unknown {
  const { chance, pick, int } = seeded
  if (typeof value !== 'object' || value === null || chance(0.15)) return pick(WRONG)
  if (Array.isArray(value)) {
    if (value.length === 0) return [pick(WRONG)]
    const at = int(value.length)
    return value.with(at, spoiled(value[at], seeded))
  }
  const entries = Object.entries(value)
  if (entries.length === 0 || chance(0.25)) {
    return Object.fromEntries([...entries, [pick(KEYS), pick(WRONG)]])
  }
  const at = int(entries.length)
  if (chance(0.2)) return Object.fromEntries(entries.toSpliced(at, 1))
  const [key, inner] = entries[at] as [string, unknown]
  return Object.fromEntries(entries.with(at, [key, spoiled(inner, seeded)]))
}

/** Bytes that are not valid text. */
export function garbled(json: string, seeded: Seeded): Buffer {
  const { pick, int } = seeded
  const bytes = Buffer.from(json)
  return pick<() => Buffer>([
    () => bytes.subarray(0, int(bytes.length)),
    () => Buffer.concat([bytes, Buffer.from(pick(['}', 'x', '\0', json]))]),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    () => Buffer.from([0xff, 0xfe, ...bytes]),
    () => Buffer.from(`{"a":1,"a":2}`),
    () => Buffer.from(`{"__proto__":{"polluted":true}}`),
    () => Buffer.from(json.replace(/\d+/, '1e309')),
    () => Buffer.from('['.repeat(10_000)),
    () => Buffer.from(Array.from({ length: 20 }, () => int(256))),
    () => Buffer.alloc(0),
  ])()
}

export const BAD_SEGMENTS = [
  'x',
  '%00',
  '..%2f..%2fetc',
  '..%252f',
  '%20',
  '%zz',
  'run_',
  'run_zzzzzzzzzzz',
  "a'--",
  '%ED%A0%80',
  '%E2%80%AE',
  '.',
  '~',
  'a%0d%0ab',
  'x'.repeat(129),
  'x'.repeat(500),
  '0',
  '-1',
]
export const BAD_QUERIES = [
  'a',
  'limit=0',
  'limit=501',
  'limit=1&limit=2',
  'cursor=',
  'cursor=%00',
  'cursor=MTo',
  '__proto__=1',
  'constructor[a]=1',
  'q=%00',
  'q=tag.:',
  'wait=-1s',
  'wait=x',
  'attempt=1.5',
  'state=waiting',
  'job=%27',
  'everywhere=1',
  'tail=0',
  'from_line=x',
  '%zz=1',
  '=',
  '&&a=&',
  `q=${'x'.repeat(2_000)}`,
  `q=${'job:*a*'.repeat(200)}`,
  `x=${'y'.repeat(9_000)}`,
]
export const BAD_HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'punctual-project': '../x' },
  { 'punctual-project': '' },
  { 'punctual-project': 'x'.repeat(129) },
  { 'idempotency-key': '' },
  { 'idempotency-key': 'k'.repeat(250) },
  { 'if-match': '3' },
  { 'if-match': '"-1"' },
  { 'if-match': 'W/"1"' },
  { 'if-none-match': '"1"' },
  { 'last-event-id': 'x' },
  { 'last-event-id': '999999999.999999999' },
  { 'content-encoding': 'gzip' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=latin1' },
  { origin: 'https://evil.example' },
  { 'sec-fetch-site': 'cross-site' },
  { authorization: 'Basic eDp4' },
  { accept: 'image/png' },
]
