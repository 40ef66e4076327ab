import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../../src/client/index.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { childrenCpuMs, ownCpuMs } from '../harness/process-cpu.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import {
  countExitedWell,
  countRuns,
  countSucceeded,
  countWaiting,
} from '../systems/punctual-store.ts'

export interface ShellSettings {
  readonly store: string
  /** Waiting before the worker comes, and more than it can do in the time. */
  readonly runs: number
  readonly slots: number
  readonly launchers: number
  readonly heldMb: number
  readonly warmUpSeconds: number
  readonly seconds: number
}

const BATCH = 1_000
const TRUE = { job: 'true', work: { executor: 'argv', argv: ['true'] } } as const

/** How many processes a worker starts, sees end and has stored, with a queue that is never empty. */
measure(async () => {
  const { store, runs, warmUpSeconds, seconds, ...load } = readSettings() as ShellSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.next('ready')) as unknown as { url: string; token: string }
  const client = connect({ url, token })
  for (let left = runs; left > 0; left -= BATCH) {
    await client.submit(Array.from({ length: Math.min(BATCH, left) }, () => TRUE))
  }
  await client.close()

  const worker = startChild('shell-worker.ts', { ...load, url, token })
  /** The store is asked, from outside: what it has counted is what a crash would have left. */
  const look = async () => ({
    at: performance.now(),
    ended: await countSucceeded(store),
    startingMs: childrenCpuMs(worker.pid) ?? NaN,
    workerMs: ownCpuMs(worker.pid) ?? NaN,
    serverMs: ownCpuMs(server.pid) ?? NaN,
  })
  await waitFor(async () => (await countSucceeded(store)) > 0, { what: 'the first end' })
  await pause(warmUpSeconds * 1000)
  const first = await look()
  await pause(seconds * 1000)
  const last = await look()
  const waiting = countWaiting(store)
  await worker.stop()
  await server.stop()

  if (waiting === 0) throw new Error(`${runs} runs were not enough: the queue was empty at the end`)
  const exitedWell = countExitedWell(store)
  verify('runs that exited with 0 or still wait', runs, exitedWell + countWaiting(store))
  verify('runs', runs, await countRuns(store))
  const done = last.ended - first.ended
  const perRunUs = (from: number, to: number) => ((to - from) * 1000) / done
  return {
    runsPerSecond: done / ((last.at - first.at) / 1000),
    startingUs: perRunUs(first.startingMs, last.startingMs),
    workerUs: perRunUs(first.workerMs, last.workerMs),
    serverUs: perRunUs(first.serverMs, last.serverMs),
  }
})
