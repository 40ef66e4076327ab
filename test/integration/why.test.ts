import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Submission } from '../../src/core/wire/protocol.ts'
import type { WhyCode } from '../../src/core/wire/views.ts'
import { type InMemoryScheduler, startInMemory } from './scheduler-in-memory.ts'
import { type ManualWorker, registerManualWorker, succeeded } from './manual-worker.ts'

const BY = { project: 'default', actor: null, request: null, address: null }

interface Setup extends InMemoryScheduler {
  submit(submission?: Partial<Submission>): Promise<string>
  work(given?: Parameters<typeof registerManualWorker>[1]): Promise<ManualWorker>
  /** The current `why` answer must have this code, sentence and fix. */
  expect(run: string, code: WhyCode, sentence: RegExp, fix?: RegExp, detail?: RegExp): Promise<void>
}

async function open(): Promise<Setup> {
  const world = await startInMemory()
  const client = world.node.clientFor('default')
  return {
    ...world,
    submit: async (submission = {}) => {
      const [answer] = await client.submit([{ job: 'job', ...submission }])
      return answer?.id ?? ''
    },
    work: (given) => registerManualWorker(client, given),
    async expect(run, code, sentence, fix, detail) {
      const why = await world.node.admin.runs.why('default', run)
      assert.deepEqual([why.code, why.run], [code, run], why.sentence)
      assert.match(why.sentence, sentence)
      if (fix) assert.match(why.fixes.join('\n'), fix)
      if (detail) assert.match(why.details.join('\n'), detail)
    },
  }
}

const id = '(run_\\w+)'

test('a run says what it waits for, from its submission to its end', async () => {
  const { clock, submit, work, expect, node } = await open()
  const run = await submit({
    runAt: clock.now() + 60_000,
    concurrency: [{ key: 'customer', limit: 1 }],
    retry: { max: 1, delayMs: 20_000, jitter: 0 },
  })
  await expect(run, 'not_due', /not due yet: it starts in 1m\./, /punctual cancel run_/)
  const holder = await submit({ job: 'other', concurrency: [{ key: 'customer', limit: 1 }] })
  await clock.advance(61_000)
  await expect(
    ...([run, 'key_taken', /1 run is allowed at once with the concurrency key customer/] as const),
    ...([new RegExp(`punctual why ${holder}`), new RegExp(`Held by ${holder}`)] as const),
  )
  await node.clientFor('default').cancel(holder)
  await expect(
    run,
    'no_worker',
    /no worker is connected that serves this project/,
    /^start a worker that has the handler job$/,
  )

  const worker = await work({ slots: 1 })
  await expect(run, 'starting', /about to start: a worker has 1 free slots/)
  const [first] = await worker.take(1)
  await expect(run, 'running', /running for \d+m?s \(attempt 1\)/, new RegExp(`logs -f ${id}`))
  assert.ok(first)
  await worker.report([{ ...succeeded(first), outcome: 'failed', cause: 'error' }], 0)
  await expect(run, 'retry_back_off', /Attempt 1 failed; the next one starts in 20s/, /cancel/)
  await clock.advance(21_000)
  await expect(run, 'no_worker', /no worker/)
  const another = await work({ slots: 1 })
  const [second] = await another.take(1)
  await node.clientFor('default').cancel(run)
  await expect(run, 'stopping', /It is being stopped/)
  assert.ok(second)
  await another.report([succeeded(second)], 0)
  await expect(run, 'succeeded', /It succeeded/)
})

test('`why` names what a worker lacks, and the flag that would add it', async () => {
  const { submit, work, expect } = await open()
  await work({ slots: 2, queues: ['default', 'mail'] })
  const table: [what: Partial<Submission>, sentence: RegExp, fix: RegExp][] = [
    [
      { queue: 'gpu' },
      /for a worker that serves the queue gpu\.$/,
      /^start a worker .* serves the queue gpu$/,
    ],
    [
      { runsOn: { labels: { gpu: 'a100' } } },
      /carries gpu=a100\.$/,
      /^start a worker .* carries gpu=a100$/,
    ],
    [{ job: 'unknown' }, /that has the handler unknown\.$/, /has the handler unknown$/],
    [{ weight: 40 }, /that has 40 slots\.$/, /^start a worker .* has 40 slots$/],
    [
      { work: { executor: 'shell', run: 'true' } },
      /that runs shell commands\.$/,
      /^punctual worker --server URL$/,
    ],
    [
      { queue: 'gpu', weight: 40, work: { executor: 'shell', run: 'true' } },
      /that runs shell commands, serves the queue gpu, has 40 slots\.$/,
      /^punctual worker --server URL --queue gpu --slots 40$/,
    ],
    [{ queue: 'gpu', weight: 3 }, /serves the queue gpu, has 3 slots\.$/, /serves the queue gpu/],
  ]
  for (const [what, sentence, fix] of table) {
    await expect(await submit(what), 'no_fitting_worker', sentence, fix, /1 worker is connected/)
  }
})

test('`why` for workers that together have everything the run needs, but none has all of it', async () => {
  const { submit, work, expect } = await open()
  await work({ name: 'a', jobs: ['other'], queues: ['gpu'] })
  await work({ name: 'b', jobs: ['job'], queues: ['default'] })
  const run = await submit({ queue: 'gpu' })
  await expect(
    run,
    'no_fitting_worker',
    /the handler job, serves the queue gpu/,
    /./,
    /none has all/,
  )
})

test('`why` for paused queues and projects names what resumes them', async () => {
  const { submit, work, expect, node } = await open()
  await work({ queues: ['mail'] })
  await node.admin.queues.change(BY, 'mail', { paused: true })
  const run = await submit({ queue: 'mail' })
  await expect(run, 'queue_paused', /the queue mail is paused/, /^punctual resume --queue mail$/)
  await node.admin.queues.pauseAll(BY, true)
  await expect(run, 'project_paused', /all queues of the project/, /^punctual resume --all$/)
  await node.admin.queues.pauseAll(BY, false)
  await node.admin.queues.change(BY, 'mail', { paused: false })
  await expect(run, 'starting', /about to start/)
})

test('`why` for a used-up rate says when the next run may start, and when this one', async () => {
  const { submit, work, expect, node } = await open()
  await node.admin.queues.change(BY, 'mail', { rate: { limit: 1, perMs: 60_000, burst: 1 } })
  const worker = await work({ queues: ['mail'], slots: 5 })
  await submit({ queue: 'mail' })
  assert.equal((await worker.take(5)).length, 1)
  await submit({ queue: 'mail' })
  const run = await submit({ queue: 'mail' })
  const fix = /queue set mail --rate/
  await expect(
    run,
    'rate_limited',
    /mail starts at most 1 every 1m/,
    fix,
    /next may start in (1m|59s)/,
  )
  await expect(
    run,
    'rate_limited',
    /./,
    fix,
    /1 run with the same needs is before it: about (2m|1m 59s)/,
  )
})

test('`why` for busy workers says how many runs are ahead, and when slots are too few for a weight', async () => {
  const { submit, work, expect, node, clock } = await open()
  const worker = await work({ slots: 3, jobs: ['job', 'wide'] })
  await submit()
  await worker.take(3)
  const wide = await submit({ job: 'wide', weight: 3 })
  await expect(wide, 'workers_busy', /needs 3 free slots of one worker, and none has more than 2/)
  const light = await submit()
  await worker.exchange({ free: 2 })
  await expect(light, 'workers_busy', /free slots are kept for a heavier run/, /start another/)
  const other = await work({ name: 'other', slots: 1 })
  assert.equal((await other.take(1)).length, 1)
  await node.clientFor('default').cancel(wide)
  await clock.advance(10)
  await submit({ weight: 2 })
  await worker.exchange({ free: 2 })
  const runs = [await submit(), await submit(), await submit()]
  const taken = /all 4 slots of the 2 workers that can run it are taken/
  await expect(
    runs[2] as string,
    'workers_busy',
    taken,
    /start another worker/,
    /2 runs with the same/,
  )
})

test('`why` names workers that cannot start any run', async () => {
  const { submit, work, expect, node, clock } = await open()
  const worker = await work({ name: 'ill' })
  await node.clientFor('default').heartbeat(
    { id: worker.session },
    {
      registration: 1,
      answered: 0,
      held: [],
      quarantined: 'no such shell',
    },
  )
  await clock.advance(10)
  const run = await submit()
  await expect(
    run,
    'workers_quarantined',
    /the only worker that could run it/,
    /fix/,
    /ill: no such/,
  )
})

test('`why` says that a node is out of touch with its store', async () => {
  let isCut = false
  const world = await startInMemory({
    wrap: (store) => ({
      ...store,
      heartbeat: (input) => (isCut ? Promise.reject(new Error('cut')) : store.heartbeat(input)),
    }),
  })
  const [submitted] = await world.node.clientFor('default').submit([{ job: 'job' }])
  isCut = true
  await world.clock.advance(40_000)
  const why = await world.node.admin.runs.why('default', submitted?.id ?? '')
  assert.equal(why.code, 'node_out_of_touch')
  assert.deepEqual(why.fixes, ['punctual doctor'])
})

test('a run that was lost with its worker and recovered says so, with the names of both workers', async () => {
  const { clock, submit, work, expect, node } = await open()
  const run = await submit()
  const first = await work({ name: 'gone', slots: 1 })
  assert.equal((await first.take(1)).length, 1)
  // It sends nothing more: its session ends, and with it the attempt.
  await clock.advance(60_000)
  const attempts = await node.admin.runs.attempts('default', run)
  assert.deepEqual(attempts.map(({ state, cause, worker }) => [state, cause, worker]).slice(0, 1), [
    ['retried', 'lost', 'gone'],
  ])
  const second = await work({ name: 'here', slots: 1 })
  const [again] = await second.take(1)
  assert.ok(again)
  const loss = /^Attempt 1 was lost at \S+Z: the worker gone was gone before it ended\.$/m
  await expect(run, 'running', /\(attempt 2, 1 was lost\)\.$/, /./, loss)
  await second.report([succeeded(again)], 0)
  const told = /^It succeeded with attempt 2, after 1 was lost with its worker\.$/
  await expect(run, 'succeeded', told, undefined, loss)
  assert.equal((await node.clientFor('default').getRun(run)).worker, 'here')
})

test('a run that may not be repeated names the worker it was lost with', async () => {
  const { clock, submit, work, expect, node } = await open()
  const run = await submit({ onLost: 'fail' })
  const worker = await work({ name: 'gone', slots: 1 })
  assert.equal((await worker.take(1)).length, 1)
  await clock.advance(60_000)
  await expect(run, 'failed', /^It failed: the worker gone was gone before it ended\.$/)
  assert.equal((await node.clientFor('default').getRun(run)).worker, 'gone')
})
