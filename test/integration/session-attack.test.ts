import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { publicId } from '../../src/core/ids.ts'
import { formatKey, newKey } from '../../src/core/secrets/key-file.ts'
import { queryOnce } from '../support/postgres-query.ts'
import { openHome, type PunctualHome } from '../support/punctual-home.ts'
import { postgresUrl } from '../support/servers.ts'
import { attackSessions } from '../support/session-attack.ts'

const rootOf = ({ dataDir }: PunctualHome) =>
  readFileSync(join(dataDir, 'admin-token'), 'utf8').trim()
const shown = (ids: readonly unknown[]) => ids.map((id) => publicId('ses', Number(id)))

test('no token of the default project can use sessions of the embedded worker of `punctual up`', async (t) => {
  const home = openHome(t)
  const url = await home.up()
  const theft = await attackSessions(
    {
      nodes: [{ url, root: rootOf(home) }],
      async stolenSessions() {
        const db = new Database(join(home.dataDir, 'punctual.db'), { readonly: true })
        const ids = db.prepare('SELECT id FROM session').pluck().all()
        db.close()
        return shown(ids)
      },
    },
    join(home.dir, 'gate'),
  )
  assert.ok(theft.requests >= 48, `${theft.requests} requests`)
  await theft.assertUnharmed()
  t.diagnostic(`${theft.requests} requests`)
})

test('nor those of two nodes on PostgreSQL, whichever node it asks', async (t) => {
  const store = await postgresUrl()
  const [one, other] = [openHome(t), openHome(t)]
  const keyFile = join(one.dir, 'keys')
  writeFileSync(keyFile, formatKey(newKey(randomBytes)), { mode: 0o600 })
  const keys = ['--secret-key', keyFile]
  const first = await one.up('--store', store, ...keys)
  const second = await other.up('--store', store, ...keys)
  const theft = await attackSessions(
    {
      nodes: [
        { url: first, root: rootOf(one) },
        { url: second, root: rootOf(other) },
      ],
      stolenSessions: async () =>
        shown((await queryOnce(store, 'SELECT id FROM punctual.session')).map(({ id }) => id)),
    },
    join(one.dir, 'gate'),
  )
  assert.ok(theft.requests >= 96, `${theft.requests} requests`)
  await theft.assertUnharmed()
  t.diagnostic(`${theft.requests} requests`)
})
