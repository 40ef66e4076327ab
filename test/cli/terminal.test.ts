import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { COLUMNS, startTmux, skipWithoutTmux as skip } from './tmux.ts'

/** A server in one window of a terminal, as a user would start it, and a shell in another. */
async function openTerminal(t: TestContext) {
  const home = openHome(t)
  const tmux = startTmux(home)
  const server = tmux.openPane()
  server.type('punctual up --port 0 --data .punctual')
  await server.shows(/Try:\n +\S/)
  return { ...home, server, shell: tmux.openPane() }
}

test('first use: a server, a command on it, and its result', { skip }, async (t) => {
  const { server, shell, dir } = await openTerminal(t)
  const banner = server.text()
  assert.match(banner, /^Punctual \S+ is ready in \S+\.\n  address  http:\/\/127\.0\.0\.1:\d+\n/m)
  assert.ok(banner.includes(`  data     ${join(dir, '.punctual')}  (SQLite `), banner)
  assert.match(banner, /^Try:\n  punctual exec -- echo hello\n/m)

  assert.match((await shell.run('punctual runs')).shown, /^No runs yet\. Try: punctual exec/m)
  assert.match((await shell.run('punctual ls')).shown, /^No jobs are defined yet\. Define one:\n/)
  assert.match((await shell.run('punctual ps')).shown, /^Nothing waits or runs\./)
  const hi = await shell.run(`punctual exec -- sh -c 'echo hi; exit 7'`)
  assert.equal(hi.code, 7)
  // The server was not named on the command line, so it is shown.
  assert.match(hi.shown, /^ {2}server: {2}http:\S+ {2}\(data in \S+\.punctual\)\nhi\n$/)
  // The server's window shows it too.
  await server.shows(/^adhoc \w{4} │ hi$/m)
  const why = await shell.run('punctual why @last')
  assert.match(why.shown, /^✖ failed  It failed: exited with code 7\.\n  fix:  punctual logs run_/)
  server.press('C-c')
  await server.shows(/punctual: SIGINT, stopping; send it again to stop at once\n\$/)
})

test('output is shown while a run runs; d detaches, and the run continues', { skip }, async (t) => {
  const { shell, dir } = await openTerminal(t)
  const gate = join(dir, 'gate')
  const script = `for i in 1 2; do echo line $i; while [ ! -e ${gate}$i ]; do sleep 0.05; done; done`
  await shell.run(`punctual run -- sh -c '${script}; exit 3'`)
  shell.clear()
  shell.type('punctual logs -f @last')
  const early = await shell.shows(/^line 1$/m)
  assert.doesNotMatch(early, /^line 2$/m)
  writeFileSync(`${gate}1`, '')
  await shell.shows(/^line 2$/m)

  shell.press('C-c')
  await shell.shows(/\[d\] detach, the run continues   \[c\] cancel it   \[Enter\] keep watching/)
  shell.press('d')
  await shell.shows(/^▶ run_\w+ continues in the background\n  next:  punctual logs -f run_/m)
  assert.equal((await shell.run('(exit $?)')).code, 130)
  assert.match((await shell.run('punctual ps')).shown, /▶ running/)
  writeFileSync(`${gate}2`, '')
  assert.equal((await shell.run('punctual wait @last')).code, 3)
})

test('a wait shows the state; c stops the run, and Enter keeps watching', { skip }, async (t) => {
  const { shell } = await openTerminal(t)
  for (const [command, line] of [
    ['punctual run --wait -- sleep 1000', /^▶ running  It has been running for/m],
    ['punctual run -q gpu --wait -- true', /^◷ ready  It has waited \S+ for a worker/m],
  ] as const) {
    shell.clear()
    shell.type(command.replace('-q', '--queue'))
    await shell.shows(line)
    shell.press('C-c')
    await shell.shows(/keep watching/)
    assert.doesNotMatch(shell.text(), line, 'the question stands alone')
    shell.press('Enter')
    await shell.shows(line)
    shell.press('C-c')
    await shell.shows(/keep watching[^]*keep watching/)
    shell.press('c')
    await shell.shows(/^⊘ cancelled  run_/m)
    assert.match(shell.text(), /^stopping …$/m)
    assert.equal((await shell.run('(exit $?)')).code, 4)
  }
})

test('a wait for a run is left and resumed', { skip }, async (t) => {
  const { shell } = await openTerminal(t)
  await shell.run('punctual run -- sleep 1000')
  shell.clear()
  shell.type('punctual wait @last')
  await shell.shows(/^▶ running  It has been running for/m)
  shell.press('C-c')
  await shell.shows(/keep watching/)
  shell.press('C-c')
  await shell.shows(/continues in the background/)
  assert.equal((await shell.run('(exit $?)')).code, 130)
  assert.equal((await shell.run('punctual wait @last --timeout 1ms')).code, 5)
  assert.equal((await shell.run('punctual cancel @last')).code, 0)
})

test('a schedule is made, shown with its next time, and seen to fire', { skip }, async (t) => {
  const { shell, server } = await openTerminal(t)
  assert.match((await shell.run('punctual schedules')).shown, /^No schedules yet\. Try: punctual /m)
  const every = await shell.run(`punctual every '1 second' -- echo tick`)
  assert.match(
    every.shown,
    /^echo\/every-1  every second, \S+\n  next  \w{3} \d.* \((in \d+ms|now)\)\n/m,
  )
  assert.match(every.shown, /^  undo:  punctual schedules rm echo\/every-1$/m)
  await server.shows(/^echo \w{4} │ tick$/m)
  assert.match(
    (await shell.run('punctual next -n 1')).shown,
    /^TIME +IN +SCHEDULE +WHEN\n.* echo\/every-1 /m,
  )
  shell.clear()
  assert.match((await shell.run('punctual history echo')).shown, /✔ fired .* run_\w{11} +\S+ \w+/)
  shell.clear()
  const at = await shell.run(`punctual at 'in 2 hours' -- true`)
  assert.match(
    at.shown,
    /^run_\w{11}  \w{3} \d.* \(in 2h\)\n  undo:  punctual cancel run_\w{11}\n/m,
  )
  const typo = await shell.run(`punctual every 'weekdays at 25:00' echo`)
  assert.equal(typo.code, 2)
  assert.match(typo.shown, /^✖ the rule: .*\n  help:  /m)
  assert.equal((await shell.run('punctual schedules rm echo')).code, 0)
  shell.clear()
  assert.match((await shell.run('punctual next')).shown, /^No scheduled times\./m)
})

const LONG = 'a-name-that-somebody-made-up-when-names-could-still-be-as-long'
const LOOKS = [
  'ls',
  'ps',
  'runs',
  'runs state:failed',
  'show @last',
  'why @last',
  'doctor',
  'token ls',
  'schedules',
  'next',
  'next @daily',
  `history ${LONG}`,
  'away',
  'every --help',
  'show zzzz',
  'cancel zzzz',
  '--help',
  'exec --help',
  'up --help',
  'token --help',
]

test(
  'nothing is wider than the terminal, and colours appear only on a terminal',
  { skip },
  async (t) => {
    const { shell, run, dir } = await openTerminal(t)
    const call = (...argv: string[]) => run(argv)
    const job = JSON.stringify({ run: `echo ${'夜間 '.repeat(60)}`, queue: LONG.slice(0, 40) })
    assert.equal((await call('api', 'PUT', `/v1/jobs/${LONG}`, '-d', job)).code, 0)
    await call('token', 'create', LONG, '--expires', '90d')
    await call(
      'every',
      'weekdays at 09:05',
      `${LONG}/${LONG}`,
      '--zone',
      'America/Indiana/Indianapolis',
    )
    await call('every', '1s', LONG)
    await call('skip', `${LONG}/every-1`)
    await call(
      'exec',
      '--job',
      `${LONG}-2`,
      '--',
      'sh',
      '-c',
      `echo ${'x'.repeat(300)} >&2; exit 1`,
    )
    await call('run', LONG, '-i', JSON.stringify({ text: 'word '.repeat(60) }))

    for (const look of LOOKS) {
      shell.clear()
      const { shown } = await shell.run(`punctual ${look}`)
      assert.notEqual(shown, '', look)
      for (const line of shown.split('\n')) {
        // Commands are not wrapped, so that they can be copied.
        if (/^  (?:fix|help|next): +punctual /.test(line)) continue
        assert.ok(columnsOf(line) <= COLUMNS, `${look} is too wide: ${line}`)
      }
    }
    shell.clear()
    await shell.run('punctual runs')
    assert.ok(shell.painted().includes('\u001B[31m✖ failed'), 'colours on a terminal')

    const file = join(dir, 'talk.txt')
    assert.equal((await shell.run(`punctual show zzzz 2> ${file}`)).code, 6)
    assert.match(
      readFileSync(file, 'utf8'),
      /^✖ no job is called "zzzz", and no recent run ends with it\n {2}help: {2}\w/,
    )
    for (const look of [...LOOKS, 'wait @last --timeout 1ms']) {
      const { out, err } = await call(...look.split(' '))
      assert.notEqual(out + err, '', look)
      assert.ok(
        !['\r', '\u001B'].some((code) => (out + err).includes(code)),
        `${look} is plain where nobody watches`,
      )
    }
    const piped = await shell.run('punctual runs | cat')
    assert.match(piped.shown, new RegExp(`${LONG} +◷ ready`), 'what is piped is not cut')
    assert.equal((await shell.run('NO_COLOR=1 punctual runs')).code, 0)
    const first = await shell.run('punctual runs | head -n 1; echo "${PIPESTATUS[0]}"')
    assert.doesNotMatch(first.shown, /EPIPE/)
  },
)

/** Only these letters of the test take two columns. */
function columnsOf(line: string): number {
  return line.length + (line.match(/[夜間]/g)?.length ?? 0)
}
