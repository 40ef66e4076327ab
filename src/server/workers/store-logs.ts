import { requirePublicId } from '../../core/ids.ts'
import type { LogAnswer, LogChunkMessage, LogMessage } from '../../core/wire/protocol.ts'
import type { LogChunk } from '../../store/port.ts'
import { ofEntries, packChunk } from '../logs/chunk-pack.ts'
import { countLines } from '../logs/log-lines.ts'
import { trigramsOf } from '../logs/trigrams.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import type { ProgressTable } from '../runs/progress-table.ts'
import type { Watch } from '../runs/watch.ts'
import type { Session } from '../sessions/session.ts'

export interface LogContext {
  readonly logWriter: LogWriter
  readonly progress: Pick<ProgressTable, 'note'>
  readonly watch: Pick<Watch, 'touched'>
}

/** Stores output of a session's attempts. Output of attempts it does not hold is ignored. */
export async function storeLogs(
  session: Session,
  { chunks, progress = [] }: LogMessage,
  { logWriter, progress: progressTable, watch }: LogContext,
): Promise<LogAnswer> {
  for (const [index, report] of progress.entries()) {
    const lease = session.leases.get(requirePublicId('run', report.run, `progress.${index}.run`))
    if (lease?.fence === report.fence) progressTable.note(lease, report)
  }
  const mine: { runId: number; message: LogChunkMessage }[] = []
  const isMine = chunks.map((message, index) => {
    const runId = requirePublicId('run', message.run, `chunks.${index}.run`)
    if (session.leases.get(runId)?.fence !== message.fence) return false
    mine.push({ runId, message })
    return true
  })
  const packed = await Promise.all(mine.map(({ runId, message }) => chunkOf(runId, message)))
  const verdicts = (await logWriter.append(packed)).values()
  for (const { runId } of packed) watch.touched(runId)
  return {
    stored: isMine.map((isOurs) => {
      const verdict = isOurs ? verdicts.next().value : undefined
      return verdict === undefined || verdict === 'stale' ? null : verdict.stored
    }),
  }
}

async function chunkOf(
  runId: number,
  { fence, chunk, entries }: LogChunkMessage,
): Promise<LogChunk> {
  const unpacked = ofEntries(entries)
  const trigrams = trigramsOf(unpacked)
  const packed = await packChunk(entries, unpacked)
  return { runId, fence, chunk, lines: countLines(entries), trigrams, packed }
}
