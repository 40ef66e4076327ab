import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { skipWithout } from '../support/skip-without.ts'
import { BIN, openHome } from '../support/punctual-home.ts'

const home = openHome({ after })
const env = { PUNCTUAL_DATA: home.dataDir }

before(async () => {
  await home.up('--slots', '0')
  await home.run(['api', 'PUT', '/v1/jobs/nightly-backup', '-d', '{"run": "true"}'], env)
})

/** Bash's completions for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const { out: script } = await home.run(['completion', 'bash'])
  const file = join(home.dir, 'completion.bash')
  writeFileSync(file, script)
  const quoted = ['punctual', ...words].map((word) => `'${word}'`).join(' ')
  const line = `source ${file}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _punctual
    printf '%s\n' "\${COMPREPLY[@]}"`
  const bash = spawnSync('bash', ['-c', line], {
    env: { ...home.env, ...env, PATH: `${dirname(BIN)}:${process.env['PATH'] ?? ''}` },
    encoding: 'utf8',
  })
  assert.equal(bash.stderr, '')
  return bash.stdout.split('\n').filter(Boolean)
}

test('bash completes commands, flags, formats, jobs and runs', async () => {
  const { out } = await home.run(['run', 'nightly-backup'], env)
  assert.deepEqual(await offered('ca'), ['cancel'])
  assert.deepEqual(await offered('pa'), ['pause'])
  assert.deepEqual(await offered('run', 'nig'), ['nightly-backup'])
  assert.deepEqual(await offered('run', '--wa'), ['--wait'])
  assert.deepEqual(await offered('runs', '-o', 'js'), ['json', 'jsonl'])
  assert.deepEqual(await offered('token', 'cr'), ['create'])
  assert.deepEqual(await offered('completion', 'f'), ['fish'])
  assert.deepEqual(await offered('exec', '--', 'ca'), [])
  const runs = await offered('logs', '')
  assert.deepEqual(runs, ['@last', '@last-failed', 'nightly-backup', out.trim()])
  assert.deepEqual(await offered('wait', ''), ['@last', '@last-failed', out.trim()])
})

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`${shell} can read its script`, { skip: skipWithout(shell) }, async () => {
    const { out, code } = await home.run(['completion', shell])
    assert.equal(code, 0)
    const file = join(home.dir, `completion.${shell}`)
    writeFileSync(file, out)
    const { status, stderr } = spawnSync(shell, ['-n', file], { env: home.env, encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  })
}
