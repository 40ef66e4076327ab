import type { Seeded } from '../../sim/seeded.ts'
import { waitFor } from '../../support/wait-for.ts'
import { TOKEN } from '../server-processes.ts'
import type { Database } from '../databases.ts'
import type { GatesStage } from '../gates/gates-environment.ts'
import { insist, STUCK_MS } from '../gates/retry-until-answered.ts'
import { errandOf, type ToldWorkflow } from './draw-definitions.ts'
import type { Need } from './follower-invariants.ts'
import { readLine, type ToldLine, underWay } from './step-trace-lines.ts'

/** Workflows that are submitted bit by bit, and people who interfere. */
export interface FlowCrowd {
  /** Those that were acknowledged, in order. */
  readonly flows: readonly string[]
  readonly followers: ReadonlyMap<string, readonly Need[]>
  lines(): ToldLine[]
  define(): Promise<void>
  /** Submits until there are so many, some more whenever few are open. */
  feed(total: number): Promise<void>
  /** A run after one that is about to end, and perhaps after others. */
  follow(): Promise<void>
  cancelOne(): Promise<void>
  /** What failed of one that did, again. */
  retryOne(): Promise<void>
}

const MOST_OPEN = 40

export function gatherFlows(
  stage: GatesStage,
  database: Database,
  workflows: readonly ToldWorkflow[],
  seeded: Seeded,
): FlowCrowd {
  const { client, urls, traces, truth } = stage
  const flows: string[] = []
  const followers = new Map<string, readonly Need[]>()
  const lines = () => truth.lines().map(readLine)
  let asked = 0
  const nextKey = () => `key-${(asked += 1)}`

  return {
    ...{ flows, followers, lines },

    async define() {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
      for (const { name, definition } of workflows) {
        const body = JSON.stringify(definition)
        const url = `${urls[0]}/v1/jobs/${name}`
        const answer = await fetch(url, { method: 'PUT', headers, body })
        if (!answer.ok) throw new Error(`no ${name}: ${answer.status} ${await answer.text()}`)
      }
    },

    async feed(total) {
      const isRoom = async () => (await database.unfinished()) < MOST_OPEN
      while (flows.length < total) {
        await waitFor(isRoom, {
          ...{ what: 'some of them to end', deadlineMs: STUCK_MS, intervalMs: 50 },
        })
        const { name: job } = seeded.pick(workflows)
        const submission = { job, idempotencyKey: nextKey() }
        const answers = await insist('a submission', () => client.submit([submission]))
        for (const { id } of answers ?? []) flows.push(id)
      }
    },

    async follow() {
      const ending = underWay(lines()).slice(-2)
      const own = ending.map(({ run }): Need => ({ run, on: seeded.pick(['ok', 'any', 'notok']) }))
      const flow = seeded.pick(flows.slice(-10))
      const isWithFlow = own.length === 0 || seeded.chance(0.4)
      const after = isWithFlow ? [...own, { run: flow, on: 'any' as const }] : own
      const work = errandOf(traces.truthPath, 5)
      const submission = { job: 'errand', work, after, idempotencyKey: nextKey() }
      const answers = await insist('a run after others', () => client.submit([submission]))
      for (const { id } of answers ?? []) followers.set(id, after)
    },

    async cancelOne() {
      const busy = underWay(lines()).flatMap(({ place }) => (place ? [place.flow] : []))
      const flow = seeded.pick(busy.length > 0 ? busy : flows.slice(-10))
      await insist('a cancel', () => client.cancel(flow))
    },

    async retryOne() {
      const key = nextKey()
      const candidates = flows.slice(-30)
      for (const flow of candidates) {
        const { state } = (await insist('a look', () => client.getRun(flow))) ?? {}
        if (state !== 'failed' && state !== 'cancelled') continue
        const again = () => client.retry(flow, key, { only: 'failed' })
        const answer = await insist('a retry', again)
        if (answer) flows.push(answer.id)
        return
      }
    },
  }
}
