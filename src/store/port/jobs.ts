import type { AuditEntry } from './audit.ts'

/** Definitions of jobs. A version never changes; runs remember the one they follow. */
export interface JobStore {
  /**
   * Makes a definition the one in force, as a new version unless it already is. With `expect`, only
   * if that version is in force (0: none); otherwise it is a conflict and nothing changes.
   */
  putJob(input: {
    projectId: number
    name: string
    definition: string
    /** Whom the definition names as such: their jobs can be listed. */
    owner?: string | null
    expect: number | null
    audit: AuditEntry
  }): Promise<{ readonly kind: 'put' | 'same' | 'conflict'; readonly version: number }>
  /** No definition is in force any more. Runs that follow an old version still find it. */
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
}

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
