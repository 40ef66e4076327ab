import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../limits.ts'
import { readWork, type Work, type WorkInput } from './work.ts'

const readable: [why: string, input: WorkInput, work: Work | undefined][] = [
  ['nothing to start is a handler', {}, undefined],
  ['a command for a shell', { run: 'a | b' }, { executor: 'shell', run: 'a | b' }],
  [
    'a command for another shell',
    { run: '[[ a ]]', shell: '/bin/bash' },
    { executor: 'shell', run: '[[ a ]]', shell: '/bin/bash' },
  ],
  [
    'a program and its arguments, the empty one too',
    { argv: ['ls', '', '$HOME'] },
    { executor: 'argv', argv: ['ls', '', '$HOME'] },
  ],
  [
    'a script is read by sh unless it says otherwise',
    { script: 'echo hi\n' },
    { executor: 'script', script: 'echo hi\n', interpreter: ['/bin/sh'] },
  ],
  [
    'an interpreter may have arguments',
    { script: 'print 1', interpreter: ['perl', '-w'] },
    { executor: 'script', script: 'print 1', interpreter: ['perl', '-w'] },
  ],
  [
    'a single word is a program, not a command line',
    { script: 'x', interpreter: 'my python' },
    { executor: 'script', script: 'x', interpreter: ['my python'] },
  ],
  [
    'everything around it',
    { run: 'x', cwd: '/', env: { A: '' }, stdin: '', umask: '0027', kill_grace: '10m' },
    {
      executor: 'shell',
      run: 'x',
      cwd: '/',
      env: { A: '' },
      stdin: '',
      umask: '0027',
      kill_grace_ms: 600_000,
    },
  ],
  [
    'limits and a user',
    { run: 'x', limits: { memory: '512MiB', cpu: 1.5 }, run_as: 'www-data' },
    {
      executor: 'shell',
      run: 'x',
      limits: { memory_bytes: 536_870_912, cpu: 1.5 },
      run_as: 'www-data',
    },
  ],
  ['limits of nothing are none', { run: 'x', limits: {} }, { executor: 'shell', run: 'x' }],
  [
    'a user of the system',
    { run: 'x', run_as: '_apt' },
    { executor: 'shell', run: 'x', run_as: '_apt' },
  ],
  ['an empty environment is none', { run: 'x', env: {} }, { executor: 'shell', run: 'x' }],
  [
    'the longest argument there can be',
    { argv: ['a', 'x'.repeat(LIMITS.argumentBytes)] },
    { executor: 'argv', argv: ['a', 'x'.repeat(LIMITS.argumentBytes)] },
  ],
]
for (const [why, input, work] of readable) {
  test(why, () => assert.deepEqual(readWork(input), work))
}

const long = 'x'.repeat(LIMITS.argumentBytes)
const nine = Array<string>(9).fill(long)
const letters = (count: number) =>
  Object.fromEntries(nine.slice(0, count).map((text, index) => [`V${index}`, text]))
const refused: [why: string, input: WorkInput, field: string][] = [
  ['two things to start', { run: 'a', argv: ['b'] }, 'argv'],
  ['a shell without a command', { argv: ['b'], shell: '/bin/sh' }, 'shell'],
  ['an interpreter without a script', { run: 'a', interpreter: 'perl' }, 'interpreter'],
  ['surroundings of nothing', { env: { A: 'b' } }, 'env'],
  ['a grace for nothing', { kill_grace: '1s' }, 'kill_grace'],
  ['no program', { argv: [] }, 'argv'],
  ['a program without a name', { argv: [''] }, 'argv.0'],
  ['a shell without a name', { run: 'a', shell: ' ' }, 'shell'],
  ['no interpreter', { script: 'x', interpreter: [] }, 'interpreter'],
  ['an empty command', { run: ' \n' }, 'run'],
  ['an empty script', { script: '' }, 'script'],
  ['NUL in a command', { run: 'a\0b' }, 'run'],
  ['NUL in an argument', { argv: ['a', '\0'] }, 'argv.1'],
  ['NUL in a script', { script: '\0' }, 'script'],
  ['NUL on standard input', { run: 'a', stdin: '\0' }, 'stdin'],
  ['NUL in a path', { run: 'a', cwd: '/a\0' }, 'cwd'],
  ['NUL in a variable', { run: 'a', env: { A: '\0' } }, 'env.A'],
  ['a path from nowhere', { run: 'a', cwd: 'srv' }, 'cwd'],
  ['a variable no shell could name', { run: 'a', env: { 'A=B': '1' } }, 'env.A=B'],
  ['a variable that starts with a digit', { run: 'a', env: { '1A': '1' } }, 'env.1A'],
  ['a variable of ours', { run: 'a', env: { PUNCTUAL_FENCE: '1' } }, 'env.PUNCTUAL_FENCE'],
  ['a umask that is not octal', { run: 'a', umask: '028' }, 'umask'],
  ['a umask of five digits', { run: 'a', umask: '00027' }, 'umask'],
  ['a grace that is no duration', { run: 'a', kill_grace: 'soon' }, 'kill_grace'],
  ['a grace beyond ten minutes', { run: 'a', kill_grace: '600001ms' }, 'kill_grace'],
  ['limits for nothing', { limits: { cpu: 1 } }, 'limits'],
  ['a user for nothing', { run_as: 'deploy' }, 'run_as'],
  ['a limit that is none', { run: 'a', limits: { memory: '0B' } }, 'limits.memory'],
  [
    'a limit for a directory of their own',
    { run: 'a', env: { TMPDIR: '/scratch' }, limits: { tmp: '1GiB' } },
    'limits.tmp',
  ],
  ['no user', { run: 'a', run_as: '' }, 'run_as'],
  ['a user by number', { run: 'a', run_as: '0' }, 'run_as'],
  ['a user that is an option', { run: 'a', run_as: '-u' }, 'run_as'],
  ['a user and a group', { run: 'a', run_as: 'root:root' }, 'run_as'],
  ['a user with a line end', { run: 'a', run_as: 'root\n' }, 'run_as'],
  ['a user with NUL', { run: 'a', run_as: 'root\0' }, 'run_as'],
  ['a user with a shell variable', { run: 'a', run_as: '$USER' }, 'run_as'],
  ['a user from another alphabet', { run: 'a', run_as: 'rооt' }, 'run_as'],
  ['a user with too long a name', { run: 'a', run_as: 'a'.repeat(33) }, 'run_as'],
  ['an argument too long for Linux', { argv: ['a', `${long}x`] }, 'argv.1'],
  ['a command too long for Linux', { run: `${long}x` }, 'run'],
  ['arguments too long together', { argv: ['a', ...nine] }, 'argv'],
  [
    'an interpreter too long for Linux',
    { script: 'x', interpreter: ['a', ...nine] },
    'interpreter',
  ],
  ['a command too long with its variables', { run: long, env: letters(8) }, 'env'],
]
for (const [why, input, field] of refused) {
  test(`rejects ${why} and names the field`, () => {
    assert.throws(() => readWork(input), { code: 'invalid_field', field })
    assert.throws(() => readWork(input, 'runs.3.'), { field: `runs.3.${field}` })
  })
}
