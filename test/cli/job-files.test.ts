import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sourceOf } from '../../src/cli/job-files/source-name.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

/** A folder of jobs called `shop`, a server, and a terminal for both. */
async function openShop(t: TestContext, files: Record<string, string>) {
  const api = await openApi(t)
  const root = mkdtempSync(join(tmpdir(), 'punctual-files-'))
  t.after(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'shop')
  mkdirSync(folder)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  const run = async (...argv: string[]) => {
    const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
    const terminal = createFakeTerminal({ env, cwd: root, columns: 100 })
    const options = { terminal, version: '9.9.9', addServerCommands: () => {} }
    const code = await runProgram(argv, options)
    return { code, ...terminal.written }
  }
  return { ...api, root, folder, write, run }
}

const EXAMPLES = join(import.meta.dirname, '../../examples/shop')
const HELLO = 'every: 5m\nrun: echo hello\n'

test('files are planned and applied, and a second plan is empty', async (t) => {
  const { run, call } = await openShop(t, {
    'hello.job.yaml': HELLO,
    'etl.job.yaml': 'steps:\n  - run: make\n  - run: make test\n',
  })
  const plan = await run('plan', 'shop', '--exit-code')
  assert.equal(plan.code, 10, plan.err)
  assert.match(plan.out, /\+ etl {2}create\n\+ hello {2}create\n/)
  assert.match(plan.err, /2 to create, 0 to change, 0 to delete, 0 unchanged/)
  assert.equal((await call('GET', '/v1/jobs/hello')).status, 404)

  const applied = await run('apply', 'shop')
  assert.deepEqual([applied.code, applied.out], [0, '✔ etl created\n✔ hello created\n'])
  const { body } = await call<WireJob>('GET', '/v1/jobs/hello')
  const { source, ...definition } = body.definition
  assert.deepEqual(definition, { run: 'echo hello', schedule: { every: '5m' } })
  assert.match(String(source), /^shop#[0-9a-f]{8}$/)
  assert.equal((await run('plan', 'shop', '--exit-code')).code, 0)
  assert.match((await run('apply', 'shop')).out, /hello unchanged/)
})

test('validate, plan and apply warn about a value that a shell may execute', async (t) => {
  const { run } = await openShop(t, {
    'load.job.yaml': [
      'input: { x: { type: string } }',
      'steps:',
      '  fetch:',
      '    run: |',
      '      set -e',
      '      { echo ${{ input.x }}; } | sh',
      "  quick: { run: 'echo ${{ input.x }} | xargs rm', needs: fetch }",
      '',
    ].join('\n'),
  })
  const text = await run('validate', 'shop')
  assert.equal(text.code, 0, text.err)
  assert.match(
    text.err,
    /load\.job\.yaml:6:34 {2}warning\[value_may_run\] steps\.fetch\.run: `sh` reads/,
  )
  assert.match(text.err, /6 │ +\{ echo \$\{\{ input\.x \}\}; \} \| sh\n +│ {34}\^\^\n/)
  assert.match(text.err, /help: Pass the value to a program/)
  assert.match(
    text.err,
    /:7:40 {2}warning\[value_may_run\] steps\.quick\.run: `xargs` runs its input as commands/,
  )
  assert.match(text.err, /✔ 1 file, no errors, 2 warnings/)
  const json = await run('validate', 'shop', '-o', 'json')
  const found = JSON.parse(json.out) as { level: string; line: number; column: number }[]
  assert.deepEqual(
    found.map(({ level, line, column }) => [level, line, column]),
    [
      ['warning', 6, 34],
      ['warning', 7, 40],
    ],
  )
  assert.match((await run('plan', 'shop')).err, /warning\[value_may_run\]/)
  const applied = await run('apply', 'shop')
  assert.equal(applied.code, 0)
  assert.match(applied.err, /warning\[value_may_run\]/)
  // A warning from the server has no position in a file.
  const restored = await run('restore', 'load', '--to', '1')
  assert.equal(restored.code, 0)
  assert.match(restored.err, /warning\[value_may_run\] load: steps\.fetch\.run: `sh` reads/)
})

test('a plan shows changes, moved next runs, and which runs keep which version', async (t) => {
  const { run, write, call, startWorker } = await openShop(t, {
    'slow.job.yaml': "cron: '0 2 * * *'\ntimezone: UTC\nrun: exec sleep 60\n",
  })
  await run('apply', 'shop')
  await startWorker()
  const { body } = await call<{ id: string }>('POST', '/v1/jobs/slow/runs', { body: {} })
  const isRunning = async () => {
    return (await call('GET', `/v1/runs/${body.id}`)).body['state'] === 'running'
  }
  await waitFor(isRunning, { what: 'the run to start', deadlineMs: 60_000 })
  write('slow.job.yaml', "cron: '0 3 * * *'\ntimezone: UTC\nrun: exec sleep 60\ntimeout: 5m\n")
  const { out } = await run('plan', 'shop')
  assert.match(out, /~ slow {2}change\n/)
  assert.match(out, /~ schedule\.cron: 0 2 \* \* \* → 0 3 \* \* \*\n/)
  assert.match(out, /\+ timeout: 5m\n/)
  assert.match(out, /schedule 1: next run \S+T02:00:00\S* → \S+T03:00:00\S*\n/)
  assert.match(out, /1 run keeps version 1\n/)

  await run('apply', 'shop')
  const later = { body: { run_at: '2099-01-01T00:00:00Z' } }
  await call('POST', '/v1/jobs/slow/runs', later)
  await call('POST', '/v1/jobs/slow/runs', later)
  write('slow.job.yaml', 'run: exec sleep 1\n')
  const again = await run('plan', 'shop')
  assert.match(again.out, /2 runs keep version 2\n {2}1 run keeps version 1\n/)
  await call('POST', `/v1/runs/${body.id}/cancel`)
})

test('pruning deletes only what this folder applied before', async (t) => {
  const { run, folder, call } = await openShop(t, {
    'hello.job.yaml': HELLO,
    'old.job.yaml': 'run: echo old\n',
  })
  await call('PUT', '/v1/jobs/by-hand', { body: { run: 'true' } })
  await call('PUT', '/v1/jobs/of-others', { body: { run: 'true', source: 'elsewhere' } })
  await run('apply', 'shop')
  rmSync(join(folder, 'old.job.yaml'))
  assert.doesNotMatch((await run('plan', 'shop')).out, /old/)
  assert.match((await run('plan', 'shop', '--prune')).out, /- old {2}delete\n/)
  const { code, out } = await run('apply', 'shop', '--prune')
  assert.deepEqual([code, out], [0, '✔ hello unchanged\n✔ old deleted\n'])
  const { body } = await call<{ data: WireJob[] }>('GET', '/v1/jobs')
  assert.deepEqual(
    body.data.map(({ name }) => name),
    ['by-hand', 'hello', 'of-others'],
  )
  const file = await run('apply', 'shop/hello.job.yaml', '--prune')
  assert.equal(file.code, 2)
  assert.match(file.err, /--prune is for one folder/)
})

test('pruning spares jobs of another folder with the same name', async (t) => {
  const { run, root, call } = await openShop(t, { 'hello.job.yaml': HELLO })
  const other = join(root, 'other', 'shop')
  mkdirSync(other, { recursive: true })
  writeFileSync(join(other, 'theirs.job.yaml'), HELLO)
  await run('apply', 'other/shop')
  // From before there were digests: its origin is unknown.
  await call('PUT', '/v1/jobs/older', { body: { run: 'true', source: 'shop' } })
  const { code, out, err } = await run('apply', 'shop', '--prune')
  assert.deepEqual([code, out], [0, '✔ hello created\n'])
  assert.match(err, /came from a folder called shop, this one or another: older\n/)
  const jobs = async () => {
    const { body } = await call<{ data: WireJob[] }>('GET', '/v1/jobs')
    return body.data.map(({ name }) => name)
  }
  assert.deepEqual(await jobs(), ['hello', 'older', 'theirs'])
  const said = await run('apply', 'shop', '--prune', '--source', 'shop')
  assert.deepEqual(
    [said.out, await jobs()],
    ['✔ hello changed\n✔ older deleted\n', ['hello', 'theirs']],
  )
  assert.equal((await run('apply', 'shop/hello.job.yaml', '--source', 'shop')).code, 2)
})

test('a repository has the same name in every checkout, and another repository has another', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'punctual-source-'))
  t.after(() => rmSync(root, { recursive: true }))
  const checkOut = (place: string, url?: string) => {
    const folder = join(root, place, 'shop', 'jobs')
    mkdirSync(folder, { recursive: true })
    mkdirSync(join(root, place, 'shop', '.git'))
    const remote = url === undefined ? '' : `[remote "origin"]\n\turl = ${url}\n\tfetch = x\n`
    writeFileSync(join(root, place, 'shop', '.git', 'config'), `[core]\n\tbare = false\n${remote}`)
    return sourceOf([folder], root)
  }
  const one = checkOut('a', 'https://git.example/acme/shop.git')
  assert.match(one?.name ?? '', /^shop\/jobs#[0-9a-f]{8}$/)
  assert.equal(one?.legacyName, 'shop/jobs')
  assert.deepEqual(checkOut('b', 'git@git.example:acme/shop.git'), one)
  assert.deepEqual(checkOut('c', 'ssh://git@git.example:22/acme/shop'), one)
  const others = [checkOut('d', 'https://git.example/else/shop'), checkOut('e'), checkOut('f')]
  assert.equal(new Set([one, ...others].map((source) => source?.name)).size, 4)
  const tree = join(root, 'tree', 'shop')
  mkdirSync(join(root, 'a', 'shop', '.git', 'worktrees', 't'), { recursive: true })
  writeFileSync(join(root, 'a', 'shop', '.git', 'worktrees', 't', 'commondir'), '../..\n')
  mkdirSync(join(tree, 'jobs'), { recursive: true })
  writeFileSync(
    join(tree, '.git'),
    `gitdir: ${join(root, 'a', 'shop', '.git', 'worktrees', 't')}\n`,
  )
  assert.deepEqual(sourceOf([join(tree, 'jobs')], root), one)
})

test('the sample project is applied, and its jobs have their schedules', async (t) => {
  const { run, call } = await openShop(t, {})
  const { code, out, err } = await run('apply', EXAMPLES)
  assert.equal(code, 0, out + err)
  assert.equal(out.match(/created/g)?.length, 10)
  const { body } = await call<WireJob>('GET', '/v1/jobs/nightly-etl')
  assert.equal(body.schedules?.length, 2)
  assert.deepEqual(Object.keys(body.definition.steps ?? {}).slice(0, 3), [
    'extract',
    'transform',
    'load',
  ])
  assert.equal((await run('plan', EXAMPLES, '--exit-code')).code, 0)
})

test('one broken file prevents all files from being applied', async (t) => {
  const { run, call } = await openShop(t, {
    'hello.job.yaml': HELLO,
    'bad.job.yaml': 'rnu: echo\n',
  })
  const { code, err } = await run('apply', 'shop')
  assert.equal(code, 2)
  assert.match(err, /bad\.job\.yaml:1:1 {2}error\[unknown_field\].*did you mean run/)
  assert.equal((await call('GET', '/v1/jobs/hello')).status, 404)
})

test('an export can be applied and changes nothing', async (t) => {
  const { run, root, call } = await openShop(t, {
    'etl.job.yaml':
      'input: { day: { type: string } }\nsteps: { b: { run: x }, a: { needs: b, run: y } }\n' +
      'output: { rows: "${{ steps.b.output.rows }}" }\n',
    'hello.job.yaml': HELLO,
  })
  await run('apply', 'shop')
  assert.equal((await run('export', '--to', 'out')).code, 0)
  assert.deepEqual(readdirSync(join(root, 'out')), ['etl.job.yaml', 'hello.job.yaml'])
  const plan = await run('plan', 'out/etl.job.yaml', 'out/hello.job.yaml', '--exit-code')
  assert.equal(plan.code, 0, plan.out)
  assert.equal((await run('export', '--to', 'out')).code, 9)
  const one = await run('export', 'etl')
  assert.match(one.out, /output:\n {2}rows: \$\{\{ steps\.b\.output\.rows \}\}\n/)
  assert.match(one.out, /^input:\n {2}day:\n {4}type: string\nsteps:\n {2}b:\n/)
  await call('GET', '/v1/jobs')
})

test('an old version is restored as a new one', async (t) => {
  const { run, write, call } = await openShop(t, { 'hello.job.yaml': HELLO })
  await run('apply', 'shop')
  write('hello.job.yaml', 'run: echo changed\n')
  await run('apply', 'shop')
  const { code, out } = await run('restore', 'hello', '--to', '1')
  assert.deepEqual([code, out], [0, '✔ hello is as it was in version 1, now version 3\n'])
  const { body } = await call<WireJob>('GET', '/v1/jobs/hello')
  assert.equal(body.definition.run, 'echo hello')
  assert.equal((await run('restore', 'hello', '--to', '9')).code, 6)
})

test('the schema is the same from the command line and from the server', async (t) => {
  const { run, call } = await openShop(t, {})
  const { code, out } = await run('schema')
  assert.equal(code, 0)
  const { body, status } = await call('GET', '/schema/v1/job.json')
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(out), body)
})

test('a plan lists schedules that no file declares, and applying leaves them', async (t) => {
  const { run, call, write } = await openShop(t, { 'hello.job.yaml': HELLO })
  await run('apply', 'shop')
  assert.equal((await run('every', 'weekdays at 09:05', 'hello/by-hand')).code, 0)
  const same = await run('plan', 'shop', '--exit-code')
  assert.equal(same.code, 0)
  assert.match(
    same.out,
    /= hello\n {2}schedule by-hand \(weekdays at 09:05.*\) is not of this file: left alone\n {4}to delete it: punctual schedules rm hello\/by-hand\n/,
  )
  write('hello.job.yaml', 'every: 10m\nrun: echo hello\n')
  assert.match((await run('plan', 'shop')).out, /~ hello {2}change\n[^]*by-hand .* left alone/)
  await run('apply', 'shop')
  const { body } = await call<WireJob>('GET', '/v1/jobs/hello')
  assert.deepEqual(body.schedules?.map(({ name }) => name).toSorted(), ['1', 'by-hand'])
  const [planned] = JSON.parse((await run('plan', 'shop', '-o', 'json')).out) as {
    left: object[]
  }[]
  assert.equal(planned?.left.length, 1)
})
