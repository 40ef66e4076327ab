import type { StepState } from '../../core/run/step-state.ts'
import type { Cause, FinalState } from '../../core/run/run-state.ts'
import type { AuditEntry } from './audit.ts'
import type { NewRun } from './tick.ts'

/**
 * Workflows: runs that consist of other runs. The job definition says which steps there are and
 * what they need; the store knows only the state of steps that were reached, and does not interpret
 * the definition.
 */
export interface WorkflowStore {
  /**
   * Takes ready runs out of lanes that workers do not claim from, in queue order. The runs are
   * then running without a lease until a transition ends them. Each is the next wave of its job, or
   * has the wave of the run it retries.
   */
  beginWorkflows(input: {
    node: number
    lanes: readonly number[]
    limit: number
  }): Promise<readonly WorkflowRecord[]>
  /**
   * Applies transitions, each only if the workflow still has the revision the transition was
   * decided on. So no step is started twice, however many nodes try. A transition that is `behind`
   * does not hold up the others of the batch.
   */
  advanceWorkflows(batch: WorkflowBatch): Promise<AdvanceResult>
  /**
   * Workflows that a node has to check: their check time has come, or a step ended more than
   * `olderThanMs` ago and no transition has processed that since.
   */
  dirtyWorkflows(input: {
    limit: number
    olderThanMs: number
  }): Promise<readonly WorkflowRevision[]>
  /** Those of these runs that have begun as workflows, ended or not, in no particular order. */
  findWorkflows(input: { runIds: readonly number[] }): Promise<readonly WorkflowRecord[]>
  /**
   * The known steps of a workflow, in order, after `after`. Read them after the workflow itself: if
   * a transition from that revision succeeds, only later signals can have been missed.
   */
  workflowSteps(input: {
    workflowId: number
    after: StepKey | null
    limit: number
  }): Promise<readonly StepRecord[]>
  /** How many steps of a workflow are in each state. Counts reached steps, not their items. */
  countSteps(input: { workflowId: number }): Promise<readonly StepCount[]>
  /** These steps themselves, without their items; only the ones that were reached. */
  stepsAt(input: { workflowId: number; steps: readonly number[] }): Promise<readonly StepRecord[]>
  /**
   * Reached steps from this one on, in order and without their items: all, or those in one state.
   */
  stepsFrom(input: {
    workflowId: number
    from: number
    state: StepState | null
    limit: number
  }): Promise<readonly StepRecord[]>
  /** How many items of these steps are in each state. */
  countItems(input: {
    workflowId: number
    steps: readonly number[]
  }): Promise<readonly (StepCount & { readonly step: number })[]>
  /** For each of these steps the first items that failed, at most `each`; by step, in order. */
  failedItems(input: {
    workflowId: number
    steps: readonly number[]
    each: number
  }): Promise<readonly StepRecord[]>
  /** The workflows these runs are steps of. A reused step belongs to several. */
  stepsOfRuns(input: {
    runIds: readonly number[]
  }): Promise<readonly (StepKey & { readonly workflowId: number; readonly runId: number })[]>
  /**
   * Results of these runs, for the ones that have ended and still exist, in no particular order.
   */
  resultsOf(input: { runIds: readonly number[] }): Promise<readonly RunResult[]>
}

/** A workflow at one moment: a transition applies to exactly this revision or not at all. */
export interface WorkflowRevision {
  readonly runId: number
  /** Grows with every transition, and when a cancel is requested. */
  readonly revision: number
}

export interface WorkflowRecord extends WorkflowRevision {
  readonly projectId: number
  readonly jobId: number
  readonly version: number | null
  /** Counted per job, from 1. */
  readonly wave: number
  /** The node that began the workflow or last applied a transition to it. */
  readonly node: number
  readonly beganAt: number
  readonly checkAt: number | null
  readonly cancelling: boolean
  readonly endedAt: number | null
  /** Priority order of its run, smaller first. */
  readonly rank: number
  readonly timeoutMs: number | null
  readonly retryOf: number | null
  readonly createdBy: number | null
  readonly policy: string | null
  readonly work: string | null
  readonly tags: string | null
  readonly input: string | null
}

/** `item`: -1 for the step itself, 0 and up for the items it fans out to. */
export interface StepKey {
  readonly step: number
  readonly item: number
}

/** The state to record for a step. */
export interface StepMark extends StepKey {
  readonly state: StepState
  /** The run of the step; a run of another workflow if the step was reused from there. */
  readonly runId: number | null
  /** Why the step was skipped or failed without a run. */
  readonly reason: string | null
  readonly message: string | null
  /** How many items it fans out to. */
  readonly count: number | null
  /** When the step changes state by itself. What wakes a node is the workflow's own `checkAt`. */
  readonly dueAt: number | null
  /** JSON text, opaque to the store. */
  readonly detail: string | null
}

export interface StepRecord extends StepMark {
  /** Its run has ended in this state, and no transition has processed that yet. */
  readonly isUnprocessed: boolean
  /** When the step was first recorded. */
  readonly startedAt: number
  readonly finishedAt: number | null
}

export interface StepCount {
  readonly state: StepState
  readonly count: number
}

export interface WorkflowBatch {
  readonly node: number
  readonly transitions: readonly WorkflowTransition[]
}

export interface WorkflowTransition extends WorkflowRevision {
  /** Ended steps that this transition takes into account. */
  readonly processed: readonly StepKey[]
  /** Steps to start, each with its run. The run of a step has no keys of its own. */
  readonly starts: readonly (StepKey & { readonly run: NewRun })[]
  /**
   * Steps whose state is recorded or changed. A step whose run is under way changes when that run
   * ends.
   */
  readonly marks: readonly StepMark[]
  /**
   * When a node has to check the workflow even without a signal. Set it soon while more can be done
   * at once: the node that would do it may die first. Null: only on the next signal.
   */
  readonly checkAt: number | null
  /** The workflow has ended, and its run ends like this. */
  readonly end: WorkflowOutcome | null
  /** Written if the transition is applied. */
  readonly audit?: AuditEntry | undefined
}

export interface WorkflowOutcome {
  readonly state: FinalState
  readonly cause: Cause | null
  readonly message: string | null
  readonly result: string | null
}

export interface AdvanceResult {
  /** The store's clock. */
  readonly now: number
  /** `behind`: the workflow has another revision, or has ended. Read it again. */
  readonly verdicts: readonly ('advanced' | 'behind')[]
  /** Runs of steps that went to the sessions reserved for them. */
  readonly started: readonly number[]
  /** Lanes that received ready runs. */
  readonly lanes: readonly number[]
  /** When the earliest timer row written falls due, if any was. */
  readonly nextDueAt: number | null
  /** Signals for runs and workflows that waited for the workflows that ended. */
  readonly signals: readonly Signal[]
}

/**
 * A change that other components must learn of once the transaction is durable. It is reported once, to
 * the node that caused it. A node that must not miss one also looks for dirty workflows and open
 * follow-ups, and rechecks blocked runs.
 *
 * `step`: the run of a step has ended. `cancel`: a cancel of the workflow was requested. `need`: a
 * run that this run starts after has ended, or had ended when this run was submitted; `recheck`
 * decides what follows. `followed`: this run has ended, and other jobs are to run after it.
 */
export type Signal =
  | (StepKey & { readonly kind: 'step'; readonly workflowId: number; readonly state: FinalState })
  | { readonly kind: 'cancel'; readonly workflowId: number }
  | { readonly kind: 'need'; readonly runId: number }
  | { readonly kind: 'followed'; readonly runId: number }

export interface RunResult {
  readonly runId: number
  readonly state: FinalState
  readonly result: string | null
}
