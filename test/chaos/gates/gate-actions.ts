import type { WireWhy } from '../../../src/core/wire/views.ts'
import type { Seeded } from '../../sim/seeded.ts'
import { askWhy } from '../../support/fetch-why.ts'
import { waitFor } from '../../support/wait-for.ts'
import { freezeFor, killAndReplace, PAST_LEASE_TTL_MS, type FaultContext } from '../faults.ts'
import { CHAOS_TOKEN } from '../server-processes.ts'
import type { ChaosPlan } from '../scenario.ts'
import type { GateWorkload } from './gate-workload.ts'
import { slowRun } from './run-spec.ts'
import type { GatesEnvironment } from './gates-environment.ts'
import { retryUntilAnswered, RETRY_DEADLINE_MS } from './retry-until-answered.ts'
import type { TraceLog } from './trace-log.ts'

/** Everything the actions need while the load runs. */
export interface GatesContext {
  readonly environment: GatesEnvironment
  readonly load: GateWorkload
  readonly plan: ChaosPlan & { readonly runs: number; readonly keys: number }
}

const CANCELLED = 0.08
const ASKED = 0.02
const SLOW_RUNS = 6
/** All actions happen before this share of the load has started. */
const WHILE_UNDER_WAY = 0.8

/** Calls `act` `times` times, evenly spread over the load. */
async function spread(
  { environment, plan }: GatesContext,
  times: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const due = ((index + 1) / (times + 1)) * WHILE_UNDER_WAY * plan.runs
    await waitForAttempts(environment.traceLog, due)
    await act(index)
  }
}

/** Waits as long as attempts keep starting. */
async function waitForAttempts(traceLog: TraceLog, due: number): Promise<void> {
  for (let seen = traceLog.begun(); seen < due; seen = traceLog.begun()) {
    const what = `attempt ${seen + 1} to begin`
    await waitFor(() => traceLog.begun() > seen, { what, deadlineMs: RETRY_DEADLINE_MS })
  }
}

/** Kills servers; kills and freezes workers. */
export function injectGateFaults(context: GatesContext, faultContext: FaultContext): Promise<void> {
  const { environment, plan } = context
  return spread(context, plan.faults, async (index) => {
    if (index % 2 === 1)
      await killAndReplace(faultContext.seeded.pick(environment.servers), faultContext)
    else {
      const worker = faultContext.seeded.pick(environment.workers)
      await waitForSlowRuns(context, faultContext.seeded)
      if (index % 6 === 0) await freezeFor(worker, PAST_LEASE_TTL_MS, faultContext)
      else await killAndReplace(worker, faultContext)
    }
    const count = index + 1
    if (count % 10 === 0 || count === plan.faults) plan.report(`${count} of ${plan.faults} faults`)
  })
}

/** Killing a worker that holds no long run tests little. */
async function waitForSlowRuns(
  { environment: { traceLog }, load }: GatesContext,
  seeded: Seeded,
): Promise<void> {
  const { keys, cancelRequested } = load
  const first = seeded.int(keys.length)
  const own = [...keys.slice(first), ...keys.slice(0, first)].slice(0, SLOW_RUNS)
  const runs = await load.submit(own.map(slowRun))
  const isEnough = () => {
    const lingering = traceLog.running().filter(({ run }) => runs.includes(run))
    return lingering.length >= SLOW_RUNS / 2
  }
  // If the runs did not overlap, some have ended already: then there is nothing more to wait for.
  const isOver = () => {
    const begun = new Set(traceLog.lines().map(({ run }) => run))
    return runs.every((run) => begun.has(run) || cancelRequested.has(run))
  }
  await waitFor(() => isEnough() || isOver(), {
    what: 'some to be under way that take long',
    deadlineMs: RETRY_DEADLINE_MS,
  })
}

export function cancelSome(context: GatesContext): Promise<void> {
  const count = Math.round(context.plan.runs * CANCELLED)
  return spread(context, count, () => context.load.cancelOne())
}

/** Asks mostly about the latest runs, which are waiting for something. */
export async function sampleWhy(context: GatesContext, seeded: Seeded): Promise<WireWhy[]> {
  const answers: WireWhy[] = []
  await spread(context, Math.round(context.plan.runs * ASKED), async () => {
    const all = [...context.load.runSpecs.keys()]
    const run = seeded.pick(seeded.chance(0.7) ? all.slice(-context.plan.keys * 4) : all)
    const url = seeded.pick(context.environment.urls)
    const answer = await retryUntilAnswered('an answer to why', () =>
      askWhy(url, { token: CHAOS_TOKEN }, run),
    )
    if (answer) answers.push(answer)
  })
  return answers
}
