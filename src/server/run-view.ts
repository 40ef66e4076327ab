import { publicId } from '../core/ids.ts'
import type { ProcessEnd } from '../core/output.ts'
import type { Work } from '../core/work.ts'
import type { RunView } from '../core/protocol.ts'
import type { RunRecord } from '../store/port.ts'

/** A run as users see it. */
export function viewOf(
  run: RunRecord,
  names: { job: string; project: string; queue: string },
): RunView {
  return {
    id: publicId('run', run.id),
    ...names,
    state: run.state,
    cancelling: run.cancelling,
    priority: run.rank === 0 ? 0 : -run.rank,
    attempt: run.attempt,
    lost: run.lost,
    cause: run.cause,
    message: run.message,
    worker: run.worker,
    process: run.process === null ? null : withoutText(JSON.parse(run.process) as ProcessEnd),
    createdAt: run.createdAt,
    dueAt: run.dueAt,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    retryOf: run.retryOf === null ? null : publicId('run', run.retryOf),
    tags: run.tags === null ? {} : (JSON.parse(run.tags) as Record<string, string>),
    work: run.work === null ? null : (JSON.parse(run.work) as Work),
    input: run.input === null ? null : (JSON.parse(run.input) as unknown),
    result: run.result === null ? null : (JSON.parse(run.result) as unknown),
  }
}

/** How it ended, and how much it printed; what it printed is read as a log. */
function withoutText({ output, ...end }: ProcessEnd): ProcessEnd {
  if (!output) return end
  const { last: _, ...counts } = output
  return { ...end, output: counts }
}
