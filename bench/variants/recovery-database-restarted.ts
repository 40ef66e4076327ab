import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../../src/client/index.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { measureAndExit, verify } from '../harness/variant-process.ts'
import { countRuns, countSucceeded } from '../systems/punctual-store.ts'
import { waitUntilAcknowledged, BENCH_JOB, startWorker } from '../systems/punctual-worker.ts'

const WARM_UP_MS = 1_000
const SUBMIT_INTERVAL_MS = 10

/**
 * Restarts PostgreSQL with `-m immediate` under a constant slow load. Measures the time from when it accepts
 * connections again until a run submitted after that moment is handled.
 */
measureAndExit(async () => {
  const postgres = await startPostgres()
  try {
    const store = await postgres.createDatabase()
    const server = startChild('punctual-server.ts', { store, isQuiet: true })
    const { url, token } = (await server.nextMessage('ready')) as unknown as {
      url: string
      token: string
    }
    const client = connect({ url, token })
    let acceptedAt = Infinity
    const served = Promise.withResolvers<number>()
    const worker = await startWorker(
      connect({ url, token }),
      'latency',
      (input) => {
        if (Number(input) >= acceptedAt) served.resolve(performance.now())
      },
      { isQuiet: true },
    )

    let submitting = true
    let acknowledgements = 0
    const trickle = (async () => {
      while (submitting) {
        const calls = client.submit([{ job: BENCH_JOB, input: performance.now() }])
        calls.then(() => (acknowledgements += 1)).catch(() => {})
        await pause(SUBMIT_INTERVAL_MS)
      }
    })()
    await pause(WARM_UP_MS)
    await postgres.restart('immediate')
    acceptedAt = performance.now()
    const seconds = ((await served.promise) - acceptedAt) / 1000

    submitting = false
    await trickle
    // The server releases a grant whose commit was interrupted only after some seconds.
    await waitFor(async () => (await countRuns(store)) === (await countSucceeded(store)), {
      what: 'every run to end',
      deadlineMs: 60_000,
      intervalMs: 100,
    })
    await waitUntilAcknowledged(worker)
    await worker.drain(0)
    await server.stop()
    const runs = await countRuns(store)
    verify('runs ended', runs, await countSucceeded(store))
    if (runs < acknowledgements) throw new Error(`${acknowledgements} acknowledged, ${runs} stored`)
    return { seconds }
  } finally {
    await postgres.stop('immediate')
  }
})
