import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type {
  WireOccurrence,
  WireSchedule,
} from '../../src/core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

async function open(t: TestContext) {
  const api = await openApi(t)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const options = { env, isInteractive: false, columns: 100, cwd: '/tmp', zone: 'Europe/Athens' }
  const run = async (...argv: string[]) => {
    const terminal = createFakeTerminal(options)
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  const json = async <T>(...argv: string[]) => {
    const { code, out, err } = await run(...argv, '-o', 'json')
    assert.equal(code, 0, err)
    return JSON.parse(out) as T
  }
  return { api, run, json }
}

/** `Sat 15 Nov 02:00 +02:00`, with the year if it is not the current one. */
const TIME = String.raw`[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2}(?: \d{4})? \d\d:\d\d(?::\d\d)? \+0[23]:00`

test('a command is scheduled repeatedly as a job with its own name', async (t) => {
  const { api, run } = await open(t)
  const made = await run('every', '15 minutes', '--', '/opt/bin/nightly etl.sh', '--full')
  assert.match(
    made.out,
    new RegExp(String.raw`^nightly-etl\.sh/every-1  every 15 minutes, Europe/Athens
  next  ${TIME} \(in \d+m?.*\)
$`),
  )
  const { body } = await api.call<WireJob>('GET', '/v1/jobs/nightly-etl.sh')
  assert.deepEqual(
    [body.definition.argv, body.definition.cwd],
    [['/opt/bin/nightly etl.sh', '--full'], '/tmp'],
  )
  const again = await run('every', '5m', '--', '/usr/bin/nightly-etl.sh')
  assert.equal(again.code, 9)
  assert.match(again.err, /is defined already\n {2}help: {2}Choose another name with --job/)
  const other = await run('every', '5m', '--job', 'other', '-o', 'json', '--', 'true')
  const { job, words } = JSON.parse(other.out) as WireSchedule
  assert.deepEqual([job, words], ['other', 'every 5m'])
})

test('a job gets schedules in words or as cron; the same rule twice is one schedule', async (t) => {
  const { api, run, json } = await open(t)
  await api.call('PUT', '/v1/jobs/etl', { body: { run: 'true' } })
  const flags = ['--overlap', 'skip', '--missed', 'all', '--jitter', '2m', '--deadline', '3h']
  const first = await json<WireSchedule>(
    'every',
    'weekdays at 09:05',
    'etl',
    ...flags,
    '-i',
    '{"a":1}',
  )
  assert.deepEqual([first.name, first.version], ['every-1', 1])
  assert.deepEqual(first.definition, {
    every: 'weekdays at 09:05',
    zone: 'Europe/Athens',
    jitter: '2m',
    overlap: 'skip',
    dst: { gap: 'run-after', repeat: 'first' },
    deadline: '3h',
    input: { a: 1 },
    missed: { policy: 'all', max_age: '1d', max_count: 100 },
  })
  const cron = ['every', '0 9 * * 1-5', 'etl', '--zone', 'UTC', '--end', '2099-01-01T00:00Z']
  assert.equal((await json<WireSchedule>(...cron)).name, 'every-2')
  const same = await json<WireSchedule>(...cron, '--overlap', 'allow')
  assert.deepEqual([same.name, same.version, same.definition.overlap], ['every-2', 2, 'allow'])
  assert.equal((await json<WireSchedule>('every', '@hourly', 'etl/hourly')).name, 'hourly')

  const list = await run('schedules')
  assert.match(list.out, /^SCHEDULE +STATE +NEXT +IN +WHEN\n/)
  assert.match(
    list.out,
    new RegExp(`\netl/every-1 +on +${TIME} +\\S.* weekdays at 09:05, Europe/At`),
  )
  assert.equal(
    (await run('schedules', 'etl', '-o', 'name')).out,
    'etl/every-1\netl/every-2\netl/hourly\n',
  )
  assert.match(
    (await run('schedules', 'rm', 'etl')).err,
    /Say which: etl\/every-1, etl\/every-2, etl\/hourly\./,
  )
  assert.equal(
    (await run('schedules', 'rm', 'etl/every-2')).out,
    'the schedule etl/every-2 is deleted\n',
  )
  assert.equal((await run('schedules', 'rm', 'etl/every-2')).code, 6)
})

test('an invalid schedule is refused with what would be valid', async (t) => {
  const { api, run } = await open(t)
  await api.call('PUT', '/v1/jobs/etl', { body: { run: 'true' } })
  const zone = await run('every', '@daily', 'etl', '--zone', 'Europe/Athen')
  assert.deepEqual([zone.code, zone.out], [2, ''])
  assert.equal(
    zone.err,
    `✖ --zone: "Europe/Athen" is not the name of a zone
  help:  Did you mean Europe/Athens?
  code:  invalid_schedule
`,
  )
  const never = await run('every', '0 0 30 2 *', 'etl', '-o', 'json')
  const problem = JSON.parse(never.err) as Record<string, unknown>
  assert.deepEqual([problem['code'], problem['field']], ['invalid_schedule', 'cron'])
  for (const [argv, code] of [
    [['schedules', 'etll'], 6],
    [['forecast', 'etll'], 6],
    [['next', 'etll'], 6],
    [['every'], 2],
    [['every', '5m'], 2],
    [['every', '5m', 'etl', 'now'], 2],
    [['every', 'now and then', 'etl'], 2],
    [['every', '5m', 'nobody'], 6],
    [['every', '5m', 'etl/a/b'], 2],
    [['at', 'yesterday', '--', 'true'], 2],
    [['at', '2020-01-01T09:00', '--', 'true'], 2],
    [['at', 'tomorrow 09:00'], 2],
    [['next', '61 * * * *'], 2],
    [['next', 'nobody'], 6],
    [['next', 'etl', '-n', '0'], 2],
    [['skip', 'etl'], 6],
    [['history', 'nobody'], 6],
    [['history', 'etl', '--since', 'soon'], 6],
    [['away', '--since', 'once upon a time'], 2],
    [['pause', 'etl/1'], 6],
    [['pause', '--queue', 'q', '--until', 'tomorrow 09:00'], 2],
    [['why', 'etl/1'], 6],
  ] as const) {
    const done = await run(...argv)
    assert.equal(done.code, code, `${argv.join(' ')}: ${done.err}`)
  }
})

test('a command is scheduled once, at a future time', async (t) => {
  const { api, run } = await open(t)
  const done = await run('at', 'tomorrow 09:00', '--', 'echo', 'hi')
  const [, id] = new RegExp(String.raw`^(run_\w{11})  ${TIME} \(in .*\)\n$`).exec(done.out) ?? []
  assert.match(done.out, / 09:00 \+0[23]:00 /)
  const { body } = await api.call<WireRun>('GET', `/v1/runs/${id}`)
  assert.equal(body.state, 'scheduled')
  const later = await run('at', '2099-01-01T09:00', '-o', 'json', '--', 'true')
  const { run_at } = JSON.parse(later.out) as { run_at: string }
  assert.equal(run_at, '2099-01-01T07:00:00.000Z')
  const soon = await run('at', 'in 2 hours', '--zone', 'UTC', '-o', 'name', '--', 'true')
  assert.match(soon.out, /^run_\w{11}\n$/)
})

test('upcoming times are shown for all jobs, for one, and for a rule that is not stored', async (t) => {
  const { api, run, json } = await open(t)
  assert.match((await run('next')).err, /^No scheduled times\. Try: punctual every/)
  assert.match((await run('schedules')).err, /^No schedules yet\. Try: punctual every/)
  for (const job of ['a', 'b']) {
    await api.call('PUT', `/v1/jobs/${job}`, { body: { run: 'true', schedule: { every: '1h' } } })
  }
  assert.equal((await json<object[]>('next', '-n', '6')).length, 6)
  const one = await run('next', 'b/1', '-n', '2')
  assert.match(one.out, /^TIME +IN +SCHEDULE +WHEN\n(?:.* b\/1 +every 1h\n){2}$/)
  for (const few of ['* * * *', '0 9 * MON', '*/5']) {
    const refused = await run('next', few)
    assert.equal(refused.code, 2, few)
    assert.match(
      refused.err,
      /^✖ the rule: it has \d fields?, and five or six are needed: the [\s\S]*\s(?:is|are) missing\n {2}help: {2}Write /,
    )
  }
  const yearly = await run('next', '0 9 1 1 * 2090', '-n', '1', '--zone', 'UTC')
  assert.match(yearly.out, /^the 1st of January at 09:00 in 2090, UTC\n/)
  const rule = await run('next', '30 3 * * *', '-n', '2', '--zone', 'Europe/Athens')
  const [words, titles, ...lines] = rule.out.split('\n')
  assert.equal(words, 'every day at 03:30, Europe/Athens')
  assert.match(String(titles), /^WHEN +IN$/)
  assert.match(String(lines[0]), new RegExp(`^${TIME}  in `))
  const notes = lines.slice(2).join(' ').replaceAll(/\s+/g, ' ')
  assert.match(
    notes,
    /clocks: on \S+ clocks go from 03:00 to 04:00: skipped times fire once, at 04:00\./,
  )
  assert.match(
    notes,
    /clocks: on \S+ clocks go from 04:00 to 03:00: repeated times fire once, the first/,
  )
})

test('a schedule is paused, skipped once, and says why it does not fire', async (t) => {
  const { api, run, json } = await open(t)
  const zone = 'Europe/Athens'
  const schedule = [
    { every: '1h', zone },
    { every: '1d', name: 'daily', zone },
  ]
  await api.call('PUT', '/v1/jobs/etl', { body: { run: 'true', schedule } })
  const held = await run('pause', 'etl/daily', '--until', '2099-01-01T09:00', '--reason', 'audit')
  assert.equal(held.out, 'the schedule etl/daily is paused until Thu 1 Jan 2099 09:00 +02:00\n')
  const why = await run('why', 'etl/daily')
  assert.match(
    why.out,
    /^paused  It does not fire: it has been paused for \S+ until 2099-01-01T07:00:00\.000Z\.\n {2}The reason given: audit\n/,
  )
  assert.match(why.out, /fix: {2}punctual resume etl\/daily\n/)
  const both = await run('pause', 'etl', '--until', '2099-01-01T09:00')
  assert.match(both.out, /^each of etl\/1, etl\/daily is paused until /)
  assert.equal((await run('resume', 'etl')).out, 'each of etl/1, etl/daily is resumed\n')
  assert.equal((await run('pause', 'etl')).out, 'the job etl is paused\n')
  assert.match((await run('why', 'etl/1')).out, /because the job etl has been paused/)
  assert.match((await run('schedules')).out, /etl\/1 +paused +- +- +every 1h/)
  assert.equal((await run('resume', 'etl')).out, 'the job etl is resumed\n')
  assert.match((await run('why', 'etl/1')).out, /^active  It fires next in \S.*: every 1h\.\n$/)

  assert.equal((await run('skip', 'etl')).code, 2)
  const skipped = await run('skip', 'etl/1')
  assert.match(skipped.out, new RegExp(`^etl/1 skips ${TIME} and fires ${TIME}\n$`))
  const { skipping } = (await json<WireSchedule[]>('schedules', 'etl'))[0] as WireSchedule
  assert.ok(skipping)
})

test('history shows every time, and away those that did not start on time', async (t) => {
  const { api, run, json } = await open(t)
  await api.startWorker()
  assert.match((await run('away')).out, /^All scheduled times since .* started on time\.\n$/)
  const body = {
    run: 'true',
    schedule: { every: '1s', overlap: 'allow', expect: { duration: '1h' } },
  }
  await api.call('PUT', '/v1/jobs/tick', { body })
  await run('skip', 'tick')
  const times = await waitFor(
    async () => {
      const told = await json<WireOccurrence[]>('history', 'tick')
      const ended = told.filter(({ run_state }) => run_state === 'succeeded')
      return ended.length >= 2 ? told : undefined
    },
    { what: 'two runs of a schedule to end' },
  )
  // On a slow machine a time or two may fire before the request to skip arrives.
  const skipped = times.filter(({ outcome }) => outcome === 'skipped')
  assert.deepEqual(
    skipped.map(({ reason }) => reason),
    ['asked'],
  )
  assert.equal(times.at(-1)?.outcome, 'planned')
  const table = (await run('history', 'tick', '-n', '500')).out
  assert.match(table, /^TIME \+\d\d:\d\d +OUTCOME +WHY +LATE +RUN +STATE\n/)
  assert.match(table, /⤼ skipped +requested by a user +- +- +-\n/)
  assert.match(table, /✔ fired +- +\S+ +run_\w{11} +✔ succeeded\n/)
  assert.match(table, /◷ planned +- +- +- +-\n$/)
  const away = await run('away')
  assert.match(away.out, /^Since .*: 0 missed, 0 caught up, 1 skipped, 0 merged, \d+ late\.\n/)
  assert.match(away.out, /\ntick\/1 +0 +0 +1 +0 +\d+ +requested by a user/)
})

test('a schedule is run by hand with its own input, and is not changed by that', async (t) => {
  const { api, run, json } = await open(t)
  const schedule = { name: 'nightly', cron: '0 2 * * *', input: { full: true } }
  await api.call('PUT', '/v1/jobs/etl', { body: { run: 'true', schedule } })
  const before = await json<WireSchedule>('api', 'GET', '/v1/jobs/etl/schedules/nightly')
  const { id } = await json<{ id: string }>('run', 'etl/nightly', '--key', 'k')
  assert.deepEqual(await json('run', 'etl/nightly', '--key', 'k'), { id }, 'safe to repeat')
  const { body } = await api.call<WireRun>('GET', `/v1/runs/${id}`)
  assert.deepEqual([body.job, body.input, body.due_at], ['etl', { full: true }, null])
  assert.deepEqual(await json('api', 'GET', '/v1/jobs/etl/schedules/nightly'), before)

  const nobody = await run('run', 'etl/weekly')
  assert.deepEqual([nobody.code, /no schedule weekly/.test(nobody.err)], [6, true])
  const own = await run('run', 'etl/nightly', '-i', '{}')
  assert.equal(own.code, 2)
  assert.match(
    own.err,
    /input cannot be combined with it\n {2}help: {2}To choose them, run the job/,
  )
})

test('expectations are shown in the words of the definition', async (t) => {
  const { api, json, run } = await open(t)
  await api.call('PUT', '/v1/jobs/etl', { body: { run: 'true' } })
  const expect = ['duration=2x', 'start=30s', 'output=true'].flatMap((one) => ['--expect', one])
  const flags = ['--deadline', '05:30', ...expect]
  const { definition } = await json<WireSchedule>('every', 'weekdays at 02:00', 'etl', ...flags)
  assert.equal(definition.deadline, '05:30')
  assert.deepEqual(definition.expect, { start: '30s', duration: '2x', output: true })
  const wrong = await run('every', '5m', 'etl', '--expect', 'output=perhaps')
  assert.deepEqual([wrong.code, /expect\.output/.test(wrong.err)], [2, true], wrong.err)
})
