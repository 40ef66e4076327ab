import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createCoverage, type Coverage } from './coverage.ts'
import { PLANTED_BUGS } from './planted-bugs.ts'
import { runSeed, type SeedResult } from './run-seed.ts'

interface Share {
  readonly seeds: readonly number[]
  readonly moves: number
  readonly bug: string | undefined
  readonly untilCaught: boolean
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

/** Many seeds on all cores. Each seed is a world of its own, so the split changes nothing. */
export async function runSeeds(options: {
  first: number
  count: number
  moves: number
  bug?: string | undefined
  /** Stop at the first violation: enough to know that a planted bug is noticed. */
  untilCaught?: boolean
  onProgress?: (line: string) => void
}): Promise<Summary> {
  const { first, count, moves, bug, untilCaught = false } = options
  const shares = Math.min(count, availableParallelism())
  const coverage = createCoverage()
  const results: SeedResult[] = []
  await Promise.all(
    Array.from({ length: shares }, (_, share) => {
      const seeds = Array.from({ length: count }, (_unused, i) => first + i).filter(
        (seed) => seed % shares === share,
      )
      return runShare({ seeds, moves, bug, untilCaught }, (message) => {
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

function runShare(share: Share, onMessage: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: share })
    thread.on('message', onMessage)
    thread.on('error', reject)
    thread.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`simulator exit ${code}`)),
    )
  })
}

if (!isMainThread && parentPort && (workerData as Share | undefined)?.seeds) {
  const { seeds, moves, bug, untilCaught } = workerData as Share
  const planted = PLANTED_BUGS.find(({ name }) => name === bug)
  const coverage = createCoverage()
  for (const seed of seeds) {
    const result = await runSeed(seed, moves, coverage, planted)
    parentPort.postMessage({ result })
    if (untilCaught && result.violations.length > 0) break
  }
  parentPort.postMessage({ coverage: coverage.plain() })
}
