import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_BIT } from '../../core/webhook/webhook.ts'
import type { ExpandedEvent, OutboxEvent, RunRecord, WebhookRecord } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { createExpandOutbox } from './expand-outbox.ts'
import type { Messages } from './messages.ts'

/** An outbox in which the events of some runs cannot be expanded. */
function setUp(isPoisoned: (runId: number) => boolean, jobs: string | null = null) {
  const events = [1, 2, 3].map((id): OutboxEvent => ({
    id,
    runId: 10 * id,
    projectId: 1,
    jobId: 1,
    at: 1_000,
    failingSince: null,
    events: EVENT_BIT['run.failed'],
  }))
  const webhook = { id: 5, projectId: 1, createdAt: 0, jobs, events: EVENT_BIT['run.failed'] }
  const expanded: ExpandedEvent[] = []
  const errors: unknown[] = []
  const said = (runId: number) => {
    if (isPoisoned(runId)) throw new Error('the row makes no sense')
    return `all of ${runId}`
  }
  const messages: Messages = {
    ofEnd: async ({ runId }) => said(runId),
    ofUnreadable: ({ runId }, as, why) => `${as} of ${runId}, but ${why}`,
    ofTest: () => '',
  }
  const catalog = { jobName: () => 'etl', learnNames: async () => {} } as unknown as CatalogCache
  const isThere = ({ id }: OutboxEvent) => !expanded.some((one) => one.id === id)
  const expand = createExpandOutbox({
    store: {
      outboxEvents: async () => events.filter(isThere),
      webhooksOf: async () => [webhook as unknown as WebhookRecord],
      findRuns: async ({ runIds }) => runIds.map((id) => ({ id }) as RunRecord),
      expandOutbox: async (more) => void expanded.push(...more),
    },
    catalog,
    messages,
    mintId: () => 99,
    onError: (error) => void errors.push(error),
  })
  const deliveries = () =>
    expanded.map(({ id, deliveries }) => [id, ...deliveries.map((one) => one.body)])
  return { expand, deliveries, errors }
}

test('an event that cannot be expanded does not block the others', async () => {
  const { expand, deliveries, errors } = setUp((runId) => runId === 10)
  await expand()
  assert.deepEqual(deliveries(), [
    [2, 'all of 20'],
    [3, 'all of 30'],
  ])
  assert.equal(errors.length, 1)
})

test('after a few tries an event is delivered with what is known, and why there is no more', async () => {
  const { expand, deliveries, errors } = setUp((runId) => runId === 10)
  for (let look = 0; look < 5; look += 1) await expand()
  assert.deepEqual(deliveries().at(-1), [1, 'run.failed of 10, but the row makes no sense'])
  assert.equal(deliveries().length, 3)
  assert.equal(errors.length, 3)
})

test('a temporary failure does not change the message', async () => {
  let isAway = true
  const { expand, deliveries } = setUp(() => isAway)
  await expand()
  assert.deepEqual(deliveries(), [])
  isAway = false
  await expand()
  assert.deepEqual(deliveries(), [
    [1, 'all of 10'],
    [2, 'all of 20'],
    [3, 'all of 30'],
  ])
})

test('an event about which nothing is known is set aside, and an error is reported', async () => {
  const { expand, deliveries, errors } = setUp(() => false, 'not a list')
  for (let look = 0; look < 5; look += 1) await expand()
  assert.deepEqual(deliveries(), [[1], [2], [3]])
  assert.match(String(errors.at(-1)), /event 3 of run_\w+ is set aside: .*JSON/)
})
