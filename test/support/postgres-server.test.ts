import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { hasDebianPostgres, type PostgresFlavour } from './postgres-binaries.ts'
import { queryOnce } from './postgres-query.ts'
import { startPostgres } from './postgres-server.ts'
import { postgresUrl } from './servers.ts'

const flavours: [flavour: PostgresFlavour, version: RegExp, skip: string | false][] = [
  ['embedded', /^18\./, false],
  ['debian', /^\d+\./, hasDebianPostgres() ? false : 'apt-get install postgresql'],
]
for (const [version, expected, skip] of flavours) {
  test(
    `a private server (${version}) keeps its data over a crash and leaves nothing`,
    { skip },
    async () => {
      const server = await startPostgres({ version })
      try {
        assert.match(server.version, expected)
        const url = await server.createDatabase()
        await queryOnce(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
        const pid = server.pid
        await server.restart('immediate')
        assert.notEqual(server.pid, pid)
        assert.deepEqual(await queryOnce(url, 'SELECT answer FROM kept'), [{ answer: 42 }])
        const durable = await queryOnce(url, `SELECT current_setting('fsync') AS fsync`)
        assert.deepEqual(durable, [{ fsync: 'on' }])
      } finally {
        await server.stop()
        await server.stop()
      }
      assert.equal(existsSync(dirname(server.dataDir)), false)
      assert.throws(() => process.kill(server.pid, 0), { code: 'ESRCH' })
      await assert.rejects(queryOnce(server.url, 'SELECT 1'), { code: 'ECONNREFUSED' })
    },
  )
}

test('every caller gets an empty database of its own', async () => {
  const [one, other] = await Promise.all([postgresUrl(), postgresUrl()])
  await queryOnce(one, 'CREATE TABLE mine ()')
  await assert.rejects(queryOnce(other, 'SELECT FROM mine'), { code: '42P01' })
})
