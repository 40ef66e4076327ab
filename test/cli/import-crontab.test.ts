import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

const SHOP = join(import.meta.dirname, 'crontabs', 'shop.crontab')

function runnerWith(env: Record<string, string>, cwd = '/') {
  return async (...argv: string[]) => {
    const terminal = createFakeTerminal({ env, cwd, columns: 100 })
    const words = ['import', 'crontab', ...argv]
    const code = await runProgram(words, {
      terminal,
      version: '9.9.9',
      addServerCommands: () => {},
    })
    return { code, ...terminal.written }
  }
}

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'punctual-crontab-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

test('a dry run shows the result of every line and calls no server', async () => {
  const run = runnerWith({ PUNCTUAL_SERVER: 'http://127.0.0.1:9' })
  const { code, out } = await run(SHOP, '--system', '--zone', 'Europe/Athens', '--dry-run')
  assert.equal(code, 11)
  for (const expected of [
    / 2 {2}SHELL=\/bin\/bash\n +the shell of the lines below\n/,
    / 4 {2}MAILTO=ops@shop.example\n +no mail is sent/,
    / 6 {2}cd \/ && run-parts --report \/etc\/cron.hourly\n +would become run-parts: .*, as root\n/,
    /would become run-parts-2: every day at 06:25, Europe\/Athens, as root/,
    /would become pg-backup\.sh: every day at 02:30, Europe\/Athens, as postgres/,
    /would become mail: weekdays at 09:00, Europe\/Athens, as bob, with input/,
    /date -d tomorrow \+%d\)" = 01 \] && \/srv\/billing\/close-month\n +would become close-month: /,
    /19 {2}@reboot root \/usr\/local\/bin\/warm-caches\n +not imported: @reboot is not supported/,
    /would become report: weekdays at 18:00, America\/New_York, as www/,
    /26 {2}15 \*\/60 .*\n +not imported: .*\n/,
    /27 {2}0 22-2 .*\n +not imported: hour: "22-2" runs backwards\. Write 22-23,0-2\./,
    /28 {2}0~59 .*\n +not imported: .*H\(0-59\)/,
    /32 {2}0 12 31 2 .*\n +not imported: /,
  ]) {
    assert.match(out, expected)
  }
  assert.doesNotMatch(out, /old-sync/)
  assert.match(out, /shop\.crontab: 14 would become jobs, 5 not imported\n$/)
})

test('every line becomes a job with a schedule; a second import changes nothing', async (t) => {
  const { url, call } = await openApi(t)
  const run = runnerWith({ PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: ROOT_TOKEN })
  const first = await run(SHOP, '--system', '--zone', 'Europe/Athens')
  assert.equal(first.code, 11, first.err)
  assert.match(first.out, /: 14 became jobs, 5 not imported\n$/)
  const { body } = await call<WireJob>('GET', '/v1/jobs/mail')
  assert.deepEqual(body.definition, {
    run: 'mail -s "Good morning" team@shop.example',
    run_as: 'bob',
    shell: '/bin/bash',
    stdin: 'Dear all,\n\nhere is the plan for today.\n',
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    description: `From line 14 of ${SHOP}.`,
    schedule: { name: 'crontab', cron: '0 9 * * 1-5', zone: 'Europe/Athens' },
  })
  assert.equal(body.schedules?.[0]?.words, 'weekdays at 09:00, Europe/Athens')
  const again = await run(SHOP, '--system', '--zone', 'Europe/Athens')
  assert.match(again.out, /: 14 were there already, 5 not imported\n$/)

  const other = await run(SHOP, '--system', '--zone', 'UTC')
  assert.equal(other.code, 9)
  assert.match(other.out, /did not become mail: .*\n +there is a job mail already, and it says/)
  const replaced = await run(SHOP, '--system', '--zone', 'UTC', '--replace', '-o', 'jsonl')
  const outcomes = replaced.out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { outcome?: string }).outcome)
  assert.ok(outcomes.includes('replaced') && !outcomes.includes('failed'))
  const mine = await run(SHOP, '--system', '--prefix', 'web1-', '--as-worker', '-o', 'name')
  assert.match(mine.out, /^web1-run-parts\n/)
  const { body: plain } = await call<WireJob>('GET', '/v1/jobs/web1-mail')
  assert.equal(plain.definition.run_as, undefined)
})

test('a line the server refuses is reported, and the other lines are imported', async (t) => {
  const { url, call } = await openApi(t)
  const cwd = directory(t)
  writeFileSync(join(cwd, 'tab'), 'HOME=home\n0 1 * * * a\nHOME=/home\n0 2 * * * b\n')
  const run = runnerWith({ PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: ROOT_TOKEN }, cwd)
  const { code, out } = await run('tab')
  assert.equal(code, 9)
  assert.match(out, /did not become a: .*\n +.*cwd/)
  assert.match(out, /1 became jobs, 1 did not become jobs\n$/)
  assert.equal((await call('GET', '/v1/jobs/b')).status, 200)
})

test("without a file, the user's own crontab is read", async (t) => {
  const bin = directory(t)
  writeFileSync(join(bin, 'crontab'), '#!/bin/sh\necho "0 5 * * * /opt/mine.sh $1"\n')
  chmodSync(join(bin, 'crontab'), 0o755)
  const { out } = await runnerWith({ PATH: `${bin}:/usr/bin:/bin` })('--dry-run')
  assert.match(out, /mine\.sh -l\n +would become mine\.sh: every day at 05:00/)
  writeFileSync(join(bin, 'crontab'), '#!/bin/sh\necho "no crontab for bob" >&2; exit 1\n')
  const none = await runnerWith({ PATH: `${bin}:/usr/bin:/bin` })('--user', '--dry-run')
  assert.equal(none.code, 2)
  assert.match(none.err, /crontab -l did not answer: no crontab for bob/)
  const both = await runnerWith({})('--user', '--system')
  assert.equal(both.code, 2)
  assert.match((await runnerWith({})('/nowhere/tab', '--dry-run')).err, /cannot be read/)
})

test('a system crontab is recognised; the exit code shows that lines were left out', async (t) => {
  const dir = directory(t)
  const run = runnerWith({ PUNCTUAL_SERVER: 'http://127.0.0.1:9' }, dir)
  const write = (text: string) => writeFileSync(join(dir, 'tab'), text)
  write('SHELL=/bin/sh\n17 * * * * root cd / && true\n@daily www /srv/report\n')
  const found = await run('tab', '--dry-run')
  assert.equal(found.code, 0, found.err)
  assert.match(
    found.err,
    /^note: every line names a user, .* --no-system reads it as that of one user\n$/,
  )
  assert.match(found.out, /would become true: .*, as root\n[^]*would become report: .*, as www\n/)
  const own = await run('tab', '--dry-run', '--no-system')
  assert.match(own.out, /would become root: /)
  assert.equal(own.err, '')
  write('0 1 * * * mail -s hi bob\n0 2 * * * /opt/a.sh\n')
  assert.equal((await run('tab', '--dry-run')).err, '')
  write('0 1 * * * /opt/a.sh\n@reboot /opt/b.sh\n')
  assert.equal((await run('tab', '--dry-run')).code, 11)
})
