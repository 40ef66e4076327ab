import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCommand } from './command-text.ts'
import type { CrontabEntry } from './entry.ts'
import { importedJobsOf } from './jobs.ts'
import { hasUserField } from './has-user-field.ts'
import { readCrontab } from './read-crontab.ts'

const read = (text: string, hasUsers = false) =>
  readCrontab(text, { hasUsers, zone: 'Europe/Athens' })

const entriesIn = (text: string, hasUsers = false) =>
  read(text, hasUsers).filter((line): line is CrontabEntry => line.kind === 'entry')

describe('splits a command from its input at the first percent sign', () => {
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

describe('reads lines as cron reads them', () => {
  const TABLE: [text: string, expected: string][] = [
    ['0 2 * * * /opt/a.sh', 'every day at 02:00 | /opt/a.sh'],
    ['  0\t2  *  * 1-5\t/opt/a.sh  --all ', 'weekdays at 02:00 | /opt/a.sh  --all'],
    ['@daily /opt/a.sh', 'every day at 00:00 | /opt/a.sh'],
    ['@Hourly a', 'every hour | a'],
    ['*/15 * * * * a # not a comment', 'every 15 minutes | a # not a comment'],
    ['0 9 * JAN-mar Mon a', 'Mondays in January to March at 09:00 | a'],
    ['0 9 * * 7 a', 'Sundays at 09:00 | a'],
    ['-0 9 * * * a', 'every day at 09:00 | a'],
    ['0 9 * * * A=b c', 'every day at 09:00 | A=b c'],
    ['0 9 * * *', 'refused: it has no command'],
    ['0 9 * * * %x', 'refused: it has no command'],
    ['@daily', 'refused: it has no command'],
    ['@reboot a', 'refused: @reboot is not supported'],
    ['@every_minute a', 'refused: "@every_minute" is not known'],
    ['0 9 * *', 'refused: it is neither a setting nor five fields and a command'],
    ['just some words', 'refused: it is neither a setting nor five fields and a command'],
    ['0~30 9 * * * a', 'refused: 0~30 is a matter of chance'],
    ['*/60 * * * * a', 'refused: '],
    ['60 * * * * a', 'refused: '],
    ['0 9 30 2 * a', 'refused: '],
    ['0 22-2 * * * a', 'refused: '],
  ]
  for (const [text, expected] of TABLE) {
    test(text, () => {
      const [line] = read(text)
      assert.equal(line?.line, 1)
      const described =
        line.kind === 'entry'
          ? `${line.words} | ${line.run}`
          : `refused: ${line.kind === 'refused' ? line.message : line.kind}`
      if (expected.endsWith(': ')) {
        assert.ok(described.startsWith(expected) && line.kind === 'refused' && line.hint, described)
      } else assert.equal(described, expected)
    })
  }
})

test('an error names the line and a valid form', () => {
  const refused = read('\n# x\n*/60 * * * * a\n0~30 5 * * * b\n@reboot c').map((line) =>
    line.kind === 'refused' ? [line.line, line.hint] : [line.line],
  )
  assert.deepEqual(
    refused.map(([line]) => line),
    [3, 4, 5],
  )
  assert.match(String(refused[1]?.[1]), /H\(0-30\)/)
})

test('settings apply to the lines below them', () => {
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
    shell: '/bin/bash',
    home: '/srv/app',
    zone: null,
    randomDelay: null,
  })
  assert.deepEqual(
    [third?.zone, third?.settings.env['PATH'], third?.settings.env['LOGNAME']],
    ['America/New_York', '/opt/bin', undefined],
  )
  assert.equal(third?.settings.randomDelay, '10')
  const [, bad] = read('CRON_TZ=Mars/Phobos\n0 3 * * * c')
  assert.ok(bad?.kind === 'refused' && bad.message.startsWith('CRON_TZ: '))
})

test('reports every setting with its effect', () => {
  const notes = read('MAILTO=me\nMAILTO=\nFOO=1').map((line) =>
    line.kind === 'setting' ? `${line.name} ${line.note}` : line.kind,
  )
  assert.match(
    notes.join('\n'),
    /^MAILTO no mail is sent.*\nMAILTO no mail was sent.*\nFOO in the env/,
  )
})

test('reads the user of each entry in a system crontab', () => {
  const [root, bad, none] = read('0 1 * * * root a b\n0 1 * * * /opt/x.sh a\n0 1 * * * root', true)
  assert.deepEqual(root?.kind === 'entry' && [root.user, root.run], ['root', 'a b'])
  assert.ok(bad?.kind === 'refused' && /--system/.test(String(bad.hint)))
  assert.ok(none?.kind === 'refused')
})

describe('names jobs after their commands', () => {
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
      assert.equal(importedJobsOf([entry], options)[0]?.name, name)
    })
  }
})

test('converts a line to a job with everything that cron would provide', () => {
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
  const [letter, second] = importedJobsOf(entries, options)
  assert.deepEqual(letter, {
    line: 6,
    name: 'old-mail',
    definition: {
      run: 'mail -s hi',
      stdin: 'Dear Bob\n',
      shell: '/bin/bash',
      cwd: '/srv',
      run_as: 'bob',
      env: { HOME: '/srv', LANG: 'C' },
      description: 'Sends the letter.\nFrom line 6 of /etc/crontab.',
      schedule: {
        name: 'crontab',
        cron: '0 9 * * 1',
        zone: 'Europe/Athens',
        jitter: '5m',
        overlap: 'allow',
      },
    },
  })
  assert.equal(second?.name, 'old-mail-2')
  const [plain] = importedJobsOf(entries, { ...options, keepsUsers: false })
  assert.equal(plain?.definition.run_as, undefined)
})

describe('recognises a system crontab by the user in every line', () => {
  const TITLE = '# m h dom mon dow user command\n'
  const TABLE: [text: string, names: boolean][] = [
    ['17 * * * * root cd /', true],
    ['A=b\n\n# x\n17 * * * * root cd /\n@daily www-data a b', true],
    ['-*/5 * * * * root a', true],
    [`${TITLE}0 1 * * * mail -s hi`, true],
    ['0 1 * * * mail -s hi', false],
    [`${TITLE}0 1 * * * stranger -s hi`, false],
    ['17 * * * * root cd /\n0 1 * * * /opt/a.sh', false],
    ['17 * * * * root', false],
    ['0 1 * * * /opt/a.sh', false],
    ['17 * * * * root cd /\nnonsense', false],
    ['', false],
    ['# root only', false],
  ]
  for (const [text, names] of TABLE) {
    test(JSON.stringify(text), () => assert.equal(hasUserField(text, new Set(['mail'])), names))
  }
})
