import { publicId } from '../../core/ids.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import { decodePolicy } from '../../core/run/run-policy.ts'
import type { Work } from '../../core/work/work.ts'
import type { RunProgress, RunView } from '../../core/wire/protocol.ts'
import type { RunRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { type ProgressBoard, progressAtEnd } from './progress-table.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { readReference } from '../payloads/reference.ts'

/** Runs as users see them, with the names of what they belong to. */
export async function viewsOf(
  runs: readonly RunRecord[],
  catalog: Catalog,
  progressOf: ProgressBoard['of'],
): Promise<RunView[]> {
  await catalog.learnNames(
    runs.map((run) => run.jobId),
    runs.map((run) => run.projectId),
  )
  return Promise.all(
    runs.map(async (run) => {
      const lane = await catalog.lane(run.laneId)
      const job = catalog.jobName(run.jobId)
      const project = catalog.projectName(run.projectId)
      const names = { job, project, queue: lane?.queue ?? 'default' }
      return viewOf(run, names, progressOf(run))
    }),
  )
}

/** A run as users see it. */
export function viewOf(
  run: RunRecord,
  names: { job: string; project: string; queue: string },
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

/** What is kept as a blob is not read for it: a page of runs stays a page. */
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

/** The view with what it left out. */
export async function fillView(
  view: RunView,
  { id, input, result }: RunRecord,
  payloads: Pick<Payloads, 'read'>,
): Promise<RunView> {
  if (view.inputBytes === null && view.resultBytes === null) return view
  const [whole, answer] = await Promise.all([
    input !== null && view.inputBytes !== null ? payloads.read(id, 'input', input) : null,
    result !== null && view.resultBytes !== null ? payloads.read(id, 'result', result) : null,
  ])
  return {
    ...view,
    ...(whole === null ? {} : { input: JSON.parse(whole) as unknown }),
    ...(answer === null ? {} : { result: readResult(answer) }),
  }
}

/** Deeper than anyone nests on purpose, and not nearly as deep as would exhaust those who write it. */
const DEEPEST = 500

/**
 * A result is whatever text its worker sent, and nobody read it on the way: it may be no JSON, or
 * nested until nobody can write it again. One such run must not hide the others of its page, so it
 * is shown as the text it is.
 */
export function readResult(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown
    // A level takes a character at least, so short texts need no look.
    return text.length > DEEPEST && isDeeper(value, DEEPEST) ? text : value
  } catch {
    return text
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

/** How it ended, and how much it printed; what it printed is read as a log. */
function withoutText({ output, progress: _progress, ...end }: ProcessEnd): ProcessEnd {
  if (!output) return end
  const { last: _, ...counts } = output
  return { ...end, output: counts }
}
