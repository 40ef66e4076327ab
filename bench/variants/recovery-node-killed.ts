import { randomBytes } from 'node:crypto'
import { connect } from '../../src/client/index.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'

export interface NodeGoneSettings {
  readonly store: string
}

const QUEUES = ['q1', 'q2', 'q3', 'q4', 'q5']

/**
 * Two nodes, five sessions on one of them, each in the middle of a run. kill -9 of that node: how
 * long until every session has started something new, given out by the other? What was under way
 * must go on: adopted, not run again.
 */
measure(async () => {
  const { store } = readSettings() as NodeGoneSettings
  const token = randomBytes(32).toString('base64url')
  const nodes = [0, 1].map(() => startChild('punctual-server.ts', { store, token }))
  const urls = await Promise.all(
    nodes.map(async (node) => (await node.next('ready'))['url'] as string),
  )
  const [victim, heir] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  const client = connect({ url: urls[1]!, token })

  const worker = startChild('recovery-worker.ts', { name: 'worker', urls, token, queues: QUEUES })
  await worker.next('ready')
  const held = await client.submit(QUEUES.map((queue) => ({ job: 'hold', queue })))
  for (const _ of QUEUES) await worker.next('started')

  const killedAt = performance.now()
  victim.kill('SIGKILL')
  await client.submit(QUEUES.map((queue) => ({ job: 'touch', queue })))
  for (const _ of QUEUES) await worker.next('started')
  const servedMs = performance.now() - killedAt

  worker.tell('release')
  const ended = await waitFor(
    async () => {
      const runs = await Promise.all(held.map(({ id }) => client.getRun(id)))
      return runs.every(({ state }) => state === 'succeeded') ? runs : null
    },
    { what: 'the runs under way to end', deadlineMs: 60_000 },
  )
  for (const { attempt } of ended) verify('attempts of a run that was under way', 1, attempt)
  await worker.stop()
  await heir.stop()
  return { seconds: servedMs / 1000 }
})
