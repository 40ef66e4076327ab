import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type KillableServer, startKillableServer } from '../support/killable-server.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { openReceiver, type Received } from './receiver.ts'

async function openEnvironment(t: TestContext, events = ['run.failed']) {
  const receiver = await openReceiver(t)
  const home = openHome(t)
  const start = () => startKillableServer(home, '--allow-address', receiver.address)
  const server = await start()
  await server.call('POST', '/v1/webhooks', {
    name: 'pager',
    url: receiver.url,
    events,
  })
  return { receiver, server, start }
}

/** Runs that have failed, with the failure visible in the API. */
async function fail({ call }: KillableServer, count: number): Promise<string[]> {
  const submitted = await Promise.all(
    Array.from({ length: count }, () => call<{ id: string }>('POST', '/v1/runs', { run: 'false' })),
  )
  for (const { id } of submitted) {
    const { state } = await call<{ state: string }>('GET', `/v1/runs/${id}?wait=25s`)
    assert.equal(state, 'failed')
  }
  return submitted.map(({ id }) => id)
}

function byRun(received: readonly Received[]): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>()
  for (const { id, body } of received) {
    const run = String(body.data.run?.id)
    ids.set(run, (ids.get(run) ?? new Set()).add(id))
  }
  return ids
}

test('failures before a server was killed are delivered by the next one, each under one id', async (t) => {
  const { receiver, server: first, start } = await openEnvironment(t)
  // The first messages are lost on the way, and later ones are delayed.
  receiver.behave((response, nth) => void (nth % 2 ? response.destroy() : undefined))
  const failed: string[] = []
  let server = first
  for (let round = 0; round < 3; round += 1) {
    failed.push(...(await fail(server, 4)))
    await server.kill()
    server = await start()
  }
  receiver.behave((response) => void response.writeHead(204).end())
  const delivered = () => receiver.received.filter(({ answered }) => answered)
  await waitFor(() => new Set(delivered().map(({ id }) => id)).size >= failed.length, {
    what: `${failed.length} messages to get through`,
    deadlineMs: 120_000,
    intervalMs: 100,
  })
  const ids = byRun(receiver.received)
  assert.deepEqual([...ids.keys()].toSorted(), failed.toSorted())
  for (const [run, named] of ids) assert.equal(named.size, 1, `${run} has ${[...named].join()}`)
})

test('a message in delivery when the server was killed is sent again unchanged', async (t) => {
  const { receiver, server, start } = await openEnvironment(t)
  receiver.behave(() => {})
  const [run] = await fail(server, 1)
  await receiver.count(1)
  await server.kill()
  receiver.behave((response) => void response.writeHead(204).end())
  const { call } = await start()
  const [first, second] = await receiver.count(2)
  assert.equal(first?.body.data.run?.id, run)
  assert.deepEqual([first?.id, first?.text], [second?.id, second?.text])
  const { data } = await waitFor(
    async () => {
      const page = await call<{ data: { state: string; attempts: number }[] }>(
        ...(['GET', '/v1/webhooks/pager/deliveries'] as const),
      )
      return page.data[0]?.state === 'delivered' ? page : undefined
    },
    { what: 'it to be settled' },
  )
  assert.equal(data[0]?.attempts, 2)
})

test('a deadline that passed while no server was up is reported by the next one, once', async (t) => {
  const { receiver, server: first, start } = await openEnvironment(t, ['run.unfinished'])
  const at = new Date(Date.now() + 8_000).toISOString()
  const schedule = { at, deadline: '1s', missed: 'all' }
  await first.call('PUT', '/v1/jobs/etl', { run: 'sleep 600', schedule })
  const path = '/v1/jobs/etl/schedules/1/occurrences?from=2020-01-01T00:00:00Z'
  const occurrence = async ({ call }: KillableServer) => {
    const page = await call<{ data: { run: string | null; lapses: { kind: string }[] }[] }>(
      ...(['GET', path] as const),
    )
    return page.data[0]
  }
  const run = await waitFor(async () => (await occurrence(first))?.run ?? undefined, {
    what: 'its time to become a run',
  })
  let server = first
  for (let round = 0; round < 2; round += 1) {
    await server.kill()
    server = await start()
  }
  const [told] = await receiver.count(1)
  assert.deepEqual([told?.body.type, told?.body.data.run?.id], ['run.unfinished', run])
  assert.deepEqual(
    (await occurrence(server))?.lapses.map(({ kind }) => kind),
    ['unfinished'],
  )
  await server.kill()
  const { call } = await start()
  const { data } = await call<{ data: { id: string }[] }>('GET', '/v1/webhooks/pager/deliveries')
  assert.deepEqual(
    [...new Set(receiver.received.map(({ id }) => id))],
    data.map(({ id }) => id),
  )
  assert.equal(data.length, 1)
})
