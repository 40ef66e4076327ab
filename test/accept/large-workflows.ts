import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/client/index.ts'
import { createWorker } from '../../src/worker/index.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import type { CheckReport } from './check.ts'

const MANY = 100_000
const EDGES_EACH = 10
/** A chain takes long: this many steps show that it proceeds and can be stopped. */
const OF_THE_CHAIN = 2_000
const MAX_SECONDS = 10
const MAX_GROWTH_MB = 500
const MB = 1_024
const DEADLINE_MS = 240_000

type Steps = Record<string, object>

const named = (stepOf: (nth: number) => object): Steps =>
  Object.fromEntries(Array.from({ length: MANY }, (_, nth) => [`s${nth}`, stepOf(nth)]))
const before = (nth: number, count: number) =>
  Array.from({ length: Math.min(count, nth) }, (_, back) => `s${nth - 1 - back}`)

const SHAPES: Readonly<Record<string, () => Steps>> = {
  'a fan-out': () => ({
    list: { task: 'list' },
    each: { task: 'noop', needs: 'list', each: '${{ steps.list.output }}' },
  }),
  'side by side': () => named((nth) => ({ task: 'noop', ...(nth > 0 && { needs: 's0' }) })),
  'a million edges': () =>
    // In ranks of a thousand; each step needs ten of the previous rank.
    named((nth) => ({
      task: 'noop',
      needs: before(nth - (nth % 1_000), EDGES_EACH),
    })),
  'a chain': () => named((nth) => ({ task: 'noop', needs: before(nth, 1) })),
}

/** Workflows of 100,000 steps, each on its own server: defined over HTTP, run by a worker, stopped. */
export async function runLargeWorkflows(report: CheckReport): Promise<void> {
  const missed: string[] = []
  for (const [name, steps] of Object.entries(SHAPES)) {
    const { taken, handled, seconds, grownMb } = await runShape(steps(), name === 'a chain')
    const figures = [
      `taken in ${taken.toFixed(1)} s`,
      `${handled} steps in ${seconds.toFixed(1)} s`,
      `server ${grownMb.toFixed(0)} MB more at most`,
    ]
    report.figure(name, figures.join(', '))
    if (taken > MAX_SECONDS) missed.push(`${name}: taken in ${taken} s`)
    if (grownMb > MAX_GROWTH_MB) missed.push(`${name}: ${grownMb.toFixed(0)} MB more`)
  }
  assert.deepEqual(missed, [])
}

async function runShape(steps: Steps, isChain: boolean) {
  const endings: (() => unknown)[] = []
  const home = openHome({ after: (end) => void endings.push(end) })
  try {
    const server = home.start(['up', '--port', '0', '--data', home.dataDir])
    const url = await waitFor(() => /address +(\S+)[^]*Try:/.exec(server.output.out)?.[1], {
      what: 'the server',
    })
    const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
    const client = connect({ url, token })
    let handled = 0
    const noop = () => void (handled += 1)
    const list = () => Array.from({ length: MANY }, (_, nth) => nth)
    const worker = createWorker({ client, name: 'large', slots: 1_000, handlers: { noop, list } })
    await worker.start()
    endings.unshift(
      () => worker.drain(0),
      () => client.close(),
    )
    const beforeMb = memoryOf(server.child.pid as number)
    const definedMs = performance.now()
    await put(`${url}/v1/jobs/large`, { steps }, token)
    const startedMs = performance.now()
    const [{ id } = { id: '' }] = await client.submit([{ job: 'large' }])
    if (isChain) {
      const what = `${OF_THE_CHAIN} steps of the chain`
      await waitFor(() => handled >= OF_THE_CHAIN, { what, deadlineMs: DEADLINE_MS })
      await client.cancel(id)
    }
    const { state } = await waitFor(
      async () => {
        const run = await client.getRun(id)
        return run.finishedAt === null ? undefined : run
      },
      { what: 'it to end', deadlineMs: DEADLINE_MS, intervalMs: 250 },
    )
    assert.equal(state, isChain ? 'cancelled' : 'succeeded')
    if (!isChain) assert.equal(handled, MANY)
    return {
      taken: (startedMs - definedMs) / 1_000,
      seconds: (performance.now() - startedMs) / 1_000,
      handled,
      grownMb: memoryOf(server.child.pid as number) - beforeMb,
    }
  } finally {
    for (const end of endings) await end()
  }
}

async function put(url: string, definition: object, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(definition) })
  const text = await answer.text()
  assert.ok(answer.ok, `${answer.status} ${text.slice(0, 500)}`)
}

/** Peak memory of a process, in MB. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / MB
}
