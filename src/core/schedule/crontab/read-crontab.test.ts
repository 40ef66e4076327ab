import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCommand } from './command-text.ts'
import type { CrontabEntry } from './entry.ts'
import { jobsOf } from './jobs.ts'
import { readCrontab } from './read-crontab.ts'

const read = (text: string, hasUsers = false) =>
  readCrontab(text, { hasUsers, zone: 'Europe/Athens' })

const entriesIn = (text: string, hasUsers = false) =>
  read(text, hasUsers).filter((line): line is CrontabEntry => line.kind === 'entry')

describe('a command ends at the first percent sign, and reads what follows', () => {
  const TABLE: [text: string, run: string, stdin: string | null][] = [
    ['echo hello', 'echo hello', null],
    ['mail -s hi bob%Dear Bob,%%see you', 'mail -s hi bob', 'Dear Bob,\n\nsee you\n'],
    ['cat%', 'cat', ''],
    ['cat%one%', 'cat', 'one\n'],
    ['date +\\%Y-\\%m', 'date +%Y-%m', null],
    ['date +\\%d%50\\% of it', 'date +%d', '50% of it\n'],
    ['printf "a\\nb"', 'printf "a\\nb"', null],
    ['echo \\\\%in', 'echo \\\\', 'in\n'],
    ['cat%a\\nb', 'cat', 'a\\nb\n'],
    ['cat   %x', 'cat', 'x\n'],
  ]
  for (const [text, run, stdin] of TABLE) {
    test(text, () => assert.deepEqual(readCommand(text), { run, stdin }))
  }
})

describe('lines are read as cron reads them', () => {
  const TABLE: [text: string, told: string][] = [
    ['0 2 * * * /opt/a.sh', 'every day at 02:00 | /opt/a.sh'],
    ['  0\t2  *  * 1-5\t/opt/a.sh  --all ', 'weekdays at 02:00 | /opt/a.sh  --all'],
    ['@daily /opt/a.sh', 'every day at 00:00 | /opt/a.sh'],
    ['@Hourly a', 'every hour | a'],
    ['*/15 * * * * a # not a remark', 'every 15 minutes | a # not a remark'],
    ['0 9 * JAN-mar Mon a', 'Mondays in January to March at 09:00 | a'],
    ['0 9 * * 7 a', 'Sundays at 09:00 | a'],
    ['-0 9 * * * a', 'every day at 09:00 | a'],
    ['0 9 * * * A=b c', 'every day at 09:00 | A=b c'],
    ['0 9 * * *', 'refused: it has no command'],
    ['0 9 * * * %x', 'refused: it has no command'],
    ['@daily', 'refused: it has no command'],
    ['@reboot a', 'refused: @reboot names no time'],
    ['@every_minute a', 'refused: "@every_minute" is not known'],
    ['0 9 * *', 'refused: it is neither a setting nor five fields and a command'],
    ['just some words', 'refused: it is neither a setting nor five fields and a command'],
    ['0~30 9 * * * a', 'refused: 0~30 is a matter of chance'],
    ['*/60 * * * * a', 'refused: '],
    ['60 * * * * a', 'refused: '],
    ['0 9 30 2 * a', 'refused: '],
    ['0 22-2 * * * a', 'refused: '],
  ]
  for (const [text, told] of TABLE) {
    test(text, () => {
      const [line] = read(text)
      assert.equal(line?.line, 1)
      const said =
        line.kind === 'entry'
          ? `${line.words} | ${line.run}`
          : `refused: ${line.kind === 'refused' ? line.message : line.kind}`
      if (told.endsWith(': ')) {
        assert.ok(said.startsWith(told) && line.kind === 'refused' && line.hint, said)
      } else assert.equal(said, told)
    })
  }
})

test('what is refused says where, and what would be taken', () => {
  const refused = read('\n# x\n*/60 * * * * a\n0~30 5 * * * b\n@reboot c').map((line) =>
    line.kind === 'refused' ? [line.line, line.hint] : [line.line],
  )
  assert.deepEqual(
    refused.map(([line]) => line),
    [3, 4, 5],
  )
  assert.match(String(refused[1]?.[1]), /H\(0-30\)/)
})

test('settings are for the lines below them', () => {
  const [first, second, third] = entriesIn(`
0 1 * * * a
SHELL = /bin/bash
PATH=/usr/bin:/bin
NAME = "two words "
 HOME='/srv/app'
0 2 * * * b
CRON_TZ=America/New_York
MAILTO=""
LOGNAME=root
RANDOM_DELAY=10
PATH=/opt/bin
0 3 * * * c`)
  assert.deepEqual([first?.settings.env, first?.zone], [{}, 'Europe/Athens'])
  assert.deepEqual(second?.settings, {
    env: { PATH: '/usr/bin:/bin', NAME: 'two words ', HOME: '/srv/app' },
    ...{ shell: '/bin/bash', home: '/srv/app', zone: null, randomDelay: null },
  })
  assert.deepEqual(
    [third?.zone, third?.settings.env['PATH'], third?.settings.env['LOGNAME']],
    ['America/New_York', '/opt/bin', undefined],
  )
  assert.equal(third?.settings.randomDelay, '10')
  const [, bad] = read('CRON_TZ=Mars/Phobos\n0 3 * * * c')
  assert.ok(bad?.kind === 'refused' && bad.message.startsWith('CRON_TZ: '))
})

test('every setting is told, with what it comes to', () => {
  const notes = read('MAILTO=me\nMAILTO=\nFOO=1').map((line) =>
    line.kind === 'setting' ? `${line.name} ${line.note}` : line.kind,
  )
  assert.match(notes.join('\n'), /^MAILTO no mail is sent.*\nMAILTO nobody.*\nFOO in the env/)
})

test('a system crontab has users', () => {
  const [root, bad, none] = read('0 1 * * * root a b\n0 1 * * * /opt/x.sh a\n0 1 * * * root', true)
  assert.deepEqual(root?.kind === 'entry' && [root.user, root.run], ['root', 'a b'])
  assert.ok(bad?.kind === 'refused' && /--system/.test(String(bad.hint)))
  assert.ok(none?.kind === 'refused')
})

describe('jobs are called like what they run', () => {
  const TABLE: [command: string, name: string][] = [
    ['/opt/etl/nightly.sh --full >> /var/log/x 2>&1', 'nightly.sh'],
    ['cd /srv/app && nice -n 10 ./bin/report', 'report'],
    ['test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )', 'run-parts'],
    ['bash -lc "sync-all"', 'sync-all'],
    ['FOO=1 timeout 30s python3 /srv/job.py', 'job.py'],
    ['[ "$(date -d tomorrow +%d)" = 01 ] && /srv/close-month', 'close-month'],
    ['[ -d /x ] && rsync -a /x /y', 'rsync'],
    ['php /var/www/artisan schedule:run', 'artisan'],
    ['../../weird name', 'weird'],
    ['"$HOME/bin/über"', 'ber'],
    ['%%%', 'job'],
    ['true', 'true'],
  ]
  for (const [command, name] of TABLE) {
    test(command, () => {
      const [entry] = entriesIn(`0 1 * * * ${command.replaceAll('%', '\\%')}`)
      assert.ok(entry)
      const options = { source: 'x', prefix: '', keepsUsers: true, overlap: undefined }
      assert.equal(jobsOf([entry], options)[0]?.name, name)
    })
  }
})

test('a line becomes a job with everything cron would have given it', () => {
  const entries = entriesIn(
    `SHELL=/bin/bash
HOME=/srv
RANDOM_DELAY=5
LANG=C
# Sends the letter.
0 9 * * 1 bob mail -s hi%Dear Bob
0 9 * * 2 ann mail -s ho`,
    true,
  )
  const options = { source: '/etc/crontab', prefix: 'old-', keepsUsers: true, overlap: 'allow' }
  const [letter, second] = jobsOf(entries, options)
  assert.deepEqual(letter, {
    ...{ line: 6, name: 'old-mail' },
    definition: {
      ...{ run: 'mail -s hi', stdin: 'Dear Bob\n', shell: '/bin/bash', cwd: '/srv', run_as: 'bob' },
      ...{ env: { HOME: '/srv', LANG: 'C' } },
      description: 'Sends the letter.\nFrom line 6 of /etc/crontab.',
      schedule: {
        ...{ name: 'crontab', cron: '0 9 * * 1', zone: 'Europe/Athens', jitter: '5m' },
        overlap: 'allow',
      },
    },
  })
  assert.equal(second?.name, 'old-mail-2')
  const [plain] = jobsOf(entries, { ...options, keepsUsers: false })
  assert.equal(plain?.definition.run_as, undefined)
})
