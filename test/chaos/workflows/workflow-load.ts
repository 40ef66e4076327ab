import type { Seeded } from '../../sim/seeded.ts'
import { waitFor } from '../../support/wait-for.ts'
import { CHAOS_TOKEN } from '../server-processes.ts'
import type { ChaosDatabase } from '../databases.ts'
import type { GatesEnvironment } from '../gates/gates-environment.ts'
import { retryUntilAnswered, RETRY_DEADLINE_MS } from '../gates/retry-until-answered.ts'
import { stepWorkOf, type TracedWorkflow } from './draw-definitions.ts'
import type { FollowerNeed } from './follower-invariants.ts'
import { readStepLine, type StepTraceLine, running } from './step-trace-lines.ts'

/** Workflow runs submitted in small batches, with cancels and retries. */
export interface WorkflowLoad {
  /** Acknowledged workflow runs, in order. */
  readonly workflowRuns: readonly string[]
  readonly followers: ReadonlyMap<string, readonly FollowerNeed[]>
  lines(): StepTraceLine[]
  define(): Promise<void>
  /** Submits up to a total, some more whenever few are open. */
  feed(total: number): Promise<void>
  /** Submits a run that follows a run about to end, and perhaps others. */
  follow(): Promise<void>
  cancelOne(): Promise<void>
  /** Retries the failed steps of a failed workflow run. */
  retryOne(): Promise<void>
}

const MAX_OPEN = 40

export function createWorkflowLoad(
  environment: GatesEnvironment,
  database: ChaosDatabase,
  workflows: readonly TracedWorkflow[],
  seeded: Seeded,
): WorkflowLoad {
  const { client, urls, traces, traceLog } = environment
  const workflowRuns: string[] = []
  const followers = new Map<string, readonly FollowerNeed[]>()
  const lines = () => traceLog.lines().map(readStepLine)
  let asked = 0
  const nextKey = () => `key-${(asked += 1)}`

  return {
    workflowRuns,
    followers,
    lines,

    async define() {
      const headers = { authorization: `Bearer ${CHAOS_TOKEN}`, 'content-type': 'application/json' }
      for (const { name, definition } of workflows) {
        const body = JSON.stringify(definition)
        const url = `${urls[0]}/v1/jobs/${name}`
        const answer = await fetch(url, { method: 'PUT', headers, body })
        if (!answer.ok) throw new Error(`no ${name}: ${answer.status} ${await answer.text()}`)
      }
    },

    async feed(total) {
      const isRoom = async () => (await database.unfinished()) < MAX_OPEN
      while (workflowRuns.length < total) {
        await waitFor(isRoom, {
          what: 'some of them to end',
          deadlineMs: RETRY_DEADLINE_MS,
          intervalMs: 50,
        })
        const { name: job } = seeded.pick(workflows)
        const submission = { job, idempotencyKey: nextKey() }
        const answers = await retryUntilAnswered('a submission', () => client.submit([submission]))
        for (const { id } of answers ?? []) workflowRuns.push(id)
      }
    },

    async follow() {
      const ending = running(lines()).slice(-2)
      const own = ending.map(({ run }): FollowerNeed => ({
        run,
        on: seeded.pick(['ok', 'any', 'notok']),
      }))
      const workflow = seeded.pick(workflowRuns.slice(-10))
      const isWithWorkflow = own.length === 0 || seeded.chance(0.4)
      const after = isWithWorkflow ? [...own, { run: workflow, on: 'any' as const }] : own
      const work = stepWorkOf(traces.truthPath, 5)
      const submission = { job: 'follower', work, after, idempotencyKey: nextKey() }
      const answers = await retryUntilAnswered('a run after others', () =>
        client.submit([submission]),
      )
      for (const { id } of answers ?? []) followers.set(id, after)
    },

    async cancelOne() {
      const busy = running(lines()).flatMap(({ place }) => (place ? [place.workflow] : []))
      const workflow = seeded.pick(busy.length > 0 ? busy : workflowRuns.slice(-10))
      await retryUntilAnswered('a cancel', () => client.cancel(workflow))
    },

    async retryOne() {
      const key = nextKey()
      const candidates = workflowRuns.slice(-30)
      for (const workflow of candidates) {
        const { state } = (await retryUntilAnswered('a look', () => client.getRun(workflow))) ?? {}
        if (state !== 'failed' && state !== 'cancelled') continue
        const again = () => client.retry(workflow, key, { only: 'failed' })
        const answer = await retryUntilAnswered('a retry', again)
        if (answer) workflowRuns.push(answer.id)
        return
      }
    },
  }
}
