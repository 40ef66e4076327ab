// Runs in its own process: readers that ask for pages in a loop until they are stopped.
import { systemClock } from '../../../src/worker/clock/system-clock.ts'

export interface ReaderJob {
  readonly urls: readonly string[]
  readonly token: string
  readonly paths: readonly string[]
  readonly count: number
  readonly honoursRetryAfter: boolean
}

export interface ReaderTally {
  pages: number
  fullPages: number
  refused: number
  /** 503: the queue of the whole server was full. */
  overloaded: number
  unanswered: number
  other: number
  slowestMs: number
}

async function read(job: ReaderJob, nth: number, tally: ReaderTally, isOver: () => boolean) {
  const headers = { authorization: `Bearer ${job.token}` }
  const url = job.urls[nth % job.urls.length] as string
  const path = job.paths[nth % job.paths.length] as string
  while (!isOver()) {
    const startedMs = performance.now()
    try {
      const answer = await fetch(`${url}${path}`, { headers })
      const text = await answer.text()
      tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedMs)
      if (answer.status === 200) {
        tally.pages += 1
        if (path.startsWith('/v1/runs?') && isFull(text)) tally.fullPages += 1
      } else if (answer.status === 429) tally.refused += 1
      else if (answer.status === 503) tally.overloaded += 1
      else tally.other += 1
      const retryAfterS = Number(answer.headers.get('retry-after') ?? 0)
      if (retryAfterS > 0 && job.honoursRetryAfter) await systemClock.sleep(retryAfterS * 1_000)
    } catch {
      tally.unanswered += 1
    }
  }
}

function isFull(text: string): boolean {
  return (JSON.parse(text) as { data: unknown[] }).data.length === 10
}

process.on('message', (job: ReaderJob) => {
  const tally: ReaderTally = {
    pages: 0,
    fullPages: 0,
    refused: 0,
    overloaded: 0,
    unanswered: 0,
    other: 0,
    slowestMs: 0,
  }
  let isOver = false
  process.once('SIGTERM', () => (isOver = true))
  const readers = Array.from({ length: job.count }, (_, nth) => read(job, nth, tally, () => isOver))
  void Promise.all(readers).then(() => {
    process.send?.(tally)
    process.disconnect()
  })
})
