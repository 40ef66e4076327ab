import assert from 'node:assert/strict'
import { chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { probeLauncher } from '../../launcher/probe.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { NO_MASKING } from '../../output/masking/masker.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { openProcessWorker, sh } from '../../testing/process-worker.ts'
import { createAttemptFileStore } from '../files/attempt-files.ts'

/** Two users that exist on every Linux and own nothing. */
const [USER, OTHER] = ['nobody', 'daemon'] as const
const abilities = await probeLauncher()
const skip = !abilities.canSwitchUser && `the worker cannot switch users here: ${abilities.why}`

function setSecret(t: TestContext, name: string): void {
  process.env[name] = 'a-secret-of-the-worker'
  t.after(() => delete process.env[name])
}

test('a command that requests a user runs with all ids of that user', { skip }, async (t) => {
  const { perform, textOf } = await openProcessWorker(t, { allowUsers: [USER, OTHER] })
  const look =
    'id -un; id -Gn; echo "$USER $LOGNAME $HOME $SHELL"; pwd; stat -c "%U %a" "$TMPDIR" "$PUNCTUAL_INPUT";' +
    'cat "$PUNCTUAL_INPUT"; echo; mktemp; grep NoNewPrivs /proc/self/status; umask;' +
    'cp "$PUNCTUAL_INPUT" "$PUNCTUAL_OUTPUT.new"; mv "$PUNCTUAL_OUTPUT.new" "$PUNCTUAL_OUTPUT"'
  const work = sh(look, { run_as: USER, umask: '077' })
  const done = await perform('run_a', work, { input: '{"n":1}' })
  assert.deepEqual([done.outcome, done.result], ['succeeded', '{"n":1}'], done.message)
  const lines = textOf('run_a').split('\n')
  const [name, , identity, cwd, tmp, input, content, made, privileges, umask] = lines
  assert.deepEqual([name, tmp, input], [USER, `${USER} 700`, `${USER} 600`])
  assert.match(identity ?? '', /^nobody nobody \/\S* \/bin\/sh$/)
  assert.equal(cwd, identity?.split(' ')[2])
  assert.equal(content, '{"n":1}')
  assert.match(made ?? '', /^\/.*\/punctual-worker-.*\/tmp-65534-\d+-1\/tmp\.\w+$/)
  assert.match(privileges ?? '', /NoNewPrivs:\s+1/)
  assert.equal(umask, '0077')
  await waitFor(() => roomsOf(process.pid).every((room) => readdirSync(room).length === 0), {
    what: 'everything of it to be removed',
  })
})

function roomsOf(pid: number): string[] {
  const names = readdirSync(tmpdir()).filter((name) => name.includes(`-worker-`))
  return names
    .filter((name) => name.split('-')[3] === String(pid))
    .map((name) => join(tmpdir(), name))
}

test('the command cannot access files of the worker or of other attempts', { skip }, async (t) => {
  setSecret(t, 'PUNCTUAL_TOKEN')
  const { perform, textOf, scheduler } = await openProcessWorker(t, { allowUsers: [USER, OTHER] })
  const wait =
    'echo secret > "$TMPDIR/f"; echo "$TMPDIR"; echo "$PUNCTUAL_INPUT"; while [ ! -e "$TMPDIR/go" ]; do sleep 0.1; done'
  const victim = perform('run_v', sh(wait, { run_as: OTHER }), { input: '"secret input"' })
  const [tmp, input] = await waitFor(
    () => {
      const said = scheduler
        .chunksOf('run_v')
        .flat()
        .map(([, , text]) => text)
        .join('')
      return said.split('\n').length > 2 ? said.split('\n') : undefined
    },
    { what: 'the other to be up' },
  )
  const room = tmp?.replace(/\/[^/]*$/, '') ?? ''
  const pry = [
    `cat ${tmp}/f ${input} /proc/${process.pid}/environ`,
    `ls ${tmp} ${room} ${room}/own-*`,
    `touch ${room}/x ${tmp}/x`,
    `kill -0 ${process.pid} && echo alive`,
    `ls -l /proc/${process.pid}/fd`,
  ]
  await perform(
    'run_a',
    sh(`{ ${pry.join('; ')}; } 2>/dev/null; env; ls /proc/$$/fd`, { run_as: USER }),
  )
  const said = textOf('run_a')
  for (const leak of ['secret', 'alive', 'own-1-', 'PUNCTUAL_TOKEN']) {
    assert.ok(!said.includes(leak), `${leak} in:\n${said}`)
  }
  // The three standard streams.
  assert.match(said, /\n0\n1\n2\n$/)
  assert.equal(statSync(room).mode & 0o777, 0o711)
  scheduler.cancel('run_v')
  assert.equal((await victim).outcome, 'cancelled')
})

test("the worker's own environment is hidden from its processes, whatever their user", async (t) => {
  for (const name of [
    'PUNCTUAL_TOKEN',
    'PUNCTUAL_STORE',
    'AWS_SECRET_ACCESS_KEY',
    'LD_PRELOAD_X',
  ]) {
    setSecret(t, name)
  }
  const { perform, textOf } = await openProcessWorker(t)
  await perform('run_a', sh('env; echo --; ls /proc/$$/fd; true'))
  assert.ok(!textOf('run_a').includes('a-secret'), textOf('run_a'))
  // Without the native launcher, descriptors that the worker inherited are passed on.
  const files = abilities.kind === 'native' ? /--\n0\n1\n2\n$/ : /--\n0\n1\n2\n(?:\d{2,}\n)*$/
  assert.match(textOf('run_a'), files)
})

test("a result that is a hard link to another user's file is rejected", { skip }, async (t) => {
  const room = createAttemptFileStore({ clock: systemClock, onError() {} })
  t.after(() => room.close())
  const owner = { uid: 65_534, gid: 65_534, groups: [] }
  const files = room.open({ run: 'run_a', fence: 1, work: null } as Assignment, owner)
  writeFileSync(files.output, '"a secret"')
  assert.match((await room.readResult(files, NO_MASKING)).problem ?? '', /not a file of its own/)
  chownSync(files.output, owner.uid, owner.gid)
  assert.equal((await room.readResult(files, NO_MASKING)).text, '"a secret"')
})

test('a command with a user that is not allowed is refused', async (t) => {
  const { perform } = await openProcessWorker(t)
  const done = await perform('run_a', sh('id', { run_as: 'root' }))
  assert.deepEqual([done.outcome, done.cause], ['failed', 'start_error'])
  assert.match(done.message ?? '', /does not allow root: start it with --allow-user root/)
})

test('commands without a user run as the user the operator chose', { skip }, async (t) => {
  const { perform, textOf } = await openProcessWorker(t, { runAs: USER })
  await perform('run_a', sh('id -un; mktemp >/dev/null && echo can'))
  assert.equal(textOf('run_a'), `${USER}\ncan\n`)
})

test('a worker that cannot switch to its configured user does not start', async (t) => {
  await assert.rejects(openProcessWorker(t, { launcher: 'node', allowUsers: [USER] }), {
    code: 'config_invalid',
    message: /nothing can be run as nobody here: .*native launcher/,
  })
})
