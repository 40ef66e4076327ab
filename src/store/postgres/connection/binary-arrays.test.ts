import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { postgresUrl } from '../../../../test/support/servers.ts'
import { StoreError } from '../../port.ts'
import {
  type ArrayParameter,
  bigints,
  booleans,
  bytes,
  ints,
  smallints,
  texts,
} from './binary-arrays.ts'
import { typeParsers } from './type-parsers.ts'

let client: pg.Client
before(async () => {
  client = new pg.Client({ connectionString: await postgresUrl(), types: typeParsers })
  // When the file runs alone, the server ends before the other half of this hook.
  client.on('error', () => {})
  await client.connect()
})
after(() => client.end())

async function roundTrip(type: string, parameter: ArrayParameter): Promise<unknown[]> {
  const sql = `SELECT value FROM unnest($1::${type}[], '{}'::int[]) AS t (value, pad)`
  return (await client.query<{ value: unknown }>(sql, [parameter])).rows.map(({ value }) => value)
}

const LISTS: readonly [
  type: string,
  encode: (values: never[]) => ArrayParameter,
  values: unknown[],
][] = [
  ['bigint', bigints, [0, 1, -1, 2 ** 32, 2 ** 32 - 1, -(2 ** 32), -(2 ** 32) - 1]],
  ['bigint', bigints, [Number.MAX_SAFE_INTEGER, null, Number.MIN_SAFE_INTEGER]],
  ['int', ints, [0, -1, 2 ** 31 - 1, null, -(2 ** 31) + 1]],
  ['smallint', smallints, [0, -10, 10, null, 2 ** 15 - 1, -(2 ** 15) + 1]],
  ['boolean', booleans, [true, null, false]],
  ['bytea', bytes, [Buffer.from([]), null, Buffer.from([0, 255, 92, 120])]],
  ['text', texts, ['', 'a', null, 'å', '👩‍👩‍👧‍👦', '{"a","b"}', 'NULL', "it's", 'x'.repeat(70_000)]],
]

for (const [type, encode, values] of LISTS) {
  test(`a list of ${type} arrives as it was sent: ${JSON.stringify(values).slice(0, 60)}`, async () => {
    assert.deepEqual(await roundTrip(type, encode(values as never[])), values)
  })
}

test('a list of nulls becomes a column of nulls next to one with values', async () => {
  assert.equal(texts([null, null]), null)
  const sql = 'SELECT a, b FROM unnest($1::bigint[], $2::text[]) AS t (a, b)'
  const { rows } = await client.query(sql, [bigints([1, 2]), texts([null, null])])
  assert.deepEqual(rows, [
    { a: 1, b: null },
    { a: 2, b: null },
  ])
})

test('an empty list is no rows', async () => {
  assert.deepEqual(await roundTrip('bigint', bigints([])), [])
})

test('an array element is read by its position', async () => {
  const sql = 'SELECT ($1::bigint[])[2] AS second'
  assert.deepEqual((await client.query(sql, [bigints([7, 8, 9])])).rows, [{ second: 8 }])
})

const REFUSED: readonly [why: string, encode: () => unknown][] = [
  ['a fraction', () => bigints([0.5])],
  ['no number', () => ints([Number.NaN])],
  ['infinity', () => bigints([Number.POSITIVE_INFINITY])],
  ['a number beyond 2^53', () => bigints([2 ** 53])],
  ['a number too large for an int', () => ints([2 ** 31])],
  ['a number too small for a smallint', () => smallints([-(2 ** 15) - 1])],
  ['nothing where a number should be', () => bigints([undefined as unknown as number])],
]

for (const [why, encode] of REFUSED) {
  test(`${why} is refused before it is sent`, () => {
    assert.throws(
      encode,
      (error: unknown) => error instanceof StoreError && error.outcome === 'refused',
    )
  })
}
