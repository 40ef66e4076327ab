import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '../expression/evaluate.ts'
import type { StepInput } from './definition.ts'
import { readWorkflow } from './read-workflow.ts'
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

test('an expression in a command is a variable, and its value is in the environment', () => {
  const { work, job } = resolve({ run: 'load --day ${{ input.day }} "${{ input.evil }}"' })
  assert.equal(job, 'etl/a')
  assert.deepEqual(work, {
    executor: 'shell',
    run: 'load --day "${PUNCTUAL_EXPR_1}" "${PUNCTUAL_EXPR_2}"',
    env: { PUNCTUAL_EXPR_1: '2026-03-01', PUNCTUAL_EXPR_2: '$(reboot) "\' ${TOKEN}' },
  })
})

test('arguments, variables and texts get values as text; inputs keep their types', () => {
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

test('a request: parts of an address are encoded, JSON stays JSON, secrets are only named', () => {
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

test('a value cannot ask a worker for the secrets of its request', () => {
  const http = {
    url: 'https://api.example/',
    headers: { authorization: '${{ secrets.TOKEN }}' },
    json: { note: '${{ input.evil }}', mine: '${TOKEN}' },
  }
  assert.throws(() => resolve({ http }), /says \$\{TOKEN\}, which would be replaced/)
})

test('nor can values together, or with the text around them', () => {
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

test('what the job says goes for every step, unless the step says otherwise', () => {
  const job = {
    env: { A: '1', DAY: '${{ input.day }}' },
    secrets: ['TOKEN'],
    queue: 'etl',
    cwd: '/srv',
    retry: { max: 2 },
  }
  const { work, queue, secrets, retry } = resolve({ run: 'x', env: { A: '2' } }, job)
  assert.deepEqual(work, {
    ...{ executor: 'shell', run: 'x', cwd: '/srv' },
    env: { A: '2', DAY: '2026-03-01' },
  })
  assert.deepEqual([queue, secrets?.length, retry?.max], ['etl', 1, 2])
  const task = resolve({ task: 'load', queue: 'other' }, job)
  assert.deepEqual([task.work, task.secrets, task.queue], [undefined, undefined, 'other'])
})

test('a variable that is a secret is given as one', () => {
  const { work, secrets } = resolve({ run: 'x', env: { TOKEN: '${{ secrets.TOKEN }}' } })
  assert.deepEqual(work, { executor: 'shell', run: 'x' })
  assert.deepEqual(secrets, [{ name: 'TOKEN', as: 'env' }])
})

test('a command of a fan-out finds its item in a variable', () => {
  const { work } = resolve({ run: 'x "$ITEM"', each: [1] })
  assert.deepEqual(work?.env, { ITEM: '{"id":7}' })
  const named = resolve({ run: 'x', each: [1], env: { ITEM: 'mine' } })
  assert.deepEqual(named.work?.env, { ITEM: 'mine' })
})

test('a shell within a container is a shell', () => {
  const entrypoint = ['/bin/sh', '-c']
  const image = 'acme/load:${{ input.day }}'
  const { work } = resolve({
    container: { image, entrypoint, command: ['load ${{ input.evil }}'] },
  })
  assert.deepEqual(work, {
    ...{ executor: 'container', image: 'acme/load:2026-03-01', entrypoint },
    command: ['load "${PUNCTUAL_EXPR_1}"'],
    env: { PUNCTUAL_EXPR_1: '$(reboot) "\' ${TOKEN}' },
  })
})

test('what comes of expressions is held to what a submission may say', () => {
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

test('an input longer than any text can be is refused like one that is only too long', () => {
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
