import type { Database } from 'better-sqlite3'
import type { WorkflowBatch, WorkflowTransition, Store } from '../../../src/store/port.ts'
import type { WorkflowBug } from './workflow-world.ts'

/** The same store with some verbs replaced. */
function withStoreMethods(original: Store, methods: Partial<Store>): Store {
  return new Proxy(original, {
    get: (target, verb: string) =>
      (methods as Record<string, unknown>)[verb] ?? (Reflect.get(target, verb) as unknown),
  })
}

const withTransitions = (
  batch: WorkflowBatch,
  change: (move: WorkflowTransition) => WorkflowTransition,
): WorkflowBatch => ({
  ...batch,
  transitions: batch.transitions.map(change),
})

/** Historic bugs of workflow engines. Each is planted from outside, so the product contains none of them. */
export const WORKFLOW_BUGS: readonly WorkflowBug[] = [
  {
    name: 'a transition applies to any revision',
    store(original, db) {
      const revision = db.prepare<[number], number>('SELECT revision FROM flow WHERE run_id = ?')
      const forget = db.prepare('DELETE FROM step WHERE flow_id = ? AND step = ? AND item = ?')
      return withStoreMethods(original, {
        advanceWorkflows(batch) {
          for (const { runId, starts } of batch.transitions) {
            for (const { step, item } of starts) forget.run(runId, step, item)
          }
          return original.advanceWorkflows(
            withTransitions(batch, (move) => ({
              ...move,
              revision: revision.pluck().get(move.runId) ?? move.revision,
            })),
          )
        },
      })
    },
  },
  {
    name: 'missed signals are never looked up',
    store: (original) => withStoreMethods(original, { dirtyWorkflows: async () => [] }),
  },
  {
    name: 'a running step counts as done when it is reloaded',
    store: (original) =>
      withStoreMethods(original, {
        workflowSteps: async (input) =>
          (await original.workflowSteps(input)).map((step) =>
            step.state === 'running' && step.runId !== null
              ? { ...step, state: 'succeeded' as const }
              : step,
          ),
      }),
  },
  {
    name: 'a skipped step counts as done when it is reloaded',
    store: (original) =>
      withStoreMethods(original, {
        workflowSteps: async (input) =>
          (await original.workflowSteps(input)).map((step) =>
            step.reason === 'needs' ? { ...step, reason: 'condition' } : step,
          ),
      }),
  },
  {
    name: 'a retry bypasses the gate',
    store: (original) =>
      withStoreMethods(original, {
        tick: (batch) => {
          const submits = batch.submits.map((run) =>
            run.retryOf === null ? run : { ...run, gates: [] },
          )
          return original.tick({ ...batch, submits })
        },
      }),
  },
  {
    name: 'a retry is a wave of its own',
    store(original, db) {
      const count = db.prepare(`
        UPDATE flow SET wave = (SELECT max(wave) + 1 FROM flow other WHERE other.job_id = flow.job_id)
         WHERE run_id = ?`)
      return withStoreMethods(original, {
        async beginWorkflows(input) {
          const begun = await original.beginWorkflows(input)
          for (const { runId, retryOf } of begun) if (retryOf !== null) count.run(runId)
          return begun
        },
      })
    },
  },
  {
    name: 'a retry forgets succeeded steps',
    store: (original, db) => {
      const isOver = db
        .prepare<[number], number>('SELECT ended_at IS NOT NULL FROM flow WHERE run_id = ?')
        .pluck()
      return withStoreMethods(original, {
        workflowSteps: async (input) =>
          isOver.get(input.workflowId) === 1 ? [] : original.workflowSteps(input),
      })
    },
  },
  {
    name: 'a workflow ends with its last approval',
    store: (original, db) => {
      const open = db.prepare<[number], number>(
        'SELECT count(*) FROM step WHERE flow_id = ? AND state IN (1, 3)',
      )
      return withStoreMethods(original, {
        advanceWorkflows: (batch) =>
          original.advanceWorkflows(
            withTransitions(batch, (move) => {
              const isIdle = move.starts.length === 0 && open.pluck().get(move.runId) === 1
              const end = { state: 'succeeded', cause: null, message: null, result: null } as const
              return isIdle && !move.end ? { ...move, end } : move
            }),
          ),
      })
    },
  },
  {
    name: 'a follower waits only for the first of its runs',
    store(original, db) {
      const forget = db.prepare(`
        DELETE FROM need WHERE EXISTS (SELECT 1 FROM need other
         WHERE other.run_id = need.run_id AND other.needed_id < need.needed_id)`)
      return withStoreMethods(original, {
        recheck(input) {
          forget.run()
          return original.recheck(input)
        },
      })
    },
  },
  {
    name: 'a follower of a run that has just ended waits forever',
    store: withoutNeedSignals,
  },
]

/** Neither the arrival of a run nor a later check evaluates the runs it waits for. */
function withoutNeedSignals(original: Store, db: Database): Store {
  const forget = db.prepare('UPDATE run SET recheck_at = NULL WHERE status = 3 AND gate_id IS NULL')
  return withStoreMethods(original, {
    async tick(batch) {
      const result = await original.tick(batch)
      forget.run()
      return { ...result, signals: result.signals.filter(({ kind }) => kind !== 'need') }
    },
  })
}
