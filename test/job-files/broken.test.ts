import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { createFakeTerminal } from '../cli/fake-terminal.ts'

const FOLDER = join(import.meta.dirname, 'broken')
const FILES = readdirSync(FOLDER).filter((name) => name.includes('.job.'))

async function validate(...paths: string[]) {
  const terminal = createFakeTerminal({ env: {}, cwd: FOLDER, columns: 100 })
  const options = { terminal, version: '9.9.9', addServerCommands: () => {} }
  const code = await runProgram(['validate', ...paths], options)
  return { code, ...terminal.written }
}

for (const file of FILES) {
  test(`the errors for ${file} say what to change`, async () => {
    const { code, err, out } = await validate(file)
    assert.deepEqual([code, out], [2, ''])
    const golden = join(FOLDER, file.replace(/\.job\..*/, '.txt'))
    // After a change of texts: set PUNCTUAL_GOLDEN=write and review the difference.
    if (process.env['PUNCTUAL_GOLDEN'] === 'write') writeFileSync(golden, err)
    assert.equal(err, readFileSync(golden, 'utf8'))
  })
}

test('all files at once, as JSON', async () => {
  assert.ok(FILES.length >= 20)
  const { code, out } = await validate('.', '-o', 'json')
  const problems = JSON.parse(out) as { file: string; line: number; code: string }[]
  assert.equal(code, 2)
  assert.deepEqual([...new Set(problems.map(({ file }) => file))], FILES.toSorted())
  assert.ok(problems.every(({ line }) => line >= 1))
})

test('a missing file, or one that is not a job file, is a usage error', async () => {
  for (const path of ['nowhere', '../broken.test.ts']) {
    assert.equal((await validate(path)).code, 2)
  }
})
