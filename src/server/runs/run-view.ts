import type { Clock } from '../../core/clock.ts'
import { publicId } from '../../core/ids.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import { decodePolicy } from '../../core/run/run-policy.ts'
import type { Work } from '../../core/work/work.ts'
import type { RunProgress, RunView } from '../../core/wire/protocol.ts'
import type { RunRecord } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { type ProgressTable, progressAtEnd } from './progress-table.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { readReference } from '../payloads/reference.ts'
import type { RunCreators } from './run-creators.ts'
import { readStoredJson } from '../json/stored-json.ts'

/** Runs as users see them, with resolved names. */
export async function viewsOf(
  runs: readonly RunRecord[],
  catalog: CatalogCache,
  { progressOf, creators }: { progressOf: ProgressTable['of']; creators: RunCreators },
): Promise<RunView[]> {
  await catalog.learnNames(
    runs.map((run) => run.jobId),
    runs.map((run) => run.projectId),
  )
  const createdBy = await creators(runs)
  return Promise.all(
    runs.map(async (run, index) => {
      const lane = await catalog.lane(run.laneId)
      const job = catalog.jobName(run.jobId)
      const project = catalog.projectName(run.projectId)
      const names = {
        job,
        project,
        queue: lane?.queue ?? 'default',
        createdBy: createdBy[index] as string,
      }
      return viewOf(run, names, progressOf(run))
    }),
  )
}

/** One run as users see it. */
export function viewOf(
  run: RunRecord,
  names: { job: string; project: string; queue: string; createdBy: string },
  progress: RunProgress | null = null,
): RunView {
  const end = run.process === null ? null : (JSON.parse(run.process) as ProcessEnd)
  return {
    id: publicId('run', run.id),
    ...names,
    version: run.version,
    state: run.state,
    cancelling: run.cancelling,
    priority: run.rank === 0 ? 0 : -run.rank,
    attempt: run.attempt,
    lost: run.lost,
    cause: run.cause,
    message: run.message,
    worker: run.worker,
    process: end && withoutText(end),
    progress: progress ?? progressAtEnd(end, run.startedAt),
    createdAt: run.createdAt,
    dueAt: run.dueAt,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    retryOf: run.retryOf === null ? null : publicId('run', run.retryOf),
    tags: run.tags === null ? {} : (JSON.parse(run.tags) as Record<string, string>),
    work: run.work === null ? null : (JSON.parse(run.work) as Work),
    secrets: decodePolicy(run.policy).secrets,
    ...inputOf(run),
    ...resultOf(run),
  }
}

/** A blob is not read for a list of runs, so that a page stays small. */
function inputOf({ id, input }: RunRecord): Pick<RunView, 'input' | 'inputBytes'> {
  const kept = readReference(id, input)
  if (kept) return { input: null, inputBytes: kept.bytes }
  return { input: input === null ? null : (JSON.parse(input) as unknown), inputBytes: null }
}

function resultOf({ id, result }: RunRecord): Pick<RunView, 'result' | 'resultBytes'> {
  const kept = readReference(id, result)
  if (kept) return { result: null, resultBytes: kept.bytes }
  return { result: result === null ? null : readResult(result), resultBytes: null }
}

/** The complete view, with inputs and results that are stored as blobs. */
export async function fillView(
  view: RunView,
  { id, input, result }: RunRecord,
  { payloads, clock }: { payloads: Pick<Payloads, 'read'>; clock: Pick<Clock, 'mono'> },
): Promise<RunView> {
  if (view.inputBytes === null && view.resultBytes === null) return view
  const [whole, answer] = await Promise.all([
    input !== null && view.inputBytes !== null ? payloads.read(id, 'input', input) : null,
    result !== null && view.resultBytes !== null ? payloads.read(id, 'result', result) : null,
  ])
  return {
    ...view,
    ...(whole === null ? {} : { input: await readStoredJson(whole, clock) }),
    ...(answer === null ? {} : { result: readResult(answer) }),
  }
}

/** Deeper than anyone nests on purpose, and far from exhausting the stack of the serializer. */
const DEEPEST = 500

/**
 * A result is any text a worker sent, unchecked: it may not be JSON, or be nested too deeply to be
 * written again. Such a run must not hide the others of its page, so its result is shown as text.
 */
export function readResult(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown
    // A level takes at least one character, so short texts need no check.
    return text.length > DEEPEST && isDeeper(value, DEEPEST) ? text : value
  } catch {
    return text
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return inner.some((one) => isDeeper(one, levels - 1))
}

/** How the process ended and how much it printed; the output itself is read as a log. */
function withoutText({ output, progress: _progress, ...end }: ProcessEnd): ProcessEnd {
  if (!output) return end
  const { last: _, ...counts } = output
  return { ...end, output: counts }
}
