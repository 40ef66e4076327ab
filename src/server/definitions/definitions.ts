import { defaultsOf, type JobDefinition } from '../../core/job/job-definition.ts'
import { type Preparation, readJob } from '../../core/job/read-job.ts'
import type { Followed } from '../../core/workflow/triggers.ts'
import type { Clock } from '../../core/clock.ts'
import { type Expectations, readExpectations } from '../../core/expectation/expectations.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { Work } from '../../core/work/work.ts'
import type { JobRecord, JobStore, Lease } from '../../store/port.ts'

/** The definition in force for a job, ready to be used. */
export interface Definition {
  readonly version: number
  readonly defaults: Submission
  /** Of its runs, unless its schedules say otherwise. */
  readonly expectations: Expectations
  /** What has to be worked out for each of its runs, if anything. */
  readonly preparation: Preparation | null
  /** The jobs whose ends start runs of it. */
  readonly follows: readonly Followed[]
  readonly paused: JobRecord['paused']
}

/** Definitions, remembered: the hot path asks the store once per job and a while. */
export interface Definitions {
  /** What is believed about a job: null if it has no definition, undefined if that is not known. */
  known(projectId: number, job: string): Definition | null | undefined
  find(projectId: number, job: string): Promise<Definition | null>
  /** A definition changed here. */
  forget(projectId: number, job: string): void
  /** Makes sure `workOf` knows what these leases are about. */
  learn(leases: readonly Lease[]): Promise<void>
  /** The process to start, if any. */
  workOf(lease: Lease): Work | null
}

const MEMO_LIMIT = 10_000
/** Runs of steps are of jobs called `etl/load`. Nobody can define one: it is in no name that people give. */
const STEP_MARK = '/'

export function createDefinitions(options: {
  readonly store: Pick<JobStore, 'findDefinition' | 'definitionsOf'>
  readonly clock: Clock
  /** How long another node's change may go unnoticed. */
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
    // A version means what it meant; a long one is not to be read again and again.
    const isSame = before && before.version === record?.version
    const definition = isSame
      ? { ...before, paused: record.paused }
      : record && readDefinition(record, job)
    // What changed while we asked may be newer than the answer.
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
      if (works.size >= MEMO_LIMIT) works.clear()
      for (const [index, key] of [...missing.keys()].entries()) {
        const text = texts[index]
        works.set(
          key,
          text ? (defaultsOf(JSON.parse(text) as JobDefinition, 'x').work ?? null) : null,
        )
      }
    },

    workOf({ jobId, version, work }) {
      if (work !== null) return JSON.parse(work) as Work
      return version === null ? null : (works.get(`${jobId}/${version}`) ?? null)
    },
  }
}

/** What a version of a job means. */
export function readDefinition(
  { version, definition, paused }: Pick<JobRecord, 'version' | 'definition' | 'paused'>,
  job: string,
): Definition {
  const said = JSON.parse(definition) as JobDefinition
  const expectations = readExpectations(said, '')
  return { version, ...readJob(said, job), expectations, paused }
}
