import type { Database } from 'better-sqlite3'
import type { FlowBatch, FlowMove, Store } from '../../../src/store/port.ts'
import type { FlowBug } from './workflow-world.ts'

/** The same store with some verbs replaced. */
function withVerbs(honest: Store, verbs: Partial<Store>): Store {
  return new Proxy(honest, {
    get: (target, verb: string) =>
      (verbs as Record<string, unknown>)[verb] ?? (Reflect.get(target, verb) as unknown),
  })
}

const withMoves = (batch: FlowBatch, change: (move: FlowMove) => FlowMove): FlowBatch => ({
  ...batch,
  moves: batch.moves.map(change),
})

/** Where engines of workflows went wrong, each planted from outside so that the product carries none of it. */
export const FLOW_BUGS: readonly FlowBug[] = [
  {
    name: 'a move is made from wherever the flow is',
    store(honest, db) {
      const revision = db.prepare<[number], number>('SELECT revision FROM flow WHERE run_id = ?')
      const forget = db.prepare('DELETE FROM step WHERE flow_id = ? AND step = ? AND item = ?')
      return withVerbs(honest, {
        advanceFlows(batch) {
          for (const { runId, starts } of batch.moves) {
            for (const { step, item } of starts) forget.run(runId, step, item)
          }
          return honest.advanceFlows(
            withMoves(batch, (move) => ({
              ...move,
              revision: revision.pluck().get(move.runId) ?? move.revision,
            })),
          )
        },
      })
    },
  },
  {
    name: 'news that were not heard are never looked for',
    store: (honest) => withVerbs(honest, { restlessFlows: async () => [] }),
  },
  {
    name: 'what runs counts as done for who reads it again',
    store: (honest) =>
      withVerbs(honest, {
        flowSteps: async (input) =>
          (await honest.flowSteps(input)).map((step) =>
            step.state === 'running' && step.runId !== null
              ? { ...step, state: 'succeeded' as const }
              : step,
          ),
      }),
  },
  {
    name: 'who was left out counts as done for who reads it again',
    store: (honest) =>
      withVerbs(honest, {
        flowSteps: async (input) =>
          (await honest.flowSteps(input)).map((step) =>
            step.reason === 'needs' ? { ...step, reason: 'condition' } : step,
          ),
      }),
  },
  {
    name: 'a repetition passes beside the gate',
    store: (honest) =>
      withVerbs(honest, {
        tick: (batch) => {
          const submits = batch.submits.map((run) =>
            run.retryOf === null ? run : { ...run, gates: [] },
          )
          return honest.tick({ ...batch, submits })
        },
      }),
  },
  {
    name: 'a repetition is a wave of its own',
    store(honest, db) {
      const count = db.prepare(`
        UPDATE flow SET wave = (SELECT max(wave) + 1 FROM flow other WHERE other.job_id = flow.job_id)
         WHERE run_id = ?`)
      return withVerbs(honest, {
        async beginFlows(input) {
          const begun = await honest.beginFlows(input)
          for (const { runId, retryOf } of begun) if (retryOf !== null) count.run(runId)
          return begun
        },
      })
    },
  },
  {
    name: 'a repetition forgets what was done',
    store: (honest, db) => {
      const isOver = db
        .prepare<[number], number>('SELECT ended_at IS NOT NULL FROM flow WHERE run_id = ?')
        .pluck()
      return withVerbs(honest, {
        flowSteps: async (input) => (isOver.get(input.flowId) === 1 ? [] : honest.flowSteps(input)),
      })
    },
  },
  {
    name: 'a flow ends with the last step that is asked about',
    store: (honest, db) => {
      const open = db.prepare<[number], number>(
        'SELECT count(*) FROM step WHERE flow_id = ? AND state IN (1, 3)',
      )
      return withVerbs(honest, {
        advanceFlows: (batch) =>
          honest.advanceFlows(
            withMoves(batch, (move) => {
              const isIdle = move.starts.length === 0 && open.pluck().get(move.runId) === 1
              const end = { state: 'succeeded', cause: null, message: null, result: null } as const
              return isIdle && !move.end ? { ...move, end } : move
            }),
          ),
      })
    },
  },
  {
    name: 'a run follows the first of those it should',
    store(honest, db) {
      const forget = db.prepare(`
        DELETE FROM need WHERE EXISTS (SELECT 1 FROM need other
         WHERE other.run_id = need.run_id AND other.needed_id < need.needed_id)`)
      return withVerbs(honest, {
        recheck(input) {
          forget.run()
          return honest.recheck(input)
        },
      })
    },
  },
  {
    name: 'who comes after what has just ended waits for it',
    store: forgetful,
  },
]

/** Neither its coming nor a later look says what has become of what it waits for. */
function forgetful(honest: Store, db: Database): Store {
  const forget = db.prepare('UPDATE run SET recheck_at = NULL WHERE status = 3 AND gate_id IS NULL')
  return withVerbs(honest, {
    async tick(batch) {
      const result = await honest.tick(batch)
      forget.run()
      return { ...result, news: result.news.filter(({ kind }) => kind !== 'need') }
    },
  })
}
