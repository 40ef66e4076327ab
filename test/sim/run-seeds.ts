import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createCoverage, type Coverage } from './coverage.ts'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSeed, type SeedResult } from './run-seed.ts'

interface SeedShare {
  readonly seeds: readonly number[]
  readonly moves: number
  readonly bug: string | undefined
  readonly untilCaught: boolean
  readonly isHostile: boolean | undefined
  /** Becomes non-zero once a thread finds the bug: the other threads can stop. */
  readonly caught: Int32Array<SharedArrayBuffer>
}

export interface Summary {
  readonly seeds: number
  readonly moves: number
  readonly runs: number
  readonly simulatedMs: number
  readonly failed: readonly SeedResult[]
  readonly coverage: Coverage
}

type Message = { result: SeedResult } | { coverage: Record<string, number> }

/** Runs many seeds on all cores. Each seed is a world of its own, so the distribution changes nothing. */
export async function runSeeds(options: {
  first: number
  count: number
  moves: number
  bug?: string | undefined
  /** Adds a hostile worker to each world. */
  isHostile?: boolean | undefined
  /**
   * Stop at the first violation, or at the first one of the bug's own invariant: enough to know that a planted
   * bug is found.
   */
  untilCaught?: boolean
  onProgress?: (line: string) => void
}): Promise<Summary> {
  const { first, count, moves, bug, untilCaught = false, isHostile } = options
  const shares = Math.min(count, availableParallelism())
  const coverage = createCoverage()
  const results: SeedResult[] = []
  const caught = new Int32Array(new SharedArrayBuffer(4))
  await Promise.all(
    Array.from({ length: shares }, (_, share) => {
      const seeds = Array.from({ length: count }, (_unused, i) => first + i).filter(
        (seed) => seed % shares === share,
      )
      return runShare({ seeds, moves, bug, untilCaught, isHostile, caught }, (message) => {
        if ('coverage' in message) return coverage.add(message.coverage)
        results.push(message.result)
        if (results.length % 500 === 0) options.onProgress?.(`${results.length} of ${count} seeds`)
      })
    }),
  )
  const sum = (of: (result: SeedResult) => number) =>
    results.reduce((total, each) => total + of(each), 0)
  return {
    seeds: results.length,
    moves: sum((each) => each.moves),
    runs: sum((each) => each.runs),
    simulatedMs: sum((each) => each.simulatedMs),
    failed: results.filter((each) => each.violations.length > 0),
    coverage,
  }
}

function runShare(share: SeedShare, onMessage: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: share })
    thread.on('message', onMessage)
    thread.on('error', reject)
    thread.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`simulator exit ${code}`)),
    )
  })
}

if (!isMainThread && parentPort && (workerData as SeedShare | undefined)?.seeds) {
  const { seeds, moves, bug, untilCaught, isHostile, caught } = workerData as SeedShare
  const planted = PLANTED_BUGS.find(({ name }) => name === bug)
  const coverage = createCoverage()
  const { invariant = /^/ } = planted ?? {}
  for (const seed of seeds) {
    if (Atomics.load(caught, 0) !== 0) break
    const result = await runSeed(seed, moves, coverage, planted, isHostile)
    parentPort.postMessage({ result })
    if (untilCaught && result.violations.some((violation) => invariant.test(violation))) {
      Atomics.store(caught, 0, 1)
    }
  }
  parentPort.postMessage({ coverage: coverage.plain() })
}
