import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import { envFileOf, inherited, type RunPlan, runArguments } from './run-arguments.ts'

const plan: RunPlan = {
  name: 'punctual-run_a-1',
  labels: { a: 'b' },
  limits: {},
  mounts: [],
  env: {},
  envFile: '/f',
  extra: [],
}
const argumentsOf = (work: Partial<ContainerWork>, more: Partial<RunPlan> = {}) =>
  runArguments({ executor: 'container', image: 'img', ...work }, { ...plan, ...more }).join(' ')

const ALWAYS = 'run --name punctual-run_a-1 --pull missing --security-opt no-new-privileges'

test('an image without options', () => {
  assert.equal(argumentsOf({}), `${ALWAYS} --label a=b --env-file /f img`)
})

const parts: [why: string, work: Partial<ContainerWork>, more: Partial<RunPlan>, part: string][] = [
  ['a command stands last', { command: ['a', '--privileged'] }, {}, ' img a --privileged'],
  [
    'a program of its own takes its arguments along',
    { entrypoint: ['sh', '-c'], command: ['x'] },
    {},
    '--entrypoint sh img -c x',
  ],
  ['what it reads is attached', { stdin: '' }, {}, ' --interactive '],
  ['it can be alone', { network: 'none' }, {}, ' --network none '],
  ['an image may have to be here', { pull: 'never' }, {}, '--pull never'],
  ['what the operator adds', {}, { extra: ['--init'] }, ' --init img'],
  ['memory without swap', {}, { limits: { memory_bytes: 9 } }, '--memory 9b --memory-swap 9b'],
  ['cores, also parts of one', {}, { limits: { cpu: 0.5 } }, '--cpus 0.5'],
  ['processes', {}, { limits: { pids: 7 } }, '--pids-limit 7'],
  ['open files', {}, { limits: { files: 64 } }, '--ulimit nofile=64:64'],
  ['temporary files', {}, { limits: { tmp_bytes: 4096 } }, '--tmpfs /tmp:rw,mode=1777,size=4096'],
  [
    'mounts',
    {},
    {
      mounts: [
        { source: '/a', target: '/b', readonly: true },
        { source: '/c', target: '/d' },
      ],
    },
    '--mount type=bind,source=/a,target=/b,readonly --mount type=bind,source=/c,target=/d ',
  ],
]
for (const [why, work, more, part] of parts) {
  test(why, () => {
    const words = argumentsOf(work, more)
    assert.ok(words.includes(part), words)
  })
}

test('variables appear by name only, and none affects the engine', () => {
  const env = { KEY: 'v1', PATH: 'v2', DOCKER_HOST: 'v3', CONTAINERS_CONF: 'v4', no_proxy: 'v5' }
  const words = argumentsOf({}, { env })
  assert.ok(words.includes('--env KEY --env-file'))
  assert.ok(!/v[1-5]/.test(words))
  assert.deepEqual(inherited(env), ['KEY'])
  assert.equal(envFileOf(env), 'PATH=v2\nDOCKER_HOST=v3\nCONTAINERS_CONF=v4\nno_proxy=v5\n')
})

test('a variable in an environment file is one line', () => {
  assert.throws(() => envFileOf({ PATH: 'a\nLD_PRELOAD=b' }), /PATH has a line break/)
})
