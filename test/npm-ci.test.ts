import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** The files npm reads, in a copy that requires a newer Node than any. */
function copyForNewerNode(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-npm-ci-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  mkdirSync(join(dir, 'tools'))
  cpSync(join(ROOT, 'tools/dev-binaries'), join(dir, 'tools/dev-binaries'), { recursive: true })
  cpSync(join(ROOT, '.npmrc'), join(dir, '.npmrc'))
  for (const name of ['package.json', 'package-lock.json']) {
    const text = readFileSync(join(ROOT, name), 'utf8')
    writeFileSync(join(dir, name), text.replaceAll('"node": ">=22.19"', '"node": ">=999"'))
  }
  return dir
}

test('npm ci does not warn about the Node that npm itself runs on', (t) => {
  const cwd = copyForNewerNode(t)
  const argv = ['ci', '--dry-run', '--offline', '--ignore-scripts']
  // The test's environment may contain npm settings.
  const env = { PATH: process.env['PATH'], HOME: cwd }
  const ci = (...more: string[]) => {
    const { status, stdout, stderr } = spawnSync('npm', [...argv, ...more], {
      cwd,
      env,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    return stdout + stderr
  }
  assert.match(ci('--loglevel', 'warn'), /EBADENGINE/, 'the copy makes npm warn')
  const output = ci()
  assert.doesNotMatch(output, /EBADENGINE|npm warn/)
  assert.match(output, /added \d+ packages/)
})
