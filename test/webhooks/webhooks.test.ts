import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import type { WireAudit, WirePage } from '../../src/core/wire/views.ts'
import type {
  WireDeliveryDetail,
  WireDelivery,
  WireNewWebhook,
  WireWebhook,
} from '../../src/core/webhook/webhook-views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type OpenApi, openApi } from '../api/open-api.ts'
import { keysInMemory } from '../support/secret-keys.ts'
import { waitFor } from '../support/wait-for.ts'
import { assertSigned, openReceiver, type Receiver } from './receiver.ts'

const EVENTS = ['run.failed', 'run.recovered']

interface Environment extends OpenApi {
  readonly receiver: Receiver
  readonly secret: string
  /** Runs a command to its end. */
  run(command: string, job?: string): Promise<WireRun>
  deliveries(): Promise<readonly WireDelivery[]>
  /** The newest delivery, once it has succeeded or failed. */
  settled(): Promise<WireDelivery>
}

/** A server with a worker, an endpoint, and a webhook `pager` between them. */
async function openEnvironment(
  t: TestContext,
  options: object = {},
  store?: string,
): Promise<Environment> {
  const receiver = await openReceiver(t)
  const api = await openApi(t, { allowAddresses: [receiver.address], ...(store && { store }) })
  await api.startWorker()
  const body = { name: 'pager', url: receiver.url, events: EVENTS, ...options }
  const made = await api.call<WireNewWebhook>('POST', '/v1/webhooks', { body })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const deliveries = async () => {
    const path = '/v1/webhooks/pager/deliveries'
    return (await api.call<WirePage<WireDelivery>>('GET', path)).body.data
  }
  return {
    ...api,
    receiver,
    secret: made.body.secret,
    deliveries,
    async run(command, job = 'etl') {
      const submitted = await api.call<{ id: string }>('POST', '/v1/runs', {
        body: { run: command, job },
      })
      return (await api.call<WireRun>('GET', `/v1/runs/${submitted.body.id}?wait=25s`)).body
    },
    settled: () =>
      waitFor(
        async () => {
          const [newest] = await deliveries()
          const isTried = newest && (newest.status !== null || newest.error !== null)
          return isTried ? newest : undefined
        },
        { what: 'a delivery to be settled' },
      ),
  }
}

test('a failure and the recovery are delivered, and no other end', async (t) => {
  const { run, receiver, secret, deliveries } = await openEnvironment(t)
  await run('true')
  const failed = await run('echo one; echo two >&2; exit 3')
  await receiver.count(1)
  await run('true', 'another')
  const recovered = await run('true')
  await run('true')
  const [first, second] = await receiver.count(2)
  for (const one of receiver.received) assertSigned(one, secret)
  assert.deepEqual([first?.body.type, second?.body.type], EVENTS)

  const { data } = first!.body
  assert.deepEqual([data['project'], data['job'], data.run?.id], ['default', 'etl', failed.id])
  assert.deepEqual((data['log_tail'] as string[]).toSorted(), ['one', 'two'])
  assert.match(String(data['message']), /^etl failed/)
  assert.match(String(data['url']), new RegExp(`^http://127.*/v1/runs/${failed.id}$`))
  const {
    input: _,
    result: __,
    work: ___,
    workflow: ____,
    step: _____,
    trigger: ______,
    ...shown
  } = failed
  assert.deepEqual(data.run, shown, 'a run as the API shows it, less what it was given and gave')
  assert.equal(second?.body.data.run?.id, recovered.id)
  assert.ok(Date.parse(String(second?.body.data['failing_since'])) > 0)

  const list = await waitFor(
    async () => {
      const all = await deliveries()
      return all.every(({ state }) => state === 'delivered') ? all : undefined
    },
    { what: 'both to be settled' },
  )
  assert.deepEqual(
    list.map(({ id, event, run: of, attempts, status }) => [id, event, of, attempts, status]),
    [
      [second?.id, 'run.recovered', recovered.id, 1, 204],
      [first?.id, 'run.failed', failed.id, 1, 204],
    ],
  )
})

test('a failure with a damaged log is delivered without it, and so is the next', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-damaged-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'punctual.db')
  const { run, receiver } = await openEnvironment(t, {}, `sqlite:${file}`)
  const disk = new Database(file)
  disk.exec(`CREATE TRIGGER damage AFTER INSERT ON log_chunk BEGIN
    UPDATE log_chunk SET packed = x'28b52ffd00ff' WHERE id = new.id; END`)
  disk.close()
  const damaged = await run('head -c 600000 /dev/zero | tr "\\0" "x"; exit 3')
  const next = await run('exit 4')
  const told = await receiver.count(2)
  assert.deepEqual(
    told.map(({ body }) => [body.data.run?.id, body.data['log_tail']]),
    [
      [damaged.id, []],
      [next.id, []],
    ],
  )
})

test('a secret is shown once, and its later placeholder is not accepted as one', async (t) => {
  const { call, receiver, secret } = await openEnvironment(t)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const shown = await call<WireWebhook>('GET', '/v1/webhooks/pager')
  const list = await call('GET', '/v1/webhooks')
  const again = await call<WireWebhook>('PUT', '/v1/webhooks/pager', {
    body: { url: receiver.url, events: ['run.failed'] },
  })
  assert.equal(again.status, 200)
  for (const { body } of [shown, list, again]) {
    assert.ok(!JSON.stringify(body).includes(secret.slice(6, 20)))
  }
  assert.equal(shown.body.secret_ending.length, 4)
  assert.deepEqual(again.body.events, ['run.failed'])
})

test('the secret is stored like those of runs: sealed, never shown, and sealed again at a rotation', async (t) => {
  const receiver = await openReceiver(t)
  const secretKeys = keysInMemory('k1')
  const { call } = await openApi(t, { allowAddresses: [receiver.address], secretKeys })
  const body = { name: 'pager', url: receiver.url, events: EVENTS }
  const { secret } = (await call<WireNewWebhook>('POST', '/v1/webhooks', { body })).body
  const sealedWith = async () => {
    const { keys } = (await call<{ keys: object[] }>('GET', '/v1/secret-keys')).body
    return keys
  }
  assert.deepEqual((await call('GET', '/v1/secrets')).body['data'], [])
  assert.deepEqual(await sealedWith(), [{ id: 'k1', secrets: 1 }])
  secretKeys.ids = ['k2', 'k1']
  // The node must first load its new key and announce it.
  const rotate = async () => (await call('POST', '/v1/secret-keys/rotate')).status === 200
  await waitFor(rotate, { what: 'keys to be exchanged', deadlineMs: 60_000, intervalMs: 100 })
  assert.deepEqual(await sealedWith(), [{ id: 'k2', secrets: 1 }])
  await call('POST', '/v1/webhooks/pager/test')
  assertSigned((await receiver.count(1))[0]!, secret)

  await call('POST', '/v1/webhooks/pager/rotate', { body: {} })
  await call('POST', '/v1/webhooks/pager/rotate', { body: {} })
  assert.deepEqual(await sealedWith(), [{ id: 'k2', secrets: 2 }])
  await call('POST', '/v1/webhooks', { body })
  await call('DELETE', '/v1/webhooks/pager')
  assert.deepEqual(await sealedWith(), [{ id: 'k2', secrets: 0 }])
})

test('without a key, webhooks are refused', async (t) => {
  const { call } = await openApi(t, { secretKeys: keysInMemory() })
  const body = { name: 'pager', url: 'https://example.com', events: EVENTS }
  const { status, body: problem } = await call('POST', '/v1/webhooks', { body })
  assert.deepEqual([status, problem['code']], [409, 'secret_key_missing'])
  assert.deepEqual((await call('GET', '/v1/webhooks')).body['data'], [])
})

test('both secrets are valid while one replaces the other', async (t) => {
  const { call, receiver, secret, settled } = await openEnvironment(t)
  const mine = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const rotated = await call<WireNewWebhook>('POST', '/v1/webhooks/pager/rotate', {
    body: { secret: mine, keep: '1h' },
  })
  assert.equal(rotated.body.secret, mine)
  assert.ok(Date.parse(rotated.body.previous_secret_until ?? '') > Date.now())
  await call('POST', '/v1/webhooks/pager/test')
  const [tested] = await receiver.count(1)
  assertSigned(tested!, mine, secret)
  assert.equal(tested?.body.type, 'webhook.test')
  assert.equal((await settled()).state, 'delivered')
  const put = { body: { url: receiver.url, events: EVENTS, secret: mine } }
  const same = await call<WireWebhook>('PUT', '/v1/webhooks/pager', put)
  assert.equal(same.body.previous_secret_until, rotated.body.previous_secret_until)
})

test('a webhook may be limited to some jobs, by name or pattern', async (t) => {
  const { run, receiver } = await openEnvironment(t, { jobs: ['etl-*', 'report'] })
  for (const job of ['etl', 'etl-a', 'reports', 'report']) await run('false', job)
  await receiver.count(2)
  assert.deepEqual(
    receiver.received.map(({ body }) => body.data['job']),
    ['etl-a', 'report'],
  )
})

test('a failed try is shown in the deliveries, and the webhook as failing until one succeeds', async (t) => {
  const { call, receiver, settled, deliveries } = await openEnvironment(t)
  receiver.behave((response) => void response.writeHead(503).end('busy'))
  await call('POST', '/v1/webhooks/pager/test')
  const tried = await settled()
  assert.deepEqual(
    [tried.state, tried.status, tried.error, tried.attempts],
    ['pending', 503, 'it answered 503', 1],
  )
  assert.ok(Date.parse(tried.next_attempt_at ?? '') > Date.parse(tried.last_attempt_at ?? ''))
  const failing = await call<WireWebhook>('GET', '/v1/webhooks/pager')
  assert.ok(failing.body.failing_since)

  receiver.behave((response) => void response.end())
  const path = `/v1/webhooks/pager/deliveries/${tried.id}`
  const asked = await call<WireDelivery>('POST', `${path}/redeliver`)
  assert.deepEqual([asked.status, asked.body.state], [200, 'pending'])
  await waitFor(async () => (await deliveries())[0]?.state === 'delivered', { what: 'delivery' })
  assert.deepEqual(
    receiver.received.map(({ id }) => id),
    [tried.id, tried.id],
  )
  const fine = await call<WireWebhook>('GET', '/v1/webhooks/pager')
  assert.equal(fine.body.failing_since, null)
  const detail = await call<WireDeliveryDetail>('GET', path)
  assert.deepEqual(detail.body.body, receiver.received[0]?.body)
})

test('an endpoint that answers 410 is not called again, and the record says why', async (t) => {
  const { call, run, receiver, settled } = await openEnvironment(t)
  receiver.behave((response) => void response.writeHead(410).end())
  await run('false')
  assert.equal((await settled()).state, 'failed')
  const { body } = await call<WireWebhook>('GET', '/v1/webhooks/pager')
  assert.deepEqual([body.enabled, body.disabled_reason], [false, 'the endpoint answered 410 Gone'])
  await run('false')
  const audit = await call<WirePage<WireAudit>>('GET', '/v1/audit')
  assert.deepEqual(
    audit.body.data.map(({ action }) => action),
    ['webhook.disable', 'webhook.put', 'secret.put'],
  )
  assert.equal(receiver.received.length, 1)
})

const misbehaving: [why: string, status: number | null, error: RegExp, how: object][] = [
  ['a redirect is not followed', 302, /redirects are not followed/, { location: '/elsewhere' }],
  ['an endpoint that hangs up has not taken it', null, /does not answer/, {}],
]
for (const [why, status, error, headers] of misbehaving) {
  test(why, async (t) => {
    const { call, receiver, settled } = await openEnvironment(t)
    receiver.behave((response) => {
      if (status === null) response.destroy()
      else response.writeHead(status, headers as Record<string, string>).end()
    })
    await call('POST', '/v1/webhooks/pager/test')
    const tried = await settled()
    assert.deepEqual([tried.state, tried.status], ['pending', status])
    assert.match(tried.error ?? '', error)
    assert.equal(receiver.received.length, 1)
  })
}

test('an endless answer body is not read: the status is enough', async (t) => {
  const { call, receiver, settled } = await openEnvironment(t)
  receiver.behave((response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', more)
    }
    response.writeHead(200)
    more()
  })
  await call('POST', '/v1/webhooks/pager/test')
  assert.equal((await settled()).state, 'delivered')
})

test('an address that the outbound guard refuses is not called', async (t) => {
  const { call, settled, receiver } = await openEnvironment(t)
  const elsewhere = await openReceiver(t)
  await call('PUT', '/v1/webhooks/pager', { body: { url: elsewhere.url, events: EVENTS } })
  await call('POST', '/v1/webhooks/pager/test')
  const { state, status, error } = await settled()
  assert.deepEqual([state, status], ['pending', null])
  assert.match(error ?? '', /127\.0\.0\.1/)
  assert.equal(elsewhere.received.length + receiver.received.length, 0)
})

test('a webhook that is disabled or deleted gets nothing, and starts empty when it is back', async (t) => {
  const { call, run, receiver } = await openEnvironment(t)
  const put = (enabled: boolean) =>
    call('PUT', '/v1/webhooks/pager', { body: { url: receiver.url, events: EVENTS, enabled } })
  await put(false)
  await run('false')
  await put(true)
  await run('true')
  assert.equal((await call('DELETE', '/v1/webhooks/pager')).status, 204)
  await run('false')
  await call('POST', '/v1/webhooks', {
    body: { name: 'pager', url: receiver.url, events: EVENTS },
  })
  const last = await run('false')
  await receiver.count(1)
  assert.deepEqual(
    receiver.received.map(({ body }) => body.data.run?.id),
    [last.id],
  )
})
