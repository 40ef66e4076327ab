import { PunctualError } from '../../../core/errors.ts'
import type { AfterScope } from '../../../core/expression/evaluate.ts'
import type { Json } from '../../../core/expression/expression.ts'
import { afterFactsIn } from '../../../core/expression/references.ts'
import { publicId } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import { localTime } from '../../../core/schedule/local-time.ts'
import { type Followed, inputAfter } from '../../../core/workflow/triggers.ts'
import {
  type FollowUp,
  type JobRecord,
  type JobStore,
  type NewRun,
  type RunQueries,
  StoreError,
} from '../../../store/port.ts'
import type { Catalog } from '../../catalog/catalog-cache.ts'
import { type Definitions, readDefinition } from '../../definitions/definitions.ts'
import { createDraftEach } from '../draft-each.ts'
import type { Payloads } from '../../payloads/payloads.ts'
import { readResult } from '../run-view.ts'
import type { Draft } from '../draft-runs.ts'

export interface DraftDeps {
  readonly store: Pick<JobStore, 'findDefinition'> & Pick<RunQueries, 'findRuns'>
  readonly catalog: Pick<Catalog, 'jobName' | 'projectName' | 'learnNames'>
  readonly definitions: Pick<Definitions, 'known' | 'forget'>
  readonly payloads: Payloads
  readonly draft: Draft
  /** On whose clocks a run is that no schedule made. */
  readonly zone: string
  storeNow(): number
}

/**
 * The run each of them becomes, in order, or why there is none, perhaps only for now. Of the first of
 * them, and one at least: as many as may be held at once with what they are given.
 */
export type DraftFollowUps = (due: readonly FollowUp[]) => Promise<(NewRun | PunctualError)[]>

export function createDraftFollowUps(deps: DraftDeps): DraftFollowUps {
  const { store, catalog, definitions, payloads, storeNow } = deps
  const draftEach = createDraftEach(deps.draft)

  /** What the run that ended has to say, as far as somebody asks. */
  const scopeOf = async (due: FollowUp, { input }: Followed): Promise<AfterScope> => {
    const { sourceRunId, sourceJobId, state } = due
    const facts = input === null ? NO_FACTS : afterFactsIn(input)
    const isRead = facts.has('input') || facts.has('output')
    const [run] = isRead ? await store.findRuns({ runIds: [sourceRunId] }) : []
    const read = async (kind: 'input' | 'result', text: string | null | undefined) =>
      text == null ? null : (readResult(await payloads.read(sourceRunId, kind, text)) as Json)
    return {
      ...{ run: publicId('run', sourceRunId), job: catalog.jobName(sourceJobId), state },
      input: facts.has('input') ? await read('input', run?.input) : null,
      output: facts.has('output') ? await read('result', run?.result) : null,
    }
  }

  const draftOne = async (due: FollowUp, record: JobRecord): Promise<NewRun | PunctualError> => {
    const job = record.name
    const project = catalog.projectName(due.projectId)
    const source = catalog.jobName(due.sourceJobId)
    const { follows, paused } = readDefinition(record, job)
    if (paused) return unmade(paused.reason ? `it is paused: ${paused.reason}` : 'it is paused')
    const followed = follows.find((one) => one.job === source)
    if (!followed) return unmade(`it does not run after ${source} any more`)
    // What is remembered may be older than what was just read, and the run follows that.
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
    let room: number = LIMITS.outputBytes
    for (const one of due) {
      const { projectId } = one
      const record = await store.findDefinition({ projectId, name: catalog.jobName(one.jobId) })
      const made = record ? await attempt(() => draftOne(one, record)) : unmade('it was deleted')
      drafts.push(made)
      room -= bytesOf(made)
      // How large the next is turns out when it is there.
      if (room < LIMITS.inputBytes) break
    }
    return drafts
  }
}

const NO_FACTS: ReturnType<typeof afterFactsIn> = new Set()

/** Whatever is wrong with one is not the others' affair, unless the store is out of reach for all. */
async function attempt(
  draft: () => Promise<NewRun | PunctualError>,
): Promise<NewRun | PunctualError> {
  try {
    return await draft()
  } catch (error) {
    if (error instanceof PunctualError) return error
    // A name it does not take: the key of a gate with a NUL in it.
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

/** Nothing is asked of anybody here: what goes wrong goes wrong again. */
function inputOf(
  followed: Followed,
  run: Parameters<typeof inputAfter>[1],
  scope: AfterScope,
): ReturnType<typeof inputAfter> {
  try {
    const input = inputAfter(followed, run, scope)
    if (input !== undefined) checkSize(input, followed)
    return input
  } catch (error) {
    if (error instanceof PunctualError) throw error
    const message = `${followed.at}.input: ${(error as Error).message}`
    throw new PunctualError('invalid_expression', message, { cause: error })
  }
}

function checkSize(input: Json, { at }: Followed): void {
  const bytes = Buffer.byteLength(JSON.stringify(input))
  if (bytes <= LIMITS.inputBytes) return
  const message = `${at}.input is ${bytes} bytes; at most ${LIMITS.inputBytes} are allowed`
  throw new PunctualError('invalid_field', message)
}
