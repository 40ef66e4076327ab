import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../../src/client/index.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { measure, verify } from '../harness/variant-process.ts'
import { countRuns, countSucceeded } from '../systems/punctual-store.ts'
import { acknowledged, JOB, startWorker } from '../systems/punctual-worker.ts'

const WARM_UP_MS = 1_000
const BETWEEN_MS = 10

/**
 * PostgreSQL restarted `-m immediate` under a trickle of submissions: how long after it accepts
 * connections again until a run submitted from then on was handled?
 */
measure(async () => {
  const postgres = await startPostgres()
  try {
    const store = await postgres.createDatabase()
    const server = startChild('punctual-server.ts', { store, isQuiet: true })
    const { url, token } = (await server.next('ready')) as unknown as { url: string; token: string }
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
        const calls = client.submit([{ job: JOB, input: performance.now() }])
        calls.then(() => (acknowledgements += 1)).catch(() => {})
        await pause(BETWEEN_MS)
      }
    })()
    await pause(WARM_UP_MS)
    await postgres.restart('immediate')
    acceptedAt = performance.now()
    const seconds = ((await served.promise) - acceptedAt) / 1000

    submitting = false
    await trickle
    // A grant whose commit was cut off is found and given back within seconds, not at once.
    await waitFor(async () => (await countRuns(store)) === (await countSucceeded(store)), {
      what: 'every run to end',
      deadlineMs: 60_000,
      intervalMs: 100,
    })
    await acknowledged(worker)
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
