import { requirePublicId } from '../../core/ids.ts'
import type { LogAnswer, LogChunkMessage, LogMessage } from '../../core/wire/protocol.ts'
import type { LogChunk } from '../../store/port.ts'
import { ofEntries, packChunk } from '../logs/chunk-pack.ts'
import { countLines } from '../logs/log-lines.ts'
import { trigramsOf } from '../logs/trigrams.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import type { ProgressBoard } from '../runs/progress-table.ts'
import type { Session } from '../sessions/session.ts'

export interface Logging {
  readonly logWriter: LogWriter
  readonly progress: Pick<ProgressBoard, 'note'>
  onLog(runId: number): void
}

/** Stores what a session's attempts printed. Of attempts that are not its own, nothing. */
export async function log(
  session: Session,
  { chunks, progress = [] }: LogMessage,
  { logWriter, progress: board, onLog }: Logging,
): Promise<LogAnswer> {
  for (const [index, said] of progress.entries()) {
    const lease = session.leases.get(requirePublicId('run', said.run, `progress.${index}.run`))
    if (lease?.fence === said.fence) board.note(lease, said)
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
  for (const { runId } of packed) onLog(runId)
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
