import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { createServerHome } from './server-home.ts'

const PREFIX = `punctual-home-test-${process.pid}-`

test('the home of a dead process is removed by the next one, and that of a living process is not', () => {
  const script = `import { createServerHome } from './server-home.ts'
    process.stdout.write(createServerHome('${PREFIX}'))`
  const args = ['--input-type=module-typescript', '--eval', script]
  const run = () =>
    execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' })
  const mine = createServerHome(PREFIX)
  try {
    const abandoned = run()
    assert.ok(existsSync(abandoned))
    const next = run()
    assert.equal(existsSync(abandoned), false)
    assert.ok(existsSync(mine))
    rmSync(next, { recursive: true })
  } finally {
    rmSync(mine, { recursive: true })
  }
})
