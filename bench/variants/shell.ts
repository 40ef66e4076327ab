import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../../src/client/index.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { startChild } from '../harness/child.ts'
import { childrenCpuMs, ownCpuMs } from '../harness/process-cpu.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import {
  countExitedWithZero,
  countRuns,
  countSucceeded,
  countWaiting,
} from '../systems/punctual-store.ts'

export interface ShellSettings {
  readonly store: string
  /** Runs submitted before the worker starts, more than it can handle in the measured time. */
  readonly runs: number
  readonly slots: number
  readonly launchers: number
  readonly heldMb: number
  readonly warmUpSeconds: number
  readonly seconds: number
}

const BATCH = 1_000
const TRUE = { job: 'true', work: { executor: 'argv', argv: ['true'] } } as const

/** Measures how many processes a worker starts, waits for and stores the ends of, while the queue is never empty. */
measureAndExit(async () => {
  const { store, runs, warmUpSeconds, seconds, ...load } = readVariantSettings() as ShellSettings
  const server = startChild('punctual-server.ts', { store })
  const { url, token } = (await server.nextMessage('ready')) as unknown as {
    url: string
    token: string
  }
  const client = connect({ url, token })
  for (let left = runs; left > 0; left -= BATCH) {
    await client.submit(Array.from({ length: Math.min(BATCH, left) }, () => TRUE))
  }
  await client.close()

  const worker = startChild('shell-worker.ts', { ...load, url, token })
  /** Counts ends in the database from another process, so only ends that survive a crash count. */
  const sample = async () => ({
    at: performance.now(),
    ended: await countSucceeded(store),
    startingMs: childrenCpuMs(worker.pid) ?? NaN,
    workerMs: ownCpuMs(worker.pid) ?? NaN,
    serverMs: ownCpuMs(server.pid) ?? NaN,
  })
  await waitFor(async () => (await countSucceeded(store)) > 0, { what: 'the first run to end' })
  await pause(warmUpSeconds * 1000)
  const first = await sample()
  await pause(seconds * 1000)
  const last = await sample()
  const waiting = countWaiting(store)
  await worker.stop()
  await server.stop()

  if (waiting === 0) throw new Error(`${runs} runs were not enough: the queue was empty at the end`)
  const exitedWell = countExitedWithZero(store)
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
