import type { AuditEntry } from './audit.ts'
import type { FollowRefusal, FollowRule } from './followers.ts'
import type { ScheduleRevision } from './schedules.ts'

/** Job definitions. A version never changes; a run remembers the version it follows. */
export interface JobStore {
  /**
   * Puts a definition in force, as a new version unless it is in force already. With `expect`, only
   * if that version is in force (0: none); otherwise it is a conflict and nothing changes. Nothing
   * changes either when the schedules differ from what the `schedules` revision was decided on
   * (`overtaken`), or when the jobs would follow each other in a cycle, even if two changes that
   * close the cycle are made at once.
   */
  putJob(input: {
    projectId: number
    name: string
    definition: string
    /** The owner named in the definition: jobs can be listed by owner. */
    owner?: string | null
    /** The hooks that run the job: a hook call finds its jobs by name. */
    hooks?: readonly string[]
    /** The jobs it runs after. */
    follows?: readonly FollowRule[]
    expect: number | null
    /** Schedule changes to apply in the same transaction, even if the definition is the same. */
    schedules?: ScheduleRevision
    audit: AuditEntry
  }): Promise<PutJobResult>
  /**
   * Takes the definition out of force and removes its follow rules. Runs of an old version still
   * find it.
   */
  deleteJob(input: {
    projectId: number
    name: string
    expect: number | null
    audit: AuditEntry
  }): Promise<'deleted' | 'unknown' | 'conflict'>
  /** Null resumes the job. False if there is no such definition. */
  pauseJob(input: {
    projectId: number
    name: string
    pause: { readonly reason: string | null } | null
    audit: AuditEntry
  }): Promise<boolean>
  findDefinition(input: { projectId: number; name: string }): Promise<JobRecord | null>
  /** In order of name, those after `after`. */
  listDefinitions(input: {
    projectId: number
    after: string
    limit: number
  }): Promise<readonly JobRecord[]>
  /** A job by its number, in any project; null if no definition of it is in force. */
  findNumberedJob(input: { id: number }): Promise<NumberedJob | null>
  /** Jobs of a project, newest first, numbers below `before`. */
  listNumberedJobs(input: {
    projectId: number
    before: number
    limit: number
  }): Promise<readonly NumberedJob[]>
  /** The same for the jobs of this owner; with null, in all projects. */
  listOwnedJobs(input: {
    owner: string
    projectId: number | null
    before: number
    limit: number
  }): Promise<readonly NumberedJob[]>
  /** Newest first, versions below `before`. */
  jobVersions(input: {
    jobId: number
    before: number
    limit: number
  }): Promise<readonly JobVersion[]>
  /** The definitions of these versions; null for a version that never existed. */
  definitionsOf(
    keys: readonly { readonly jobId: number; readonly version: number }[],
  ): Promise<readonly (string | null)[]>
  /** Jobs that a call of this hook runs, in the order in which they were first defined. */
  jobsOfHook(input: { projectId: number; name: string }): Promise<readonly HookedJob[]>
}

export interface HookedJob {
  readonly name: string
  readonly isPaused: boolean
}

export interface PutJobOutcome {
  readonly kind: 'put' | 'same' | 'conflict' | 'overtaken'
  /** The version in force now. */
  readonly version: number
}

export type PutJobResult = PutJobOutcome | FollowRefusal

export interface JobRecord extends JobVersion {
  readonly id: number
  readonly name: string
  readonly paused: { readonly at: number; readonly reason: string | null } | null
}

export interface NumberedJob extends JobRecord {
  readonly projectId: number
  /** When it was first defined. */
  readonly since: number
}

export interface JobVersion {
  readonly version: number
  /** JSON text, opaque to the store. */
  readonly definition: string
  readonly createdAt: number
  readonly createdBy: number | null
}
