import type { StepState } from '../../core/run/step-state.ts'
import type { Cause, FinalState } from '../../core/run/run-state.ts'
import type { AuditEntry } from './audit.ts'
import type { NewRun } from './tick.ts'

/**
 * Runs that consist of other runs. Which steps there are and what they need, their job's definition
 * says; the store knows only what has become of those that were reached, and never looks further.
 */
export interface FlowStore {
  /**
   * Takes ready runs out of lanes that no worker claims from, first in line first: from now on they
   * are running, by nobody's lease, until a move ends them. Each is the next wave of its job, or that
   * of the run it repeats.
   */
  beginFlows(input: {
    node: number
    lanes: readonly number[]
    limit: number
  }): Promise<readonly FlowRecord[]>
  /**
   * Goes on with flows, each only if it is as it was when that was decided: so no step is started
   * twice, whoever tries and however often. The others of the batch are not held up by one that is behind.
   */
  advanceFlows(batch: FlowBatch): Promise<FlowAdvance>
  /**
   * Flows that somebody has to look at: their time has come, or a step of theirs ended more than
   * `olderThanMs` ago and nobody has gone on since.
   */
  restlessFlows(input: { limit: number; olderThanMs: number }): Promise<readonly FlowPlace[]>
  /** Those of these runs that have begun as flows, ended or not, in no particular order. */
  findFlows(input: { runIds: readonly number[] }): Promise<readonly FlowRecord[]>
  /**
   * What is known of the steps of a flow, in order, behind `after`. Read after the flow itself: if a
   * move of that revision succeeds, nothing but further news can have been missed.
   */
  flowSteps(input: {
    flowId: number
    after: StepKey | null
    limit: number
  }): Promise<readonly StepRecord[]>
  /** How many steps of a flow are in which state: of those that were reached, and not of their items. */
  countSteps(input: { flowId: number }): Promise<readonly StepCount[]>
  /** What is known of these steps themselves, not of their items, in no particular order. */
  stepsAt(input: { flowId: number; steps: readonly number[] }): Promise<readonly StepRecord[]>
  /** Steps that were reached, from this one on, in order and without their items: all, or those in one state. */
  stepsFrom(input: {
    flowId: number
    from: number
    state: StepState | null
    limit: number
  }): Promise<readonly StepRecord[]>
  /** How many items of these steps are in which state. */
  countItems(input: {
    flowId: number
    steps: readonly number[]
  }): Promise<readonly (StepCount & { readonly step: number })[]>
  /** Of each of these steps the first items that failed, at most `each`; by step, in order. */
  failedItems(input: {
    flowId: number
    steps: readonly number[]
    each: number
  }): Promise<readonly StepRecord[]>
  /** Of which flows these runs are steps. A step that was taken over belongs to several. */
  stepsOfRuns(input: {
    runIds: readonly number[]
  }): Promise<readonly (StepKey & { readonly flowId: number; readonly runId: number })[]>
  /** What came of these runs, as far as they have ended and are still there, in no particular order. */
  resultsOf(input: { runIds: readonly number[] }): Promise<readonly RunResult[]>
}

/** A flow at one moment: a move is made from here, or not at all. */
export interface FlowPlace {
  readonly runId: number
  /** Grows with every move, and when it is to be cancelled. */
  readonly revision: number
}

export interface FlowRecord extends FlowPlace {
  readonly projectId: number
  readonly jobId: number
  readonly version: number | null
  /** Counted by job, from 1. */
  readonly wave: number
  /** The node that began it or went on with it last. */
  readonly node: number
  readonly beganAt: number
  readonly lookAt: number | null
  readonly cancelling: boolean
  readonly endedAt: number | null
  /** Of its run. */
  readonly rank: number
  readonly timeoutMs: number | null
  readonly retryOf: number | null
  readonly createdBy: number | null
  readonly policy: string | null
  readonly work: string | null
  readonly tags: string | null
  readonly input: string | null
}

/** `item`: -1 for the step itself, from 0 on for what it fans out to. */
export interface StepKey {
  readonly step: number
  readonly item: number
}

/** What may be said of a step. */
export interface StepMark extends StepKey {
  readonly state: StepState
  /** The run of it; of another flow if it was taken over from there. */
  readonly runId: number | null
  /** Why it was skipped or failed without a run. */
  readonly reason: string | null
  readonly message: string | null
  /** How many it fans out to. */
  readonly count: number | null
  /** When something becomes of it by itself. The flow's own `lookAt` is what wakes anybody. */
  readonly dueAt: number | null
  /** JSON text, never looked into. */
  readonly detail: string | null
}

export interface StepRecord extends StepMark {
  /** Its run has ended in this state, and no move has heard it yet. */
  readonly isNews: boolean
  /** When it was first written down. */
  readonly startedAt: number
  readonly finishedAt: number | null
}

export interface StepCount {
  readonly state: StepState
  readonly count: number
}

export interface FlowBatch {
  readonly node: number
  readonly moves: readonly FlowMove[]
}

export interface FlowMove extends FlowPlace {
  /** News that this move is an answer to. */
  readonly heard: readonly StepKey[]
  /** Steps that begin, each with its run. A run of a step has no keys of its own. */
  readonly starts: readonly (StepKey & { readonly run: NewRun })[]
  /** Steps about which something is to be written down, or changed. One whose run is under way ends with that. */
  readonly marks: readonly StepMark[]
  /**
   * When somebody has to look again even if nothing is heard. Soon, while there is more to do at once:
   * whoever does it may be gone before. Null: when there are news.
   */
  readonly lookAt: number | null
  /** The flow is over, and its run ends like this. */
  readonly end: FlowEnd | null
  /** Written if the move is made. */
  readonly audit?: AuditEntry | undefined
}

export interface FlowEnd {
  readonly state: FinalState
  readonly cause: Cause | null
  readonly message: string | null
  readonly result: string | null
}

export interface FlowAdvance {
  /** The store's clock. */
  readonly now: number
  /** `behind`: the flow is not where the move was to begin, or is over. Look again. */
  readonly verdicts: readonly ('advanced' | 'behind')[]
  /** Runs of steps that went to the sessions they were promised to. */
  readonly started: readonly number[]
  /** Lanes that got ready runs. */
  readonly lanes: readonly number[]
  /** When the earliest timer row written falls due, if any was. */
  readonly nextDueAt: number | null
  /** For those who waited for flows that ended. */
  readonly news: readonly News[]
}

/**
 * What others have to be told of once it is durable. Told once, to whoever wrote it: who must not miss
 * it looks for restless flows and open follow-ups, and rechecks what is blocked.
 *
 * `step`: the run of a step has ended. `cancel`: the flow is to be cancelled. `need`: a run that this one
 * is to start after has ended, or had when it came; `recheck` says what that means. `followed`: jobs
 * are to run after this run, which has ended.
 */
export type News =
  | (StepKey & { readonly kind: 'step'; readonly flowId: number; readonly state: FinalState })
  | { readonly kind: 'cancel'; readonly flowId: number }
  | { readonly kind: 'need'; readonly runId: number }
  | { readonly kind: 'followed'; readonly runId: number }

export interface RunResult {
  readonly runId: number
  readonly state: FinalState
  readonly result: string | null
}
