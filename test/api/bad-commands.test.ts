import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../src/core/limits.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from './open-api.ts'
import {
  batchRequest,
  postRequest,
  putRequest,
  type Refusal,
  assertRefused,
  times,
} from './refusals.ts'

const run = (work: object) => postRequest('/v1/runs', work)
const long = 'x'.repeat(LIMITS.argumentBytes)
const variables = (count: number) => Object.fromEntries(times(count, (index) => [`V${index}`, 'x']))

const wrongNames = ['', 'A=B', 'A B', '1A', 'A\nB', 'A\tB', 'É', 'A-B', '\u202eA']
const ours = ['PUNCTUAL_FENCE', 'PUNCTUAL_ANYTHING', 'TRACEPARENT']

assertRefused('commands, arguments and environments that no process could be given', [
  ['NUL in a command', run({ run: 'a\0b' }), 'invalid_field', 'run'],
  ['NUL in an argument', run({ argv: ['a', 'b\0'] }), 'invalid_field', 'argv.1'],
  ['NUL in a script', run({ script: 'a\0' }), 'invalid_field', 'script'],
  ['NUL in a variable', run({ run: 'a', env: { A: '\0' } }), 'invalid_field', 'env.A'],
  [
    'half a pair in a variable',
    run('{"run":"a","env":{"A":"\\ud800"}}' as never),
    'invalid_field',
    'env.A',
  ],
  ...[...wrongNames, ...ours].map((name): Refusal => [
    `a variable called ${JSON.stringify(name)}`,
    run({ run: 'a', env: { [name]: '1' } }),
    'invalid_field',
    `env.${name}`,
  ]),
  ['an empty command', run({ run: ' ' }), 'invalid_field', 'run'],
  ['an empty script', run({ script: '\n' }), 'invalid_field', 'script'],
  ['no program', run({ argv: [] }), 'invalid_field', 'argv'],
  ['a program without a name', run({ argv: [''] }), 'invalid_field', 'argv.0'],
  ['a shell without a name', run({ run: 'a', shell: '' }), 'invalid_field', 'shell'],
  ['an argument over 128 KiB', run({ argv: ['a', `${long}x`] }), 'invalid_field', 'argv.1'],
  ['a command over 128 KiB', run({ run: `${long}x` }), 'invalid_field', 'run'],
  ['a variable over 128 KiB', run({ run: 'a', env: { A: `${long}x` } }), 'invalid_field', 'env.A'],
  [
    'arguments over 1 MiB together',
    batchRequest({ argv: ['a', ...times(9, () => long)] }),
    'invalid_field',
    'runs.0.argv',
  ],
  [
    'an interpreter over 1 MiB',
    batchRequest({ script: 'a', interpreter: ['a', ...times(9, () => long)] }),
    'invalid_field',
    'runs.0.interpreter',
  ],
  ['10,001 arguments', run({ argv: times(10_001, () => 'a') }), 'invalid_field', 'argv'],
  ['10,000 variables', run({ run: 'a', env: variables(10_000) }), 'invalid_field', 'env'],
  ['a directory from nowhere', run({ run: 'a', cwd: '../../etc' }), 'invalid_field', 'cwd'],
  ['a directory at home', run({ run: 'a', cwd: '~' }), 'invalid_field', 'cwd'],
  ['a umask of five digits', run({ run: 'a', umask: '00777' }), 'invalid_field', 'umask'],
  ['a umask that is a number', run({ run: 'a', umask: 18 }), 'invalid_field', 'umask'],
  ['limits that are a text', run({ run: 'a', limits: '1GiB' }), 'invalid_field', 'limits'],
  [
    'a limit of nothing known',
    run({ run: 'a', limits: { ram: 1 } }),
    'unknown_field',
    'limits.ram',
  ],
  ['no memory', run({ run: 'a', limits: { memory: '0B' } }), 'invalid_field', 'limits.memory'],
  ['memory by number', run({ run: 'a', limits: { memory: 1 } }), 'invalid_field', 'limits.memory'],
  [
    'a negative number of cores',
    run({ run: 'a', limits: { cpu: -1 } }),
    'invalid_field',
    'limits.cpu',
  ],
  ['half a process', run({ run: 'a', limits: { pids: 0.5 } }), 'invalid_field', 'limits.pids'],
  ['limits of a function', run({ job: 'f', limits: { cpu: 1 } }), 'invalid_field', 'limits'],
  ['a user by number', run({ run: 'a', run_as: 0 }), 'invalid_field', 'run_as'],
  ['a user that is a path', run({ run: 'a', run_as: '../root' }), 'invalid_field', 'run_as'],
  [
    'a job with such a limit',
    putRequest('/v1/jobs/new', { run: 'a', limits: { tmp: '1TB' } }),
    'invalid_field',
    'limits.tmp',
  ],
  [
    'a job with such a command',
    putRequest('/v1/jobs/new', { run: 'a', env: { 'A=B': '1' } }),
    'invalid_field',
    'env.A=B',
  ],
])

/** Characters that a shell would interpret. */
const WORDS = [
  '$(touch /tmp/x)',
  '`id`',
  '; rm -rf /',
  '&& echo',
  "it's",
  '"',
  '\\',
  'a\nb',
  '*',
  '-n',
  '',
  'é\u202e\u0007',
]

test('arguments and variables arrive unchanged and uninterpreted', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  // A caller that may send commands may set any environment variable: see limits.md.
  const env = {
    LD_PRELOAD: '',
    NODE_OPTIONS: '',
    BASH_ENV: '/nowhere',
    IFS: 'x',
    A: WORDS.join('|'),
  }
  const argv = ['/usr/bin/env', 'printf', '%s\\0', ...WORDS]
  const { body } = await api.call('POST', '/v1/runs', { body: { argv, env } })
  const id = String(body['id'])
  const ended = await api.call<WireRun>('GET', `/v1/runs/${id}?wait=60s`)
  assert.equal(ended.body.state, 'succeeded')
  const printed = await api.call<string>('GET', `/v1/runs/${id}/logs/raw`)
  assert.deepEqual(printed.body.split('\0').slice(0, -1), WORDS)

  const echo = { run: 'printf %s "$A"', env }
  const second = await api.call('POST', '/v1/runs', { body: echo })
  const next = String(second.body['id'])
  await api.call('GET', `/v1/runs/${next}?wait=60s`)
  const log = await api.call<string>('GET', `/v1/runs/${next}/logs/raw`)
  assert.equal(log.body, env.A)
})

test('output of a job is data, whatever it looks like', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const fake = '{"run":"run_00000000001","fence":1,"outcome":"failed","uid":0,"state":"cancelled"}'
  const end = async (script: string) => {
    const { body } = await api.call('POST', '/v1/runs', { body: { script } })
    return (await api.call<WireRun>('GET', `/v1/runs/${String(body['id'])}?wait=60s`)).body
  }
  const log = await end(`echo '${fake}'; echo '${fake}' > "$PUNCTUAL_OUTPUT"`)
  assert.deepEqual([log.state, log.result], ['succeeded', JSON.parse(fake)])
  const polluting = await end(`echo '{"__proto__":{"polluted":1}}' > "$PUNCTUAL_OUTPUT"`)
  assert.equal(polluting.state, 'succeeded')
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  const broken = await end('printf %s nonsense > "$PUNCTUAL_OUTPUT"')
  assert.deepEqual([broken.state, broken.cause], ['failed', 'error'])
  const endless = await end(`head -c 60000 /dev/zero | tr '\\0' '[' > "$PUNCTUAL_OUTPUT"`)
  assert.equal(endless.state, 'failed')
  const nested = (bracket: string) => `head -c 9000 /dev/zero | tr '\\0' '${bracket}'`
  const deep = await end(`{ ${nested('[')}; ${nested(']')}; } > "$PUNCTUAL_OUTPUT"`)
  assert.equal(deep.state, 'succeeded')
  assert.equal((await api.call('GET', '/v1/runs')).status, 200)
})
