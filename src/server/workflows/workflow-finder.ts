import type { WorkflowStore } from '../../store/port.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { giveUp, stopSteps, type StopStepsDeps } from './give-up.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'
import { type LoadDeps, loadWorkflows, type UnreadableWorkflow } from './load-workflows.ts'
import type { RefusedWorkflows } from './refused-workflows.ts'
import type { StepRequests } from './step-requests.ts'
import type { TransitionWriter } from './transition-writer.ts'
import type { WorkflowAgenda } from './workflow-agenda.ts'

/** Workflows that are begun or read at once. */
const AT_ONCE = 50
const MAX_DIRTY = 200

export interface WorkflowFinderDeps extends LoadDeps, StopStepsDeps {
  readonly store: LoadDeps['store'] &
    StopStepsDeps['store'] &
    Pick<WorkflowStore, 'beginWorkflows' | 'dirtyWorkflows' | 'findWorkflows'>
  readonly laneIndex: Pick<LaneIndex, 'lanes' | 'get'>
  node(): number
  storeNow(): number
  readonly signals: NodeSignals
}

/** Brings workflows with something to do into memory. */
export interface WorkflowFinder {
  /** From time to time: finds workflows whose signals no node has answered. */
  sweep(): Promise<void>
  /** Begins workflow runs that wait in their lanes. */
  begin(): Promise<void>
  /** Reads some workflows that are not in memory. */
  read(): Promise<void>
}

export function createWorkflowFinder(
  parts: {
    readonly agenda: WorkflowAgenda
    readonly requests: StepRequests
    readonly refusals: RefusedWorkflows
    readonly writer: Pick<TransitionWriter, 'write'>
  },
  deps: WorkflowFinderDeps,
): WorkflowFinder {
  const { agenda, requests, refusals, writer } = parts
  const { cache, toRead, toBegin } = agenda
  const { store, laneIndex, onError } = deps

  /** Ends a workflow that cannot continue. */
  const end = async (workflow: UnreadableWorkflow): Promise<void> => {
    try {
      await stopSteps(workflow, deps)
    } catch (error) {
      return onError(error)
    }
    await writer.write([{ workflow, made: giveUp(workflow) }])
  }

  const take = async (found: readonly (LoadedWorkflow | UnreadableWorkflow)[]): Promise<void> => {
    const unrecoverable: UnreadableWorkflow[] = []
    for (const workflow of found) {
      const { record } = workflow
      const problem = 'problem' in workflow ? workflow.problem : refusals.problemOf(record.runId)
      if (problem !== undefined) unrecoverable.push({ record, problem })
      else if (!('problem' in workflow)) cache.put(workflow)
    }
    for (const workflow of unrecoverable) await end(workflow)
  }

  /** A workflow that cannot be read now is found again by the next sweep. */
  const load = async (records: Parameters<typeof loadWorkflows>[0], isNew: boolean) => {
    try {
      return await loadWorkflows(records, isNew, deps)
    } catch (error) {
      onError(error)
      return []
    }
  }

  return {
    async begin() {
      const lanes = [...toBegin].filter((laneId) => !laneIndex.get(laneId)?.isPaused)
      toBegin.clear()
      if (lanes.length === 0) return
      const begun = await store.beginWorkflows({ node: deps.node(), lanes, limit: AT_ONCE })
      // There may be more; this lane is asked again before any other new work.
      if (begun.length === AT_ONCE) for (const laneId of lanes) toBegin.add(laneId)
      deps.signals.runsChanged(begun.map(({ runId }) => runId))
      await take(await load(begun, true))
    },

    async read() {
      const runIds = [...toRead].slice(0, AT_ONCE)
      if (runIds.length === 0) return
      for (const runId of runIds) toRead.delete(runId)
      const records = await store.findWorkflows({ runIds })
      const open = records.filter(({ endedAt }) => endedAt === null)
      const gone = new Set(runIds)
      for (const { runId } of open) gone.delete(runId)
      for (const runId of gone) requests.refuse(runId)
      await take(await load(open, false))
    },

    async sweep() {
      const now = deps.storeNow()
      if (!agenda.sweep.start()) return
      for (const { id } of laneIndex.lanes()) if (laneIndex.get(id)?.isWorkflow) toBegin.add(id)
      // Only this node knows of these: they may have neither a signal nor a check time.
      for (const runId of requests.workflows()) agenda.markDirty(runId)
      const { olderThanMs } = agenda.sweep
      const places = await store.dirtyWorkflows({ limit: MAX_DIRTY, olderThanMs })
      agenda.sweep.answered()
      for (const place of places) {
        if (!refusals.isBackingOff(place.runId)) noteUnanswered(place, now, agenda)
      }
    },
  }
}

/** A workflow that the store lists as dirty. */
function noteUnanswered(
  { runId, revision }: { readonly runId: number; readonly revision: number },
  now: number,
  { cache, reread }: WorkflowAgenda,
): void {
  const workflow = cache.get(runId)
  const isUpToDate = workflow?.revision === revision
  // The workflow in memory is the one the store lists: it is due if its check time has come. If the
  // store has another revision, or lists a workflow that has nothing to do here, it is read again.
  if (isUpToDate && workflow.checkAt !== null && workflow.checkAt <= now) cache.markDirty(runId)
  else if (!isUpToDate || !cache.isDirty(runId)) reread(runId)
}
