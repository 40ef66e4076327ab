import type { SchedulerClient } from '../../src/core/wire/protocol.ts'
import type { WhyCode, WireWhy } from '../../src/core/wire/views.ts'
import { type HandWorker, registerByHand, succeeded } from './manual-worker.ts'

/** A scheduler as its users reach it. */
export interface Reach {
  clientFor(project: string): SchedulerClient
  why(project: string, run: string): Promise<WireWhy>
}

export interface FairShareReport {
  readonly samples: number
  /** The most starts, its own included, that it took a slot to come to a lone run. */
  readonly mostStarts: number
  readonly violations: readonly string[]
}

const BATCH = 10_000
const JOBS = ['etl', 'report', 'mail']
const WIDE = 8
/** Longer than any claim takes, on a machine that is busy with other tests. */
const WAIT_MS = 20_000

/** Has one project queue up so many runs, over as many jobs as are given. The last one is returned. */
export async function queueUp(
  { clientFor }: Pick<Reach, 'clientFor'>,
  project: string,
  count: number,
  jobs: readonly string[] = JOBS,
): Promise<string> {
  let last = ''
  for (let queued = 0; queued < count; queued += BATCH) {
    const size = Math.min(BATCH, count - queued)
    const job = (index: number) => jobs[index % jobs.length] as string
    const runs = Array.from({ length: size }, (_, index) => ({ job: job(index) }))
    last = (await clientFor(project).submit(runs)).at(-1)?.id ?? ''
  }
  return last
}

/** Starts of runs, in order, until the wanted one: each frees the slot of the one before. */
export async function startsUntil(
  worker: HandWorker,
  wanted: string,
  most: number,
): Promise<number> {
  for (let starts = 1; starts <= most; starts += 1) {
    const { runs } = await worker.exchange({ free: 1, waitMs: WAIT_MS })
    const [run] = runs
    if (!run) throw new Error('a slot is free, and nothing was given')
    await worker.report([succeeded(run)], 0)
    if (run.run === wanted) return starts
  }
  return Number.POSITIVE_INFINITY
}

/**
 * One project has queued up far more than can be served, and another one submits single runs. Each of
 * those is to start in the first round of claims; only right after it was served, one of the others
 * may come before it.
 */
export async function sampleFairShare(
  reach: Reach,
  { queued, samples }: { queued: number; samples: number },
): Promise<FairShareReport> {
  const last = await queueUp(reach, 'busy', queued)
  const violations = await whyWhileNobodyServes(reach, last)
  const projects = ['busy', 'quiet']
  const jobs = [...JOBS, 'lone']
  const narrow = await registerByHand(reach.clientFor('busy'), { jobs, projects, slots: 1 })
  violations.push(...(await whyWhileBusy(reach, narrow, last)))
  const wide = await registerByHand(reach.clientFor('busy'), {
    ...{ name: 'wide', jobs, projects, slots: WIDE },
  })
  const submitLone = () => submitOne(reach, 'quiet', 'lone')

  let mostStarts = 0
  for (let sample = 0; sample < samples; sample += 1) {
    const kind = (['away', 'served just now', 'wide'] as const)[sample % 3]
    let starts: number
    if (kind === 'wide') {
      const lone = await submitLone()
      const { runs } = await wide.exchange({ waitMs: WAIT_MS })
      starts = runs.some(({ run }) => run === lone) ? 1 : Number.POSITIVE_INFINITY
      await wide.report(runs.map(succeeded), 0)
    } else {
      if (kind === 'away') await startsUntil(narrow, 'nobody', 2)
      starts = await startsUntil(narrow, await submitLone(), 5)
    }
    if (starts > (kind === 'served just now' ? 2 : 1)) {
      violations.push(`sample ${sample} (${kind}) started as number ${starts}`)
    }
    mostStarts = Math.max(mostStarts, starts)
  }
  return { samples, mostStarts, violations }
}

async function whyWhileNobodyServes(reach: Reach, last: string): Promise<string[]> {
  return mismatches(await reach.why('busy', last), {
    code: 'no_worker',
    sentence: /no worker is connected that serves this project/,
    fix: /^punctual worker --server URL$/,
  })
}

/** The only slot is taken: the last of the crowd is far behind, the lone run is behind nobody. */
async function whyWhileBusy(reach: Reach, worker: HandWorker, last: string): Promise<string[]> {
  const [taken] = (await worker.exchange({ waitMs: WAIT_MS })).runs
  if (!taken) return ['a slot is free, and nothing was given']
  const lone = await submitOne(reach, 'quiet', 'lone')
  const busy: Expected = {
    code: 'workers_busy',
    sentence: /all 1 slots of the worker that can run it are taken/,
    fix: /start another worker, or wait/,
  }
  const found = [
    ...mismatches(await reach.why('busy', last), {
      ...busy,
      detail: /^1000 or more runs with the same needs are before it\.$/,
    }),
    ...mismatches(await reach.why('quiet', lone), { ...busy, detail: /^$/ }),
  ]
  await worker.report([succeeded(taken)], 0)
  await startsUntil(worker, lone, 2)
  return found
}

async function submitOne({ clientFor }: Reach, project: string, job: string): Promise<string> {
  const [answer] = await clientFor(project).submit([{ job }])
  return answer?.id ?? ''
}

interface Expected {
  readonly code: WhyCode
  readonly sentence: RegExp
  readonly fix: RegExp
  readonly detail?: RegExp
}

function mismatches(why: WireWhy, { code, sentence, fix, detail }: Expected): string[] {
  const isRight =
    why.code === code &&
    sentence.test(why.sentence) &&
    fix.test(why.fixes.join('\n')) &&
    (detail?.test(why.details.join('\n')) ?? true)
  return isRight ? [] : [`why ${why.run}, not ${code}: ${JSON.stringify(why)}`]
}
