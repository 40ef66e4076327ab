import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { adminToken } from './admin-token.ts'

function tempDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-token-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

test('the first start writes a token that only its owner can read; later starts keep it', async (t) => {
  const dir = tempDir(t)
  const first = await adminToken(dir)
  assert.ok(first.token.length > 40)
  assert.equal(statSync(first.path).mode & 0o777, 0o600)
  assert.deepEqual(await adminToken(dir), first)
})

test('two installations have different tokens', async (t) => {
  assert.notEqual((await adminToken(tempDir(t))).token, (await adminToken(tempDir(t))).token)
})

test('a token that others can read is refused', async (t) => {
  const dir = tempDir(t)
  const { path } = await adminToken(dir)
  chmodSync(path, 0o644)
  await assert.rejects(adminToken(dir), { code: 'config_invalid' })
})

test('a weak token is refused', async (t) => {
  const dir = tempDir(t)
  writeFileSync(join(dir, 'admin-token'), 'changeme\n', { mode: 0o600 })
  await assert.rejects(adminToken(dir), { code: 'config_invalid' })
})
