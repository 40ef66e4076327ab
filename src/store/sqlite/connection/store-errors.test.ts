import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { PunctualError } from '../../../core/errors.ts'
import { StoreError } from '../../port.ts'
import { FatalStoreError, fromWire, isFatal, toWire, translate } from './store-errors.ts'
import { createTransactions } from './transaction.ts'

const OUTCOMES: [code: string, outcome: StoreError['outcome'], fatal: boolean][] = [
  ['SQLITE_CONSTRAINT_DATATYPE', 'refused', false],
  ['SQLITE_CONSTRAINT_NOTNULL', 'refused', false],
  ['SQLITE_MISMATCH', 'refused', false],
  ['SQLITE_TOOBIG', 'refused', false],
  ['SQLITE_ERROR', 'refused', false],
  ['SQLITE_BUSY', 'unavailable', false],
  ['SQLITE_BUSY_SNAPSHOT', 'unavailable', false],
  ['SQLITE_FULL', 'unavailable', false],
  ['SQLITE_IOERR_SHMSIZE', 'unavailable', false],
  ['SQLITE_IOERR_FSYNC', 'unavailable', true],
  ['SQLITE_IOERR_WRITE', 'unavailable', true],
  ['SQLITE_CORRUPT', 'unavailable', true],
]
for (const [code, outcome, fatal] of OUTCOMES) {
  test(`${code} is ${outcome}${fatal ? ' and fatal' : ''}`, () => {
    const error = translate(new Database.SqliteError('it broke', code), 'work')
    assert.ok(error instanceof StoreError)
    assert.deepEqual([error.outcome, isFatal(error)], [outcome, fatal])
  })
}

test('a commit on a failing disk may be found after a restart: its outcome is unknown', () => {
  const error = translate(new Database.SqliteError('it broke', 'SQLITE_IOERR_FSYNC'), 'commit')
  assert.ok(error instanceof FatalStoreError)
  assert.equal(error.outcome, 'unknown')
})

const CROSSING: Error[] = [
  new StoreError('refused', 'a poison item'),
  new StoreError('unknown', 'the outcome is unknown'),
  new FatalStoreError('unavailable', 'the disk failed'),
  new PunctualError('too_many_lanes', 'no more'),
  new PunctualError('invalid_field', 'out of range', { field: 'runs.3' }),
]
for (const error of CROSSING) {
  test(`${error.name} "${error.message}" crosses from the thread unchanged`, () => {
    const crossed = fromWire(structuredClone(toWire(error)))
    assert.deepEqual(crossed, error)
    assert.equal(crossed.constructor, error.constructor)
  })
}

test('a failed transaction is undone, and the next one works', () => {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE t (a INTEGER NOT NULL) STRICT')
  const { write } = createTransactions(db, assert.fail)
  const insert = db.prepare('INSERT INTO t VALUES (?)')
  assert.throws(
    () => write(() => [insert.run(1), insert.run(0.5)]),
    (error) => error instanceof StoreError && error.outcome === 'refused',
  )
  write(() => insert.run(2))
  assert.deepEqual(db.prepare('SELECT a FROM t').pluck().all(), [2])
})

test('a full disk is a temporary condition', () => {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE t (a TEXT) STRICT')
  const { write } = createTransactions(db, assert.fail)
  const insert = db.prepare('INSERT INTO t VALUES (?)')
  db.pragma('max_page_count = 4')
  assert.throws(
    () => write(() => insert.run('x'.repeat(100_000))),
    (error) => error instanceof StoreError && error.outcome === 'unavailable' && !isFatal(error),
  )
  db.pragma('max_page_count = 1000')
  assert.equal(write(() => insert.run('x'.repeat(100_000))).changes, 1)
})

test('after the disk failed once, nothing is answered and the callback is called once', () => {
  const db = new Database(':memory:')
  const reported: FatalStoreError[] = []
  const transactions = createTransactions(db, (error) => reported.push(error))
  const breaks = () => {
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC')
  }
  assert.throws(() => transactions.write(breaks), FatalStoreError)
  assert.equal(transactions.failed, true)
  for (const ask of [transactions.read, transactions.write]) {
    assert.throws(
      () => ask(() => assert.fail('the disk was asked again')),
      (error) => isFatal(error) && error.outcome === 'unavailable',
    )
  }
  assert.equal(reported.length, 1)
})

test('a closed database is unavailable', () => {
  const db = new Database(':memory:')
  const { read } = createTransactions(db, assert.fail)
  db.close()
  assert.throws(
    () => read(() => 1),
    (error) => error instanceof StoreError && error.outcome === 'unavailable',
  )
})
