import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { readWhen } from '../../src/core/schedule/index.ts'
import type { WireSchedule } from '../../src/core/schedule/definition/schedule-views.ts'
import type { WireToken } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

const ZONE = 'Europe/Athens'

test("every command reads times by one grammar, in the user's time zone", async (t) => {
  const api = await openApi(t)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const run = async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env, zone: ZONE, cwd: '/tmp' })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  const json = async <T>(...argv: string[]) => {
    const { code, out, err } = await run(...argv, '-o', 'json')
    assert.equal(code, 0, `${argv.join(' ')}: ${err}`)
    return JSON.parse(out) as T
  }
  const dueOf = async (id: string) => (await json<WireRun>('show', id)).due_at
  const clock = (time: string | null) =>
    new Date(time as string).toLocaleTimeString('en-GB', { timeZone: ZONE })
  await api.call('PUT', '/v1/jobs/etl', { body: { run: 'true', schedule: { every: '1h' } } })

  const { id } = await json<{ id: string }>('run', 'etl', '--at', 'tomorrow 09:00')
  assert.equal(clock(await dueOf(id)), '09:00:00')
  const other = await json<{ id: string }>('run', 'etl', '--at', '2099-11-18')
  assert.equal(await dueOf(other.id), '2099-11-17T22:00:00.000Z')
  const once = await json<{ run_at: string }>('at', '2099-11-18 5pm UTC', 'etl')
  assert.equal(once.run_at, '2099-11-18T17:00:00.000Z')

  await run('pause', 'etl/1', '--until', 'next friday 17:30')
  const [schedule] = await json<WireSchedule[]>('schedules', 'etl')
  assert.equal(clock(schedule?.paused?.until ?? null), '17:30:00')
  await run('every', '2h', 'etl/two', '--start', 'tomorrow', '--end', '2099-01-01')
  const { data } = (await api.call<{ data: WireSchedule[] }>('GET', '/v1/schedules')).body
  const { definition } = data.find(({ name }) => name === 'two') as WireSchedule
  assert.equal(clock(definition.start as string), '00:00:00')
  assert.equal(definition.end, '2098-12-31T22:00:00.000Z')

  await json('token', 'create', 't1', '--expires', '90d')
  await json('token', 'create', 't2', '--expires', '2099-01-01')
  const tokens = await json<WireToken[]>('token', 'ls')
  const expiry = (name: string) => tokens.find((one) => one.name === name)?.expires_at
  assert.equal(expiry('t2'), '2098-12-31T22:00:00.000Z')
  assert.ok(Date.parse(expiry('t1') ?? '') > Date.now())

  const date = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10)
  for (const time of ['yesterday 00:00', date, '24h', '5m ago', 'monday', '09:00']) {
    await json('history', 'etl', '--since', time)
    await json('away', '--since', time)
    await json('runs', `since:${time}`, 'until:now')
  }
  const found = await json<WireRun[]>('runs', 'since:yesterday', 'until:in', '5m', 'job:etl')
  assert.equal(found.length, 3)
  assert.deepEqual(await json('runs', 'until:yesterday', 'job:etl'), [])

  for (const argv of [
    ['run', 'etl', '--at', 'soon'],
    ['at', 'soon', 'etl'],
    ['pause', 'etl', '--until', 'soon'],
    ['history', 'etl', '--since', 'soon'],
    ['history', 'etl', '--until', 'soon'],
    ['away', '--since', 'soon'],
    ['backfill', 'etl/1', '--from', 'soon'],
    ['backfill', 'etl/1', '--from', '24h', '--to', 'soon'],
    ['every', '5m', 'etl', '--start', 'soon'],
    ['token', 'create', 't3', '--expires', 'soon'],
    ['runs', 'since:soon'],
  ]) {
    const { code, err } = await run(...argv)
    assert.equal(code, 2, argv.join(' '))
    assert.match(err, /"soon" is not a time\n {2}help: {2}Write 2027-01-31T09:00, /, argv.join(' '))
  }
  for (const argv of [
    ['run', 'etl', '--at', '5m ago'],
    ['exec', '--at', 'yesterday', '--', 'true'],
    ['at', 'yesterday', 'etl'],
    ['token', 'create', 't3', '--expires', 'yesterday'],
  ]) {
    const { code, err } = await run(...argv)
    assert.equal(code, argv[0] === 'exec' ? 125 : 2, argv.join(' '))
    assert.match(err, / is in the past\n {2}help: {2}Choose a future time\./, argv.join(' '))
  }
})

test('examples on the times page are accepted, and its refused examples are refused', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/times.md'), 'utf8')
  const here = { now: Date.UTC(2026, 10, 18, 12), zone: ZONE }
  const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string)
  const rows = page.split('| Text | Means |')[1]?.split('\n\n')[0] ?? ''
  const shown = rows.split('\n').flatMap((row) => codes(row.split('|')[1] ?? ''))
  assert.ok(shown.length > 30, `${shown.length} texts are shown`)
  for (const text of shown) assert.ok(Number.isInteger(readWhen(text, here)), text)
  const refused = codes(/\*\*Refused\*\*[^]*?\n\n/.exec(page)?.[0] ?? '')
  assert.ok(refused.length >= 4)
  for (const text of refused) {
    assert.throws(() => readWhen(text, here), { code: 'invalid_schedule' }, text)
  }
})

test('a label is a name and a value, or only a name', async (t) => {
  const api = await openApi(t)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const run = async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env })
    const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
    return { code, ...terminal.written }
  }
  await api.startWorker({ labels: { gpu: 'true' } })
  assert.equal((await run('run', '--label', 'gpu', '--wait', '--', 'true')).code, 0)
  const refused = await run('run', '--label', 'gpu=', '--', 'true')
  assert.equal(refused.code, 2)
  assert.match(refused.err, /^✖ --label: "gpu=" is not a label\n {2}help: {2}Write name=value/)
})
