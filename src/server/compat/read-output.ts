import { bytesOf } from '../../core/run/output.ts'
import type { LogStore, RunRecord } from '../../store/port.ts'
import { ofEntries, printedBytes } from '../logs/chunk-pack.ts'
import type { LogReader } from '../logs/log-reader.ts'

const LEFT_OUT = '[…]\n'

/** The end of the output of a run's latest attempt; all of it, if it is not longer than `most`. */
export async function readOutput(
  run: RunRecord,
  most: number,
  { reader, store }: { reader: LogReader; store: Pick<LogStore, 'logEnd'> },
): Promise<string> {
  const attempt = await reader.find(run, undefined)
  if (!attempt) return ''
  const { runId, fence, end } = attempt
  const last = end?.output?.last
  const parts = last ? [printedBytes(ofEntries(last))] : []
  let length = parts[0]?.length ?? 0
  // Output of a single chunk came with the end and needs no read.
  const isWhole = last !== undefined && end?.output?.chunks === 1
  let chunk = isWhole ? 0 : (await store.logEnd({ runId, fence })).chunks
  for (; chunk > 0 && length <= most; chunk -= 1) {
    const entries = await reader.chunk(attempt, chunk - 1)
    if (!entries) continue
    const bytes = printedBytes(ofEntries(entries))
    parts.unshift(bytes)
    length += bytes.length
  }
  const text = Buffer.concat(parts).subarray(-most).toString('utf8')
  return length <= most && chunk === 0 ? text : LEFT_OUT + text
}

/** Length in UTF-8. */
export function byteLength(text: string): number {
  return bytesOf(text).length
}
