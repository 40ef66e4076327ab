import type { AuditEntry } from './audit.ts'
import type { FollowRefusal, FollowWish } from './followers.ts'
import type { ScheduleRevision } from './schedules.ts'

/** Definitions of jobs. A version never changes; runs remember the one they follow. */
export interface JobStore {
  /**
   * Makes a definition the one in force, as a new version unless it already is. With `expect`, only
   * if that version is in force (0: none); otherwise it is a conflict and nothing changes. Nor does
   * anything when its schedules are not what `schedules` was decided by: it was `overtaken`; nor where jobs
   * would follow each other, also when two such changes are made at once.
   */
  putJob(input: {
    projectId: number
    name: string
    definition: string
    /** Whom the definition names as such: their jobs can be listed. */
    owner?: string | null
    /** The calls from elsewhere that run it: who calls finds its jobs by them. */
    hooks?: readonly string[]
    /** The jobs it runs after. */
    follows?: readonly FollowWish[]
    expect: number | null
    /** What becomes of its schedules at the same time, also if the definition is the same. */
    schedules?: ScheduleRevision
    audit: AuditEntry
  }): Promise<PutJob>
  /** No definition is in force any more, and it follows nobody. Runs of an old version still find it. */
  deleteJob(input: {
    projectId: number
    name: string
    expect: number | null
    audit: AuditEntry
  }): Promise<'deleted' | 'unknown' | 'conflict'>
  /** Null resumes it. False if there is no such definition. */
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
  /** A job by its number, in whichever project; null if no definition of it is in force. */
  findNumberedJob(input: { id: number }): Promise<NumberedJob | null>
  /** Those of a project, newest first, numbers below `before`. */
  listNumberedJobs(input: {
    projectId: number
    before: number
    limit: number
  }): Promise<readonly NumberedJob[]>
  /** The same of those with this owner; with null, in all projects. */
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
  /** What runs of these versions do; absent for those that were never there. */
  definitionsOf(
    keys: readonly { readonly jobId: number; readonly version: number }[],
  ): Promise<readonly (string | null)[]>
  /** Jobs that a call of this hook runs, in the order in which they were first heard of. */
  jobsOfHook(input: { projectId: number; name: string }): Promise<readonly HookedJob[]>
}

export interface HookedJob {
  readonly name: string
  readonly isPaused: boolean
}

export interface JobFate {
  readonly kind: 'put' | 'same' | 'conflict' | 'overtaken'
  /** The one in force now. */
  readonly version: number
}

export type PutJob = JobFate | FollowRefusal

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
  /** JSON text, never looked into. */
  readonly definition: string
  readonly createdAt: number
  readonly createdBy: number | null
}
