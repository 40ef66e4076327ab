import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { findUsers } from './local-users.ts'

test('a user of this machine is found with its ids, its groups and an existing home', async () => {
  const { username, uid, gid } = userInfo()
  const users = await findUsers([username, username])
  assert.equal(users.size, 1)
  const found = users.get(username)
  assert.deepEqual([found?.uid, found?.gid], [uid, gid])
  assert.ok(found?.groups.includes(gid))
  assert.ok(found?.home.startsWith('/'))
})

for (const name of ['no-such-user-here', '0', '-u', 'root; id', '', 'a'.repeat(33), 'root\n']) {
  test(`${JSON.stringify(name)} is not a user`, async () => {
    await assert.rejects(findUsers([name]), { code: 'config_invalid' })
  })
}
