import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewRun, SubmitVerdict } from '../../port.ts'
import { DAY_MS } from '../fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** State of the first run when the second is submitted. */
type FirstRunState = (world: StoreWorld, first: NewRun) => Promise<unknown>

interface KeyCase {
  readonly why: string
  readonly first: (world: StoreWorld) => Partial<NewRun>
  readonly meanwhile?: FirstRunState
  readonly second: (world: StoreWorld) => Partial<NewRun>
  readonly verdict: SubmitVerdict['kind']
}

const idempotent = (key: string, digest: string) => (world: StoreWorld) => ({
  idempotency: { key, digest, until: world.clock.now() + DAY_MS },
})
const deduped =
  (key: string, more: Partial<NewRun> = {}) =>
  () => ({ dedupeKey: key, ...more })

const runToTheEnd: FirstRunState = async (world, first) => {
  const lease = (await world.claim(1)).find(({ runId }) => runId === first.id)
  assert.ok(lease)
  await world.end(lease)
}
const retryLater: FirstRunState = async (world) => {
  const [lease] = await world.claim(1)
  assert.ok(lease)
  await world.end(lease, { to: 'retry', cause: 'error', delayMs: 60_000 })
}

const CASES: readonly KeyCase[] = [
  {
    why: 'the same idempotency key and digest is the same run',
    first: idempotent('pay-7', 'a'),
    second: idempotent('pay-7', 'a'),
    verdict: 'duplicate',
  },
  {
    why: 'an idempotency key outlives the end of its run',
    first: idempotent('pay-7', 'a'),
    meanwhile: runToTheEnd,
    second: idempotent('pay-7', 'a'),
    verdict: 'duplicate',
  },
  {
    why: 'an idempotency key with another digest is refused',
    first: idempotent('pay-7', 'a'),
    second: idempotent('pay-7', 'b'),
    verdict: 'mismatch',
  },
  {
    why: 'a mismatch is refused even after the run has ended',
    first: idempotent('pay-7', 'a'),
    meanwhile: runToTheEnd,
    second: idempotent('pay-7', 'b'),
    verdict: 'mismatch',
  },
  {
    why: 'an idempotency key still counts a millisecond before it expires',
    first: idempotent('pay-7', 'a'),
    meanwhile: async ({ clock }) => clock.advance(DAY_MS - 1),
    second: idempotent('pay-7', 'b'),
    verdict: 'mismatch',
  },
  {
    why: 'an expired idempotency key counts as unused',
    first: idempotent('pay-7', 'a'),
    meanwhile: async ({ clock, store }) => {
      clock.advance(DAY_MS)
      await store.maintain({ mayDelete: true })
    },
    second: idempotent('pay-7', 'b'),
    verdict: 'inserted',
  },
  {
    why: 'another idempotency key is another run',
    first: idempotent('pay-7', 'a'),
    second: idempotent('pay-8', 'a'),
    verdict: 'inserted',
  },
  {
    why: 'keys differ by case and by trailing blanks',
    first: idempotent('pay-7', 'a'),
    second: idempotent('Pay-7 ', 'a'),
    verdict: 'inserted',
  },
  {
    why: 'an idempotency key of another project is its own',
    first: idempotent('pay-7', 'a'),
    second: (world) => ({ ...idempotent('pay-7', 'b')(world), projectId: world.otherProject }),
    verdict: 'inserted',
  },
  {
    why: 'an idempotency key and a dedupe key of the same text are different things',
    first: idempotent('same', 'a'),
    second: deduped('same'),
    verdict: 'inserted',
  },
  {
    why: 'a dedupe key finds the run that is ready',
    first: deduped('inbox-1'),
    second: deduped('inbox-1'),
    verdict: 'duplicate',
  },
  {
    why: 'a dedupe key finds the run that is scheduled',
    first: (world) => ({ dedupeKey: 'inbox-1', dueAt: world.clock.now() + 5_000 }),
    second: deduped('inbox-1'),
    verdict: 'duplicate',
  },
  {
    why: 'a dedupe key finds the run that is running',
    first: (world) => ({ dedupeKey: 'inbox-1', reservation: world.reservation() }),
    second: deduped('inbox-1'),
    verdict: 'duplicate',
  },
  {
    why: 'a dedupe key is kept while its run waits for a retry',
    first: deduped('inbox-1'),
    meanwhile: retryLater,
    second: deduped('inbox-1'),
    verdict: 'duplicate',
  },
  {
    why: 'a dedupe key is free once its run has ended',
    first: deduped('inbox-1'),
    meanwhile: runToTheEnd,
    second: deduped('inbox-1'),
    verdict: 'inserted',
  },
  {
    why: 'a dedupe key is free once its run was cancelled while it waited',
    first: deduped('inbox-1'),
    meanwhile: (world, first) => world.cancel(first.id),
    second: deduped('inbox-1'),
    verdict: 'inserted',
  },
  {
    why: 'a dedupe key does not expire while its run lives',
    first: (world) => ({ dedupeKey: 'inbox-1', dueAt: world.clock.now() + 400 * DAY_MS }),
    meanwhile: async ({ clock }) => clock.advance(300 * DAY_MS),
    second: deduped('inbox-1'),
    verdict: 'duplicate',
  },
  {
    why: 'a dedupe key of another project is its own',
    first: deduped('inbox-1'),
    second: (world) => ({ dedupeKey: 'inbox-1', projectId: world.otherProject }),
    verdict: 'inserted',
  },
  {
    why: 'an idempotency key is checked before a dedupe key',
    first: (world) => ({ dedupeKey: 'inbox-1', ...idempotent('pay-7', 'a')(world) }),
    second: (world) => ({ dedupeKey: 'inbox-1', ...idempotent('pay-7', 'b')(world) }),
    verdict: 'mismatch',
  },
]

export function submitKeysContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const { why, first, meanwhile, second, verdict } of CASES) {
    test(
      why,
      inWorld(async (world) => {
        const earlier = world.newRun(first(world))
        assert.deepEqual(await world.submit(earlier), [{ kind: 'inserted' }])
        await meanwhile?.(world, earlier)
        const later = world.newRun(second(world))
        await assertVerdict(world, { earlier, later, verdict })
      }),
    )
    if (meanwhile) continue
    test(
      `${why}, also within one batch`,
      inWorld(async (world) => {
        const [earlier, later] = [world.newRun(first(world)), world.newRun(second(world))]
        const expected =
          verdict === 'inserted' ? { kind: verdict } : { kind: verdict, id: earlier.id }
        assert.deepEqual(await world.submit(earlier, later), [{ kind: 'inserted' }, expected])
      }),
    )
  }

  test(
    'a submission refused for one key does not take its other key',
    inWorld(async (world) => {
      await world.submit(world.newRun({ dedupeKey: 'held' }))
      const refused = { dedupeKey: 'held', ...idempotent('free', 'a')(world) }
      await world.submit(world.newRun(refused))
      const verdicts = await world.submit(world.newRun(idempotent('free', 'b')(world)))
      assert.deepEqual(verdicts, [{ kind: 'inserted' }])
    }),
  )

  test(
    'a repeated id with keys is a repeat, not a duplicate of itself',
    inWorld(async (world) => {
      const run = world.newRun({ dedupeKey: 'd', ...idempotent('i', 'a')(world) })
      assert.deepEqual(await world.submit(run), [{ kind: 'inserted' }])
      assert.deepEqual(await world.submit(run), [{ kind: 'exists' }])
    }),
  )

  test(
    'a key that has expired and was used again finds the newer run',
    inWorld(async (world) => {
      await world.submit(world.newRun(idempotent('pay-7', 'a')(world)))
      world.clock.advance(DAY_MS)
      await world.store.maintain({ mayDelete: true })
      const newer = world.newRun(idempotent('pay-7', 'b')(world))
      await world.submit(newer)
      const verdicts = await world.submit(world.newRun(idempotent('pay-7', 'b')(world)))
      assert.deepEqual(verdicts, [{ kind: 'duplicate', id: newer.id }])
    }),
  )
}

async function assertVerdict(
  world: StoreWorld,
  { earlier, later, verdict }: { earlier: NewRun; later: NewRun; verdict: SubmitVerdict['kind'] },
): Promise<void> {
  const { projectId, id: runId } = later
  const [answer] = await world.submit(later)
  const expected = verdict === 'inserted' ? { kind: verdict } : { kind: verdict, id: earlier.id }
  assert.deepEqual(answer, expected)
  const written = await world.store.findRun({ projectId, runId })
  assert.equal(written !== null, verdict === 'inserted', 'only an inserted run is written')
}
