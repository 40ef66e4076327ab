import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFrontendMessages } from './frontend-messages.ts'

function message(type: string, ...parts: string[]): Buffer {
  const body = Buffer.from(parts.map((part) => `${part}\0`).join(''), 'latin1')
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type, 'latin1'), length, body])
}

const STARTUP_MESSAGE = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f])
const run = (sql: string, name = '') => [
  message('P', name, sql),
  message('B', '', name),
  message('E', ''),
  message('S'),
]
const again = (name: string) => run('', name).slice(1)

const commits: [why: string, messages: Buffer[], what: string][] = [
  ['a simple COMMIT', [message('Q', 'COMMIT')], 'COMMIT'],
  ['a COMMIT in pieces', run('COMMIT'), 'COMMIT'],
  ['the end of a transaction', [...run('BEGIN'), ...run('DELETE'), ...run('COMMIT')], 'COMMIT'],
  ['a single write', run('WITH a AS (SELECT 1) UPDATE node', 'beat'), 'beat'],
  ['a prepared one', [...run('SELECT 1', 'ping'), ...run('INSERT INTO a', 'add')], 'add'],
  ['a write after a rollback', [...run('BEGIN'), ...run('ROLLBACK'), ...run('UPDATE a')], 'UPDATE'],
]
for (const [why, messages, what] of commits) {
  test(`${why} commits, at the end of its last message`, () => {
    const bytes = Buffer.concat([STARTUP_MESSAGE, ...messages])
    const more = Buffer.concat([bytes, message('Q', 'SELECT 1')])
    assert.deepEqual(createFrontendMessages().findCommit(more), { length: bytes.length, what })
  })

  test(`${why} commits in whatever pieces the bytes arrive`, () => {
    const stream = createFrontendMessages()
    const bytes = Buffer.concat([SSL_REQUEST, STARTUP_MESSAGE, ...messages])
    const found = [...bytes].map((byte) => stream.findCommit(Buffer.from([byte])))
    assert.deepEqual(found.pop(), { length: 1, what })
    assert.ok(found.every((point) => point === undefined))
  })
}

const others: [why: string, messages: Buffer[]][] = [
  ['a read', run('SELECT 1')],
  ['a read that runs again', [...run('SELECT 1', 'ping'), ...again('ping')]],
  ['a write inside a transaction', [...run('BEGIN'), ...run('DELETE FROM ready')]],
  ['a rollback', [...run('BEGIN'), ...run('UPDATE a'), ...run('ROLLBACK')]],
  ['a COMMIT without the message that executes it', run('COMMIT').slice(0, -1)],
  ['a statement that is only prepared', [message('P', 'add', 'INSERT INTO a'), message('S')]],
  ['a startup message', [SSL_REQUEST]],
]
for (const [why, messages] of others) {
  test(`${why} does not commit`, () => {
    const bytes = Buffer.concat([STARTUP_MESSAGE, ...messages])
    assert.equal(createFrontendMessages().findCommit(bytes), undefined)
  })
}
