import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../../src/client/index.ts'
import { startChild } from '../harness/child.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { startSimulatedRun } from '../load/simulated-run.ts'
import { printedChunks } from '../load/generated-output.ts'

export interface ViewerSettings {
  readonly store: string
  readonly viewers: number
  readonly bytes: number
}

/** Interval between two chunks of a busy run. */
const CHUNK_INTERVAL_MS = 200

/** Measures when the last of many viewers of one live run has received all of its output. */
measureAndExit(async () => {
  const { store, viewers, bytes } = readVariantSettings() as ViewerSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const client = connect({ url, token })
  const run = await startSimulatedRun(client)
  const agent = new Agent({ maxSockets: viewers })
  const headers = { authorization: `Bearer ${token}` }
  let watching = 0

  /** Reads the stream to its end; resolves with its number of events and the time of its end. */
  const follow = () =>
    new Promise<{ events: number; endedMs: number }>((resolve, reject) => {
      const outgoing = request(
        `${url}/v1/runs/${run.id}/logs/follow`,
        { agent, headers },
        (answer) => {
          let events = 0
          watching += 1
          answer.on('data', (data: Buffer) => {
            for (let at = data.indexOf('\n\n'); at >= 0; at = data.indexOf('\n\n', at + 2))
              events += 1
          })
          answer.on('end', () => resolve({ events, endedMs: performance.now() }))
          answer.on('error', reject)
        },
      )
      outgoing.on('error', reject)
      outgoing.end()
    })
  const all = Array.from({ length: viewers }, follow)
  while (watching < viewers) await pause(20)

  let chunks = 0
  for (const chunk of printedChunks(bytes)) {
    await run.print([chunk])
    chunks += 1
    await pause(CHUNK_INTERVAL_MS)
  }
  const endedMs = performance.now()
  await run.end()
  const seen = await Promise.all(all)
  const late = Math.max(...seen.map((one) => one.endedMs)) - endedMs
  for (const { events } of seen) verify('events of a viewer', chunks + 1, events)
  await client.close()
  await server.stop()
  return { lastViewerMs: late }
})
