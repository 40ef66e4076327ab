import { randomBytes } from 'node:crypto'
import { connect } from '../../src/client/index.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'

export interface NodeKilledSettings {
  readonly store: string
}

const QUEUES = ['q1', 'q2', 'q3', 'q4', 'q5']

/**
 * Two nodes; five sessions on one of them, each in the middle of a run. Kills that node with -9 and measures
 * the time until every session has started a new run assigned by the other node. The other node must adopt
 * the running attempts, not start them again.
 */
measureAndExit(async () => {
  const { store } = readVariantSettings() as NodeKilledSettings
  const token = randomBytes(32).toString('base64url')
  const nodes = [0, 1].map(() => startChild('punctual-server.ts', { store, token }))
  const urls = await Promise.all(
    nodes.map(async (node) => (await node.nextMessage('ready'))['url'] as string),
  )
  const [victim, survivor] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  const client = connect({ url: urls[1]!, token })

  const worker = startChild('recovery-worker.ts', { name: 'worker', urls, token, queues: QUEUES })
  await worker.nextMessage('ready')
  const held = await client.submit(QUEUES.map((queue) => ({ job: 'hold', queue })))
  for (const _ of QUEUES) await worker.nextMessage('started')

  const killedAt = performance.now()
  victim.kill('SIGKILL')
  await client.submit(QUEUES.map((queue) => ({ job: 'touch', queue })))
  for (const _ of QUEUES) await worker.nextMessage('started')
  const servedMs = performance.now() - killedAt

  worker.sendCommand('release')
  const ended = await waitFor(
    async () => {
      const runs = await Promise.all(held.map(({ id }) => client.getRun(id)))
      return runs.every(({ state }) => state === 'succeeded') ? runs : null
    },
    { what: 'the adopted runs to end', deadlineMs: 60_000 },
  )
  for (const { attempt } of ended) verify('attempts of an adopted run', 1, attempt)
  await worker.stop()
  await survivor.stop()
  return { seconds: servedMs / 1000 }
})
