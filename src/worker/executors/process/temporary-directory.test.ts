import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { useOwnTmpdir } from '../../testing/own-tmpdir.ts'
import { openProcessWorker, sh } from '../../testing/process-worker.ts'

/** The directories of workers in there; launchers use others. */
function roomsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('punctual-worker-'))
}

test('an attempt has a private temporary directory, which is removed afterwards', async (t) => {
  const directory = useOwnTmpdir(t)
  const { perform, textOf, worker, errors } = await openProcessWorker(t)
  const look = 'stat -c "%a %u" "$TMPDIR"; ls -A "$TMPDIR"; echo "$TMPDIR"; f=$(mktemp); echo "$f"'
  const lock = 'mkdir -p "$TMPDIR/a/b"; echo x > "$TMPDIR/a/b/c"; chmod 0 "$TMPDIR/a"'
  await Promise.all([perform('run_a', sh(`${look}; ${lock}`)), perform('run_b', sh(look))])
  const [a = [], b = []] = ['run_a', 'run_b'].map((run) => textOf(run).trim().split('\n'))
  for (const [facts, path, file] of [a, b]) {
    assert.equal(facts, `700 ${process.getuid?.() ?? ''}`)
    assert.ok(path?.startsWith(directory))
    assert.ok(file?.startsWith(`${path}/`))
    await waitFor(() => !existsSync(path as string), { what: 'it to be removed' })
  }
  assert.notEqual(a[1], b[1])
  await worker.drain(0)
  assert.deepEqual(roomsIn(directory), [])
  assert.deepEqual(errors, [])
})

test('a command that sets TMPDIR gets no directory', async (t) => {
  const directory = useOwnTmpdir(t)
  const { perform, textOf } = await openProcessWorker(t)
  await perform('run_a', sh('echo "$TMPDIR"', { env: { TMPDIR: '/elsewhere' } }))
  assert.equal(textOf('run_a'), '/elsewhere\n')
  const [room = ''] = roomsIn(directory)
  assert.deepEqual(readdirSync(join(directory, room)), [])
})

test('a temporary directory that exceeds its limit ends its attempt, and no other', async (t) => {
  const { perform, textOf } = await openProcessWorker(t)
  const fill =
    'head -c 3000000 /dev/zero > "$TMPDIR/big"; trap "" TERM; sleep 1000 & wait; sleep 1000'
  const [full, fine] = await Promise.all([
    perform('run_a', sh(fill, { limits: { tmp_bytes: 2 ** 20 } })),
    perform('run_b', sh(`${fill.split(';')[0]}; sleep 0.2`, { limits: { tmp_bytes: 2 ** 30 } })),
  ])
  assert.deepEqual([full.outcome, full.cause, full.process?.signal], ['failed', 'error', 'SIGKILL'])
  assert.match(
    full.message ?? '',
    /temporary directory held \d\.\d MiB or more; its limit is 1 MiB/,
  )
  assert.match(textOf('run_a', 0), /its limit is 1 MiB/)
  assert.equal(fine.outcome, 'succeeded')
})

test('a worker has a default limit for temporary files, and a maximum', async (t) => {
  const tmp = { default: 64 * 1024, max: 2 ** 20 }
  const { perform, textOf } = await openProcessWorker(t, { limits: { tmp } })
  const fill = 'head -c 500000 /dev/zero > "$TMPDIR/big"; exec sleep 1000'
  const done = await perform('run_a', sh(fill))
  assert.match(done.message ?? '', /its limit is 64 KiB/, JSON.stringify(done))
  const most = await perform('run_b', sh('true', { limits: { tmp_bytes: 2 ** 30 } }))
  assert.equal(most.outcome, 'succeeded')
  assert.match(
    textOf('run_b', 0),
    /limits\.tmp is 1 MiB, the maximum of this worker, instead of 1 GiB/,
  )
})

test('a starting worker removes directories of killed workers, and none of running ones', async (t) => {
  const directory = useOwnTmpdir(t)
  const first = await openProcessWorker(t)
  const [living = ''] = roomsIn(directory)
  const [, , world] = living.split('-')
  const dead = join(directory, `punctual-worker-${world}-4194303-abcdef`)
  const foreign = join(directory, `punctual-worker-1${world}-4194303-abcdef`)
  for (const path of [dead, foreign, join(directory, 'punctual-worker-other')]) mkdirSync(path)
  mkdirSync(join(dead, 'tmp-1', 'deep'), { recursive: true })
  await openProcessWorker(t)
  await waitFor(() => !existsSync(dead), { what: 'the leftovers to go' })
  assert.ok(existsSync(join(directory, living)) && existsSync(foreign))
  assert.equal((await first.perform('run_a', sh('mktemp'))).outcome, 'succeeded')
})
