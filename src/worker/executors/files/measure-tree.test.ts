import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { measureTree } from './measure-tree.ts'

const MIB = 1024 ** 2
const MUCH = 2 ** 40

function open(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'punctual-measure-'))
  t.after(() => rmSync(root, { recursive: true }))
  return root
}

test('everything in the directory counts, including an empty file', async (t) => {
  const root = open(t)
  assert.equal(await measureTree(root, MUCH), 0)
  writeFileSync(join(root, 'empty'), '')
  assert.ok((await measureTree(root, MUCH)) >= 512)
  mkdirSync(join(root, 'a', 'b'), { recursive: true })
  writeFileSync(join(root, 'a', 'b', 'file'), Buffer.alloc(MIB, 1), { flush: true })
  const bytes = await measureTree(root, MUCH)
  assert.ok(bytes >= MIB && bytes < 2 * MIB, String(bytes))
})

test('targets of links do not count, and a missing directory has size 0', async (t) => {
  const root = open(t)
  symlinkSync('/usr', join(root, 'usr'))
  assert.ok((await measureTree(root, MUCH)) < 64 * 1024)
  assert.equal(await measureTree(join(root, 'none'), MUCH), 0)
  assert.equal(await measureTree(join(root, 'usr'), MUCH), 0)
})

test('it stops as soon as the limit is exceeded', async (t) => {
  const root = open(t)
  for (let file = 0; file < 200; file += 1) writeFileSync(join(root, `f${file}`), 'x')
  const bytes = await measureTree(root, 10_000)
  assert.ok(bytes > 10_000 && bytes < 200 * 512, String(bytes))
})

test('a directory that is nested too deeply counts as too large', async (t) => {
  const root = open(t)
  mkdirSync(join(root, 'd/'.repeat(200)), { recursive: true })
  assert.equal(await measureTree(root, MUCH), MUCH + 1)
})
