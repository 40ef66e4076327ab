import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { readWork, type WorkInput } from '../../core/work/work.ts'
import { payloadOf, shellQuoted, shellTextOf, workOfPayload } from './shell-text.ts'

function textOf(input: WorkInput): string | null {
  return shellTextOf(readWork(input) ?? null)
}

const DONE: [why: string, input: WorkInput, printed: string][] = [
  ['a command', { run: 'echo a; echo b' }, 'a\nb\n'],
  ['another shell', { run: 'a=(x y); echo ${a[1]}', shell: '/bin/bash' }, 'y\n'],
  ['words', { argv: ['printf', '%s|', "it's", '', '$HOME', 'a\nb'] }, "it's||$HOME|a\nb|"],
  ['a script', { script: 'cat; echo "$0" | wc -l', stdin: 'in ' }, 'in 1\n'],
  ['an interpreter', { script: 'echo ${BASH_VERSION:+bash}', interpreter: '/bin/bash' }, 'bash\n'],
  ['variables', { run: 'echo "$A-$B"', env: { A: "it's", B: '$A' } }, "it's-$A\n"],
  ['variables of words', { argv: ['sh', '-c', 'echo $A'], env: { A: '1' } }, '1\n'],
  ['a directory', { run: 'pwd', cwd: '/usr' }, '/usr\n'],
  ['a mask', { run: 'umask', umask: '027' }, '0027\n'],
  ['input', { run: 'cat; echo', stdin: "it's %s \\n $x" }, "it's %s \\n $x\n"],
  ['all of it', { run: 'cat; pwd; echo $A', stdin: 'x', cwd: '/', env: { A: '2' } }, 'x/\n2\n'],
]

for (const [why, input, printed] of DONE) {
  test(`${why}: a shell runs the text as the worker would run the original`, () => {
    const text = textOf(input)
    assert.ok(text)
    const { stdout, status } = spawnSync('/bin/sh', ['-c', text], { encoding: 'utf8' })
    assert.deepEqual([stdout, status], [printed, 0])
  })
}

test('a simple command stays unchanged', () => {
  const run = '  echo "x"\n# the end'
  assert.equal(textOf({ run }), run)
})

test('the exit code of a script is its own', () => {
  const text = textOf({ script: 'exit 7' })
  assert.equal(spawnSync('/bin/sh', ['-c', text!]).status, 7)
})

for (const [why, input] of [
  ['limits', { run: 'true', limits: { memory: '1GiB' } }],
  ['another user', { run: 'true', run_as: 'nobody' }],
  ['a request', { http: { url: 'https://example.org' } }],
  ['a container', { container: { image: 'x' } }],
] as [string, WorkInput][]) {
  test(`no shell text can express ${why}`, () => assert.equal(textOf(input), null))
}

test('no character keeps a special meaning for a shell', () => {
  for (const text of ["a'b", '', '$x `y`', '*', '~', '#', 'a b', '-n', 'ü', '!x', '\\']) {
    const { stdout } = spawnSync('/bin/sh', ['-c', `printf %s ${shellQuoted(text)}`])
    assert.equal(stdout.toString(), text)
  }
})

const PAYLOADS: [payload: string, work: ReturnType<typeof workOfPayload>][] = [
  ['cmd:echo hi', { run: 'echo hi' }],
  ['cmd: echo hi\necho ho', { run: ' echo hi\necho ho' }],
  [
    'cmd:#!/usr/bin/env bash\nx',
    { script: '#!/usr/bin/env bash\nx', interpreter: ['/usr/bin/env', 'bash'] },
  ],
  ['echo hi', { argv: ['cat'], stdin: 'echo hi' }],
  ['CMD:x', { argv: ['cat'], stdin: 'CMD:x' }],
  [' cmd:x', { argv: ['cat'], stdin: ' cmd:x' }],
  ['', { argv: ['cat'], stdin: '' }],
]

for (const [payload, work] of PAYLOADS) {
  test(`the payload ${JSON.stringify(payload)} is understood and shown again`, () => {
    assert.deepEqual(workOfPayload(payload), work)
    assert.equal(payloadOf(work, work.run ?? null), payload)
  })
}
