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

for (const mode of [0o640, 0o604, 0o660]) {
  test(`a token file with the mode ${mode.toString(8)} is refused, because others could read it`, async (t) => {
    const dir = tempDir(t)
    const { path } = await adminToken(dir)
    chmodSync(path, mode)
    await assert.rejects(adminToken(dir), { code: 'config_invalid', message: /chmod 600/ })
  })
}

const weak: [why: string, text: string, message: RegExp][] = [
  ['an empty token', '\n', /is empty; remove it/],
  ['a short token', 'changeme\n', /fewer than 32/],
  ['a long token that says one thing', 'abc'.repeat(20), /easy to guess/],
  ['a token of two lines', `${'k7Qz'.repeat(10)}\n${'k7Qz'.repeat(10)}`, /holds spaces, lines/],
]
for (const [why, text, message] of weak) {
  test(`${why} is refused`, async (t) => {
    const dir = tempDir(t)
    writeFileSync(join(dir, 'admin-token'), text, { mode: 0o600 })
    await assert.rejects(adminToken(dir), { code: 'config_invalid', message })
  })
}
