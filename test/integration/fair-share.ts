import type { SchedulerClient } from '../../src/core/wire/protocol.ts'
import type { WhyCode, WireWhy } from '../../src/core/wire/views.ts'
import { type ManualWorker, registerManualWorker, succeeded } from './manual-worker.ts'

/** Access to a scheduler, as its users have it. */
export interface SchedulerAccess {
  clientFor(project: string): SchedulerClient
  why(project: string, run: string): Promise<WireWhy>
}

export interface FairShareReport {
  readonly samples: number
  /** The highest number of starts, its own included, until a single run started. */
  readonly maxStarts: number
  readonly violations: readonly string[]
}

const BATCH = 10_000
const JOBS = ['etl', 'report', 'mail']
const WIDE = 8
/** Longer than any claim takes on a busy machine. */
const WAIT_MS = 20_000

/** Queues `count` runs of one project, over the given jobs. Returns the last one. */
export async function queueUp(
  { clientFor }: Pick<SchedulerAccess, 'clientFor'>,
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

/** Run starts, in order, until the wanted one: each frees the slot of the previous one. */
export async function startsUntil(
  worker: ManualWorker,
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
 * One project has queued far more than can be served, and another one submits single runs. Each of those must
 * start in the first round of claims; only right after one was served may one other run come before the next.
 */
export async function sampleFairShare(
  reach: SchedulerAccess,
  { queued, samples }: { queued: number; samples: number },
): Promise<FairShareReport> {
  const last = await queueUp(reach, 'busy', queued)
  const violations = await whyWithoutWorkers(reach, last)
  const projects = ['busy', 'quiet']
  const jobs = [...JOBS, 'lone']
  const narrow = await registerManualWorker(reach.clientFor('busy'), { jobs, projects, slots: 1 })
  violations.push(...(await whyWhileBusy(reach, narrow, last)))
  const wide = await registerManualWorker(reach.clientFor('busy'), {
    name: 'wide',
    jobs,
    projects,
    slots: WIDE,
  })
  const submitLone = () => submitOne(reach, 'quiet', 'lone')

  let maxStarts = 0
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
    maxStarts = Math.max(maxStarts, starts)
  }
  return { samples, maxStarts, violations }
}

async function whyWithoutWorkers(reach: SchedulerAccess, last: string): Promise<string[]> {
  return mismatches(await reach.why('busy', last), {
    code: 'no_worker',
    sentence: /no worker is connected that serves this project/,
    fix: /^start a worker of the project busy that has the handler /,
  })
}

/** The only slot is taken: the last queued run is far behind, the single run is first. */
async function whyWhileBusy(
  reach: SchedulerAccess,
  worker: ManualWorker,
  last: string,
): Promise<string[]> {
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

async function submitOne(
  { clientFor }: SchedulerAccess,
  project: string,
  job: string,
): Promise<string> {
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
