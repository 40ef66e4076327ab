import { defaultsOf, type JobDefinition } from '../../core/job/job-definition.ts'
import { type RunPreparation, readJob } from '../../core/job/read-job.ts'
import type { TriggerSource } from '../../core/workflow/triggers/triggers.ts'
import type { Clock } from '../../core/clock.ts'
import { type Expectations, readExpectations } from '../../core/expectation/expectations.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { Work } from '../../core/work/work.ts'
import { readStoredJson } from '../json/stored-json.ts'
import type { JobRecord, JobStore, Lease } from '../../store/port.ts'

/** The current definition of a job, parsed. */
export interface Definition {
  readonly version: number
  readonly defaults: Submission
  /** Expectations for its runs, unless a schedule says otherwise. */
  readonly expectations: Expectations
  /** What has to be prepared for each of its runs, if anything. */
  readonly preparation: RunPreparation | null
  /** The jobs whose ends start runs of this job. */
  readonly triggerSources: readonly TriggerSource[]
  readonly paused: JobRecord['paused']
}

/** Cache of job definitions: the hot path asks the store once per job and caching period. */
export interface Definitions {
  /** The cached definition: null if the job has none, undefined if that is not known. */
  known(projectId: number, job: string): Definition | null | undefined
  find(projectId: number, job: string): Promise<Definition | null>
  /** Drops the cached definition because it changed on this node. */
  forget(projectId: number, job: string): void
  /** Loads what `workOf` needs for these leases. */
  learn(leases: readonly Lease[]): Promise<void>
  /** The process to start, if any. */
  workOf(lease: Lease): Work | null
}

const MEMO_LIMIT = 10_000
/**
 * Runs of steps belong to jobs named `etl/load`. No user can define such a job: names contain no
 * slash.
 */
const STEP_MARK = '/'

export function createDefinitions(options: {
  readonly store: Pick<JobStore, 'findDefinition' | 'definitionsOf'>
  readonly clock: Clock
  /** How long a change made on another node may go unnoticed. */
  readonly believedMs: number
}): Definitions {
  const { store, clock, believedMs } = options
  const inForce = new Map<string, { definition: Definition | null; sinceMono: number }>()
  const works = new Map<string, Work | null>()
  let changes = 0

  const known = (projectId: number, job: string) => {
    if (job.includes(STEP_MARK)) return null
    const memory = inForce.get(`${projectId}/${job}`)
    if (!memory || clock.mono() - memory.sinceMono > believedMs) return undefined
    return memory.definition
  }

  const load = async (projectId: number, job: string): Promise<Definition | null> => {
    const sinceMono = clock.mono()
    const changesBefore = changes
    const record = await store.findDefinition({ projectId, name: job })
    const before = inForce.get(`${projectId}/${job}`)?.definition
    // A version never changes its meaning, so a long definition is not parsed again.
    const isSame = before && before.version === record?.version
    const definition = isSame
      ? { ...before, paused: record.paused }
      : record && (await readDefinition(record, job, clock))
    // The cache changed while the store was asked and may be newer than the answer.
    if (changes !== changesBefore) return definition
    if (inForce.size >= MEMO_LIMIT) inForce.clear()
    inForce.set(`${projectId}/${job}`, { definition, sinceMono })
    return definition
  }

  return {
    known,
    find: async (projectId, job) => {
      const believed = known(projectId, job)
      return believed === undefined ? load(projectId, job) : believed
    },
    forget(projectId, job) {
      changes += 1
      inForce.delete(`${projectId}/${job}`)
    },

    async learn(leases) {
      const missing = new Map<string, { jobId: number; version: number }>()
      for (const { jobId, version, work } of leases) {
        if (version === null || work !== null || works.has(`${jobId}/${version}`)) continue
        missing.set(`${jobId}/${version}`, { jobId, version })
      }
      if (missing.size === 0) return
      const texts = await store.definitionsOf([...missing.values()])
      const read: (Work | null)[] = []
      for (const text of texts) {
        const parsed = text ? ((await readStoredJson(text, clock)) as JobDefinition) : null
        read.push(parsed && (defaultsOf(parsed, 'x').work ?? null))
      }
      // No await between here and the insert below, or another call could clear what this one
      // added.
      if (works.size >= MEMO_LIMIT) works.clear()
      for (const [index, key] of [...missing.keys()].entries()) works.set(key, read[index] ?? null)
    },

    workOf({ jobId, version, work }) {
      if (work !== null) return JSON.parse(work) as Work
      return version === null ? null : (works.get(`${jobId}/${version}`) ?? null)
    },
  }
}

/** Reads one version of a job definition. */
export async function readDefinition(
  { version, definition, paused }: Pick<JobRecord, 'version' | 'definition' | 'paused'>,
  job: string,
  clock: Pick<Clock, 'mono'>,
): Promise<Definition> {
  const parsed = (await readStoredJson(definition, clock)) as JobDefinition
  const expectations = readExpectations(parsed, '')
  return { version, ...readJob(parsed, job), expectations, paused }
}
