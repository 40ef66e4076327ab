import type { Database } from 'better-sqlite3'
import type { LogChunk, LogEnd, LogStore, LogVerdict, StoredChunk } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

export const IS_UNDER_WAY = `SELECT 1 FROM run WHERE id = ? AND status = 1 AND fence = ?`
export const LAST_CHUNK = `
  SELECT chunk, first_line + lines AS nextLine FROM log_chunk
   WHERE run_id = ? AND fence = ? ORDER BY chunk DESC LIMIT 1`
export const LOG_END = `
  SELECT chunk + 1 AS chunks, first_line + lines AS lines FROM log_chunk
   WHERE run_id = ? AND fence = ? ORDER BY chunk DESC LIMIT 1`
export const ADD_CHUNK = `
  INSERT INTO log_chunk (run_id, fence, chunk, first_line, lines, entries, trigrams, packed)
  VALUES (?, ?, ?, ?, ?, '', ?, ?)`
/** Chunks from before chunks were packed are still plain text. */
export const CHUNKS_FROM = `
  SELECT chunk, first_line AS firstLine, lines, coalesce(packed, CAST(entries AS BLOB)) AS packed
    FROM log_chunk
   WHERE run_id = :runId AND fence = :fence AND chunk >= :from ORDER BY chunk LIMIT :limit`
const STARTS_EARLY = `
  (SELECT first_line <= :line FROM log_chunk
    WHERE run_id = :runId AND fence = :fence AND chunk = (low + high + 1) / 2)`
/**
 * Line numbers only grow with chunks, and chunks are numbered without gaps: a binary search finds
 * the last chunk that starts early enough.
 */
export const FIND_LINE = `
  WITH RECURSIVE half (low, high) AS (
    SELECT 0, (SELECT chunk FROM log_chunk WHERE run_id = :runId AND fence = :fence
                ORDER BY chunk DESC LIMIT 1)
     UNION ALL
    SELECT iif(${STARTS_EARLY}, (low + high + 1) / 2, low),
           iif(${STARTS_EARLY}, high, (low + high + 1) / 2 - 1)
      FROM half WHERE low < high)
  SELECT chunk FROM half CROSS JOIN log_chunk
   WHERE low = high AND run_id = :runId AND fence = :fence AND chunk = low
     AND first_line <= :line AND first_line + lines > :line`
export const CHUNKS_LIKE = `
  SELECT chunk FROM log_chunk
   WHERE run_id = :runId AND fence = :fence AND chunk >= :from AND chunk < :to
     AND (trigrams IS NULL OR has_bits(trigrams, :bits))
   ORDER BY chunk`

export type AppendLog = (chunks: readonly LogChunk[]) => LogVerdict[]

export function prepareAppendLog(db: Database): AppendLog {
  const isUnderWay = db.prepare<[number, number]>(IS_UNDER_WAY)
  const lastChunk = db.prepare<[number, number], { chunk: number; nextLine: number }>(LAST_CHUNK)
  const add = db.prepare(ADD_CHUNK)

  return (chunks) =>
    chunks.map(({ runId, fence, chunk, lines, trigrams, packed }) => {
      if (isUnderWay.get(runId, fence) === undefined) return 'stale'
      const last = lastChunk.get(runId, fence)
      const next = last ? last.chunk + 1 : 0
      if (chunk !== next) return { stored: next }
      add.run(runId, fence, chunk, last?.nextLine ?? 0, lines, trigrams, packed)
      return { stored: next + 1 }
    })
}

export function prepareLogQueries(db: Database): Sync<Omit<LogStore, 'appendLog'>> {
  // SQLite cannot read a single bit of a blob.
  db.function('has_bits', { deterministic: true, directOnly: true }, hasBits)
  const chunksFrom = db.prepare<[object], StoredChunk>(CHUNKS_FROM)
  const end = db.prepare<[number, number], LogEnd>(LOG_END)
  const findLine = db.prepare<[object], number>(FIND_LINE).pluck()
  const chunksLike = db.prepare<[object], number>(CHUNKS_LIKE).pluck()
  return {
    logChunks: (input) => chunksFrom.all(input),
    logEnd: ({ runId, fence }) => end.get(runId, fence) ?? { chunks: 0, lines: 0 },
    findLine: (input) => findLine.get(input) ?? null,
    chunksLike: ({ bits, ...where }) =>
      chunksLike.all({ ...where, bits: Buffer.from(Uint16Array.from(bits).buffer) }),
  }
}

/** `wanted` are bit numbers, two bytes each. */
function hasBits(filter: unknown, wanted: unknown): 0 | 1 {
  const bytes = filter as Buffer
  const bits = wanted as Buffer
  for (let at = 0; at < bits.length; at += 2) {
    const bit = bits.readUInt16LE(at)
    if (((bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return 0
  }
  return 1
}
