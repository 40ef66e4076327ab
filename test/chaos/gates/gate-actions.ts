import type { WireWhy } from '../../../src/core/wire/views.ts'
import type { Seeded } from '../../sim/seeded.ts'
import { askWhy } from '../../support/fetch-why.ts'
import { waitFor } from '../../support/wait-for.ts'
import { freezeFor, killAndReplace, PAST_LEASE_TTL_MS, type Striker } from '../faults.ts'
import { TOKEN } from '../server-processes.ts'
import type { Plan } from '../scenario.ts'
import type { Crowd } from './gate-workload.ts'
import { lingerer } from './run-spec.ts'
import type { GatesStage } from './gates-environment.ts'
import { insist, STUCK_MS } from './retry-until-answered.ts'
import type { Truth } from './trace-log.ts'

/** What is done to a crowd while it passes. */
export interface Scene {
  readonly stage: GatesStage
  readonly crowd: Crowd
  readonly plan: Plan & { readonly runs: number; readonly keys: number }
}

const CANCELLED = 0.08
const ASKED = 0.02
const LINGERERS = 6
/** Everything that is done to the crowd is done before so much of it has begun. */
const WHILE_UNDER_WAY = 0.8

/** Calls back so many times, evenly over the time in which the crowd passes. */
async function spread(
  { stage, plan }: Scene,
  times: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const due = ((index + 1) / (times + 1)) * WHILE_UNDER_WAY * plan.runs
    await untilBegun(stage.truth, due)
    await act(index)
  }
}

/** Takes its time, as long as there is progress. */
async function untilBegun(truth: Truth, due: number): Promise<void> {
  for (let seen = truth.begun(); seen < due; seen = truth.begun()) {
    const what = `attempt ${seen + 1} to begin`
    await waitFor(() => truth.begun() > seen, { what, deadlineMs: STUCK_MS })
  }
}

/** Servers are killed, workers are killed and frozen. */
export function torment(scene: Scene, striker: Striker): Promise<void> {
  const { stage, plan } = scene
  return spread(scene, plan.faults, async (index) => {
    if (index % 2 === 1) await killAndReplace(striker.seeded.pick(stage.servers), striker)
    else {
      const worker = striker.seeded.pick(stage.workers)
      await untilSomeLinger(scene, striker.seeded)
      if (index % 6 === 0) await freezeFor(worker, PAST_LEASE_TTL_MS, striker)
      else await killAndReplace(worker, striker)
    }
    const count = index + 1
    if (count % 10 === 0 || count === plan.faults) plan.say(`${count} of ${plan.faults} faults`)
  })
}

/** A worker that holds nothing that lasts proves little when it is gone. */
async function untilSomeLinger({ stage: { truth }, crowd }: Scene, seeded: Seeded): Promise<void> {
  const { keys, doomed } = crowd
  const first = seeded.int(keys.length)
  const own = [...keys.slice(first), ...keys.slice(0, first)].slice(0, LINGERERS)
  const runs = await crowd.submit(own.map(lingerer))
  const isEnough = () => {
    const lingering = truth.underWay().filter(({ run }) => runs.includes(run))
    return lingering.length >= LINGERERS / 2
  }
  // Too late for some, if they came one after the other: then there is nothing more to wait for.
  const isOver = () => {
    const begun = new Set(truth.lines().map(({ run }) => run))
    return runs.every((run) => begun.has(run) || doomed.has(run))
  }
  await waitFor(() => isEnough() || isOver(), {
    ...{ what: 'some to be under way that take long', deadlineMs: STUCK_MS },
  })
}

export function cancelSome(scene: Scene): Promise<void> {
  const count = Math.round(scene.plan.runs * CANCELLED)
  return spread(scene, count, () => scene.crowd.cancelOne())
}

/** Mostly those who came last: they wait for something. */
export async function askAround(scene: Scene, seeded: Seeded): Promise<WireWhy[]> {
  const answers: WireWhy[] = []
  await spread(scene, Math.round(scene.plan.runs * ASKED), async () => {
    const all = [...scene.crowd.errands.keys()]
    const run = seeded.pick(seeded.chance(0.7) ? all.slice(-scene.plan.keys * 4) : all)
    const url = seeded.pick(scene.stage.urls)
    const answer = await insist('an answer to why', () => askWhy(url, { token: TOKEN }, run))
    if (answer) answers.push(answer)
  })
  return answers
}
