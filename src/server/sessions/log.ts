import { requirePublicId } from '../../core/ids.ts'
import type { LogAnswer, LogChunkMessage, LogMessage } from '../../core/protocol.ts'
import type { LogChunk } from '../../store/port.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import type { Session } from './session.ts'

/** Stores what a session's attempts printed. Of attempts that are not its own, nothing. */
export async function log(
  session: Session,
  { chunks }: LogMessage,
  writer: LogWriter,
  onStored: (runId: number) => void,
): Promise<LogAnswer> {
  const mine: LogChunk[] = []
  const isMine = chunks.map((message, index) => {
    const runId = requirePublicId('run', message.run, `chunks.${index}.run`)
    if (session.leases.get(runId)?.fence !== message.fence) return false
    mine.push(chunkOf(runId, message))
    return true
  })
  const verdicts = (await writer.append(mine)).values()
  for (const { runId } of mine) onStored(runId)
  return {
    stored: isMine.map((isOurs) => {
      const verdict = isOurs ? verdicts.next().value : undefined
      return verdict === undefined || verdict === 'stale' ? null : verdict.stored
    }),
  }
}

function chunkOf(runId: number, { fence, chunk, entries }: LogChunkMessage): LogChunk {
  return { runId, fence, chunk, lines: countLines(entries), entries: JSON.stringify(entries) }
}

/** Ends of lines, whichever stream they are of: what a person would number. */
export function countLines(entries: LogChunkMessage['entries']): number {
  let lines = 0
  for (const [, , text] of entries) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  }
  return lines
}
