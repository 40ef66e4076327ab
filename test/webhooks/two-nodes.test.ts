import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import { keysInMemory } from '../support/secret-keys.ts'
import { postgresUrl } from '../support/servers.ts'
import { openApi, type OpenApi } from '../api/open-api.ts'
import { openReceiver } from './receiver.ts'

const RUNS = 40

/** Ended runs, every other one failed. */
async function finish({ call }: OpenApi, job: string): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < RUNS; n += 1) {
    const body = { run: n % 2 === 0 ? 'false' : 'true', job: `${job}-${n % 4 < 2 ? 'a' : 'b'}` }
    ids.push((await call<SubmitAnswer>('POST', '/v1/runs', { body })).body.id)
  }
  for (const id of ids) await call('GET', `/v1/runs/${id}?wait=25s`)
  return ids
}

test('two nodes deliver every message once, and never two tries of one at a time', async (t) => {
  const receiver = await openReceiver(t)
  const options = { store: await postgresUrl(), allowAddresses: [receiver.address] }
  const secretKeys = keysInMemory('k1')
  const nodes = [
    await openApi(t, { ...options, secretKeys }),
    await openApi(t, { ...options, secretKeys }),
  ] as const
  for (const node of nodes) await node.startWorker()
  const held: (() => void)[] = []
  // Answered in pairs, so that there are always messages in delivery.
  receiver.behave((response, nth) => {
    held.push(() => response.writeHead(204).end())
    if (nth % 2 === 0) for (const answer of held.splice(0)) answer()
  })
  const body = { name: 'pager', url: receiver.url, events: ['run.failed', 'run.succeeded'] }
  await nodes[0].call('POST', '/v1/webhooks', { body })
  const runs = (await Promise.all(nodes.map((node, index) => finish(node, `job-${index}`)))).flat()
  await receiver.count(runs.length)
  const delivered = receiver.received.map(({ body: { data } }) => String(data.run?.id))
  assert.deepEqual(delivered.toSorted(), runs.toSorted())
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, runs.length)
  assert.deepEqual([...receiver.doubled], [])
})
