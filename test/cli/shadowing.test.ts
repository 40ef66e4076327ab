import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireSchedule } from '../../src/core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

suite('what has the same name does not replace the other without a word', () => {
  let api: OpenApi
  const workDir = mkdtempSync(join(tmpdir(), 'punctual-shadowing-'))
  const cleanups: (() => unknown)[] = [() => rmSync(workDir, { recursive: true })]
  before(async () => {
    const context = { after: (end: () => unknown) => void cleanups.unshift(end), diagnostic() {} }
    api = await openApi(context as unknown as TestContext)
  })
  after(async () => {
    for (const end of cleanups) await end()
  })

  const run = async (...argv: string[]) => {
    const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
    const terminal = createFakeTerminal({ env, cwd: workDir, columns: 150 })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  const write = (name: string, text: string) =>
    writeFileSync(join(workDir, `${name}.job.yaml`), text)
  const schedulesOf = async (job: string) => {
    const { body } = await api.call<WireJob>('GET', `/v1/jobs/${job}`)
    return (body.schedules ?? []).map(({ name, words, declared }) => [name, words, declared])
  }

  test('apply leaves a schedule made by every alone, and says when it would change one', async () => {
    write('etl', 'run: "true"\n')
    assert.equal((await run('apply', 'etl.job.yaml')).code, 0)
    assert.equal((await run('every', 'weekdays at 09:05', 'etl', '--zone', 'UTC')).code, 0)
    write('etl', 'run: "true"\nschedule:\n  every: 5 minutes\n  zone: UTC\n')
    const applied = await run('apply', 'etl.job.yaml')
    assert.equal(applied.code, 0, applied.err)
    assert.deepEqual(await schedulesOf('etl'), [
      ['every-1', 'weekdays at 09:05, UTC', false],
      ['1', 'every 5 minutes, UTC', true],
    ])
    // One that already has the name, as older versions gave it.
    const body = { every: 'weekdays at 09:05', zone: 'UTC' }
    await api.call('PUT', '/v1/jobs/etl/schedules/extra', { body })
    write('etl', 'run: "true"\nschedule:\n  name: extra\n  every: 7 minutes\n  zone: UTC\n')
    const planned = await run('plan', 'etl.job.yaml')
    assert.match(
      planned.out,
      /schedule extra \(weekdays at 09:05, UTC\) is not of this file.*apply is refused\n.*punctual schedules rm etl\/extra\n/,
    )
    assert.doesNotMatch(planned.out, /schedule extra: next run/)
    const refused = await run('apply', 'etl.job.yaml')
    assert.equal(refused.code, 9)
    assert.match(refused.out, /has a schedule extra that does not come from its definition/)
    assert.deepEqual((await schedulesOf('etl'))[1], ['1', 'every 5 minutes, UTC', true])
    const { status, body: problem } = await api.call('PUT', '/v1/jobs/etl', {
      body: { run: 'true', schedule: { name: 'extra', every: '7 minutes', zone: 'UTC' } },
    })
    assert.deepEqual(
      [status, problem['code'], problem['field']],
      [409, 'schedule_exists', 'schedule.name'],
    )
    // Declaring the same schedule is no conflict: the definition owns it from now on.
    write('etl', 'run: "true"\nschedule:\n  name: extra\n  every: weekdays at 09:05\n  zone: UTC\n')
    assert.doesNotMatch((await run('plan', 'etl.job.yaml')).out, /is refused|extra: next run/)
    assert.equal((await run('apply', 'etl.job.yaml')).code, 0)
    assert.deepEqual((await schedulesOf('etl')).at(-1), ['extra', 'weekdays at 09:05, UTC', true])
  })

  test('the same every command again is the same schedule, and another rule adds one', async () => {
    const first = await run('every', '15 minutes', '--', './backup.sh', 'now')
    assert.equal(first.code, 0, first.err)
    const again = await run('every', '15 minutes', '-o', 'json', '--', './backup.sh', 'now')
    assert.equal(again.code, 0, again.err)
    assert.equal((JSON.parse(again.out) as WireSchedule).name, 'every-1')
    assert.equal((await run('every', '2 hours', '--', './backup.sh', 'now')).code, 0)
    assert.deepEqual(
      (await schedulesOf('backup.sh')).map(([name]) => name),
      ['every-1', 'every-2'],
    )
    const other = await run('every', '15 minutes', '--', './backup.sh', 'later')
    assert.deepEqual([other.code, /--job/.test(other.err)], [9, true])
    // A file for this job that is applied later does not replace what `every` made.
    write('backup.sh', 'argv: [./backup.sh]\nschedule: { every: 1h, zone: UTC }\n')
    const applied = await run('apply', 'backup.sh.job.yaml')
    assert.equal(applied.code, 0, applied.err)
    assert.deepEqual(
      (await schedulesOf('backup.sh')).map(([name, , declared]) => [name, declared]),
      [
        ['every-1', false],
        ['every-2', false],
        ['1', true],
      ],
    )
  })

  test('a refused rule leaves no job behind', async () => {
    assert.equal((await run('every', 'now and then', '--', './never.sh')).code, 2)
    assert.equal((await api.call('GET', '/v1/jobs/never.sh')).status, 404)
  })

  test('every names the rule it replaces, and whether a definition declared it', async () => {
    write('named', 'run: "true"\nschedule:\n  every: 5 minutes\n  zone: UTC\n')
    assert.equal((await run('apply', 'named.job.yaml')).code, 0)
    assert.equal((await run('every', '2 hours', 'named/own', '--zone', 'UTC')).err, '')
    assert.equal((await run('every', '2 hours', 'named/own', '--zone', 'UTC')).err, '')
    const own = await run('every', '3 hours', 'named/own', '--zone', 'UTC')
    assert.deepEqual([own.code, own.err], [0, 'note: named/own was every 2 hours, UTC\n'])
    const declared = await run('every', '7 minutes', 'named/1', '--zone', 'UTC')
    assert.equal(declared.code, 0)
    assert.equal(
      declared.err,
      'note: named/1 was every 5 minutes, UTC, as the definition of the job declares it; its next version restores that\n',
    )
    write('named', 'run: "false"\nschedule:\n  every: 5 minutes\n  zone: UTC\n')
    assert.equal((await run('apply', 'named.job.yaml')).code, 0)
    const kept = new Map((await schedulesOf('named')).map(([name, ...rest]) => [name, rest]))
    assert.deepEqual(kept.get('1'), ['every 5 minutes, UTC', true])
    assert.deepEqual(kept.get('own'), ['every 3 hours, UTC', false])
  })

  test('defining a job under the name of a handler warns that its runs no longer call the handler', async () => {
    await api.startWorker({ name: 'w1', handlers: { send: () => 1, 'mail.sh': () => 2 } })
    write('send', 'run: "true"\n')
    const applied = await run('apply', 'send.job.yaml')
    assert.equal(applied.code, 0)
    assert.match(applied.err, /warning\[shadows_handler\] send: workers have a handler send/)
    const made = await run('every', '1 hour', '--', './mail.sh')
    assert.match(made.err, /warning\[shadows_handler\] mail\.sh/)
    write('send', 'task: send\n')
    assert.equal((await run('apply', 'send.job.yaml')).err, '')
  })
})
