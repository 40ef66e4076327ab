import type { Seeded } from '../../sim/seeded.ts'
import { waitFor } from '../../support/wait-for.ts'
import { drawErrand, submissionOf, type Errand } from './run-spec.ts'
import type { GatesStage } from './gates-environment.ts'
import { insist, STUCK_MS } from './retry-until-answered.ts'

/** Who wants through the gates: submitted bit by bit, and cancelled here and there. */
export interface Crowd {
  readonly keys: readonly string[]
  readonly errands: ReadonlyMap<string, Errand>
  readonly doomed: ReadonlySet<string>
  /** These errands, whatever it takes; says which runs they became. */
  submit(errands: readonly Errand[]): Promise<readonly string[]>
  /** Draws and submits until there are so many, a few more whenever few are left to begin. */
  feed(total: number): Promise<void>
  /** One that runs, or one of those that came last. */
  cancelOne(): Promise<void>
}

const MOST_AT_ONCE = 40
/** For every key so many wait at most: some gates are taken when a run comes in, and some are free. */
const WAITING_PER_KEY = 4
const IN_THE_ACT = 0.5

export function gatherCrowd(stage: GatesStage, seeded: Seeded, keyCount: number): Crowd {
  const { client, traces, truth } = stage
  const keys = Array.from({ length: keyCount }, (_, index) => `key-${index + 1}`)
  const errands = new Map<string, Errand>()
  const doomed = new Set<string>()
  let submitted = 0

  const submit = async (some: readonly Errand[]) => {
    const submissions = some.map((errand) => {
      submitted += 1
      return submissionOf(errand, `errand-${submitted}`, traces)
    })
    const answers = (await insist('a submission', () => client.submit(submissions))) ?? []
    for (const [index, { id }] of answers.entries()) errands.set(id, some[index] as Errand)
    return answers.map(({ id }) => id)
  }

  return {
    ...{ keys, errands, doomed, submit },

    async feed(total) {
      while (errands.size < total) {
        await waitFor(() => errands.size - truth.begun() < keyCount * WAITING_PER_KEY, {
          ...{ what: 'the crowd to pass', deadlineMs: STUCK_MS },
        })
        const count = Math.min(seeded.between(1, MOST_AT_ONCE), total - errands.size)
        await submit(Array.from({ length: count }, () => drawErrand(seeded, keys)))
      }
    },

    async cancelOne() {
      const running = seeded.chance(IN_THE_ACT) ? truth.underWay().map(({ run }) => run) : []
      const latest = [...errands.keys()].slice(-keyCount * WAITING_PER_KEY)
      const run = seeded.pick(running.length > 0 ? running : latest)
      doomed.add(run)
      await insist('a cancel', () => client.cancel(run))
    },
  }
}
