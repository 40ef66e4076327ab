import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openHome, type PunctualHome, type Started } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { openReceiver, type Received, type Receiver } from './receiver.ts'

interface Server {
  call<T>(method: string, path: string, body?: object): Promise<T>
  /** At once, as when the power fails. */
  kill(): Promise<void>
}

async function startServer(home: PunctualHome, receiver: Receiver): Promise<Server> {
  const flags = ['--port', '0', '--data', home.dataDir, '--allow-address', receiver.address]
  const { child, said }: Started = home.start(['up', ...flags])
  const url = await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${said.err}`)
      return /address +(\S+)[^]*Try:/.exec(said.out)?.[1]
    },
    { what: 'a server to be up', deadlineMs: 60_000 },
  )
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  return {
    async call(method, path, body) {
      const answer = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      assert.ok(answer.ok, `${method} ${path} gave ${answer.status}`)
      return (await answer.json()) as never
    },
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

async function openStage(t: TestContext) {
  const receiver = await openReceiver(t)
  const home = openHome(t)
  const start = () => startServer(home, receiver)
  const server = await start()
  await server.call('POST', '/v1/webhooks', {
    ...{ name: 'pager', url: receiver.url, events: ['run.failed'] },
  })
  return { receiver, server, start }
}

/** Runs that have failed, and that everybody knows have failed. */
async function fail({ call }: Server, count: number): Promise<string[]> {
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

test('what failed before a server was killed is told by the next, each under one id', async (t) => {
  const { receiver, server: first, start } = await openStage(t)
  // The first messages are lost on their way, and those that come later are held up.
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

test('a message that was on its way when the server was killed comes again, the same', async (t) => {
  const { receiver, server, start } = await openStage(t)
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
