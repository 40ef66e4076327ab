import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import type { AfterScope } from '../../../core/expression/evaluate.ts'
import type { Json } from '../../../core/expression/expression.ts'
import { afterFactsIn } from '../../../core/expression/references.ts'
import { publicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import { localTime } from '../../../core/schedule/local-time.ts'
import { type TriggerSource, triggeredInput } from '../../../core/workflow/triggers/triggers.ts'
import {
  type FollowUp,
  type JobRecord,
  type JobStore,
  type NewRun,
  type RunQueries,
  StoreError,
} from '../../../store/port.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'
import { type Definitions, readDefinition } from '../../definitions/definitions.ts'
import { createDraftEach } from '../draft-each.ts'
import type { Payloads } from '../../payloads/payloads.ts'
import { readResult } from '../run-view.ts'
import type { DraftRuns } from '../draft-runs.ts'

export interface DraftFollowUpsDeps {
  readonly store: Pick<JobStore, 'findDefinition'> & Pick<RunQueries, 'findRuns'>
  readonly catalog: Pick<CatalogCache, 'jobName' | 'projectName' | 'learnNames'>
  readonly definitions: Pick<Definitions, 'known' | 'forget'>
  readonly payloads: Payloads
  readonly draft: DraftRuns
  readonly clock: Pick<Clock, 'mono'>
  /** Zone of the scheduled time of runs that no schedule made. */
  readonly zone: string
  storeNow(): number
}

/**
 * Drafts the following run for each entry, in order, or the reason why there is none, perhaps only
 * for now. Handles at least the first entry, and as many as fit into memory with their inputs.
 */
export type DraftFollowUps = (due: readonly FollowUp[]) => Promise<(NewRun | PunctualError)[]>

export function createDraftFollowUps(deps: DraftFollowUpsDeps): DraftFollowUps {
  const { store, catalog, definitions, payloads, storeNow } = deps
  const draftEach = createDraftEach(deps.draft)

  /** The data of the ended run that expressions use. */
  const scopeOf = async (due: FollowUp, { input }: TriggerSource): Promise<AfterScope> => {
    const { sourceRunId, sourceJobId, state } = due
    const facts = input === null ? NO_FACTS : afterFactsIn(input)
    const isRead = facts.has('input') || facts.has('output')
    const [run] = isRead ? await store.findRuns({ runIds: [sourceRunId] }) : []
    const read = async (kind: 'input' | 'result', text: string | null | undefined) =>
      text == null ? null : (readResult(await payloads.read(sourceRunId, kind, text)) as Json)
    return {
      run: publicId('run', sourceRunId),
      job: catalog.jobName(sourceJobId),
      state,
      input: facts.has('input') ? await read('input', run?.input) : null,
      output: facts.has('output') ? await read('result', run?.result) : null,
    }
  }

  const draftOne = async (due: FollowUp, record: JobRecord): Promise<NewRun | PunctualError> => {
    const job = record.name
    const project = catalog.projectName(due.projectId)
    const source = catalog.jobName(due.sourceJobId)
    const { triggerSources: follows, paused } = await readDefinition(record, job, deps.clock)
    if (paused) return unmade(paused.reason ? `it is paused: ${paused.reason}` : 'it is paused')
    const followed = follows.find((one) => one.job === source)
    if (!followed) return unmade(`it does not run after ${source} any more`)
    // The cached definition may be older than the one just read, which the run follows.
    if (definitions.known(due.projectId, job)?.version !== record.version) {
      definitions.forget(due.projectId, job)
    }
    const scheduledAt = localTime(storeNow(), deps.zone)
    const scope = await scopeOf(due, followed)
    const input = inputOf(followed, { job, project, scheduledAt }, scope)
    const [made] = await draftEach([{ job, input }], project, record.createdBy)
    return made as NewRun | PunctualError
  }

  return async (due) => {
    const jobIds = due.flatMap(({ jobId, sourceJobId }) => [jobId, sourceJobId])
    await catalog.learnNames(
      jobIds,
      due.map(({ projectId }) => projectId),
    )
    const drafts: (NewRun | PunctualError)[] = []
    let remaining: number = LIMITS.outputBytes
    for (const one of due) {
      const { projectId } = one
      const record = await store.findDefinition({ projectId, name: catalog.jobName(one.jobId) })
      const made = record ? await attempt(() => draftOne(one, record)) : unmade('it was deleted')
      drafts.push(made)
      remaining -= bytesOf(made)
      // The size of the next input is known only after it was read.
      if (remaining < LIMITS.inputBytes) break
    }
    return drafts
  }
}

const NO_FACTS: ReturnType<typeof afterFactsIn> = new Set()

/** An error with one entry does not affect the others, unless the store is unavailable. */
async function attempt(
  draft: () => Promise<NewRun | PunctualError>,
): Promise<NewRun | PunctualError> {
  try {
    return await draft()
  } catch (error) {
    if (error instanceof PunctualError) return error
    // The store refuses a name, such as a gate key that contains NUL.
    if (error instanceof StoreError && error.outcome === 'refused') return unmade(error.message)
    if (error instanceof StoreError) throw error
    return new PunctualError('internal', String(error), { cause: error })
  }
}

function bytesOf(made: NewRun | PunctualError): number {
  if (made instanceof PunctualError) return 0
  return Buffer.byteLength(made.input ?? '') + Buffer.byteLength(made.work ?? '')
}

function unmade(message: string): PunctualError {
  return new PunctualError('invalid_request', message)
}

/** Nothing outside is involved: the same error would happen again. */
function inputOf(
  followed: TriggerSource,
  run: Parameters<typeof triggeredInput>[1],
  scope: AfterScope,
): ReturnType<typeof triggeredInput> {
  try {
    const input = triggeredInput(followed, run, scope)
    if (input !== undefined) checkSize(input, followed)
    return input
  } catch (error) {
    if (error instanceof PunctualError) throw error
    const message = `${followed.at}.input: ${(error as Error).message}`
    throw new PunctualError('invalid_expression', message, { cause: error })
  }
}

function checkSize(input: Json, { at }: TriggerSource): void {
  const bytes = Buffer.byteLength(JSON.stringify(input))
  if (bytes <= LIMITS.inputBytes) return
  const message = `${at}.input is ${bytes} bytes; at most ${LIMITS.inputBytes} are allowed`
  throw new PunctualError('invalid_field', message)
}
