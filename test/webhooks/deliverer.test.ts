import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { publicId } from '../../src/core/ids.ts'
import { parseAllowList } from '../../src/outbound/allow-list.ts'
import { createOutbound } from '../../src/outbound/outbound.ts'
import { createDeliverer } from '../../src/server/webhooks/deliver.ts'
import { mintSecret } from '../../src/server/webhooks/signing.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { waitFor } from '../support/wait-for.ts'
import { openReceiver } from './receiver.ts'

const DAY_MS = 24 * 3_600_000
const AUDIT = { actor: null, action: 'x', target: 'x', detail: null, request: null, address: null }

/** Secrets are not encrypted here. */
const sealer = {
  async open(_projectId: number, sealed: readonly string[]) {
    if (sealed.some((one) => !one.startsWith('whsec_'))) throw new Error('the key is not here')
    return [...sealed]
  },
}

/** A deliverer on a virtual clock, and real endpoints. */
async function openEnvironment(t: TestContext) {
  const clock = createVirtualClock()
  const store = await openSqliteStore({ path: ':memory:', now: clock.now })
  const receiver = await openReceiver(t)
  const outcomes: string[] = []
  let settledTries = 0
  const deliverer = createDeliverer({
    store,
    outbound: createOutbound({ clock, allow: parseAllowList(['127.0.0.1']) }),
    sealer,
    clock,
    random: Math.random,
    storeNow: clock.now,
    onSlotFree: () => void (settledTries += 1),
    onOutcome: (outcome) => void outcomes.push(outcome),
    onError: (error) => outcomes.push(String(error)),
  })
  t.after(async () => {
    await deliverer.stop()
    await store.close()
  })
  const [projectId = 0] = await store.internProjects(['p'])
  let lastId = 1_000

  return {
    clock,
    store,
    receiver,
    deliverer,
    outcomes,
    async webhook(name: string, url = receiver.url) {
      await store.putWebhook({
        projectId,
        name,
        url,
        events: 1,
        jobs: null,
        enabled: true,
        onlyIfNew: true,
        maxWebhooks: 9,
        secret: { sealed: mintSecret(), ending: 'x' },
        audit: { projectId, ...AUDIT },
      })
      const found = await store.findWebhook({ projectId, name })
      return found!.id
    },
    async add(webhookId: number): Promise<number> {
      lastId += 1
      await store.addDelivery({ id: lastId, webhookId, event: 'e', runId: null, body: '{}' })
      return lastId
    },
    find: async (id: number, webhookId: number) => (await store.findDelivery({ id, webhookId }))!,
    /** Waits until this many tries have ended. */
    tries: (count: number) =>
      waitFor(() => settledTries >= count, { what: `${count} tries`, deadlineMs: 60_000 }),
  }
}

test('a try without an answer times out after ten seconds, and is repeated', async (t) => {
  const { clock, receiver, deliverer, webhook, add, find, tries } = await openEnvironment(t)
  receiver.behave(() => {})
  const hook = await webhook('slow')
  const id = await add(hook)
  await deliverer.start()
  await receiver.count(1)
  await clock.advance(9_999)
  assert.equal((await find(id, hook)).tookMs, null)
  await clock.advance(1)
  await tries(1)
  const { state, lastError, lastStatus, attempts } = await find(id, hook)
  assert.deepEqual(
    [state, lastError, lastStatus, attempts],
    ['pending', 'no answer within 10 s', null, 1],
  )
})

test('a message is tried for a day under one id, and then it has failed', async (t) => {
  const { clock, receiver, deliverer, webhook, add, find, tries, outcomes } =
    await openEnvironment(t)
  receiver.behave((response) => void response.writeHead(500).end())
  const hook = await webhook('broken')
  const id = await add(hook)
  const startedAt = clock.now()
  for (let nth = 1; ; nth += 1) {
    await deliverer.start()
    await tries(nth)
    const { state, nextAt } = await find(id, hook)
    if (state === 'failed') break
    await clock.advance((nextAt as number) - clock.now())
  }
  const { attempts } = await find(id, hook)
  assert.equal(receiver.received.length, attempts)
  assert.ok(attempts > 8, `${attempts} tries`)
  assert.deepEqual([...new Set(receiver.received.map((one) => one.id))], [publicId('dlv', id)])
  assert.ok(clock.now() - startedAt <= DAY_MS)
  assert.equal(outcomes.at(-1), 'failed')
  // Each try is signed again: receivers refuse old signatures.
  const times = receiver.received.map(({ headers }) => headers['webhook-timestamp'])
  assert.equal(new Set(times).size, attempts)
})

test('one endpoint gets four messages at a time and does not delay the others', async (t) => {
  const { receiver, deliverer, webhook, add, tries } = await openEnvironment(t)
  const quick = await openReceiver(t)
  const waiting: (() => void)[] = []
  receiver.behave((response) => void waiting.push(() => response.writeHead(204).end()))
  const slow = await webhook('slow')
  for (let n = 0; n < 10; n += 1) await add(slow)
  const other = await webhook('quick', quick.url)
  await add(other)
  await deliverer.start()
  await quick.count(1)
  await receiver.count(4)
  await deliverer.start()
  await tries(1)
  assert.equal(receiver.received.length, 4)
  for (let answered = 0; answered < 10; answered += 1) {
    const answer = await waitFor(() => waiting.shift(), { what: 'a request to answer' })
    answer()
    await tries(answered + 2)
    await deliverer.start()
  }
  assert.equal(receiver.received.length, 10)
  assert.equal(receiver.mostAtOnce, 4)
})

test('a deliverer that stops leaves unfinished messages to the next one at once', async (t) => {
  const { clock, store, receiver, deliverer, webhook, add, find } = await openEnvironment(t)
  receiver.behave(() => {})
  const hook = await webhook('slow')
  const id = await add(hook)
  await deliverer.start()
  await receiver.count(1)
  await deliverer.stop()
  const left = await find(id, hook)
  assert.deepEqual([left.state, left.nextAt, left.lastError], ['pending', clock.now(), null])
  const next = await store.claimDeliveries({
    claim: 5,
    leaseMs: 1,
    limit: 9,
    perWebhook: 9,
    busy: [],
  })
  assert.deepEqual(
    next.map((one) => one.id),
    [id],
  )
})

test('a secret that cannot be opened is an error of the try, and no message is sent unsigned', async (t) => {
  const { store, receiver, deliverer, webhook, add, find, tries } = await openEnvironment(t)
  const hook = await webhook('sealed')
  const found = (await store.webhooksOf([1]))[0]!
  await store.rotateWebhook({
    projectId: found.projectId,
    name: 'sealed',
    keepMs: 0,
    secret: { sealed: 'by another key', ending: 'x' },
    audit: { projectId: found.projectId, ...AUDIT },
  })
  const id = await add(hook)
  await deliverer.start()
  await tries(1)
  assert.match((await find(id, hook)).lastError ?? '', /the key is not here/)
  assert.equal(receiver.received.length, 0)
})
