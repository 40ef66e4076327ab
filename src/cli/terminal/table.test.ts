import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Column, table } from './table.ts'

interface Row {
  readonly name: string
  readonly tries: string
  readonly bar: string
  readonly id: string
  readonly why: string
}

const COLUMNS: Column<Row>[] = [
  { title: 'NAME', show: ({ name }) => name, shrinks: true, minWidth: 12 },
  { title: 'TRIES', show: ({ tries }) => tries, hideIfEmpty: true },
  { title: 'BAR', show: ({ bar }) => bar, dropOrder: 2 },
  { title: 'ID', show: ({ id }) => id, dropOrder: 1 },
  { title: 'WHY', show: ({ why }) => why, shrinks: true, minWidth: 10 },
]
const ROW: Row = {
  name: 'load_the_warehouse',
  tries: '',
  bar: '========',
  id: 'run_00000001',
  why: 'exited with code 3',
}

const titles = (rows: readonly Row[], width: number) =>
  (table(COLUMNS, rows, width).split('\n')[0] ?? '').split(/ {2,}/)

test('empty columns are left out, and optional columns are dropped before names are cut', () => {
  assert.deepEqual(titles([ROW], 100), ['NAME', 'BAR', 'ID', 'WHY'])
  assert.deepEqual(titles([ROW, { ...ROW, tries: '3' }], 100)[1], 'TRIES')
  assert.deepEqual(titles([ROW], 48), ['NAME', 'BAR', 'ID', 'WHY'])
  assert.deepEqual(titles([ROW], 47), ['NAME', 'ID', 'WHY'])
  assert.deepEqual(titles([ROW], 37), ['NAME', 'WHY'])
  assert.deepEqual(titles([ROW], 10), ['NAME', 'WHY'])
})

test('a table is at most as wide as its terminal', () => {
  for (const width of [18, 24, 37, 38, 47, 48, 60]) {
    for (const line of table(COLUMNS, [ROW], width).split('\n')) {
      assert.ok(line.length <= width, `${width}: ${line}`)
    }
  }
  assert.match(table(COLUMNS, [ROW], 24), /^load_the_wa… {2}exited wi…$/m)
})
