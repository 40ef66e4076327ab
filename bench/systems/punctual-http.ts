import { connect } from '../../src/client/index.ts'
import type { Worker } from '../../src/worker/index.ts'
import { startChild } from '../harness/child.ts'
import { countRuns, countSucceeded } from './punctual-store.ts'
import { acknowledged, startWorker, submissions } from './punctual-worker.ts'
import type { Purpose, System } from './system.ts'

const DRAIN_MS = 5_000
const SINGLE_CLIENTS = 16

/** A server process over loopback; submitter and worker share this one. */
export async function openPunctualHttp(store: string, purpose: Purpose): Promise<System> {
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.next('ready')) as unknown as { url: string; token: string }
  const client = connect({ url, token })
  const workerClient = connect({ url, token })
  // Callers that share a client share requests. One run per request takes a client per caller.
  const alone = Array.from({ length: SINGLE_CLIENTS }, () => connect({ url, token }))
  let worker: Worker | undefined

  return {
    async work(handler) {
      worker = await startWorker(workerClient, purpose, handler)
    },
    submitMany: (count) => client.submit(submissions(count)),
    async submitOne() {
      const own = alone.pop()
      if (!own) throw new Error(`more than ${SINGLE_CLIENTS} callers at once`)
      await own.submit(submissions(1))
      alone.push(own)
    },
    settled: () => acknowledged(worker!),
    async otherCpuMs() {
      server.tell('usage')
      return (await server.next('usage'))['cpuMs'] as number
    },
    async close() {
      await worker?.drain(DRAIN_MS)
      await Promise.all([client, workerClient, ...alone].map((each) => each.close()))
      await server.stop()
    },
    countEnded: () => countSucceeded(store),
    countSubmitted: () => countRuns(store),
  }
}
