import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { bytesOf } from '../../../core/run/output.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { findMarked, findAttemptProcesses, parentOf } from '../../launcher/process-tree.ts'
import { openProcessWorker, sh } from '../../testing/process-worker.ts'

test('a command succeeds or fails by its exit code, and its output travels with its end', async (t) => {
  const { perform, textOf } = await openProcessWorker(t)
  const good = await perform('run_a', sh('echo hi; echo oh >&2'))
  assert.equal(good.outcome, 'succeeded')
  assert.equal(good.process?.exit_code, 0)
  assert.deepEqual([textOf('run_a'), textOf('run_a', 2)], ['hi\n', 'oh\n'])
  assert.equal(good.process?.output?.chunks, 1)

  const bad = await perform('run_b', sh('exit 7'))
  assert.deepEqual([bad.outcome, bad.cause, bad.message], ['failed', 'exit', 'exited with code 7'])
  assert.equal(bad.process?.output, undefined)
  const killed = await perform('run_c', sh('kill -SEGV $$'))
  assert.deepEqual([killed.cause, killed.process?.signal], ['signal', 'SIGSEGV'])
})

test('programs, scripts and other shells run', async (t) => {
  const { perform, textOf } = await openProcessWorker(t)
  await perform('run_a', { executor: 'argv', argv: ['printf', '%s|', '$HOME', 'a b', ''] })
  assert.equal(textOf('run_a'), '$HOME|a b||')
  const script = 'console.log(process.argv.length, process.env.DAY)\n'
  await perform('run_b', {
    executor: 'script',
    script,
    interpreter: [process.execPath],
    env: { DAY: 'mon' },
  })
  assert.equal(textOf('run_b'), '2 mon\n')
  await perform('run_c', sh('[[ a == a ]] && echo bash', { shell: '/bin/bash' }))
  assert.equal(textOf('run_c'), 'bash\n')
  await perform('run_d', { executor: 'script', script: 'echo $1$2', interpreter: ['sh', '-u'] })
  const missing = await perform('run_e', { executor: 'argv', argv: ['/no/such/thing'] })
  assert.deepEqual(
    [missing.cause, missing.message],
    ['start_error', 'the program /no/such/thing was not found'],
  )
})

test('a process gets its run as variables, reads its input and leaves a result', async (t) => {
  process.env['SECRET_OF_THE_WORKER'] = 'x'
  t.after(() => delete process.env['SECRET_OF_THE_WORKER'])
  const { perform, textOf } = await openProcessWorker(t)
  const show =
    'env | grep -E "^(PUNCTUAL|TRACE|SECRET)" | sort; cat "$PUNCTUAL_INPUT"; cp "$PUNCTUAL_INPUT" "$PUNCTUAL_OUTPUT"'
  const done = await perform('run_a', sh(show), {
    input: '{"n":1}',
    attempt: 3,
    dueAt: 0,
    job: 'etl',
    project: 'shop',
  })
  assert.equal(done.result, '{"n":1}')
  const lines = textOf('run_a').split('\n')
  const seen = new Map(lines.map((line) => line.split('=') as [string, string]))
  assert.deepEqual(
    ['RUN_ID', 'ATTEMPT', 'IDEMPOTENCY_KEY', 'JOB', 'PROJECT', 'SCHEDULED_AT', 'FENCE'].map(
      (name) => seen.get(`PUNCTUAL_${name}`),
    ),
    ['run_a', '3', 'run_a', 'etl', 'shop', '1970-01-01T00:00:00.000Z', String(done.fence)],
  )
  assert.match(seen.get('TRACEPARENT') ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  assert.equal(seen.get('SECRET_OF_THE_WORKER'), undefined)
  assert.equal(lines.at(-1), '{"n":1}')
  await waitFor(() => !existsSync(seen.get('PUNCTUAL_INPUT') ?? ''), { what: 'its files to go' })
})

test('a result that is not JSON, too long, a link, or a pipe without a writer is rejected', async (t) => {
  const { perform } = await openProcessWorker(t)
  const odd = await perform('run_a', sh('echo "not json" > "$PUNCTUAL_OUTPUT"'))
  assert.deepEqual([odd.outcome, odd.cause, odd.retriable], ['failed', 'error', false])
  assert.match(odd.message ?? '', /not JSON/)
  const long = await perform('run_b', sh('head -c 9000000 /dev/zero > "$PUNCTUAL_OUTPUT"'))
  assert.match(long.message ?? '', /9000000 bytes/)
  const pipe = await perform('run_c', sh('mkfifo "$PUNCTUAL_OUTPUT"'))
  assert.match(pipe.message ?? '', /not a file/)
  const link = await perform('run_d', sh('ln -s /etc/passwd "$PUNCTUAL_OUTPUT"'))
  assert.match(link.message ?? '', /not a file/)
})

test('long output is sent while the process runs, byte for byte', async (t) => {
  const { perform, scheduler, textOf } = await openProcessWorker(t)
  const done = await perform('run_a', sh('seq 1 200000; printf "\\377\\0end"'))
  const expected = Buffer.concat([
    Buffer.from(Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join('')),
    Buffer.from([0xff, 0]),
    Buffer.from('end'),
  ])
  assert.ok(bytesOf(textOf('run_a')).equals(expected))
  assert.equal(done.process?.output?.bytes, expected.length)
  const last = done.process?.output?.last ? 1 : 0
  assert.equal(done.process?.output?.chunks, scheduler.chunksOf('run_a').length + last)
})

test('output can be read before the end, including an unfinished line', async (t) => {
  const { scheduler, perform } = await openProcessWorker(t)
  const ended = perform('run_a', sh('printf "50%%"; read x < /dev/null; sleep 1000'))
  await waitFor(() => scheduler.chunksOf('run_a').flat()[0]?.[2] === '50%', { what: 'the words' })
  scheduler.cancel('run_a')
  assert.equal((await ended).outcome, 'cancelled')
})

test('lost messages do not lose output', async (t) => {
  const { scheduler, perform, textOf } = await openProcessWorker(t)
  scheduler.fail('log', 'lose answer', 'lose request', 'store_unavailable', 'lose answer')
  await perform('run_a', sh('seq 1 50000'))
  assert.equal(textOf('run_a').split('\n').length, 50_001)
})

test('a timeout ends the tree, gracefully first, and is logged', async (t) => {
  const { perform, textOf } = await openProcessWorker(t)
  const stubborn = "trap 'echo heard' TERM; sleep 1000 & echo up; while :; do wait; done"
  const done = await perform('run_a', sh(stubborn, { kill_grace_ms: 100 }), { timeoutMs: 300 })
  assert.deepEqual([done.outcome, done.cause], ['failed', 'timeout'])
  assert.equal(textOf('run_a'), 'up\nheard\n')
  assert.match(textOf('run_a', 0), /ran out of time/)
  assert.deepEqual(findAttemptProcesses({ run: 'run_a', fence: String(done.fence) }), [])
})

test('a cancel that comes too late changes nothing', async (t) => {
  const { scheduler, perform } = await openProcessWorker(t)
  const ended = perform('run_a', sh("trap 'exit 0' TERM; while :; do sleep 0.05; done"))
  await waitFor(() => scheduler.messages('heartbeat').some(({ held }) => held.length > 0), {
    what: 'it to be held',
  })
  scheduler.cancel('run_a')
  assert.equal((await ended).outcome, 'succeeded')
})

test('a lost attempt is killed and not reported', async (t) => {
  const { scheduler } = await openProcessWorker(t)
  scheduler.submit('run_a', { work: sh('sleep 1000') })
  const held = await waitFor(
    () => scheduler.messages('heartbeat').flatMap((beat) => beat.held)[0],
    { what: 'it to be held' },
  )
  const mark = { run: held.run, fence: String(held.fence) }
  await waitFor(() => findAttemptProcesses(mark).length > 0, { what: 'it to run' })
  scheduler.lose('run_a')
  await waitFor(() => findAttemptProcesses(mark).length === 0, { what: 'it to be killed' })
  assert.equal(scheduler.ended.has('run_a'), false)
})

test('a lost attempt is killed at once, even during the grace of another stop', async (t) => {
  const { scheduler } = await openProcessWorker(t)
  const deaf = "trap 'echo heard' TERM; sleep 1000 & echo up; while :; do wait; done"
  const work = sh(deaf, { kill_grace_ms: 600_000 })
  scheduler.submit('run_a', { work, timeoutMs: 300 })
  const said = () =>
    scheduler
      .chunksOf('run_a')
      .flat()
      .map(([, , text]) => text)
  await waitFor(() => said().join('').includes('heard'), { what: 'its grace to begin' })
  const held = await waitFor(
    () => scheduler.messages('heartbeat').flatMap((beat) => beat.held)[0],
    { what: 'it to be held' },
  )
  const mark = { run: held.run, fence: String(held.fence) }
  assert.notEqual(findAttemptProcesses(mark).length, 0)
  scheduler.lose('run_a')
  await waitFor(() => findAttemptProcesses(mark).length === 0, { what: 'it to be killed' })
  assert.equal(scheduler.ended.has('run_a'), false)
})

for (const launcher of ['auto', 'node'] as const) {
  test(`a lost attempt whose output is not read frees its slot, launcher ${launcher}`, async (t) => {
    let printed = 0
    const { scheduler, worker } = await openProcessWorker(
      t,
      { launcher, echo: (_run, _stream, bytes) => (printed += bytes.length) },
      { leaseTtlMs: 120_000, heartbeatMs: 200 },
    )
    scheduler.fail('log', ...Array.from({ length: 1_000 }, () => 'lose request' as const))
    scheduler.submit('run_a', { work: sh('exec yes') })
    await waitFor(() => printed > 2 ** 20, { what: 'it to be held up' })
    scheduler.lose('run_a')
    await waitFor(() => worker.stats().free === 8, { what: 'its slot to be free' })
  })
}

test('a draining worker gives back what it stops, and leaves no process', async (t) => {
  const { scheduler, worker } = await openProcessWorker(t)
  scheduler.submit('run_a', { work: sh('sleep 1000') })
  await waitFor(() => worker.stats().running === 1, { what: 'it to run' })
  await worker.drain(0)
  const [done] = scheduler.ended.get('run_a') ?? []
  assert.equal(done?.outcome, 'given_back')
  assert.deepEqual(findAttemptProcesses({ run: 'run_a', fence: String(done?.fence) }), [])
})

test('a worker whose lease expires kills its attempts and reports them as abandoned', async (t) => {
  const { scheduler } = await openProcessWorker(t, {}, { leaseTtlMs: 2_000, heartbeatMs: 200 })
  scheduler.submit('run_a', { work: sh('setsid sleep 1000 & sleep 1000') })
  const held = await waitFor(
    () => scheduler.messages('heartbeat').flatMap((beat) => beat.held)[0],
    { what: 'it to be held' },
  )
  scheduler.isCutOff = true
  const mark = { run: held.run, fence: String(held.fence) }
  await waitFor(() => findAttemptProcesses(mark).length === 0, { what: 'it to be killed' })
  scheduler.isCutOff = false
  await waitFor(() => scheduler.messages('register').at(-1)?.forsaken.length === 1, {
    what: 'the confession',
  })
})

/**
 * The child of this process that is the parent of the run's process: other tests on this machine
 * may run the same.
 */
function launcherOf(run: string): number | undefined {
  return findMarked((mark) => mark.run === run)
    .map((pid) => parentOf(pid) ?? 0)
    .find((parent) => parentOf(parent) === process.pid)
}

test('a killed launcher costs its attempts, not the worker', async (t) => {
  const { scheduler, perform } = await openProcessWorker(t)
  await perform('run_a', sh('true'))
  scheduler.submit('run_b', { work: sh('echo up; setsid sleep 1000 & sleep 1000') })
  await waitFor(() => scheduler.chunksOf('run_b').flat().length > 0, { what: 'it to be up' })
  const guardian = await waitFor(() => launcherOf('run_b'), { what: 'its launcher to be found' })
  const fence = scheduler.messages('heartbeat').at(-1)?.held[0]?.fence
  process.kill(guardian, 'SIGKILL')
  await waitFor(() => scheduler.messages('register').at(-1)?.forsaken[0]?.run === 'run_b', {
    what: 'the loss to be reported',
  })
  assert.deepEqual(findAttemptProcesses({ run: 'run_b', fence: String(fence) }), [])
  await perform('run_c', sh('true'))
})

test('a flood of output is throttled at its source and cut in the middle', async (t) => {
  const { perform, textOf } = await openProcessWorker(t, {
    limits: { output: { default: 200_000, max: 200_000 } },
  })
  const done = await perform(
    'run_a',
    sh('head -c 30000000 /dev/zero | tr "\\0" "x"; echo; echo end'),
  )
  assert.equal(done.outcome, 'succeeded')
  assert.equal(done.process?.output?.bytes, 30_000_005)
  const kept = 30_000_005 - (done.process?.output?.dropped ?? 0)
  assert.ok(kept < 300_000, `${kept} bytes were kept`)
  assert.ok(textOf('run_a').endsWith('x\nend\n'))
})
