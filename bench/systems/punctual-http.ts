import { connect } from '../../src/client/index.ts'
import type { Worker } from '../../src/worker/index.ts'
import { startChild } from '../harness/child.ts'
import { countRuns, countSucceeded } from './punctual-store.ts'
import { waitUntilAcknowledged, startWorker, noopSubmissions } from './punctual-worker.ts'
import type { Purpose, System } from './system.ts'

const DRAIN_MS = 5_000
const SINGLE_CLIENTS = 16

/** A server process, called over loopback HTTP; submitter and worker share this process. */
export async function openPunctualHttp(store: string, purpose: Purpose): Promise<System> {
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const client = connect({ url, token })
  const workerClient = connect({ url, token })
  // A client batches concurrent submissions into one request, so one run per request needs a client per caller.
  const singleRunClients = Array.from({ length: SINGLE_CLIENTS }, () => connect({ url, token }))
  let worker: Worker | undefined

  return {
    async work(handler) {
      worker = await startWorker(workerClient, purpose, handler)
    },
    submitMany: (count) => client.submit(noopSubmissions(count)),
    async submitOne() {
      const singleRunClient = singleRunClients.pop()
      if (!singleRunClient) throw new Error(`more than ${SINGLE_CLIENTS} callers at once`)
      await singleRunClient.submit(noopSubmissions(1))
      singleRunClients.push(singleRunClient)
    },
    settled: () => waitUntilAcknowledged(worker!),
    async otherCpuMs() {
      server.sendCommand('usage')
      return (await server.nextMessage('usage'))['cpuMs'] as number
    },
    async close() {
      await worker?.drain(DRAIN_MS)
      await Promise.all([client, workerClient, ...singleRunClients].map((each) => each.close()))
      await server.stop()
    },
    countEnded: () => countSucceeded(store),
    countSubmitted: () => countRuns(store),
  }
}
