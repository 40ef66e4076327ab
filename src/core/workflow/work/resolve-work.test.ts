import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../../expression/evaluate.ts'
import type { StepInput } from '../definition.ts'
import { readWorkflow } from '../reading/read-workflow.ts'
import { resolveWork } from './resolve-work.ts'

const scope: Scope = {
  input: { day: '2026-03-01', count: 3, host: 'db.internal', evil: '$(reboot) "\' ${TOKEN}' },
  run: { id: 'run_1', job: 'etl', project: 'shop', wave: 2, scheduledAt: '2026-03-02T00:00:00Z' },
  step: () => ({ state: 'succeeded', output: { parts: [1, 2], url: 'https://a.example/b?c=d' } }),
  item: { id: 7 },
  index: 0,
}

type Definition = Parameters<typeof readWorkflow>[0]

function resolve(step: StepInput, job: Omit<Definition, 'steps'> = {}, at = scope) {
  const steps = { before: { run: 'true' }, a: { needs: 'before', ...step } }
  const { steps: read } = readWorkflow({ ...job, steps }, { job: 'etl' })
  const does = read[1]?.does
  assert.ok(does && does.kind !== 'approve')
  return resolveWork(does.work, at, 'etl/a')
}

test('an expression in a command becomes a variable with its value in the environment', () => {
  const { work, job } = resolve({ run: 'load --day ${{ input.day }} "${{ input.evil }}"' })
  assert.equal(job, 'etl/a')
  assert.deepEqual(work, {
    executor: 'shell',
    run: 'load --day "${PUNCTUAL_EXPR_1}" "${PUNCTUAL_EXPR_2}"',
    env: { PUNCTUAL_EXPR_1: '2026-03-01', PUNCTUAL_EXPR_2: '$(reboot) "\' ${TOKEN}' },
  })
})

test('arguments, variables and texts receive values as text; inputs keep their types', () => {
  const { work, input } = resolve({
    argv: ['load', '${{ input.count }}', '--parts=${{ steps.before.output.parts }}'],
    env: { DAY: '${{ input.day }}', HOST: 'tcp://${{ input.host }}' },
    stdin: '${{ input }}',
    with: {
      count: '${{ input.count }}',
      list: ['${{ steps.before.output.parts }}'],
      wave: 'w${{ run.wave }}',
    },
  })
  assert.deepEqual(work, {
    executor: 'argv',
    argv: ['load', '3', '--parts=[1,2]'],
    env: { DAY: '2026-03-01', HOST: 'tcp://db.internal' },
    stdin: JSON.stringify(scope.input),
  })
  assert.deepEqual(input, { count: 3, list: [[1, 2]], wave: 'w2' })
})

test('in a request, parts of a URL are encoded, JSON stays JSON, secrets are only named', () => {
  const { work, secrets } = resolve({
    http: {
      url: 'https://api.example/${{ input.host }}/x?d=${{ input.evil }}',
      method: 'POST',
      headers: { authorization: 'Bearer ${{ secrets.TOKEN }}', 'x-day': '${{ input.day }}' },
      json: { day: '${{ input.day }}', count: '${{ input.count }}' },
    },
  })
  assert.deepEqual(work, {
    executor: 'http',
    url: `https://api.example/db.internal/x?d=${encodeURIComponent('$(reboot) "\' ${TOKEN}')}`,
    method: 'POST',
    headers: {
      authorization: 'Bearer ${TOKEN}',
      'x-day': '2026-03-01',
      'Content-Type': 'application/json',
    },
    body: '{"day":"2026-03-01","count":3}',
  })
  assert.deepEqual(secrets, [{ name: 'TOKEN', as: 'env' }])
  const whole = resolve({ http: { url: '${{ steps.before.output.url }}' } })
  assert.equal(whole.work?.executor === 'http' && whole.work.url, 'https://a.example/b?c=d')
})

test('a value cannot make a worker insert secrets of its request', () => {
  const http = {
    url: 'https://api.example/',
    headers: { authorization: '${{ secrets.TOKEN }}' },
    json: { note: '${{ input.evil }}', mine: '${TOKEN}' },
  }
  assert.throws(() => resolve({ http }), /says \$\{TOKEN\}, which would be replaced/)
})

test('several values, or a value and the text around it, cannot do so together either', () => {
  const at = (a: string, b: string) => ({ ...scope, input: { a, b, list: { [a + b]: 1 } } })
  const headers = { authorization: '${{ secrets.TOKEN }}' }
  const url = 'https://api.example/'
  const asked: [what: object, a: string, b: string][] = [
    [{ body: '${{ input.a }}${{ input.b }}' }, '${', 'TOKEN}'],
    [{ body: '${${{ input.a }}}' }, 'TOKEN', ''],
    [{ body: '${TOK${{ input.a }}' }, 'EN}', ''],
    [{ json: { note: ['${{ input.a }}${{ input.b }}'] } }, '$', '{TOKEN}'],
    [{ json: { note: '${{ input.list }}' } }, '${', 'TOKEN}'],
    [{ headers: { ...headers, 'x-a': '${{ input.a }}{TOKEN}' } }, '$', ''],
    [{ headers: { ...headers, 'x-a': '${TOKEN}${{ input.a }}OKEN}' } }, '${T', ''],
  ]
  for (const [what, a, b] of asked) {
    const step = { http: { url, headers, method: 'POST', ...what } }
    assert.throws(() => resolve(step, {}, at(a, b)), /says \$\{TOKEN\}, which would be replaced/)
  }
  const body = '${{ input.a }}${TOKEN}${{ secrets.TOKEN }}${{ input.b }}'
  const { work } = resolve({ http: { url, headers, body } }, {}, at('${', '}'))
  assert.equal(work?.executor === 'http' && work.body, '${${TOKEN}${TOKEN}}')
})

test("the job's settings are defaults for every step", () => {
  const job = {
    env: { A: '1', DAY: '${{ input.day }}' },
    secrets: ['TOKEN'],
    queue: 'etl',
    cwd: '/srv',
    retry: { max: 2 },
  }
  const { work, queue, secrets, retry } = resolve({ run: 'x', env: { A: '2' } }, job)
  assert.deepEqual(work, {
    executor: 'shell',
    run: 'x',
    cwd: '/srv',
    env: { A: '2', DAY: '2026-03-01' },
  })
  assert.deepEqual([queue, secrets?.length, retry?.max], ['etl', 1, 2])
  const task = resolve({ task: 'load', queue: 'other' }, job)
  assert.deepEqual([task.work, task.secrets, task.queue], [undefined, undefined, 'other'])
})

test('a variable that is a secret is passed as a secret', () => {
  const { work, secrets } = resolve({ run: 'x', env: { TOKEN: '${{ secrets.TOKEN }}' } })
  assert.deepEqual(work, { executor: 'shell', run: 'x' })
  assert.deepEqual(secrets, [{ name: 'TOKEN', as: 'env' }])
})

test('a command of a fan-out has its item in a variable', () => {
  const { work } = resolve({ run: 'x "$ITEM"', each: [1] })
  assert.deepEqual(work?.env, { ITEM: '{"id":7}' })
  const named = resolve({ run: 'x', each: [1], env: { ITEM: 'mine' } })
  assert.deepEqual(named.work?.env, { ITEM: 'mine' })
})

test('recognises a shell in a container', () => {
  const entrypoint = ['/bin/sh', '-c']
  const image = 'acme/load:${{ input.day }}'
  const { work } = resolve({
    container: { image, entrypoint, command: ['load ${{ input.evil }}'] },
  })
  assert.deepEqual(work, {
    executor: 'container',
    image: 'acme/load:2026-03-01',
    entrypoint,
    command: ['load "${PUNCTUAL_EXPR_1}"'],
    env: { PUNCTUAL_EXPR_1: '$(reboot) "\' ${TOKEN}' },
  })
})

test('recognises a shell among arguments: no value is inserted into its text', () => {
  const X = '${{ input.evil }}'
  const env = { PUNCTUAL_EXPR_1: '$(reboot) "\' ${TOKEN}' }
  const argv = (words: string[]) => resolve({ argv: words }).work
  const text = 'load "${PUNCTUAL_EXPR_1}"'
  const X2 = `load ${X}`
  for (const before of [
    ['sh', '-c'],
    ['/bin/bash', '-euc'],
    ['bash', '-c', '-e'],
    ['env', 'A=1', 'sh', '-c'],
    ['tini', '--', 'bash', '-c'],
    ['dumb-init', 'sh', '-c'],
    ['gosu', 'app', 'rbash', '-c'],
    ['xargs', '-n1', 'sh', '-c'],
    ['bash5', '-euo', 'pipefail', '-c'],
    ['bash', '--rcfile', 'f', '-c', '-o', 'pipefail'],
  ]) {
    const work = { executor: 'argv', argv: [...before, text, 'a'], env }
    assert.deepEqual(argv([...before, `load ${X}`, 'a']), work)
  }
  assert.deepEqual(
    resolve({ container: { image: 'a', command: ['sh', '-c', `load ${X}`] } }).work,
    {
      executor: 'container',
      image: 'a',
      command: ['sh', '-c', text],
      env,
    },
  )
  assert.deepEqual(
    resolve({ container: { image: 'a', entrypoint: ['tini', '--'], command: ['sh', '-c', X2] } })
      .work,
    {
      executor: 'container',
      image: 'a',
      entrypoint: ['tini', '--'],
      command: ['sh', '-c', text],
      env,
    },
  )
  assert.deepEqual(argv(['sh', '-c', 'load "$1"', '_', X]), {
    executor: 'argv',
    argv: ['sh', '-c', 'load "$1"', '_', env.PUNCTUAL_EXPR_1],
  })
})

test('treats arguments of a script as arguments, whatever they look like', () => {
  const X = '${{ input.evil }}'
  const value = '$(reboot) "\' ${TOKEN}'
  for (const before of [
    ['bash', 'run.sh', '--x', '-c'],
    ['bash', '-e', 'build.sh', '-c'],
    ['sh', '--', 'build.sh', '-c'],
    ['python3', 'train.py', '-c'],
    ['python3', '-m', 'train', '-c'],
    ['node', 'server.js', '-p'],
    ['node', '--require', './hook.js', 'server.js', '-e'],
    ['php', 'artisan', '-e'],
    ['perl', 'x.pl', '-e'],
    ['mysql', '-p'],
    ['grep', '-c'],
  ]) {
    const { work } = resolve({ argv: [...before, `abc ${X}`] })
    assert.deepEqual(work, { executor: 'argv', argv: [...before, `abc ${value}`] })
  }
  const { work } = resolve({
    container: { image: 'a', entrypoint: ['bash', 'run.sh'], command: ['-c', X] },
  })
  assert.deepEqual(work, {
    executor: 'container',
    image: 'a',
    entrypoint: ['bash', 'run.sh'],
    command: ['-c', value],
  })
})

test('no value becomes a program, or a variable that a shell executes', () => {
  const X = '${{ input.evil }}'
  const cases: [StepInput, RegExp][] = [
    [
      { argv: [X, 'a'] },
      /steps\.a\.argv\.0: an expression is not allowed in the name of a program/,
    ],
    [{ argv: [`./tool-${X}`] }, /name of a program/],
    [{ argv: ['python3', '-c', `print("${X}")`] }, /a program for python3/],
    [{ argv: ['node', '-e', X] }, /a program for node/],
    [{ container: { image: 'a', command: ['perl', '-e', X] } }, /a program for perl/],
    [{ argv: ['sh', '-c', X] }, /command name/],
    [{ argv: ['python3', '-uc', X] }, /a program for python3/],
    [{ argv: ['psql', 'shop', '-c', X] }, /a program for psql/],
    // Their variables may not reach the shell.
    [{ argv: ['sudo', '-u', 'x', 'bash', '-c', `load ${X}`] }, /may not pass on the variable/],
    [{ argv: ['docker', 'run', 'a', 'sh', '-c', `load ${X}`] }, /may not pass on the variable/],
    [{ argv: ['my-wrapper', 'sh', '-c', `load ${X}`] }, /may not pass on the variable/],
    [{ run: 'true', env: { BASH_ENV: X } }, /BASH_ENV, which a shell executes/],
    [{ run: 'true', env: { PS4: X } }, /PS4/],
    [{ run: 'true', env: { ENV: X } }, /ENV/],
    [{ script: 'x = ${{ input.evil }}', interpreter: 'python3' }, /python3 is not a known shell/],
  ]
  for (const [step, why] of cases) assert.throws(() => resolve(step), why)
})

test('warns of values in arguments, input or variables', () => {
  const X = '${{ input.evil }}'
  const warned = (step: StepInput) => {
    const found: string[] = []
    const onWarning = ({ field }: { field: string }) => void found.push(field)
    readWorkflow({ steps: { a: step } }, { job: 'etl', onWarning })
    return found
  }
  assert.deepEqual(warned({ argv: ['ssh', 'host', `ls ${X}`] }), ['steps.a.argv.2'])
  const command = (...words: string[]) => warned({ container: { image: 'bash:5', command: words } })
  assert.deepEqual(command('-c', `echo ${X}`), ['steps.a.container.command.1'])
  assert.deepEqual(command(X, 'a'), ['steps.a.container.command.0'])
  assert.deepEqual(command('--day', X), [])
  assert.deepEqual(warned({ argv: ['sh'], stdin: X }), ['steps.a.stdin'])
  assert.deepEqual(warned({ argv: ['python3', '-'], stdin: X }), ['steps.a.stdin'])
  assert.deepEqual(warned({ run: 'cat | sh', stdin: X }), ['steps.a.run'])
  assert.deepEqual(warned({ run: 'eval "$CMD"', env: { CMD: X } }), ['steps.a.run'])
  assert.deepEqual(warned({ script: 'sh -c "$CMD"', env: { CMD: X } }), ['steps.a.script'])
  assert.deepEqual(warned({ run: 'true', env: { PATH: X } }), ['steps.a.env.PATH'])
  assert.deepEqual(warned({ run: 'echo "$CMD"', env: { CMD: X } }), [])
  assert.deepEqual(warned({ argv: ['cat'], stdin: X }), [])
  assert.deepEqual(warned({ argv: ['echo', X] }), [])
  assert.deepEqual(warned({ run: 'curl x | sh' }), [])
})

test('evaluated values must satisfy the limits of a submission', () => {
  const at = (value: string) => ({ ...scope, input: { x: value } })
  assert.throws(() => resolve({ argv: ['a', '${{ input.x }}'] }, {}, at('a\0b')), /NUL/)
  assert.throws(() => resolve({ run: 'a ${{ input.x }}' }, {}, at('a\0b')), /NUL/)
  assert.throws(() => resolve({ run: 'a ${{ input.x }}' }, {}, at('x'.repeat(2 ** 18))), /bytes/)
  assert.throws(() => resolve({ http: { url: '${{ input.x }}' } }, {}, at('file:///etc')), /url/)
  assert.throws(
    () => resolve({ run: 'a', stdin: '-${{ input.x }}' }, {}, at('x'.repeat(2 ** 21))),
    /more than 1048576/,
  )
})

test('rejects an input that is longer than any text like one that is merely too long', () => {
  const output = {
    toJSON: () => {
      throw new RangeError('Invalid string length')
    },
  }
  const huge = { ...scope, step: () => ({ state: 'succeeded', output: output as never }) }
  assert.throws(() => resolve({ task: 'a', with: ['${{ steps.before.output }}'] }, {}, huge), {
    code: 'invalid_expression',
    message: /it is too large; at most 8388608 bytes are allowed/,
  })
})
