// The ordinary server, the ordinary workers and their processes, started as by hand.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import type { WhyCode } from '../../src/core/wire/views.ts'
import { createSeeded } from '../sim/seeded.ts'
import { askWhy } from '../support/fetch-why.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { type HeldRun, type HeldRuns, holdRuns } from './held-runs.ts'

const SEED = Number(process.env.PUNCTUAL_CHAOS_SEED ?? 20_26)
const STRONG_SLOTS = 2
const WEAK = ['weak-1', 'weak-2']
const SLOTS = STRONG_SLOTS + WEAK.length
const ROUNDS = 16
/** Heavy runs that arrive before a round: sometimes more than there are slots, sometimes none. */
const ARRIVALS = [0, 0, 1, 2, 3]
const LIGHT = 80

async function setUp(t: TestContext) {
  const home = openHome(t)
  const url = await home.up('--slots', '0')
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const client = connect({ url, token })
  t.after(() => client.close())
  return {
    home,
    runs: holdRuns(client, home.dir),
    cancel: client.cancel,

    async work(name: string, slots: number, ...queues: string[]): Promise<void> {
      const flags = ['--server', url, '--token', token, '--name', name, '--slots', String(slots)]
      const tiers = queues.flatMap((queue) => ['--queue', queue])
      const argv = ['worker', ...flags, ...tiers, '--pass-env', 'WORKER']
      const { output } = home.start(argv, { WORKER: name })
      await waitFor(() => output.out.includes('is connected'), {
        what: `${name} to be connected`,
        deadlineMs: 60_000,
      })
    },

    async expectWhy(run: string, code: WhyCode, sentence: RegExp, fix: RegExp, detail = /^/) {
      const why = await askWhy(url, { token }, run)
      assert.equal(why.code, code, why.sentence)
      assert.match(why.sentence, sentence)
      assert.match(why.fixes.join('\n'), fix)
      assert.match(why.details.join('\n'), detail)
    },
  }
}

type Environment = Awaited<ReturnType<typeof setUp>>

test('each slot of a strong worker takes heavy work first; weak workers never starve light work', async (t) => {
  const environment = await setUp(t)
  await whyNoWorkerTakesIt(environment)
  await environment.work('strong', STRONG_SLOTS, 'heavy', 'light')
  const line = createLine(environment.runs)
  for (let index = 0; index < LIGHT; index += 1) await line.join('light')
  let running = await environment.runs.settle(SLOTS, [])
  assert.equal(running.filter(isStrong).length, STRONG_SLOTS, 'idle: it helps out')
  line.left(idsOf(running))
  await whyBehindInLine(environment, line)

  const seeded = createSeeded(SEED)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let heavy = seeded.pick(ARRIVALS); heavy > 0; heavy -= 1) await line.join('heavy')
    await whyHeavyWaits(environment, line)
    const ending = running.filter(isStrong).slice(0, seeded.between(1, STRONG_SLOTS))
    const released = [...running.filter((run) => !isStrong(run)), ...ending]
    const heavy = line.waiting('heavy').slice(0, ending.length)
    const light = line.waiting('light').slice(0, released.length - heavy.length)
    for (const id of idsOf(released)) await environment.runs.release(id)

    const before = idsOf(running)
    running = await environment.runs.settle(SLOTS, idsOf(released))
    const started = running.filter(({ id }) => !before.includes(id))
    const where = `seed ${SEED}, round ${round}`
    // The next runs of each queue, and as many of the heavy queue as strong slots became free.
    assert.deepEqual(idsOf(started).toSorted(), [...heavy, ...light].toSorted(), where)
    assert.ok(
      started.every((run) => run.queue === 'light' || isStrong(run)),
      where,
    )
    line.left(idsOf(started))
  }
  assert.ok(line.heavyStarts() > ROUNDS / 4, 'hardly any heavy run was started')
  assertNoRunStarves(await environment.runs.list(), line.places())
})

const isStrong = ({ worker }: HeldRun) => worker === 'strong'
const idsOf = (runs: readonly HeldRun[]) => runs.map(({ id }) => id)

async function whyBehindInLine({ expectWhy }: Environment, line: WaitingLine): Promise<void> {
  const last = line.waiting('light').at(-1) as string
  const taken = /all 4 slots of the 3 workers that can run it are taken/
  const ahead = new RegExp(`^${LIGHT - SLOTS - 1} runs with the same needs are before it`)
  await expectWhy(last, 'workers_busy', taken, /start another worker/, ahead)
}

async function whyHeavyWaits({ expectWhy }: Environment, line: WaitingLine): Promise<void> {
  const [next] = line.waiting('heavy')
  if (next === undefined) return
  const taken = /all 2 slots of the worker that can run it are taken/
  await expectWhy(next, 'workers_busy', taken, /start another worker/)
}

/** Before the right worker connects, or while it may not take the run: each run says what would help. */
async function whyNoWorkerTakesIt({
  home,
  runs,
  work,
  cancel,
  expectWhy,
}: Environment): Promise<void> {
  const heavy = await runs.submit('heavy')
  const fix = /^punctual worker --server URL --queue heavy$/
  await expectWhy(heavy, 'no_worker', /no worker is connected/, fix)
  for (const name of WEAK) await work(name, 1, 'light', 'mail')
  await expectWhy(heavy, 'no_fitting_worker', /for a worker that serves the queue heavy\.$/, fix)
  const { out } = await home.run(['why', heavy])
  assert.match(out, /for a worker that serves the queue heavy/)
  assert.match(out, /fix: +punctual worker --server http:\S+ --queue heavy/)

  const picky = await runs.submit('light', { runsOn: { labels: { gpu: 'a100' } } })
  const carrying = /for a worker that carries gpu=a100\.$/
  await expectWhy(picky, 'no_fitting_worker', carrying, /--queue light --label gpu=a100$/)

  const { code, err } = await home.run(['queue', 'set', 'mail', '--rate', '1/1h'])
  assert.equal(code, 0, err)
  const mail = await runs.submit('mail')
  await runs.settle(1, [])
  const next = await runs.submit('mail')
  const limited = /the queue mail starts at most 1 every 1h/
  const wait = /^The next may start in (1h|59m)/
  await expectWhy(next, 'rate_limited', limited, /^punctual queue set mail --rate/, wait)

  for (const run of [heavy, picky, next]) await cancel(run)
  await runs.release(mail)
  await runs.settle(0, [mail])
}

type WaitingLine = ReturnType<typeof createLine>

/** The test's own record of waiting runs, in order, and of each queue's length when a run joined. */
function createLine(runs: HeldRuns) {
  const waiting = { heavy: [] as string[], light: [] as string[] }
  const places = new Map<string, number>()
  let heavyStarts = 0
  return {
    waiting: (queue: keyof typeof waiting): readonly string[] => waiting[queue],
    places: (): ReadonlyMap<string, number> => places,
    heavyStarts: () => heavyStarts,
    async join(queue: keyof typeof waiting) {
      const run = await runs.submit(queue)
      waiting[queue].push(run)
      if (queue === 'light') places.set(run, waiting.light.length)
    },
    left(started: readonly string[]) {
      heavyStarts += waiting.heavy.filter((run) => started.includes(run)).length
      for (const queue of ['heavy', 'light'] as const) {
        waiting[queue] = waiting[queue].filter((run) => !started.includes(run))
      }
    },
  }
}

/**
 * By the times in the API alone. Strong workers have as many slots as weak ones here, so for every light run at
 * most one heavy run starts: with N waiting, a light run is among the next 2N to start.
 */
function assertNoRunStarves(
  runs: Awaited<ReturnType<HeldRuns['list']>>,
  places: ReadonlyMap<string, number>,
): void {
  const starts = runs
    .flatMap(({ id, startedAt, createdAt }) => (startedAt ? [{ id, startedAt, createdAt }] : []))
    .toSorted((a, b) => a.startedAt - b.startedAt)
  for (const [index, { id, createdAt }] of starts.entries()) {
    const place = places.get(id)
    if (place === undefined) continue
    const between = starts.slice(0, index).filter(({ startedAt }) => startedAt >= createdAt)
    assert.ok(between.length < 2 * place, `${id}, number ${place}: ${between.length} came before`)
  }
}
