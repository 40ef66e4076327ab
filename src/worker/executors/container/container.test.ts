// Tests with a real engine: podman, with a storage of its own.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import {
  ENGINE_ARGS,
  IMAGE,
  openPodman,
  RUN_ARGS,
  skipWithoutPodman as skip,
} from '../../../../test/support/podman.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import { openLifelineFile } from '../../launcher/lifeline.ts'
import { systemClock } from '../../clock/system-clock.ts'
import { openRealTimeWorker } from '../../testing/performing-worker.ts'
import type { ContainerOptions } from './containers.ts'
import { parseAllowedMount } from './allowed-mounts.ts'
import { createEngine } from './engine.ts'
import { findEngine } from './find-engine.ts'
import { killPartialContainers } from './partial-containers.ts'
import { createJanitor } from './janitor.ts'
import { OWNER_LABEL, ownOwner } from './owner.ts'

let podman: ReturnType<typeof openPodman>
before(() => {
  if (skip === false) podman = openPodman()
})
after(() => podman?.close())

const container = (command: string[], more: Partial<ContainerWork> = {}): ContainerWork => ({
  executor: 'container',
  image: IMAGE,
  network: 'none',
  pull: 'never',
  command,
  ...more,
})
const sh = (line: string, more: Partial<ContainerWork> = {}) =>
  container(['/bin/sh', '-c', line], more)

function open(t: TestContext, options: Partial<ContainerOptions> = {}) {
  const containers = { engine: createEngine('podman', ENGINE_ARGS), args: RUN_ARGS, ...options }
  return openRealTimeWorker(t, { processes: {}, containers })
}

/** Podman, except that the given commands fail while a file `away` lies next to it. */
function unreliable(commands: string) {
  const dir = mkdtempSync(join(podman.dir, 'engine-'))
  const away = join(dir, 'away')
  const command = join(dir, 'podman')
  const say = 'echo away >&2; echo >> "$0.refused"; exit 125'
  const fails = `for word; do case $word in ${commands}) ${say}; esac; done`
  writeFileSync(command, `#!/bin/sh\n[ -e ${away} ] && { ${fails}; }\nexec podman "$@"\n`)
  chmodSync(command, 0o755)
  return {
    engine: createEngine(command, ENGINE_ARGS),
    leave: () => writeFileSync(away, ''),
    comeBack: () => rmSync(away),
    hasRefused: () => existsSync(`${command}.refused`),
  }
}

test('the output, the end and the result of a container are reported', { skip }, async (t) => {
  const { perform, textOf } = await open(t)
  const good = await perform(
    'run_a',
    sh('echo hi; echo oh >&2; cat; echo; cp "$PUNCTUAL_INPUT" "$PUNCTUAL_OUTPUT"; pwd; id', {
      stdin: 'given',
      workdir: '/tmp',
      user: '1000:1000',
    }),
    { input: '{"n":1}' },
  )
  assert.deepEqual([good.outcome, good.result], ['succeeded', '{"n":1}'])
  assert.deepEqual(
    [textOf('run_a'), textOf('run_a', 2)],
    ['hi\ngiven\n/tmp\nuid=1000 gid=1000 groups=1000\n', 'oh\n'],
  )
  assert.deepEqual([good.process?.exit_code, good.process?.containment], [0, 'container'])
  const bad = await perform('run_b', container(['-c', 'exit 7'], { entrypoint: ['/bin/sh'] }))
  assert.deepEqual([bad.cause, bad.message], ['exit', 'exited with code 7'])
  assert.deepEqual(podman.names(), [])
})

test(
  'variables arrive unchanged, and their values do not appear in any command line',
  { skip },
  async (t) => {
    const { scheduler, textOf, ended } = await open(t)
    const env = {
      KEY: 'two\nlines "and" $quotes',
      EMPTY: '',
      LONG: 'x'.repeat(100_000),
      HOME: '/else',
      DOCKER_HOST: 'tcp://secret',
      LD_PRELOAD: '/no/such.so',
      PATH: '/bin',
    }
    scheduler.submit('run_a', {
      work: sh('env | head -c 1000000; echo; echo ready; sleep 1000', { env, kill_grace_ms: 0 }),
    })
    await waitFor(() => textOf('run_a').includes('ready'), {
      what: 'the container',
      deadlineMs: 60_000,
    })
    const seen = textOf('run_a')
    for (const [name, value] of Object.entries(env)) {
      assert.ok(seen.includes(`${name}=${value}\n`), name)
    }
    assert.match(seen, /^PUNCTUAL_RUN_ID=run_a$/m)
    const all = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.split('\n')
    const commandLines = all.filter((line) => line.includes('punctual-run_a-')).join('\n')
    assert.match(commandLines, /--env KEY/)
    for (const part of ['$quotes', 'tcp://secret', '/no/such.so', 'xxxxxxxxxx']) {
      assert.ok(!commandLines.includes(part), part)
    }
    scheduler.cancel('run_a')
    assert.equal((await ended('run_a')).outcome, 'cancelled')
  },
)

test('a container gets its secrets, and its output is masked', { skip }, async (t) => {
  const { perform, textOf } = await open(t)
  const secrets = [
    { name: 'DB_PASSWORD', as: 'env', value: 'correct horse' },
    { name: 'KEY', as: 'file', value: 'two lines\nof a key' },
  ] as const
  const read = 'while read -r line; do echo ${#line}; done < $KEY_FILE'
  const show = 'echo $DB_PASSWORD; cat $KEY_FILE; echo; echo $KEY_FILE; echo ${#DB_PASSWORD}'
  const { outcome } = await perform('run_a', sh(`${read}; ${show}`, { user: '1000' }), { secrets })
  assert.equal(outcome, 'succeeded')
  // The first line is the length of the secret: the file is readable and complete.
  assert.match(textOf('run_a'), /^9\n\*\*\*\n\*\*\*.*\n\/punctual\/secret\.KEY\n13\n$/)
  for (const part of ['correct horse', 'two lines', 'of a key']) {
    assert.ok(!textOf('run_a').includes(part), part)
  }
})

test('a container that cannot be started is reported with the reason', { skip }, async (t) => {
  const { perform } = await open(t)
  const none = await perform('run_a', container([], { image: 'localhost/none:1' }))
  assert.equal(none.cause, 'start_error')
  assert.match(none.message ?? '', /^the image localhost\/none:1 is not here and cannot be fetched/)
  const program = await perform('run_b', container(['/bin/nosuch']))
  assert.equal(program.cause, 'start_error')
  assert.match(program.message ?? '', /^the container could not be started: .*\/bin\/nosuch/)
  const engine = { ...createEngine('/no/such/engine') }
  const other = await open(t, { engine })
  const missing = await other.perform('run_c', container(['true']))
  assert.deepEqual(
    [missing.cause, missing.message],
    ['start_error', 'the program /no/such/engine was not found'],
  )
  assert.deepEqual(podman.names(), [])
})

test('a container that exceeds its memory is reported as out of memory', { skip }, async (t) => {
  const { perform, textOf } = await open(t)
  const limits = { memory_bytes: 32 * 1024 ** 2 }
  const done = await perform(
    'run_a',
    container(['/bin/tail', '-c', '500m', '/dev/zero'], { limits }),
  )
  const message = 'killed because it needed more memory than its limit of 32 MiB'
  assert.deepEqual([done.cause, done.message], ['oom', message])
  assert.ok(textOf('run_a', 0).includes(message))
  const other = await perform('run_b', sh('exit 137', { limits }))
  assert.deepEqual([other.cause, other.process?.exit_code], ['exit', 137])
})

test('processes and temporary files are limited, too', { skip }, async (t) => {
  const { perform, textOf } = await open(t)
  const fill =
    'head -c 1000000 /dev/zero > /tmp/x; ls -l /tmp/x; for i in 1 2 3 4 5 6; do sleep 5 & done'
  const limits = { tmp_bytes: 65_536, pids: 5 }
  await perform('run_a', sh(fill, { limits }))
  assert.match(textOf('run_a'), / 65536 /)
  assert.match(textOf('run_a', 2), /can't fork/)
})

test(
  'a stopped container gets a signal first and is killed after the grace',
  { skip },
  async (t) => {
    const { scheduler, textOf, ended } = await open(t)
    const up = async (run: string, work: ContainerWork, extra = {}) => {
      scheduler.submit(run, { work, ...extra })
      await waitFor(() => textOf(run).includes('up\n'), { what: run, deadlineMs: 60_000 })
    }
    await up('run_a', sh("trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done"))
    scheduler.cancel('run_a')
    assert.equal((await ended('run_a')).outcome, 'cancelled')
    assert.equal(textOf('run_a'), 'up\nbye\n')

    await up(
      'run_b',
      sh("trap '' TERM; echo up; while :; do sleep 1000; done", { kill_grace_ms: 50 }),
    )
    scheduler.cancel('run_b')
    assert.equal((await ended('run_b')).outcome, 'cancelled')

    await up('run_c', sh('echo up; sleep 1000', { kill_grace_ms: 50 }), { timeoutMs: 5_000 })
    assert.equal((await ended('run_c')).cause, 'timeout')

    await up('run_d', sh('echo up; sleep 1000'))
    scheduler.lose('run_d')
    await waitFor(() => podman.names().length === 0, {
      what: 'the container to go',
      deadlineMs: 60_000,
    })
  },
)

test('a stopping worker removes its containers', { skip }, async (t) => {
  const { scheduler, worker, textOf } = await open(t)
  scheduler.submit('run_a', { work: sh('echo up; sleep 1000') })
  await waitFor(() => textOf('run_a').includes('up'), { what: 'the container', deadlineMs: 60_000 })
  await worker.kill()
  assert.deepEqual(podman.names(), [])
})

test('removal of a container is retried until it succeeds', { skip }, async (t) => {
  const { engine, leave, comeBack } = unreliable('rm')
  const { scheduler, textOf, ended, errors } = await open(t, { engine })
  scheduler.submit('run_a', { work: sh('echo up; sleep 1000', { kill_grace_ms: 0 }) })
  await waitFor(() => textOf('run_a').includes('up'), { what: 'the container', deadlineMs: 60_000 })
  leave()
  scheduler.cancel('run_a')
  assert.equal((await ended('run_a')).outcome, 'cancelled')
  assert.match(String(errors), /punctual-run_a-\d+ could not be removed and may still run.*: away/)
  assert.equal(podman.names().length, 1)
  comeBack()
  await waitFor(() => podman.names().length === 0, { what: 'it to go', deadlineMs: 60_000 })
  assert.equal(errors.length, 1)
})

test(
  'a container does not stay when its worker ends while the engine is away',
  { skip },
  async (t) => {
    const lifeline = openLifelineFile()
    t.after(() => lifeline.close())
    lifeline.renew(process.hrtime.bigint() + 3_600_000_000_000n)
    const { engine, leave, comeBack, hasRefused } = unreliable('rm')
    podman.ask('create', '--name', 'kept', '--network', 'none', IMAGE, '/bin/true')
    const janitor = createJanitor(engine, lifeline.fd, { clock: systemClock, onError() {} })
    await janitor.watch('kept')
    leave()
    const gone = janitor.close()
    await waitFor(hasRefused, { what: 'its first try', deadlineMs: 60_000 })
    assert.deepEqual(podman.names(), ['kept'])
    comeBack()
    await gone
    assert.deepEqual(podman.names(), [])
  },
)

test('containers see only the host directories that the operator allows', { skip }, async (t) => {
  const dir = join(podman.dir, 'mounts')
  for (const name of ['data', 'rest']) mkdirSync(join(dir, name), { recursive: true })
  writeFileSync(join(dir, 'data/file'), 'content\n')
  symlinkSync(join(dir, 'rest'), join(dir, 'data/link'))
  const allow = [parseAllowedMount(join(dir, 'data'))]
  const { perform, textOf } = await open(t, { allowMounts: allow })
  const mount = (source: string, readonly = false) => ({
    mounts: [{ source: join(dir, source), target: '/data', readonly }],
  })
  await perform('run_a', sh('cat /data/file; echo more > /data/more', mount('data')))
  assert.equal(textOf('run_a'), 'content\n')
  assert.equal(readFileSync(join(dir, 'data/more'), 'utf8'), 'more\n')
  const kept = await perform('run_b', sh('echo no > /data/file', mount('data', true)))
  assert.equal(kept.cause, 'exit')
  assert.equal(readFileSync(join(dir, 'data/file'), 'utf8'), 'content\n')
  for (const [run, source] of [
    ['run_c', 'rest'],
    ['run_d', 'data/link'],
  ] as const) {
    const done = await perform(run, sh('true', mount(source)))
    assert.equal(done.cause, 'start_error')
    assert.match(done.message ?? '', /does not let containers see .*: start it with --allow-mount/)
  }
})

/** Leaves containers of a dead worker, of this worker and of a worker in another PID namespace. */
function leaveBehind(): void {
  const living = ownOwner()
  const [world, , start] = living.split('-')
  const dead = spawnSync(process.execPath, ['-p', 'process.pid'], {
    encoding: 'utf8',
  }).stdout.trim()
  const owners = { dead: `${world}-${dead}-${start}`, living, elsewhere: `1${world}-1-1` }
  for (const [name, owner] of Object.entries(owners)) {
    const label = `${OWNER_LABEL}=${owner}`
    podman.ask('create', '--name', name, '--network', 'none', '--label', label, IMAGE, '/bin/true')
  }
}

test(
  'containers of dead workers are removed before the next worker registers',
  { skip },
  async (t) => {
    leaveBehind()
    const { scheduler } = await open(t)
    assert.deepEqual(podman.names().toSorted(), ['elsewhere', 'living'], 'living ones keep theirs')
    assert.ok(scheduler.messages('register')[0]?.executors.includes('container'))
    podman.ask('rm', '--force', 'elsewhere', 'living')
  },
)

test('containers are not offered until those of dead workers are removed', { skip }, async (t) => {
  leaveBehind()
  const { engine, leave, comeBack } = unreliable('rm')
  leave()
  const { scheduler, errors } = await open(t, { engine })
  const [first] = scheduler.messages('register')
  assert.ok(first?.executors.includes('shell') && !first.executors.includes('container'))
  assert.match(String(errors[0]), /containers are not offered until .*: away/)
  comeBack()
  const again = await waitFor(() => scheduler.messages('register')[1], {
    what: 'the offer of containers',
    deadlineMs: 60_000,
  })
  assert.ok(again.executors.includes('container'))
  assert.deepEqual(podman.names().toSorted(), ['elsewhere', 'living'])
  podman.ask('rm', '--force', 'elsewhere', 'living')
})

test(
  'containers that an engine was creating when it was killed are ended, too',
  { skip },
  async () => {
    // The state podman reaches before it records that there is something to start.
    podman.ask('create', '--name', 'half', '--network', 'none', ...RUN_ARGS, IMAGE, '/bin/true')
    podman.ask('init', 'half')
    const isThere = (pid: string) => spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.length > 0
    const first = podman.ask('inspect', '--format', '{{.State.Pid}}', 'half')
    assert.ok(Number(first) > 1 && isThere(first))
    killPartialContainers(new Set(['other']))
    assert.ok(isThere(first))
    killPartialContainers(new Set(['half']))
    await waitFor(() => !isThere(first), { what: 'its first process to go' })
    podman.ask('rm', '--force', 'half')
  },
)

test('an engine that does not work is not offered, and the reason is known', { skip }, async () => {
  const found = await findEngine('podman', ENGINE_ARGS)
  assert.equal('command' in found && found.command, 'podman')
  assert.deepEqual(Object.keys(await findEngine('/no/such/engine')), ['missing'])
})
